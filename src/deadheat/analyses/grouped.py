"""Grouped measures: means over groups of equally many classes, comparable between data sets.

In come embeddings, labels, perhaps a gallery, and the size of a group; out goes a `GroupedReport`. The labels are drawn
into groups, the tie profile is taken inside each group, and the mean over the groups is the value:

    labels ─draw─> groups of exactly S labels ─within─> one TieProfile ─measures─> per query ─> per group ─> mean

Only pairs inside a group are compared: about n²/r of them for r groups.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from deadheat.engine.count import count_within
from deadheat.engine.counting.within import Gallery
from deadheat.engine.profiles.profile import TieProfile
from deadheat.engine.task import Task, rows_of
from deadheat.errors import InvalidValueError
from deadheat.inputs import labels as input_labels
from deadheat.measures import names as measure_names
from deadheat.reports.answer import Answer, Column, Panel, notebook_row
from deadheat.reports.averaging import Singletons, SummaryOptions, fractions
from deadheat.reports.evaluating import report_on
from deadheat.reports.report import Report
from deadheat.reports.statistics.intervals import (
    Interval,
    Intervals,
    about_few,
    mean_intervals,
    normal_interval,
    standard_error,
)
from deadheat.reports.statistics.settings import BOOTSTRAP, MOST_RESAMPLES, level_between
from deadheat.reports.tables import count
from deadheat.support import checks
from deadheat.support.arrays import Float64, Int64
from deadheat.support.caching import cached_property
from deadheat.support.floats import PlainFloats, plain_floats
from deadheat.support.means import all_or_none, exact_mean, exact_means, exact_means_of_runs
from deadheat.support.progress import Reporting
from deadheat.support.triple import Triple

Label = int | str


class Draw(NamedTuple):
    """The classes of each group, (n_group, group_size), and those left over, by their place among the sorted labels."""

    groups: Int64
    left_over: Int64


class Drawing(NamedTuple):
    """Options of the draw of groups: the arguments of `grouped` of the same names, checked."""

    group_size: int
    seed: int
    draws: int

    @classmethod
    def checked(cls, group_size: int, seed: int, draws: int) -> Drawing:
        """Check the options; an error names the argument."""
        size = checks.whole_number(group_size, "group_size", 2)
        return cls(size, checks.seed(seed), checks.whole_number(draws, "draws", 1, MOST_RESAMPLES))


def draw(n_class: int, group_size: int, seed: int, repeat: int = 0) -> Draw:
    """Split classes at random into groups of exactly `group_size`; every split is equally likely.

    Each class gets a key of 64 bits from NumPy's PCG64, seeded with ``SeedSequence([seed, repeat])``, whose stream is
    the same on every machine and for ever; by ascending key, the classes fill one group after another. Classes are
    numbered by their place among the sorted labels: integers by value, strings by code points.

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


class SortedClasses(NamedTuple):
    """The distinct labels of queries and gallery, sorted, and the place of each sample's label among them."""

    names: tuple[Label, ...]
    query: Int64
    gallery: Int64 | None


def sorted_classes(labels: NDArray[Any], gallery_labels: NDArray[Any] | None = None) -> SortedClasses:
    """Assign numbers to the classes of queries and gallery; a label that only one of them has is a class too."""
    query, gallery = input_labels.label_codes(labels, gallery_labels)
    codes, everything = query, labels.tolist()
    if gallery_labels is not None:
        alone = np.flatnonzero(query < 0)  # of a class that the gallery does not have
        if len(alone):
            query[alone] = 1 + gallery.max() + input_labels.label_codes(labels[alone])[0]
        codes, everything = np.concatenate([gallery, query]), [*gallery_labels.tolist(), *everything]
    _, first = np.unique(codes, return_index=True)
    samples = (everything[i] for i in first.tolist())
    names = [label.decode("latin-1") if isinstance(label, bytes) else label for label in samples]
    names = [str(name) if isinstance(name, str) else int(name) for name in names]
    order = sorted(range(len(names)), key=names.__getitem__)
    rank = np.argsort(order)
    in_order = tuple(names[code] for code in order)
    return SortedClasses(in_order, rank[query], None if gallery_labels is None else rank[gallery])


