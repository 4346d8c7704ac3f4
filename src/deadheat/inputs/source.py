"""Sources: rows of embeddings that are read in pieces, so that they need not fit in memory.

Only the inputs know where rows are stored. This module has sources in memory and combinations of sources; `disk` has
those on disk. Rows are checked before a source is made of them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

import deadheat._core as _core
from deadheat.errors import InvalidTypeError
from deadheat.inputs.arrays import float_type
from deadheat.support import checks
from deadheat.support.caching import cached_property
from deadheat.support.lazy import hashlib, lazy

zlib: Any = lazy("zlib")

Rows: TypeAlias = NDArray[Any]
Index: TypeAlias = NDArray[np.int64]

_PIECE = 32 << 20  # bytes of a piece


class Source(ABC):
    """Rows of embeddings, in memory or on disk."""

    shape: tuple[int, int]  # (n, dim)
    dtype: np.dtype[Any]  # of the rows that are returned, float32 or float64: whichever holds every value exactly
    stored: np.dtype[Any]  # in which the rows are stored; for several sources of different types, `dtype`
    in_memory: bool = False  # whether there is an attribute `array`
    array: Rows  # (n, dim), all rows, in `dtype` and C-contiguous
    threads: int = 1  # that may scan the rows at once
    compressed: tuple[Rows, Rows, Rows] | None = None  # of sparse rows: starts, columns as int32, values in `dtype`
    tensor: tuple[Any, int] | None = None  # on a card, copied to these rows, and the number of writes to it by then
    title: str = "embeddings"  # of the argument, or of its part, in messages

    def __len__(self) -> int:
        return self.shape[0]

    @cached_property
    def extremes(self) -> Rows:
        """The least and the greatest number of each row, and the smallest size that is not 0 or infinity, (n, 3)."""
        result = np.empty((len(self), 3), dtype=self.dtype)
        for start, rows in self.pieces():
            _core.row_extremes(rows, result[start : start + len(rows)], self.threads)
        return result

    def read(self, start: int, stop: int) -> Rows:
        """Return rows `start` to before `stop`, (stop - start, dim), C-contiguous; the caller must not change them."""
        start, stop, _ = slice(start, stop).indices(len(self))
        out = np.empty((max(0, stop - start), self.shape[1]), dtype=self.dtype)
        self._read_into(start, out)
        return out

    def take(self, index: Index) -> Rows:
        """Return the rows with these numbers, counted from 0, in the order of `index`."""
        try:
            index = np.asarray(index, dtype=np.int64)
        except (TypeError, ValueError, OverflowError):
            raise InvalidTypeError("index", f"must hold row numbers, but is {checks.shown(index)}") from None
        if len(index) and (index.min() < 0 or index.max() >= len(self)):
            raise IndexError(f"index must be within 0 and {len(self) - 1}, but is {index.min()} to {index.max()}")
        out = np.empty((len(index), self.shape[1]), dtype=self.dtype)
        if len(index):
            self._take_into(index, out)
        return out

    def pieces(self, step: int | None = None) -> Iterator[tuple[int, Rows]]:
        """Yield all rows in order, as (start, rows), `step` rows at a time; by default, as many as take about 32 MB."""
        some = max(1, _PIECE // (self.shape[1] * self.dtype.itemsize))
        step = some if step is None else checks.positive_integer(step, "step")
        for start in range(0, len(self), step):
            yield start, self.read(start, start + step)

    def stored_pieces(self, step: int) -> Iterator[tuple[int, Rows]]:
        """Yield all rows in order, as (start, rows), `step` rows at a time, in the type in which they are stored."""
        step = checks.positive_integer(step, "step")
        for start in range(0, len(self), step):
            out = np.empty((min(step, len(self) - start), self.shape[1]), dtype=self.stored)
            self._read_into(start, out)
            yield start, out

    def whole(self) -> Rows:
        """Return all rows at once, (n, dim), in the type in which they are stored."""
        out = np.empty(self.shape, dtype=self.stored)
        self._read_into(0, out)
        return out

    def state(self) -> Hashable:
        """Return a value that differs once somebody has changed a number in the rows; it takes as long as a copy."""
        result = 0
        for _, rows in self.pieces():
            result = zlib.crc32(_core.hash_rows(rows, False, self.threads), result)
        return result

    @abstractmethod
    def _read_into(self, start: int, out: Rows) -> None:
        """Fill `out`, of any type that holds the numbers, with rows from `start`."""

    @abstractmethod
    def _take_into(self, index: Index, out: Rows) -> None:
        """Fill `out` with the rows of `index`."""


class Array(Source):
    """A checked array in memory: returned unchanged where possible, else converted on reading."""

    def __init__(self, values: Rows) -> None:
        self.shape, self.stored = (values.shape[0], values.shape[1]), values.dtype
        self.dtype = float_type(values.dtype)
        self._values = values
        self.in_memory = values.dtype == self.dtype and values.flags.c_contiguous
        if self.in_memory:
            self.array = values

    def read(self, start: int, stop: int) -> Rows:
        """Return rows `start` to before `stop`; a view if nothing needs to be converted."""
        return self.array[start:stop] if self.in_memory else super().read(start, stop)

    def whole(self) -> Rows:
        """Return the array itself; the caller must not change it."""
        return self._values

    def _read_into(self, start: int, out: Rows) -> None:
        out[:] = self._values[start : start + len(out)]

    def _take_into(self, index: Index, out: Rows) -> None:
        out[:] = self._values[index]


class Shards(Source):
    """The concatenation of several sources with the same dim."""

    def __init__(self, sources: Sequence[Source]) -> None:
        self._sources = tuple(sources)
        self._starts = np.cumsum([0, *map(len, self._sources)])
        self.shape = (int(self._starts[-1]), self._sources[0].shape[1])
        self.dtype = max((source.dtype for source in self._sources), key=lambda dtype: dtype.itemsize)
        stored = {source.stored.newbyteorder("=") for source in self._sources}
        self.stored = stored.pop() if len(stored) == 1 else self.dtype

    def state(self) -> Hashable:
        return tuple(source.state() for source in self._sources)

    def _read_into(self, start: int, out: Rows) -> None:
        stop = start + len(out)
        for source, (first, last) in zip(self._sources, pairwise(self._starts.tolist()), strict=True):
            low, high = max(start, first), min(stop, last)
            if low < high:
                source._read_into(low - first, out[low - start : high - start])

    def _take_into(self, index: Index, out: Rows) -> None:
        order = np.argsort(index, kind="stable")
        wanted = index[order]
        cuts = np.searchsorted(wanted, self._starts).tolist()
        for source, start, (first, last) in zip(self._sources, self._starts[:-1], pairwise(cuts), strict=True):
            if first < last:
                out[order[first:last]] = source.take(wanted[first:last] - start)


class Chosen(Source):
    """Selected rows of another source, in the order of `index`."""

    def __init__(self, source: Source, index: Index) -> None:
        self._source, self._index = source, index
        self.shape, self.dtype, self.stored = (len(index), source.shape[1]), source.dtype, source.stored

    def state(self) -> Hashable:
        return self._source.state()

    def _read_into(self, start: int, out: Rows) -> None:
        self._source._take_into(self._index[start : start + len(out)], out)

    def _take_into(self, index: Index, out: Rows) -> None:
        self._source._take_into(self._index[index], out)


def state_of_mask(mask: NDArray[np.bool_]) -> Hashable:
    """Return a value that differs once somebody has changed a mask, as `Source.state` does for rows."""
    marks = np.ascontiguousarray(mask).reshape(-1)
    whole = len(marks) // 8 * 8  # as words of eight, none of which is the −0 that counts as 0
    return int(_core.hash_rows(marks[:whole].view(np.float64)[None], False)[0]), marks[whole:].tobytes()


def digest_of_rows(source: Source) -> str:
    """Return the digest of embeddings that a receipt has, the same for files and memory, float32 and float64."""
    numbers = ((rows + 0.0).astype("<f8", order="C").data for _, rows in source.pieces())  # -0 and 0 are one number
    return digest_of("embeddings", source.shape, numbers)


def digest_of(kind: str, shape: tuple[int, ...], pieces: Iterable[bytes | memoryview]) -> str:
    """Return the SHA-256 of a line with the kind of an input, a line with its shape, and its values in pieces."""
    digest = hashlib.sha256(f"deadheat.{kind} 1\n{' '.join(map(str, shape))}\n".encode())
    for piece in pieces:
        digest.update(piece)
    return digest.hexdigest()
