"""Distances between binary codes: Hamming, Jaccard (Tanimoto) and Dice."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from deadheat._core import ScoreErrors
from deadheat.engine.distances.bounds import nudged, widened
from deadheat.engine.distances.columns import Columns
from deadheat.engine.distances.distance import Distance, Level, Target
from deadheat.engine.exact import Roots
from deadheat.errors import InvalidValueError
from deadheat.inputs.source import Array
from deadheat.support.arrays import Float64, Int64
from deadheat.support.caching import cached_property
from deadheat.support.lazy import fractions


class Codes(Distance):
    """A distance between codes by the bits in which they differ, an integer below 2^24."""

    takes = "bits"

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


class Hamming(Codes):
    """Number of bits in which two codes differ."""

    name = "hamming"
    form = "bits"
    targets: ClassVar = {"distance": Target(-1, 0)}
    levels = (Level(np.float32, exact=True),)

    def exact_closeness(self, queries: Int64, columns: Int64) -> Roots:
        return Roots.of_values(self.scores.pair_scores(queries, columns))

    @property
    def step(self) -> fractions.Fraction:
        return fractions.Fraction(1)


class Dice(Codes):
    """2|q ∩ x| / (|q| + |x|) of the ones of two codes; 1 if neither has any.

    A score is −d/(|q| + |x|) for d differing bits, which is the similarity less 1, rounded once. With d < 2^24, two
    different fractions of this form differ by at least 2^-49 of the larger, so float64 distinguishes them.
    """

    name = "dice"
    form = "share"
    targets: ClassVar = {"similarity": Target(1, 0), "distance": Target(-1, 1)}
    levels = (Level(np.float64, exact=True, rows=np.float32),)

    @cached_property
    def _ones(self) -> list[Int64]:
        return [np.bitwise_count(words).sum(axis=1, dtype=np.int64) for words in (self.queries, self.items)]

    def exact_closeness(self, queries: Int64, columns: Int64) -> Roots:
        both = self._ones[0][queries] + self._ones[1][self.columns.item_of_column[columns]]
        differing = np.rint(-self.scores.pair_scores(queries, columns) * both)
        return Roots.of_fractions(*self._fraction(np.where(both > 0, both - differing, 2.0), np.maximum(both, 2.0)))

    def _fraction(self, common: Float64, both: Float64) -> tuple[Float64, Float64]:
        """Return the similarity, a fraction, from 2|q ∩ x| and |q| + |x|."""
        return common, both

    def closeness(self, queries: Int64, low: Float64, high: Float64) -> tuple[Float64, Float64]:
        low, high = nudged(low, high)
        return nudged(1 + low, 1 + high)

    def score(self, queries: Int64, low: Float64, high: Float64) -> tuple[Float64, Float64]:
        return nudged(*nudged(low - 1, high - 1))


class Jaccard(Dice):
    """|q ∩ x| / |q ∪ x| of the ones of two codes; 1 if neither has any. It ranks as Dice does."""

    name = "jaccard"

    def _fraction(self, common: Float64, both: Float64) -> tuple[Float64, Float64]:
        return common, 2 * both - common

    def closeness(self, queries: Int64, low: Float64, high: Float64) -> tuple[Float64, Float64]:
        low, high = nudged(low, high)
        return widened((1 + low) / (1 - low), (1 + high) / (1 - high))

    def score(self, queries: Int64, low: Float64, high: Float64) -> tuple[Float64, Float64]:
        low, high = (np.clip(end, -0.5, 4.0) for end in (low, high))  # which no similarity reaches
        return nudged(*widened((low - 1) / (low + 1), (high - 1) / (high + 1)))
