"""Grouped measures: the same measure inside groups of equally many classes, averaged, so that data sets compare.

In come embeddings, labels and the size of a group; out goes a `GroupedReport`. The labels are drawn into groups, the
tie profile is taken inside each group, and the mean over the groups is the value:

    labels ─draw─> groups of exactly S labels ─within─> one TieProfile ─measures─> per query ─> per group ─> mean

Only pairs inside a group are touched: about n²/r of them for r groups.
"""

from __future__ import annotations

import json
import math
import operator
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from deadheat import distances, inputs
from deadheat import measures as rank_measures
from deadheat import ties as tie_rules
from deadheat.counting.within import profile_within
from deadheat.inputs.sources import EmbeddingsLike, LabelsLike, open_labels
from deadheat.profiles import Int64, TieProfile
from deadheat.reports import Report, render
from deadheat.reports.options import Singletons, SummaryOptions
from deadheat.reports.report import Float64, report_on
from deadheat.reports.tables import plain
from deadheat.statistics import intervals
from deadheat.statistics.intervals import Interval, Intervals
from deadheat.support import checks
from deadheat.support.means import exact_mean
from deadheat.support.progress import Progress, Reporting
from deadheat.support.triple import Triple

Label = int | str

_NAMED_LABELS = 10  # labels left over that the text of a report names


def grouped(
    embeddings: EmbeddingsLike,
    labels: LabelsLike,
    *,
    group_size: int = 10,
    measures: str | Iterable[str] | None = None,
    seed: int = 0,
    repeats: int = 1,
    distance: str = "cosine",
    ties: str | tie_rules.Ties = "exact",
    singletons: Singletons = "skip",
    threads: int | None = None,
    progress: bool | Progress = False,
) -> GroupedReport:
    """The mean of a measure over groups of exactly `group_size` classes: GR@K_S = (1/N) Σ R@K(D_Gi) [1]_.

    A measure of retrieval falls as classes are added, because there is more to be mistaken for, so that its values on
    sets with different numbers of classes do not compare. Inside groups of equally many classes they do. The labels
    are split at random into N = n_class // group_size groups; inside each, leave one out, the measure is the mean over
    the group's queries; the grouped measure is the mean over the groups.

    Parameters
    ----------
    embeddings : (n, dim)
        As in `deadheat.profile`: an array, a memory map, the path of a file, a pattern, or a list of these. What is
        on disk is read in pieces, a group a thread at a time.
    labels : (n,)
        Integers or strings.
    group_size : int
        Labels in a group, S, at least 2.
    measures : str or iterable of str, optional
        Names such as ``"Hit@1"``, which metric learning calls Recall@1; default `deadheat.measures.DEFAULT_MEASURES`.
    seed : int
        The draw follows from it and from the set of labels, and from nothing else: see `draw`.
    repeats : int
        How many times to draw groups; the mean is over the groups of all of them. This lessens the noise of the draw.
        It brings no new classes.
    distance, ties, threads
        As in `deadheat.profile`.
    singletons : {"skip", "zero", "one", "balanced"}
        What a query without a relevant item counts as, as in `deadheat.measure`. A group in which no query has a value
        has none either, and is left out of the mean, and counted in `GroupedResult.n_undefined`.
    progress : bool or callable
        True for a bar on standard error, or a function that is called with (done, total), in pairs.

    Returns
    -------
    GroupedReport
        **Ties:** lower, expected and upper are means of the groups' values for each. **Undefined:** NaN where no group
        has a value.

    Raises
    ------
    ValueError, TypeError
        If an argument is not as described, there are fewer classes than `group_size`, or no query has a relevant item.

    References
    ----------
    .. [1] Zhdanov, Karpukhin 2023, Catching image retrieval generalization, arXiv:2306.13357.

    Examples
    --------
    Two points of each of five classes, and all points the same. The four in a group tie, so that the nearest one of the
    three others is the right one in one case of three:

    >>> report = grouped(np.zeros((10, 2)), list("aabbccddee"), group_size=2, measures="Hit@1")
    >>> report["Hit@1"].lower, round(report["Hit@1"].expected, 4), report["Hit@1"].upper
    (0.0, 0.3333, 1.0)
    >>> report.n_group, report.left_over
    (2, (('e',),))
    """
    options = SummaryOptions.checked(measures, singletons)
    size, seed, repeats = (
        checks.whole_number(group_size, "group_size", 2),
        checks.whole_number(seed, "seed"),
        checks.whole_number(repeats, "repeats", 1),
    )
    rule, workers = tie_rules.make(ties), checks.thread_count(threads)
    rows = distances.opened(embeddings, distance, "embeddings")
    known, classes = _classes(checked_labels(labels, len(rows), "labels", "embeddings"))
    if len(known) < size:
        raise ValueError(f"group_size must be at most the number of classes, {len(known)}, but is {size}")
    draws = tuple(draw(len(known), size, seed, repeat) for repeat in range(repeats))
    groups = _items(classes, np.concatenate([drawn.groups for drawn in draws]))
    with Reporting(progress, sum(len(items) ** 2 for items in groups)) as report:
        profile = profile_within(rows, classes, groups, distance=distance, ties=rule, threads=workers, report=report)
    inside = report_on(profile, options, threads=workers, distance=distance, tie_rule=rule.describe(distance))
    return GroupedReport(options.measures, size, seed, known, draws, inside, groups)


