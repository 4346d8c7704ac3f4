"""Parquet: tables of which single columns can be read, and the embedding a piece at a time. It needs pyarrow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from deadheat.inputs.formats import columns
from deadheat.support.extras import require

PIECE = 4 << 20  # bytes that are read at once, about


@contextmanager
def _opened(path: Path) -> Iterator[columns.Columns]:
    """An open Parquet file, of which nothing but the footer has been read."""
    what = f"{path}: reading Parquet"
    require("pyarrow", "parquet", what)
    parquet = require("pyarrow.parquet", "parquet", what)
    with open(path, "rb") as file:
        with columns.errors(path, "Parquet"):
            content = parquet.ParquetFile(file, buffer_size=1 << 20, pre_buffer=False)
        yield columns.Columns(content.schema_arrow, lambda names: _batches(path, content, names))


def _batches(path: Path, file: Any, names: Sequence[str]) -> Iterator[Any]:
    """Batches of about `PIECE` bytes each, with columns of these names."""
    with columns.errors(path, "Parquet"):
        step = _step(next(file.iter_batches(1, columns=names), None))
        batches = file.iter_batches(step, columns=names)
    while True:
        with columns.errors(path, "Parquet"):
            batch = next(batches, None)
        if batch is None:
            return
        yield batch


def _step(row: Any) -> int:
    """How many rows take so many bytes, by the first one.

    What the footer says of columns is not asked for: pyarrow ends the process where that is damaged.
    """
    dictionary = require("pyarrow", "parquet", "reading Parquet").DictionaryArray
    taken = 1 if row is None else sum(8 if isinstance(each, dictionary) else each.nbytes for each in row.columns)
    return max(1, PIECE // max(1, taken))


READER = columns.Reader(_opened)
