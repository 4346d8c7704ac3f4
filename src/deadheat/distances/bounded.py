"""Distances whose scores are a sum of terms less an offset of the item, with bounds for any pair and for bands."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deadheat.distances.dense import Dense
from deadheat.distances.distance import Tensor, Workspace
from deadheat.distances.errors import ScoreErrors
from deadheat.distances.levels import Level
from deadheat.inputs.sources import Source
from deadheat.support.arrays import Float64, Int64


class Bounded(Dense):
    """Scores with an offset, if there is one, and what bounds their errors."""

    offset: Float64 = np.empty(0)  # one a gallery item, or none

    def __init__(self, query: Source, gallery: Source) -> None:
        super().__init__(query, gallery)
        self._known_errors: dict[Level, ScoreErrors] = {}

    def errors(self, level: Level) -> ScoreErrors:
        """What bounds the errors of the scores of a level."""
        if level not in self._known_errors:
            self._known_errors[level] = self.errors_of(level)
        return self._known_errors[level]

    @abstractmethod
    def errors_of(self, level: Level) -> ScoreErrors:
        """The same, made anew."""

    def finish(self, products: NDArray[Any], columns: Int64, space: Workspace | None = None) -> NDArray[Any]:
        if len(self.offset):
            products -= self.offset[self.columns.item_of_column[columns]].astype(products.dtype)
        return products

    def offsets(self, columns: Int64) -> Float64:
        return self.offset[self.columns.item_of_column[columns]] if len(self.offset) else self.offset

    def device_numbers(self, columns: Int64) -> Float64 | None:
        return self.offsets(columns) if len(self.offset) else None

    def device_finish(self, products: Tensor, numbers: Tensor | None) -> Tensor:
        return products if numbers is None else products.sub_(numbers.to(products.dtype))

    def _items_of(self, band: tuple[int, int]) -> Int64:
        return self.columns.item_of_column[slice(*band)]

    def bound(self, level: int, queries: Int64, band: tuple[int, int]) -> Float64:
        return self.errors(self.levels[level]).of_band(queries, self._items_of(band))

    def pair_bound(self, queries: Int64, columns: Int64, scores: Float64 | None = None) -> Float64:
        return self.errors(self.levels[-1]).of_pairs(queries, self.columns.item_of_column[columns], scores)

    def relative_bound(self, level: int, queries: Int64, band: tuple[int, int]) -> tuple[Float64, Float64] | None:
        found = self.errors(self.levels[level]).relative_of_band(self._items_of(band))
        return None if found is None else (np.full(len(queries), found[0]), np.full(len(queries), found[1]))
