"""Parquet: tables of which single columns can be read, and the embedding a piece at a time. It needs pyarrow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deadheat.errors import FileError
from deadheat.inputs.formats import table
from deadheat.inputs.formats.table import Table
from deadheat.inputs.layout import Labels, Layout
from deadheat.support.extras import require

PIECE = 1 << 20  # numbers that are read at once, about

Array = NDArray[Any]


def embeddings(path: Path, layout: Layout) -> Iterator[Array]:
    """All columns but that of the labels, or a column of lists, in pieces."""
    return _pieces(path, layout, with_labels=False)


def labels(path: Path, layout: Layout) -> Labels:
    """The column of labels of a table that holds nothing else of interest; nothing else is read."""
    return _labels(path, layout, beside_embeddings=False)


def samples(path: Path, layout: Layout) -> tuple[Iterator[Array], Labels]:
    """The embedding in pieces, and the column of labels beside it."""
    return _pieces(path, layout, with_labels=True), _labels(path, layout, beside_embeddings=True)


def _pieces(path: Path, layout: Layout, with_labels: bool) -> Iterator[Array]:
    """The embedding, as `table.split` and `table.numbers` find it; there is always a piece, and all have the same dim.

    Of the other columns nothing is read.
    """
    with _opened(path) as file:
        empty = _table(path, file.schema_arrow.empty_table(), layout.embeddings_key)
        places, _ = table.split(empty, layout.label_column, with_labels)
        names = [(empty.names or [])[place] for place in places]
        if not file.metadata.num_rows:
            yield table.numbers(empty, places)
        step = max(1, PIECE * file.metadata.num_rows // max(1, _count(file.metadata, names)))
        start, width = 0, None
        for content in _batches(path, file, step, names):
            piece = _table(path, content, None, start, width)
            rows = table.numbers(piece, [(piece.names or []).index(name) for name in names])
            start, width = start + len(rows), rows.shape[1]
            yield rows


def _labels(path: Path, layout: Layout, beside_embeddings: bool) -> Labels:
    find = table.label_place if beside_embeddings else table.only_label_place
    with _opened(path) as file:
        empty = _table(path, file.schema_arrow.empty_table())
        name = (empty.names or [])[find(empty, layout.label_column)]
        with _errors(path):
            content = file.read(columns=[name])
    column = _table(path, content)
    return table.labels(column, (column.names or []).index(name))


def _batches(path: Path, file: Any, step: int, names: list[str]) -> Iterator[Any]:
    """Tables of `step` rows, or fewer, with columns of these names."""
    batches = file.iter_batches(step, columns=names)
    while True:
        with _errors(path):
            batch = next(batches, None)
        if batch is None:
            return
        yield _arrow(path).Table.from_batches([batch])


def _count(metadata: Any, names: Sequence[str]) -> int:
    """How many numbers there are in columns, lists counted by what is in them."""
    groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
    leaves = [group.column(i) for group in groups for i in range(group.num_columns)]
    return sum(leaf.num_values for leaf in leaves if leaf.path_in_schema.startswith(tuple(names)))


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    """An open Parquet file, of which nothing but the footer has been read."""
    parquet = _arrow(path, "parquet")
    with open(path, "rb") as file:
        with _errors(path):
            content = parquet.ParquetFile(file, buffer_size=1 << 20, pre_buffer=False)
        yield content


@contextmanager
def _errors(path: Path) -> Iterator[None]:
    """Say in one line what Arrow says in many."""
    try:
        yield
    except (_arrow(path).ArrowException, OSError) as error:
        reason = " ".join(str(error).split())
        raise FileError(path, f" cannot be read as Parquet; truncated or damaged? {reason}") from None


def _arrow(path: Path, module: str = "") -> ModuleType:
    """pyarrow, or a module of it."""
    what = f"{path}: reading Parquet"
    package = require("pyarrow", "parquet", what)
    return require(f"pyarrow.{module}", "parquet", what) if module else package


def _table(path: Path, content: Any, list_column: str | None = None, first: int = 0, width: int | None = None) -> Table:
    """The columns of a Parquet file, or of a piece that begins at row `first`, with lists of a width."""
    names = list(content.column_names)
    table.check_names(path, names)
    if list_column is not None and list_column not in names:
        raise FileError(path, f" has no column {list_column!r}, only {', '.join(map(repr, names))}")
    skipped = [n for n in names if list_column not in (None, n) and _is_list(path, content.schema.field(n).type)]
    names = [n for n in names if n not in skipped and not n.startswith("__index_level_")]
    return Table(path, names, [_column(path, name, content.column(name), first, width) for name in names])


def _is_list(path: Path, kind: Any) -> bool:
    types = _arrow(path, "types")
    return bool(types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind))


def _is_number(path: Path, kind: Any) -> bool:
    types = _arrow(path, "types")
    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind))


def _column(path: Path, name: str, column: Any, first: int, width: int | None) -> Array:
    """A Parquet column as an array: (n,), or (n, dim) if it holds lists."""
    if column.null_count:
        raise FileError(path, f", column {name!r} has {column.null_count} missing values")
    arrow = _arrow(path)
    if arrow.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    column = arrow.concat_arrays(column.chunks) if column.num_chunks else arrow.array([], column.type)
    if _is_list(path, column.type):
        return _lists(path, name, column, first, width)
    array = column.to_numpy(zero_copy_only=False)
    text = array.dtype.kind == "O" and all(isinstance(item, str) for item in array)
    return np.asarray(array, dtype=np.str_ if text else None)


def _lists(path: Path, name: str, column: Any, first: int, width: int | None) -> Array:
    """A column of lists of one length, (n, dim)."""
    values = column.flatten()
    widths = _arrow(path, "compute").list_value_length(column).to_numpy(zero_copy_only=False)
    if values.null_count:
        raise FileError(path, f", column {name!r} has {values.null_count} missing values inside its lists")
    if len(values) and not _is_number(path, values.type):
        raise FileError(path, f", column {name!r} must hold lists of numbers, but holds {column.type}")
    if width is None:
        width = int(widths[0]) if len(widths) else 0
    if (widths != width).any():
        row = int(np.flatnonzero(widths != width)[0])
        lengths = f"row {first + row} has {widths[row]} and row 0 {width}"
        raise FileError(path, f", column {name!r}: lists must be of one length, but {lengths}")
    return np.asarray(values.to_numpy(zero_copy_only=False)).reshape(len(column), width)