class Draw(NamedTuple):
    """Classes, by their place among the sorted labels: those of each group, (n_group, group_size), and the rest."""

    groups: Int64
    left_over: Int64


def draw(n_class: int, group_size: int, seed: int, repeat: int = 0) -> Draw:
    """Split classes at random into groups of exactly `group_size`; every split is equally likely.

    Each class gets a key of 64 bits from NumPy's PCG64, seeded with ``SeedSequence([seed, repeat])``, whose stream is
    the same on every machine and for ever; by ascending key, the classes fill one group after another.

    Parameters
    ----------
    n_class : int
        Classes are numbered by their place among the sorted labels: integers by value, strings by code points.
    group_size, seed, repeat : int

    Examples
    --------
    >>> groups, left_over = draw(7, 3, seed=0)
    >>> groups
    array([[3, 2, 1],
           [6, 0, 4]])
    >>> left_over
    array([5])
    """
    keys = np.random.PCG64(np.random.SeedSequence([seed, repeat])).random_raw(n_class)
    order, stop = np.argsort(keys, kind="stable"), n_class // group_size * group_size
    return Draw(order[:stop].reshape(-1, group_size), order[stop:])


# Results -------------------------------------------------------------------------------------------------------------


class Errors(NamedTuple):
    """Standard errors of the three values of a result, and how many independent units they come from."""

    lower: float
    expected: float
    upper: float
    n: int


@dataclass(frozen=True, eq=False)
class GroupedResult:
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

    @cached_property
    def errors(self) -> Errors:
        """Standard errors of lower, expected and upper: s/√N, with s the standard deviation over the N groups.

        With `repeats`, s² is the mean over them of the variance inside each, and N the groups of one: groups of
        different repeats share their classes, so that more of them say no more of the classes.
        """
        each = [[intervals.standard_error(values) for values in part] for part in self._parts()]
        joint = [math.sqrt(math.fsum(np.square(column)) / len(each)) for column in zip(*each, strict=True)]
        lower, expected, upper = joint
        return Errors(lower, expected, upper, min(int((~np.isnan(part.lower)).sum()) for part in self._parts()))

    def interval(
        self, confidence_level: float = 0.95, method: str = "auto", *, n_resamples: int = 9999, seed: int = 0
    ) -> Intervals:
        """Confidence intervals for the grouped value of the population that the classes were drawn from.

        Groups share no class, so that their values are independent, and their mean is about normal with variance σ²/N.

        Parameters
        ----------
        confidence_level : float
            Of each of the three intervals by itself, strictly between 0 and 1.
        method : {"auto", "normal", "t", "percentile", "basic", "BCa"}
            The mean ± z or Student's quantile times the standard error in `errors`, or SciPy's bootstrap over groups;
            ``"auto"`` is Student's below 30 groups and z from there.
        n_resamples, seed
            Of the bootstrap.

        Returns
        -------
        Intervals
            For lower, expected and upper; `n` is the groups of one repeat. With `repeats`, a bootstrap is made of each
            and its ends averaged. Ends are cut to [0, 1]. **Undefined:** NaN with fewer than two groups.

        Raises
        ------
        ValueError, TypeError
            If an argument is not as described.
        ModuleNotFoundError
            Without SciPy, which the extra ``stats`` brings.

        Notes
        -----
        A mean over repeats scatters less than that of one draw, but its standard error is that of one: the interval is
        too wide rather than too narrow.
        """
        level, settings = confidence_level, {"n_resamples": n_resamples, "seed": seed}
        each = [
            intervals.mean_intervals(*part, confidence_level=level, method=method, **settings)  # type: ignore[arg-type]
            for part in self._parts()
        ]
        if self.repeats == 1:
            return each[0].within(0, 1)
        method = min(each, key=operator.attrgetter("n")).method
        ends = {name: self._ends(name, [getattr(one, name) for one in each], level, method) for name in Triple._fields}
        found = Intervals(**ends, confidence_level=each[0].confidence_level, method=method, n=self.errors.n)
        return found.within(0, 1)

    def _ends(self, name: str, each: Sequence[Interval], level: float, method: str) -> Interval:
        """The interval for one of the three values, from the intervals of the repeats."""
        if method in intervals.BOOTSTRAP:
            return Interval(*(math.fsum(ends) / len(each) for ends in zip(*each, strict=True)))
        degrees = self.errors.n - 1 if method == "t" else None
        return intervals.normal_interval(getattr(self, name), getattr(self.errors, name), level, degrees)

    def _parts(self) -> list[Triple[Float64]]:
        """The groups' values of each repeat."""
        cuts = range(0, self.repeats * self.n_group, self.n_group)
        return [Triple(*(values[start : start + self.n_group] for values in self.per_group)) for start in cuts]

    def __repr__(self) -> str:
        return f"GroupedResult({self.name!r}, lower={self.lower!r}, expected={self.expected!r}, upper={self.upper!r})"


