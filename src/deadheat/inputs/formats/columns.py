"""Parquet and Arrow: columns of which single ones can be read, the embedding a piece at a time. They need pyarrow.

Arrow's own files are those of Feather and of Hugging Face's datasets too. A format opens its files as `Columns`;
`Reader` has what both share.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from deadheat.errors import FileError, InputError
from deadheat.inputs.conversion import column_array, is_list_type
from deadheat.inputs.files import Labels, Layout
from deadheat.inputs.formats import tables
from deadheat.inputs.formats.tables import Table
from deadheat.support.arrays import Array
from deadheat.support.lazy import lazy, require

pyarrow: Any = lazy("pyarrow")  # once `require` has found it

PIECE = 4 << 20  # bytes that are read at once, about

_FILE, _OLD = b"ARROW1", b"FEA1"  # how Arrow's files begin; anything else is a stream of Arrow's, or nothing


class Columns(NamedTuple):
    """An open file: its `pyarrow.Schema`, and a function that reads columns by name, in small record batches."""

    schema: Any
    batches: Callable[[Sequence[str]], Iterator[Any]]


@dataclass(frozen=True)
class Reader:
    """The functions of a format whose files `opened` opens."""

    opened: Callable[[Path], AbstractContextManager[Columns]]

    def embeddings(self, path: Path, layout: Layout) -> Iterator[Array]:
        """All columns but that of the labels, or a column of lists, in pieces."""
        return self._pieces(path, layout, with_labels=False)

    def labels(self, path: Path, layout: Layout) -> Labels:
        """The column of labels of a table that holds nothing else of interest; nothing else is read."""
        return self._labels(path, layout, tables.only_label_place)

    def samples(self, path: Path, layout: Layout) -> tuple[Iterator[Array], Labels]:
        """The embedding in pieces, and the column of labels."""
        labels = self._labels(path, layout, tables.label_place)
        return self._pieces(path, layout, with_labels=True), labels

    def _pieces(self, path: Path, layout: Layout, with_labels: bool) -> Iterator[Array]:
        """The embedding, in at least one piece, all of the same dim. Of the other columns nothing is read."""
        with self.opened(path) as file:
            empty = _table(path, file.schema.empty_table(), layout.embeddings_key)
            places, _ = tables.split(empty, layout, with_labels)
            names = [(empty.names or [])[place] for place in places]
            start, width = 0, None
            for batch in file.batches(names):
                piece = _table(path, batch, None, start, width)
                rows = tables.numbers(piece, [(piece.names or []).index(name) for name in names])
                start, width = start + len(rows), rows.shape[1]
                yield rows
            if width is None:
                yield tables.numbers(empty, places)

    def _labels(self, path: Path, layout: Layout, find: Callable[[Table, str | int | None], int]) -> Labels:
        with self.opened(path) as file:
            empty = _table(path, file.schema.empty_table())
            name = (empty.names or [])[find(empty, layout.label_column)]
            batches = list(file.batches([name]))
        chunks = [batch.column(batch.schema.names.index(name)) for batch in batches]
        return _column(path, name, pyarrow.chunked_array(chunks, file.schema.field(name).type))


def _table(path: Path, content: Any, list_column: str | None = None, first: int = 0, width: int | None = None) -> Table:
    """The columns of a table or batch that begins at row `first`, with lists of a width."""
    names = list(content.schema.names)
    tables.check_names(path, names)
    if list_column is not None and list_column not in names:
        raise FileError(path, f" has no column {list_column!r}, only {', '.join(map(repr, names))}")
    skipped = [n for n in names if list_column not in (None, n) and is_list_type(content.schema.field(n).type)]
    names = [n for n in names if n not in skipped and not n.startswith("__index_level_")]
    chunked = (pyarrow.chunked_array(content.column(name)) for name in names)
    return Table(path, names, [_column(path, n, each, first, width) for n, each in zip(names, chunked, strict=True)])


def _column(path: Path, name: str, column: Any, first: int = 0, width: int | None = None) -> Array:
    try:
        array = column_array(column, f"column {name!r}", first=first, width=width)
    except InputError as error:
        raise FileError(path, f", {error}") from None
    text = array.dtype.kind == "O" and all(isinstance(item, str) for item in array)
    return np.asarray(array, dtype=np.str_ if text else None)


@contextmanager
def _opened_parquet(path: Path) -> Iterator[Columns]:
    """An open Parquet file, of which nothing but the footer has been read."""
    _, parquet = (require(module, "files", f"{path}: reading Parquet") for module in ("pyarrow", "pyarrow.parquet"))
    with open(path, "rb") as file:
        content = parquet.ParquetFile(file, buffer_size=1 << 20, pre_buffer=False)
        yield Columns(content.schema_arrow, lambda names: _parquet_batches(content, names))


def _parquet_batches(file: Any, names: Sequence[str]) -> Iterator[Any]:
    """Batches of about `PIECE` bytes each, by the size of the first row.

    The sizes in the footer are not used: pyarrow ends the process where they are damaged.
    """
    row = next(file.iter_batches(1, columns=names), None)
    columns = [] if row is None else row.columns
    n_byte = sum(8 if isinstance(each, pyarrow.DictionaryArray) else each.nbytes for each in columns)
    yield from file.iter_batches(max(1, PIECE // max(1, n_byte)), columns=names)


@contextmanager
def _opened_arrow(path: Path) -> Iterator[Columns]:
    """An open file of Arrow's, of which nothing but the schema has been read."""
    require("pyarrow", "files", f"{path}: reading Arrow")
    with open(path, "rb") as file:
        start = file.read(len(_FILE))
    if start.startswith(_OLD):
        raise FileError(path, " is in Feather's first format, which is no longer read: rewrite it")
    with pyarrow.memory_map(str(path)) as source:
        schema = _arrow_reader(source, start).schema
    yield Columns(schema, lambda names: _arrow_batches(path, schema, names, start))


def _arrow_reader(source: Any, start: bytes, **options: Any) -> Any:
    ipc: Any = lazy("pyarrow.ipc")
    settings = ipc.IpcReadOptions(**options)
    return (ipc.open_file if start == _FILE else ipc.open_stream)(source, options=settings)


def _arrow_batches(path: Path, schema: Any, names: Sequence[str], start: bytes) -> Iterator[Any]:
    """Batches of about `PIECE` bytes each, with columns of these names; of the others nothing is unpacked."""
    wanted = [schema.get_field_index(name) for name in names]
    with pyarrow.memory_map(str(path)) as source:
        reader = _arrow_reader(source, start, included_fields=wanted)
        batches = map(reader.get_batch, range(reader.num_record_batches)) if start == _FILE else iter(reader)
        for batch in batches:
            batch.validate(full=True)  # of lists that end beyond their numbers, before anybody follows them
            step = max(1, PIECE * len(batch) // max(1, batch.nbytes))
            yield from (batch.slice(first, step) for first in range(0, len(batch), step))


PARQUET, ARROW = Reader(_opened_parquet), Reader(_opened_arrow)
