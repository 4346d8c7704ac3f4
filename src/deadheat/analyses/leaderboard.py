"""Leaderboards: systems in order of rank, their significant differences, and the pairs that ties alone could swap."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, get_args

import numpy as np

from deadheat.analyses.comparison import BY, Comparison, about, common_means, compare, in_per_cent, listed
from deadheat.analyses.difference import By, PairedTest
from deadheat.errors import InvalidTypeError, InvalidValueError
from deadheat.measures.family import End, Measure
from deadheat.measures.names import parse
from deadheat.reports.answer import Answer, Caution, Column, Panel
from deadheat.reports.averaging import Average, measure_names
from deadheat.reports.report import Report
from deadheat.reports.statistics import joint, permutation
from deadheat.reports.statistics.intervals import Intervals, about_few, counted
from deadheat.reports.statistics.joint import RankInterval
from deadheat.reports.tables import LETTERS, count, has_ties, plain, raised
from deadheat.support import checks
from deadheat.support.arrays import Float64
from deadheat.support.caching import cached_property
from deadheat.support.floats import plain_floats
from deadheat.support.triple import Triple

Pair = tuple[str, str]

_LISTED = 4  # pairs that are named below the table
_WIDE = 0.1  # of a measure: a system whose own ties leave more undecided is named once


@dataclass(frozen=True, eq=False)
class Leaderboard(Answer):
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
    b  rounded     2             2  57.42 [56.63, 58.23]ᶜ   [47.15, 67.40]
    c  half        3             3                 44.54    [33.87, 54.96]
    <BLANKLINE>
    Ranked and tested by the lower bounds of mAP; tests over 20 classes.
    Per cent; expected [lower, upper] over all tie-breakings.
    Raised letters: significantly ahead of that system (p < 0.05, adjusted for 3 pairs by step-down max-T).
    Every pair of systems is separated.
    """

    reports: dict[str, Report]
    measures: tuple[str, ...]
    by: By
    _to_first: dict[str, Comparison] = field(repr=False)  # of each other system with the best one
    _caveats: tuple[str, ...] = field(repr=False)
    _pvalues: dict[tuple[str, str], Float64] = field(default_factory=dict, init=False, repr=False)
    _intervals: dict[Pair, Intervals] = field(default_factory=dict, init=False, repr=False)

    def __getitem__(self, name: str) -> Report:
        return checks.part(self.reports, name)

    def __iter__(self) -> Iterator[str]:
        return iter(self.reports)

    def __len__(self) -> int:
        return len(self.reports)

    @property
    def test(self) -> PairedTest:
        """Settings of the paired tests."""
        return next(iter(self._to_first.values())).test

    @cached_property
    def _measure(self) -> Measure:
        """The measure that ranks."""
        return parse(self.measures[0])

    @property
    def _end(self) -> End:
        return self._measure.end(self.by)

    @cached_property
    def ranks(self) -> dict[str, int]:
        """The rank of each system, from 1; systems with equal values share a rank."""
        values = [getattr(report[self.measures[0]], self._end) for report in self.reports.values()]
        ranks = [1]
        for number in range(1, len(values)):
            ranks.append(ranks[-1] if values[number] == values[number - 1] else number + 1)
        return dict(zip(self.reports, ranks, strict=True))

    @cached_property
    def rank_intervals(self) -> dict[str, RankInterval]:
        """The best and the worst rank of each system by the first measure that the tests leave open, together.

        The best is 1 + the number of systems that are significantly ahead of it, the worst is n − the number that it
        is significantly ahead of. All hold at once with probability `test.confidence_level`.
        """
        ranks = joint.rank_intervals(self._joint(self.measures[0], self.by), self.test.alpha)
        return dict(zip(self, ranks, strict=True))

    @cached_property
    def could_swap(self) -> tuple[Pair, ...]:
        """Pairs whose order ties alone could reverse: the second one's upper value is above the first one's lower."""
        results = {name: report[self.measures[0]] for name, report in self.reports.items()}
        pairs, sign = itertools.combinations(self, 2), self._measure.sign
        worst, best = (self._measure.end(by) for by in ("lower", "upper"))
        return tuple((a, b) for a, b in pairs if sign * getattr(results[b], best) > sign * getattr(results[a], worst))

    @cached_property
    def left_open(self) -> dict[str, float]:
        """Systems whose ties leave 10 points or more of the first measure undecided, and how much; a fraction."""
        if self._measure.unit != "fraction":
            return {}
        widths = {name: report[self.measures[0]].upper - report[self.measures[0]].lower for name, report in
                  self.reports.items()}  # fmt: skip
        return {name: width for name, width in widths.items() if width >= _WIDE}

    def comparison(self, a: str, b: str) -> Comparison:
        """Return the comparison of two systems; the better ranked one is A, the other B."""
        first, second = self._ordered(a, b)
        test = self.test
        return compare(
            self.reports[first], self.reports[second], names=(first, second), measures=self.measures, by=self.by,
            resample="class" if test.resample == "class" else "query", confidence_level=test.confidence_level,
            method=test.method, n_resamples=test.n_resamples, seed=test.seed,
        )  # fmt: skip

    def _ordered(self, a: str, b: str) -> Pair:
        """Return two different systems, the better ranked one first."""
        for name, argument in ((a, "a"), (b, "b")):
            checks.part(self.reports, name, argument)
        if a == b:
            raise InvalidValueError("b", f"must be another system than a, but both are {checks.shown(a)}")
        return (a, b) if self._number[a] < self._number[b] else (b, a)

    @cached_property
    def _number(self) -> dict[str, int]:
        return {name: number for number, name in enumerate(self)}

    def pvalue(self, a: str, b: str, measure: str | None = None, *, by: By | None = None) -> float:
        """Return the p-value of two systems by the value that ranks, or by another one, adjusted for all pairs.

        The measure is the one that ranks, or another one under any of its names. It is the smaller p-value of the two
        directions, from the step-down max-T of `deadheat.reports.statistics.joint`.
        """
        first, second = self._ordered(a, b)
        pvalues = self._joint(self._name(measure), self.by if by is None else by)
        i, j = self._number[first], self._number[second]
        return float(min(pvalues[i, j], pvalues[j, i]))

    def ahead_of(self, name: str, measure: str | None = None, *, by: By | None = None) -> tuple[str, ...]:
        """Return the systems that this one is significantly ahead of, by the value that ranks or another one."""
        checks.part(self.reports, name)
        pvalues = self._joint(self._name(measure), self.by if by is None else by)[self._number[name]]
        return tuple(other for other, p in zip(self, pvalues, strict=True) if p < self.test.alpha)

    def _joint(self, measure: str, by: By) -> Float64:
        """Return the adjusted p-value of each ordered pair, (n_system, n_system); small where the first is better."""
        if (measure, by) not in self._pvalues:
            values = np.stack([*self._values(measure, by)])
            self._pvalues[measure, by] = joint.adjusted_pvalues(values, self.test.n_resamples, self.test.seed)
        return self._pvalues[measure, by]

    def _values(self, measure: str, by: By) -> Iterator[Float64]:
        """Yield the sum of each system over the queries of each unit, of the queries that have a value in all."""
        differences = [comparison[measure].tested_by(by) for comparison in self._to_first.values()]
        rows = np.stack([difference.per_tested for difference in differences])
        common = np.asarray(~np.isnan(rows).any(axis=0))
        units = [difference.units_of(common) for difference in differences]
        yield np.zeros_like(units[0])  # the first system; only differences count
        yield from (0.0 - unit for unit in units)

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

    def _name(self, measure: str | None) -> str:
        return self.measures[0] if measure is None else next(iter(self.reports.values()))._own_name(measure)

    def panels(self) -> list[Panel]:
        """Return one table with a row for each system."""
        level, letters = f"{100 * self.test.confidence_level:g} % interval", self._letter.values()
        marked = set(itertools.chain(*self._swaps_of_both))
        ranks = [f"{rank}{'~' if name in marked else ' ' if marked else ''}" for name, rank in self.ranks.items()]
        open_ranks = [str(best) if best == worst else f"{best}-{worst}" for best, worst in self.rank_intervals.values()]
        first, *others = (
            Column(measure, [report[measure] for report in self.reports.values()], parse(measure).unit, shape="value",
                   marks=[self._letters_behind(name, measure) for name in self])
            for measure in self.measures
        )  # fmt: skip
        return [Panel([
            Column("system", [f"{letter}  {name}" for name, letter in zip(self, letters, strict=True)]),
            Column("rank", ranks),
            Column("ranks", open_ranks, title=f"ranks ({100 * self.test.confidence_level:g} %)"),
            first,
            Column("", [self.interval(name).expected for name in self], self._measure.unit, level, "interval"),
            *others,
        ], "each", key="", drawn=True)]  # fmt: skip

    def _letters_behind(self, name: str, measure: str) -> str:
        """Return the raised letters of the systems that this one is ahead of; of many, runs as first-last."""
        numbers = [self._number[other] for other in self.ahead_of(name, measure)]
        letters = list(self._letter.values())
        if len(self) <= len(LETTERS):
            return raised(letters[number] for number in numbers)
        gaps = [0, *(i for i in range(1, len(numbers)) if numbers[i] > numbers[i - 1] + 1), len(numbers)]
        runs = [numbers[i:j] for i, j in itertools.pairwise(gaps) if j > i]
        return raised(letters[run[0]] + (f"-{letters[run[-1]]}" if len(run) > 1 else "") for run in runs)

    @cached_property
    def _letter(self) -> dict[str, str]:
        return dict(zip(self.reports, _letters(len(self)), strict=True))

    def data(self, **options: Any) -> Panel:
        """Return a row for each system and measure; `low` and `high` are the ends of the interval."""
        rows = [(name, measure) for name in self for measure in self.measures]
        results = [self.reports[name][measure] for name, measure in rows]
        return Panel([
            Column("rank", [self.ranks[name] for name, _ in rows], "rank"),
            Column("system", [name for name, _ in rows]),
            Column("best_rank", [self.rank_intervals[name].best for name, _ in rows], "rank"),
            Column("worst_rank", [self.rank_intervals[name].worst for name, _ in rows], "rank"),
            Column("measure", [measure for _, measure in rows], "measure"),
            Column("", results, "fraction", shape="bounds"),
            Column("", [self.interval(*row).expected for row in rows], "fraction", shape="interval"),
            Column("ahead_of", [", ".join(self.ahead_of(*row)) for row in rows]),
            Column("n_query", [result.n_query for result in results], "count"),
        ], kinds=[result.measure.unit for result in results])  # fmt: skip

    def notes(self) -> list[str]:
        """Return notes on the ranking measure, the letters and marks, and caveats; `explain` has the rest."""
        tied = any(has_ties(report[name]) for report in self.reports.values() for name in self.measures)
        values = "expected [lower, upper] over all tie-breakings" if tied else "no tie changes any value"
        by = f"{BY[self._end]} of " if tied else ""
        less = ", of which less is better" if self._measure.sign < 0 else ""
        return [
            f"Ranked and tested by {by}{self.measures[0]}{less}; tests over {self._units()}.",
            *in_per_cent(list(map(parse, self.measures)), values),
            *next(iter(self.reports.values()))._about_weights(),
            f"Raised letters: significantly ahead of that system (p < {self.test.alpha:g}, adjusted for "
            f"{count(len(self) * (len(self) - 1) // 2, 'pair', 'pairs')} by step-down max-T).",
            *self._about_ranks(),
            *self._about_expected(),
            *self._about_open(),
            *self._about_swaps(),
            *map(Caution, about_few(min(self._n_units()), self.test.resample)),
            *self._about_smallest_p(),
            *self._caveats,
            *(f"{name}: {remark}" for name, report in self.reports.items() for remark in report.remarks),
        ]

    def _about_ranks(self) -> list[str]:
        """Return a sentence on the blocks of ranks in which no pair is separated."""
        blocks = joint.inseparable_blocks(self._joint(self.measures[0], self.by), self.test.alpha)
        if not blocks:
            return ["Every pair of systems is separated."]
        spans = listed([f"{first + 1} to {last + 1}" for first, last in blocks])
        return [f"Ranks {spans} are not separable: no pair within them is significantly different."]

    def _about_expected(self) -> list[str]:
        """Return a sentence that names pairs whose expected values are significantly the other way."""
        if self.by == "expected":
            return []
        expected = [report[self.measures[0]].expected for report in self.reports.values()]
        if any(map(math.isnan, expected)):  # a tolerance
            return []
        pairs = [f"{b} is ahead of {a}" for a, b in self.could_swap if a in self.ahead_of(b, by="expected")]
        return [f"By the expected values, {'; '.join(_some(pairs))}."] if pairs else []

    @cached_property
    def _swaps_of_both(self) -> list[Pair]:
        """Pairs that ties could swap although neither system's own ties leave much open."""
        return [pair for pair in self.could_swap if not self.left_open.keys() & set(pair)]

    def _about_open(self) -> list[str]:
        points = [f"{100 * width:.0f} points of {name}" for name, width in self.left_open.items()]
        return [f"Ties leave undecided: {'; '.join(_some(points))}."] if points else []

    def _n_units(self) -> list[int]:
        """Return the number of units of each system's comparison with the first, by the measure that ranks."""
        return [each[self.measures[0]].n_unit for each in self._to_first.values()]

    def _units(self) -> str:
        numbers = self._n_units()
        least = "" if min(numbers) == max(numbers) else "at least "
        return f"{least}{counted(min(numbers), self.test.resample)}"

    def _about_swaps(self) -> list[str]:
        pairs = [f"{a} and {b}" for a, b in self._swaps_of_both]
        return [f"~ ties alone could swap {'; '.join(_some(pairs))}."] if pairs else []

    def _about_smallest_p(self) -> list[str]:
        """Return a note if no difference, however large, could be significant."""
        n_unit, n_resamples = min(self._n_units()), self.test.n_resamples
        every = permutation.tries_every_swap(n_unit, n_resamples)
        smallest = 2.0 ** (1 - n_unit) if every else 1 / (n_resamples + 1)
        if smallest < self.test.alpha:
            return []
        remedy = "there are too few units" if every else "raise n_resamples"
        return [f"No difference can be significant here, for the smallest p is {smallest:.2g}: {remedy}."]

    def explain(self) -> str:
        """Explain each part of the table, and how it is tested."""
        test = self.test
        return "\n".join([
            f"rank: by the {self._end} value of {self.measures[0]}; systems with one and the same value share one. "
            "~ where the bounds of two systems overlap, so that their ties alone could put them in the other order; a "
            f"system whose own ties leave {100 * _WIDE:g} points or more undecided is named below instead.",
            "ranks: from 1 + the number of systems significantly ahead, to n less the number significantly behind. "
            f"With a confidence of {100 * test.confidence_level:g} %, the intervals of all systems hold at once.",
            "A number with [lower, upper] is the expected value over all tie-breakings, and what it is in the worst "
            "and in the best of them; a number alone does not depend on ties.",
            f"{100 * test.confidence_level:g} % interval: of the expected value, for the population that the units "
            f"were drawn from; {test.method} bootstrap over {self._units()}, {test.n_resamples} resamples. Intervals "
            "of two systems may overlap although they differ significantly, since they are of the same queries.",
            f"Raised letters: paired sign-flip test of each pair by the {self._end} values. All pairs share the same "
            "flips and are adjusted by step-down max-T (Westfall and Young 1993) over both directions, each measure by "
            f"itself. The chance that any letter of a column is false is at most {test.alpha:g}.",
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
                "interval": self.interval(name, measure).expected,
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


@plain_floats
def leaderboard(
    reports: Mapping[str, Report],
    *,
    measures: str | Iterable[str] | None = None,
    by: By = "lower",
    resample: Average | None = None,
    confidence_level: float = 0.95,
    method: str = "percentile",
    n_resamples: int = 9999,
    seed: int = 0,
) -> Leaderboard:
    """Rank systems on the same queries, with intervals, significance tests, and the pairs that ties could swap.

    Parameters
    ----------
    reports : mapping of str to Report
        At least two reports by name, on the same queries and with the same average, as for `compare`.
    measures : str or iterable of str, optional
        The measures in the table; by default those that all reports show. Systems are ranked by the first.
    by : {"lower", "expected", "upper"}
        The value to rank and to test by. A system reaches its lower bound however a sort breaks its ties, so that a
        letter means a higher guaranteed score.
    resample : {"query", "class"}, optional
        The independent units, which tests swap and the bootstrap draws: queries, or whole classes. By default classes,
        if labels are known and there is no separate gallery, since the queries of a class are then correlated.
    confidence_level : float
        The level of each single interval, strictly between 0 and 1.
    method : {"percentile", "BCa"}
        The bootstrap for the intervals; see `deadheat.reports.statistics.intervals`.
    n_resamples : int
        The number of bootstrap resamples, and of random swaps in a permutation test.
    seed : int
        The seed of all random draws. The same seed gives the same result on any machine.

    Returns
    -------
    Leaderboard
        Tests are run on demand: each pair of systems once for each measure.

    Raises
    ------
    ValueError, TypeError
        If there are fewer than two reports, or they are not of the same queries.

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
    _require_reports(reports)
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
    by_class = any(report._averaging.units(None) == "class" for report in reports.values())
    all_labels = all(report.labels is not None for report in reports.values())
    units: Average = resample if resample is not None else ("class" if by_class and all_labels else "query")
    names = sorted(reports, key=lambda name: _place(reports[name], shown[0], by, name))
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
    return Leaderboard(ranked, shown, by, to_first, tuple(dict.fromkeys(caveats)))


def _require_reports(reports: Mapping[str, Report]) -> None:
    if not isinstance(reports, Mapping):
        raise InvalidTypeError("reports", f"must be a mapping of names to reports, but is {type(reports).__name__}")
    if len(reports) < 2:
        raise InvalidValueError("reports", f"must be at least two, but got {len(reports)}")
    for name, report in reports.items():
        if not isinstance(name, str) or not name.strip():
            raise InvalidTypeError("reports", f"must have names that are not empty, but has {name!r}")
        if not isinstance(report, Report):
            raise InvalidTypeError(f"reports[{name!r}]", f"must be a Report, but is {type(report).__name__}")


def _place(report: Report, measure: str, by: By, name: str) -> tuple[float | str, ...]:
    """Return the sort key of a report: the value that ranks, then all three, then the name; undefined sorts last."""
    value = report[measure]
    ends = (value.measure.end(end) for end in (by, *get_args(By)))
    keys = [value.measure.sign * getattr(value, end) for end in ends]
    return (*(math.inf if math.isnan(key) else -key for key in keys), name)


def _some(pairs: list[str]) -> list[str]:
    """Return the first pairs, and how many more there are."""
    return [*pairs[:_LISTED], *([f"and {len(pairs) - _LISTED} more pairs"] if len(pairs) > _LISTED else [])]


def _letters(n: int) -> list[str]:
    """Return a letter for each of n systems, or words of equal length where there are too few letters."""
    length = next(length for length in itertools.count(1) if len(LETTERS) ** length >= n)
    return ["".join(word) for word in itertools.islice(itertools.product(LETTERS, repeat=length), n)]
