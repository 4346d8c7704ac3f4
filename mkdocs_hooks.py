"""What the site's builder does beside MkDocs: doctests are shown as sessions, docstrings are numpydoc.

MkDocs calls `on_page_markdown` (`hooks:` in mkdocs.yml), griffe the extension (options of mkdocstrings).
"""

from __future__ import annotations

import re
from typing import Any

import griffe

_SESSION = re.compile(r"^```python\n(?P<code>>>>.*?)\n*^```$", re.MULTILINE | re.DOTALL)
_CITED = re.compile(r"\[(\d+)\]_")
_ENTRY = re.compile(r"^([ \t]*)\.\. \[(\d+)\] (.*(?:\n\1   \S.*)*)", re.MULTILINE)


def on_page_markdown(markdown: str, **kwargs: Any) -> str:
    """Doctests without the marks that only doctest needs."""
    return _SESSION.sub(lambda block: f"```pycon\n{block['code'].replace('<BLANKLINE>', '')}\n```", markdown)


class Citations(griffe.Extension):
    """reStructuredText's citations in Markdown."""

    def on_instance(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        if obj.docstring:
            text = _CITED.sub(r"\\[\1\\]", obj.docstring.value)  # two in a row would be a link
            obj.docstring.value = _ENTRY.sub(_in_one_line, text)


def _in_one_line(entry: re.Match[str]) -> str:
    """An entry of the references as an item of a list; griffe warns of lines that continue one by three blanks."""
    return f"{entry[1]}{entry[2]}. {' '.join(entry[3].split())}"
