"""Euclidean distance."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from deadheat import exact
from deadheat.distances import scaling
from deadheat.distances.dense import Product
from deadheat.distances.distance import Target
from deadheat.distances.levels import levels_for
from deadheat.exact import Roots
from deadheat.exact.bounds import divided, multiplied, widened
from deadheat.inputs.sources import Source
from deadheat.support.arrays import Float64, Int64


class Euclidean(Product):
    """‖q − x‖, ranked by q·x − ‖x‖²/2."""

    name = "euclidean"
    differences = True
    key_kind = "distance"
    targets: ClassVar = {"distance": Target(-1, 0)}

    def __init__(self, query: Source, gallery: Source) -> None:
        super().__init__(query, gallery)
        self.take_off_centre()
        self.levels = levels_for(3 * self.scale() ** 2 * self.dim)
        self.query_square = scaling.integer_squares(self.queries)
        self.offset = (self.query_square if self.items is self.queries else scaling.integer_squares(self.items)) / 2

    def error_scale(self, query_norm: Float64, item_norm: Float64) -> Float64:
        return query_norm * item_norm + np.square(item_norm) / 2

    def closeness(self, queries: Int64, low: Float64, high: Float64) -> tuple[Float64, Float64]:
        square_low, square_high = self._square_interval(queries)
        near, far = widened(square_low - 2 * high, square_high - 2 * low)
        near, far = np.sqrt(np.maximum(near, 0.0)), np.sqrt(np.maximum(far, 0.0))
        low, high = multiplied(-far, -near, self.unit)
        return low, np.minimum(high, 0.0)

    def score(self, queries: Int64, low: Float64, high: Float64) -> tuple[Float64, Float64]:
        square_low, square_high = self._square_interval(queries)
        far, near = divided(low, high, self.unit)
        near = np.minimum(near, 0.0)
        with np.errstate(over="ignore", under="ignore"):
            near_square, far_square = widened(near * near, far * far)
        low_score, high_score = widened((square_low - far_square) / 2, (square_high - near_square) / 2)
        return np.where(low > 0, np.inf, low_score), np.where(low > 0, np.inf, high_score)  # nothing is that close

    def _square_interval(self, queries: Int64) -> tuple[Float64, Float64]:
        """‖q‖² in the units of the scores, between two numbers."""
        square = self.query_square[queries]
        error = square * exact.gamma(self.dim + 10, np.float64) + exact.underflow(self.dim, np.float64)
        return square - error, square + error

    def score_of_dots(
        self, dots: Float64, of_query: Float64, of_item: Float64, tiny: float, queries: Int64, items: Int64
    ) -> tuple[Float64, Float64]:
        dots, of_item = dots / self.unit / self.unit, of_item / self.unit / self.unit
        bound = 10 * exact.unit_roundoff(np.float64) * (np.abs(dots) + of_item)
        return dots - of_item / 2, bound + 4 * tiny * self.error_scale(self.query_norm[queries], self.item_norm[items])

    def exact_closeness(self, queries: Int64, columns: Int64) -> Roots:
        roots = Roots("root")
        for pairs in self.exact_rows(queries, columns):
            roots.add_minus_distances(*pairs)
        return roots
