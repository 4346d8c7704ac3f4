"""City block distance."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from deadheat._core import ScoreErrors
from deadheat.engine.distances import bounds, scaling
from deadheat.engine.distances.bounds import divided, multiplied, widened
from deadheat.engine.distances.columns import Columns
from deadheat.engine.distances.distance import Dense, Form, Level, Target, levels_for
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
        overlaps = distance._nonnegative and not distance.levels[-1].exact
        return CityblockOfOverlaps(query, gallery) if overlaps else distance

    def __init__(self, query: Source, gallery: Source) -> None:
        super().__init__(query, gallery)
        self.take_off_centre()
        self.levels = levels_for(2 * self.scale(limit=2.0**51) * self.dim)
        self.query_size, self.item_size = self.for_both(lambda raw: scaling.absolute_sums(raw, self.unit))
        self.columns = Columns.of(self.gallery_raw).in_bands(self.item_size)

    def errors(self, level: Level) -> ScoreErrors:
        part, tiny = bounds.of_differences(self.dim, level.dtype), bounds.underflow(self.dim, level.dtype)
        return ScoreErrors(
            of_query=self.query_size, of_item=self.item_size, part=part, tiny=tiny,
            offset_error=np.zeros(len(self.item_size)), additive=True,
        )  # fmt: skip

    def closeness(self, queries: Int64, low: Float64, high: Float64) -> tuple[Float64, Float64]:
        return multiplied(low, high, self.unit)

    def score(self, queries: Int64, low: Float64, high: Float64) -> tuple[Float64, Float64]:
        return divided(low, high, self.unit)

    @property
    def step(self) -> fractions.Fraction | None:
        return fractions.Fraction(self.unit) if self.levels[-1].exact else None


class CityblockOfOverlaps(Cityblock):
    """Σ |q − x| = Σq + c − 2s, ranked by s = Σ min(q, x) − (Σx − c)/2, with c the common sum.

    The overlap, a sum of minima, errs by a part of itself and not of the rows, and Σx − c, computed by
    Dot2, by a part of itself. So rows of probabilities that overlap little are distinguished, however small that is.
    """

    form = "overlap"
    _nonnegative = True

    def __init__(self, query: Source, gallery: Source) -> None:
        super().__init__(query, gallery)
        self.subtract_common_offset(self.item_size, squares=False)

    def errors(self, level: Level) -> ScoreErrors:
        part, tiny = bounds.of_overlaps(self.dim, level.dtype), bounds.underflow(self.dim, level.dtype)
        relative, relative_tiny = bounds.of_one_sign(part, tiny)
        return ScoreErrors(
            of_query=self.query_size, of_item=np.ones(len(self.item_size)), part=part, tiny=tiny,
            offset_error=self.offset_errors(level.dtype), offset=self.offset,
            relative=relative, relative_tiny=relative_tiny,
        )  # fmt: skip

    def closeness(self, queries: Int64, low: Float64, high: Float64) -> tuple[Float64, Float64]:
        least, most = self._sum_interval(queries)
        low, high = multiplied(*widened(2 * low - most, 2 * high - least), self.unit)
        return low, np.minimum(high, 0.0)

    def score(self, queries: Int64, low: Float64, high: Float64) -> tuple[Float64, Float64]:
        least, most = self._sum_interval(queries)
        low, high = divided(low, high, self.unit)
        return widened((low + least) / 2, (high + most) / 2)

    def _sum_interval(self, queries: Int64) -> tuple[Float64, Float64]:
        """Return bounds on Σq + c in the units of the scores."""
        return bounds.sum_between(self.query_size[queries], self.common_offset, self.dim)
