"""Two sets, or two halves of one: how far they differ in a measure, plain and in groups of equally many classes.

In come the embeddings of a training and of a test set, or of one set; out go a `GeneralizationGap` (figure 3 of
arXiv:2306.13357) or a `SplitHalf` (Table 1), whose differences are each a `Gap`.

A split takes the groups of one draw and gives the first half of them to one side and as many to the other. That is a
random half of the classes, and random groups of them, each split as likely as any other; so all splits are the repeats
of one `GroupedReport`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from deadheat.analyses.grouped import (
    Drawing,
    GroupedReport,
    GroupedResult,
    ends_of,
    grouped_pair,
    sorted_classes,
    table_with_errors,
)
from deadheat.engine.counting.options import CountingOptions
from deadheat.engine.counting.own_gallery import queries_in_gallery
from deadheat.engine.distances import registry as distance_registry
from deadheat.engine.literals import DistanceName, TiesName
from deadheat.engine.ties.rule import Ties
from deadheat.errors import InputError, InvalidValueError
from deadheat.inputs.item_ids import OwnRows
from deadheat.inputs.samples import EmbeddingsLike, LabelsLike, Pair, open_pair
from deadheat.measures import names as measure_names
from deadheat.reports.averaging import SummaryOptions
from deadheat.reports.evaluating import evaluate_pair
from deadheat.reports.report import Report
from deadheat.reports.result import Result
from deadheat.reports.statistics.intervals import (
    MOST_RESAMPLES,
    Interval,
    Intervals,
    class_sums,
    standard_error,
    welch_interval,
)
from deadheat.reports.tables import DIGITS, Table, TabularResult, count, decimals, notebook_row, number, plain
from deadheat.support import checks
from deadheat.support.arrays import Float64
from deadheat.support.floats import PlainFloats, plain_floats
from deadheat.support.progress import Progress
from deadheat.support.triple import Triple, columns_of_bounds


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
    def errors(self) -> Triple[float]:
        """The standard errors of lower, expected and upper."""
        return Triple(*(math.hypot(*pair) for pair in self._error_pairs()))

    def interval(self, *, confidence_level: float = 0.95) -> Intervals:
        """Confidence intervals for the difference of the two populations' values.

        Parameters
        ----------
        confidence_level : float
            Of each of the three intervals by itself, strictly between 0 and 1.

        Returns
        -------
        Intervals
            The difference ± Student's quantile, for the degrees of freedom after Welch and Satterthwaite, times the
            root of the sum of both squared standard errors. `n` counts the groups, or classes, of both sets.
            **Undefined:** NaN where a set has fewer than two.
        """
        worst, middle, best = self._intervals(confidence_level)
        unit = "class" if isinstance(self.train, Result) else "group"
        return Intervals(worst, middle, best, float(confidence_level), "t", sum(self.n_unit), unit).within(-1, 1)

    def margin(self, *, confidence_level: float = 0.95) -> float:
        """The margin of error t·se: half the width of `interval`, before its ends are cut to [-1, 1].

        If both populations have the same value, the observed difference is at most this, at the confidence level: the
        "bound on difference" of Table 1 of arXiv:2306.13357. Where ties leave the difference open, the largest margin
        of lower, expected and upper. NaN where there is no interval.
        """
        intervals = self._intervals(confidence_level, centred=True)
        return max((ends.high for ends in intervals if not math.isnan(ends.high)), default=math.nan)

    def bound(self, *, confidence_level: float = 0.95) -> float:
        """What the two populations' values differ by at most, either way, at a confidence level: |gap| + t·se.

        That is the observed difference and its `margin`. In full, max(|L|, |U|), where L is the low end of the interval
        for `lower` and U the high end of that for `upper`: however the ties fall. As L and U leave out
        (1 - confidence_level)/2 each, the level is at least the one asked for. NaN where there is no interval.
        """
        interval = self.interval(confidence_level=confidence_level)
        return max(abs(interval.lower.low), abs(interval.upper.high))

    def _intervals(self, level: float, *, centred: bool = False) -> list[Interval]:
        """The intervals for lower, expected and upper, round the values or (`centred`) round 0."""
        values = [0.0] * 3 if centred else [self.lower, self.expected, self.upper]
        both = zip(values, self._error_pairs(), strict=True)
        return [welch_interval(value, pair, self.n_unit, level) for value, pair in both]

    def _error_pairs(self) -> list[tuple[float, float]]:
        """Those of train and test that belong to lower, expected and upper."""
        return list(zip(self.train_errors, reversed(self.test_errors), strict=True))

    def _repr_html_(self) -> str:
        return notebook_row(self.train.name, self, title="difference (%)")

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


_ARGUMENTS = re.compile(r"\b(embeddings|labels|gallery|gallery_labels|junk|exclude)\b")


@plain_floats
def generalization_gap(
    train: EmbeddingsLike,
    train_labels: LabelsLike | None,
    test: EmbeddingsLike,
    test_labels: LabelsLike | None = None,
    *,
    train_gallery: EmbeddingsLike | None = None,
    train_gallery_labels: LabelsLike | None = None,
    test_gallery: EmbeddingsLike | None = None,
    test_gallery_labels: LabelsLike | None = None,
    train_junk: ArrayLike | None = None,
    test_junk: ArrayLike | None = None,
    train_exclude: OwnRows | None = None,
    test_exclude: OwnRows | None = None,
    group_size: int = 10,
    measure: str = "Hit@1",
    seed: int = 0,
    repeats: int = 1,
    distance: DistanceName = "cosine",
    ties: TiesName | Ties = "exact",
    threads: int | None = None,
    progress: bool | Progress = False,
) -> GeneralizationGap:
    """How much better an embedding is on the classes it was trained on, measured in groups, and as a whole [1]_.

    The gap of the plain measure is a gap of two sets with, as a rule, different numbers of classes, and is not zero
    where the embedding is equally good on both. That of the grouped measure compares like with like.

    Parameters
    ----------
    train : (n_train, dim) array, path or list of paths
        Embeddings of the classes that the model was trained on, in any form that `deadheat.profile` takes.
    test : (n_test, dim) array, path or list of paths
        Embeddings of other classes.
    train_labels, test_labels : (n_train,) and (n_test,) integers or strings, or paths, optional
        Their labels; whole floats count as integers. By default they are in the files of the embeddings.
    train_gallery, test_gallery : (n_item, dim) arrays, paths or lists of paths, optional
        What `train` and `test` are ranked against. By default each is ranked against all others: leave one out.
    train_gallery_labels, test_gallery_labels : (n_item,) integers or strings, or paths, optional
        The labels of the galleries. By default they are in the files of the galleries.
    train_junk, test_junk : (n_item,) or (n_query, n_item) arrays of bool, optional
        Items that are neither ranked for `train` or `test` nor relevant.
    train_exclude, test_exclude : (n_query,) integers, or a pair of ids, optional
        The row of its gallery that each of `train` or `test` is, or -1: see `exclude` of `deadheat.evaluate`.
    group_size : int
        Labels in a group, at least 2. With a gallery, a label counts whether queries, gallery or both have it.
    measure : str
        The name of one measure.
    seed : int
        The draw of groups follows from it and from the set of labels, and from nothing else.
    repeats : int
        How many times to draw groups; means are over the groups of all of them.
    distance : {"cosine", "euclidean", "inner_product", "cityblock", "hamming"}
        Or another name of one of them, such as "l2", "l1" or "dot". Hamming takes bool, or uint8 of eight bits each.
    ties : {"exact", "float16", "bfloat16", "float32"}, Rounded or Tolerance
        Which items tie: those whose distances are equal as real numbers, or once rounded to a type; see
        `deadheat.Rounded` and, for bounds alone, `deadheat.Tolerance`.
    threads : int, optional
        Worker threads, for this call alone. By default as many as this process may use.
    progress : bool or callable
        True for a bar on standard error, or a function that is called with (done, total): inside the groups of either
        set, then over all of either set.

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
    name = measure_names.parse(measure).name
    summary, drawing = SummaryOptions.checked(name), Drawing.checked(group_size, seed, repeats)
    options = CountingOptions.checked(distance=distance, ties=ties, threads=threads, progress=progress)
    given: dict[str, tuple[Any, ...]] = {
        "train": (train, train_labels, train_gallery, train_gallery_labels, train_junk, train_exclude),
        "test": (test, test_labels, test_gallery, test_gallery_labels, test_junk, test_exclude),
    }
    sets = {}
    for part, (*samples, junk, exclude) in given.items():
        names = (part, f"{part}_labels", f"{part}_gallery", f"{part}_gallery_labels")
        with _named(part):
            own = replace(options, junk=junk, exclude=exclude)
            pair = open_pair(*samples, names=names)
            query, items = pair.query, pair.gallery
            query = query._replace(embeddings=distance_registry.opened(query.embeddings, own.distance, names[0]))
            if items is not None:
                items = items._replace(embeddings=distance_registry.opened(items.embeddings, own.distance, names[2]))
        sets[part] = pair._replace(query=query, gallery=items), own
    return gap_of_pairs(name, sets, drawing, summary)


