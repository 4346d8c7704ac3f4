"""City block distance."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from deadheat import _core, exact
from deadheat.distances import scaling
from deadheat.distances.bounded import Bounded
from deadheat.distances.columns import Columns
from deadheat.distances.dense import Dense
from deadheat.distances.derived import CHUNK
from deadheat.distances.distance import Target, Tensor, TensorDevice, Workspace
from deadheat.distances.errors import ScoreErrors
from deadheat.distances.levels import Level, levels_for
from deadheat.exact.bounds import divided, multiplied, widened
from deadheat.inputs.sources import Source
from deadheat.support.arrays import Float64, Int64, slices
from deadheat.support.lazy import fractions


class Cityblock(Dense):
    """Σ |q − x|."""

    name = "cityblock"
    differences = True
    key_kind = "difference"
    targets: ClassVar = {"distance": Target(-1, 0)}
    multiplies = False

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

    def product(
        self, level: int, queries: NDArray[Any], columns: NDArray[Any], space: Workspace | None = None
    ) -> NDArray[Any]:
        scores = np.empty((len(queries), len(columns)), queries.dtype)
        _core.minus_absolute_differences(queries, columns, scores)
        return scores

    def device_product(self, device: TensorDevice, queries: Tensor, columns: Tensor) -> Tensor:
        return device.torch.cdist(queries, columns, p=1.0).neg_()

    def device_pairs(self, queries: Tensor, columns: Tensor) -> Tensor:
        return -(queries - columns).abs().sum(dim=1)

    def bound(self, level: int, queries: Int64, band: tuple[int, int]) -> Float64:
        largest = self.item_size[self.columns.item_of_column[slice(*band)]].max()
        return self._bound(self.levels[level], self.query_size[queries] + largest)

    def pair_bound(self, queries: Int64, columns: Int64, scores: Float64 | None = None) -> Float64:
        sizes = self.item_size[self.columns.item_of_column[columns]]
        return self._bound(self.levels[-1], self.query_size[queries] + sizes)

    def _bound(self, level: Level, size: Float64) -> Float64:
        if level.exact:
            return np.zeros_like(size)
        return exact.gamma(self.dim + 10, level.dtype) * size + exact.underflow(self.dim, level.dtype)

    def pair_scores(self, queries: Int64, columns: Int64) -> Float64:
        scores = np.empty(len(queries))
        for part in slices(len(queries), max(1, CHUNK // self.dim)):
            differences = self.queries.take(queries[part], np.float64)
            differences -= self.items.take(self.columns.item_of_column[columns[part]], np.float64)
            scores[part] = -np.abs(differences).sum(axis=1)
        return scores

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


class CityblockOfOverlaps(Bounded, Cityblock):
    """Σ |q − x| = Σq + c − 2s, ranked by s = Σ min(q, x) − (Σx − c)/2, with c a usual sum.

    The overlap, a sum of minima, errs by a part of itself and not of the rows, and Σx − c, computed in twice the
    precision, by a part of itself. So rows of probabilities that overlap little are told apart, however small that is.
    """

    def __init__(self, query: Source, gallery: Source) -> None:
        super().__init__(query, gallery)
        self.usual_sum = scaling.usual(self.item_size)
        left, self._offset_error = scaling.sums_less(self.items, self.usual_sum)
        self.offset = left / 2
        if self.usual_sum:
            self.columns = self.columns.in_bands(np.maximum(np.abs(self.offset), 2.0**-1000))

    def errors_of(self, level: Level) -> ScoreErrors:
        part, tiny = exact.gamma(self.dim + 10, level.dtype), exact.underflow(self.dim, level.dtype)
        beside = 4 * exact.unit_roundoff(level.dtype) * np.abs(self.offset) + self._offset_error + tiny
        sizes = self.query_size, np.ones(len(self.item_size)), beside
        return ScoreErrors(*sizes, self.offset, part, tiny, part * (1 + 8 * part), 2 * tiny)

    def product(
        self, level: int, queries: NDArray[Any], columns: NDArray[Any], space: Workspace | None = None
    ) -> NDArray[Any]:
        overlaps = np.empty((len(queries), len(columns)), queries.dtype)
        _core.overlaps(queries, columns, overlaps)
        return overlaps

    def device_product(self, device: TensorDevice, queries: Tensor, columns: Tensor) -> Tensor:
        sums = device.torch.minimum(queries[:, :1], columns[:, 0])
        for k in range(1, self.dim):
            sums += device.torch.minimum(queries[:, k : k + 1], columns[:, k])
        return sums

    def device_pairs(self, queries: Tensor, columns: Tensor) -> Tensor:
        return queries.minimum(columns).sum(dim=1)

    def pair_scores(self, queries: Int64, columns: Int64) -> Float64:
        scores = np.empty(len(queries))
        for part in slices(len(queries), max(1, CHUNK // self.dim)):
            smaller = self.queries.take(queries[part], np.float64)
            np.minimum(smaller, self.column_rows(len(self.levels) - 1, columns[part]), out=smaller)
            scores[part] = smaller.sum(axis=1)
        return scores - self.offsets(columns)

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
        total = self.query_size[queries] + self.usual_sum
        return total * (1 - exact.gamma(2 * self.dim + 40, np.float64)), total * (1 + 2.0**-50)
