"""The README as a package index shows it: what it links to in the repository has an address, pictures too.

scikit-build-core asks for it (`[[tool.dynamic-metadata]]` of pyproject.toml). Addresses are those of `[project.urls]`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

_RELATIVE = re.compile(r"\]\((?!https?:|#)([^)\s]+)\)")
_PAGE = re.compile(r"docs/(?:index|(?P<name>[^#]+))\.md(?P<part>#.*)?")


def dynamic_metadata(settings: Mapping[str, Any], project: Mapping[str, Any]) -> dict[str, Any]:
    text = absolute(Path("README.md").read_text(encoding="utf-8"), project["urls"], project["version"])
    return {"readme": {"content-type": "text/markdown", "text": text}}


def absolute(text: str, urls: Mapping[str, str], version: str) -> str:
    """Markdown whose links lead to the site (pages), the project (`../../`), or the file in this version (others)."""

    def address(link: re.Match[str]) -> str:
        target = link[1]
        if page := _PAGE.fullmatch(target):
            return f"]({urls['Documentation']}{page['name'] + '/' if page['name'] else ''}{page['part'] or ''})"
        if target.startswith("../.."):
            return f"]({urls['Source']}{target.removeprefix('../..')})"
        kind = "raw" if target.endswith((".png", ".svg")) else "blob"
        return f"]({urls['Source']}/{kind}/v{version}/{target})"

    return _RELATIVE.sub(address, text).replace("<BLANKLINE>", "")  # which only doctest needs
