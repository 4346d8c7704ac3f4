"""The rules for ties of given scores: equal, equal once rounded to a type, or within a tolerance.

In come scores, as arrays of any real type or as Python numbers; out go those that are compared, and for a tolerance the
least and the greatest number that tie with each. Both are exact: no sum or difference is rounded to decide a tie.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from deadheat.engine import exact
from deadheat.engine.ties.rounded import Rounded
from deadheat.engine.ties.rule import Exact
from deadheat.engine.ties.tolerance import Tolerance
from deadheat.errors import InvalidValueError
from deadheat.support.arrays import Float64, Int64


class ScoreTies(NamedTuple):
    """The rule for ties of scores, checked: the type that they are rounded to, or how far from each other they tie."""

    dtype: str | None = None
    eps: float | None = None

    @classmethod
    def checked(cls, ties: Any) -> ScoreTies:
        """Return the rule that an argument `ties` of a function of scores names."""
        if isinstance(ties, Rounded) and ties.of is not None:
            raise InvalidValueError("ties", f"must round the scores themselves, without of, but is {ties!r}")
        if isinstance(ties, (cls, Exact, Rounded, Tolerance)):
            return cls(getattr(ties, "dtype", None), getattr(ties, "eps", None))
        name = exact.named(ties, "ties", others=["exact", "float64"])
        return cls(None if name == "exact" else name)

    @property
    def bounds_only(self) -> bool:
        return self.eps is not None

    def describe(self) -> str | None:
        """Return the text for the rule in a report; None for equal scores."""
        return f"tolerance {self.eps!r}" if self.eps is not None else self.dtype and f"{self.dtype} scores"

    def require_ungraded(self, grades: Int64) -> None:
        """Refuse grades with a tolerance: documents of two grades may change places, which no window counts."""
        if self.bounds_only and len(grades) > 1:
            raise InvalidValueError("ties", "must have tie groups where relevance is graded, but a tolerance has none")

    def rounded(self, scores: Any) -> NDArray[Any]:
        """Round scores, an array or Python numbers, each once, to nearest, ties to even; all unchanged for no type."""
        if self.dtype is None:
            return np.asarray(scores)
        of_integer = nearest_float64 if self.dtype == "float64" else _rounded_to_odd
        if isinstance(scores, list):
            numbers = [of_integer(number) if isinstance(number, int) else number for number in scores]
            values = np.array(numbers, dtype=np.float64)
        else:
            values = scores.astype(np.float64)
            large = (np.abs(values) >= 2.0**53) & (scores.dtype.kind in "iu")  # what float64 may not hold
            values[large] = list(map(of_integer, scores[large].tolist()))
        return values if self.dtype == "float64" else exact.round_to(values, self.dtype)

    def window(self, scores: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return the least and the greatest number of the same kind that ties with each score.

        Examples
        --------
        As real numbers, 0.3 is less than 0.1 + 0.2, and a float further than 0.2 from 0.5:

        >>> low, high = ScoreTies(eps=0.2).window(np.array([0.1, 0.5]))
        >>> bool(high[0] >= 0.3), bool(low[1] <= 0.3), float(low[1])
        (True, True, 0.3)
        """
        if self.eps is None:
            return scores, scores
        if scores.dtype.kind == "f":
            values = scores.astype(np.float64)
            return -_sum_down(-values, self.eps), _sum_down(values, self.eps)
        whole = scores.astype(np.uint64 if scores.dtype.kind == "u" else np.int64)
        bits, tolerance = whole.view(np.uint64), np.uint64(min(math.floor(self.eps), 2**64 - 1))  # in which sums wrap
        ends = np.iinfo(whole.dtype)
        least, most = np.array([[ends.min], [ends.max]], dtype=whole.dtype).view(np.uint64)
        low, high = bits - np.minimum(bits - least, tolerance), bits + np.minimum(most - bits, tolerance)
        return low.view(whole.dtype), high.view(whole.dtype)


EQUAL = ScoreTies()


def _sum_down(values: Float64, eps: float) -> Float64:
    """Return the greatest float64 that is not above each exact sum, by the error of the rounded one (Dekker 1971)."""
    far = np.abs(values) >= eps
    larger, smaller = np.where(far, values, eps), np.where(far, eps, values)
    with np.errstate(over="ignore", invalid="ignore"):
        total = larger + smaller
        error = smaller - (total - larger)
        return np.where(error < 0, np.nextafter(total, -np.inf), total)


def _rounded_to_odd(number: int) -> float:
    """Return an integer cut to 53 bits, the last of which is set if that changes it: fewer bits then round it once."""
    cut = max(0, number.bit_length() - 53)
    kept = number >> cut
    return math.ldexp(kept | (kept << cut != number), cut) if cut <= 971 else nearest_float64(number)  # infinity


def nearest_float64(number: float) -> float:
    """Return the nearest float64, infinity for an integer beyond the range."""
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf
