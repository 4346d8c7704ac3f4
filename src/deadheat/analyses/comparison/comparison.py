"""Two reports on the same queries, measure by measure: the differences, and the table of them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from deadheat import measures as rank_measures
from deadheat.analyses.comparison.difference import COUNTS, ROUNDING, Difference, PairedTest
from deadheat.reports import Report
from deadheat.reports.tables import DIGITS, Table, TabularResult, count, decimals, number, program
from deadheat.support import checks
from deadheat.support.extras import require
from deadheat.support.triple import Triple

Float64 = NDArray[np.float64]
Int64 = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Comparison(TabularResult):
    """Two reports on the same queries, measure by measure.

    `comparison["mAP"]` is the `Difference` for a measure, under any of its names. Printing a comparison gives a table
    in per cent; everything else is a fraction.

    Attributes
    ----------
    a, b : Report
    measures : tuple of str
        The measures that the table shows.
    test : PairedTest
        How differences are tested.

    Examples
    --------
    >>> from deadheat import TieProfile, compare, measure
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

    a: Report
    b: Report
    measures: tuple[str, ...]
    test: PairedTest
    _n_query: int = field(repr=False)  # in A or B
    _place_in_b: Int64 = field(repr=False)  # of each query of A, or -1
    _classes: Int64 | None = field(repr=False)
    _differences: dict[str, Difference] = field(default_factory=dict, init=False, repr=False)

    def __getitem__(self, name: str) -> Difference:
        """The difference for a measure; raises ValueError for an unknown name."""
        name = rank_measures.parse(name).name
        if name not in self._differences:
            self._differences[name] = self._difference(name)
        return self._differences[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.measures)

    def _difference(self, name: str) -> Difference:
        """A − B for each query of A; NaN where either has no value."""
        a, b = self._values(name)
        sizes = np.maximum(a.upper, b.upper)
        raw = [x - y for x, y in zip(a, reversed(b), strict=True)]
        values = Triple(*(np.where(np.abs(x) <= ROUNDING * sizes, 0.0, x) for x in raw))
        kept = ~np.isnan(values.lower)
        of_a, of_b = (Triple(*(self.a.averaging.mean(np.where(kept, x, np.nan)) for x in side)) for side in (a, b))
        n_left_out = self._n_query - int(np.count_nonzero(kept))
        return Difference(name, values, of_a, of_b, self.test, self.a.average, n_left_out, sizes, self._classes)

    def _values(self, name: str) -> tuple[Triple[Float64], Triple[Float64]]:
        """The values of A, and those of B for the same queries."""
        place = self._place_in_b
        a, b = (report[name].per_query for report in (self.a, self.b))
        return a, Triple(*(np.where(place >= 0, np.append(row, np.nan)[place], np.nan) for row in b))

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
        pvalues = {name: self[name].pvalue_strict if strict else self[name].pvalue for name in self.measures}
        pvalues = {name: value for name, value in pvalues.items() if not math.isnan(value)}
        if not pvalues:
            return {}
        adjusted = stats.false_discovery_control(list(pvalues.values()), method=method)
        return dict(zip(pvalues, map(float, adjusted), strict=True))

    def tables(self, *, digits: int = DIGITS) -> list[Table]:
        """One table: a row for each measure, in per cent."""
        shown = self._shown()
        means = [[100 * getattr(difference, name) for name in Triple._fields] for difference in shown]
        fixed = decimals(digits)
        rows = [
            [
                difference.name,
                *(number(value, fixed) for value in row),
                _interval(difference, fixed),
                _pvalue(difference.pvalue),
                _pvalue(difference.pvalue_strict),
                *map(str, (difference.n_wins_a, difference.n_wins_b, difference.n_open, difference.n_equal)),
            ]
            for difference, row in zip(shown, means, strict=True)
        ]
        level = f"{100 * self.test.confidence_level:g} % interval"
        header = ["A - B (%)", *Triple._fields, level, "p", "strict p", "A wins", "B wins", "open", "equal"]
        return [Table(header, rows)]

    def notes(self) -> list[str]:
        """What was compared and tested how, and who is ahead."""
        shown = self._shown()
        return [_about_pairs(shown, self.a.average), *_about_tests(shown, self.test), _verdict(shown)]

    def _shown(self) -> list[Difference]:
        return [self[name] for name in self.measures]

    def columns(self) -> dict[str, list[Any]]:
        """The rows of the table: fractions, NaN where a value is undefined; `low` and `high` are the interval's."""
        shown = self._shown()
        columns: dict[str, list[Any]] = {"measure": [difference.name for difference in shown]}
        for name in (*Triple._fields, "pvalue", "pvalue_strict", *COUNTS):
            columns[name] = [getattr(difference, name) for difference in shown]
        columns["low"], columns["high"] = map(list, zip(*(each.interval().expected for each in shown), strict=True))
        return columns

    def to_dict(self) -> dict[str, Any]:
        """The comparison as plain Python values that JSON can hold; None where a value is undefined."""
        return {
            "deadheat": program(),
            "test": dict(vars(self.test)),
            "average": self.a.average,
            "a": _about(self.a),
            "b": _about(self.b),
            "measures": {name: self[name].to_dict() for name in self.measures},
        }


def _about(report: Report) -> dict[str, Any]:
    """Which report it was."""
    return {"distance": report.distance, "ties": report.tie_rule, "profile": report.profile.digest()}


def _interval(difference: Difference, fixed: str) -> str:
    low, high = difference.interval().expected
    return "-" if math.isnan(low) else f"[{100 * low:{fixed}}, {100 * high:{fixed}}]"


def _pvalue(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.4f}" if value >= 1e-4 else f"{value:.0e}"


def _about_pairs(differences: list[Difference], average: str) -> str:
    numbers = {(difference.n_pair, difference.n_left_out) for difference in differences}
    if len(numbers) > 1:
        fewest = count(min(numbers)[0], "query", "queries")
        return f"At least {fewest} in pairs; where A or B has no value, both are left out."
    n_pair, n_left_out = numbers.pop()
    means = " Means are over classes." if average == "class" else ""
    left_out = f"; {n_left_out} without a value in A or B left out" if n_left_out else ""
    return f"{count(n_pair, 'query', 'queries')} in pairs{left_out}.{means}"


def _about_tests(differences: list[Difference], test: PairedTest) -> list[str]:
    exact = [difference.is_exact for difference in differences]
    units = "classes" if test.resample == "class" else "queries"
    asked = {"two-sided": "two-sided", "greater": "whether A is better", "less": "whether A is worse"}[test.alternative]
    random = f"{test.n_resamples} random swaps of {units}"
    swaps = f"every swap of {units}" if all(exact) else f"{random}, or every one" if any(exact) else random
    return [
        f"p: paired permutation test of the expected values, {asked}, {swaps}.",
        "Strict p: the largest p however the ties fall. "
        f"Interval: of expected, bootstrap ({test.method}) over {units}.",
        "Wins: of queries, however the ties fall; open: the ties decide; equal: one value, whatever the ties do.",
    ]


def _verdict(differences: list[Difference]) -> str:
    ahead: dict[str | None, list[str]] = {"A": [], "B": [], None: []}
    for difference in differences:
        ahead[difference.winner].append(difference.name)
    parts = [f"{who} is ahead in {', '.join(ahead[who])}" for who in ("A", "B") if ahead[who]]
    if ahead[None]:
        parts.append(f"nobody {'' if parts else 'is ahead '}in {', '.join(ahead[None])}")
    return f"In the mean, however the ties fall: {'; '.join(parts)}."
