"""Differences of a measure between two sets, or two halves of one, plain and in groups of equally many classes.

In come the embeddings of a training and of a test set, or of one set; out go a `GeneralizationGap` (figure 3 of
arXiv:2306.13357) or a `SplitHalf` (Table 1), whose differences are each a `Gap`.

A split takes the groups of one draw and gives the first half of them to one side and as many to the other. That is a
random half of the classes, in random groups, all splits being equally likely; so all splits are the draws of one
`GroupedReport`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from deadheat.analyses.grouped import (
    Drawing,
    GroupedReport,
    GroupedResult,
    grouped_of,
    interval_column,
    sorted_classes,
)
from deadheat.engine.task import Task, rows_of
from deadheat.errors import InvalidValueError
from deadheat.measures import names as measure_names
from deadheat.reports.answer import Answer, Column, Panel, notebook_row
from deadheat.reports.averaging import SummaryOptions
from deadheat.reports.evaluating import report_of
from deadheat.reports.report import Report
from deadheat.reports.result import Result
from deadheat.reports.statistics.intervals import (
    Interval,
    Intervals,
    about_few,
    class_sums,
    standard_error,
    welch_interval,
)
from deadheat.reports.statistics.settings import MOST_RESAMPLES, level_between
from deadheat.reports.tables import count, plain
from deadheat.support import checks
from deadheat.support.arrays import Float64
from deadheat.support.caching import cached_property
from deadheat.support.floats import PlainFloats, plain_floats
from deadheat.support.triple import Triple


@dataclass(frozen=True, eq=False)
class Gap(PlainFloats):
    """The value on one set minus that on another, for samples drawn independently of each other.

    **Ties:** `lower` is the smallest difference that ties allow, train's lower minus test's upper value, and `upper`
    the largest; `expected` is the difference of the expected values. **Undefined:** NaN where a set has no value.

    Attributes
    ----------
    train, test : GroupedResult or Result
        The two values; of two halves of one set (`split_half`), those of the first and of the second.
    train_errors, test_errors : Triple
        Their standard errors.
    n_unit : tuple of int
        The number of groups, or classes, that these come from in train and in test.
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
    def errors(self) -> Triple[float]:
        """The standard errors of lower, expected and upper."""
        return Triple(*(math.hypot(*pair) for pair in self._error_pairs()))

    def interval(self, *, confidence_level: float = 0.95) -> Intervals:
        """Return confidence intervals for the difference of the two populations' values.

        Parameters
        ----------
        confidence_level : float
            The level of each of the three intervals, strictly between 0 and 1.

        Returns
        -------
        Intervals
            The difference ± Student's quantile, for the degrees of freedom after Welch and Satterthwaite, times the
            root of the sum of both squared standard errors. `n` counts the groups, or classes, of both sets; `notes`
            says so if either has few.
            **Undefined:** NaN where a set has fewer than two.
        """
        worst, middle, best = self._intervals(confidence_level)
        unit, (n_train, n_test) = "class" if isinstance(self.train, Result) else "group", self.n_unit
        where = " in each set" if n_train == n_test else " in train" if n_train < n_test else " in test"
        few = about_few(min(self.n_unit), unit, where)
        return Intervals(worst, middle, best, float(confidence_level), "t", n_train + n_test, unit, few).within(-1, 1)

    def margin(self, *, confidence_level: float = 0.95) -> float:
        """Return the margin of error t·se: half the width of `interval`, before its ends are cut to [-1, 1].

        If both populations have the same value, the observed difference is at most this, at the confidence level: the
        "bound on difference" of Table 1 of arXiv:2306.13357. Where the difference depends on ties, it is the largest
        margin of lower, expected and upper. NaN where there is no interval.
        """
        intervals = self._intervals(confidence_level, centred=True)
        return max((ends.high for ends in intervals if not math.isnan(ends.high)), default=math.nan)

    def bound(self, *, confidence_level: float = 0.95) -> float:
        """Return the confidence limit for the absolute difference of the two populations' values: |gap| + t·se.

        That is the observed difference plus its `margin`. In full, it is max(|L|, |U|), where L is the low end of the
        interval for `lower` and U the high end of that for `upper`, and holds however the ties fall. As L and U leave
        out (1 - confidence_level)/2 each, the level is at least the one asked for. NaN where there is no interval.
        """
        interval = self.interval(confidence_level=confidence_level)
        return max(abs(interval.lower.low), abs(interval.upper.high))

    def _intervals(self, level: float, *, centred: bool = False) -> list[Interval]:
        """Return the intervals for lower, expected and upper, around the values or (`centred`) around 0."""
        values = [0.0] * 3 if centred else [self.lower, self.expected, self.upper]
        both = zip(values, self._error_pairs(), strict=True)
        return [welch_interval(value, pair, self.n_unit, level) for value, pair in both]

    def _error_pairs(self) -> list[tuple[float, float]]:
        """Return the standard errors of train and test that belong to lower, expected and upper."""
        return list(zip(self.train_errors, reversed(self.test_errors), strict=True))

    def _repr_html_(self) -> str:
        return notebook_row(self.train.name, self, title="difference")

    def to_dict(self, *, confidence_level: float = 0.95) -> dict[str, Any]:
        """Return values, intervals, margin and bound as Python values that JSON can hold; None where undefined."""
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


