"""Tables: the choice of the columns of embedding and labels, their conversion to arrays, and the reading of text.

Messages name the file and, for text, the line. Text is in UTF-8: columns between commas, tabs or blanks, with or
without a first line of their names; or labels one a line. Blanks at the ends of a cell, or of a line with a label, do
not count, unless the cell is in quotes: ``" x"`` is not x. Between blanks no cell is in quotes.
"""

from __future__ import annotations

import csv
import fnmatch
import io
import operator
import re
from bisect import bisect_right
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from deadheat.errors import FileError
from deadheat.inputs import features, limits
from deadheat.inputs.files import BOTH, LABEL_NAMES, LABELS, FileLayout, Labels, Parts, opened, usual_names
from deadheat.inputs.labels import from_text
from deadheat.support import checks
from deadheat.support.arguments import setting
from deadheat.support.arrays import Array

_INTEGER = re.compile("[+-]?[0-9]+")


@dataclass(frozen=True)
class ColumnTable:
    """Columns of equal length: lists of text, or arrays, where a column of lists is 2-D.

    `lines` has the number of the line that each row of text is in.
    """

    path: Path
    names: list[str] | None
    columns: list[list[str] | Array]
    lines: Sequence[int] = ()

    def title(self, index: int) -> str:
        """Format the name of a column for an error message."""
        return f"column {index}" if self.names is None else f"column {self.names[index]!r}"

    def is_numeric(self, index: int) -> bool:
        """Return whether every entry of a column is a number."""
        column = self.columns[index]
        return all(map(is_number, column)) if isinstance(column, list) else column.dtype.kind in "fiub"


def check_names(path: Path, names: Sequence[str]) -> None:
    """Refuse two columns of one name; any number of columns may have no name."""
    twice = limits.repeated(filter(None, names))
    if twice is not None:
        raise FileError(path, f" has more than one column called {twice!r}")


def split(table: ColumnTable, layout: FileLayout, with_labels: bool) -> tuple[list[int], int]:
    """Return the places of the embedding's columns, and of the labels (-1 if there are none and none are needed)."""
    column = layout.label_column
    index = label_place(table, layout) if with_labels or column is not None else _usual_place(table)
    taken = {index}
    for name in layout.left_out:
        with suppress(FileError):  # a gallery need not have them
            taken.add(_place(table, name))
    taken |= set(range(len(table.columns))) - _fitting(table, layout.columns) if layout.columns else set()
    taken |= _fitting(table, layout.drop or ())
    others = [i for i in range(len(table.columns)) if i not in taken and (table.names is None or table.names[i])]
    lists = [i for i in others if getattr(table.columns[i], "ndim", 1) == 2]
    if len(lists) > 1:
        names = ", ".join(repr(table.title(i).removeprefix("column ").strip("'")) for i in lists)
        rule = f" has more than one column of lists: name the embedding ({setting('embeddings_key')}), one of {names}"
        raise FileError(table.path, rule)
    if not others:
        raise FileError(table.path, " has no column of numbers other than the labels")
    return lists or others, index


def _fitting(table: ColumnTable, patterns: Sequence[str]) -> set[int]:
    """Return the places of the columns that patterns fit, each of which must fit one; a number is a place."""
    names = table.names or [str(place) for place in range(len(table.columns))]
    places: set[int] = set()
    for pattern in patterns:
        result = {place for place, name in enumerate(names) if fnmatch.fnmatchcase(name, pattern)}
        if not result:
            raise FileError(table.path, f" has no column that fits {pattern!r}: it has {checks.few(names)}")
        places |= result
    return places


def look_at(table: ColumnTable, places: Sequence[int], rows: Array) -> None:
    """Remark on columns of an embedding that look like no features."""
    names = None if table.names is None else [table.names[place] for place in places]
    features.look_at(names, rows, "--drop leaves columns out, drop= of dh.read in Python")


def label_place(table: ColumnTable, layout: FileLayout) -> int:
    """Return the place of the label column: the one asked for, one with a usual name, or the first without numbers."""
    if layout.label_column is not None:
        return _place(table, layout.label_column)
    usual = _usual_place(table)
    if usual >= 0 or len(table.columns) == 1:
        return max(usual, 0)
    for index in range(len(table.columns)):
        if not table.is_numeric(index):
            return index
    got = f"all columns hold numbers and none is called {', '.join(LABEL_NAMES[:-1])} or {LABEL_NAMES[-1]}"
    raise FileError(table.path, f": {got}; name the column of labels ({setting('label_column')})")


def only_label_place(table: ColumnTable, layout: FileLayout) -> int:
    """Return `label_place` of a table of labels alone; refuse two columns of text of which either may be meant."""
    if layout.label_column is None and layout.content != "labels":
        return _number_place(table, layout.content)
    index = label_place(table, layout)
    text = [i for i in range(len(table.columns)) if not table.is_numeric(i)]
    if layout.label_column is None and _usual_place(table) < 0 and len(text) > 1:
        titles = " and ".join(table.title(i) for i in text[:2])
        raise FileError(table.path, f": either {titles} may hold the labels; name one ({setting('label_column')})")
    return index