@dataclass(frozen=True, eq=False)
class GroupedReport:
    """Measures inside groups of equally many classes, and which classes these are.

    `report["Hit@1"]` is the `GroupedResult` for a measure, under any of its names; one that was not asked for is
    computed from the profile. Printing a report gives a table in per cent, in which ``s.e.`` is the standard error of
    the expected value (under a tolerance, of the lower one); everything else is a fraction in [0, 1].

    Attributes
    ----------
    measures : tuple of str
        The measures that the table shows.
    group_size : int
        Labels in each group.
    seed : int
    labels : tuple of int or str
        The distinct labels, sorted.
    draws : tuple of Draw
        For each repeat the groups and the classes left over, as places in `labels`.
    inside : Report
        The queries of all groups, each ranked against the others of its group; its own means are over queries.
    items : tuple of (n_item,) int64
        The samples in each group, of one repeat after another; the queries of `inside` are these, in order.

    Examples
    --------
    >>> print(grouped([[0], [1], [5], [6], [9]], list("aabbc"), group_size=2, distance="euclidean", measures="Hit@1"))
    measure (%)   lower  expected   upper  s.e.
    Hit@1        100.00    100.00  100.00     -
    <BLANKLINE>
    1 group of 2 labels each, drawn with seed 0. 1 of 3 labels left over: 'a'.
    3 queries, 1 of them without a relevant item (a singleton) and left out of the means.
    Ties (euclidean, exact): none decides anything, so lower, expected and upper are one value.
    """

    measures: tuple[str, ...]
    group_size: int
    seed: int
    labels: tuple[Label, ...] = field(repr=False)
    draws: tuple[Draw, ...] = field(repr=False)
    inside: Report = field(repr=False)
    items: tuple[Int64, ...] = field(repr=False)
    _results: dict[str, GroupedResult] = field(default_factory=dict, init=False, repr=False)

    def __getitem__(self, name: str) -> GroupedResult:
        """The result for a measure; raises ValueError for an unknown name."""
        name = rank_measures.parse(name).name
        if name not in self._results:
            offsets = np.cumsum([0, *map(len, self.items)])
            per_group = Triple(*(_means(values, offsets) for values in self.inside[name].per_query))
            self._results[name] = GroupedResult(name, per_group, self.n_group, self.repeats)
        return self._results[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.measures)

    @property
    def profile(self) -> TieProfile:
        """The tie profile of the queries of all groups."""
        return self.inside.profile

    @property
    def repeats(self) -> int:
        """How often groups were drawn."""
        return len(self.draws)

    @property
    def n_group(self) -> int:
        """Groups in each repeat."""
        return len(self.draws[0].groups)

    @property
    def n_class(self) -> int:
        """Distinct labels, those left over included."""
        return len(self.labels)

    @property
    def left_over(self) -> tuple[tuple[Label, ...], ...]:
        """For each repeat, the labels that are in no group, sorted."""
        return tuple(tuple(self.labels[place] for place in np.sort(drawn.left_over)) for drawn in self.draws)

    def group_labels(self, repeat: int = 0) -> tuple[tuple[Label, ...], ...]:
        """The labels of each group of a repeat, in the order in which they were drawn."""
        return tuple(tuple(self.labels[place] for place in group) for group in self.draws[repeat].groups.tolist())

    def to_dict(self) -> dict[str, Any]:
        """The report as plain Python values that JSON can hold; None where a value is undefined."""
        whole = self.inside.to_dict()
        return {
            **{key: whole[key] for key in ("deadheat", "distance", "ties", "singletons", "n_query", "n_singleton")},
            "group_size": self.group_size,
            "n_group": self.n_group,
            "repeats": self.repeats,
            "seed": self.seed,
            "n_class": self.n_class,
            "left_over": [list(labels) for labels in self.left_over],
            "measures": {name: _plain(self[name]) for name in self.measures},
            "profile": whole["profile"],
        }

    def to_json(self) -> str:
        """`to_dict` as JSON text; null where a value is undefined."""
        return json.dumps(self.to_dict(), indent=2, allow_nan=False)

    def to_text(self) -> str:
        """The table as plain text, in per cent, with what there is to say below it: what `print` shows."""
        shown = [self[name] for name in self.measures]
        errors = [result.errors.lower if self.profile.bounds_only else result.errors.expected for result in shown]
        return "\n".join(
            [*table_with_errors([(result.name, result) for result in shown], errors), "", *self._sentences()]
        )

    def __str__(self) -> str:
        return self.to_text()

    def _sentences(self) -> list[str]:
        undefined = [
            f"{name} has no value in {render.count(self[name].n_undefined, 'group', 'groups')}, left out of its mean."
            for name in self.measures
            if self[name].n_undefined
        ]
        return [f"{self._about_groups()} {self._about_rest()}", *undefined, *self.inside.notes()]

    def _about_groups(self) -> str:
        often = f", {self.repeats} times over" if self.repeats > 1 else ""
        groups = render.count(self.n_group, "group", "groups")
        return f"{groups} of {self.group_size} labels each, drawn with seed {self.seed}{often}."

    def _about_rest(self) -> str:
        rest = self.left_over
        if not rest[0]:
            return "No label is left over."
        said = f"{len(rest[0])} of {render.count(self.n_class, 'label', 'labels')} left over"
        if self.repeats > 1:
            return f"{said} each time."
        named = ", ".join(map(repr, rest[0][:_NAMED_LABELS]))
        more = len(rest[0]) - _NAMED_LABELS
        return f"{said}: {named}{f' and {more} more' if more > 0 else ''}."


