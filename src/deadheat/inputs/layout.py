"""What is said of a file before it is read: where in it things are, and what comes out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, TypeAlias

from numpy.typing import NDArray

Labels: TypeAlias = NDArray[Any]
Content: TypeAlias = NDArray[Any] | Iterator[NDArray[Any]]


class Layout(NamedTuple):
    """Where in a file things are, as far as a caller says so: see `deadheat.read`.

    `left_out` are columns of tables, by name or by place from 0, that are neither labels nor part of the embedding.
    """

    embeddings_key: str | None = None
    labels_key: str | None = None
    label_column: str | int | None = None
    header: bool | None = None
    left_out: tuple[str, ...] = ()