def _number_place(table: ColumnTable, content: str) -> int:
    """Return the place of numbers with this name, or of the only column that is not called as labels are."""
    names = [name.lower() for name in table.names or [""] * len(table.columns)]
    usual = [names.index(name) for name in usual_names(content) if name in names]
    others = usual[:1] or [i for i, name in enumerate(names) if name not in LABEL_NAMES]
    if len(others) == 1:
        return others[0]
    got = ", ".join(map(table.title, range(len(names))))
    raise FileError(
        table.path, f" has no column called {content}, but has {got}; name it ({setting(f'{content}_key')})"
    )


def is_label_matrix(table: ColumnTable) -> bool:
    """Return whether a table of labels has a column of 0 and 1 for each label, and none by a usual name of labels."""
    if len(table.columns) < 2 or _usual_place(table) >= 0:
        return False
    return all(isinstance(column, list) and {*column} <= {"0", "1"} for column in table.columns)


def _usual_place(table: ColumnTable) -> int:
    lower = {name.lower(): i for i, name in reversed(list(enumerate(table.names or [])))}
    return next((lower[name] for name in LABEL_NAMES if name in lower), -1)


def _place(table: ColumnTable, column: str | int) -> int:
    """Return the place of a column given by name or by number."""
    if table.names is not None and column in table.names:
        return table.names.index(str(column))
    try:
        if isinstance(column, bool) or (isinstance(column, str) and not re.fullmatch("-?[0-9]{1,9}", column)):
            raise IndexError
        return range(len(table.columns))[operator.index(int(column) if isinstance(column, str) else column)]
    except (TypeError, IndexError):
        unnamed = "has no names of columns: give places from 0"
        names = unnamed if table.names is None else f"has {', '.join(map(repr, table.names))}"
        got = f"it has {len(table.columns)} columns and {names}"
        raise FileError(table.path, f" has no column {column!r:.50}: {got}") from None


def numbers(table: ColumnTable, places: Sequence[int]) -> Array:
    """Return the embedding, (n, dim): one column of lists, or one number from each of many columns."""
    first = table.columns[places[0]]
    if len(places) == 1 and not isinstance(first, list) and first.ndim == 2:
        return first
    return np.stack([_floats(table, place) for place in places], axis=1)


def _floats(table: ColumnTable, index: int) -> Array:
    column = table.columns[index]
    if isinstance(column, list):
        return _floats_in_text(table, index, column)
    if column.dtype.kind not in "fiub":
        raise FileError(table.path, f": {table.title(index)} must hold numbers, but holds {column.dtype}")
    if column.dtype.kind == "f":
        return column
    values = column.astype(np.float64)
    if column.dtype.kind in "iu" and not np.array_equal(values.astype(column.dtype), column):
        raise FileError(table.path, f": {table.title(index)} holds integers too large to be exact in float64")
    return values


def _floats_in_text(table: ColumnTable, position: int, column: list[str]) -> Array:
    try:
        if "_" not in "".join(column):
            return _unrounded(table, position, np.array(list(map(float, column))), column)
    except ValueError as error:
        if isinstance(error, FileError):
            raise
    index = next(i for i, cell in enumerate(column) if not is_number(cell))
    raise FileError(
        table.path,
        f"{_where(table, position, index)}: the cell is not a number; leave the column out ({setting('drop')})",
    )


def _unrounded(table: ColumnTable, position: int, values: Array, column: list[str]) -> Array:
    """Refuse integers in text that float64 rounds; numbers with a point or an exponent may be rounded."""
    for index in np.flatnonzero(np.abs(values) >= 2.0**53).tolist():
        cell, value = column[index].strip(), values[index]
        if _INTEGER.fullmatch(cell) and (np.isinf(value) or int(cell) != int(value)):
            got = "the cell is an integer too large to be exact in float64"
            raise FileError(table.path, f"{_where(table, position, index)}: {got}")
    return values


def _where(table: ColumnTable, position: int, index: int) -> str:
    """Format a cell for an error message."""
    return f", line {table.lines[index]}, {table.title(position)}"


def labels(table: ColumnTable, position: int) -> Labels:
    """Return the labels, (n,): from text, integers if all of them are written as integers, strings otherwise."""
    column = table.columns[position]
    if not isinstance(column, list):
        return column
    for index, cell in enumerate(column):
        if not cell:
            raise FileError(table.path, f", line {table.lines[index]}: the label is empty")
    return from_text(column)


def is_number(cell: str | bytes | float) -> bool:
    """Return whether a cell is a number, of text too; Python's underscores are not allowed."""
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in str(cell)


# Text -----------------------------------------------------------------------------------------------------------------


def read(path: Path, layout: FileLayout, parts: Parts, delimiter: str | None) -> list[Array]:
    """Return the embedding, as float64, and the labels of a table with this delimiter; None stands for blanks.

    A table that is read for its labels only may have one column for each label.
    """
    table = _read(path, delimiter, layout.header)
    if parts == LABELS:
        is_matrix = layout.label_column is None and layout.content == "labels" and is_label_matrix(table)
        every = range(len(table.columns))
        return [numbers(table, every) if is_matrix else labels(table, only_label_place(table, layout))]
    places, position = split(table, layout, parts == BOTH)
    rows = numbers(table, places)
    look_at(table, places, rows)
    return [rows, labels(table, position)] if parts == BOTH else [rows]


