"""A difference of two values with the interval, the margin of error and the bound that sampling leaves."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from deadheat.analyses.grouped.result import BY_ERROR, GroupedResult
from deadheat.reports import Result
from deadheat.reports.tables import plain
from deadheat.statistics.interval import PARAMETRIC, Interval, Intervals, resolved
from deadheat.statistics.standard_error import welch_interval
from deadheat.support import checks
from deadheat.support.floats import PlainFloats
from deadheat.support.triple import Triple


@dataclass(frozen=True, eq=False)
class Gap(PlainFloats):
    """The value on one set less that on another, for samples drawn independently of each other.

    **Ties:** `lower` is the smallest difference that ties allow, train's lower less test's upper value, and `upper` the
    largest; `expected` is the difference of the expected values. **Undefined:** NaN where a set has no value.

    Attributes
    ----------
    train, test : GroupedResult or Result
        The two values; of two halves of one set (`split_half`), those of the first and of the second.
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
            As in `Result.interval`.
        method : {"auto", "normal", "t"}, optional
            The difference ± a quantile times the root of the sum of both squared standard errors: the normal
            distribution's, or Student's for the degrees of freedom after Welch and Satterthwaite. By default what
            suits the sets, ``"auto"``: Student's where either has fewer than 30 groups, or classes.

        Returns
        -------
        Intervals
            `n` counts the groups, or classes, of both sets. **Undefined:** NaN where a set has fewer than two.
        """
        law, (worst, middle, best) = self._intervals(confidence_level, method)
        unit = "class" if isinstance(self.train, Result) else "group"
        return Intervals(worst, middle, best, float(confidence_level), law, sum(self.n_unit), unit).within(-1, 1)

    def margin(self, *, confidence_level: float = 0.95, method: str | None = None) -> float:
        """The margin of error z·se: half the width of `interval`, before its ends are cut to [-1, 1].

        If both populations have the same value, the observed difference is at most this, at the confidence level: the
        "bound on difference" of Table 1 [1]_. Where ties leave the difference open, the largest margin of lower,
        expected and upper. NaN where there is no interval.

        References
        ----------
        .. [1] Zhdanov, Karpukhin 2023, Catching image retrieval generalization, arXiv:2306.13357.
        """
        _, intervals = self._intervals(confidence_level, method, centred=True)
        return max((ends.high for ends in intervals if not math.isnan(ends.high)), default=math.nan)

    def bound(self, *, confidence_level: float = 0.95, method: str | None = None) -> float:
        """What the two populations' values differ by at most, either way, at a confidence level: |gap| + z·se.

        That is the observed difference and its `margin`. In full, max(|L|, |U|), where L is the low end of the interval
        for `lower` and U the high end of that for `upper`: however the ties fall. As L and U leave out
        (1 - confidence_level)/2 each, the level is at least the one asked for. NaN where there is no interval.
        """
        interval = self.interval(confidence_level=confidence_level, method=method)
        return max(abs(interval.lower.low), abs(interval.upper.high))

    def _intervals(self, level: float, method: str | None, *, centred: bool = False) -> tuple[str, list[Interval]]:
        """How intervals are made, and those for lower, expected and upper, round the values or (`centred`) round 0."""
        chosen = checks.choice(BY_ERROR if method is None else method, PARAMETRIC, "method")
        law = resolved(chosen, min(self.n_unit))
        a, b = self.train_errors, self.test_errors
        errors = {"lower": (a.lower, b.upper), "expected": (a.expected, b.expected), "upper": (a.upper, b.lower)}
        values = {name: 0.0 if centred else getattr(self, name) for name in errors}
        return law, [welch_interval(values[name], pair, self.n_unit, level, law) for name, pair in errors.items()]

    def to_dict(self, *, confidence_level: float = 0.95) -> dict[str, Any]:
        """The values, intervals, margin and bound as plain Python values that JSON can hold; None where undefined."""
        interval = self.interval(confidence_level=confidence_level)
        return {
            **{name: plain(getattr(self, name)) for name in Triple._fields},
            "interval": {name: plain(getattr(interval, name)) for name in Triple._fields},
            "margin": plain(self.margin(confidence_level=confidence_level)),
            "bound": plain(self.bound(confidence_level=confidence_level)),
            "confidence_level": interval.confidence_level,
        }

    def __repr__(self) -> str:
        return f"Gap(lower={self.lower!r}, expected={self.expected!r}, upper={self.upper!r})"
