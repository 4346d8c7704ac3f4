"""The gap between two sets, such as train and test: in groups of equally many classes, and beside it as a whole.

In come two sets of embeddings and labels; out goes a `GeneralizationGap`, with the grouped measure's gap and the plain
one's, each with an interval and a bound.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deadheat import distances, inputs
from deadheat import measures as rank_measures
from deadheat import ties as tie_rules
from deadheat.analyses.grouped.gap import Gap
from deadheat.analyses.grouped.grouping import grouped
from deadheat.analyses.grouped.report import GroupedReport
from deadheat.analyses.grouped.result import table_with_errors
from deadheat.inputs.sources import EmbeddingsLike, LabelsLike, open_labels
from deadheat.reports import Report, evaluate, render
from deadheat.reports.tables import Table, TabularResult
from deadheat.statistics import intervals
from deadheat.support.progress import Progress
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
    progress: bool | Progress = False,
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
    distance, ties, threads, progress
        As in `deadheat.profile`. There are four passes, each with its own progress: inside the groups of train and of
        test, then over all of train and of test.

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
    sets = [
        _opened(embeddings, labels, part, distance)
        for part, embeddings, labels in (("train", train, train_labels), ("test", test, test_labels))
    ]
    inside = [grouped(rows, row_labels, **drawing, **settings, progress=progress) for rows, row_labels in sets]
    whole = [evaluate(rows, row_labels, **settings, progress=progress) for rows, row_labels in sets]
    return GeneralizationGap(name, inside[0], inside[1], whole[0], whole[1])


def _opened(embeddings: EmbeddingsLike, labels: LabelsLike, part: str, distance: str) -> tuple[Any, NDArray[Any]]:
    """Both checked under the name of their part, which neither `grouped` nor `evaluate` knows."""
    rows = distances.opened(embeddings, distance, part)
    name = f"{part}_labels"
    return rows, inputs.labels(open_labels(labels, name), len(rows), name, part)


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

    def tables(self) -> list[Table]:
        """The values and the gaps, in per cent."""
        rows, errors = [], []
        for (title, part), value, error in self._rows():
            rows.append((f"{title}: train" if part == "train" else f"  {part}", value))
            errors.append(error)
        return [table_with_errors(rows, errors)]

    def notes(self) -> list[str]:
        """How many classes there are, and how many of them are in no group."""
        sets = {"train": self.train_groups, "test": self.test_groups}
        counts = [f"{render.count(report.n_class, 'class', 'classes')} in {part}" for part, report in sets.items()]
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
    sums, sizes = intervals.class_sums(rows[:, counted], report.classes[counted])
    linearised = [(row - math.fsum(row) / math.fsum(sizes) * sizes) / (math.fsum(sizes) / len(sizes)) for row in sums]
    return Triple(*map(intervals.standard_error, linearised)), len(sizes)
