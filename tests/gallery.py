"""Draws the pictures of the pages, on light and dark paper, by the code above them: ``python -m tests.gallery``."""

from __future__ import annotations

import doctest
import re
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib import pyplot

DOCS = Path(__file__).parents[1] / "docs"
PAGES = [DOCS / f"{name}.md" for name in ("plots", "plots-ties", "plots-confidence", "tutorial", "ties-proofs")]
_PART = re.compile(
    r"^```python\n(?P<code>.*?)^```$|^!\[[^\]]*\]\((?P<picture>[^)#]+)#only-(?P<paper>light|dark)\)$",
    re.MULTILINE | re.DOTALL,
)
_PAPER, _INK = "#1e2129", "#e6e8eb"  # about those of the site in the dark
_INKED = ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color")
STYLES = {"light": {}, "dark": dict.fromkeys(_INKED, _INK) | {"axes.facecolor": _PAPER, "figure.facecolor": _PAPER}}


def drawn(paper: str, page: Path) -> Iterator[tuple[Path, Any]]:
    """The path of each picture of the page on such paper, and the figure that the code before it leaves in `ax`."""
    names: dict[str, Any] = {}
    with matplotlib.rc_context(STYLES[paper]):
        for part in _PART.finditer(page.read_text(encoding="utf-8")):
            if part["code"] is None:
                if part["paper"] == paper:
                    yield page.parent / part["picture"], names["ax"].figure
                continue
            for example in doctest.DocTestParser().get_examples(part["code"]):
                exec(compile(example.source, str(page), "single"), names)
    pyplot.close("all")


def main() -> None:
    for paper, page in product(STYLES, PAGES):
        for path, figure in drawn(paper, page):
            path.parent.mkdir(parents=True, exist_ok=True)
            figure.savefig(path, dpi=110, metadata={"Software": None})
            print(path)


if __name__ == "__main__":
    main()
