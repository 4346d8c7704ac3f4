"""City block distance."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from deadheat import _core, exact
from deadheat.distances import scaling
from deadheat.distances.columns import Columns
from deadheat.distances.dense import Dense
from deadheat.distances.distance import Target, Tensor, TensorDevice, Workspace
from deadheat.distances.levels import Level, levels_for
from deadheat.distances.scaling import CHUNK
from deadheat.exact import Roots
from deadheat.exact.bounds import divided, multiplied
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

    def exact_closeness(self, queries: Int64, columns: Int64) -> Roots:
        roots = Roots("linear")
        for pairs in self.exact_rows(queries, columns):
            roots.add_minus_differences(*pairs)
        return roots

    def exact_values(self, scores: Float64) -> Float64 | None:
        return scaling.exact_multiples(scores, fractions.Fraction(self.unit)) if self.levels[-1].exact else None

    def least_scores(self, queries: Int64, scores: Float64, shift: float, above: bool) -> Float64 | None:
        if not self.levels[-1].exact:
            return None
        return scaling.moved_integers(scores, fractions.Fraction(shift) / fractions.Fraction(self.unit), above)
