"""Parquet: tables of which single columns can be read, and the embedding a piece at a time. It needs pyarrow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from deadheat.inputs.formats import columns
from deadheat.support.extras import require

PIECE = 1 << 20  # numbers that are read at once, about


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
    """Batches of about `PIECE` numbers each, with columns of these names."""
    batches = file.iter_batches(_step(file.metadata, names), columns=names)
    while True:
        with columns.errors(path, "Parquet"):
            batch = next(batches, None)
        if batch is None:
            return
        yield batch


def _step(metadata: Any, names: Sequence[str]) -> int:
    """How many rows have so many numbers in columns of these names, lists counted by what is in them."""
    groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
    leaves = [group.column(i) for group in groups for i in range(group.num_columns)]
    count = sum(leaf.num_values for leaf in leaves if leaf.path_in_schema.startswith(tuple(names)))
    return max(1, int(PIECE * metadata.num_rows // max(1, count)))


READER = columns.Reader(_opened)
