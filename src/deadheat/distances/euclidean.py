"""Euclidean distance."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np
from numpy.typing import DTypeLike

from deadheat import exact
from deadheat.distances import scaling
from deadheat.distances.distance import Target
from deadheat.distances.levels import levels_for
from deadheat.distances.product import Product
from deadheat.exact.bounds import divided, multiplied, widened
from deadheat.inputs.sources import Source
from deadheat.support.arrays import Bool, Float64, Int64
from deadheat.support.lazy import fractions

_FAR = 2.0**400  # beyond all distances
_SLIGHTLY = 2.0**-10  # more than the roundings of a bound, as a part of it
_MOST_SQUARES = 1 << 13  # different distances whose shifted ones are computed singly


class Euclidean(Product):
    """‖q − x‖, ranked by q·x − (‖x‖² − c)/2, with c a usual square.

    What is taken off is computed in twice the precision, so that it errs by a part of itself, which is small where
    squares differ little. Exact scores have c = 0.
    """

    name = "euclidean"
    differences = True
    key_kind = "distance"
    targets: ClassVar = {"distance": Target(-1, 0)}

    def __init__(self, query: Source, gallery: Source) -> None:
        super().__init__(query, gallery)
        self.take_off_centre()
        self.levels = levels_for(3 * self.scale() ** 2 * self.dim)
        self.query_square = scaling.integer_squares(self.queries)
        square = self.query_square if self.items is self.queries else scaling.integer_squares(self.items)
        self.usual_square = 0.0 if self.levels[-1].exact else scaling.usual(square)
        self.offset, self._offset_error = square / 2, np.zeros(len(square))
        if not self.levels[-1].exact:
            left, self._offset_error = scaling.squares_less(self.items, self.usual_square)
            self.offset = left / 2
        if self.usual_square and self._nonnegative:  # what is left of the squares is what errors are relative to
            self.columns = self.columns.in_bands(np.maximum(np.abs(self.offset), 2.0**-1000))

    def beside(self, part: float, dtype: DTypeLike) -> Float64:
        u, size = exact.unit_roundoff(dtype), np.abs(self.offset)
        return 4 * u * size + self._offset_error + exact.underflow(self.dim, dtype)

    def relative_bound(self, level: int, queries: Int64, band: tuple[int, int]) -> tuple[Float64, Float64] | None:
        found = super().relative_bound(level, queries, band)
        if self.usual_square or self.levels[level].exact:
            return found
        relative, beside = self._bound_by_squares(level, queries, self._items_of(band))
        if found is None:
            return relative, beside
        closer = beside < found[1]
        return np.where(closer, relative, found[0]), np.where(closer, beside, found[1])

    def _bound_by_squares(self, level: int, queries: Int64, items: Int64) -> tuple[Float64, Float64]:
        """A part of the score itself, and what is told by the norm of the query alone; whatever the norms of the items.

        Let o = ‖x‖²/2, and X and Q bound the norms. Where o ≥ 2QX, the score is at least o/2 and QX in size, and its
        error a part of that. Otherwise X < 4rQ with r = X²/2o, so that QX and o are at most 4r and 8r times Q².
        """
        errors, dtype = self.errors(self.levels[level]), self.levels[level].dtype
        half = self.offset[items]
        with np.errstate(divide="ignore", invalid="ignore"):
            of_offset = np.nanmax(self._offset_error[items] / half, initial=0.0)
            ratio = np.nanmax(errors.of_item[items] ** 2 / (2 * half), initial=0.0)
        if not np.isfinite(of_offset + ratio):
            return (np.full(len(queries), np.inf),) * 2
        of_offset += 4 * exact.unit_roundoff(dtype)
        squares = errors.of_query[queries] ** 2
        relative = np.full(len(queries), (errors.part + 2 * of_offset) * (1 + _SLIGHTLY))
        beside = 4 * ratio * squares * (errors.part + 2 * of_offset) * (1 + _SLIGHTLY)
        return relative, beside + errors.tiny + exact.underflow(self.dim, dtype)

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
        """‖q‖² + c in the units of the scores, between two numbers."""
        square = self.query_square[queries] + self.usual_square
        error = square * exact.gamma(self.dim + 12, np.float64) + exact.underflow(self.dim, np.float64)
        return square - error, square + error

    def score_of_dots(
        self, dots: Float64, of_query: Float64, of_item: Float64, tiny: float, queries: Int64, items: Int64
    ) -> tuple[Float64, Float64]:
        dots = dots / self.unit / self.unit
        bound = 10 * exact.unit_roundoff(np.float64) * np.abs(dots) + self.beside(0.0, np.float64)[items]
        return dots - self.offset[items], bound + 4 * tiny * self.query_norm[queries] * self.item_norm[items]

    def least_scores(self, queries: Int64, scores: Float64, shift: float, above: bool) -> Float64 | None:
        if not self.levels[-1].exact:
            return None
        of_query = self.query_square[queries]
        squares, place = np.unique(of_query - 2 * scores, return_inverse=True)
        step = -fractions.Fraction(shift) / fractions.Fraction(self.unit)
        clamped = _FAR if step > _FAR else -_FAR if step < -_FAR else float(step)
        largest, sure = _about_largest_squares(squares, clamped)
        if np.count_nonzero(~sure) > _MOST_SQUARES:
            return None
        largest[~sure] = [_largest_square(int(square), step, above) for square in squares[~sure].tolist()]
        return np.asarray((of_query - largest[place.reshape(scores.shape)]) / 2)


def _about_largest_squares(squares: Float64, step: float) -> tuple[Float64, Bool]:
    """What `_largest_square` gives for many squares, and where it surely is that.

    (√square + step)² is computed with an error far below 2^-48 of (√square + |step|)²; where no integer is that near,
    it makes no difference whether an equal one counts.
    """
    root = np.sqrt(squares) + step
    with np.errstate(over="ignore", invalid="ignore"):  # far beyond all squares nothing is sure
        slack = 2.0**-48 * np.square(np.sqrt(squares) + abs(step)) + 2.0**-900
        value = np.square(root)
        whole = np.floor(value)
        sure = (whole < value - slack) & (value + slack < whole + 1) & (root > 0)
    return np.where(sure, whole, -1.0), sure


def _largest_square(square: int, step: fractions.Fraction, below: bool) -> float:
    """The largest integer that is the square of a number up to √square + step, or below it; −1 if there is none.

    With step = p/r, the square of √square + step is (square·r² + p² + 2pr·√square) / r².
    """
    p, r = step.numerator, step.denominator
    if p < 0 and p * p > square * r * r:
        return -1.0
    whole, root = square * r * r + p * p, 4 * p * p * r * r * square
    down = math.isqrt(root)
    if p >= 0:
        at_most, exact = (whole + down) // (r * r), down * down == root and not (whole + down) % (r * r)
    else:
        up = down if down * down == root else down + 1
        at_most, exact = (whole - up) // (r * r), up * up == root and not (whole - up) % (r * r)
    return float(min(at_most - (below and exact), 2**60))
