"""One measure of a comparison: A − B query by query, its mean, its intervals and its tests."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from deadheat.measures.family import End, Measure
from deadheat.reports.answer import KINDS, notebook_row
from deadheat.reports.averaging import Average
from deadheat.reports.statistics import permutation
from deadheat.reports.statistics.intervals import Interval, Intervals, class_sums, mean_intervals
from deadheat.reports.statistics.margins import Drops
from deadheat.reports.statistics.settings import BOOTSTRAP, StatisticsSettings
from deadheat.reports.tables import p_value, plain
from deadheat.support import checks
from deadheat.support.arrays import Float64, Int64
from deadheat.support.caching import cached_property
from deadheat.support.floats import PlainFloats
from deadheat.support.lazy import require
from deadheat.support.means import all_or_none, exact_total
from deadheat.support.triple import Triple


@dataclass(frozen=True)
class PairedTest(StatisticsSettings):
    """Settings of the paired tests: the arguments of `compare` of the same names, checked once."""

    methods: ClassVar[tuple[str, ...]] = BOOTSTRAP

    method: str = "percentile"
    resample: str = "query"
    alternative: str = "two-sided"

    def __post_init__(self) -> None:
        super().__post_init__()
        resample = "query" if self.resample is None else self.resample
        self._set("resample", checks.choice(resample, get_args(Average), "resample"))
        checks.choice(self.alternative, permutation.ALTERNATIVES, "alternative")


ROUNDING = 2.0**-47  # two values that are equal may differ by so much of their size, once computed
By = End
COUNTS = ("n_wins_a", "n_wins_b", "n_equal", "n_open")


@dataclass(frozen=True, eq=False)
class Difference(PlainFloats):
    """A − B for one measure.

    **Ties:** `lower` has A's ties broken in the worst way and B's in the best, `upper` the other way round, and
    `expected` is the exact mean over all ways. **Undefined:** a pair of which A or B has no value is left out, and
    counted; with no pair left, or without expected values (a tolerance), means and p-values are NaN.

    Values count as equal if rounding alone could make them differ: by less than 2^-47 of the larger value.

    Attributes
    ----------
    name : str
        The measure's name.
    per_query : Triple
        A.lower − B.upper, A.expected − B.expected and A.upper − B.lower, each (n_query,), for the queries of A in
        their order. NaN for pairs that are left out.
    a, b : Triple[float]
        Means of A and of B, over the pairs that count.
    names : tuple of str
        Names of A and B in tables and plots.
    lower, expected, upper : float
        Mean differences, over queries or over classes as the reports have it.
    n_pair, n_left_out : int
        Pairs of queries that count, and those of which A or B has no value.
    n_wins_a, n_wins_b : int
        Queries that A wins however the ties fall (A.lower > B.upper), and that B wins so.
    n_equal : int
        Queries where both have the same value however the ties fall.
    n_open : int
        The other queries, where the ties decide which one wins, or whether either does.
    by : {"lower", "expected", "upper"}
        The value of both systems that `pvalue`, `ahead` and `tested_interval` compare; "lower" is the guaranteed one,
        which is the upper bound for a measure of which less is better, such as MnR.
    measure : Measure
        With its unit, and the `sign` of better values.
    """

    name: str
    per_query: Triple[Float64]
    a: Triple[float]
    b: Triple[float]
    names: tuple[str, str]
    test: PairedTest = field(repr=False)
    average: str = field(repr=False)
    n_left_out: int = field(repr=False)
    by: By
    unit: str = field(repr=False)  # the name of the independent units
    most: float = field(repr=False)  # the largest possible difference of a query
    _tested: Triple[Float64] = field(repr=False)  # (n_query,) A − B of the lower, the expected and the upper values
    _sizes: Float64 = field(repr=False)  # (n_query,) the larger of both values, for what rounding can do
    _classes: Int64 | None = field(repr=False)
    measure: Measure = field(repr=False)
    _weights: Float64 | None = field(default=None, repr=False)  # (n_query,) of the queries

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
        return int(np.count_nonzero((self.at_worst > 0) & (self.at_best > 0)))

    @property
    def n_wins_b(self) -> int:
        return int(np.count_nonzero((self.at_worst < 0) & (self.at_best < 0)))

    @property
    def at_worst(self) -> Float64:
        """The lead of A for each query in its worst case, (n_query,): `per_query.lower` if more is better."""
        return self.per_query.lower if self.measure.sign > 0 else 0.0 - self.per_query.upper

    @property
    def at_best(self) -> Float64:
        """The lead of A for each query in its best case, (n_query,)."""
        return self.per_query.upper if self.measure.sign > 0 else 0.0 - self.per_query.lower

    @property
    def n_equal(self) -> int:
        return int(np.count_nonzero((self.per_query.lower == 0) & (self.per_query.upper == 0)))

    @property
    def n_open(self) -> int:
        return self.n_pair - self.n_wins_a - self.n_wins_b - self.n_equal

    @property
    def winner(self) -> Literal["A", "B"] | None:
        """The one with the better mean however the ties fall: "A", "B", or None where ties decide or both are equal."""
        larger, smaller = ("A", "B") if self.measure.sign > 0 else ("B", "A")
        return larger if self.lower > 0 else smaller if self.upper < 0 else None  # type: ignore[return-value]

    @cached_property
    def tested(self) -> float:
        """The mean difference that is tested: of the lower bounds, the expected values or the upper bounds."""
        return self._mean_of(self.tested_values)

    @property
    def ahead(self) -> Literal["A", "B"] | None:
        """The one significantly ahead, by `pvalue` at 1 − the confidence level; None if neither is."""
        return self._ahead(self.pvalue, self.tested)

    @property
    def ahead_worst_case(self) -> Literal["A", "B"] | None:
        """The one significantly ahead however the ties fall, by `pvalue_worst_case`."""
        return self._ahead(self.pvalue_worst_case, self.lower + self.upper)

    @cached_property
    def tested_interval(self) -> Interval:
        """The interval for the mean difference that is tested."""
        flipped = self.tested < 0  # as comparing B with A draws it
        row = 0.0 - self.per_tested if flipped else self.per_tested
        ends = self._mean_intervals([row] * 3, self._settings_of_interval).lower
        return Interval(0.0 - ends.high, 0.0 - ends.low) if flipped else ends

    @property
    def interval_agrees(self) -> bool:
        """True if one is called ahead exactly where `tested_interval` does not hold 0."""
        low, high = self.tested_interval
        return (low > 0 or high < 0) == (self.ahead is not None)

    def _ahead(self, pvalue: float, difference: float) -> Literal["A", "B"] | None:
        if not pvalue < self.test.alpha or difference == 0:
            return None
        return "A" if self.measure.sign * difference > 0 else "B"

    def tested_by(self, by: By) -> Difference:
        """Return the difference with another value tested."""
        return replace(self, by=by)

    @property
    def end(self) -> End:
        """The value of both that is tested: `by`, or the other bound where less is better."""
        return self.measure.end(self.by)

    def shown(self, amount: float, form: str = ".2f") -> str:
        """Format an amount of the measure: per cent are points."""
        kind = KINDS[self.measure.unit]
        return f"{kind.scale * amount:{form}} {kind.points}"

    @property
    def per_tested(self) -> Float64:
        """The differences that are tested, (n_query,); NaN for pairs that are left out."""
        return np.where(self._kept, self.tested_values, np.nan)

    @property
    def tested_values(self) -> Float64:
        """The same of all pairs."""
        values: Float64 = getattr(self._tested, self.end)
        return values

    def units_of(self, rows: Sequence[Float64], chosen: NDArray[np.bool_]) -> Float64:
        """Return the lead of A in each independent unit, of some queries: the sums of rows of tested differences."""
        return self.measure.sign * self._of_units(np.stack(rows), chosen)[0]

    @property
    def drops(self) -> Drops:
        """The drops from A to B of the independent units, by the value that is tested; for tests against a margin."""
        row, sizes = self._tested_units
        return Drops(self.measure.sign * row[0], sizes, self.most)

    @property
    def drop(self) -> float:
        """The drop from A to B of the value that is tested; above 0 where B is worse."""
        return self.measure.sign * self.tested

    @property
    def n_unit(self) -> int:
        """Independent units, which the tests swap and the intervals draw: queries or classes."""
        return len(self._units[1])

    @property
    def is_exact(self) -> bool:
        """True if the permutation tests try every swap."""
        return permutation.is_exact(self._units[0][[0, 2]], self.test.n_resamples)

    def interval(
        self,
        *,
        confidence_level: float | None = None,
        method: str | None = None,
        n_resamples: int | None = None,
        seed: int | None = None,
    ) -> Intervals:
        """Return confidence intervals for the three mean differences, over the units that the test swaps.

        If ``lower.low`` is above 0, A is better however the ties fall, and by more than the sampling of queries
        explains. Parameters are those of `Result.interval`; by default those given to `compare`.
        """
        own = self._settings_of_interval
        settings = own.changed(confidence_level=confidence_level, method=method, n_resamples=n_resamples, seed=seed)
        return self._interval if settings is own else self._interval_by(settings)

    @cached_property
    def _settings_of_interval(self) -> StatisticsSettings:
        test = self.test
        return StatisticsSettings(test.confidence_level, test.method, test.n_resamples, test.seed)

    @cached_property
    def _interval(self) -> Intervals:
        return self._interval_by(self._settings_of_interval)

    def _interval_by(self, settings: StatisticsSettings) -> Intervals:
        leader_first = _b_minus_a(self.per_query) if self._b_leads else self.per_query
        intervals = self._mean_intervals(leader_first, settings)
        return intervals.mirrored() if self._b_leads else intervals

    def _mean_intervals(self, rows: Sequence[Float64], settings: StatisticsSettings) -> Intervals:
        least, most = self.measure.row.within
        return mean_intervals(
            *rows, classes=self._classes, average=self.average, within=(least - most, most - least),
            weights=self._weights, **vars(settings)
        )  # fmt: skip

    @cached_property
    def pvalue(self) -> float:
        """The p-value of the paired permutation test on the values that `by` names.

        The probability of a mean difference as large if A and B did not differ, so that for each query (or class) they
        were exchangeable.
        """
        if math.isnan(self.tested):
            return math.nan
        row, _ = self._tested_units
        flipped = self.tested < 0
        tail = permutation.tails(0.0 - row if flipped else row, self._scale, self.test.n_resamples, self.test.seed)[0]
        tail = tail.mirrored() if flipped != (self.measure.sign < 0) else tail
        return permutation.pvalue(tail, tail, self.test.alternative)

    @property
    def pvalue_worst_case(self) -> float:
        """The worst-case p-value: the largest of the paired permutation test over all tie-breakings of A and of B.

        Two-sided, it is twice the smaller of the two one-sided ones, each at its own worst case, and 1 where the ties
        decide who is ahead. If it is below 1, some tie-breaking has exactly that p-value.
        """
        worst, best = self._tails[0], self._tails[2]
        if self.measure.sign < 0:
            worst, best = best.mirrored(), worst.mirrored()
        return math.nan if math.isnan(self.lower) else permutation.pvalue(worst, best, self.test.alternative)

    def wilcoxon(self) -> float:
        """Return the p-value of Wilcoxon's signed-rank test on the tested differences, from SciPy.

        It tests whether the differences are symmetric about 0, which is less than the permutation test of the mean
        tests, and drops queries that do not differ. Differences are ranked to 12 decimals. Where classes are the units,
        it takes the means of their differences.

        Returns
        -------
        float
            **Undefined:** NaN where no unit differs, and under a tolerance.
        """
        stats = require("scipy.stats", "stats", "Wilcoxon's test")
        rows, sizes = self._tested_units
        differences = np.sort(np.round(self.measure.sign * rows[0] / sizes, 12))
        differences = differences[differences != 0]
        if not len(differences) or np.isnan(differences).any():
            return math.nan
        return float(stats.wilcoxon(differences, alternative=self.test.alternative).pvalue)

    def __repr__(self) -> str:
        ends = ", ".join(f"{name}={getattr(self, name)!r}" for name in Triple._fields)
        return f"Difference({self.name!r}, {ends}, names={self.names!r})"

    def _repr_html_(self) -> str:
        wins = f"Queries: {self.n_wins_a} won by A, {self.n_wins_b} by B, {self.n_equal} equal, {self.n_open} open."
        pvalues = f"p = {p_value(self.pvalue)}, worst-case p = {p_value(self.pvalue_worst_case)}."
        return notebook_row(self.name, self, [wins, pvalues], " - ".join(self.names), self.measure.unit)

    def to_dict(self) -> dict[str, Any]:
        """Return the difference as plain Python values that JSON can hold; None where a value is undefined."""
        interval = self.interval()
        content = {
            **{name: getattr(self, name) for name in Triple._fields},
            "a": self.a._asdict(),
            "b": self.b._asdict(),
            "interval": {name: getattr(interval, name) for name in Triple._fields},
            **{name: getattr(self, name) for name in ("by", "tested", "tested_interval")},
            **{name: getattr(self, name) for name in ("pvalue", "pvalue_worst_case")},
            "exact": self.is_exact,
            **{name: getattr(self, name) for name in ("winner", "ahead", "ahead_worst_case")},
            **{name: getattr(self, name) for name in ("n_pair", "n_left_out", "n_unit", *COUNTS)},
        }
        return {name: plain(value) for name, value in content.items()}

    @cached_property
    def _kept(self) -> NDArray[np.bool_]:
        return ~np.isnan(self.per_query.lower)

    @cached_property
    def _units(self) -> tuple[Float64, Float64]:
        """Contribution of each independent unit to the sum of differences, (3, n_unit), and its count of queries."""
        return self._of_units(np.stack(all_or_none(self.per_query)))

    @cached_property
    def _tested_units(self) -> tuple[Float64, Float64]:
        """Contributions of the units to the sum of tested differences, (1, n_unit), and their counts of queries."""
        return self._of_units(self.tested_values[None])

    def _of_units(self, rows: Float64, kept: NDArray[np.bool_] | None = None) -> tuple[Float64, Float64]:
        kept = self._kept if kept is None else kept
        rows, sizes = self._weighted(rows, kept)
        if self._classes is None:
            return rows, sizes
        sums = class_sums(np.vstack([rows, sizes]), self._classes[kept])[0]
        sums, sizes = sums[:-1], sums[-1]
        return (sums, sizes) if self.average == "query" else (sums / sizes, np.ones(len(sizes)))

    def _weighted(self, rows: Float64, kept: NDArray[np.bool_]) -> tuple[Float64, Float64]:
        """Return the rows of some queries, times their weights, and the weights."""
        sizes = np.ones(int(np.count_nonzero(kept))) if self._weights is None else self._weights[kept]
        return rows[:, kept] * sizes, sizes

    @cached_property
    def _scale(self) -> float:
        """The larger of both values, summed as the differences are."""
        sizes = self._sizes[self._kept]
        if self._weights is not None:
            sizes = sizes * self._weights[self._kept]
        if self._classes is not None and self.average == "class":
            sums, counts = class_sums(sizes[None], self._classes[self._kept])
            return math.fsum(sums[0] / counts)
        return math.fsum(sizes)

    @cached_property
    def _tails(self) -> list[permutation.Tail]:
        test, (rows, _) = self.test, self._units
        rows = np.where(np.isnan(rows), 0.0, rows)  # under a tolerance there are no expected values
        if not self._b_leads:
            return permutation.tails(rows, self._scale, test.n_resamples, test.seed)
        tails = permutation.tails(np.stack(_b_minus_a(rows)), self._scale, test.n_resamples, test.seed)
        return [tail.mirrored() for tail in reversed(tails)]

    @cached_property
    def _b_leads(self) -> bool:
        """True if draws are made of B − A, so that comparing B with A gets the same ones as comparing A with B."""
        return self.lower + self.upper < 0

    def _mean(self, row: int) -> float:
        return self._mean_of(all_or_none(self.per_query)[row])

    def _mean_of(self, differences: Float64) -> float:
        """Return the mean of differences of the queries; 0 where rounding of the values could have made it."""
        whole = self.average == "query"  # whose sum is rounded once, and not by class too
        rows, sizes = self._weighted(differences[None], self._kept) if whole else self._of_units(differences[None])
        total, n_value = exact_total(rows[0])
        if not n_value or n_value < rows.shape[1]:
            return math.nan
        return 0.0 if abs(total) <= ROUNDING * self._scale else total / math.fsum(sizes)


def _b_minus_a(rows: Sequence[Float64] | Float64) -> Triple[Float64]:
    """Return B − A from A − B: the worst case for A is the best for B."""
    return Triple(*(0.0 - row for row in reversed(rows)))
