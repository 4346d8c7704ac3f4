"""Two halves of the classes compared, over and over: Table 1 of the paper on one's own data.

A split takes the groups of one draw and gives the first half of them to one side and as many to the other. That is a
random half of the classes, and random groups of them, each split as likely as any other; so all splits are the repeats
of one `GroupedReport`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from deadheat.analyses.gaps import Gap
from deadheat.analyses.grouped import (
    Drawing,
    GroupedReport,
    GroupedResult,
    grouped_pair,
    sorted_classes,
    table_with_errors,
)
from deadheat.engine.counting.options import CountingOptions
from deadheat.engine.counting.own_gallery import queries_in_gallery
from deadheat.engine.literals import DistanceName, TiesName
from deadheat.engine.ties.rule import Ties
from deadheat.errors import InvalidValueError
from deadheat.inputs.item_ids import OwnRows
from deadheat.inputs.samples import EmbeddingsLike, LabelsLike, Pair, open_pair
from deadheat.measures import names as measure_names
from deadheat.reports.averaging import SummaryOptions
from deadheat.reports.evaluating import evaluate_pair
from deadheat.reports.report import Report
from deadheat.reports.result import Result
from deadheat.reports.statistics.intervals import standard_error
from deadheat.reports.tables import DIGITS, Table, TabularResult, count, plain
from deadheat.support import checks
from deadheat.support.arrays import Float64
from deadheat.support.floats import plain_floats
from deadheat.support.progress import Progress
from deadheat.support.triple import Triple, columns_of_bounds

SPLITS = 20
_ROWS = ("plain", "grouped", "upper_limit", "difference", "margin")


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
        Their labels. By default they are in the files of the embeddings.
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
    drawing = Drawing.checked(group_size, seed, checks.positive_integer(splits, "splits"))
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
        rule = f"must be at most half the number of classes, {n_class}, but is {drawing.group_size}"
        raise InvalidValueError("group_size", rule)
    found = queries_in_gallery(pair, options)
    return SplitHalf(
        measure, grouped_pair(pair, drawing, options, summary), evaluate_pair(pair, options, summary, found)
    )


@dataclass(frozen=True, eq=False)
class SplitHalf(TabularResult):
    """A measure, plain and in groups, and what lies between random halves of the classes.

    Printed, it has the columns of Table 1 as rows: the plain value; the grouped one; its upper confidence limit, value
    + z·se (the "bound" there); the difference of two halves; and the margin of error of that difference, z·se (the
    "bound on difference").

    `to_text`, `to_markdown`, `to_latex`, `to_dict` and `to_json` take ``confidence_level=`` (default 0.95) and
    ``method=`` as `Gap.interval` does; the source's z is ``method="normal"``.

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
        n_group, n_half = self.groups.n_group, self.groups.n_group // 2
        return tuple(
            self._gap(start, start + n_half, n_half) for start in range(0, n_group * self.groups.repeats, n_group)
        )

    @cached_property
    def differences(self) -> Triple[Float64]:
        """The absolute difference of each split, (n_split,): the least that ties allow, of expected values, largest."""
        least = [max(0.0, gap.lower, -gap.upper) for gap in self.gaps]
        largest = [max(abs(gap.lower), abs(gap.upper)) for gap in self.gaps]
        return Triple(*map(np.array, (least, [abs(gap.expected) for gap in self.gaps], largest)))

    def margins(self, *, confidence_level: float = 0.95, method: str | None = None) -> Float64:
        """The margin of error of the difference of each split, (n_split,): `Gap.margin`."""
        return np.array([gap.margin(confidence_level=confidence_level, method=method) for gap in self.gaps])

    def upper_limit(self, *, confidence_level: float = 0.95, method: str | None = None) -> Triple[float]:
        """The grouped values' upper ends of the confidence interval, value + z·se: the "bound" of Table 1."""
        found = self.grouped.interval(confidence_level=confidence_level, method=method)
        return Triple(found.lower.high, found.expected.high, found.upper.high)

    def to_dict(self, *, confidence_level: float = 0.95, method: str | None = None) -> dict[str, Any]:
        """The rows as plain Python values that JSON can hold; None where one is undefined."""
        rows = self._rows(confidence_level, method)
        return {
            "measure": self.measure,
            "group_size": self.groups.group_size,
            "n_class": self.groups.n_class,
            "n_group": self.groups.n_group,
            "splits": self.groups.repeats,
            "seed": self.groups.seed,
            "confidence_level": confidence_level,
            **{
                name: {**{end: plain(getattr(value, end)) for end in Triple._fields}, "spread": plain(spread)}
                for name, (_, value, spread) in zip(_ROWS, rows, strict=True)
            },
        }

    def columns(self, *, confidence_level: float = 0.95, method: str | None = None) -> Mapping[str, Sequence[Any]]:
        """A row for each column of Table 1: its three values, and the standard deviation over the splits."""
        _, values, spreads = zip(*self._rows(confidence_level, method), strict=True)
        return {"what": list(_ROWS), **columns_of_bounds(values), "spread": list(spreads)}

    def tables(self, *, digits: int = DIGITS, confidence_level: float = 0.95, method: str | None = None) -> list[Table]:
        """The values in per cent, differences in percentage points."""
        rows = self._rows(confidence_level, method)
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

    def _gap(self, start: int, middle: int, n_half: int) -> Gap:
        values = self.grouped.per_group
        first, second = (
            GroupedResult(self.measure, Triple(*(each[at : at + n_half] for each in values)), n_half, 1)
            for at in (start, middle)
        )
        return Gap(first, second, first.errors, second.errors, (first.n_unit, second.n_unit))

    def _rows(self, level: float, method: str | None) -> list[tuple[str, Any, float]]:
        """Title, three values and spread of each row."""
        size, title = self.groups.group_size, f"{100 * level:g} %"
        margins = self.margins(confidence_level=level, method=method)
        differences = self.differences
        shown = differences.lower if self.groups.profile.bounds_only else differences.expected
        return [
            (f"{self.measure}, plain", self.plain, math.nan),
            (f"{self.measure} in groups of {size}", self.grouped, math.nan),
            (f"  upper {title} limit", self.upper_limit(confidence_level=level, method=method), math.nan),
            ("difference of two halves", Triple(*map(_mean, differences)), _spread(shown)),
            (f"  {title} margin of error", Triple(*[_mean(margins)] * 3), _spread(margins)),
        ]


def _mean(values: Float64) -> float:
    return math.fsum(values) / len(values)


def _spread(values: Float64) -> float:
    """The standard deviation over the splits; NaN for one split, and where one is undefined."""
    return math.nan if np.isnan(values).any() else standard_error(values) * math.sqrt(len(values))
