"""Rows that are made from others when they are read."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from deadheat.inputs.source import Array, Index, Rows, Source
from deadheat.support.arrays import slices

CHUNK = 1 << 18  # numbers that are made at once
HELD_BYTES = 64 << 20  # up to which rows made from others are held, and not made again for each use


class Derived(Source):
    """The rows of another source, changed each by itself when they are read."""

    def __init__(self, source: Source, change: Callable[[Rows], Rows], dtype: np.dtype[np.floating]) -> None:
        self.shape, self.dtype, self.stored = source.shape, dtype, dtype
        self._source, self._change = source, change

    @classmethod
    def of(cls, source: Source, change: Callable[[Rows], Rows], dtype: np.dtype[np.floating]) -> Source:
        """The changed rows; held in memory if they are few and the others are in memory too."""
        derived = cls(source, change, dtype)
        if not source.in_memory or source.shape[0] * source.shape[1] * dtype.itemsize > HELD_BYTES:
            return derived
        held = np.empty(source.shape, dtype)
        for some in slices(len(source), max(1, CHUNK // source.shape[1])):
            derived._read_into(some.start, held[some])
        return Array(held)

    def _read_into(self, start: int, out: Rows) -> None:
        out[:] = self._change(self._source.read(start, start + len(out)))

    def _take_into(self, index: Index, out: Rows) -> None:
        out[:] = self._change(self._source.take(index))
