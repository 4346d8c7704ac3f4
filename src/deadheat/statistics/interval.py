"""What an interval is, for one mean or for the three of a measure; and the methods that make one."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

PARAMETRIC = ("auto", "normal", "t")
BOOTSTRAP = ("percentile", "basic", "BCa")
METHODS = (*PARAMETRIC, *BOOTSTRAP)

_FEW = 30  # from here on "auto" takes the normal distribution for Student's


def resolved(method: str, n: int) -> str:
    """The method that "auto" stands for with n units; any other as it is."""
    return method if method != "auto" else "t" if n < _FEW else "normal"


class Interval(NamedTuple):
    """The two ends of an interval; both NaN where there is none."""

    low: float
    high: float

    def within(self, least: float, most: float) -> Interval:
        """The same with its ends cut to these."""
        return Interval(*(end if math.isnan(end) else min(max(end, least), most) for end in self))

    def at_least(self, other: Interval) -> Interval:
        """The same with no end below that of another."""
        return Interval(*(least if end < least else end for end, least in zip(self, other, strict=True)))


NOTHING = Interval(math.nan, math.nan)


@dataclass(frozen=True)
class Intervals:
    """Confidence intervals for the lower, expected and upper value of a measure.

    Attributes
    ----------
    lower, expected, upper : Interval
        For the mean of the worst values, of the expected ones and of the best ones. `lower.low` and `upper.high`
        enclose what ties and sampling can do together.
    confidence_level : float
        Of each of the three by itself, in (0, 1).
    method : str
        How they were made, as `mean_interval` names it; never ``"auto"``.
    n : int
        Independent units: queries, classes, or groups.
    """

    lower: Interval
    expected: Interval
    upper: Interval
    confidence_level: float
    method: str
    n: int

    def within(self, least: float, most: float) -> Intervals:
        """The same with ends cut to what the population's mean can be: z and Student's t know no such limits."""
        lower, expected, upper = (ends.within(least, most) for ends in (self.lower, self.expected, self.upper))
        return replace(self, lower=lower, expected=expected, upper=upper)
