"""The gap of a measure between two sets: in come results on both, out go their difference, its interval and bound."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from deadheat.analyses.grouped.result import BY_ERROR, GroupedResult
from deadheat.reports import Result
from deadheat.reports.tables import plain
from deadheat.statistics import intervals
from deadheat.statistics.intervals import Interval, Intervals
from deadheat.support import checks
from deadheat.support.triple import Triple


@dataclass(frozen=True, eq=False)
class Gap:
    """The value on one set less that on another, for samples drawn independently of each other.

    **Ties:** `lower` is the smallest difference that ties allow, train's lower less test's upper value, and `upper` the
    largest; `expected` is the difference of the expected values. **Undefined:** NaN where a set has no value.

    Attributes
    ----------
    train, test : GroupedResult or Result
    train_errors, test_errors : Triple
        Their standard errors.
    n_unit : tuple of int
        How many groups, or classes, these come from in train and in test.
    """

    train: GroupedResult | Result
    test: GroupedResult | Result
    train_errors: Triple[float] = field(repr=False)
    test_errors: Triple[float] = field(repr=False)
    n_unit: tuple[int, int] = field(repr=False)

    @property
    def lower(self) -> float:
        return self.train.lower - self.test.upper

    @property
    def expected(self) -> float:
        return self.train.expected - self.test.expected

    @property
    def upper(self) -> float:
        return self.train.upper - self.test.lower

    @property
    def error(self) -> float:
        """The standard error of the expected difference."""
        return math.hypot(self.train_errors.expected, self.test_errors.expected)

    def interval(self, *, confidence_level: float = 0.95, method: str | None = None) -> Intervals:
        """Confidence intervals for the difference of the two populations' values.

        Parameters
        ----------
        confidence_level : float
            Of each of the three intervals by itself, strictly between 0 and 1.
        method : {"auto", "normal", "t"}, optional
            The difference ± a quantile times the root of the sum of both squared standard errors: the normal
            distribution's, or Student's for the degrees of freedom after Welch and Satterthwaite. By default what
            suits the sets, ``"auto"``: Student's where either has fewer than 30 groups, or classes.

        Returns
        -------
        Intervals
            `n` counts the groups, or classes, of both sets. **Undefined:** NaN where a set has fewer than two.
        """
        chosen = checks.choice(BY_ERROR if method is None else method, intervals.PARAMETRIC, "method")
        law = intervals.resolved(chosen, min(self.n_unit))
        a, b = self.train_errors, self.test_errors
        errors = {"lower": (a.lower, b.upper), "expected": (a.expected, b.expected), "upper": (a.upper, b.lower)}
        ends = {name: self._ends(getattr(self, name), pair, confidence_level, law) for name, pair in errors.items()}
        level, n = float(confidence_level), sum(self.n_unit)
        return Intervals(**ends, confidence_level=level, method=law, n=n).within(-1, 1)

    def _ends(self, difference: float, errors: tuple[float, float], level: float, law: str) -> Interval:
        if min(self.n_unit) < 2:
            return intervals.normal_interval(math.nan, math.nan, level)
        degrees = intervals.welch_degrees(errors, self.n_unit) if law == "t" else None
        return intervals.normal_interval(difference, math.hypot(*errors), level, degrees)

    def bound(self, *, confidence_level: float = 0.95, method: str | None = None) -> float:
        """What the two populations' values differ by at most, either way, at a confidence level.

        That is max(|L|, |U|), where L is the low end of the interval for `lower` and U the high end of that for
        `upper`: however the ties fall. As L and U leave out (1 - confidence_level)/2 each, the level is at least the
        one asked for. NaN where there is no interval.
        """
        interval = self.interval(confidence_level=confidence_level, method=method)
        return max(abs(interval.lower.low), abs(interval.upper.high))

    def to_dict(self, *, confidence_level: float = 0.95) -> dict[str, Any]:
        """The values with their intervals and bound as plain Python values that JSON can hold; None where undefined."""
        interval = self.interval(confidence_level=confidence_level)
        return {
            **{name: plain(getattr(self, name)) for name in Triple._fields},
            "interval": {name: plain(getattr(interval, name)) for name in Triple._fields},
            "bound": plain(self.bound(confidence_level=confidence_level)),
            "confidence_level": interval.confidence_level,
        }

    def __repr__(self) -> str:
        return f"Gap(lower={self.lower!r}, expected={self.expected!r}, upper={self.upper!r})"