def items_of_groups(classes: Int64, groups: Int64) -> tuple[Int64, ...]:
    """Return the samples of the classes in each group, (n_group, group_size), class by class, in order."""
    order = np.argsort(classes, kind="stable")
    starts = np.searchsorted(classes[order], np.arange(groups.max() + 2))
    return tuple(
        np.concatenate([order[starts[number] : starts[number + 1]] for number in group]) for group in groups.tolist()
    )


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
        Means over the groups of all draws. Sums are correctly rounded.
    per_group : Triple
        Arrays of shape (draws * n_group,), one draw after another: the mean over the group's queries. NaN where no
        query of the group has a value.
    n_group, draws : int
        The number of groups in each draw, and of draws.
    """

    name: str
    per_group: Triple[Float64]
    n_group: int
    draws: int

    @cached_property
    def lower(self) -> float:
        return exact_mean(self.per_group.lower)

    @cached_property
    def expected(self) -> float:
        return exact_means(self.per_group).expected

    @cached_property
    def upper(self) -> float:
        return exact_mean(self.per_group.upper)

    @property
    def n_undefined(self) -> int:
        """Groups, of all draws, that have no value and are left out of the mean."""
        return int(np.isnan(self.per_group.lower).sum())

    @property
    def n_unit(self) -> int:
        """Independent units behind the mean: the groups of one draw that have a value."""
        return min(int((~np.isnan(values.lower)).sum()) for values in self._by_draw())

    @cached_property
    def errors(self) -> Triple[float]:
        """Standard errors of lower, expected and upper: s/√N, with s the standard deviation over the N groups.

        With `draws`, s² is the mean over draws of the variance inside each, and N the number of groups in one
        (`n_unit`): groups of different draws share their classes, so that more of them tell no more about classes.
        """
        by_draw = [[standard_error(values) for values in all_or_none(part)] for part in self._by_draw()]
        return Triple(*(math.sqrt(math.fsum(np.square(each)) / len(each)) for each in zip(*by_draw, strict=True)))

    def interval(
        self, *, confidence_level: float = 0.95, method: str = "t", n_resamples: int = 9999, seed: int = 0
    ) -> Intervals:
        """Return confidence intervals for the grouped value of the population that the classes were drawn from.

        Groups share no class, so that their values are independent, and their mean is about normal with variance σ²/N.

        Parameters
        ----------
        confidence_level : float
            The level of each of the three intervals, strictly between 0 and 1.
        method : {"t", "percentile", "BCa"}
            The mean ± Student's quantile times the standard error in `errors`, or SciPy's bootstrap over groups.
        n_resamples, seed : int
            The number of bootstrap resamples, and the seed of their random numbers.

        Returns
        -------
        Intervals
            For lower, expected and upper; `n` is the number of groups of one draw. With `draws`, the ends of one
            bootstrap for each are averaged. Ends are cut to [0, 1]. **Undefined:** NaN with fewer than two groups.

        Notes
        -----
        A mean over draws scatters less than that of one draw, but its standard error is that of one: the interval is
        too wide rather than too narrow.
        """
        settings: dict[str, Any] = {"confidence_level": confidence_level, "n_resamples": n_resamples, "seed": seed}
        by_draw = [
            mean_intervals(*values, unit="group", method=method, within=(0, 1), **settings)
            for values in self._by_draw()
        ]
        if self.draws == 1:
            return by_draw[0].within(0, 1)
        level, ends = by_draw[0].confidence_level, []
        for name in Triple._fields:
            if method in BOOTSTRAP:
                low, high = zip(*(getattr(intervals, name) for intervals in by_draw), strict=True)
                ends.append(Interval(math.fsum(low) / self.draws, math.fsum(high) / self.draws))
            else:
                ends.append(normal_interval(getattr(self, name), getattr(self.errors, name), level, self.n_unit - 1))
        (lower, expected, upper), few = ends, about_few(self.n_unit, "group")
        return Intervals(lower, expected, upper, level, method, self.n_unit, "group", few).within(0, 1)

    def _by_draw(self) -> list[Triple[Float64]]:
        cuts = range(0, self.draws * self.n_group, self.n_group)
        return [Triple(*(values[start : start + self.n_group] for values in self.per_group)) for start in cuts]

    def _repr_html_(self) -> str:
        return notebook_row(self.name, self, [f"Mean over {count(self.n_group, 'group', 'groups')}."])

    def __repr__(self) -> str:
        return f"GroupedResult({self.name!r}, lower={self.lower!r}, expected={self.expected!r}, upper={self.upper!r})"


def interval_column(results: Sequence[Any], confidence_level: float) -> Column:
    """Return the column of the intervals that hold however ties fall: the low end for lower to the high for upper."""
    level = level_between(confidence_level)
    ends = [result.interval(confidence_level=level).outer for result in results]
    return Column("", ends, "fraction", f"{100 * level:g} % interval", "interval")


_NAMED_LABELS = 10  # labels left over that the text of a report names


@plain_floats
def grouped(
    task: Task,
    *,
    group_size: int = 10,
    measures: str | Iterable[str] | None = None,
    seed: int = 0,
    draws: int = 1,
    singletons: Singletons = "skip",
) -> GroupedReport:
    """Return the mean of a measure over groups of exactly `group_size` classes: (1/N) Σ R@K(D_Gi), equation 4 of [1]_.

    A measure of retrieval falls as classes are added, because there are more items to confuse, so that its values on
    sets with different numbers of classes are not comparable. Inside groups of equally many classes they are. The
    labels are split at random into N = n_class // group_size groups; inside each, the measure is the mean over the
    group's queries, each ranked against the group's gallery; the grouped measure is the mean over the groups.

    Parameters
    ----------
    task : Task
        Made of embeddings, with one label a row or ``relevance="same"``, which makes a class of each set of labels:
        groups share no row, and one whose labels are drawn into two groups would be in both.
    group_size : int
        Labels in a group, at least 2. With a gallery, a label counts whether queries, gallery or both have it.
    measures : str or iterable of str, optional
        Names such as ``"mAP"``, ``"Hit@1"`` or ``"nDCG@10"``, or one string with commas between them. By default
        `deadheat.measures.DEFAULT_MEASURES`.
    seed : int
        The draw follows from it and from the set of labels, and from nothing else: see `draw`.
    draws : int
        The number of draws of groups; the mean is over the groups of all of them. More draws reduce the noise of
        drawing, but add no classes.
    singletons : {"skip", "zero", "one", "balanced"}
        The value of a query without a relevant item: none; 0; 1; or 0 for measures of the precision kind and 1 for
        those of the recall kind. A group in which no query has a value (as one whose labels only the gallery has) has
        none either: it is left out of the mean, and counted in `GroupedResult.n_undefined`.

    Returns
    -------
    GroupedReport
        **Ties:** lower, expected and upper are means of the groups' values for each. **Undefined:** NaN where no group
        has a value.

    Raises
    ------
    ValueError, TypeError
        If there are fewer classes than `group_size`, or no query has a relevant item.

    Notes
    -----
    The source leaves three points open, which are choices here. **The remainder**: if `group_size` does not divide the
    number of classes, the classes left at the end of the draw are in no group, and the report names them. Groups of
    unequal sizes would not compare. **Repeats**: one draw by default, as equation 4 has it; with more, the standard
    error stays that of one draw (`GroupedResult.errors`). **Labels without queries**: the classes of the gallery that
    no query has are drawn into groups like any other, because a query can be confused with them.

    References
    ----------
    .. [1] Zhdanov, Karpukhin 2023, Catching image retrieval generalization, arXiv:2306.13357.

    Examples
    --------
    Two points of each of five classes, and all points the same. The four in a group tie, so that the nearest one of the
    three others is the right one in one case of three:

    >>> report = grouped(Task(np.zeros((10, 2)), list("aabbccddee")), group_size=2, measures="Hit@1")
    >>> report["Hit@1"].lower, round(report["Hit@1"].expected, 4), report["Hit@1"].upper
    (0.0, 0.3333, 1.0)
    >>> report.n_group, report.left_over
    (2, (('e',),))

    One query of each of two classes, and a gallery in which the first has its match at the same distance as an item of
    the other class:

    >>> task = Task([[0], [9]], ["a", "b"], [[1], [-1], [8]], ["a", "b", "b"], distance="euclidean")
    >>> report = grouped(task, group_size=2, measures="Hit@1")
    >>> report["Hit@1"].lower, report["Hit@1"].expected, report["Hit@1"].upper
    (0.5, 0.75, 1.0)
    """
    summary, drawing = SummaryOptions.checked(measures, singletons), Drawing.checked(group_size, seed, draws)
    return grouped_of(task, drawing, summary)


def grouped_of(task: Task, drawing: Drawing, summary: SummaryOptions) -> GroupedReport:
    """Return the report inside groups, for options that are checked."""
    fractions(summary.measures)
    task = rows_of(task, "groups")
    options, (query, gallery, files) = task.options, task.pair[:3]
    classes = sorted_classes(query.labels, None if gallery is None else gallery.labels)
    n_class, size = len(classes.names), drawing.group_size
    if n_class < size:
        raise InvalidValueError(
            "group_size", f"must be at most the number of classes, {n_class}, but is {checks.shown(size)}"
        )
    draws = tuple(draw(n_class, size, drawing.seed, repeat) for repeat in range(drawing.draws))
    drawn = np.concatenate([each.groups for each in draws])
    groups, within = items_of_groups(classes.query, drawn), None
    if gallery is not None and classes.gallery is not None:
        ranked = [np.sort(items) for items in items_of_groups(classes.gallery, drawn)]
        within = Gallery(gallery.embeddings, classes.gallery, ranked, options.exclude)
    sizes = map(len, groups if within is None else within.groups)
    with Reporting(options.progress, sum(map(operator.mul, map(len, groups), sizes))) as report:
        profile = count_within(query.embeddings, classes.query, groups, within, settings=options, report=report)
    origin = {"distance": options.distance, "tie_rule": options.rule.describe(options.distance), "files": files}
    inside = report_on(profile, summary, threads=options.threads, **origin)
    return GroupedReport(summary.measures, size, drawing.seed, classes.names, draws, inside, groups)


@dataclass(frozen=True, eq=False)
class GroupedReport(Answer):
    """Measures inside groups of equally many classes, and the classes of each group.

    `report["Hit@1"]` is the `GroupedResult` for a measure, under any of its names; one that was not asked for is
    computed from the profile. Printing a report gives a table in per cent, in which ``s.e.`` is the standard error of
    the expected value (under a tolerance, of the lower one); everything else is a fraction in [0, 1].

    Attributes
    ----------
    measures : tuple of str
        The measures that the table shows.
    group_size : int
        Labels in each group.
    labels : tuple of int or str
        The distinct labels, sorted.
    drawn : tuple of Draw
        For each draw the groups and the classes left over, as places in `labels`.
    inside : Report
        The queries of all groups, each ranked against the others of its group or against the group's gallery; its own
        means are over queries.
    items : tuple of (n_item,) int64
        The queries in each group, one draw after another, in the order of the queries of `inside`.

    Examples
    --------
    >>> from deadheat import grouped, Task
    >>> task = Task([[0], [1], [5], [6], [9]], list("aabbc"), distance="euclidean")
    >>> print(grouped(task, group_size=2, measures="Hit@1"))
    measure (%)   value  s.e.
    Hit@1        100.00     -
    <BLANKLINE>
    1 group of 2 labels each, drawn with seed 0. 1 of 3 labels left over: 'a'.
    Only 1 group: with fewer than about 10 neither intervals nor p-values can be trusted.
    3 queries, 1 of them without a relevant item (a singleton) and left out of the means.
    No tie affects the result (euclidean, exact): lower = expected = upper.
    """

    measures: tuple[str, ...]
    group_size: int
    seed: int
    labels: tuple[Label, ...] = field(repr=False)
    drawn: tuple[Draw, ...] = field(repr=False)
    inside: Report = field(repr=False)
    items: tuple[Int64, ...] = field(repr=False)
    _results: dict[str, GroupedResult] = field(default_factory=dict, init=False, repr=False)

    def __getitem__(self, name: str) -> GroupedResult:
        """Return the result for a measure; raises ValueError for an unknown name."""
        name = measure_names.parse(name).name
        if name not in self._results:
            offsets = np.cumsum([0, *map(len, self.items)])
            per_group = exact_means_of_runs(self.inside[name].per_query, offsets)
            self._results[name] = GroupedResult(name, per_group, self.n_group, self.draws)
        return self._results[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.measures)

    @property
    def profile(self) -> TieProfile:
        """The tie profile of the queries of all groups."""
        return self.inside.profile

    @property
    def draws(self) -> int:
        """Number of times that groups were drawn."""
        return len(self.drawn)

    @property
    def n_group(self) -> int:
        """Groups in each draw."""
        return len(self.drawn[0].groups)

    @property
    def n_class(self) -> int:
        """Distinct labels, those left over included."""
        return len(self.labels)

    @property
    def left_over(self) -> tuple[tuple[Label, ...], ...]:
        """For each draw, the labels that are in no group, sorted."""
        return tuple(tuple(self.labels[place] for place in np.sort(drawn.left_over)) for drawn in self.drawn)

    def group_labels(self, repeat: int = 0) -> tuple[tuple[Label, ...], ...]:
        """Return the labels of each group of a draw, in the order in which they were drawn."""
        drawn = self.drawn[checks.whole_number(repeat, "repeat", most=self.draws - 1)]
        return tuple(tuple(self.labels[place] for place in group) for group in drawn.groups.tolist())

    def panels(self, *, confidence_level: float | None = None) -> list[Panel]:
        """Return a row for each measure; with a level, also intervals that hold however ties fall."""
        results = [self[name] for name in self.measures]
        errors = [each.errors.lower if self.profile.bounds_only else each.errors.expected for each in results]
        columns = [
            Column("measure", self.measures, "measure"),
            Column("", results, "fraction", shape="bounds"),
            Column("standard_error", errors, "fraction", "s.e."),
            *([] if confidence_level is None else [interval_column(results, confidence_level)]),
            Column("n_unit", [each.n_unit for each in results], "count", only="data"),
            Column("n_undefined", [each.n_undefined for each in results], "count", only="data"),
        ]
        return [Panel(columns, drawn=True)]

    def facts(self) -> dict[str, Any]:
        """Return the options, the counts of groups and classes, and the classes left over."""
        inside = self.inside.facts()
        about = ("distance", "ties", "singletons", "n_query", "n_singleton", "profile")
        own = self._facts_of("group_size", "n_group", "draws", "seed", "n_class", "left_over")
        return {name: inside[name] for name in about} | own

    def notes(self) -> list[str]:
        """Return notes on the draw of groups, on measures without a value, and on queries and ties."""
        often = f", {self.draws} times over" if self.draws > 1 else ""
        groups = f"{count(self.n_group, 'group', 'groups')} of {self.group_size} labels each"
        undefined = {name: self[name].n_undefined for name in self.measures}
        return [
            f"{groups}, drawn with seed {self.seed}{often}. {self._about_left_over()}",
            *(f"{name} has no value in {count(n, 'group', 'groups')}, left out of its mean."
              for name, n in undefined.items() if n),
            *about_few(min(self[name].n_unit for name in self.measures), "group"),
            *self.inside.notes(),
        ]  # fmt: skip

    def _about_left_over(self) -> str:
        left_over = self.left_over[0]  # as many in every draw
        if not left_over:
            return "No label is left over."
        said = f"{len(left_over)} of {count(self.n_class, 'label', 'labels')} left over"
        if self.draws > 1:
            return f"{said} each time."
        named = ", ".join(map(repr, left_over[:_NAMED_LABELS]))
        more = len(left_over) - _NAMED_LABELS
        return f"{said}: {named}{f' and {more} more' if more > 0 else ''}."
