"""One measure inside groups: in come the values of the groups, out go their means, standard errors and intervals."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deadheat.reports.tables import Table, columns_of_values, decimals, number
from deadheat.statistics.interval import BOOTSTRAP, Interval, Intervals
from deadheat.statistics.intervals import mean_intervals
from deadheat.statistics.standard_error import normal_interval, standard_error
from deadheat.support.floats import PlainFloats
from deadheat.support.means import exact_mean
from deadheat.support.triple import Triple

Float64 = NDArray[np.float64]

BY_ERROR = "auto"  # what suits means with a standard error: Student's t below 30 units, the normal law from there


@dataclass(frozen=True, eq=False)
class GroupedResult(PlainFloats):
    """One measure inside groups: means over the groups as fractions in [0, 1], and the groups' values.

    **Ties:** `lower`, `expected` and `upper` are the means over groups of the groups' values for each. **Undefined:**
    NaN where no group has a value, and `expected` under a tolerance.

    Attributes
    ----------
    name : str
        The measure's name as deadheat writes it.
    lower, expected, upper : float
        Means over the groups of all repeats. Sums are correctly rounded.
    per_group : Triple
        Arrays of shape (repeats * n_group,), one repeat after another: the mean over the group's queries. NaN where no
        query of the group has a value.
    n_group, repeats : int
        Groups in each repeat, and how often groups were drawn.
    """

    name: str
    per_group: Triple[Float64]
    n_group: int
    repeats: int

    @cached_property
    def lower(self) -> float:
        return exact_mean(self.per_group.lower)

    @cached_property
    def expected(self) -> float:
        return exact_mean(self.per_group.expected)

    @cached_property
    def upper(self) -> float:
        return exact_mean(self.per_group.upper)

    @property
    def n_undefined(self) -> int:
        """Groups, of all repeats, that have no value and are left out of the mean."""
        return int(np.isnan(self.per_group.lower).sum())

    @property
    def n_unit(self) -> int:
        """Independent units behind the mean: the groups of one repeat that have a value."""
        return min(int((~np.isnan(values.lower)).sum()) for values in self._by_repeat())

    @cached_property
    def errors(self) -> Triple[float]:
        """Standard errors of lower, expected and upper: s/√N, with s the standard deviation over the N groups.

        With `repeats`, s² is the mean over them of the variance inside each, and N the groups of one (`n_unit`): groups
        of different repeats share their classes, so that more of them say no more of the classes.
        """
        by_repeat = [[standard_error(values) for values in part] for part in self._by_repeat()]
        return Triple(*(math.sqrt(math.fsum(np.square(each)) / len(each)) for each in zip(*by_repeat, strict=True)))

    def interval(
        self,
        *,
        confidence_level: float = 0.95,
        method: str | None = None,
        n_resamples: int = 9999,
        seed: int = 0,
    ) -> Intervals:
        """Confidence intervals for the grouped value of the population that the classes were drawn from.

        Groups share no class, so that their values are independent, and their mean is about normal with variance σ²/N.

        Parameters
        ----------
        confidence_level, n_resamples, seed
            As in `Result.interval`.
        method : {"auto", "normal", "t", "percentile", "basic", "BCa"}, optional
            The mean ± z or Student's quantile times the standard error in `errors`, or SciPy's bootstrap over groups.
            By default what suits groups, ``"auto"``: Student's below 30 groups and z from there.

        Returns
        -------
        Intervals
            For lower, expected and upper; `n` is the groups of one repeat. With `repeats`, a bootstrap is made of each
            and its ends averaged. Ends are cut to [0, 1]. **Undefined:** NaN with fewer than two groups.

        Raises
        ------
        ValueError, TypeError, MissingPackageError
            As `Result.interval` does.

        Notes
        -----
        A mean over repeats scatters less than that of one draw, but its standard error is that of one: the interval is
        too wide rather than too narrow.
        """
        settings: dict[str, Any] = {"confidence_level": confidence_level, "n_resamples": n_resamples, "seed": seed}
        settings["method"] = BY_ERROR if method is None else method
        by_repeat = [mean_intervals(*values, unit="group", **settings) for values in self._by_repeat()]
        if self.repeats == 1:
            return by_repeat[0].within(0, 1)
        level, method = by_repeat[0].confidence_level, min(by_repeat, key=operator.attrgetter("n")).method
        worst, middle, best = (
            self._ends(name, [getattr(each, name) for each in by_repeat], level, method) for name in Triple._fields
        )
        return Intervals(worst, middle, best, level, method, self.n_unit, "group").within(0, 1)

    def _ends(self, name: str, by_repeat: Sequence[Interval], level: float, method: str) -> Interval:
        """The interval for one of the three values, from the intervals of the repeats."""
        if method in BOOTSTRAP:
            return Interval(*(math.fsum(ends) / len(ends) for ends in zip(*by_repeat, strict=True)))
        degrees = self.n_unit - 1 if method == "t" else None
        return normal_interval(getattr(self, name), getattr(self.errors, name), level, degrees)

    def _by_repeat(self) -> list[Triple[Float64]]:
        """The groups' values of each repeat."""
        cuts = range(0, self.repeats * self.n_group, self.n_group)
        return [Triple(*(values[start : start + self.n_group] for values in self.per_group)) for start in cuts]

    def __repr__(self) -> str:
        return f"GroupedResult({self.name!r}, lower={self.lower!r}, expected={self.expected!r}, upper={self.upper!r})"


def ends_of(result: Any, confidence_level: float) -> Interval:
    """The interval that neither ties nor sampling leave: from the low end for lower to the high end for upper."""
    found = result.interval(confidence_level=confidence_level)
    return Interval(found.lower.low, found.upper.high)


def table_with_errors(
    rows: Sequence[tuple[str, Any]],
    errors: Sequence[float],
    digits: int,
    heading: str = "s.e.",
    confidence_level: float | None = None,
) -> Table:
    """Titles and values in per cent, with standard errors, or what the heading says, and perhaps intervals, behind."""
    columns, shown = columns_of_values([value for _, value in rows], digits)
    cells = [
        [title, *values, number(100 * error, decimals(digits))]
        for (title, _), values, error in zip(rows, shown, errors, strict=True)
    ]
    if confidence_level is None:
        return Table(("measure (%)", *columns, heading), cells)
    intervals = [ends_of(value, confidence_level).per_cent(digits) for _, value in rows]
    cells = [[*row, interval] for row, interval in zip(cells, intervals, strict=True)]
    return Table(("measure (%)", *columns, heading, f"{100 * confidence_level:g} % interval"), cells)
