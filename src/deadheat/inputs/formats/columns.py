"""Parquet, which needs pyarrow: only the needed columns are read, the embedding a piece at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np

from deadheat.errors import FileError, InputError
from deadheat.inputs import limits
from deadheat.inputs.conversion import column_array, is_list_type
from deadheat.inputs.files import BOTH, LABEL_NAMES, FileLayout, Labels, Parts
from deadheat.inputs.formats import tables
from deadheat.inputs.formats.tables import ColumnTable
from deadheat.support.arrays import Array
from deadheat.support.lazy import lazy, require

pyarrow: Any = lazy("pyarrow")  # once `require` has found it

PIECE = 4 << 20  # bytes that are read at once, about
LISTS = 256  # rows of lists that are read at once: any of them may be longer than the first


def read(path: Path, layout: FileLayout, parts: Parts) -> list[Any]:
    """Return the embedding in pieces: all columns except that of the labels, or a column of lists; and the labels.

    Of a table that is read for its labels only, no other column is read.
    """
    find = tables.label_place if parts == BOTH else tables.only_label_place
    return [_labels(path, layout, find) if part == "labels" else _pieces(path, layout, parts == BOTH) for part in parts]


def _pieces(path: Path, layout: FileLayout, with_labels: bool) -> Iterator[Array]:
    """Yield the embedding in at least one piece, all of the same dim. Other columns are not read."""
    with opened_parquet(path) as (raw, file):
        empty = _table(path, file.schema_arrow.empty_table(), layout.embeddings_key)
        indices, _ = tables.split(empty, layout, with_labels)
        names = [(empty.names or [])[index] for index in indices]
        start, width = 0, None
        for batch in _batches(path, raw, file, names):
            piece = _table(path, batch, None, start, width)
            rows = tables.numbers(piece, [(piece.names or []).index(name) for name in names])
            if not start and len(names) > 1:  # of one column of lists the numbers have no names
                tables.look_at(empty, indices, rows)
            start, width = start + len(rows), rows.shape[1]
            limits.require_columns(path, "", width)
            yield rows
        if width is None:
            yield tables.numbers(empty, indices)


def _labels(path: Path, layout: FileLayout, find: Callable[[ColumnTable, FileLayout], int]) -> Labels:
    with opened_parquet(path) as (raw, file):
        empty = _table(path, file.schema_arrow.empty_table())
        name = (empty.names or [])[find(empty, layout)]
        column = pyarrow.chunked_array(_table_of(path, raw, file, [name]).column(0))
        return column.to_pylist() if is_list_type(column.type) else _column(path, name, column)


def _table_of(path: Path, raw: IO[bytes], file: Any, names: Sequence[str]) -> Any:
    """Return some columns as a `pyarrow.Table`."""
    fields = [file.schema_arrow.field(name) for name in names]
    return pyarrow.Table.from_batches(_batches(path, raw, file, names), pyarrow.schema(fields))


def read_columns(path: Path, choose: Callable[[list[str]], Sequence[str]]) -> Any:
    """Return, as a `pyarrow.Table`, the columns of a file that a function chooses from the names of all."""
    with opened_parquet(path) as (raw, file):
        return _table_of(path, raw, file, choose(file.schema_arrow.names))


@contextmanager
def opened_parquet(path: Path) -> Iterator[tuple[IO[bytes], Any]]:
    """Open a file, and a `pyarrow.parquet.ParquetFile` of it, of which only the footer is read."""
    _, parquet = (require(module, "files", f"{path}: reading Parquet") for module in ("pyarrow", "pyarrow.parquet"))
    with limits.opened(path) as raw:
        yield raw, parquet.ParquetFile(raw, buffer_size=1 << 20, pre_buffer=False)


def _batches(path: Path, raw: IO[bytes], file: Any, names: Sequence[str]) -> Iterator[Any]:
    """Yield columns by name, in batches of about `PIECE` bytes each, by the size of the first row.

    The sizes in the footer are not used: pyarrow ends the process where they are damaged.
    """
    limits.require_columns(path, "", len(names))
    row = next(file.iter_batches(1, columns=names), None)
    columns = [] if row is None else row.columns
    n_byte = sum(8 if isinstance(column, pyarrow.DictionaryArray) else column.nbytes for column in columns)
    n_held, n_read = limits.bytes_held(raw), 0
    limits.require_bytes(path, "", n_byte * file.metadata.num_rows, n_held)
    most = LISTS if any(is_list_type(column.type) for column in columns) else PIECE
    for batch in file.iter_batches(min(most, max(1, PIECE // max(1, n_byte))), columns=names):
        n_read += batch.nbytes
        limits.require_bytes(path, "", n_read, n_held)
        yield batch


def _table(
    path: Path, content: Any, list_column: str | None = None, first: int = 0, width: int | None = None
) -> ColumnTable:
    """Return the columns of a table or batch that begins at row `first`; its lists must have length `width`."""
    names = list(content.schema.names)
    tables.check_names(path, names)
    if list_column is not None and list_column not in names:
        raise FileError(path, f" has no column {list_column!r}, only {', '.join(map(repr, names))}")
    skipped = [n for n in names if list_column not in (None, n) and is_list_type(content.schema.field(n).type)]
    names = [n for n in names if n not in skipped and not n.startswith("__index_level_")]
    chunked = (pyarrow.chunked_array(content.column(name)) for name in names)
    return ColumnTable(
        path, names, [_column(path, n, each, first, width) for n, each in zip(names, chunked, strict=True)]
    )


def _column(path: Path, key: str, column: Any, first: int = 0, width: int | None = None) -> Array:
    if is_list_type(column.type) and key.lower() in LABEL_NAMES:  # sets of labels, and no embedding
        return np.full(len(column), "", dtype=object)
    try:
        array = column_array(column, first=first, width=width)
    except InputError as error:
        raise FileError(path, f", column {key!r} {error.args[1]}") from None
    text = array.dtype.kind == "O" and all(isinstance(item, str) for item in array)
    return np.asarray(array, dtype=np.str_ if text else None)
