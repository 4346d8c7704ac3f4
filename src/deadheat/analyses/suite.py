"""Suites: systems on several tasks, ranked by the mean over tasks, or over groups of tasks.

In come reports, {system: {task: report}}; out goes a `Suite`. Each column is a mean of means over queries, so that its
value is a weighted sum over the queries of all tasks, which tests and intervals draw within these tasks, or task by
task.

    reports ──by task, queries matched──> TaskUnits ──weights of a column──> units of the tests, strata of the intervals
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, TypeGuard, cast, get_args

import numpy as np

from deadheat.analyses.board import Board, place
from deadheat.analyses.comparison import BY, listed, matched
from deadheat.analyses.difference import ROUNDING, By, PairedTest
from deadheat.errors import InvalidTypeError, InvalidValueError
from deadheat.measures.family import Measure
from deadheat.measures.names import parse
from deadheat.reports.answer import Caution, Column, Panel
from deadheat.reports.averaging import Average, fractions
from deadheat.reports.report import Report
from deadheat.reports.statistics.intervals import FEW_UNITS, Interval, Intervals, about_few, class_sums, counted
from deadheat.reports.statistics.stratified import Stratum, stratified_intervals
from deadheat.reports.tables import count, has_ties, plain
from deadheat.support import checks
from deadheat.support.arrays import Float64
from deadheat.support.caching import cached_property
from deadheat.support.means import all_or_none
from deadheat.support.triple import ByName, Triple

Drawn = Literal["query", "task"]
Tasks = Mapping[str, Report] | ByName[Report]

DRAWN: dict[Drawn, str] = {"query": "queries", "task": "tasks"}
MEAN, MEAN_OF_GROUPS = "mean over tasks", "mean over groups"
_MOST = 8  # names in a sentence


class TaskUnits(NamedTuple):
    """The independent units of a task: sums over queries of all systems, (n_system, n_unit), and the units' sizes."""

    values: Triple[Float64]
    sizes: Float64
    unit: str  # "query" or "class"
    n_left_out: int
    caveats: tuple[str, ...]

    def stratum(self, end: str, weight: float) -> Stratum:
        return Stratum(getattr(self.values, end), self.sizes, weight)


