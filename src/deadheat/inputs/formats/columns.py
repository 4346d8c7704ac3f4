"""Files of Arrow's columns, whatever their format: which column is read as what, the embedding a piece at a time.

In comes a function that opens a file as `Columns`; out comes a `Reader`, with what a format hands out. It needs
pyarrow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from deadheat.errors import FileError, InputError
from deadheat.inputs import arrow
from deadheat.inputs.formats import table
from deadheat.inputs.formats.table import Table
from deadheat.inputs.layout import Labels, Layout
from deadheat.printable import reason
from deadheat.support.extras import require

Array = NDArray[Any]


class Columns(NamedTuple):
    """An open file.

    Attributes
    ----------
    schema : pyarrow.Schema
    batches : function of a sequence of names
        The rows in order as record batches, none of them large, with the columns of these names.
    """

    schema: Any
    batches: Callable[[Sequence[str]], Iterator[Any]]


Opener: TypeAlias = Callable[[Path], AbstractContextManager[Columns]]


@dataclass(frozen=True)
class Reader:
    """What a format hands out, read from whatever `opened` opens."""

    opened: Opener

    def embeddings(self, path: Path, layout: Layout) -> Iterator[Array]:
        """All columns but that of the labels, or a column of lists, in pieces."""
        return _pieces(self.opened, path, layout, with_labels=False)

    def labels(self, path: Path, layout: Layout) -> Labels:
        """The column of labels of a table that holds nothing else of interest; nothing else is read."""
        return _labels(self.opened, path, layout, table.only_label_place)

    def samples(self, path: Path, layout: Layout) -> tuple[Iterator[Array], Labels]:
        """The embedding in pieces, and the column of labels beside it."""
        labels = _labels(self.opened, path, layout, table.label_place)
        return _pieces(self.opened, path, layout, with_labels=True), labels


def _pieces(opened: Opener, path: Path, layout: Layout, with_labels: bool) -> Iterator[Array]:
    """The embedding, as `table.split` and `table.numbers` find it; there is always a piece, and all have the same dim.

    Of the other columns nothing is read.
    """
    with opened(path) as file:
        empty = _table(path, file.schema.empty_table(), layout.embeddings_key)
        places, _ = table.split(empty, layout, with_labels)
        names = [(empty.names or [])[place] for place in places]
        start, width = 0, None
        for batch in file.batches(names):
            piece = _table(path, batch, None, start, width)
            rows = table.numbers(piece, [(piece.names or []).index(name) for name in names])
            start, width = start + len(rows), rows.shape[1]
            yield rows
        if width is None:
            yield table.numbers(empty, places)


def _labels(opened: Opener, path: Path, layout: Layout, find: Callable[[Table, str | int | None], int]) -> Labels:
    """The column of labels, where `find` says; nothing else is read."""
    with opened(path) as file:
        empty = _table(path, file.schema.empty_table())
        name = (empty.names or [])[find(empty, layout.label_column)]
        batches = list(file.batches([name]))
    chunks = [batch.column(batch.schema.names.index(name)) for batch in batches]
    chunked = require("pyarrow", "arrow", f"{path}").chunked_array(chunks, file.schema.field(name).type)
    return _column(path, name, chunked)


@contextmanager
def errors(path: Path, kind: str) -> Iterator[None]:
    """Say in one line what Arrow says in many."""
    try:
        yield
    except (require("pyarrow", "arrow", f"{path}").ArrowException, OSError) as error:
        raise FileError(path, f" cannot be read as {kind}; truncated or damaged? {reason(error)}") from None


def _table(path: Path, content: Any, list_column: str | None = None, first: int = 0, width: int | None = None) -> Table:
    """The columns of a table or batch that begins at row `first`, with lists of a width."""
    names = list(content.schema.names)
    table.check_names(path, names)
    if list_column is not None and list_column not in names:
        raise FileError(path, f" has no column {list_column!r}, only {', '.join(map(repr, names))}")
    skipped = [n for n in names if list_column not in (None, n) and arrow.is_list(content.schema.field(n).type)]
    names = [n for n in names if n not in skipped and not n.startswith("__index_level_")]
    pyarrow = require("pyarrow", "arrow", f"{path}")
    chunked = (pyarrow.chunked_array(content.column(name)) for name in names)
    return Table(path, names, [_column(path, n, each, first, width) for n, each in zip(names, chunked, strict=True)])


def _column(path: Path, name: str, column: Any, first: int = 0, width: int | None = None) -> Array:
    """A column as an array: (n,), or (n, dim) if it holds lists."""
    try:
        array = arrow.to_array(column, f"column {name!r}", first=first, width=width)
    except InputError as error:
        raise FileError(path, f", {error}") from None
    text = array.dtype.kind == "O" and all(isinstance(item, str) for item in array)
    return np.asarray(array, dtype=np.str_ if text else None)