# Pieces --------------------------------------------------------------------------------------------------------------


def checked_labels(labels: LabelsLike, n: int, name: str, what: str) -> NDArray[Any]:
    """Checked labels."""
    return inputs.labels(open_labels(labels, name), n, name, what)


def _classes(labels: NDArray[Any]) -> tuple[tuple[Label, ...], Int64]:
    """The distinct labels, sorted, and the place of each sample's label among them."""
    _, codes = inputs.label_codes(labels)
    _, first = np.unique(codes, return_index=True)
    names = [_label(label) for label in labels[first].tolist()]
    order = sorted(range(len(names)), key=names.__getitem__)
    place = np.empty(len(names), dtype=np.int64)
    place[order] = np.arange(len(names))
    return tuple(names[code] for code in order), place[codes]


def _label(label: Any) -> Label:
    """A label as the plain integer or string that it is compared as."""
    if isinstance(label, bytes):
        return label.decode("latin-1")
    return str(label) if isinstance(label, str) else int(label)


def _items(classes: Int64, groups: Int64) -> tuple[Int64, ...]:
    """The samples of the classes in each group, (n_group, group_size), by their order in the data."""
    order = np.argsort(classes, kind="stable")
    starts = np.searchsorted(classes[order], np.arange(classes.max() + 2))
    parts = [[order[starts[one] : starts[one + 1]] for one in group] for group in groups.tolist()]
    return tuple(np.concatenate(part) for part in parts)


def _means(values: Float64, offsets: Int64) -> Float64:
    """Correctly rounded means over runs of values, NaN left out."""
    return np.array([exact_mean(values[start:stop]) for start, stop in pairwise(offsets.tolist())])


def table_with_errors(rows: Sequence[tuple[str, Any]], errors: Sequence[float]) -> list[str]:
    """The lines of a table in per cent, with standard errors in the last column."""
    values = [[100 * getattr(value, column) for column in Triple._fields] for _, value in rows]
    fixed = f".{render.digits(values)}f"
    cells = [["measure (%)", *Triple._fields, "s.e."]]
    for (title, _), three, error in zip(rows, values, errors, strict=True):
        cells.append([title, *(render.number(value, fixed) for value in three), render.number(100 * error, ".2f")])
    return render.plain_table(cells)


def _plain(result: GroupedResult) -> dict[str, Any]:
    values = {**{name: getattr(result, name) for name in Triple._fields}, "standard_error": result.errors.expected}
    counts = {"n_group": len(result.per_group.lower) - result.n_undefined, "n_undefined": result.n_undefined}
    return {**plain(values), **counts}