@dataclass(frozen=True, eq=False)
class Suite(Board[dict[str, Report]]):
    """Systems on the same tasks, in the order of their ranks.

    Iterating gives the names, the best first; `suite["model"]["task"]` is a report. Printing gives a table in per cent;
    everything else is a fraction. Methods take a column of the table (`measures`) or a task as `measure`.

    Attributes
    ----------
    reports : dict of str to dict of str to Report
        By system, in the order of the ranks, and by task.
    tasks : dict of str to str
        The measure of each task.
    groups : dict of str to tuple of str
        The tasks of each group, where groups were given.
    measures : tuple of str
        The columns: "mean over tasks", preceded by "mean over groups" and followed by each group, where these were
        given. The first ranks.
    by : {"lower", "expected", "upper"}
        The value that systems are ranked and tested by.
    resample : {"query", "task"}
        The independent units of the tests: queries (or classes) within these tasks, or whole tasks.
    test : PairedTest
        The other settings of the tests.

    Examples
    --------
    >>> import deadheat as dh
    >>> hit, miss = [(0, 0, 1, 1)], [(1, 0, 1, 1)]
    >>> def report(n_hit, n_query):
    ...     groups = [hit] * n_hit + [miss] * (n_query - n_hit)
    ...     return dh.evaluate(dh.TieProfile.from_groups(groups, n_ranked=[9] * n_query), "Hit@1")
    >>> systems = {"new": {"short": report(9, 10), "long": report(45, 50)},
    ...            "old": {"short": report(6, 10), "long": report(25, 50)}}
    >>> suite = dh.leaderboard(systems)
    >>> suite.value("old").lower, suite.borda, suite.rank_intervals["old"]
    (0.55, {'new': 2.0, 'old': 0.0}, RankInterval(best=2, worst=2))
    """

    reports: dict[str, dict[str, Report]]
    tasks: dict[str, str]
    groups: dict[str, tuple[str, ...]]
    measures: tuple[str, ...]
    by: By
    resample: Drawn
    test: PairedTest = field(repr=False)
    _units_of_tasks: dict[str, TaskUnits] = field(repr=False)
    _cautions: tuple[str, ...] = field(repr=False)
    _ends: dict[tuple[str, str, str], list[Interval]] = field(default_factory=dict, init=False, repr=False)

    def _name(self, measure: str | None) -> str:
        if measure is None:
            return self.measures[0]
        return checks.choice(measure, (*self.measures, *self.tasks), "measure")

    def _parts(self, measure: str) -> list[tuple[str, ...]]:
        """Return the groups of tasks over which a column is the mean of means."""
        if measure == MEAN_OF_GROUPS and self.groups:
            return list(self.groups.values())
        if measure == MEAN:
            return [tuple(self.tasks)]
        return [self.groups.get(measure, (measure,))]

    def _result(self, name: str, measure: str) -> Triple[float]:
        results = {task: self.reports[name][task][used] for task, used in self.tasks.items()}
        return mean_of_means(results, self._parts(measure))

    def _measure(self, measure: str) -> Measure:
        return parse(next(iter(self.tasks.values())))  # a fraction, of which more is better, as those of all tasks

    def value(self, name: str, measure: str | None = None) -> Triple[float]:
        """Return the lower, expected and upper value of a system in a column or a task."""
        checks.part(self.reports, name)
        return self._result(name, self._name(measure))

    def _weights(self, measure: str) -> dict[str, float]:
        """Return the weight of each task of a column."""
        parts = self._parts(measure)
        return {task: 1 / (len(parts) * len(part)) for part in parts for task in part}

    def _units(self, measure: str, by: By) -> Float64:
        """Return what each unit adds to the value of each system: queries or classes of tasks, or whole tasks."""
        strata = [self._units_of_tasks[task].stratum(by, weight) for task, weight in self._weights(measure).items()]
        if self.resample == "task":
            return np.stack([stratum.weight * stratum.means for stratum in strata], axis=1)
        return np.concatenate([each.sums * (each.weight / math.fsum(each.sizes)) for each in strata], axis=1)

    @cached_property
    def borda(self) -> dict[str, float]:
        """Borda points: for each task, one for each system behind in the value that ranks, and half for a tie."""
        twice = np.zeros(len(self), dtype=np.int64)
        for task in self.tasks:
            values = np.array([getattr(self._result(name, task), self.by) for name in self])
            ahead = np.subtract.outer(values, values)
            not_behind = ahead >= -ROUNDING * values[:, None]
            twice += np.sum(not_behind, axis=1) + np.sum(ahead > ROUNDING * values[:, None], axis=1) - 1
        return dict(zip(self, (twice / 2).tolist(), strict=True))

    def interval(self, name: str, measure: str | None = None, *, resample: Drawn = "query") -> Intervals:
        """Return the confidence intervals of a system's mean over tasks, or of another column or a task.

        Parameters
        ----------
        name : str
        measure : str, optional
            A column or a task; by default the column that ranks.
        resample : {"query", "task"}
            "query": for other queries of the same tasks, drawn within each (Rao and Wu 1988). "task": for other tasks
            of the same kind, which are drawn with their queries and so hold the noise of queries too; within groups
            where the mean is over these. **Undefined:** NaN where no task, or no group, has two units.
        """
        checks.part(self.reports, name)
        measure, drawn = self._name(measure), cast(Drawn, checks.choice(resample, get_args(Drawn), "resample"))
        ends = Triple(*(self._intervals(measure, drawn, end)[self._number[name]] for end in Triple._fields))
        n = sum(len(stratum.sizes) for stratum in self._strata(measure, drawn, "lower"))
        unit = "task" if drawn == "task" else self._unit
        return Intervals(*ends, self.test.confidence_level, "percentile, drawn within strata", n, unit)

    def _intervals(self, measure: str, drawn: Drawn, end: str) -> list[Interval]:
        """Return the interval of each system for its lower, expected or upper value, from the same draws."""
        if end != "lower" and not any(has_ties(self._result(name, measure)) for name in self):
            return self._intervals(measure, drawn, "lower")
        if (measure, drawn, end) not in self._ends:
            test = self.test
            self._ends[measure, drawn, end] = stratified_intervals(
                self._strata(measure, drawn, end), confidence_level=test.confidence_level,
                n_resamples=test.n_resamples, seed=test.seed,
            )  # fmt: skip
        return self._ends[measure, drawn, end]

    def _strata(self, measure: str, drawn: Drawn, end: str) -> list[Stratum]:
        """Return the strata of a column: tasks of queries or classes, or groups of whole tasks."""
        if drawn == "query":
            return [self._units_of_tasks[task].stratum(end, weight) for task, weight in self._weights(measure).items()]
        parts = self._parts(measure)
        return [
            Stratum(
                np.array([[getattr(reports[task][self.tasks[task]], end) for task in part]
                          for reports in self.reports.values()]),
                np.ones(len(part)), 1 / len(parts),
            )
            for part in parts
        ]  # fmt: skip

    @property
    def _unit(self) -> str:
        """The unit within tasks: classes where all tasks have these, else queries."""
        return "class" if all(units.unit == "class" for units in self._units_of_tasks.values()) else "query"

    @property
    def _n_unit(self) -> int:
        """The number of units of the tests."""
        sizes = (len(units.sizes) for units in self._units_of_tasks.values())
        return len(self.tasks) if self.resample == "task" else sum(sizes)

    def panels(self) -> list[Panel]:
        """Return one table with a row for each system."""
        level = f"{100 * self.test.confidence_level:g} % interval"
        intervals = [
            Column("" if drawn == "query" else "tasks", self._intervals(self.measures[0], drawn, self.by),
                   "fraction", f"{level}, {title}", "interval")
            for drawn, title in DRAWN.items()
        ]  # fmt: skip
        return [self._panel(intervals, [Column("borda", list(self.borda.values()), "number", "Borda", form="g")])]

    def data(self, **options: Any) -> Panel:
        """Return a row for each system and column; `low` and `high` are the ends of the interval over queries."""
        rows = [(name, measure) for name in self for measure in self.measures]
        ends = {drawn: [self._intervals(measure, drawn, self.by)[self._number[name]] for name, measure in rows]
                for drawn in DRAWN}  # fmt: skip
        return Panel([
            *self._columns_of(rows),
            Column("", ends["query"], "fraction", shape="interval"),
            Column("tasks", ends["task"], "fraction", shape="interval"),
            Column("ahead_of", [", ".join(self.ahead_of(*row)) for row in rows]),
            Column("borda", [self.borda[name] for name, _ in rows], "number"),
        ])  # fmt: skip

    def facts(self) -> dict[str, Any]:
        """Return the settings of the tests, the tasks, and the values of each system."""
        systems = [
            {
                "name": name, "rank": self.ranks[name], "rank_interval": list(self.rank_intervals[name]),
                "borda": self.borda[name],
                "measures": {measure: self._system(name, measure) for measure in self.measures},
                "tasks": {task: plain(self._result(name, task)._asdict()) for task in self.tasks},
            }
            for name in self
        ]  # fmt: skip
        return {
            "by": {"measure": self.measures[0], "value": self.by},
            "test": {**vars(self.test), "resample": self.resample, "correction": "step-down max-T"},
            "tasks": {task: {"measure": measure, "n_unit": len(self._units_of_tasks[task].sizes),
                             "unit": self._units_of_tasks[task].unit} for task, measure in self.tasks.items()},
            "groups": {group: list(tasks) for group, tasks in self.groups.items()},
            "systems": systems,
            "could_swap": [list(pair) for pair in self.could_swap],
        }  # fmt: skip

    def _system(self, name: str, measure: str) -> dict[str, Any]:
        """Return the values of a system in a column, as JSON can hold them."""
        ends = {drawn: self._intervals(measure, drawn, self.by)[self._number[name]] for drawn in DRAWN}
        return {
            **plain(self._result(name, measure)._asdict()),
            "interval_queries": plain(list(ends["query"])), "interval_tasks": plain(list(ends["task"])),
            "ahead_of": list(self.ahead_of(name, measure)),
        }  # fmt: skip

    def notes(self) -> list[str]:
        """Return notes on what ranks and what is drawn, and cautions."""
        tied = any(has_ties(self._result(name, measure)) for name in self for measure in self.measures)
        by = f"{BY[self.by]} of " if tied else ""
        over = count(len(self.tasks), "task", "tasks")
        if self.resample == "query":
            over = f"{counted(self._n_unit, self._unit)} within {count(len(self.tasks), 'task', 'tasks')}"
        sizes = {task: len(units.sizes) for task, units in self._units_of_tasks.items()}
        small = [task for task, n in sizes.items() if 1 < n < FEW_UNITS]
        of_groups = [group for group, tasks in self.groups.items() if len(tasks) == 1]
        return [
            f"Ranked and tested by {by}the {self.measures[0]} ({self._about_measures()}); tests over {over}.",
            *self._about_values(tied, "the intervals are"),
            *self._about_tests(),
            "Intervals: of queries within these tasks, for other queries of the same tasks; of tasks, drawn with their "
            "queries, for other tasks of the same kind, which holds the noise of queries too.",
            "Borda: a point for each system behind in a task, half for a tie; no interval, since points depend on all "
            "systems.",
            *about_few(len(self.tasks), "task"),
            *(about_few(self._n_unit, self._unit) if self.resample == "query" else ()),
            *self._about_one_unit([task for task, n in sizes.items() if n == 1], "query or class", "queries"),
            *([Caution(f"Fewer than {FEW_UNITS} queries or classes in {listed(small, _MOST)}: where few such tasks "
                       "have most of the variance, intervals over queries are too narrow.")] if small else []),
            *self._about_one_unit(of_groups, "task", "tasks"),
            *self._about_smallest_p(self._n_unit),
            *self._cautions,
            *self._about_reports(),
        ]  # fmt: skip

    def explain(self) -> str:
        """Explain each part of the table, and how it is tested."""
        test, drawn = self.test, "whole tasks" if self.resample == "task" else "queries, or classes, within each task"
        return "\n".join([
            *self._explain_ranks(),
            f"{100 * test.confidence_level:g} % intervals: of {BY[self.by]}, {test.n_resamples} resamples. Of the "
            "n queries, or classes, of a task n − 1 are drawn (Rao and Wu 1988), in each task; or of n tasks n − 1, "
            "each with the value that it has. Percentiles are taken at the level of Student's t, with the degrees of "
            "freedom of Satterthwaite.",
            self._explain_letters(f"; a flip swaps {drawn}"),
        ])  # fmt: skip

    def _about_measures(self) -> str:
        """Return the measures of the tasks, the most common first."""
        used = Counter(self.tasks.values()).most_common()
        return used[0][0] if len(used) == 1 else ", ".join(f"{name} in {n}" for name, n in used)

    def _about_one_unit(self, names: list[str], unit: str, drawn: str) -> list[str]:
        if not names:
            return []
        return [Caution(f"One {unit} alone has no variance, so that intervals over {drawn} lack that of "
                        f"{listed(names, _MOST)}.")]  # fmt: skip

    def _about_reports(self) -> list[str]:
        """Return sentences on queries left out of the tests, on units, and on the remarks of reports."""
        n_left_out = sum(units.n_left_out for units in self._units_of_tasks.values())
        queries = count(n_left_out, "query", "queries")
        left_out = [f"{queries} without a value in some system left out of tests and intervals."] if n_left_out else []
        caveats = dict.fromkeys(caveat for units in self._units_of_tasks.values() for caveat in units.caveats)
        remarked = [f"{name} on {task}" for name in self for task in self.tasks if self.reports[name][task].remarks]
        remarks = [f"Reports with remarks: {listed(remarked, _MOST)}."] if remarked else []
        return [*left_out, *caveats, *remarks]


