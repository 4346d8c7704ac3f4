"""City block distance."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from deadheat.engine.distances import bounds, scaling
from deadheat.engine.distances.bounds import ScoreErrors, divided, multiplied, widened
from deadheat.engine.distances.columns import Columns
from deadheat.engine.distances.dense import Dense
from deadheat.engine.distances.distance import Form, Level, Target, levels_for
from deadheat.inputs.source import Source
from deadheat.support.arrays import Float64, Int64
from deadheat.support.lazy import fractions


class Cityblock(Dense):
    """Σ |q − x|."""

    name = "cityblock"
    differences = True
    key_kind = "difference"
    targets: ClassVar = {"distance": Target(-1, 0)}
    form: ClassVar[Form] = "difference"

    @classmethod
    def between(cls, query: Source, gallery: Source, exact_only: bool) -> Cityblock:
        distance = cls(query, gallery)
        return (
            distance if distance.levels[-1].exact or not distance._nonnegative else CityblockOfOverlaps(query, gallery)
        )

    def __init__(self, query: Source, gallery: Source) -> None:
        super().__init__(query, gallery)
        self.take_off_centre()
        self.levels = levels_for(2 * self.scale(limit=2.0**51) * self.dim)
        self.query_size, self.item_size = self.for_both(lambda raw: scaling.absolute_sums(raw, self.unit))
        self.columns = Columns.of(self.gallery_raw).in_bands(self.item_size)

    def errors(self, level: Level) -> ScoreErrors:
        part, tiny = bounds.of_differences(self.dim, level.dtype), bounds.underflow(self.dim, level.dtype)
        nothing = np.zeros(len(self.item_size))
        return ScoreErrors(self.query_size, self.item_size, nothing, np.empty(0), part, tiny, additive=True)

    def closeness(self, queries: Int64, low: Float64, high: Float64) -> tuple[Float64, Float64]:
        return multiplied(low, high, self.unit)

    def score(self, queries: Int64, low: Float64, high: Float64) -> tuple[Float64, Float64]:
        return divided(low, high, self.unit)

    def exact_values(self, scores: Float64) -> Float64 | None:
        return scaling.exact_multiples(scores, fractions.Fraction(self.unit)) if self.levels[-1].exact else None

    def least_scores(self, queries: Int64, scores: Float64, shift: float, above: bool) -> Float64 | None:
        if not self.levels[-1].exact:
            return None
        return scaling.moved_integers(scores, fractions.Fraction(shift) / fractions.Fraction(self.unit), above)


class CityblockOfOverlaps(Cityblock):
    """Σ |q − x| = Σq + c − 2s, ranked by s = Σ min(q, x) − (Σx − c)/2, with c a usual sum.

    The overlap, a sum of minima, errs by a part of itself and not of the rows, and Σx − c, computed by
    Dot2, by a part of itself. So rows of probabilities that overlap little are distinguished, however small that is.
    """

    form = "overlap"

    def __init__(self, query: Source, gallery: Source) -> None:
        super().__init__(query, gallery)
        self.usual_sum = scaling.usual(self.item_size)
        left, self._offset_error = scaling.sums_less(self.items, self.usual_sum, squares=False)
        self.offset = left / 2
        if self.usual_sum:
            self.columns = self.columns.in_bands(np.maximum(np.abs(self.offset), 2.0**-1000))

    def errors(self, level: Level) -> ScoreErrors:
        part, tiny = bounds.of_overlaps(self.dim, level.dtype), bounds.underflow(self.dim, level.dtype)
        beside = bounds.of_offset(self.offset, self._offset_error, self.dim, level.dtype)
        sizes = self.query_size, np.ones(len(self.item_size)), beside
        return ScoreErrors(*sizes, self.offset, part, tiny, *bounds.of_one_sign(part, tiny))

    def closeness(self, queries: Int64, low: Float64, high: Float64) -> tuple[Float64, Float64]:
        least, most = self._sum_interval(queries)
        low, high = multiplied(*widened(2 * low - most, 2 * high - least), self.unit)
        return low, np.minimum(high, 0.0)

    def score(self, queries: Int64, low: Float64, high: Float64) -> tuple[Float64, Float64]:
        least, most = self._sum_interval(queries)
        low, high = divided(low, high, self.unit)
        return widened((low + least) / 2, (high + most) / 2)

    def _sum_interval(self, queries: Int64) -> tuple[Float64, Float64]:
        """Σq + c in the units of the scores, between two numbers."""
        return bounds.sum_between(self.query_size[queries], self.usual_sum, self.dim)
