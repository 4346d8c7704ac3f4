"""Cosine similarity, and correlation, which is that of centred rows."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

from deadheat.engine.distances import bounds, scaling
from deadheat.engine.distances.bounds import divided, multiplied, nudged
from deadheat.engine.distances.columns import Columns
from deadheat.engine.distances.distance import Level, Product, Target
from deadheat.engine.distances.scaling import Derived, ScaledRows
from deadheat.errors import InvalidValueError
from deadheat.inputs.source import Source
from deadheat.support.arrays import Float64, Int64


class Cosine(Product):
    """q·x / (‖q‖‖x‖); a zero vector has similarity 0 to everything.

    Rows are divided by their norms in float64, then multiplied. Rows that are small integers times a factor per row are
    handled exactly instead: cosines compare as the fractions a·|a| / ‖x‖² of integers, which float64 distinguishes as
    long as the integers are small enough.
    """

    name = "cosine"
    zero_if_disjoint = True
    key_kind = "cosine"
    targets: ClassVar = {"similarity": Target(1, 0), "distance": Target(-1, 1)}

    @classmethod
    def between(cls, query: Source, gallery: Source, exact_only: bool) -> Cosine:
        distance = Cosine(query, gallery, exact_only)
        if not distance.levels[-1].exact:
            centre = scaling.common_centre(query, gallery)
            if centre is not None and bounds.tangents_hold(centre):
                return CosineOfTangents(query, gallery, centre)
        return distance

    def __init__(self, query: Source, gallery: Source, exact_only: bool = True) -> None:
        super().__init__(query, gallery)
        self.columns = Columns.of(gallery, directions=True)
        if exact_only and self._set_integers():
            return
        (self.queries, self.query_norm), (self.items, self.item_norm) = self.for_both(scaling.normalised)
        self.levels = (Level(np.float32, exact=False), Level(np.float64, exact=False))

    def measuring(self) -> Cosine:
        return Cosine(self.query_raw, self.gallery_raw, exact_only=False) if self.levels[-1].exact else self

    def _set_integers(self) -> bool:
        """Use exact fractions if all rows are small integers times a factor per row; return whether they are."""
        of_query, of_item = self.for_both(scaling.integer_rows)
        if of_query is None or of_item is None:
            return False
        (self.queries, query_squares), (self.items, item_squares) = of_query, of_item
        largest_item = item_squares.max()
        if not bounds.fractions_differ(query_squares.max(), largest_item):
            return False
        self.query_norm, self.item_norm = np.sqrt(query_squares), np.sqrt(item_squares)
        if (item_squares == largest_item).all():
            self.levels = (Level(np.float32, exact=True),)
        else:
            self.squares = np.maximum(item_squares, 1.0)
            self.levels = (Level(np.float64, exact=True, rows=np.float32),)
        return True

    def relative_error(self, terms: int, dtype: DTypeLike) -> float:
        return bounds.of_cosine(bounds.of_sum(terms, dtype), self.dim)


class CosineOfTangents(Cosine):
    """The same similarity where all rows point nearly one way, from the differences of their directions.

    With u = q/‖q‖ − c/‖c‖ and v = x/‖x‖ − c/‖c‖ for a common centre c, the cosine is 1 − ‖u − v‖²/2, so that
    u·v − ‖v‖²/2 ranks as it does, and errs by a part of the squares of u and v, which are small.
    """

    _nonnegative = False  # of the rows that are multiplied,
    mostly_one_term = False  # as they err by a part of their norms, not of each number

    def __init__(self, query: Source, gallery: Source, centre: NDArray[Any]) -> None:
        Product.__init__(self, query, gallery)
        self.columns = Columns.of(gallery, directions=True)
        (queries, of_query), (items, of_item) = self.for_both(lambda source: scaling.tangents(source, centre))
        self.unit = float(np.ldexp(1.0, np.frexp(max(of_query.max(), of_item.max(), 2.0**-400))[1]))
        self.queries = ScaledRows.over(queries, np.array([self.unit]))
        self.items = self.queries if items is queries else ScaledRows.over(items, np.array([self.unit]))
        self.query_norm, self.item_norm = of_query / self.unit, of_item / self.unit
        self.query_square = scaling.integer_squares(self.queries)
        squares = self.query_square if self.items is self.queries else scaling.integer_squares(self.items)
        self.offset = squares / 2
        self.levels = (Level(np.float32, exact=False), Level(np.float64, exact=False))

    def measuring(self) -> Cosine:
        return Cosine(self.query_raw, self.gallery_raw, exact_only=False)

    def relative_error(self, terms: int, dtype: DTypeLike) -> float:
        return bounds.of_sum(terms, dtype) + bounds.of_tangent_squares(self.dim)

    def offset_errors(self, dtype: DTypeLike) -> Float64:
        of_half = bounds.of_tangent_squares(self.dim) / 2 * np.square(self.item_norm)
        return bounds.of_offset(self.offset, of_half, self.dim, dtype)

    def closeness(self, queries: Int64, low: Float64, high: Float64) -> tuple[Float64, Float64]:
        at_least, at_most = self._cosines_at_zero(queries)
        low, high = multiplied(*multiplied(low, high, self.unit), self.unit)
        return nudged(at_least + low, at_most + high)

    def score(self, queries: Int64, low: Float64, high: Float64) -> tuple[Float64, Float64]:
        at_least, at_most = self._cosines_at_zero(queries)
        return divided(*divided(*nudged(low - at_most, high - at_least), self.unit), self.unit)

    def _cosines_at_zero(self, queries: Int64) -> tuple[Float64, Float64]:
        """Return bounds on the cosine of a score of 0, 1 − ‖u‖²/2."""
        low, high = bounds.tangent_square(self.query_square[queries], self.query_norm[queries], self.dim)
        low, high = multiplied(*multiplied(low / 2, high / 2, self.unit), self.unit)
        return nudged(1 - high, 1 - low)


class Correlation(Cosine):
    """The cosine of the rows d x − Σx; a constant row has correlation 0 to everything."""

    name = "correlation"

    @classmethod
    def between(cls, query: Source, gallery: Source, exact_only: bool) -> Cosine:  # type: ignore[override]
        queries = Derived.of(query, centred, np.dtype(np.float64))
        items = queries if gallery is query else Derived.of(gallery, centred, queries.dtype)
        return Cosine.between(queries, items, exact_only)


def centred(rows: NDArray[Any]) -> Float64:
    """Return d x − Σx of each row exactly, in units of the last bit of its numbers; or refuse the rows."""
    dim, (mantissa, exponent) = rows.shape[1], np.frexp(rows.astype(np.float64))
    digits = np.ldexp(mantissa, 53).astype(np.int64)
    last = np.where(digits == 0, 2**20, exponent - 53 + np.bitwise_count((digits & -digits) - 1)).min(axis=1)
    with np.errstate(over="ignore", invalid="ignore"):
        whole = np.ldexp(rows.astype(np.float64), -last[:, None])
        centre: Float64 = dim * whole - whole.sum(axis=1, keepdims=True)
        if not max(dim * np.abs(whole).max(), np.abs(centre).max()) <= 2.0**53:  # below which all sums are exact
            rule = "must have rows that float64 centres exactly, as d x - Σx, for distance 'correlation'"
            raise InvalidValueError("embeddings", f"{rule}: centre them yourself, and take 'cosine'")
    return centre
