"""Draws the pictures of docs/plots.md by the code above each of them: ``python -m tests.gallery``."""

from __future__ import annotations

import doctest
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parents[1] / "docs"
PAGE = DOCS / "plots.md"
_PART = re.compile(r"^```python\n(?P<code>.*?)^```$|^!\[[^\]]*\]\((?P<picture>[^)]+)\)$", re.MULTILINE | re.DOTALL)


def drawn(page: Path = PAGE) -> Iterator[tuple[Path, Any]]:
    """The path of each picture of the page, and the figure that the code before it leaves in `ax`."""
    names: dict[str, Any] = {}
    for part in _PART.finditer(page.read_text(encoding="utf-8")):
        if part["picture"]:
            yield page.parent / part["picture"], names["ax"].figure
            continue
        for example in doctest.DocTestParser().get_examples(part["code"]):
            exec(compile(example.source, str(page), "single"), names)


def main() -> None:
    for path, figure in drawn():
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, dpi=110, bbox_inches="tight", metadata={"Software": None})
        print(path)


if __name__ == "__main__":
    main()
