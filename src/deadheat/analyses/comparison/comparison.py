"""Two reports on the same queries, measure by measure: the differences, and the table of them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from deadheat import measures as rank_measures
from deadheat.analyses.comparison import cells, sentences
from deadheat.analyses.comparison.difference import COUNTS, ROUNDING, Difference
from deadheat.analyses.comparison.settings import PairedTest
from deadheat.printable import printable
from deadheat.reports import Report
from deadheat.reports.tables import DIGITS, Table, TabularResult, has_ties, program, value
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
    names : tuple of str
        What a and b are called in tables; in everything else they are "A" and "B".
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
    measure (%)       A                     B                  A - B    95 % interval       p  worst-case p
    mAP          100.00  54.17 [50.00, 58.33]   45.83 [41.67, 50.00]   [37.50, 50.00]  0.0312        0.0625
    Hit@1        100.00    8.33 [0.00, 16.67]  91.67 [83.33, 100.00]  [75.00, 100.00]  0.0312        0.0625
    <BLANKLINE>
    Per cent; expected [lower, upper] over all tie-breakings. 6 queries in pairs. Tests and intervals are over queries.
    A is ahead in mAP and Hit@1, but not for every tie-breaking (p < 0.05).
    No labels are known, so each query counts as independent; where queries come in classes, give labels.
    """

    a: Report
    b: Report
    names: tuple[str, str]
    measures: tuple[str, ...]
    test: PairedTest
    _n_query: int = field(repr=False)  # in A or B
    _place_in_b: Int64 = field(repr=False)  # of each query of A, or -1
    _classes: Int64 | None = field(repr=False)
    _caveats: tuple[str, ...] = field(repr=False)
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
        return Difference(
            name, values, of_a, of_b, self.names, self.test, self.a.average, n_left_out, sizes, self._classes
        )

    def _values(self, name: str) -> tuple[Triple[Float64], Triple[Float64]]:
        """The values of A, and those of B for the same queries."""
        place = self._place_in_b
        a, b = (report[name].per_query for report in (self.a, self.b))
        return a, Triple(*(np.where(place >= 0, np.append(row, np.nan)[place], np.nan) for row in b))

    def false_discovery(self, *, worst_case: bool = False, method: Literal["bh", "by"] = "by") -> dict[str, float]:
        """P-values of the measures in the table, adjusted so that few of those called significant are false.

        Parameters
        ----------
        worst_case : bool
            Adjust `pvalue_worst_case` in place of `pvalue`.
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
        pvalues = {name: self[name].pvalue_worst_case if worst_case else self[name].pvalue for name in self.measures}
        pvalues = {name: value for name, value in pvalues.items() if not math.isnan(value)}
        if not pvalues:
            return {}
        adjusted = stats.false_discovery_control(list(pvalues.values()), method=method)
        return dict(zip(pvalues, map(float, adjusted), strict=True))

    def tables(self, *, digits: int = DIGITS) -> list[Table]:
        """One table: a row for each measure, in per cent."""
        (a, b), shown = self.names, self._shown()
        level = f"{100 * self.test.confidence_level:g} % interval"
        header = ["measure (%)", a, b, f"{a} - {b}", level, "p"]
        rows = [
            [
                each.name,
                *(value(of, digits) for of in (each.a, each.b, each)),
                each.interval().expected.per_cent(digits),
                cells.p_value(each.pvalue),
            ]
            for each in shown
        ]
        if any(map(has_ties, shown)):
            header.append("worst-case p")
            rows = [[*row, cells.p_value(each.pvalue_worst_case)] for row, each in zip(rows, shown, strict=True)]
        return [Table(header, rows)]

    def notes(self) -> list[str]:
        """What the numbers are of, and who is significantly ahead in what; `explain` says the rest."""
        return sentences.below_the_table(self._shown(), self.names, self.a.average, self._caveats)

    def explain(self) -> str:
        """What each column means, how it is tested, and how many queries each wins."""
        a, b = map(printable, self.names)
        return sentences.explanation(self._shown(), (a, b))

    def _shown(self) -> list[Difference]:
        return [self[name] for name in self.measures]

    def columns(self) -> dict[str, list[Any]]:
        """The rows of the table: fractions, NaN where a value is undefined; `low` and `high` are the interval's."""
        shown = self._shown()
        columns: dict[str, list[Any]] = {"measure": [difference.name for difference in shown]}
        for name in (*Triple._fields, "pvalue", "pvalue_worst_case", *COUNTS):
            columns[name] = [getattr(difference, name) for difference in shown]
        columns["low"], columns["high"] = map(list, zip(*(each.interval().expected for each in shown), strict=True))
        return columns

    def to_dict(self) -> dict[str, Any]:
        """The comparison as plain Python values that JSON can hold; None where a value is undefined."""
        return {
            "deadheat": program(),
            "test": dict(vars(self.test)),
            "average": self.a.average,
            "names": list(self.names),
            "a": _about(self.a),
            "b": _about(self.b),
            "measures": {name: self[name].to_dict() for name in self.measures},
        }


def _about(report: Report) -> dict[str, Any]:
    """Which report it was."""
    return {"distance": report.distance, "ties": report.tie_rule, "profile": report.profile.digest()}