def mean_of_means(results: Mapping[str, Any], parts: Sequence[Sequence[str]]) -> Triple[float]:
    """Return the mean over groups of the mean over the tasks of each group, of lower, expected and upper."""
    means = (
        math.fsum(math.fsum(getattr(results[task], end) for task in part) / len(part) for part in parts) / len(parts)
        for end in Triple._fields
    )
    return Triple(*means)


def is_suite(reports: Any) -> TypeGuard[Mapping[str, Tasks]]:
    """Return whether a mapping has tasks, and not a report, for some system."""
    return isinstance(reports, Mapping) and any(
        isinstance(each, (Mapping, ByName)) and not isinstance(each, Report) for each in reports.values()
    )


def suite(
    systems: Mapping[str, Tasks], groups: Mapping[str, str] | None, measures: str | Iterable[str] | None, by: By,
    resample: Literal["query", "class", "task"] | None, test: PairedTest,
) -> Suite:  # fmt: skip
    """Return the suite of reports by system and task: see `deadheat.leaderboard`."""
    checks.choice(by, get_args(By), "by")
    if resample is not None:
        checks.choice(resample, (*get_args(Average), "task"), "resample")
    if test.method != "percentile":
        raise InvalidValueError("method", f"must be 'percentile' for tasks, but is {test.method!r}")
    complete, cautions = _complete(systems)
    tasks = {task: _measure_of(task, complete, measures) for task in next(iter(complete.values()))}
    for name, reports in complete.items():
        for task, measure in tasks.items():
            if math.isnan(getattr(reports[task][measure], by)):
                what = f"have a value of {measure} by {by}, but have none"
                raise InvalidValueError(f"reports[{name!r}][{task!r}]", f"must {what}")
    grouped = {} if groups is None else _grouped(tasks, groups)
    columns = (MEAN_OF_GROUPS, MEAN, *grouped) if grouped else (MEAN,)
    parts = list(grouped.values()) or [tuple(tasks)]
    means = {
        name: mean_of_means({task: reports[task][measure] for task, measure in tasks.items()}, parts)
        for name, reports in complete.items()
    }
    used = parse(next(iter(tasks.values())))
    ranked = {name: complete[name] for name in sorted(complete, key=lambda name: place(means[name], used, by, name))}
    drawn: Drawn = "task" if resample == "task" else "query"
    units = {
        task: _task_units(
            task, {name: reports[task] for name, reports in ranked.items()}, measure,
            None if resample == "task" else resample,
        )
        for task, measure in tasks.items()
    }  # fmt: skip
    return Suite(ranked, tasks, grouped, columns, by, drawn, test, units, cautions)


