"""Text in UTF-8: columns between commas or tabs, with or without a first line of their names; or labels one a line.

Blanks at the ends of a cell, or of a line with a label, do not count, unless the cell is in quotes: ``" x"`` is not x.
"""

from __future__ import annotations

import csv
import io
import re
from bisect import bisect_right
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from deadheat.errors import FileError
from deadheat.inputs.files import Labels, Layout
from deadheat.inputs.formats import table
from deadheat.inputs.formats.table import LABEL_COLUMNS, Table


@dataclass(frozen=True)
class Reader:
    """The functions of tables of text with this delimiter."""

    delimiter: str

    def embeddings(self, path: Path, layout: Layout) -> NDArray[Any]:
        """All columns but that of the labels, as float64."""
        content = _read(path, self.delimiter, layout.header)
        places, _ = table.split(content, layout, with_labels=False)
        return table.numbers(content, places)

    def labels(self, path: Path, layout: Layout) -> Labels:
        """The column of labels in a table that holds nothing else of interest."""
        content = _read(path, self.delimiter, layout.header)
        return table.labels(content, table.only_label_place(content, layout.label_column))

    def samples(self, path: Path, layout: Layout) -> tuple[NDArray[Any], Labels]:
        """Both, from one table."""
        content = _read(path, self.delimiter, layout.header)
        places, label_place = table.split(content, layout, with_labels=True)
        return table.numbers(content, places), table.labels(content, label_place)


COMMAS, TABS = Reader(","), Reader("\t")


def line_labels(path: Path, layout: Layout) -> Labels:
    """Labels that are written one a line."""
    cells = [line.strip() for line in _decoded(path).removesuffix("\n").split("\n")]
    return table.labels(table.Table(path, None, [cells], range(1, len(cells) + 1)), 0)


def _read(path: Path, delimiter: str, header: bool | None) -> Table:
    rows, lines = _rows(path, delimiter)
    for row, line in zip(rows, lines, strict=True):
        if len(row) != len(rows[0]):
            raise FileError(path, f", line {line}: {len(row)} columns, but line {lines[0]} has {len(rows[0])}")
    named = _looks_like_header(rows, path) if header is None else header
    names = [name.strip() for name in rows.pop(0)] if named and rows else None
    table.check_names(path, names or [])
    if not rows:
        raise FileError(path, " has no rows of data")
    return Table(path, names, [list(column) for column in zip(*rows, strict=True)], lines[len(lines) - len(rows) :])


def _rows(path: Path, delimiter: str) -> tuple[list[list[str]], list[int]]:
    """The rows that are not empty, and the lines that they end in; a cell in quotes keeps the blanks at its ends."""
    text = _decoded(path)
    quoted = re.compile(rf'(?<![^{delimiter}\r\n])"((?:[^"]|"")*+)"')  # a zero byte, which no text has, guards blanks
    guarded = quoted.sub('"\0\\1\0"', text) if '"' in text else text
    reader = csv.reader(io.StringIO(guarded, newline=""), delimiter=delimiter, strict=True)
    rows, lines, ended = [], [], 0
    try:
        for row in reader:
            ended = reader.line_num
            if row:
                rows.append([cell.strip().replace("\0", "") for cell in row])
                lines.append(ended)
    except csv.Error as error:
        opened = _open_quote(text, delimiter, ended)
        raise FileError(path, opened or f", line {reader.line_num}: {error}") from None
    return rows, lines


def _open_quote(text: str, delimiter: str, n_line: int) -> str | None:
    """The message for a row that begins after `n_line` lines, if a quote in it is not closed."""
    begins = [0, *(match.end() for match in re.finditer("\r\n|\r|\n", text))]
    field = re.compile(rf'(?:"(?:[^"]|"")*"|[^{delimiter}"\r\n][^{delimiter}\r\n]*|)(?:{delimiter}|\r\n|\r|\n)')
    place, longest = begins[n_line], csv.field_size_limit()
    while (found := field.match(text, place)) and found.end() - place <= longest:
        place = found.end()
    if text[place : place + 1] != '"' or (found is None and '"' in text[place + 1 :].replace('""', "")):
        return None
    within = f" within {longest} characters" if found else ""
    return f", line {bisect_right(begins, place)}: the quote that opens here is not closed{within}"


def _looks_like_header(rows: list[list[str]], path: Path) -> bool:
    """Whether the first row names the columns: one has a usual name for labels, or none is a number but some below."""
    if not rows:
        return False
    first, second = [cell.strip() for cell in rows[0]], rows[min(1, len(rows) - 1)]
    if any(cell.lower() in LABEL_COLUMNS for cell in first):
        return True
    counted = [cell for cell in first if table.is_number(cell)]
    if counted and len(first) > 1 and counted in ([str(i + start) for i in range(len(counted))] for start in (0, 1)):
        shown = table.clipped(",".join(first))
        raise FileError(path, f", line 1: {shown} may be names or data; say which (--header, --no-header)")
    return not counted and any(map(table.is_number, second))


def _decoded(path: Path) -> str:
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
