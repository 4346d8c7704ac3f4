"""What the site's builder does beside MkDocs: doctests are shown as sessions, docstrings are numpydoc.

MkDocs calls `on_page_markdown` (`hooks:` in mkdocs.yml), griffe the extension (options of mkdocstrings).
"""

from __future__ import annotations

import re
from typing import Any

import griffe

_SESSION = re.compile(r"^```python\n(?P<code>>>>.*?)\n*^```$", re.MULTILINE | re.DOTALL)
_CITED, _ENTRY = re.compile(r"\[(\d+)\]_"), re.compile(r"^(\s*)\.\. \[(\d+)\] ", re.MULTILINE)
_SECTION = re.compile(r"^([ \t]*)(References|Notes|See Also)\n\s*-+\n", re.MULTILINE)


def on_page_markdown(markdown: str, **kwargs: Any) -> str:
    """Doctests without the marks that only doctest needs."""
    return _SESSION.sub(lambda block: f"```pycon\n{block['code'].replace('<BLANKLINE>', '')}\n```", markdown)


class Citations(griffe.Extension):
    """reStructuredText's citations in Markdown, and sections that griffe does not know as paragraphs."""

    def on_instance(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        if obj.docstring:
            text = _CITED.sub(r"[\1]", obj.docstring.value)
            text = _SECTION.sub(r"\1**\2**\n\n", text)
            obj.docstring.value = _ENTRY.sub(r"\1\2. ", text)