def gap_between(train: GroupedResult, test: GroupedResult) -> Gap:
    """Return the gap of two grouped values."""
    return Gap(train, test, train.errors, test.errors, (train.n_unit, test.n_unit))


@plain_floats
def generalization_gap(
    train: Task,
    test: Task,
    *,
    group_size: int = 10,
    measure: str = "Hit@1",
    seed: int = 0,
    draws: int = 1,
) -> GeneralizationGap:
    """Return the gap between the classes that an embedding was trained on and others, in groups and as a whole [1]_.

    The gap of the plain measure is between sets that usually have different numbers of classes, and is not zero where
    the embedding is equally good on both. That of the grouped measure compares equal numbers of classes.

    Parameters
    ----------
    train, test : Task
        Embeddings of the classes that the model was trained on, and of other classes; under one distance and one
        meaning of ties. A row has one label, as groups are of classes.
    group_size : int
        Labels in a group, at least 2. With a gallery, a label counts whether queries, gallery or both have it.
    measure : str
        The name of one measure.
    seed : int
        The draw of groups follows from it and from the set of labels, and from nothing else.
    draws : int
        The number of draws of groups; means are over the groups of all of them.

    Returns
    -------
    GeneralizationGap
        Its `grouped` and `plain` are each a `Gap`.

    Raises
    ------
    ValueError, TypeError
        If a set has fewer classes than `group_size`, or no query has a relevant item.

    References
    ----------
    .. [1] Zhdanov, Karpukhin 2023, Catching image retrieval generalization, arXiv:2306.13357.

    Examples
    --------
    Pairs of points, near in one set and mixed up in the other:

    >>> labels = list("aabb")
    >>> near = Task([[0], [1], [5], [6]], labels, distance="euclidean")
    >>> mixed = Task([[0], [5], [1], [6]], labels, distance="euclidean")
    >>> gap = generalization_gap(near, mixed, group_size=2)
    >>> gap.grouped.expected, gap.plain.expected
    (1.0, 1.0)
    """
    name = measure_names.parse(measure).name
    summary, drawing = SummaryOptions.checked(name), Drawing.checked(group_size, seed, draws)
    return gap_of(train, test, name, drawing, summary)


def gap_of(train: Task, test: Task, measure: str, drawing: Drawing, summary: SummaryOptions) -> GeneralizationGap:
    """Return the gap between two sets, for options that are checked."""
    train, test = rows_of(train, "a gap", "train"), rows_of(test, "a gap", "test")
    meanings = [(task.options.distance, task.options.rule.describe(task.options.distance)) for task in (train, test)]
    if meanings[0] != meanings[1]:
        given = " and ".join(f"{distance} with ties {ties}" for distance, ties in meanings)
        raise InvalidValueError("train and test", f"must have one distance and one meaning of ties, but have {given}")
    inside = grouped_of(train, drawing, summary), grouped_of(test, drawing, summary)
    return GeneralizationGap(measure, *inside, report_of(train, summary), report_of(test, summary))