def _complete(systems: Mapping[str, Tasks]) -> tuple[dict[str, dict[str, Report]], tuple[str, ...]]:
    """Return the systems that have all tasks, with these in one order, and a caution on each of the others."""
    given: dict[str, dict[str, Report]] = {}
    for name, reports in systems.items():
        if not isinstance(name, str) or not name.strip():
            raise InvalidTypeError("reports", f"must have names that are not empty, but has {name!r}")
        if isinstance(reports, Report) or not isinstance(reports, (Mapping, ByName)):
            rule = f"must be a mapping of tasks to reports, as other systems have, but is {type(reports).__name__}"
            raise InvalidTypeError(f"reports[{name!r}]", rule)
        given[name] = dict(reports.items())
        for task, report in given[name].items():
            if not isinstance(task, str) or not task.strip():
                raise InvalidTypeError(f"reports[{name!r}]", f"must have tasks that are not empty, but has {task!r}")
            if not isinstance(report, Report):
                rule = f"must be a Report, but is {type(report).__name__}"
                raise InvalidTypeError(f"reports[{name!r}][{task!r}]", rule)
            if report.weights is not None:
                rule = "must have no weights of queries, which suites do not support"
                raise InvalidValueError(f"reports[{name!r}][{task!r}]", rule)
    tasks = dict.fromkeys(task for reports in given.values() for task in reports)
    lacking = {name: [task for task in tasks if task not in reports] for name, reports in given.items()}
    cautions = tuple(
        Caution(f"{name} is left out, as it lacks {count(len(missing), 'task', 'tasks')}: {listed(missing, _MOST)}.")
        for name, missing in lacking.items() if missing
    )  # fmt: skip
    complete = {name: {task: given[name][task] for task in tasks} for name in given if not lacking[name]}
    if len(complete) < 2 or not tasks:
        fewest = next((name for name in given if lacking[name]), None)
        but = f"but got {len(complete)}"
        more = f": {fewest} lacks {listed(lacking[fewest], _MOST)}" if fewest is not None else ""
        raise InvalidValueError("reports", f"must have at least two systems with all tasks, {but}{more}")
    return complete, cautions


