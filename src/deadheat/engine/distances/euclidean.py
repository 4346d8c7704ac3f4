"""Euclidean distance."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from deadheat._core import ScoreErrors
from deadheat.engine.distances import bounds, scaling
from deadheat.engine.distances.bounds import divided, multiplied, widened
from deadheat.engine.distances.distance import Level, Product, Target, levels_for
from deadheat.inputs.source import Source
from deadheat.support.arrays import Bool, Float64, Int64
from deadheat.support.lazy import fractions

_FAR = 2.0**400  # beyond all distances
_MOST_SQUARES = 1 << 13  # different distances whose shifted ones are computed singly


class Euclidean(Product):
    """‖q − x‖, ranked by q·x − (‖x‖² − c)/2, with c the common square.

    The offset is computed by Dot2, so its error is relative to its own size, which is small where squares
    differ little. Exact scores have c = 0.
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
        if self.levels[-1].exact:
            self.offset, self.common_offset, self._offset_error = square / 2, 0.0, np.zeros(len(square))
        else:
            self.subtract_common_offset(square, squares=True)

    def errors(self, level: Level, **of_squares: Any) -> ScoreErrors:
        if not self.common_offset:
            of_squares |= {"half_error": self._offset_error, "roundoff": bounds.unit_roundoff(level.dtype)}
        return super().errors(level, **of_squares)

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
        """Return bounds on ‖q‖² + c in the units of the scores."""
        return bounds.square_between(self.query_square[queries], self.common_offset, self.dim)

    def least_scores(self, queries: Int64, scores: Float64, shift: float, above: bool) -> Float64 | None:
        if not self.levels[-1].exact:
            return None
        of_query = self.query_square[queries]
        squares, position = np.unique(of_query - 2 * scores, return_inverse=True)
        step = -fractions.Fraction(shift) / fractions.Fraction(self.unit)
        clamped = _FAR if step > _FAR else -_FAR if step < -_FAR else float(step)
        largest, sure = _about_largest_squares(squares, clamped)
        if np.count_nonzero(~sure) > _MOST_SQUARES:
            return None
        largest[~sure] = [_largest_square(int(square), step, above) for square in squares[~sure].tolist()]
        return np.asarray((of_query - largest[position.reshape(scores.shape)]) / 2)


def _about_largest_squares(squares: Float64, step: float) -> tuple[Float64, Bool]:
    """Estimate `_largest_square` for many squares, and mark where the estimate is surely right.

    If no integer is within the error bound of (√square + step)², it makes no difference whether an equal one counts.
    """
    root = np.sqrt(squares) + step
    with np.errstate(over="ignore", invalid="ignore"):  # far beyond all squares nothing is sure
        slack = bounds.moved_square(np.sqrt(squares), step)
        value = np.square(root)
        whole = np.floor(value)
        sure = (whole < value - slack) & (value + slack < whole + 1) & (root > 0)
    return np.where(sure, whole, -1.0), sure


def _largest_square(square: int, step: fractions.Fraction, below: bool) -> float:
    """Return the largest integer that is the square of a number up to √square + step, or below it; −1 if there is none.

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