@dataclass(frozen=True, eq=False)
class GeneralizationGap(Answer):
    """The gap between two sets in groups of equally many classes, and that of the sets as a whole."""

    measure: str
    train_groups: GroupedReport = field(repr=False)
    test_groups: GroupedReport = field(repr=False)
    train_whole: Report = field(repr=False)
    test_whole: Report = field(repr=False)

    @cached_property
    def grouped(self) -> Gap:
        """The gap of the grouped measure; its standard errors are those of means over independent groups."""
        return gap_between(self.train_groups[self.measure], self.test_groups[self.measure])

    @cached_property
    def plain(self) -> Gap:
        """The gap of the measure on each set as a whole; its standard errors are those of means by whole classes.

        Classes are drawn independently, with all of their queries; the mean over queries is a ratio of sums over
        classes, whose standard error is that of the linearised ratio. This treats the values of each class as
        independent, although all classes are in each other's gallery, and holds only for these numbers of classes.
        """
        train, n_train = errors_by_class(self.train_whole, self.measure)
        test, n_test = errors_by_class(self.test_whole, self.measure)
        return Gap(self.train_whole[self.measure], self.test_whole[self.measure], train, test, (n_train, n_test))

    def panels(self, *, confidence_level: float | None = None) -> list[Panel]:
        """Return train, test and gap, in groups and plain; with a level, also the confidence limits of both gaps."""
        gaps = {
            f"{self.measure} in groups of {self.train_groups.group_size}": self.grouped,
            f"{self.measure}, plain": self.plain,
        }
        rows = [
            row
            for title, gap in gaps.items()
            for row in (
                (title, "train", f"{title}: train", gap.train, gap.train_errors.expected),
                (title, "test", "  test", gap.test, gap.test_errors.expected),
                (title, "gap", "  gap", gap, gap.errors.expected),
            )
        ]
        titles, sets, shown, values, errors = zip(*rows, strict=True)
        columns = [
            Column("measure", titles, "measure", only="data"),
            Column("set", sets, only="data"),
            Column("measure", shown, "measure", only="table"),
            Column("", values, "fraction", shape="bounds"),
            Column("standard_error", errors, "fraction", "s.e."),
        ]
        panels = [Panel(columns, key="")]
        if confidence_level is not None:
            level = {"confidence_level": level_between(confidence_level)}
            panels.append(Panel([
                Column("gap", ["in groups", "plain"], title="gap (points)"),
                interval_column([*gaps.values()], confidence_level),
                Column("margin", [each.margin(**level) for each in gaps.values()], "fraction", "margin of error"),
                Column("bound", [each.bound(**level) for each in gaps.values()], "fraction", "at most"),
            ], "note", key=""))  # fmt: skip
        return panels

    def facts(self) -> dict[str, Any]:
        n_class = {"train": self.train_groups.n_class, "test": self.test_groups.n_class}
        return {"measure": self.measure, "group_size": self.train_groups.group_size, "n_class": n_class}

    def to_dict(self, *, confidence_level: float = 0.95, **options: Any) -> dict[str, Any]:
        """Return both gaps with their intervals as plain Python values that JSON can hold; None where undefined."""
        grouped, plain = (gap.to_dict(confidence_level=confidence_level) for gap in (self.grouped, self.plain))
        return {**super().to_dict(**options), "grouped": grouped, "plain": plain}

    def notes(self) -> list[str]:
        """Return the number of classes, and of those that are in no group."""
        train, test = self.train_groups, self.test_groups
        counts = [count(report.n_class, "class", "classes") for report in (train, test)]
        left_over = f"{len(train.left_over[0])} and {len(test.left_over[0])} of them in no group"
        return [f"{counts[0]} in train and {counts[1]} in test, {left_over}."]


def errors_by_class(report: Report, name: str) -> tuple[Triple[float], int]:
    """Return standard errors of means over queries, with whole classes as independent units, and their number."""
    assert report.classes is not None
    rows = np.stack(report[name].per_query)
    counted = ~np.isnan(rows[0])
    sums, sizes = class_sums(rows[:, counted], report.classes[counted])
    linearised = [(row - math.fsum(row) / math.fsum(sizes) * sizes) / (math.fsum(sizes) / len(sizes)) for row in sums]
    return Triple(*map(standard_error, linearised)), len(sizes)


