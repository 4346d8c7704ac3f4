"""Two reports on the same queries: how far apart they are, whether chance explains it, and what the ties can change.

In come two `Report`s; out goes a `Comparison`, which has a `Difference` for each measure. Everything is A − B, query by
query, for the worst case for A, the expected values, and the best case for A.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deadheat import measures as rank_measures
from deadheat.analyses import render_comparison
from deadheat.reports.summary import Average, Report, canonical_measures, json_number
from deadheat.statistics import permutation
from deadheat.statistics.intervals import BOOTSTRAP, Intervals, class_sums, level_between, mean_intervals
from deadheat.support import checks
from deadheat.support.extras import require
from deadheat.support.triple import Triple

Float64 = NDArray[np.float64]
Int64 = NDArray[np.int64]
Alternative = Literal["two-sided", "greater", "less"]

_ROUNDING = 2.0**-47  # two values that are equal may differ by so much of their size, once computed


def compare(
    report_a: Report,
    report_b: Report,
    measures: str | Iterable[str] | None = None,
    *,
    resample: Average | None = None,
    labels: ArrayLike | None = None,
    alternative: Alternative = "two-sided",
    confidence_level: float = 0.95,
    method: str = "percentile",
    n_resamples: int = 9999,
    seed: int = 0,
) -> Comparison:
    """Compare two systems on the same queries: paired tests, and who wins however the ties fall.

    Parameters
    ----------
    report_a, report_b : Report
        Of the same queries, averaged alike. They are matched by `query_ids` where both profiles have them, and by
        position otherwise; where both reports know the classes of the queries, these must agree. A query that only
        one of them has is left out if it has no relevant item, and an error if it has.
    measures : str or iterable of str, optional
        What the table shows; by default what both reports show. Any other measure can be asked for by its name.
    resample : {"query", "class"}, optional
        The independent units, which the tests swap and the bootstrap draws: queries, or whole classes; by default
        what the reports average over. See `Report.interval`.
    labels : (n_query,), optional
        For ``resample="class"``, the labels of the queries of `report_a`; by default the classes it knows.
    alternative : {"two-sided", "greater", "less"}
        What the p-values ask: whether A and B differ, A is better than B, or A is worse.
    confidence_level : float
        Of the intervals, strictly between 0 and 1.
    method : {"percentile", "basic", "BCa"}
        SciPy's bootstrap for the intervals.
    n_resamples : int
        How often the bootstrap draws, and how many random swaps the permutation test makes. Where there are no more
        swaps than that (up to 13 units that differ, by default), every one is tried and the test is exact.
    seed : int

    Returns
    -------
    Comparison
        Tests are run when they are asked for.

    Raises
    ------
    ValueError, TypeError
        If the reports are not of the same queries or not averaged alike, show no measure in common, or an argument is
        not as described.

    Notes
    -----
    **Ties:** the worst case for A is its lower value against B's upper one, for each query; `Difference.pvalue_strict`
    and `Difference.winner` hold however the ties fall, in A and in B.

    For n queries each test takes time of n_resamples × n, in memory that does not grow with it: for 100 000 queries a
    few seconds, and the interval some ten.

    Each p-value stands for itself. With 20 measures, or 20 systems, one of 20 falls below 0.05 by chance: decide on the
    measure beforehand, or see `Comparison.false_discovery`.

    Examples
    --------
    A finds the relevant item first in three queries of three. B ties it with another one in two of them:

    >>> from deadheat import TieProfile, measure
    >>> a = measure(TieProfile.from_groups([[(0, 0, 1, 1)]] * 3, n_ranked=[2] * 3), "MRR")
    >>> b = measure(TieProfile.from_groups([[(0, 0, 1, 1)]] + [[(0, 0, 2, 1)]] * 2, n_ranked=[2] * 3), "MRR")
    >>> found = compare(a, b)["MRR"]
    >>> round(found.lower, 4), round(found.expected, 4), round(found.upper, 4)
    (0.0, 0.1667, 0.3333)
    >>> found.n_wins_a, found.n_wins_b, found.n_open, found.n_equal
    (0, 0, 2, 1)

    Swapping any of the two queries that differ gives a smaller sum; one swap of four gives so large a one, and the
    two-sided p-value is twice 1/4:

    >>> found.pvalue, found.pvalue_strict
    (0.5, 1.0)
    """
    for report, name in ((report_a, "report_a"), (report_b, "report_b")):
        if not isinstance(report, Report):
            raise TypeError(f"{name} must be a Report, but is {type(report).__name__}")
    names = _shared(report_a, report_b) if measures is None else canonical_measures(measures)
    _require_alike(report_a, report_b)
    checks.choice(alternative, permutation.ALTERNATIVES, "alternative")
    checks.choice(method, BOOTSTRAP, "method")
    chosen = checks.choice(report_a.average if resample is None else resample, get_args(Average), "resample")
    test = PairedTest(
        chosen,
        alternative,
        level_between(confidence_level),
        method,
        checks.positive_integer(n_resamples, "n_resamples"),
        checks.whole_number(seed, "seed"),
    )
    pairs = _pairs(report_a, report_b)
    clusters = report_a._clusters(chosen, labels)
    _require_same_classes(report_a, report_b, pairs)
    return Comparison(report_a, report_b, names, test, pairs, clusters)


@dataclass(frozen=True)
class PairedTest:
    """How differences are tested: the arguments of `compare` of the same names."""

    resample: str
    alternative: str
    confidence_level: float
    method: str
    n_resamples: int
    seed: int


@dataclass(frozen=True, eq=False)
class Difference:
    """A − B for one measure.

    **Ties:** `lower` has A's ties broken in the worst way and B's in the best, `upper` the other way round, and
    `expected` is the exact mean over all ways. **Undefined:** a pair of which A or B has no value is left out, and
    counted; with no pair left, or without expected values (a tolerance), means and p-values are NaN.

    What rounding alone could have made of equal values counts as equal: differences below 2^-47 of the larger value.

    Attributes
    ----------
    name : str
        The measure's name.
    per_query : Triple
        A.lower − B.upper, A.expected − B.expected and A.upper − B.lower, each (n_query,), for the queries of A in
        their order. NaN for pairs that are left out.
    a, b : Triple[float]
        Of A and of B, over the pairs that count.
    lower, expected, upper : float
        Mean differences, over queries or over classes as the reports have it.
    n_pair, n_left_out : int
        Pairs of queries that count, and those of which A or B has no value.
    n_wins_a, n_wins_b : int
        Queries that A wins however the ties fall (A.lower > B.upper), and that B wins so.
    n_equal : int
        Queries with one and the same value however the ties fall.
    n_open : int
        The other queries, where the ties decide who wins, or whether anybody does.
    """

    name: str
    per_query: Triple[Float64]
    a: Triple[float]
    b: Triple[float]
    test: PairedTest = field(repr=False)
    average: str = field(repr=False)
    n_left_out: int = field(repr=False)
    _sizes: Float64 = field(repr=False)  # (n_query,) the larger of both values, for what rounding can do
    _classes: Int64 | None = field(repr=False)

    @cached_property
    def lower(self) -> float:
        return self._mean(0)

    @cached_property
    def expected(self) -> float:
        return self._mean(1)

    @cached_property
    def upper(self) -> float:
        return self._mean(2)

    @property
    def n_pair(self) -> int:
        return int(np.count_nonzero(self._kept))

    @property
    def n_wins_a(self) -> int:
        return int(np.count_nonzero(self.per_query.lower > 0))

    @property
    def n_wins_b(self) -> int:
        return int(np.count_nonzero(self.per_query.upper < 0))

    @property
    def n_equal(self) -> int:
        return int(np.count_nonzero((self.per_query.lower == 0) & (self.per_query.upper == 0)))

    @property
    def n_open(self) -> int:
        return self.n_pair - self.n_wins_a - self.n_wins_b - self.n_equal

    @property
    def winner(self) -> Literal["A", "B"] | None:
        """Who has the larger mean however the ties fall: "A", "B", or None where ties decide it or both are equal."""
        return "A" if self.lower > 0 else "B" if self.upper < 0 else None

    @property
    def is_exact(self) -> bool:
        """Whether the permutation test tries every swap."""
        return permutation.is_exact(self._units[0][[0, 2]], self.test.n_resamples)

    @cached_property
    def interval(self) -> Intervals:
        """Bootstrap confidence intervals for the three mean differences.

        A is better however the ties fall, and more so than the drawing of queries explains, if `interval.lower.low`
        is above 0.
        """
        return mean_intervals(
            *self.per_query,
            classes=self._classes,
            average=self.average,
            confidence_level=self.test.confidence_level,
            method=self.test.method,
            n_resamples=self.test.n_resamples,
            seed=self.test.seed,
        ).within(-1, 1)

    @property
    def pvalue(self) -> float:
        """The p-value of the paired permutation test on the expected values.

        How often a mean difference as large would come out if A and B did not differ, so that for each query (or
        class) either could as well have been the other.
        """
        tail = self._tails[1]
        return math.nan if math.isnan(self.expected) else permutation.pvalue(tail, tail, self.test.alternative)

    @property
    def pvalue_strict(self) -> float:
        """The largest p-value of the paired permutation test, over all ways the ties can fall in A and in B.

        Two-sided, it is twice the smaller of the two one-sided ones, each at its own worst case, and 1 where the ties
        decide who is ahead. Below 1 some way for the ties to fall has that very p-value.
        """
        worst, best = self._tails[0], self._tails[2]
        return math.nan if math.isnan(self.lower) else permutation.pvalue(worst, best, self.test.alternative)

    def wilcoxon(self) -> float:
        """The p-value of Wilcoxon's signed-rank test on the expected differences, from SciPy.

        It asks whether the differences lie symmetrically about 0, which is less than what the permutation test of the
        mean asks, and drops queries that do not differ. Differences are ranked to 12 decimals. Where classes are the
        units, it takes the means of their differences.

        Returns
        -------
        float
            **Undefined:** NaN where no unit differs, and under a tolerance.
        """
        stats = require("scipy.stats", "stats", "Wilcoxon's test")
        rows, sizes = self._units
        differences = np.round(rows[1] / sizes, 12)
        differences = differences[differences != 0]
        if not len(differences) or np.isnan(differences).any():
            return math.nan
        return float(stats.wilcoxon(differences, alternative=self.test.alternative).pvalue)

    def to_dict(self) -> dict[str, Any]:
        """The difference as plain Python values that JSON can hold; None where a value is undefined."""
        interval = self.interval
        return {
            **{name: json_number(getattr(self, name)) for name in Triple._fields},
            "a": {name: json_number(value) for name, value in self.a._asdict().items()},
            "b": {name: json_number(value) for name, value in self.b._asdict().items()},
            "interval": {name: [json_number(end) for end in getattr(interval, name)] for name in Triple._fields},
            "pvalue": json_number(self.pvalue),
            "pvalue_strict": json_number(self.pvalue_strict),
            "exact": self.is_exact,
            "winner": self.winner,
            "n_pair": self.n_pair,
            "n_left_out": self.n_left_out,
            "n_unit": interval.n,
            "n_wins_a": self.n_wins_a,
            "n_wins_b": self.n_wins_b,
            "n_equal": self.n_equal,
            "n_open": self.n_open,
        }

    @cached_property
    def _kept(self) -> NDArray[np.bool_]:
        return ~np.isnan(self.per_query.lower)

    @cached_property
    def _units(self) -> tuple[Float64, Float64]:
        """The parts of the independent units in the sum of differences (3, n_unit), and the queries of each."""
        rows = np.stack(self.per_query)[:, self._kept]
        if self._classes is None:
            return rows, np.ones(rows.shape[1])
        sums, sizes = class_sums(rows, self._classes[self._kept])
        return (sums, sizes) if self.average == "query" else (sums / sizes, np.ones(len(sizes)))

    @cached_property
    def _scale(self) -> float:
        """The larger of both values, summed as the differences are."""
        sizes = self._sizes[self._kept]
        if self._classes is not None and self.average == "class":
            sums, counts = class_sums(sizes[None], self._classes[self._kept])
            return math.fsum(sums[0] / counts)
        return math.fsum(sizes)

    @cached_property
    def _tails(self) -> list[permutation.Tail]:
        test, (rows, _) = self.test, self._units
        rows = np.where(np.isnan(rows), 0.0, rows)  # under a tolerance there are no expected values
        return permutation.tails(rows, self._scale, test.n_resamples, test.seed)

    def _mean(self, row: int) -> float:
        """The mean of a row of differences; 0 where rounding of the values could have made it."""
        rows, sizes = self._units
        n = math.fsum(sizes)
        if not n:
            return math.nan
        total = math.fsum(rows[row])
        return 0.0 if abs(total) <= _ROUNDING * self._scale else total / n


@dataclass(frozen=True, eq=False)
class Comparison:
    """Two reports on the same queries, measure by measure.

    `comparison["mAP"]` is the `Difference` for a measure, under any of its names. Printing a comparison gives a table
    in per cent; everything else is a fraction.

    Attributes
    ----------
    report_a, report_b : Report
    measures : tuple of str
        The measures that the table shows.
    test : PairedTest
        How differences are tested.

    Examples
    --------
    >>> from deadheat import TieProfile, measure
    >>> groups = [[[(0, 0, 1, 1)]] * 6, [[(0, 0, 2, 1)]] + [[(1, 0, 1, 1)]] * 5]
    >>> a, b = (measure(TieProfile.from_groups(rows, n_ranked=[2] * 6), ["mAP", "Hit@1"]) for rows in groups)
    >>> print(compare(a, b))
    A - B (%)  lower  expected   upper    95 % interval       p  strict p  A wins  B wins  open  equal
    mAP        41.67     45.83   50.00   [37.50, 50.00]  0.0312    0.0625       5       0     1      0
    Hit@1      83.33     91.67  100.00  [75.00, 100.00]  0.0312    0.0625       5       0     1      0
    <BLANKLINE>
    6 queries in pairs.
    p: paired permutation test of the expected values, two-sided, every swap of queries.
    Strict p: the largest p however the ties fall. Interval: of expected, bootstrap (percentile) over queries.
    Wins: of queries, however the ties fall; open: the ties decide; equal: one value, whatever the ties do.
    In the mean, however the ties fall: A is ahead in mAP, Hit@1.
    """

    report_a: Report
    report_b: Report
    measures: tuple[str, ...]
    test: PairedTest
    _pairs: _Pairs = field(repr=False)
    _classes: Int64 | None = field(repr=False)
    _differences: dict[str, Difference] = field(default_factory=dict, init=False, repr=False)

    def __getitem__(self, name: str) -> Difference:
        """The difference for a measure; raises ValueError for an unknown name."""
        known = rank_measures.parse(name).name
        if known not in self._differences:
            self._differences[known] = self._difference(known)
        return self._differences[known]

    def __iter__(self) -> Iterator[str]:
        return iter(self.measures)

    def _difference(self, name: str) -> Difference:
        """A − B for each query of A; NaN where either has no value."""
        a, b = self._values(name)
        sizes = np.maximum(a.upper, b.upper)
        pairs = [x - y for x, y in zip(a, reversed(b), strict=True)]
        values = Triple(*(np.where(np.abs(x) <= _ROUNDING * sizes, 0.0, x) for x in pairs))
        kept = ~np.isnan(values.lower)
        of_a, of_b = (Triple(*(self._mean(row, kept) for row in bounds)) for bounds in (a, b))
        n_left_out = self._pairs.n_query - int(np.count_nonzero(kept))
        average = self.report_a.average
        return Difference(name, values, of_a, of_b, self.test, average, n_left_out, sizes, self._classes)

    def _values(self, name: str) -> tuple[Triple[Float64], Triple[Float64]]:
        """The values of A, and those of B for the same queries."""
        place = self._pairs.in_b
        a, b = (report[name].per_query for report in (self.report_a, self.report_b))
        return a, Triple(*(np.where(place >= 0, np.append(row, np.nan)[place], np.nan) for row in b))

    def _mean(self, row: Float64, kept: NDArray[np.bool_]) -> float:
        """The mean over the pairs that count, or over classes of the means of their pairs."""
        values = row[kept]
        if self.report_a.average == "class" and self._classes is not None:
            sums, sizes = class_sums(values[None], self._classes[kept])
            values = sums[0] / sizes
        return math.fsum(values) / len(values) if len(values) else math.nan

    def false_discovery(self, *, strict: bool = False, method: Literal["bh", "by"] = "by") -> dict[str, float]:
        """P-values of the measures in the table, adjusted so that few of those called significant are false.

        Parameters
        ----------
        strict : bool
            Adjust `pvalue_strict` in place of `pvalue`.
        method : {"by", "bh"}
            SciPy's `false_discovery_control`: Benjamini and Yekutieli, for tests that depend on each other in any way,
            as measures of the same queries do; or Benjamini and Hochberg, for independent tests.

        Returns
        -------
        dict of str to float
            Of the measures that have a p-value.
        """
        stats = require("scipy.stats", "stats", "adjusting p-values")
        checks.choice(method, ("by", "bh"), "method")
        found = {name: self[name].pvalue_strict if strict else self[name].pvalue for name in self.measures}
        found = {name: value for name, value in found.items() if not math.isnan(value)}
        if not found:
            return {}
        adjusted = stats.false_discovery_control(list(found.values()), method=method)
        return dict(zip(found, map(float, adjusted), strict=True))

    def to_dict(self) -> dict[str, Any]:
        """The comparison as plain Python values that JSON can hold; None where a value is undefined."""
        from importlib.metadata import version

        return {
            "deadheat": version("deadheat"),
            "test": dict(vars(self.test)),
            "average": self.report_a.average,
            "a": _about(self.report_a),
            "b": _about(self.report_b),
            "measures": {name: self[name].to_dict() for name in self.measures},
        }

    def to_json(self) -> str:
        """`to_dict` as JSON text; null where a value is undefined."""
        return json.dumps(self.to_dict(), indent=2, allow_nan=False)

    def to_text(self) -> str:
        """The table as plain text, in per cent, with what there is to say below it: what `print` shows."""
        return render_comparison.text(self)

    def to_markdown(self) -> str:
        """The table in Markdown, in per cent, with what there is to say below it."""
        return render_comparison.markdown(self)

    def __str__(self) -> str:
        return self.to_text()

    def _repr_markdown_(self) -> str:
        return self.to_markdown()


# ---------------------------------------------------------------------------------------------------------------------
# which query of A is which of B


class _Pairs(NamedTuple):
    """Where each query of A is in B."""

    in_b: Int64  # (n_query of A,), or -1
    n_query: int  # how many queries there are in A or B


def _pairs(a: Report, b: Report) -> _Pairs:
    """Match queries by their ids if both reports have them, else by position."""
    ids_a, ids_b = a.profile.query_ids, b.profile.query_ids
    if ids_a is None or ids_b is None or ids_a == ids_b:
        if a.n_query != b.n_query:
            raise ValueError(
                f"report_a and report_b must be of the same queries, but have {a.n_query} and {b.n_query}"
                + ("" if ids_a is None and ids_b is None else ", and only one of them has query_ids")
            )
        return _Pairs(np.arange(a.n_query), a.n_query)
    where = {}
    for ids, name in ((ids_a, "report_a"), (ids_b, "report_b")):
        where[name] = {query: place for place, query in enumerate(ids)}
        if len(where[name]) < len(ids):
            raise ValueError(f"{name} must have distinct query_ids to be matched by them, but has some twice")
    in_a, in_b = where["report_a"], where["report_b"]
    only = _counting(a, in_a, in_b), _counting(b, in_b, in_a)
    if any(only):
        listed = [f"{len(ids)} only in {name} ({ids[0]!r}, ...)" for ids, name in zip(only, where, strict=True) if ids]
        raise ValueError(
            "report_a and report_b must be of the same queries, but of those with a value " + " and ".join(listed)
        )
    place = np.array([in_b.get(query, -1) for query in ids_a], dtype=np.int64)
    return _Pairs(place, len(in_a.keys() | in_b.keys()))


def _counting(report: Report, ids: dict[str, int], others: dict[str, int]) -> list[str]:
    """The ids that the other report lacks, of queries that can have a value."""
    missing = [query for query in ids if query not in others]
    if report.singletons != "skip":
        return missing
    return [query for query in missing if report.profile.n_relevant[ids[query]]]


# ---------------------------------------------------------------------------------------------------------------------
# checks


def _shared(a: Report, b: Report) -> tuple[str, ...]:
    """The measures that both tables show, in the order of A."""
    names = tuple(name for name in a.measures if name in b.measures)
    if not names:
        raise ValueError(
            "report_a and report_b must show a measure in common, or measures be given, "
            f"but they show {', '.join(a.measures)} and {', '.join(b.measures)}"
        )
    return names


def _require_alike(a: Report, b: Report) -> None:
    """Refuse reports whose means are over different things."""
    for name in ("average", "singletons"):
        one, other = getattr(a, name), getattr(b, name)
        if one != other:
            raise ValueError(f"report_a and report_b must have the same {name}, but have {one!r} and {other!r}")


def _require_same_classes(a: Report, b: Report, pairs: _Pairs) -> None:
    """Refuse reports whose queries have different labels: they are other queries, or in another order."""
    if a.classes is None or b.classes is None:
        return
    found = pairs.in_b >= 0
    here, there = a.classes[found], b.classes[pairs.in_b[found]]
    n_pair = len(np.unique(np.stack([here, there]), axis=1).T)
    if not n_pair == len(np.unique(here)) == len(np.unique(there)):
        raise ValueError("report_a and report_b must be of the same queries in the same order, but their labels differ")


def _about(report: Report) -> dict[str, Any]:
    """Which report it was."""
    return {"distance": report.distance, "ties": report.tie_rule, "profile": report.profile.digest()}
