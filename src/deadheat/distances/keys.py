"""Closeness in bulk beyond float64, for items that it leaves open: what rows need for that, made ready for many pairs.

Either in about twice its precision, which tells nearly all apart that is not tied, or as integers.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deadheat import _core
from deadheat.distances.scaling import by_piece, power_of_two
from deadheat.inputs.sources import Source
from deadheat.support.arrays import Int64

_MOST_SLICES = 9  # of a row: see src/core/exact/slices.h
_MOST_LIMBS = 67  # of the square of a row: see src/core/exact/limbs.cpp
_KEPT_BYTES = 48 << 20  # of rows that are kept ready
_SPARSE = 1 / 4  # of the numbers in rows that are not 0, up to which they are sparse: see src/core/exact/root_rows.cpp

Rows = NDArray[Any]


@dataclass(frozen=True)
class Bulk(ABC):
    """A kind of numbers that tell the closeness of many pairs, and what rows are made ready with."""

    kind: str  # "product", "distance", "difference" or "cosine"

    @abstractmethod
    def bytes_of_row(self, dim: int) -> int:
        """About how much memory a row takes that is made ready."""

    def work_of_pair(self, dim: int) -> int:
        """How many numbers a pair makes to be multiplied, at most."""
        return dim

    @abstractmethod
    def rows(self, left: Rows, right: Rows) -> Any:
        """Rows made ready: once, if both sides are one array."""

    @abstractmethod
    def thresholds(self, shape: tuple[int, int]) -> Any:
        """Room for thresholds by row and group."""

    def kept(self, query: Source, gallery: Source) -> Any:
        """All rows made ready, if they are few; else None."""
        sources = (query,) if gallery is query else (query, gallery)
        if sum(map(len, sources)) * self.bytes_of_row(query.shape[1]) > _KEPT_BYTES:
            return None
        rows = [source.take(np.arange(len(source))) for source in sources]
        return self.rows(rows[0], rows[-1])


@dataclass(frozen=True)
class Twofold(Bulk):
    """Twice the precision of float64, of numbers that are below 2^(exponent + 1)."""

    exponent: int

    @classmethod
    def of(cls, kind: str, query: Source, gallery: Source) -> Twofold | None:
        """None for differences."""
        return None if kind == "difference" else cls(kind, int(np.frexp(power_of_two(query, gallery))[1]) - 1)

    def bytes_of_row(self, dim: int) -> int:
        return 8 * (dim + 32) * (2 if self.kind == "product" else 1)  # whose sides are in units of their own

    def rows(self, left: Rows, right: Rows) -> Any:
        return _core.TwofoldRows(_core.KeyKind[self.kind], *_of_one_type(left, right), self.exponent)

    def thresholds(self, shape: tuple[int, int]) -> Any:
        return _core.TwofoldThresholds(*shape)


@dataclass(frozen=True)
class Integers(Bulk):
    """Integers as long as they have to be."""

    slices: int  # of a row, about
    sparse: bool  # whether few numbers are in rows, so that products may be added up number by number

    @classmethod
    def of(cls, kind: str, query: Source, gallery: Source) -> Integers:
        both = np.concatenate([by_piece(source, _core.bit_ranges) for source in (query, gallery)])
        nonzero, dim = both[both[:, 0] < both[:, 1]].reshape(-1, 2), query.shape[1]
        differences = kind == "difference"
        widths = nonzero[:, 1] - nonzero[:, 0]
        if differences and len(nonzero):  # which have one unit
            widths = np.array([nonzero[:, 1].max() - nonzero[:, 0].min()])
        slices = widths // _core.slice_bits(dim, differences) + 1
        slices[slices > _MOST_SLICES] = 0
        numbers = sum(int(by_piece(source, _numbers_of_rows).sum()) for source in (query, gallery))
        sparse = not differences and numbers <= _SPARSE * dim * (len(query) + len(gallery))
        return cls(kind, int(np.ceil(slices.mean())) if len(slices) else 0, sparse)

    def bytes_of_row(self, dim: int) -> int:
        return 8 * ((dim + 8) * (1 + self.slices + self.sparse) + 2 * _MOST_LIMBS)

    def work_of_pair(self, dim: int) -> int:
        return dim + _MOST_LIMBS**2 // 4  # a few comparisons by products of so many limbs, sparse ones

    def rows(self, left: Rows, right: Rows) -> Any:
        return _core.RootRows(_core.KeyKind[self.kind], *_of_one_type(left, right))

    def thresholds(self, shape: tuple[int, int]) -> Any:
        return _core.RootThresholds(_core.KeyKind[self.kind], *shape)


def _of_one_type(left: Rows, right: Rows) -> tuple[Rows, Rows]:
    """Rows in the wider type of the two, which holds the numbers of both."""
    wider = np.result_type(left, right)
    return left.astype(wider, copy=False), right.astype(wider, copy=False)


def _numbers_of_rows(rows: Rows) -> Int64:
    return np.asarray(np.count_nonzero(rows, axis=1))


Selection = Int64 | slice  # of pairs
BulkWork = Callable[[Any, Int64, Int64, Selection], None]  # rows made ready, places of pairs in them, and which pairs
