"""Hamming distance between binary codes."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from deadheat._core import ScoreErrors
from deadheat.engine.distances.columns import Columns
from deadheat.engine.distances.distance import Distance, Level, Target
from deadheat.engine.exact import Roots
from deadheat.errors import InvalidValueError
from deadheat.inputs.source import Array
from deadheat.support.arrays import Int64
from deadheat.support.caching import cached_property
from deadheat.support.lazy import fractions


class Hamming(Distance):
    """Number of bits in which two codes differ."""

    name = "hamming"
    takes = "bits"
    form = "bits"
    targets: ClassVar = {"distance": Target(-1, 0)}
    levels = (Level(np.float32, exact=True),)

    def __init__(self, query: NDArray[np.uint64], gallery: NDArray[np.uint64]) -> None:
        if query.shape[1] * 64 >= 2**24:
            raise InvalidValueError("codes", f"must be shorter than 2^24 bits, but have {query.shape[1] * 64}")
        self.queries, self.items = query, gallery
        self.n_query, self.dim = len(query), 64 * query.shape[1]

    @property
    def n_gallery(self) -> int:
        return len(self.items)

    @cached_property
    def columns(self) -> Columns:  # type: ignore[override]
        """Equal codes as one column; histograms of codes need none."""
        return Columns.of(Array(self.items.view(np.uint32).astype(np.float64)))

    def errors(self, level: Level) -> ScoreErrors:
        return ScoreErrors()

    def exact_closeness(self, queries: Int64, columns: Int64) -> Roots:
        return Roots.of_values(self.scores.pair_scores(queries, columns))

    @property
    def step(self) -> fractions.Fraction:
        return fractions.Fraction(1)
