"""Text in UTF-8, and labels that are written one a line."""

from __future__ import annotations

from pathlib import Path

from deadheat.errors import FileError
from deadheat.inputs.formats import table
from deadheat.inputs.formats.registry import Labels, Layout


def labels(path: Path, layout: Layout) -> Labels:
    """Labels from a file of text, one a line."""
    cells = [line.strip() for line in decoded(path).removesuffix("\n").split("\n")]
    return table.labels(table.Table(path, None, [cells], range(1, len(cells) + 1)), 0)


def decoded(path: Path) -> str:
    """What is in a file of text; a byte order mark is left out."""
    content = path.read_bytes()
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise FileError(path, f", line {line}: not text in UTF-8; damaged, or another kind of file?") from None
    if "\0" in text:
        line = text[: text.index("\0")].count("\n") + 1
        raise FileError(path, f", line {line}: a zero byte; not a text file?")
    return text
