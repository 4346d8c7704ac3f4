"""Levels: the ways to compute scores, the fastest first, and which of them suit the data."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import DTypeLike

import deadheat._core as _core
from deadheat.engine.distances.bounds import ROUNDINGS, gamma, largest_whole

CHUNK = 128  # dimensions whose products are added up before their sum is added to the others,
CHUNKS = (CHUNK, 64, 32, 16)  # or fewer, where many items would stay open


class Level(NamedTuple):
    """One way to compute scores: the type of its tiles, and whether its scores are exact.

    With a `chunk`, products are sums of sums over so many dimensions at a time; without, of any order.
    """

    dtype: DTypeLike
    exact: bool
    chunk: int | None = None
    rows: DTypeLike | None = None  # the type of the rows that are multiplied, if not that of the scores
    roundings: int = 0  # that a product errs by beyond those of its sum, where a device multiplies shorter numbers

    @property
    def row_dtype(self) -> DTypeLike:
        """The type of the rows that scores are computed from."""
        return self.rows or self.dtype

    def terms(self, dim: int) -> int:
        """How many roundings can follow each other in a sum of `dim` products."""
        return self.roundings + (dim if self.chunk is None else _core.product_roundings(dim, self.chunk))


def levels_for(largest_sum: float) -> tuple[Level, ...]:
    """One exact level in float32 where sums of integers stay below 2^24; else two, the last exact below 2^53."""
    if largest_sum < largest_whole(np.float32):
        return (Level(np.float32, exact=True),)
    return (Level(np.float32, exact=False), Level(np.float64, exact=bool(largest_sum < largest_whole(np.float64))))


def cheapest(levels: tuple[Level, ...], dim: int, n_relevant: float, symmetric: bool) -> tuple[Level, ...]:
    """The levels that take the least time: float32, in longer or shorter chunks of dimensions, or float64 at once.

    Measured in ns an item: a product costs 0.02 a dimension, 0.04 in float64, a chunk more 0.03, and a closer look at
    an open item 60 and 0.15 a dimension. Open are about as many as for random directions: the share of items
    within the bound of one of the thresholds.
    """
    products = 0.5 if symmetric else 1.0
    first, last = levels

    def cost(level: Level) -> float:
        bound = gamma(level.terms(dim) + ROUNDINGS, np.float32)
        share = min(1.0, n_relevant * 2 * bound * 0.28 * math.sqrt(dim))
        return products * (0.02 * dim + 0.03 * dim / (level.chunk or dim)) + share * (60 + 0.15 * dim)

    best = min((first._replace(chunk=chunk) for chunk in CHUNKS), key=cost)
    return (last,) if cost(best) > products * 0.04 * dim + 1 else (best, last)