SPLITS = 20


@plain_floats
def split_half(
    task: Task,
    *,
    group_size: int = 10,
    measure: str = "Hit@1",
    draws: int = SPLITS,
    seed: int = 0,
) -> SplitHalf:
    """Measure how far two random halves of the classes differ in a grouped measure, with its bound: Table 1 of [1]_.

    Both halves are of one population, so that they differ by sampling alone. A grouped measure has a margin of error
    for that difference; this shows both.

    Parameters
    ----------
    task : Task
        Made of embeddings. A row has one label: with several, the two halves would share rows.
    group_size : int
        Labels in a group, at least 2. With a gallery, a label counts whether queries, gallery or both have it.
    measure : str
        The name of one measure.
    draws : int
        The number of random pairs of halves; values are means over them, and the spread is their standard deviation.
    seed : int
        The draws of groups follow from it and from the set of labels, and from nothing else.

    Returns
    -------
    SplitHalf
        **Ties:** the difference of a split lies between the least and the largest that ties allow. **Undefined:** the
        margin is NaN if a half has fewer than two groups.

    Raises
    ------
    ValueError, TypeError
        If there are fewer than two groups, or no query has a relevant item.

    Notes
    -----
    The source does not say how its halves are drawn, how often, or what is done with the classes that are left over.
    Here each half has N // 2 of the N groups of a draw, one draw for each split; an odd group and the remainder of the
    classes are in no half of that split.

    References
    ----------
    .. [1] Zhdanov, Karpukhin 2023, Catching image retrieval generalization, arXiv:2306.13357.

    Examples
    --------
    Four classes of two points, the last two mixed up with each other. They are in one group in the first split:

    >>> points, labels = [[0], [1], [20], [21], [50], [52], [51], [53]], list("aabbccdd")
    >>> halves = split_half(Task(points, labels, distance="euclidean"), group_size=2, draws=3)
    >>> halves.differences.expected, halves.grouped.per_group.expected
    (array([1., 0., 0.]), array([0., 1., 1., 1., 1., 1.]))
    """
    name = measure_names.parse(measure).name
    drawing = Drawing.checked(group_size, seed, checks.positive_integer(draws, "draws", MOST_RESAMPLES))
    return split_of(task, name, drawing, SummaryOptions.checked(name))


def split_of(task: Task, measure: str, drawing: Drawing, summary: SummaryOptions) -> SplitHalf:
    """Return the halves of a set, for options that are checked; the draws of `drawing` are the splits."""
    task = rows_of(task, "halves")
    query, gallery = task.pair[:2]
    n_class = len(sorted_classes(query.labels, None if gallery is None else gallery.labels).names)
    if n_class < 2 * drawing.group_size:
        rule = f"must be at most half the number of classes, {n_class}, but is {checks.shown(drawing.group_size)}"
        raise InvalidValueError("group_size", rule)
    return SplitHalf(measure, grouped_of(task, drawing, summary), report_of(task, summary))


