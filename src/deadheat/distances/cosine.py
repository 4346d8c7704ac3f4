"""Cosine similarity."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

from deadheat import _core, exact
from deadheat.distances import centring, scaling
from deadheat.distances.columns import Columns
from deadheat.distances.distance import Target, Tensor, Workspace
from deadheat.distances.levels import Level
from deadheat.distances.product import Product
from deadheat.distances.scaling import Rows
from deadheat.exact.bounds import divided, multiplied, nudged
from deadheat.inputs.sources import Source
from deadheat.support.arrays import Float64, Int64


class AnyCosine(Product):
    """What cosines have in common, however their scores are made."""

    name = "cosine"
    zero_if_apart = True
    key_kind = "cosine"
    targets: ClassVar = {"similarity": Target(1, 0), "distance": Target(-1, 1)}

    @classmethod
    def between(cls, query: Source, gallery: Source, exact_only: bool) -> AnyCosine:
        distance = Cosine(query, gallery, exact_only)
        if not distance.levels[-1].exact:
            centre = centring.common_centre(query, gallery)
            if centre is not None:
                return CosineOfTangents(query, gallery, centre)
        return distance

    def score_of_dots(
        self, dots: Float64, of_query: Float64, of_item: Float64, tiny: float, queries: Int64, items: Int64
    ) -> tuple[Float64, Float64]:
        norms = np.sqrt(of_query) * np.sqrt(of_item)
        nonzero = norms > 0
        scores = np.where(nonzero, dots / np.where(nonzero, norms, 1.0), 0.0)
        return scores, np.where(nonzero, 10 * exact.unit_roundoff(np.float64) * np.abs(scores) + 4 * tiny, 0.0)


class Cosine(AnyCosine):
    """q·x / (‖q‖‖x‖); a zero vector has similarity 0 to everything.

    Rows are divided by their norms in float64, then multiplied. Rows that are small integers times a number of
    their own are handled exactly instead: cosines compare as the fractions a·|a| / ‖x‖² of integers, which float64
    keeps apart as long as ‖q‖²‖x‖⁴ stays below 2^51.
    """

    def __init__(self, query: Source, gallery: Source, exact_only: bool = True) -> None:
        super().__init__(query, gallery)
        self.columns = Columns.of(gallery, directions=True)
        self.squares: Float64 | None = None
        if exact_only and self._set_integers():
            return
        (self.queries, self.query_norm), (self.items, self.item_norm) = self.for_both(scaling.normalised)
        self.levels = (Level(np.float32, exact=False), Level(np.float64, exact=False))

    def measuring(self) -> Cosine:
        return Cosine(self.query_raw, self.gallery_raw, exact_only=False) if self.levels[-1].exact else self

    def _set_integers(self) -> bool:
        """Use exact fractions if all rows are small integers times a number of their own."""
        of_query, of_item = self.for_both(scaling.integer_rows)
        if of_query is None or of_item is None:
            return False
        (self.queries, query_squares), (self.items, item_squares) = of_query, of_item
        largest_query, largest_item = query_squares.max(), item_squares.max()
        if largest_query * largest_item**2 > 2.0**51 or largest_query * largest_item > 2.0**48:
            return False
        self.query_norm, self.item_norm = np.sqrt(query_squares), np.sqrt(item_squares)
        if (item_squares == largest_item).all():
            self.levels = (Level(np.float32, exact=True),)
        else:
            self.squares = np.maximum(item_squares, 1.0)
            self.levels = (Level(np.float64, exact=True, rows=np.float32),)
        return True

    def panels(self, level: int, rows: NDArray[Any]) -> Any:
        return super().panels(level, rows) if self.squares is None else None

    def finish(self, products: NDArray[Any], columns: Int64, space: Workspace | None = None) -> NDArray[Any]:
        if self.squares is None:
            return products
        scores = (space or Workspace()).get("finish", products.shape, np.float64)
        _core.signed_squares(products, self.squares[self.columns.item_of_column[columns]], scores)
        return scores

    def device_numbers(self, columns: Int64) -> Float64 | None:
        return None if self.squares is None else self.squares[self.columns.item_of_column[columns]]

    def device_finish(self, products: Tensor, numbers: Tensor | None) -> Tensor:
        if numbers is None:
            return products
        products = products.double()
        return products * products.abs() / numbers

    def pair_scores(self, queries: Int64, columns: Int64) -> Float64:
        products, squares = super().pair_scores(queries, columns), self.device_numbers(columns)
        return products if squares is None else products * np.abs(products) / squares

    def relative_error(self, roundings: int, dtype: DTypeLike) -> float:
        return (exact.gamma(roundings, dtype) + exact.gamma(self.dim + 10, np.float64)) * (1 + 2.0**-10)


class CosineOfTangents(AnyCosine):
    """The same similarity where all rows point nearly one way, from what tells their directions apart.

    With u = q/‖q‖ − c/‖c‖ and v = x/‖x‖ − c/‖c‖ for a common centre c, the cosine is 1 − ‖u − v‖²/2, so that
    u·v − ‖v‖²/2 ranks as it does, and errs by a part of the squares of u and v, which are small.
    """

    _nonnegative = False  # of the rows that are multiplied,
    _sizes = None  # which err by a part of their norms, not of each number

    def __init__(self, query: Source, gallery: Source, centre: NDArray[Any]) -> None:
        super().__init__(query, gallery)
        self.columns = Columns.of(gallery, directions=True)
        (queries, of_query), (items, of_item) = self.for_both(lambda source: centring.tangents(source, centre))
        self.unit = float(np.ldexp(1.0, np.frexp(max(of_query.max(), of_item.max(), 2.0**-400))[1]))
        self.queries = Rows.over(queries, np.array([self.unit]))
        self.items = self.queries if items is queries else Rows.over(items, np.array([self.unit]))
        self.query_norm, self.item_norm = of_query / self.unit, of_item / self.unit
        self.query_square = scaling.integer_squares(self.queries)
        squares = self.query_square if self.items is self.queries else scaling.integer_squares(self.items)
        self.offset = squares / 2
        self.levels = (Level(np.float32, exact=False), Level(np.float64, exact=False))

    def measuring(self) -> Cosine:
        return Cosine(self.query_raw, self.gallery_raw, exact_only=False)

    def relative_error(self, roundings: int, dtype: DTypeLike) -> float:
        of_rows = exact.gamma(12 * (self.dim + 20), np.float64)  # of u, of v and of half a square
        return exact.gamma(roundings, dtype) + of_rows

    def beside(self, part: float, dtype: DTypeLike) -> Float64:
        return part * np.square(self.item_norm) + exact.underflow(self.dim, np.float64)

    def compensated_scores(self, queries: Int64, columns: Int64) -> tuple[Float64, Float64] | None:
        return None  # those of the rows as they came would err more

    def closeness(self, queries: Int64, low: Float64, high: Float64) -> tuple[Float64, Float64]:
        at_least, at_most = self._cosines_at_zero(queries)
        low, high = multiplied(*multiplied(low, high, self.unit), self.unit)
        return nudged(at_least + low, at_most + high)

    def score(self, queries: Int64, low: Float64, high: Float64) -> tuple[Float64, Float64]:
        at_least, at_most = self._cosines_at_zero(queries)
        return divided(*divided(*nudged(low - at_most, high - at_least), self.unit), self.unit)

    def _cosines_at_zero(self, queries: Int64) -> tuple[Float64, Float64]:
        """The cosine that belongs to a score of 0, 1 − ‖u‖²/2, between two numbers."""
        error = exact.gamma(12 * (self.dim + 20), np.float64) * np.square(self.query_norm[queries])
        square = self.query_square[queries]
        low, high = multiplied(*multiplied((square - error) / 2, (square + error) / 2, self.unit), self.unit)
        return nudged(1 - high, 1 - low)
