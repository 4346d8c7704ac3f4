"""Writes examples/tutorial.ipynb from docs/tutorial.md, with the outputs: ``python -m tests.notebook``."""

from __future__ import annotations

import doctest
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PAGE, NOTEBOOK = ROOT / "docs" / "tutorial.md", ROOT / "examples" / "tutorial.ipynb"
_SESSION = re.compile(r"^```python\n(.*?)^```\n", re.MULTILINE | re.DOTALL)
_PICTURE = re.compile(r"^!\[.*#only-(?:light|dark)\)\n", re.MULTILINE)  # the cells draw them
_LINK = re.compile(r"\]\((?!https?:)([^)]+)\)")


def cells() -> Iterator[dict[str, Any]]:
    """The cells of the notebook: text with links from its folder, and each session as one cell."""
    for number, part in enumerate(_SESSION.split(PAGE.read_text(encoding="utf-8"))):
        name = {"id": f"cell-{number}", "metadata": {}}
        if number % 2:
            examples = doctest.DocTestParser().get_examples(part)
            outputs = [_output(example.want) for example in examples if example.want]
            source = "".join(example.source for example in examples).rstrip("\n")
            yield {"cell_type": "code", **name, "execution_count": None, "outputs": outputs, "source": _lines(source)}
        elif text := _LINK.sub(r"](../docs/\1)", _PICTURE.sub("", part)).strip():
            yield {"cell_type": "markdown", **name, "source": _lines(text)}


def _output(want: str) -> dict[str, Any]:
    return {"name": "stdout", "output_type": "stream", "text": _lines(want.replace("<BLANKLINE>", ""))}


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def text() -> str:
    kernel = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    notebook = {"cells": [*cells()], "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    NOTEBOOK.write_text(text(), encoding="utf-8")
    print(NOTEBOOK)
