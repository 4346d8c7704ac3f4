"""Additions to MkDocs for the site: addresses, doctests as sessions, numpydoc, and llms.txt.

MkDocs calls `on_...` (`hooks:` in mkdocs.yml), griffe the extension (options of mkdocstrings).
"""

from __future__ import annotations

import itertools
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import griffe

from deadheat.engine.settings import DATA, DEFAULTS

griffe.stdlib_decorators["deadheat.support.caching.cached_property"] = {"cached", "property"}
_SESSION = re.compile(r"^```python\n(?P<code>>>>.*?)\n*^```$", re.MULTILINE | re.DOTALL)
_HEAD = re.compile(r"^# (?P<title>.*)\n+(?P<about>(?:(?![#|!<]|```|:::).+\n)*)", re.MULTILINE)
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
_CITED = re.compile(r"\[(\d+)\]_")
_ENTRY = re.compile(r"^([ \t]*)\.\. \[(\d+)\] (.*(?:\n\1   \S.*)*)", re.MULTILINE)


def on_config(config: Any, **kwargs: Any) -> Any:
    """Addresses from `[project.urls]`, once filled in; not as `repo_url`, which makes pages ask another host."""
    project = tomllib.loads(Path(config.config_file_path).with_name("pyproject.toml").read_text(encoding="utf-8"))
    return with_addresses(config, project["project"]["urls"])


def with_addresses(config: Any, urls: dict[str, str]) -> Any:
    if "OWNER" not in str(urls):
        config["site_url"] = urls["Documentation"]
        icons = {"Source": "material/source-branch", "Issues": "material/message-alert-outline"}
        config["extra"]["social"] = [{"name": name, "link": urls[name], "icon": icons[name]} for name in icons]
    return config


def on_post_build(config: Any, **kwargs: Any) -> None:
    """llms.txt: each page of the navigation with its first paragraph."""
    lines = [f"# {config['site_name']}\n\n> {config['site_description']}"]
    for entry in config["nav"]:
        ((section, _),) = entry.items()
        lines.append(f"\n## {section}\n")
        for page in pages_of(entry):
            head = _HEAD.search(Path(config["docs_dir"], page).read_text(encoding="utf-8"))
            assert head is not None, f"{page} begins with no title"
            about = " ".join(_LINK.sub(r"\1", head["about"]).split())
            address = "" if page == "index.md" else re.sub(r"(/index)?\.md$", "/", page)
            lines.append(f"- [{head['title']}]({config['site_url'] or ''}{address}): {about}")
    Path(config["site_dir"], "llms.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


def pages_of(nav: Any) -> Iterator[str]:
    if isinstance(nav, str):
        yield nav
    else:
        for part in nav.values() if isinstance(nav, dict) else nav:
            yield from pages_of(part)


def on_page_markdown(markdown: str, **kwargs: Any) -> str:
    """Doctests without the marks that only doctest needs."""
    return _SESSION.sub(lambda block: f"```pycon\n{block['code'].replace('<BLANKLINE>', '')}\n```", markdown)


class Numpydoc(griffe.Extension):
    """reStructuredText's citations in Markdown, and parameters that are described together as one entry."""

    def on_instance(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        if isinstance(obj, griffe.Function):
            _show_settings(obj)
        if not obj.docstring:
            return
        text = _CITED.sub(r"\\[\1\\]", obj.docstring.value)  # two in a row would be a link
        obj.docstring.value = _ENTRY.sub(_in_one_line, text)
        if isinstance(obj, griffe.Function):
            for section in obj.docstring.parsed:
                if section.kind is griffe.DocstringSectionKind.parameters:
                    section.value = list(_together(section.value, obj))


def _show_settings(function: griffe.Function) -> None:
    """Put the data and the settings of a task into the signature of a function decorated with `shows_settings`."""
    decorators = [str(each.value) for each in function.decorators if "shows_settings" in str(each.value)]
    if not decorators:
        return
    data = dict.fromkeys(DATA) if "data" in decorators[0] else {}
    text = function.docstring.value if function.docstring else ""
    for name, default in (data if "**settings" in text else data | DEFAULTS).items():
        if name not in function.parameters:
            kind = griffe.ParameterKind.keyword_only
            function.parameters.add(griffe.Parameter(name, kind=kind, default=repr(default)))


def _together(
    entries: list[griffe.DocstringParameter], function: griffe.Function
) -> Iterator[griffe.DocstringParameter]:
    """griffe repeats what is said of `a, b : type` for each of them, with the default of the first."""
    for _, group in itertools.groupby(entries, key=lambda entry: (str(entry.annotation), entry.description)):
        first, *others = group
        if others:
            names = [entry.name.lstrip("*") for entry in (first, *others)]
            defaults = [function.parameters[name].default if name in function.parameters else None for name in names]
            first.value = defaults[0] if len({*map(str, defaults)}) == 1 else None
            first.name = ", ".join(entry.name for entry in (first, *others))
        yield first


def _in_one_line(entry: re.Match[str]) -> str:
    """An entry of the references as an item of a list; griffe warns of lines that continue one by three blanks."""
    return f"{entry[1]}{entry[2]}. {' '.join(entry[3].split())}"
