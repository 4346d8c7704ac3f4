"""Exact closeness as integers of a fixed size: what a distance's rows need for that, made ready for many pairs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from deadheat import _core
from deadheat.distances.scaling import by_piece
from deadheat.inputs.sources import Source
from deadheat.support.arrays import Int64

_SIZES = (2, 4, 6)  # limbs of 64 bits that integers can have
_MOST_SLICES = 9  # of a row: see src/core/exact/slices.h
_KEPT_BYTES = 32 << 20  # of rows that are kept ready

Rows = NDArray[Any]


class KeySize(NamedTuple):
    """How long the integers of a kind of closeness are, and between which powers of two the bits of all rows lie."""

    kind: str  # "product", "distance", "difference" or "cosine"
    limbs: int
    low: int
    high: int

    @classmethod
    def of(cls, kind: str, query: Source, gallery: Source) -> KeySize | None:
        """The size that every pair of rows fits; None where their exponents lie too far apart."""
        of_query = by_piece(query, _core.bit_ranges)
        of_gallery = of_query if gallery is query else by_piece(gallery, _core.bit_ranges)
        both, dim = np.concatenate([of_query, of_gallery]), query.shape[1]
        nonzero = both[both[:, 0] < both[:, 1]]
        low, high = (int(nonzero[:, 0].min()), int(nonzero[:, 1].max())) if len(nonzero) else (0, 1)
        width_of_row = high - low if kind == "difference" else int((nonzero[:, 1] - nonzero[:, 0]).max(initial=0))
        width = width_of_row if kind == "cosine" else high - low
        needed = (1 if kind == "difference" else 2) * width + dim.bit_length() + 4
        fitting = [limbs for limbs in _SIZES if needed <= 64 * limbs]
        sliced = width_of_row < _MOST_SLICES * _core.slice_bits(dim, kind == "difference")
        return cls(kind, fitting[0], low, high) if fitting and sliced else None

    def bytes_of_row(self, dim: int) -> int:
        """About how much memory a row takes that is made ready."""
        return 8 * dim * (2 + 64 * self.limbs // 40)

    def rows(self, left: Rows, right: Rows) -> Any:
        """Rows made ready, of the wider type of the two, which holds the numbers of both."""
        left, right = (rows.astype(np.result_type(left, right), copy=False) for rows in (left, right))
        return _core.KeyRows(_core.KeyKind[self.kind], self.limbs, left, right, self.low, self.high)

    def thresholds(self, shape: tuple[int, int]) -> Any:
        """Room for thresholds by row and group."""
        return _core.KeyThresholds(_core.KeyKind[self.kind], self.limbs, *shape)

    def kept(self, query: Source, gallery: Source) -> Any:
        """All rows made ready, if they are few; else None."""
        n_row = len(query) + len(gallery)
        if n_row * self.bytes_of_row(query.shape[1]) > _KEPT_BYTES:
            return None
        return self.rows(*(source.take(np.arange(len(source))) for source in (query, gallery)))


KeyWork = Callable[[Any, Int64, Int64, Int64], None]  # rows made ready, the places of pairs in them, and which pairs