def _measure_of(
    task: str, systems: Mapping[str, Mapping[str, Report]], measures: str | Iterable[str] | None
) -> str:  # fmt: skip
    """Return the one measure of a task: the one asked for, or the first that all systems show."""
    first, *others = (reports[task] for reports in systems.values())
    if measures is not None:
        names = fractions(measures, first.rel)
        if len(names) > 1:
            raise InvalidValueError("measures", f"must be one measure for tasks, but are {', '.join(names)}")
        return names[0]
    shown = next((name for name in first.measures if all(name in other.measures for other in others)), None)
    if shown is None:
        raise InvalidValueError("reports", f"must show a measure in common on {task}, or measures be given")
    return fractions(shown)[0]


def _grouped(tasks: Iterable[str], groups: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """Return the tasks of each group; every task has one, and other tasks of the mapping do not count."""
    if not isinstance(groups, Mapping):
        raise InvalidTypeError("groups", f"must be a mapping of tasks to groups, but is {type(groups).__name__}")
    alone = [task for task in tasks if task not in groups]
    if alone:
        raise InvalidValueError("groups", f"must have a group for each task, but have none for {listed(alone, _MOST)}")
    grouped: dict[str, tuple[str, ...]] = {}
    for task in tasks:
        name = str(groups[task])
        grouped[name] = (*grouped.get(name, ()), task)
    taken = next((name for name in grouped if name in (MEAN, MEAN_OF_GROUPS, *tasks)), None)
    if taken is not None:
        raise InvalidValueError("groups", f"must not have the name of a task or a column, but has {taken!r}")
    return grouped


def _task_units(task: str, reports: Mapping[str, Report], measure: str, resample: Average | None) -> TaskUnits:
    """Return the units of a task over the queries that have a value in all systems, matched with the first one's."""
    (best, first), *others = reports.items()
    unit = common_unit(reports.values(), resample)
    places, averagings = [np.arange(first.n_query)], [first._averaging]
    for name, report in others:
        place_in, _, averaging = matched(first, report, f"{best} and {name} on {task}")
        places.append(place_in)
        averagings.append(averaging)
    averaging = next((each for each in averagings if each.labels is not None), averagings[0])
    rows = [
        np.stack([np.append(values, np.nan)[place_in] for values in report[measure].per_query])
        for report, place_in in zip(reports.values(), places, strict=True)
    ]  # (3, n_query) of each system
    kept = ~np.isnan([row[0] for row in rows]).any(axis=0)
    if not kept.any():
        raise InvalidValueError(task, f"must have a query with a value of {measure} in all systems, but has none")
    n_left_out = int(np.count_nonzero(~np.isnan([row[0] for row in rows]).all(axis=0))) - int(kept.sum())
    values = np.stack([np.stack(all_or_none(Triple(*row[:, kept]))) for row in rows], axis=1)
    clusters, sizes = averaging.clusters(unit), np.ones(int(kept.sum()))
    if clusters is not None:
        n_end, n_system, _ = values.shape
        sums, sizes = class_sums(values.reshape(n_end * n_system, -1), clusters[kept])
        sums, sizes = (sums, sizes) if first.average == "query" else (sums / sizes, np.ones(len(sizes)))
        values = sums.reshape(n_end, n_system, -1)
    caveats = dict.fromkeys(caveat for each in averagings for caveat in each.caveats(resample))
    return TaskUnits(Triple(*values), sizes, unit, n_left_out, tuple(caveats))


def common_unit(reports: Iterable[Report], resample: Average | None) -> Average:
    """Return the unit of several reports: by default classes if one of them needs that and all have labels."""
    if resample is not None:
        return resample
    listed_reports = list(reports)
    by_class = any(report._averaging.units(None) == "class" for report in listed_reports)
    return "class" if by_class and all(report.labels is not None for report in listed_reports) else "query"