def gap_of_pairs(
    measure: str, sets: Mapping[str, tuple[Pair, CountingOptions]], drawing: Drawing, summary: SummaryOptions
) -> GeneralizationGap:
    """`generalization_gap` of two sets that the inputs have opened, each with its options, by name."""
    inside, whole, found = [], [], {}
    for part, (pair, options) in sets.items():
        with _named(part):
            remedy = f"leave out {part}_gallery, or give {part}_exclude=, the row of it that each query is"
            found[part] = queries_in_gallery(pair, options, remedy)
            inside.append(grouped_pair(pair, drawing, options, summary))
    for part, (pair, options) in sets.items():
        whole.append(evaluate_pair(pair, options, summary, found[part]))
    return GeneralizationGap(measure, inside[0], inside[1], whole[0], whole[1])


@contextmanager
def _named(part: str) -> Iterator[None]:
    """Name the set in messages about arguments that both have."""
    try:
        yield
    except InputError as error:
        title, rule = error.args
        names, colon, file = title.partition(":")
        own = _ARGUMENTS.sub(lambda found: part if found[0] == "embeddings" else f"{part}_{found[0]}", names)
        raise type(error)(f"{own}{colon}{file}", rule) from None


@dataclass(frozen=True, eq=False)
class GeneralizationGap(TabularResult):
    """The gap between two sets in groups of equally many classes, and that of the sets as a whole.

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
        return Gap(train, test, train.errors, test.errors, (train.n_unit, test.n_unit))

    @cached_property
    def plain(self) -> Gap:
        """The gap of the measure on each set as a whole; its standard errors are those of means by whole classes.

        Classes are drawn independently, with all of their queries; the mean over queries is a ratio of sums over
        classes, whose standard error is that of the linearised ratio. This takes each class's values as its own,
        although all classes are in each other's gallery, and it holds for sets of just so many classes.
        """
        train, n_train = errors_by_class(self.train_whole, self.measure)
        test, n_test = errors_by_class(self.test_whole, self.measure)
        return Gap(self.train_whole[self.measure], self.test_whole[self.measure], train, test, (n_train, n_test))

    def to_dict(self, *, confidence_level: float = 0.95) -> dict[str, Any]:
        """Both gaps with their intervals as plain Python values that JSON can hold; None where one is undefined."""
        return {
            "measure": self.measure,
            "group_size": self.train_groups.group_size,
            "n_class": {"train": self.train_groups.n_class, "test": self.test_groups.n_class},
            "grouped": self.grouped.to_dict(confidence_level=confidence_level),
            "plain": self.plain.to_dict(confidence_level=confidence_level),
        }

    def columns(self) -> Mapping[str, Sequence[Any]]:
        """Six rows: in groups and plain, each with train, test and gap; three values and the standard error."""
        titles, values, errors = zip(*self._rows(), strict=True)
        return {
            "measure": [title for title, _ in titles],
            "set": [part for _, part in titles],
            **columns_of_bounds(values),
            "standard_error": list(errors),
        }

    def tables(self, *, digits: int = DIGITS, confidence_level: float | None = None) -> list[Table]:
        """The values and the gaps, in per cent; with a level, a table of what sampling leaves of the gaps."""
        rows, errors = [], []
        for (title, part), value, error in self._rows():
            rows.append((f"{title}: train" if part == "train" else f"  {part}", value))
            errors.append(error)
        values = table_with_errors(rows, errors, digits)
        return [values] if confidence_level is None else [values, self._bounds(confidence_level, digits)]

    def notes(self) -> list[str]:
        """How many classes there are, and how many of them are in no group."""
        train, test = self.train_groups, self.test_groups
        counts = [count(report.n_class, "class", "classes") for report in (train, test)]
        left_over = f"{len(train.left_over[0])} and {len(test.left_over[0])} of them in no group"
        return [f"{counts[0]} in train and {counts[1]} in test, {left_over}."]

    def _bounds(self, level: float, digits: int) -> Table:
        header = ("gap (points)", f"{100 * level:g} % interval", "margin of error", "at most")
        rows = []
        for title, gap in (("in groups", self.grouped), ("plain", self.plain)):
            ends = gap.margin(confidence_level=level), gap.bound(confidence_level=level)
            shown = (number(100 * end, decimals(digits)) for end in ends)
            rows.append([title, ends_of(gap, level).per_cent(digits), *shown])
        return Table(header, rows)

    def _rows(self) -> Iterator[tuple[tuple[str, str], Any, float]]:
        size = self.train_groups.group_size
        for how, gap in ((f" in groups of {size}", self.grouped), (", plain", self.plain)):
            title = f"{self.measure}{how}"
            yield (title, "train"), gap.train, gap.train_errors.expected
            yield (title, "test"), gap.test, gap.test_errors.expected
            yield (title, "gap"), gap, gap.errors.expected


def errors_by_class(report: Report, name: str) -> tuple[Triple[float], int]:
    """Standard errors of means over queries, with whole classes as the independent units, and how many these are."""
    assert report.classes is not None
    rows = np.stack(report[name].per_query)
    counted = ~np.isnan(rows[0])
    sums, sizes = class_sums(rows[:, counted], report.classes[counted])
    linearised = [(row - math.fsum(row) / math.fsum(sizes) * sizes) / (math.fsum(sizes) / len(sizes)) for row in sums]
    return Triple(*map(standard_error, linearised)), len(sizes)


SPLITS = 20
_HALVES_ROWS = ("plain", "grouped", "upper_limit", "difference", "margin")


@plain_floats
def split_half(
    embeddings: EmbeddingsLike,
    labels: LabelsLike | None = None,
    gallery: EmbeddingsLike | None = None,
    gallery_labels: LabelsLike | None = None,
    *,
    group_size: int = 10,
    measure: str = "Hit@1",
    splits: int = SPLITS,
    seed: int = 0,
    distance: DistanceName = "cosine",
    ties: TiesName | Ties = "exact",
    junk: ArrayLike | None = None,
    exclude: OwnRows | None = None,
    threads: int | None = None,
    progress: bool | Progress = False,
) -> SplitHalf:
    """How far two random halves of the classes differ in a grouped measure, and the bound on it: Table 1 of [1]_.

    Both halves are of one population, so that whatever lies between them is sampling. A grouped measure comes with a
    margin of error that says how much that may be; this shows both.

    Parameters
    ----------
    embeddings : (n_query, dim) array, path or list of paths
        The queries, as arrays or files in any form that `deadheat.profile` takes.
    labels : (n_query,) integers or strings, or path, optional
        Their labels; whole floats count as integers. By default they are in the files of the embeddings.
    gallery : (n_gallery, dim) array, path or list of paths, optional
        What queries are ranked against. By default each is ranked against all others: leave one out.
    gallery_labels : (n_gallery,) integers or strings, or path, optional
        Its labels. By default they are in the files of the gallery.
    group_size : int
        Labels in a group, at least 2. With a gallery, a label counts whether queries, gallery or both have it.
    measure : str
        The name of one measure.
    splits : int
        How many random pairs of halves; the values are means over them, and the spread is their standard deviation.
    seed : int
        The draws of groups follow from it and from the set of labels, and from nothing else.
    distance : {"cosine", "euclidean", "inner_product", "cityblock", "hamming"}
        Or another name of one of them, such as "l2", "l1" or "dot". Hamming takes bool, or uint8 of eight bits each.
    ties : {"exact", "float16", "bfloat16", "float32"}, Rounded or Tolerance
        Which items tie: those whose distances are equal as real numbers, or once rounded to a type; see
        `deadheat.Rounded` and, for bounds alone, `deadheat.Tolerance`.
    junk : (n_gallery,) or (n_query, n_gallery) array of bool, optional
        Items that are neither ranked nor relevant: for every query, or pair by pair. By default there is none.
    exclude : (n_query,) integers, or a pair of ids, optional
        Where queries are in the gallery: the row that each query is, which is not ranked for it, or -1; or
        ``(query_ids, gallery_ids)``, where equal ids are one item. By default such rows are looked for, with a warning.
    threads : int, optional
        Worker threads, for this call alone. By default as many as this process may use.
    progress : bool or callable
        True for a bar on standard error, or a function that is called with (done, total): inside the groups, then over
        everything.

    Returns
    -------
    SplitHalf
        **Ties:** the difference of a split lies between the least and the largest that ties allow. **Undefined:** the
        margin is NaN if a half has fewer than two groups.

    Raises
    ------
    ValueError, TypeError
        If an argument is not as described, there are fewer than two groups, or no query has a relevant item.

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
    >>> halves = split_half(points, labels, group_size=2, splits=3, distance="euclidean")
    >>> halves.differences.expected, halves.grouped.per_group.expected
    (array([1., 0., 0.]), array([0., 1., 1., 1., 1., 1.]))
    """
    name = measure_names.parse(measure).name
    summary = SummaryOptions.checked(name)
    drawing = Drawing.checked(group_size, seed, checks.positive_integer(splits, "splits", MOST_RESAMPLES))
    options = CountingOptions.checked(
        distance=distance, ties=ties, junk=junk, exclude=exclude, threads=threads, progress=progress
    )
    pair = open_pair(embeddings, labels, gallery, gallery_labels)
    return split_pair(name, pair, drawing, options, summary)


def split_pair(
    measure: str, pair: Pair, drawing: Drawing, options: CountingOptions, summary: SummaryOptions
) -> SplitHalf:
    """`split_half` of queries and a gallery that the inputs have opened; the repeats of `drawing` are the splits."""
    n_class = len(sorted_classes(pair.query.labels, None if pair.gallery is None else pair.gallery.labels).names)
    if n_class < 2 * drawing.group_size:
        rule = f"must be at most half the number of classes, {n_class}, but is {checks.shown(drawing.group_size)}"
        raise InvalidValueError("group_size", rule)
    found = queries_in_gallery(pair, options)
    groups = grouped_pair(pair, drawing, options, summary)
    return SplitHalf(measure, groups, evaluate_pair(pair, options, summary, found))


@dataclass(frozen=True, eq=False)
class SplitHalf(TabularResult):
    """A measure, plain and in groups, and what lies between random halves of the classes.

    Printed, it has the columns of Table 1 as rows: the plain value; the grouped one; its upper confidence limit, value
    + t·se (the "bound" there); the difference of two halves; and the margin of error of that difference, t·se (the
    "bound on difference").

    `to_text`, `to_markdown`, `to_latex`, `to_dict` and `to_json` take ``confidence_level=`` (default 0.95). Where the
    source takes z, Student's t stands here: its groups are few.

    Attributes
    ----------
    measure : str
    groups : GroupedReport
        One repeat for each split.
    whole : Report
        The measure without groups.
    """

    measure: str
    groups: GroupedReport = field(repr=False)
    whole: Report = field(repr=False)

    @property
    def plain(self) -> Result:
        """The value on everything at once."""
        return self.whole[self.measure]

    @property
    def grouped(self) -> GroupedResult:
        """The grouped value, a mean over the groups of all splits."""
        return self.groups[self.measure]

    @cached_property
    def gaps(self) -> tuple[Gap, ...]:
        """The difference of the two halves of each split."""
        n_group, n_half, values, found = self.groups.n_group, self.groups.n_group // 2, self.grouped.per_group, []
        for start in range(0, n_group * self.groups.repeats, n_group):
            first, second = (
                GroupedResult(self.measure, Triple(*(each[at : at + n_half] for each in values)), n_half, 1)
                for at in (start, start + n_half)
            )
            found.append(Gap(first, second, first.errors, second.errors, (first.n_unit, second.n_unit)))
        return tuple(found)

    @cached_property
    def differences(self) -> Triple[Float64]:
        """The absolute difference of each split, (n_split,): the least that ties allow, of expected values, largest."""
        least = [max(0.0, gap.lower, -gap.upper) for gap in self.gaps]
        largest = [max(abs(gap.lower), abs(gap.upper)) for gap in self.gaps]
        return Triple(*map(np.array, (least, [abs(gap.expected) for gap in self.gaps], largest)))

    def margins(self, *, confidence_level: float = 0.95) -> Float64:
        """The margin of error of the difference of each split, (n_split,): `Gap.margin`."""
        return np.array([gap.margin(confidence_level=confidence_level) for gap in self.gaps])

    def upper_limit(self, *, confidence_level: float = 0.95) -> Triple[float]:
        """The grouped values' upper ends of the confidence interval, value + t·se: the "bound" of Table 1."""
        found = self.grouped.interval(confidence_level=confidence_level)
        return Triple(found.lower.high, found.expected.high, found.upper.high)

    def to_dict(self, *, confidence_level: float = 0.95) -> dict[str, Any]:
        """The rows as plain Python values that JSON can hold; None where one is undefined."""
        rows = self._rows(confidence_level)
        content: dict[str, Any] = {
            "measure": self.measure,
            **{name: getattr(self.groups, name) for name in ("group_size", "n_class", "n_group")},
            "splits": self.groups.repeats,
            "seed": self.groups.seed,
            "confidence_level": confidence_level,
        }
        for name, (_, value, spread) in zip(_HALVES_ROWS, rows, strict=True):
            content[name] = plain({**{end: getattr(value, end) for end in Triple._fields}, "spread": spread})
        return content

    def columns(self, *, confidence_level: float = 0.95) -> Mapping[str, Sequence[Any]]:
        """A row for each column of Table 1: its three values, and the standard deviation over the splits."""
        _, values, spreads = zip(*self._rows(confidence_level), strict=True)
        return {"what": list(_HALVES_ROWS), **columns_of_bounds(values), "spread": list(spreads)}

    def tables(self, *, digits: int = DIGITS, confidence_level: float = 0.95) -> list[Table]:
        """The values in per cent, differences in percentage points."""
        rows = self._rows(confidence_level)
        spreads = [spread for *_, spread in rows]
        return [table_with_errors([(title, value) for title, value, _ in rows], spreads, digits, "s.d.")]

    def notes(self) -> list[str]:
        """How halves were drawn, and what is in none of them."""
        groups, n_half = self.groups, self.groups.n_group // 2
        rest = groups.n_class - 2 * n_half * groups.group_size
        halves = f"{count(groups.repeats, 'split', 'splits')} of {groups.n_class} classes into halves"
        each = f"of {count(n_half, 'group', 'groups')} of {groups.group_size} each, drawn with seed {groups.seed}"
        out = f"; {rest} classes are in no half each time" if rest else ""
        return [f"{halves} {each}{out}. s.d.: over the splits."]

    def _rows(self, level: float) -> list[tuple[str, Any, float]]:
        size, title = self.groups.group_size, f"{100 * level:g} %"
        margins = self.margins(confidence_level=level)
        differences = self.differences
        shown = differences.lower if self.groups.profile.bounds_only else differences.expected
        return [
            (f"{self.measure}, plain", self.plain, math.nan),
            (f"{self.measure} in groups of {size}", self.grouped, math.nan),
            (f"  upper {title} limit", self.upper_limit(confidence_level=level), math.nan),
            ("difference of two halves", Triple(*map(_mean, differences)), _spread(shown)),
            (f"  {title} margin of error", Triple(*[_mean(margins)] * 3), _spread(margins)),
        ]


def _mean(values: Float64) -> float:
    return math.fsum(values) / len(values)


def _spread(values: Float64) -> float:
    """The standard deviation over the splits; NaN for one split, and where one is undefined."""
    return math.nan if np.isnan(values).any() else standard_error(values) * math.sqrt(len(values))
