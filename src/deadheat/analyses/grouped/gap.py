"""The gap between two sets, such as train and test: in groups of equally many classes, and beside it as a whole.

In come two sets of embeddings and labels; out goes a `GeneralizationGap`, with the grouped measure's gap and the plain
one's, each with an interval and a bound.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from deadheat import distances
from deadheat import measures as rank_measures
from deadheat import ties as tie_rules
from deadheat.analyses.grouped.grouping import (
    Errors,
    GroupedReport,
    GroupedResult,
    checked_labels,
    grouped,
    table_with_errors,
)
from deadheat.inputs.sources import EmbeddingsLike, LabelsLike
from deadheat.reports import Report, Result, evaluate, render
from deadheat.reports.tables import plain
from deadheat.statistics import intervals
from deadheat.statistics.intervals import Interval, Intervals
from deadheat.support import checks
from deadheat.support.triple import Triple


def generalization_gap(
    train: EmbeddingsLike,
    train_labels: LabelsLike,
    test: EmbeddingsLike,
    test_labels: LabelsLike,
    *,
    group_size: int = 10,
    measure: str = "Hit@1",
    seed: int = 0,
    repeats: int = 1,
    distance: str = "cosine",
    ties: str | tie_rules.Ties = "exact",
    threads: int | None = None,
) -> GeneralizationGap:
    """How much better an embedding is on the classes it was trained on, measured in groups, and as a whole [1]_.

    The gap of the plain measure is a gap of two sets with, as a rule, different numbers of classes, and is not zero
    where the embedding is equally good on both. That of the grouped measure compares like with like.

    Parameters
    ----------
    train, test : (n_train, dim) and (n_test, dim)
        Embeddings, as in `deadheat.profile`. Each set is ranked against itself, leave one out.
    train_labels, test_labels : (n_train,) and (n_test,)
        Integers or strings.
    group_size, seed, repeats
        As in `grouped`.
    measure : str
        The name of one measure.
    distance, ties, threads
        As in `deadheat.profile`.

    Returns
    -------
    GeneralizationGap
        Its `grouped` and `plain` are each a `Gap`.

    Raises
    ------
    ValueError, TypeError
        If an argument is not as described, a set has fewer classes than `group_size`, or no query has a relevant item.

    References
    ----------
    .. [1] Zhdanov, Karpukhin 2023, Catching image retrieval generalization, arXiv:2306.13357.

    Examples
    --------
    Pairs of points, near in one set and mixed up in the other:

    >>> near, mixed = [[0], [1], [5], [6]], [[0], [5], [1], [6]]
    >>> gap = generalization_gap(near, list("aabb"), mixed, list("aabb"), group_size=2, distance="euclidean")
    >>> gap.grouped.expected, gap.plain.expected
    (1.0, 1.0)
    """
    name, rule = rank_measures.parse(measure).name, tie_rules.make(ties)
    settings: dict[str, Any] = {"measures": name, "distance": distance, "ties": rule, "threads": threads}
    drawing: dict[str, Any] = {"group_size": group_size, "seed": seed, "repeats": repeats}
    sides = []
    for embeddings, labels, part in ((train, train_labels, "train"), (test, test_labels, "test")):
        rows = distances.opened(embeddings, distance, part)
        sides.append((rows, checked_labels(labels, len(rows), f"{part}_labels", part)))
    inside = [grouped(rows, known, **drawing, **settings) for rows, known in sides]
    whole = [evaluate(rows, known, **settings) for rows, known in sides]
    return GeneralizationGap(name, inside[0], inside[1], whole[0], whole[1])


@dataclass(frozen=True, eq=False)
class Gap:
    """The value on one set less that on another, for samples drawn independently of each other.

    **Ties:** `lower` is the smallest difference that ties allow, train's lower less test's upper value, and `upper` the
    largest; `expected` is the difference of the expected values. **Undefined:** NaN where a set has no value.

    Attributes
    ----------
    train, test : GroupedResult or Result
    train_errors, test_errors : Errors
        Their standard errors, and how many groups, or classes, these come from.
    """

    train: GroupedResult | Result
    test: GroupedResult | Result
    train_errors: Errors = field(repr=False)
    test_errors: Errors = field(repr=False)

    @property
    def lower(self) -> float:
        return self.train.lower - self.test.upper

    @property
    def expected(self) -> float:
        return self.train.expected - self.test.expected

    @property
    def upper(self) -> float:
        return self.train.upper - self.test.lower

    def interval(self, confidence_level: float = 0.95, method: str = "auto") -> Intervals:
        """Confidence intervals for the difference of the two populations' values.

        Parameters
        ----------
        confidence_level : float
            Of each of the three intervals by itself, strictly between 0 and 1.
        method : {"auto", "normal", "t"}
            The difference ± a quantile times the root of the sum of both squared standard errors: the normal
            distribution's, or Student's for the degrees of freedom after Welch and Satterthwaite. ``"auto"`` is
            Student's where either set has fewer than 30 groups, or classes.

        Returns
        -------
        Intervals
            `n` counts the groups, or classes, of both sets. **Undefined:** NaN where a set has fewer than two.
        """
        checks.choice(method, intervals.PARAMETRIC, "method")
        a, b = self.train_errors, self.test_errors
        method = intervals.resolved(method, min(a.n, b.n))
        pairs = {"lower": (a.lower, b.upper), "expected": (a.expected, b.expected), "upper": (a.upper, b.lower)}
        ends = {name: self._ends(getattr(self, name), pair, confidence_level, method) for name, pair in pairs.items()}
        found = Intervals(**ends, confidence_level=float(confidence_level), method=method, n=a.n + b.n)
        return found.within(-1, 1)

    def _ends(self, difference: float, errors: tuple[float, float], level: float, method: str) -> Interval:
        sizes = (self.train_errors.n, self.test_errors.n)
        if min(sizes) < 2:
            return intervals.normal_interval(math.nan, math.nan, level)
        degrees = intervals.welch_degrees(errors, sizes) if method == "t" else None
        return intervals.normal_interval(difference, math.hypot(*errors), level, degrees)

    def bound(self, confidence_level: float = 0.95, method: str = "auto") -> float:
        """What the two populations' values differ by at most, either way, at a confidence level.

        That is max(|L|, |U|), where L is the low end of the interval for `lower` and U the high end of that for
        `upper`: however the ties fall. As L and U leave out (1 - confidence_level)/2 each, the level is at least the
        one asked for. NaN where there is no interval.
        """
        found = self.interval(confidence_level, method)
        return max(abs(found.lower.low), abs(found.upper.high))

    def __repr__(self) -> str:
        return f"Gap(lower={self.lower!r}, expected={self.expected!r}, upper={self.upper!r})"


@dataclass(frozen=True, eq=False)
class GeneralizationGap:
    """The gap between two sets in groups of equally many classes, beside that of the sets as a whole.

    Attributes
    ----------
    measure : str
    train_groups, test_groups : GroupedReport
    train_whole, test_whole : Report
    """

    measure: str
    train_groups: GroupedReport = field(repr=False)
    test_groups: GroupedReport = field(repr=False)
    train_whole: Report = field(repr=False)
    test_whole: Report = field(repr=False)

    @cached_property
    def grouped(self) -> Gap:
        """The gap of the grouped measure; its standard errors are those of means over independent groups."""
        train, test = self.train_groups[self.measure], self.test_groups[self.measure]
        return Gap(train, test, train.errors, test.errors)

    @cached_property
    def plain(self) -> Gap:
        """The gap of the measure on each set as a whole; its standard errors are those of means by whole classes.

        Classes are drawn independently, with all of their queries; the mean over queries is a ratio of sums over
        classes, whose standard error is that of the linearised ratio. This takes each class's values as its own,
        although all classes are in each other's gallery, and it holds for sets of just so many classes.
        """
        train, test = self.train_whole, self.test_whole
        errors = (_errors_by_class(report, self.measure) for report in (train, test))
        return Gap(train[self.measure], test[self.measure], *errors)

    def to_dict(self, confidence_level: float = 0.95) -> dict[str, Any]:
        """Both gaps with their intervals as plain Python values that JSON can hold; None where one is undefined."""
        return {
            "measure": self.measure,
            "group_size": self.train_groups.group_size,
            "n_class": {"train": self.train_groups.n_class, "test": self.test_groups.n_class},
            "grouped": _plain_gap(self.grouped, confidence_level),
            "plain": _plain_gap(self.plain, confidence_level),
        }

    def to_text(self) -> str:
        """The values and gaps as plain text, in per cent: what `print` shows."""
        size = self.train_groups.group_size
        rows, errors = [], []
        for title, gap in (
            (f"{self.measure} in groups of {size}", self.grouped),
            (f"{self.measure}, plain", self.plain),
        ):
            a, b = gap.train_errors, gap.test_errors
            rows += [(f"{title}: train", gap.train), ("  test", gap.test), ("  gap", gap)]
            errors += [a.expected, b.expected, math.hypot(a.expected, b.expected)]
        counts = [f"{render.count(report.n_class, 'class', 'classes')} in {part}" for part, report in self._reports()]
        return "\n".join([*table_with_errors(rows, errors), "", f"{' and '.join(counts)}, {self._left_over()}."])

    def _reports(self) -> list[tuple[str, GroupedReport]]:
        return [("train", self.train_groups), ("test", self.test_groups)]

    def _left_over(self) -> str:
        rest = " and ".join(str(len(report.left_over[0])) for _, report in self._reports())
        return f"{rest} of them in no group"

    def __str__(self) -> str:
        return self.to_text()


def _errors_by_class(report: Report, name: str) -> Errors:
    """Standard errors of means over queries, with whole classes as the independent units."""
    assert report.classes is not None
    rows = np.stack(report[name].per_query)
    counted = ~np.isnan(rows[0])
    sums, sizes = intervals.class_sums(rows[:, counted], report.classes[counted])
    each = [(row - math.fsum(row) / math.fsum(sizes) * sizes) / (math.fsum(sizes) / len(sizes)) for row in sums]
    lower, expected, upper = map(intervals.standard_error, each)
    return Errors(lower, expected, upper, len(sizes))


def _plain_gap(gap: Gap, confidence_level: float) -> dict[str, Any]:
    found = gap.interval(confidence_level)
    values = {name: getattr(gap, name) for name in Triple._fields}
    ends = {name: getattr(found, name) for name in Triple._fields}
    bound = gap.bound(confidence_level)
    content: dict[str, Any] = {**values, "interval": ends, "bound": bound, "confidence_level": found.confidence_level}
    return {name: plain(value) for name, value in content.items()}
