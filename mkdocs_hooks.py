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
            title, about = head_of(Path(config["docs_dir"], page).read_text(encoding="utf-8"))
            address = "" if page == "index.md" else re.sub(r"(/index)?\.md$", "/", page)
            lines.append(f"- [{title}]({config['site_url'] or ''}{address}): {about}")
    Path(config["site_dir"], "llms.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


def head_of(markdown: str) -> tuple[str, str]:
    """Return the title of a page and its first paragraph, without links."""
    head = _HEAD.search(markdown)
    assert head is not None, f"a page begins with no title: {markdown[:80]!r}"
    return head["title"], " ".join(_LINK.sub(r"\1", head["about"]).split())


def pages_of(nav: Any) -> Iterator[str]:
    if isinstance(nav, str):
        yield nav
    else:
        for part in nav.values() if isinstance(nav, dict) else nav:
            yield from pages_of(part)


def on_page_markdown(markdown: str, page: Any, **kwargs: Any) -> str:
    """Doctests without the marks that only doctest needs; the first sentence describes the page to search engines."""
    about = head_of(markdown)[1].replace("`", "").replace("*", "")
    page.meta.setdefault("description", re.split(r"(?<=[.?!]) ", about)[0])
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
    """Put the data and the settings of a task into the signature of a function decorated with `shows_settings`.

    Settings that the docstring describes together, as ``**settings``, stay together.
    """
    decorators = [str(each.value) for each in function.decorators if "shows_settings" in str(each.value)]
    if not decorators:
        return
    kinds, data = griffe.ParameterKind, DATA if "data" in decorators[0] else ()
    together = function.docstring is not None and "**settings" in function.docstring.value
    shown = [griffe.Parameter(name, kind=kinds.positional_or_keyword, default="None") for name in data]
    own = [each for each in function.parameters if not data or each.kind in (kinds.keyword_only, kinds.var_keyword)]
    shown += [each for each in own if each.kind is not kinds.var_keyword]
    if together:
        shown += [each for each in own if each.kind is kinds.var_keyword]
    else:
        own_names = {each.name for each in own}
        settings = {name: default for name, default in DEFAULTS.items() if name not in own_names}
        shown += [griffe.Parameter(name, kind=kinds.keyword_only, default=repr(settings[name])) for name in settings]
    function.parameters = griffe.Parameters(*shown)


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
