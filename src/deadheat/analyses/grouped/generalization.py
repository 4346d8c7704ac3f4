"""The gap between two sets, such as train and test: in groups of equally many classes, and beside it as a whole."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from deadheat import distances
from deadheat import measures as rank_measures
from deadheat.analyses.grouped.drawing import Drawing
from deadheat.analyses.grouped.grouping import GroupedReport, grouped_samples
from deadheat.analyses.grouped.result import BY_ERROR, GroupedResult, table_with_errors
from deadheat.counting import CountingOptions
from deadheat.inputs import Pair, Samples, open_samples
from deadheat.inputs.sources import EmbeddingsLike, LabelsLike
from deadheat.reports import Report, Result
from deadheat.reports.evaluating import evaluate_pair
from deadheat.reports.options import SummaryOptions
from deadheat.reports.tables import DIGITS, Table, TabularResult, count, plain
from deadheat.statistics.interval import PARAMETRIC, Intervals, resolved
from deadheat.statistics.standard_error import standard_error, welch_interval
from deadheat.statistics.units import class_sums
from deadheat.support import checks
from deadheat.support.floats import PlainFloats, plain_floats
from deadheat.support.progress import Progress
from deadheat.support.triple import Triple
from deadheat.ties import Ties


@plain_floats
def generalization_gap(
    train: EmbeddingsLike,
    train_labels: LabelsLike | None,
    test: EmbeddingsLike,
    test_labels: LabelsLike | None = None,
    *,
    group_size: int = 10,
    measure: str = "Hit@1",
    seed: int = 0,
    repeats: int = 1,
    distance: str = "cosine",
    ties: str | Ties = "exact",
    threads: int | None = None,
    progress: bool | Progress = False,
) -> GeneralizationGap:
    """How much better an embedding is on the classes it was trained on, measured in groups, and as a whole [1]_.

    The gap of the plain measure is a gap of two sets with, as a rule, different numbers of classes, and is not zero
    where the embedding is equally good on both. That of the grouped measure compares like with like.

    Parameters
    ----------
    train, test : (n_train, dim) and (n_test, dim)
        Embeddings, as in `deadheat.profile`. Each set is ranked against itself, leave one out.
    train_labels, test_labels : (n_train,) and (n_test,), optional
        Integers or strings; None if they are in the files of the embeddings.
    group_size, seed, repeats
        As in `grouped`.
    measure : str
        The name of one measure.
    distance, ties, threads, progress
        As in `deadheat.profile`. Four passes have each its own progress: inside the groups of either set, over all of
        either set.

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
    name = rank_measures.parse(measure).name
    summary, drawing = SummaryOptions.checked(name), Drawing.checked(group_size, seed, repeats)
    options = CountingOptions.checked(distance=distance, ties=ties, threads=threads, progress=progress)
    sets = [_opened(train, train_labels, "train", distance), _opened(test, test_labels, "test", distance)]
    inside = [grouped_samples(samples, drawing, options, summary) for samples in sets]
    whole = [evaluate_pair(Pair(samples, None), options, summary) for samples in sets]
    return GeneralizationGap(name, inside[0], inside[1], whole[0], whole[1])


def _opened(embeddings: EmbeddingsLike, labels: LabelsLike | None, part: str, distance: str) -> Samples[Any]:
    """Both checked under the name of their part, which the passes do not know."""
    samples = open_samples(embeddings, labels, name=part, labels_name=f"{part}_labels")
    return samples._replace(embeddings=distances.opened(samples.embeddings, distance, part))


@dataclass(frozen=True, eq=False)
class Gap(PlainFloats):
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
        chosen = checks.choice(BY_ERROR if method is None else method, PARAMETRIC, "method")
        law = resolved(chosen, min(self.n_unit))
        a, b = self.train_errors, self.test_errors
        errors = {"lower": (a.lower, b.upper), "expected": (a.expected, b.expected), "upper": (a.upper, b.lower)}
        worst, middle, best = (
            welch_interval(getattr(self, name), pair, self.n_unit, confidence_level, law)
            for name, pair in errors.items()
        )
        unit = "class" if isinstance(self.train, Result) else "group"
        return Intervals(worst, middle, best, float(confidence_level), law, sum(self.n_unit), unit).within(-1, 1)

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


@dataclass(frozen=True, eq=False)
class GeneralizationGap(TabularResult):
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
        return Gap(train, test, train.errors, test.errors, (train.n_unit, test.n_unit))

    @cached_property
    def plain(self) -> Gap:
        """The gap of the measure on each set as a whole; its standard errors are those of means by whole classes.

        Classes are drawn independently, with all of their queries; the mean over queries is a ratio of sums over
        classes, whose standard error is that of the linearised ratio. This takes each class's values as its own,
        although all classes are in each other's gallery, and it holds for sets of just so many classes.
        """
        (train_errors, n_train), (test_errors, n_test) = (
            _errors_by_class(report, self.measure) for report in (self.train_whole, self.test_whole)
        )
        train, test = self.train_whole[self.measure], self.test_whole[self.measure]
        return Gap(train, test, train_errors, test_errors, (n_train, n_test))

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
            **{bound: [getattr(value, bound) for value in values] for bound in Triple._fields},
            "standard_error": list(errors),
        }

    def tables(self, *, digits: int = DIGITS) -> list[Table]:
        """The values and the gaps, in per cent."""
        rows, errors = [], []
        for (title, part), value, error in self._rows():
            rows.append((f"{title}: train" if part == "train" else f"  {part}", value))
            errors.append(error)
        return [table_with_errors(rows, errors, digits)]

    def notes(self) -> list[str]:
        """How many classes there are, and how many of them are in no group."""
        sets = {"train": self.train_groups, "test": self.test_groups}
        counts = [f"{count(report.n_class, 'class', 'classes')} in {part}" for part, report in sets.items()]
        left_over = " and ".join(str(len(report.left_over[0])) for report in sets.values())
        return [f"{' and '.join(counts)}, {left_over} of them in no group."]

    def _rows(self) -> Iterator[tuple[tuple[str, str], Any, float]]:
        """What is measured on what, the three values, and the standard error of the expected one."""
        size = self.train_groups.group_size
        for title, gap in (
            (f"{self.measure} in groups of {size}", self.grouped),
            (f"{self.measure}, plain", self.plain),
        ):
            yield (title, "train"), gap.train, gap.train_errors.expected
            yield (title, "test"), gap.test, gap.test_errors.expected
            yield (title, "gap"), gap, gap.error


def _errors_by_class(report: Report, name: str) -> tuple[Triple[float], int]:
    """Standard errors of means over queries, with whole classes as the independent units, and how many these are."""
    assert report.classes is not None
    rows = np.stack(report[name].per_query)
    counted = ~np.isnan(rows[0])
    sums, sizes = class_sums(rows[:, counted], report.classes[counted])
    linearised = [(row - math.fsum(row) / math.fsum(sizes) * sizes) / (math.fsum(sizes) / len(sizes)) for row in sums]
    return Triple(*map(standard_error, linearised)), len(sizes)