def read_lines(path: Path, layout: FileLayout, parts: Parts) -> list[Labels]:
    """Return labels that are written one per line, or the column of a table between blanks."""
    if layout.is_table:
        return read(path, layout, parts, None)
    cells = [line.strip() for line in _decoded(path).removesuffix("\n").split("\n")]
    return [labels(ColumnTable(path, None, [cells], range(1, len(cells) + 1)), 0)]


def _read(path: Path, delimiter: str | None, header: bool | None) -> ColumnTable:
    rows, lines = _fields(path) if delimiter is None else _rows(path, delimiter)
    for row, line in zip(rows, lines, strict=True):
        if len(row) != len(rows[0]):
            raise FileError(path, f", line {line}: {len(row)} columns, but line {lines[0]} has {len(rows[0])}")
    named = _looks_like_header(rows, path) if header is None else header
    names = [name.strip() for name in rows.pop(0)] if named and rows else None
    check_names(path, names or [])
    if not rows:
        raise FileError(path, " has no rows of data")
    return ColumnTable(
        path, names, [list(column) for column in zip(*rows, strict=True)], lines[len(lines) - len(rows) :]
    )


def _fields(path: Path) -> tuple[list[list[str]], list[int]]:
    """Return the fields between blanks of the lines that have any, and the numbers of these lines."""
    result = [(fields, n) for n, line in enumerate(_decoded(path).splitlines(), 1) if (fields := line.split())]
    limits.require_columns(path, "", max((len(fields) for fields, _ in result), default=0))
    return [fields for fields, _ in result], [n for _, n in result]


def _rows(path: Path, delimiter: str) -> tuple[list[list[str]], list[int]]:
    """Return the rows that are not empty, and the lines that they end in; quoted cells keep blanks at their ends."""
    text = _decoded(path)
    quoted = re.compile(rf'(?<![^{delimiter}\r\n])"((?:[^"]|"")*+)"')  # a zero byte, which no text has, guards blanks
    guarded = quoted.sub('"\0\\1\0"', text) if '"' in text else text
    reader = csv.reader(io.StringIO(guarded, newline=""), delimiter=delimiter, strict=True)
    rows, lines, ended = [], [], 0
    try:
        for row in reader:
            ended = reader.line_num
            if row:
                limits.require_columns(path, f", line {ended}", len(row))
                cells = list(map(str.strip, row))
                rows.append(cells if guarded is text else [cell.replace("\0", "") for cell in cells])
                lines.append(ended)
    except csv.Error as error:
        opened = _open_quote(text, delimiter, ended)
        raise FileError(path, opened or f", line {reader.line_num}: {error}") from None
    return rows, lines


def _open_quote(text: str, delimiter: str, n_line: int) -> str | None:
    """Return the message for a row that begins after `n_line` lines, if a quote in it is not closed."""
    begins = [0, *(match.end() for match in re.finditer("\r\n|\r|\n", text))]
    field = re.compile(rf'(?:"(?:[^"]|"")*"|[^{delimiter}"\r\n][^{delimiter}\r\n]*|)(?:{delimiter}|\r\n|\r|\n)')
    index, longest = begins[n_line], csv.field_size_limit()
    while (result := field.match(text, index)) and result.end() - index <= longest:
        index = result.end()
    if text[index : index + 1] != '"' or (result is None and '"' in text[index + 1 :].replace('""', "")):
        return None
    within = f" within {longest} characters" if result else ""
    return f", line {bisect_right(begins, index)}: the quote that opens here is not closed{within}"


def _looks_like_header(rows: list[list[str]], path: Path) -> bool:
    """Return whether row 0 names the columns: one has a usual name for labels, or only row 1 has a number."""
    if not rows:
        return False
    first, second = [cell.strip() for cell in rows[0]], rows[min(1, len(rows) - 1)]
    if any(cell.lower() in LABEL_NAMES for cell in first):
        return True
    counted = [cell for cell in first if is_number(cell)]
    if counted and len(first) > 1 and counted in ([str(i + start) for i in range(len(counted))] for start in (0, 1)):
        raise FileError(path, f", line 1 may be names or data; say which ({setting('header')})")
    return not counted and any(map(is_number, second))


def _decoded(path: Path) -> str:
    """Return the text of a file, without a byte order mark."""
    with opened(path) as file:
        content = file.read()
    n_line, most = max(map(content.count, (b"\n", b"\r"))), limits.current().lines
    if n_line > most:
        raise FileError(path, f" must have at most {most} lines, but has {n_line}")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise FileError(path, f", line {line}: not text in UTF-8; damaged, or another kind of file?") from None
    if "\0" in text:
        line = text[: text.index("\0")].count("\n") + 1
        raise FileError(path, f", line {line}: a zero byte; not a text file?")
    return text
