"""Leaderboards: systems in order of rank, their significant differences, and the pairs that ties alone could swap."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypedDict, Unpack, get_args, overload

import numpy as np

from deadheat.analyses.board import Board, Pair, place
from deadheat.analyses.comparison import BY, Comparison, about, common_means, compare
from deadheat.analyses.difference import By, PairedTest
from deadheat.analyses.suite import Suite, Tasks, common_unit, is_suite, suite
from deadheat.errors import InvalidTypeError, InvalidValueError
from deadheat.measures.family import Measure
from deadheat.measures.names import parse
from deadheat.reports.answer import Column, Panel
from deadheat.reports.averaging import measure_names
from deadheat.reports.report import Report
from deadheat.reports.result import Result
from deadheat.reports.runs import UNION, over_union
from deadheat.reports.statistics.intervals import Interval, Intervals, about_few, counted
from deadheat.reports.tables import has_ties, plain
from deadheat.support import checks
from deadheat.support.arrays import Float64
from deadheat.support.floats import plain_floats
from deadheat.support.triple import Triple


@dataclass(frozen=True, eq=False)
class Leaderboard(Board[Report]):
    """Systems in the order of their ranks.

    Iterating gives the names, the best first; `board["name"]` is the report of one. Printing gives a table in per cent,
    with a raised letter for each system that a value is significantly ahead of; everything else is a fraction.

    Attributes
    ----------
    reports : dict of str to Report
        By name, in the order of the ranks.
    measures : tuple of str
        The measures in the table; systems are ranked by the first.
    by : str
        The value that systems are ranked and tested by: "lower", "expected" or "upper".
    test : PairedTest
        Settings of the paired tests.

    Examples
    --------
    >>> import numpy as np
    >>> import deadheat as dh
    >>> rng = np.random.default_rng(0)
    >>> labels = np.repeat(np.arange(20), 5)
    >>> points = rng.normal(size=(20, 8))[labels] + 0.7 * rng.normal(size=(100, 8))
    >>> files = {"float32": points, "rounded": np.rint(points), "half": points[:, :4]}
    >>> reports = {name: dh.evaluate(rows, labels, measures="mAP") for name, rows in files.items()}
    >>> print(dh.leaderboard(reports))
    system      rank  ranks (95 %)                 mAP (%)   95 % interval
    a  float32     1             1                 62.29ᵇᶜ  [51.61, 72.59]
    b  rounded     2             2  57.42 [56.63, 58.23]ᶜ   [46.22, 66.80]
    c  half        3             3                 44.54    [33.87, 54.96]
    <BLANKLINE>
    Ranked and tested by the lower bounds of mAP; tests over 20 classes.
    Per cent; expected [lower, upper] over all tie-breakings; the interval is of the lower bounds.
    Raised letters: significantly ahead of that system (p < 0.05, adjusted for 3 pairs by step-down max-T).
    Every pair of systems is separated.
    """

    reports: dict[str, Report]
    measures: tuple[str, ...]
    by: By
    test: PairedTest = field(repr=False)
    _to_first: dict[str, Comparison] = field(repr=False)  # of each other system with the best one
    _caveats: tuple[str, ...] = field(repr=False)
    _intervals: dict[Pair, Intervals] = field(default_factory=dict, init=False, repr=False)

    def comparison(self, a: str, b: str) -> Comparison:
        """Return the comparison of two systems; the better ranked one is A, the other B."""
        first, second = self._ordered(a, b)
        test = self.test
        return compare(
            self.reports[first], self.reports[second], names=(first, second), measures=self.measures, by=self.by,
            resample="class" if test.resample == "class" else "query", confidence_level=test.confidence_level,
            method=test.method, n_resamples=test.n_resamples, seed=test.seed,
        )  # fmt: skip

    def _result(self, name: str, measure: str) -> Result:
        return self.reports[name][measure]

    def _measure(self, measure: str) -> Measure:
        return parse(measure)

    def _units(self, measure: str, by: By) -> Float64:
        """Return the sum of each system over the queries of each unit, of the queries that have a value in all."""
        differences = [comparison[measure].tested_by(by) for comparison in self._to_first.values()]
        rows = np.stack([difference.per_tested for difference in differences])
        common = np.asarray(~np.isnan(rows).any(axis=0))
        ahead = differences[0].units_of([difference.tested_values for difference in differences], common)
        return np.vstack([np.zeros(ahead.shape[1]), 0.0 - ahead])  # only differences count

    def interval(self, name: str, measure: str | None = None) -> Intervals:
        """Return the confidence intervals of a system's means, over the units that the tests swap."""
        report, key = checks.part(self.reports, name), (name, self._name(measure))
        if key not in self._intervals:
            test = self.test
            self._intervals[key] = report.interval(
                key[1], resample=test.resample, confidence_level=test.confidence_level, method=test.method,
                n_resamples=test.n_resamples, seed=test.seed,
            )  # fmt: skip
        return self._intervals[key]

    def _ends(self, name: str, measure: str | None = None) -> Interval:
        """Return the interval of the value that ranks."""
        ends: Interval = getattr(self.interval(name, measure), self._end(measure))
        return ends

    def _name(self, measure: str | None) -> str:
        return self.measures[0] if measure is None else next(iter(self.reports.values()))._own_name(measure)

    def panels(self) -> list[Panel]:
        """Return one table with a row for each system."""
        level = f"{100 * self.test.confidence_level:g} % interval"
        ends = [self._ends(name) for name in self]
        return [self._panel([Column("", ends, self._measure(self.measures[0]).unit, level, "interval")])]

    def data(self, **options: Any) -> Panel:
        """Return a row for each system and measure; `low` and `high` are the ends of the interval."""
        rows = [(name, measure) for name in self for measure in self.measures]
        results = [self.reports[name][measure] for name, measure in rows]
        return Panel([
            *self._columns_of(rows),
            Column("", [self._ends(*row) for row in rows], "fraction", shape="interval"),
            Column("ahead_of", [", ".join(self.ahead_of(*row)) for row in rows]),
            Column("n_query", [result.n_query for result in results], "count"),
        ], kinds=[result.measure.unit for result in results])  # fmt: skip

    def notes(self) -> list[str]:
        """Return notes on the ranking measure, the letters and marks, and caveats; `explain` has the rest."""
        tied = any(has_ties(report[name]) for report in self.reports.values() for name in self.measures)
        by = f"{BY[self._end()]} of " if tied else ""
        less = ", of which less is better" if self._sign < 0 else ""
        return [
            f"Ranked and tested by {by}{self.measures[0]}{less}; tests over {self._counted_units()}.",
            *self._about_values(tied, "the interval is"),
            *next(iter(self.reports.values()))._about_weights(),
            *self._about_tests(),
            *([UNION] if self._unknown else []),
            *about_few(min(self._n_units()), self.test.resample),
            *self._about_smallest_p(min(self._n_units())),
            *self._caveats,
            *(f"{name}: {remark}" for name, report in self.reports.items() for remark in report.remarks),
        ]

    @property
    def _unknown(self) -> bool:
        """True if unjudged documents are unknown."""
        return next(iter(self.reports.values())).profile.n_unjudged is not None

    def _n_units(self) -> list[int]:
        """Return the number of units of each system's comparison with the first, by the measure that ranks."""
        return [each[self.measures[0]].n_unit for each in self._to_first.values()]

    def _counted_units(self) -> str:
        numbers = self._n_units()
        least = "" if min(numbers) == max(numbers) else "at least "
        return f"{least}{counted(min(numbers), self.test.resample)}"

    def explain(self) -> str:
        """Explain each part of the table, and how it is tested."""
        test = self.test
        return "\n".join([
            *self._explain_ranks(),
            f"{100 * test.confidence_level:g} % interval: of {BY[self._end()]}, for the population that the units "
            f"were drawn from; {test.method} bootstrap over {self._counted_units()}, {test.n_resamples} resamples. "
            "Intervals of two systems may overlap although they differ significantly, since they are of the same "
            "queries.",
            self._explain_letters(),
            "`board.comparison(a, b)` (`deadheat compare A B`) has the differences of a pair, their intervals and both "
            "p-values.",
        ])  # fmt: skip

    def facts(self) -> dict[str, Any]:
        """Return the settings of the tests, the systems, and the pairs."""
        return {
            "by": {"measure": self.measures[0], "value": self.by},
            "test": {**vars(self.test), "correction": "step-down max-T", "n_pair": len(self) * (len(self) - 1) // 2},
            "systems": [self._system(name) for name in self],
            "could_swap": [list(pair) for pair in self.could_swap],
            "pairs": [self._pair(*pair) for pair in itertools.combinations(self, 2)],
        }

    def _system(self, name: str) -> dict[str, Any]:
        report = self.reports[name]
        values = {
            measure: {
                **{part: getattr(report[measure], part) for part in Triple._fields},
                "interval": self._ends(name, measure),
                "ahead_of": self.ahead_of(name, measure),
                "n_query": report[measure].n_query,
            }
            for measure in self.measures
        }
        remarks = list(report.remarks)
        ranks = {"rank": self.ranks[name], "rank_interval": list(self.rank_intervals[name])}
        return {"name": name, **ranks, **about(report), "remarks": remarks, "measures": plain(values)}

    def _pair(self, a: str, b: str) -> dict[str, Any]:
        return {"a": a, "b": b, "pvalue_adjusted": {name: self.pvalue(a, b, name) for name in self.measures}}


class _Settings(TypedDict, total=False):
    """The other arguments of `leaderboard`."""

    groups: Mapping[str, str] | None
    measures: str | Iterable[str] | None
    by: By
    resample: Literal["query", "class", "task"] | None
    confidence_level: float
    method: str
    n_resamples: int
    seed: int


@overload
def leaderboard(reports: Mapping[str, Report], **settings: Unpack[_Settings]) -> Leaderboard: ...
@overload
def leaderboard(reports: Mapping[str, Tasks], **settings: Unpack[_Settings]) -> Suite: ...
@plain_floats
def leaderboard(
    reports: Mapping[str, Report] | Mapping[str, Tasks],
    *,
    groups: Mapping[str, str] | None = None,
    measures: str | Iterable[str] | None = None,
    by: By = "lower",
    resample: Literal["query", "class", "task"] | None = None,
    confidence_level: float = 0.95,
    method: str = "percentile",
    n_resamples: int = 9999,
    seed: int = 0,
) -> Leaderboard | Suite:
    """Rank systems on the same queries, with intervals, significance tests, and the pairs that ties could swap.

    Parameters
    ----------
    reports : mapping of str to Report, or to {task: Report}
        At least two reports by name, on the same queries and with the same average, as for `compare`. With a mapping of
        tasks for each system (or what `deadheat.integrations.mteb.evaluate_folder` returns), systems are ranked by the
        mean over tasks; a system that lacks a task is left out, which a note says.
    groups : mapping of str to str, optional
        The group of each task, such as its type. Systems are then ranked by the mean over groups of the mean over the
        tasks of each, and the mean over tasks and that of each group are further columns.
    measures : str or iterable of str, optional
        The measures in the table; by default those that all reports show. Systems are ranked by the first. For tasks,
        one measure for all of them; by default the first that the reports on a task show.
    by : {"lower", "expected", "upper"}
        The value to rank and to test by. A system reaches its lower bound however a sort breaks its ties, so that a
        letter means a higher guaranteed score.
    resample : {"query", "class", "task"}, optional
        The independent units, which tests swap and the bootstrap draws: queries, or whole classes. By default classes,
        if labels are known and there is no separate gallery, since the queries of a class are then correlated. Of
        tasks, these are swapped within each: what holds, holds for these tasks. With "task" whole tasks are swapped,
        for a claim on other tasks of the same kind. A suite shows the intervals of both.
    confidence_level : float
        The level of each single interval, strictly between 0 and 1.
    method : {"percentile", "BCa"}
        The bootstrap for the intervals; see `deadheat.reports.statistics.intervals`. Tasks take "percentile" alone.
    n_resamples : int
        The number of bootstrap resamples, and of random swaps in a permutation test.
    seed : int
        The seed of all random draws. The same seed gives the same result on any machine.

    Returns
    -------
    Leaderboard or Suite
        Tests are run on demand, once for each measure. Of tasks, a `deadheat.analyses.suite.Suite`.

    Raises
    ------
    ValueError, TypeError
        If there are fewer than two reports, or they are not of the same queries; if fewer than two systems have all
        tasks.

    Notes
    -----
    **Ties:** two systems whose bounds overlap could change places by their ties alone. The table marks them, unless one
    of the two has ties that leave 10 points or more undecided: that one is named once.

    **Significance:** of all pairs, for each measure separately, by sign flips that all pairs share, adjusted by the
    step-down max-T (`deadheat.reports.statistics.joint`). So the chance that any letter in a column of the table is
    false is at most 1 − `confidence_level`, for any number of systems.

    Examples
    --------
    Three systems, eight queries, one relevant item each. The first ranks it first, the second ties it with another item
    in half of the queries, and the third ranks it second:

    >>> import deadheat as dh
    >>> groups = {"sure": [(0, 0, 1, 1)] * 8, "torn": [(0, 0, 1, 1), (0, 0, 2, 1)] * 4, "late": [(1, 0, 1, 1)] * 8}
    >>> profiles = {name: dh.TieProfile.from_groups([[row] for row in rows], [3] * 8) for name, rows in groups.items()}
    >>> board = leaderboard({name: dh.evaluate(profile, "MRR", labels=range(8)) for name, profile in profiles.items()})
    >>> board.ranks
    {'sure': 1, 'torn': 2, 'late': 3}
    >>> board.ahead_of("sure"), board.could_swap
    (('late',), ())
    """
    if is_suite(reports):
        test = PairedTest(confidence_level=confidence_level, method=method, n_resamples=n_resamples, seed=seed)
        return suite(reports, groups, measures, by, resample, test)
    reports = _require_reports(reports)
    reports = dict(zip(reports, over_union([*reports.values()]), strict=True))
    if groups is not None:
        raise InvalidValueError("groups", "must be left out unless reports are by system and task")
    if isinstance(resample, str) and resample == "task":
        raise InvalidValueError("resample", "must be query or class unless reports are by system and task")
    if measures is None:
        shown = common_means(reports.values())
        if not shown:
            raise InvalidValueError("reports", "must show a measure in common, or measures be given")
    else:
        shown = measure_names(measures, next(iter(reports.values())).rel)
    checks.choice(by, get_args(By), "by")
    for name, report in reports.items():
        ranking = report[shown[0]]
        if by == "expected" and math.isnan(ranking.expected) and not math.isnan(ranking.lower):
            raise InvalidValueError("by", f'must be "lower" or "upper", because {name!r} has no expected values')
    units = common_unit(reports.values(), resample)
    names = sorted(reports, key=lambda name: place(reports[name][shown[0]], parse(shown[0]), by, name))
    ranked = {name: reports[name] for name in names}
    best, *behind = ranked
    to_first = {
        name: compare(
            ranked[best], ranked[name], names=(best, name), measures=shown, by=by, resample=units,
            confidence_level=confidence_level, method=method, n_resamples=n_resamples, seed=seed,
        )
        for name in behind
    }  # fmt: skip
    caveats = (caveat for report in ranked.values() for caveat in report._averaging.caveats(resample))
    return Leaderboard(ranked, shown, by, to_first[behind[0]].test, to_first, tuple(dict.fromkeys(caveats)))


def _require_reports(reports: Mapping[str, Any]) -> Mapping[str, Report]:
    if not isinstance(reports, Mapping):
        raise InvalidTypeError("reports", f"must be a mapping of names to reports, but is {type(reports).__name__}")
    if len(reports) < 2:
        raise InvalidValueError("reports", f"must be at least two, but got {len(reports)}")
    for name, report in reports.items():
        if not isinstance(name, str) or not name.strip():
            raise InvalidTypeError("reports", f"must have names that are not empty, but has {name!r}")
        if not isinstance(report, Report):
            raise InvalidTypeError(f"reports[{name!r}]", f"must be a Report, but is {type(report).__name__}")
    return reports
