"""Rows as they are multiplied: those that came, each times a factor of its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from deadheat.distances import row_kernels
from deadheat.exact import Float64
from deadheat.inputs.sources import Array, Source

Int64 = NDArray[np.int64]

CHUNK = 1 << 18  # elements gathered at once when rows are taken one by one


@dataclass(frozen=True)
class Rows:
    """A matrix and what each of its rows is multiplied by before use, or divided by."""

    source: Source
    factor: Float64
    divide: bool = False

    def take(self, index: Int64, dtype: DTypeLike) -> NDArray[Any]:
        """Some of the rows, multiplied, in the given type."""
        out = np.empty((len(index), self.source.shape[1]), dtype=dtype)
        (raw, factor, divide), place = self.gather(index)
        row_kernels.take_rows(raw, place, factor, divide, out)
        return out

    def gather(self, index: Int64) -> tuple[tuple[NDArray[Any], Float64, bool], Int64]:
        """An array, factors of its rows, whether these divide, and where in the array each indexed row is."""
        if isinstance(self.source, Array) and self.source.in_memory:
            return (self.source.array, self.factor, self.divide), index
        distinct, place = np.unique(index, return_inverse=True)
        return (self.source.take(distinct), self.factor[distinct], self.divide), place

    @classmethod
    def over(cls, source: Source, unit: Float64) -> Rows:
        """Rows divided by a number of which they are multiples, or by a power of two: exact either way."""
        mantissa, _ = np.frexp(unit)
        multiply = bool((mantissa == 0.5).all() and unit.min() >= np.finfo(np.float64).tiny)
        return cls(source, np.broadcast_to(1 / unit if multiply else unit, source.shape[0]).copy(), not multiply)


def by_piece(source: Source, work: Callable[[NDArray[Any]], NDArray[Any]]) -> NDArray[Any]:
    """What some work makes of the rows, one entry a row."""
    return np.concatenate([work(rows) for _, rows in source.pieces()])
