"""Tables: text with commas or tabs, lines of labels, and Parquet.

In comes a path; out comes a `Table` of columns, from which `split` tells the labels from the embedding. Messages name
the file and, for text, the line.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

TABLES = (".csv", ".tsv", ".parquet")
LABEL_COLUMNS = ("labels", "label", "class", "y")

Array = NDArray[Any]


@dataclass
class Table:
    """Columns of equal length: lists of text, or arrays from Parquet, where a column of lists is 2-D."""

    path: Path
    names: list[str] | None
    columns: list[list[str] | Array]
    lines: Sequence[int]

    def title(self, place: int) -> str:
        """How a message calls a column."""
        return f"column {place}" if self.names is None else f"column {self.names[place]!r}"

    def row(self, index: int) -> str:
        """How a message calls a row."""
        word = "row" if self.path.suffix.lower() == ".parquet" else "line"
        return f"{self.path}, {word} {self.lines[index]}"

    def is_numeric(self, place: int) -> bool:
        """Whether every entry of a column is a number."""
        column = self.columns[place]
        return all(map(_is_number, column)) if isinstance(column, list) else column.dtype.kind in "fiub"


def read(path: Path, header: bool | None = None, list_column: str | None = None) -> Table:
    """Read a table, by the ending of its name."""
    if path.suffix.lower() == ".parquet":
        return _read_parquet(path, list_column)
    return _read_text(path, "\t" if path.suffix.lower() == ".tsv" else ",", header)


def split(table: Table, column: str | int | None, with_labels: bool = True) -> tuple[list[int], int]:
    """The places of the columns that are the embedding, and of the labels (-1 if there are none)."""
    place = label_place(table, column) if with_labels or column is not None else _usual_place(table)
    rest = [i for i in range(len(table.columns)) if i != place and (table.names is None or table.names[i])]
    lists = [i for i in rest if getattr(table.columns[i], "ndim", 1) == 2]
    if len(lists) > 1:
        raise ValueError(
            f"{table.path} has more than one column of lists: name the embedding (--embeddings-key), one of "
            + ", ".join(repr(table.title(i).removeprefix("column ").strip("'")) for i in lists)
        )
    if not rest:
        raise ValueError(f"{table.path} has no column of numbers beside the labels")
    return lists or rest, place


def label_place(table: Table, column: str | int | None) -> int:
    """The place of the column of labels: the one asked for, one with a usual name, or the first without numbers."""
    if column is not None:
        return _place(table, column)
    usual = _usual_place(table)
    if usual >= 0 or len(table.columns) == 1:
        return max(usual, 0)
    for place in range(len(table.columns)):
        if not table.is_numeric(place):
            return place
    raise ValueError(
        f"{table.path}: all columns hold numbers and none is called {', '.join(LABEL_COLUMNS[:-1])} or "
        f"{LABEL_COLUMNS[-1]}; name the column of labels (--label-column)"
    )


def only_label_place(table: Table, column: str | int | None) -> int:
    """The same for a table of nothing but labels, where two columns of text leave it open which one is meant."""
    place = label_place(table, column)
    text = [i for i in range(len(table.columns)) if not table.is_numeric(i)]
    if column is None and _usual_place(table) < 0 and len(text) > 1:
        titles = " and ".join(table.title(i) for i in text[:2])
        raise ValueError(f"{table.path}: either {titles} may hold the labels; name one (--label-column)")
    return place


def _usual_place(table: Table) -> int:
    """The place of the column with a usual name for labels, or -1."""
    lower = {name.lower(): i for i, name in reversed(list(enumerate(table.names or [])))}
    return next((lower[name] for name in LABEL_COLUMNS if name in lower), -1)


def _place(table: Table, column: str | int) -> int:
    if table.names is not None and column in table.names:
        return table.names.index(str(column))
    try:
        return range(len(table.columns))[int(column)]
    except (ValueError, IndexError):
        names = "has no names of columns" if table.names is None else f"has {', '.join(map(repr, table.names))}"
        raise ValueError(
            f"{table.path} has no column {column!r}: it has {len(table.columns)} columns and {names}"
        ) from None


def numbers(table: Table, places: list[int]) -> Array:
    """The embedding, (n, dim): one column of lists, or one number from each of many columns."""
    first = table.columns[places[0]]
    if len(places) == 1 and not isinstance(first, list) and first.ndim == 2:
        return first
    columns = [_floats(table, place) for place in places]
    return np.stack(columns, axis=1)


def _floats(table: Table, place: int) -> Array:
    column = table.columns[place]
    if isinstance(column, list):
        try:
            if not any("_" in cell for cell in column):
                return np.array([float(cell) for cell in column])
        except ValueError:
            pass
        index = next(i for i, cell in enumerate(column) if not _is_number(cell))
        raise ValueError(f"{table.row(index)}, {table.title(place)}: {_clip(column[index])} is not a number")
    if column.dtype.kind not in "fiub":
        raise ValueError(f"{table.path}: {table.title(place)} must hold numbers, but holds {column.dtype}")
    if column.dtype.kind == "f":
        return column
    values = column.astype(np.float64)
    if column.dtype.kind in "iu" and not np.array_equal(values.astype(column.dtype), column):
        raise ValueError(f"{table.path}: {table.title(place)} holds integers too large to be exact in float64")
    return values


def labels(table: Table, place: int) -> Array:
    """The labels, (n,): integers if all of them are written as integers, strings otherwise."""
    column = table.columns[place]
    if not isinstance(column, list):
        return column
    for index, cell in enumerate(column):
        if not cell:
            raise ValueError(f"{table.row(index)}: the label is empty")
    return _as_integers(column)


def read_lines(path: Path) -> Array:
    """Labels from a file of text, one a line."""
    content = [line.strip() for line in _decoded(path).removesuffix("\n").split("\n")]
    return labels(Table(path, None, [content], range(1, len(content) + 1)), 0)


def _as_integers(cells: list[str]) -> Array:
    """Integers where all cells are plain ones ("7", not "07" or "7.0"), so that no two labels become one."""
    try:
        values = [int(cell) for cell in cells]
        if [str(value) for value in values] == cells:
            return np.array(values, dtype=np.int64)
    except (ValueError, OverflowError):
        pass
    return np.array(cells, dtype=np.str_)


def _decoded(path: Path) -> str:
    content = path.read_bytes()
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise ValueError(f"{path}, line {line}: not text in UTF-8; damaged, or another kind of file?") from None
    if "\0" in text:
        raise ValueError(f"{path}, line {text[: text.index(chr(0))].count(chr(10)) + 1}: a zero byte; not a text file?")
    return text


def _read_text(path: Path, delimiter: str, header: bool | None) -> Table:
    reader = csv.reader(io.StringIO(_decoded(path), newline=""), delimiter=delimiter, strict=True)
    rows, lines = [], []
    try:
        for row in reader:
            if row:
                rows.append([cell.strip() for cell in row])
                lines.append(reader.line_num)
    except csv.Error as error:
        raise ValueError(f"{path}, line {reader.line_num}: {error}") from None
    for row, line in zip(rows, lines, strict=True):
        if len(row) != len(rows[0]):
            raise ValueError(f"{path}, line {line}: {len(row)} columns, but line {lines[0]} has {len(rows[0])}")
    named = _looks_like_header(rows, path) if header is None else header
    names = rows.pop(0) if named and rows else None
    _check_names(path, names or [])
    if not rows:
        raise ValueError(f"{path} has no rows of data")
    return Table(path, names, [list(column) for column in zip(*rows, strict=True)], lines[len(lines) - len(rows) :])


def _looks_like_header(rows: list[list[str]], path: Path) -> bool:
    """Whether the first row names the columns: one has a usual name for labels, or none is a number but some below."""
    if not rows:
        return False
    first, second = rows[0], rows[min(1, len(rows) - 1)]
    if any(cell.lower() in LABEL_COLUMNS for cell in first):
        return True
    counted = [cell for cell in first if _is_number(cell)]
    if counted and len(first) > 1 and counted in ([str(i + start) for i in range(len(counted))] for start in (0, 1)):
        raise ValueError(
            f"{path}, line 1: {_clip(','.join(first))} may be names or data; say which (--header, --no-header)"
        )
    return not counted and any(map(_is_number, second))


def _check_names(path: Path, names: list[str]) -> None:
    named = [name for name in names if name]
    twice = next((name for name in named if named.count(name) > 1), None)
    if twice is not None:
        raise ValueError(f"{path} has more than one column called {twice!r}")


def parquet_pieces(
    path: Path, list_column: str | None, column: str | int | None, with_labels: bool, elements: int
) -> Iterator[Array]:
    """The embedding in a Parquet file, as `split` and `numbers` find it, in pieces of about so many elements.

    There is always a piece, and all have the same dim. Of the other columns nothing is read.
    """
    with _parquet_file(path) as file:
        table = _arrow_table(path, file.schema_arrow.empty_table(), list_column)
        places, _ = split(table, column, with_labels)
        names = [(table.names or [])[place] for place in places]
        if not file.metadata.num_rows:
            yield numbers(table, places)
        step = max(1, elements * file.metadata.num_rows // max(1, _elements(file.metadata, names)))
        start, width = 0, None
        for content in _batches(path, file, step, names):
            table = _arrow_table(path, content, None, start, width)
            rows = numbers(table, [(table.names or []).index(name) for name in names])
            start, width = start + len(rows), rows.shape[1]
            yield rows


def parquet_labels(path: Path, column: str | int | None) -> Array:
    """The labels in a Parquet file, of which nothing else is read."""
    with _parquet_file(path) as file, _parquet_errors(path):
        table = _arrow_table(path, file.schema_arrow.empty_table())
        name = (table.names or [])[label_place(table, column)]
        content = file.read(columns=[name])
    table = _arrow_table(path, content)
    return labels(table, (table.names or []).index(name))


def _batches(path: Path, file: Any, step: int, names: list[str]) -> Iterator[Any]:
    """Tables of `step` rows, or fewer, with columns of these names."""
    import pyarrow as pa

    batches = file.iter_batches(step, columns=names)
    while True:
        with _parquet_errors(path):
            batch = next(batches, None)
        if batch is None:
            return
        yield pa.Table.from_batches([batch])


def _elements(metadata: Any, names: list[str]) -> int:
    """How many numbers there are in columns, lists counted by what is in them."""
    groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
    leaves = [group.column(i) for group in groups for i in range(group.num_columns)]
    return sum(leaf.num_values for leaf in leaves if leaf.path_in_schema.startswith(tuple(names)))


@contextmanager
def _parquet_file(path: Path) -> Iterator[Any]:
    """An open Parquet file, of which nothing but the footer has been read."""
    try:
        from pyarrow import parquet
    except ModuleNotFoundError:
        raise ModuleNotFoundError(f"{path}: reading Parquet needs pyarrow: pip install 'deadheat[parquet]'") from None
    with open(path, "rb") as file:
        with _parquet_errors(path):
            opened = parquet.ParquetFile(file, buffer_size=1 << 20, pre_buffer=False)
        yield opened


@contextmanager
def _parquet_errors(path: Path) -> Iterator[None]:
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowException, OSError) as error:
        reason = " ".join(str(error).split())
        raise ValueError(f"{path} cannot be read as Parquet; truncated or damaged? {reason}") from None


def _read_parquet(path: Path, list_column: str | None) -> Table:
    with _parquet_file(path) as file, _parquet_errors(path):
        content = file.read()
    return _arrow_table(path, content, list_column)


def _arrow_table(
    path: Path, content: Any, list_column: str | None = None, first: int = 0, width: int | None = None
) -> Table:
    """The columns of a Parquet file, or of a piece that begins at row `first`, with lists of a width."""
    names = list(content.column_names)
    _check_names(path, names)
    if list_column is not None and list_column not in names:
        raise ValueError(f"{path} has no column {list_column!r}, only {', '.join(map(repr, names))}")
    skipped = [n for n in names if list_column not in (None, n) and _is_list(content.schema.field(n).type)]
    names = [n for n in names if n not in skipped and not n.startswith("__index_level_")]
    columns = [_column(content.column(name), f"{path}, column {name!r}", first, width) for name in names]
    return Table(path, names, list(columns), range(first, first + content.num_rows))


def _is_list(kind: Any) -> bool:
    from pyarrow import types

    return bool(types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind))


def _column(column: Any, title: str, first: int = 0, width: int | None = None) -> Array:
    """A Parquet column as an array: (n,), or (n, dim) if it holds lists."""
    if column.null_count:
        raise ValueError(f"{title} has {column.null_count} missing values")
    import pyarrow as pa
    from pyarrow import compute

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    column = pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)
    if not _is_list(column.type):
        array = column.to_numpy(zero_copy_only=False)
        text = array.dtype.kind == "O" and all(isinstance(item, str) for item in array)
        return np.asarray(array, dtype=np.str_ if text else None)
    values = column.flatten()
    widths = compute.list_value_length(column).to_numpy(zero_copy_only=False)
    if values.null_count:
        raise ValueError(f"{title} has {values.null_count} missing values inside its lists")
    if width is None:
        width = int(widths[0]) if len(widths) else 0
    if (widths != width).any():
        row = int(np.flatnonzero(widths != width)[0])
        raise ValueError(
            f"{title}: lists must be of one length, but row {first + row} has {widths[row]} and row 0 {width}"
        )
    return np.asarray(values.to_numpy(zero_copy_only=False)).reshape(len(column), width)


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell


def _clip(cell: str) -> str:
    return repr(cell) if len(cell) <= 40 else repr(cell[:37] + "...")