@dataclass(frozen=True, eq=False)
class SplitHalf(Answer):
    """A measure, plain and in groups, and its difference between random halves of the classes.

    Printed, it has the columns of Table 1 as rows: the plain value; the grouped one; its upper confidence limit, value
    + t·se (the "bound" there); the difference of two halves; and the margin of error of that difference, t·se (the
    "bound on difference").

    `to_text`, `to_markdown`, `to_latex`, `to_dict` and `to_json` take ``confidence_level=`` (default 0.95). Student's t
    replaces the z of the source, because groups are few.

    Attributes
    ----------
    groups : GroupedReport
        One draw for each split.
    whole : Report
        The measure without groups.
    """

    measure: str
    groups: GroupedReport = field(repr=False)
    whole: Report = field(repr=False)

    @property
    def plain(self) -> Result:
        """The value on the whole set."""
        return self.whole[self.measure]

    @property
    def grouped(self) -> GroupedResult:
        """The grouped value, a mean over the groups of all splits."""
        return self.groups[self.measure]

    @cached_property
    def gaps(self) -> tuple[Gap, ...]:
        """The difference of the two halves of each split."""
        n_group, n_half, values = self.groups.n_group, self.groups.n_group // 2, self.grouped.per_group

        def half(start: int) -> GroupedResult:
            return GroupedResult(self.measure, Triple(*(each[start : start + n_half] for each in values)), n_half, 1)

        starts = range(0, n_group * self.groups.draws, n_group)
        return tuple(gap_between(half(start), half(start + n_half)) for start in starts)

    @cached_property
    def differences(self) -> Triple[Float64]:
        """The absolute difference of each split, (n_split,): least over ties, that of expected values, largest."""
        least = [max(0.0, gap.lower, -gap.upper) for gap in self.gaps]
        largest = [max(abs(gap.lower), abs(gap.upper)) for gap in self.gaps]
        return Triple(*map(np.array, (least, [abs(gap.expected) for gap in self.gaps], largest)))

    def margins(self, *, confidence_level: float = 0.95) -> Float64:
        """Return the margin of error of the difference of each split, (n_split,): `Gap.margin`."""
        return np.array([gap.margin(confidence_level=confidence_level) for gap in self.gaps])

    def upper_limit(self, *, confidence_level: float = 0.95) -> Triple[float]:
        """Return the upper confidence limits of the grouped values, value + t·se: the "bound" of Table 1."""
        intervals = self.grouped.interval(confidence_level=confidence_level)
        return Triple(intervals.lower.high, intervals.expected.high, intervals.upper.high)

    def panels(self, *, confidence_level: float = 0.95) -> list[Panel]:
        """Return a row for each column of Table 1: its three values, and the standard deviation over the splits."""
        size, title = self.groups.group_size, f"{100 * level_between(confidence_level):g} %"
        margins, differences = self.margins(confidence_level=confidence_level), self.differences
        shown = differences.lower if self.groups.profile.bounds_only else differences.expected
        rows = [
            ("plain", f"{self.measure}, plain", self.plain, math.nan),
            ("grouped", f"{self.measure} in groups of {size}", self.grouped, math.nan),
            ("upper_limit", f"  upper {title} limit", self.upper_limit(confidence_level=confidence_level), math.nan),
            ("difference", "difference of two halves", Triple(*map(_mean, differences)), _std(shown)),
            ("margin", f"  {title} margin of error", Triple(*[_mean(margins)] * 3), _std(margins)),
        ]
        names, titles, values, deviations = zip(*rows, strict=True)
        return [Panel([
            Column("what", names, only="data"),
            Column("measure", titles, "measure", only="table"),
            Column("", values, "fraction", shape="bounds"),
            Column("std", deviations, "fraction", "s.d."),
        ], key="")]  # fmt: skip

    def to_dict(self, *, confidence_level: float = 0.95, **options: Any) -> dict[str, Any]:
        """Return the rows as plain Python values that JSON can hold; None where one is undefined."""
        (panel,) = self.panels(confidence_level=confidence_level)
        content = {**super().to_dict(**options), **panel.content()}  # type: ignore[dict-item]
        return content | {"confidence_level": confidence_level}

    def facts(self) -> dict[str, Any]:
        of_groups = ("group_size", "n_class", "n_group", "draws", "seed")
        return {"measure": self.measure, **{name: getattr(self.groups, name) for name in of_groups}}

    def notes(self) -> list[str]:
        """Return a note on the draw of halves, and on classes in neither."""
        groups, n_half = self.groups, self.groups.n_group // 2
        rest = groups.n_class - 2 * n_half * groups.group_size
        halves = f"{count(groups.draws, 'split', 'splits')} of {groups.n_class} classes into halves"
        parts = f"of {count(n_half, 'group', 'groups')} of {groups.group_size} each, drawn with seed {groups.seed}"
        out = f"; {rest} classes are in no half each time" if rest else ""
        return [f"{halves} {parts}{out}. s.d.: over the splits."]


def _mean(values: Float64) -> float:
    return math.fsum(values) / len(values)


def _std(values: Float64) -> float:
    """Return the standard deviation over the splits; NaN for one split, and where one is undefined."""
    return math.nan if np.isnan(values).any() else standard_error(values) * math.sqrt(len(values))
