"""Comparison of two reports on the same queries: differences, significance tests, and the effect of ties.

In come two `Report`s; out goes a `Comparison`, which has a `Difference` for each measure: A − B query by query, for the
worst case for A, the expected values, and the best case for A. A `Leaderboard` has a `Comparison` for each pair.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from deadheat.analyses import gate as gates
from deadheat.analyses.difference import COUNTS, ROUNDING, By, Difference, PairedTest
from deadheat.analyses.gate import Gate, Rule
from deadheat.analyses.sliced_comparison import SlicedComparison
from deadheat.errors import InvalidTypeError, InvalidValueError, printable
from deadheat.inputs.samples import QueryLabels
from deadheat.measures.family import Measure
from deadheat.measures.names import parse
from deadheat.reports.answer import Answer, Column, Panel
from deadheat.reports.averaging import Average, Averaging, measure_names
from deadheat.reports.report import Report
from deadheat.reports.runs import UNION, over_union
from deadheat.reports.slices import slices_of
from deadheat.reports.statistics.intervals import UNITS, about_few, counted
from deadheat.reports.tables import count, has_ties
from deadheat.reports.unit_values import HasUnits, UnitValues, unit_values
from deadheat.support import checks
from deadheat.support.arrays import Bool, Float64, Int64
from deadheat.support.floats import plain_floats
from deadheat.support.lazy import require
from deadheat.support.triple import Triple


@dataclass(frozen=True, eq=False)
class Comparison(Answer):
    """Two reports on the same queries, measure by measure.

    `comparison["mAP"]` is the `Difference` for a measure, under any of its names. Printing a comparison gives a table
    in per cent; everything else is a fraction.

    Attributes
    ----------
    names : tuple of str
        Names of a and b in tables; in everything else they are "A" and "B".
    measures : tuple of str
        The measures that the table shows.
    test : PairedTest
        Settings of the paired tests.
    by : {"lower", "expected", "upper"}
        The value of both systems that is tested.

    Examples
    --------
    >>> from deadheat import compare, evaluate, TieProfile
    >>> groups = [[[(0, 0, 1, 1)]] * 10, [[(0, 0, 2, 1)]] + [[(1, 0, 1, 1)]] * 9]
    >>> a, b = (evaluate(TieProfile.from_groups(rows, n_ranked=[2] * 10), ["mAP", "Hit@1"]) for rows in groups)
    >>> print(compare(a, b))
    measure (%)       A                     B                  A - B  by lower    95 % interval       p  worst-case p
    mAP          100.00  52.50 [50.00, 55.00]   47.50 [45.00, 50.00]     50.00    [3.73, 65.42]  0.0020        0.0039
    Hit@1        100.00    5.00 [0.00, 10.00]  95.00 [90.00, 100.00]    100.00  [38.30, 100.00]  0.0020        0.0039
    <BLANKLINE>
    Per cent; expected [lower, upper] over all tie-breakings. 10 queries in pairs.
    Tests and intervals are over queries, by the lower bounds.
    A is ahead in mAP and Hit@1 whatever the ties do (p < 0.05).
    No labels are known, so each query counts as independent; where queries come in classes, give their labels.
    """

    a: Report | UnitValues
    b: Report | UnitValues
    names: tuple[str, str]
    measures: tuple[str, ...]
    test: PairedTest
    by: By
    _n_query: int = field(repr=False)  # in A or B
    _place_in_b: Int64 = field(repr=False)  # of each query of A, or -1
    _classes: Int64 | None = field(repr=False)
    _caveats: tuple[str, ...] = field(repr=False)
    _differences: dict[str, Difference] = field(default_factory=dict, init=False, repr=False)

    def __getitem__(self, name: str) -> Difference:
        """Return the difference for a measure; raises ValueError for an unknown name."""
        name = self.a._own_name(name)
        if self.b._own_name(name) != name:
            levels = f"{self.a.rel or 'any'} and {self.b.rel or 'any'}: name one, as in 'AP(rel=2)'"
            raise InvalidValueError(name, f"must count the same grades in both, but the reports have rel {levels}")
        if name not in self._differences:
            self._differences[name] = self._difference(name)
        return self._differences[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.measures)

    def _difference(self, name: str) -> Difference:
        """Return A − B for each query of A; NaN where either has no value."""
        a, b = self._values_of_both(name)
        sizes = np.abs([a.lower, a.upper, b.lower, b.upper]).max(axis=0)

        def minus(others: Iterable[Float64]) -> Triple[Float64]:
            raw = [x - y for x, y in zip(a, others, strict=True)]
            return Triple(*(np.where(np.abs(x) <= ROUNDING * sizes, 0.0, x) for x in raw))

        values = minus(reversed(b))
        kept = ~np.isnan(values.lower)
        of_a, of_b = (self.a._averaging.means(Triple(*(np.where(kept, x, np.nan) for x in side))) for side in (a, b))
        n_left_out = self._n_query - int(np.count_nonzero(kept))
        return Difference(
            name, values, of_a, of_b, self.names, self.test, self.a.average, n_left_out, self.by, self._unit,
            self.a.most(name) if isinstance(self.a, UnitValues) else 1.0, minus(b), sizes, self._classes,
            _measure(self.a, name), self.a._averaging.weights,
        )  # fmt: skip

    @property
    def _noun(self) -> str:
        """The name of what has a value: a query, or an item of one pooled ranking."""
        return self.a.unit if isinstance(self.a, UnitValues) else "query"

    @property
    def _unit(self) -> str:
        """The name of the independent units."""
        return self._noun if self.test.resample == "query" else "class" if self._noun == "query" else "group"

    def by_slice(self, column: QueryLabels) -> SlicedComparison:
        """Return the comparison for each value of a column of the queries, such as question type or language.

        Parameters
        ----------
        column : (n_query,) or dict
            A value for each query of A, or ``{query_id: value}``.

        Returns
        -------
        SlicedComparison
            Units and tests stay what they are; p-values of slices are adjusted after Holm.

        Notes
        -----
        For means over queries, the difference over all queries is the mean of those of the slices, weighted by their
        sizes, so that B cannot be ahead in every slice and behind in all.

        Examples
        --------
        >>> from deadheat import evaluate, TieProfile
        >>> hit, miss = [(0, 0, 1, 1)], [(1, 0, 1, 1)]
        >>> rows = [hit, hit, hit, miss], [hit, miss, hit, hit]
        >>> a, b = (evaluate(TieProfile.from_groups(each, n_ranked=[9] * 4), "Hit@1") for each in rows)
        >>> slices = compare(a, b).by_slice(["one hop", "one hop", "two hops", "two hops"])
        >>> slices["one hop"]["Hit@1"].expected, slices["two hops"]["Hit@1"].expected
        (0.5, -0.5)
        """
        if self._noun == "item":
            rule = "needs a value for each query: of pooled scores one can be ahead in every slice and behind in all"
            raise InvalidValueError("column", rule)
        names, masks = slices_of(column, self.a.n_query, self.a._averaging.query_ids)
        whole = {row.name: row for row in self._shown()}
        parts = {name: [self._restricted(row, mask) for mask in masks] for name, row in whole.items()}
        return SlicedComparison(tuple(names), parts, whole)

    def _restricted(self, whole: Difference, chosen: Bool) -> Difference:
        """Return a difference over some queries of A; the others have no value."""
        a, b = self._values_of_both(whole.name)
        kept = chosen & ~np.isnan(whole.per_query.lower)
        values = Triple(*(np.where(kept, row, np.nan) for row in whole.per_query))
        of_a, of_b = (self.a._averaging.means(Triple(*(np.where(kept, x, np.nan) for x in side))) for side in (a, b))
        return replace(whole, per_query=values, a=of_a, b=of_b, n_left_out=int(chosen.sum() - kept.sum()))

    def _values_of_both(self, name: str) -> tuple[Triple[Float64], Triple[Float64]]:
        """Return the values of A, and those of B for the queries of A; NaN for a query that B lacks."""
        of_other = self.b[name].per_query
        return self.a[name].per_query, Triple(*(np.append(row, np.nan)[self._place_in_b] for row in of_other))

    def false_discovery(self, *, worst_case: bool = False, method: Literal["bh", "by"] = "by") -> dict[str, float]:
        """Adjust the p-values of the measures in the table to control the false discovery rate.

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
            Adjusted p-values, by measure, of the measures that have one.
        """
        stats = require("scipy.stats", "stats", "adjusting p-values")
        checks.choice(method, ("by", "bh"), "method")
        which = "pvalue_worst_case" if checks.flag(worst_case, "worst_case") else "pvalue"
        pvalues = {name: getattr(self[name], which) for name in self.measures}
        pvalues = {name: value for name, value in pvalues.items() if not math.isnan(value)}
        if not pvalues:
            return {}
        adjusted = stats.false_discovery_control(list(pvalues.values()), method=method)
        return dict(zip(pvalues, map(float, adjusted), strict=True))

    def gate(self, margin: float = 0.0, rule: Rule = "worse") -> Gate:
        """Decide whether B may replace A: a gate for releases, which knows noise.

        Parameters
        ----------
        margin : float
            The drop of a mean that is allowed, as a fraction in [0, 1].
        rule : {"worse", "drop", "as_good"}
            B fails where a measure **"worse"**: is shown to have fallen by more than the margin, by a one-sided test at
            1 − the confidence level, after Holm for several measures; **"drop"**: has fallen by more than the margin,
            without a test; **"as_good"**: is not shown to have fallen by less than the margin (non-inferiority).

        Returns
        -------
        Gate
            True if B passes. **Ties:** what is compared is the value that `by` names, by default the lower bounds.

        Raises
        ------
        ValueError
            If a measure is undefined for every pair of queries, a system has ranked nothing that is judged, or there
            are so few units that the rule could fail no system ("worse"), or pass none ("as_good").

        Notes
        -----
        "worse" with a margin of 0 is the paired permutation test, with a larger one Student's t with one more unit that
        gained 1. "as_good" is Tango's score test for hits of single queries, else Student's t with one more unit that
        lost 1; how often each errs is measured by ``python -m reproduce decisions``.

        References
        ----------
        T. Tango, Statistics in Medicine 17, 1998; R. L. Berger, Technometrics 24, 1982.

        Examples
        --------
        Of 200 queries, B loses two and wins one. That is no evidence of a drop, and not enough for one of being as good
        within 1 point; within 3 points it is:

        >>> from deadheat import evaluate, TieProfile
        >>> hit, miss = [(0, 0, 1, 1)], [(1, 0, 1, 1)]
        >>> rows = [hit] * 180 + [miss] * 20, [miss] * 2 + [hit] * 179 + [miss] * 19
        >>> a, b = (evaluate(TieProfile.from_groups(each, n_ranked=[9] * 200), "Hit@1") for each in rows)
        >>> found = compare(a, b)
        >>> found.gate().passed, found.gate(0.01, "as_good").passed, found.gate(0.03, "as_good").passed
        (True, False, True)
        """
        return self._gate(margin, rule)

    def _gate(self, margin: float, rule: Rule, **settings: bool) -> Gate:
        for report, name in zip((self.a, self.b), self.names, strict=True):
            _require_answers(report, name)
        one_out = self._unit == "class" and not (self.a.separate_gallery and self.b.separate_gallery)
        return gates.gate(self._shown(), margin, rule, leave_one_out=one_out, cautions=self.cautions(), **settings)

    def panels(self) -> list[Panel]:
        """Return one table with a row for each measure."""
        shown, (a, b) = self._shown(), self.names
        tied, ends = any(map(has_ties, shown)), {row.end for row in shown}
        tested = f"by {ends.pop()}" if len(ends) == 1 else "tested"
        return [Panel([
            Column("measure", [row.name for row in shown], "measure"),
            Column("a", [row.a for row in shown], "fraction", a, "value", only="table"),
            Column("b", [row.b for row in shown], "fraction", b, "value", only="table"),
            Column("", shown, "fraction", f"{a} - {b}", "value"),
            Column("tested", [row.tested for row in shown], "fraction", tested, only="" if tied else "data"),
            Column("", [row.tested_interval for row in shown], "fraction",
                   f"{100 * self.test.confidence_level:g} % interval", "interval"),
            Column("pvalue", [row.pvalue for row in shown], "probability", "p"),
            Column("pvalue_worst_case", [row.pvalue_worst_case for row in shown], "probability", "worst-case p",
                   only="" if tied else "data"),
            *(Column(name, [getattr(row, name) for row in shown], "count", only="data")
              for name in (*COUNTS, "n_unit")),
        ], key="", kinds=[row.measure.unit for row in shown])]  # fmt: skip

    def notes(self) -> list[str]:
        """Return notes on the numbers, the system that is significantly ahead in each measure, and caveats."""
        shown, whole = self._shown(), self.test.resample == "class"
        tied, n_unit = any(map(has_ties, shown)), min(each.n_unit for each in shown)
        values = in_per_cent(
            [row.measure for row in shown], "expected [lower, upper] over all tie-breakings" if tied else ""
        )
        tested = "Means, tests" if self.a.average == "class" else "Tests"
        units = f"{tested} and intervals are over {counted(n_unit, self._unit) if whole else UNITS[self._unit]}"
        units += f", by {self._by(shown)}." if tied else "."
        if self._noun == "item":
            units += " The value of an item in pooled AP or AUC is the effect of leaving it out (jackknife)."
        a, b = self.names
        remarks = [*(f"{a}: {each}" for each in self.a.remarks), *(f"{b}: {each}" for each in self.b.remarks)]
        verdict = [self._verdict(shown, tied), *self._about_expected(shown), *self._about_disagreement(shown)]
        units = " ".join([units, *self.a._about_weights()])
        union = [UNION] if isinstance(self.a, Report) and self.a.profile.n_unjudged is not None else []
        pairs = " ".join([*values, self._about_pairs(shown)])
        return [pairs, units, *union, *verdict, *about_few(n_unit, self._unit), *self._caveats, *remarks]

    def _by(self, shown: Sequence[Difference]) -> str:
        return bounds_tested(self.by, [row.measure for row in shown])

    def _about_expected(self, shown: Sequence[Difference]) -> list[str]:
        """Return a sentence that names the measures whose expected values are significantly the other way."""
        by_expected = [row.tested_by("expected") for row in shown if self.by != "expected" and has_ties(row)]
        other_way = [
            f"{self.names['AB'.index(expected.ahead)]} is ahead in {expected.name}"
            for expected in by_expected if expected.ahead not in (None, self[expected.name].ahead)
        ]  # fmt: skip
        return [f"By the expected values, {listed(other_way)}."] if other_way else []

    def _about_disagreement(self, shown: Sequence[Difference]) -> list[str]:
        """Return a note, if interval and test disagree on significance, on which of them decides and why."""
        if self.test.alternative != "two-sided":
            return []
        names = [each.name for each in shown if not (math.isnan(each.pvalue) or each.interval_agrees)]
        if not names:
            return []
        return [
            f"The p-value decides, not the interval, where only one of them calls a difference in {listed(names)} "
            f"significant: the test holds for any number of {UNITS[self._unit]}, the bootstrap only for many."
        ]

    def _about_pairs(self, shown: Sequence[Difference]) -> str:
        a, b = self.names
        numbers = {(each.n_pair, each.n_left_out) for each in shown}
        n_pair, n_left_out = min(numbers)
        pairs = f"{counted(n_pair, self._noun)} in pairs"
        if len(numbers) > 1:
            return f"At least {pairs}; those without a value in {a} or {b} are left out."
        return f"{pairs}; {n_left_out} without a value in {a} or {b} left out." if n_left_out else f"{pairs}."

    def _verdict(self, shown: Sequence[Difference], tied: bool) -> str:
        """Return the system that is significantly ahead in each measure, and whether ties could change that."""
        certain, on_average = (
            " whatever the ties do" if tied else "",
            f" by {self._by(shown)}, but not for every tie-breaking",
        )
        ahead: dict[tuple[str, str], list[str]] = {(end, side): [] for end in (certain, on_average) for side in "AB"}
        for row in shown:
            if row.ahead is not None:
                ahead[certain if row.ahead == row.ahead_worst_case else on_average, row.ahead].append(row.name)
        called = dict(zip("AB", self.names, strict=True))
        parts = [f"{called[side]} is ahead in {listed(found)}{end}" for (end, side), found in ahead.items() if found]
        nobody = [row.name for row in shown if row.ahead is None]
        if nobody:
            parts.append(f"{'no' if parts else 'No'} significant difference in {listed(nobody)}")
        return f"{'; '.join(parts)} (p < {self.test.alpha:g})."

    def explain(self) -> str:
        """Explain each column, how it is tested, and how many queries each system wins."""
        (a, b), shown, test = map(printable, self.names), self._shown(), self.test
        units = UNITS[self._unit]
        asked = {
            "two-sided": "whether they differ", "greater": f"whether {a} is better", "less": f"whether {a} is worse"
        }[test.alternative]  # fmt: skip
        exact, drawn = [each.is_exact for each in shown], f"{test.n_resamples} random swaps"
        some = f"{drawn}, or every one where there are fewer" if any(exact) else drawn
        wins = "".join(
            f"\n  {each.name}: {a} {each.n_wins_a}, {b} {each.n_wins_b}; {each.n_equal} equal, "
            f"{count(each.n_open, 'depends', 'depend')} on the ties"
            for each in shown
        )
        return "\n".join([
            f"{a}, {b}: means over the pairs that count. A number with [lower, upper] is the expected value over all "
            "tie-breakings, and what it is in the worst and in the best of them; a number alone does not depend on "
            "ties.",
            f"{a} - {b}: the mean difference, query by query. In lower, {a}'s ties are broken in the worst way and "
            f"{b}'s in the best.",
            f"{100 * test.confidence_level:g} % interval: of the difference of {self._by(shown)}, for the population "
            f"that the {units} were drawn from; {test.method} bootstrap over {units}, {test.n_resamples} resamples.",
            f"p: paired permutation test of {self._by(shown)}, {test.alternative}: {asked}. It swaps the two, as if "
            f"chance had decided which one is which: {'every swap' if all(exact) else some} of {units}.",
            "worst-case p over all tie-breakings: the largest p that any way to break the ties has. The column is left "
            "out where no tie changes anything.",
            f"ahead: p < {test.alpha:g}. Each measure is tested by itself; `false_discovery` adjusts for several.",
            *([f"Queries won, whatever the ties do:{wins}"] if self._noun == "query" else []),
        ])  # fmt: skip

    def _shown(self) -> list[Difference]:
        return [self[name] for name in self.measures]

    def facts(self) -> dict[str, Any]:
        """Return the settings of the tests, both systems, and the difference for each measure."""
        return {
            "test": {**vars(self.test), "by": self.by},
            "average": self.a.average,
            "names": list(self.names),
            "a": about(self.a),
            "b": about(self.b),
            "measures": {name: self[name].to_dict() for name in self.measures},
        }


def _require_answers(report: Report | UnitValues, name: str) -> None:
    """Refuse a system that ranked nothing, or nothing that is judged: that is a failure and no result."""
    if isinstance(report, UnitValues):
        if not report.n_answered:
            raise InvalidValueError(name, "must return something for some query, but returns nothing for any")
        return
    for profile, what in ((report.profile, "something"), (report.judged, "something that is judged")):
        if profile is not None and not profile.returned_set[0].any():
            raise InvalidValueError(name, f"must rank {what} for some query, but ranks nothing of the kind for any")


def about(report: Report | UnitValues) -> dict[str, Any]:
    if isinstance(report, UnitValues):
        return dict(report.settings)
    return {"distance": report.distance, "ties": report.tie_rule, "profile": report.profile.digest()}


BY: dict[By, str] = {
    "lower": "the lower bounds", "expected": "the expected values", "upper": "the upper bounds"
}  # fmt: skip


def bounds_tested(by: By, measures: Sequence[Measure]) -> str:
    """Name the values that are tested: the guaranteed bound is the upper one where less is better."""
    ends = list(dict.fromkeys(measure.end(by) for measure in measures))
    return BY[ends[0]] if len(ends) == 1 else f"{BY[by]}, or {BY[ends[1 - ends.index(by)]]} where less is better"


def in_per_cent(measures: Sequence[Measure], values: str = "") -> list[str]:
    """Return a sentence on the values of a table: that they are in per cent, unless units differ or are others."""
    unit = ["Per cent"] if all(measure.unit == "fraction" for measure in measures) else []
    text = "; ".join([*unit, *filter(None, [values])])
    return [f"{text[0].upper()}{text[1:]}."] if text else []


def listed(names: Sequence[str], most: int | None = None, noun: str = "") -> str:
    """Join names for a sentence; of more than `most` the first, and how many more there are.

    Examples
    --------
    >>> listed(["mAP"]), listed(["mAP", "MRR", "Hit@1"]), listed(["mAP", "MRR", "Hit@1"], 1, "measures")
    ('mAP', 'mAP, MRR and Hit@1', 'mAP and 2 more measures')
    """
    names = some(names, len(names) if most is None else most, noun)
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def some(names: Sequence[str], most: int, noun: str = "") -> list[str]:
    """Return the names; of more than `most` the first, and how many more there are."""
    more = [f"{len(names) - most} more {noun}".rstrip()] if len(names) > most else []
    return [*names[:most], *more]


@plain_floats
def compare(
    a: Report | Mapping[str, ArrayLike] | HasUnits,
    b: Report | Mapping[str, ArrayLike] | HasUnits,
    *,
    names: Iterable[str] | None = None,
    measures: str | Iterable[str] | None = None,
    by: By = "lower",
    resample: Average | None = None,
    labels: QueryLabels | None = None,
    alternative: Literal["two-sided", "greater", "less"] = "two-sided",
    confidence_level: float = 0.95,
    method: str = "percentile",
    n_resamples: int = 9999,
    seed: int = 0,
) -> Comparison:
    """Compare two systems on the same queries: paired tests, and wins that hold however the ties fall.

    Parameters
    ----------
    a, b : Report, or another result with a value for each unit
        Reports on the same queries, with the same average. They are matched by `query_ids` where both profiles have
        them, and by position otherwise; where both reports know the classes of the queries, these must agree. A query
        that only one of them has is left out if it has no relevant item, and an error if it has. Or two of the
        `Recall` of an index, of `deadheat.hash_lookup`, or of `deadheat.classification` on the same items; or
        dictionaries of measures with an array of values in [0, 1], one for each query (NaN for none).
    names : (str, str), optional
        Names of the two in the table and in the notes; by default those of two indexes, else "A" and "B".
    measures : str or iterable of str, optional
        The measures in the table; by default those that both reports show. Any other can be asked for by its name.
    by : {"lower", "expected", "upper"}
        The value of both systems that is tested, as `deadheat.leaderboard` ranks by it. A system reaches its lower
        bound however its ties are broken, so that a test of lower bounds is one of guaranteed scores. For a measure of
        which less is better, such as MnR, "lower" stands for the guaranteed upper bound, and "upper" for the lower one.
    resample : {"query", "class"}, optional
        The independent units, which tests swap and the bootstrap draws: queries, or whole classes. By default classes,
        if labels are known and there is no separate gallery, since the queries of a class are then correlated.
    labels : (n_query,) or dict, optional
        The labels of the queries of `a`, or ``{query_id: label}``, to take their classes as units; by default those
        that the reports know.
    alternative : {"two-sided", "greater", "less"}
        The alternative hypothesis: A and B differ, A is better than B, or A is worse.
    confidence_level : float
        The level of each single interval, strictly between 0 and 1.
    method : {"percentile", "BCa"}
        The bootstrap for the intervals; see `deadheat.reports.statistics.intervals`.
    n_resamples : int
        The number of bootstrap resamples, and of random swaps in the permutation test. Where there are no more swaps
        than that (up to 13 units that differ, by default), every one is tried and the test is exact.
    seed : int
        The seed of all random draws. The same seed gives the same result on any machine.

    Returns
    -------
    Comparison
        Tests are run on demand.

    Raises
    ------
    ValueError, TypeError
        If the reports are not of the same queries or not of the same average, or show no measure in common.

    Notes
    -----
    **Ties:** `Difference.pvalue` and `Difference.ahead` compare the same bound of both. The worst case for A is its
    lower value against B's upper one, for each query; `Difference.winner` and `Difference.pvalue_worst_case` hold
    however the ties fall, in A and in B.

    **Unjudged documents** that are unknown (``unjudged="unknown"``) are those of the union of what both retrieved. The
    two have the same ones, but the bounds of a difference allow each its own relevant ones: they hold, and are wide.

    For n queries each test takes time proportional to n_resamples × n, in memory that does not grow with it: a few
    seconds for 100 000 queries, and about ten for the interval.

    Nothing depends on the order of the queries, and comparing B with A gives the same p-values as A with B.

    **One mechanism**: any two systems with a value for each unit are compared, and gated, in the same way. Where values
    are hits, 0 or 1, the permutation test over queries is the exact sign test of the queries that differ, which is
    McNemar's exact test of their two-by-two table.

    P-values are not adjusted for several tests. With 20 measures, or 20 systems, one of 20 falls below 0.05 by chance:
    decide on the measure beforehand, or see `Comparison.false_discovery`.

    Examples
    --------
    A finds the relevant item first in three queries of three. B ties it with another one in two of them:

    >>> from deadheat import evaluate, TieProfile
    >>> a = evaluate(TieProfile.from_groups([[(0, 0, 1, 1)]] * 3, n_ranked=[2] * 3), "MRR")
    >>> b = evaluate(TieProfile.from_groups([[(0, 0, 1, 1)]] + [[(0, 0, 2, 1)]] * 2, n_ranked=[2] * 3), "MRR")
    >>> difference = compare(a, b)["MRR"]
    >>> round(difference.lower, 4), round(difference.expected, 4), round(difference.upper, 4)
    (0.0, 0.1667, 0.3333)
    >>> difference.n_wins_a, difference.n_wins_b, difference.n_open, difference.n_equal
    (0, 0, 2, 1)

    The guaranteed score of B is lower by 1/2 in two queries. Swapping either gives a smaller sum; one of the four swaps
    gives a sum as large, and the two-sided p-value is twice 1/4:

    >>> round(difference.tested, 4), difference.pvalue, difference.pvalue_worst_case
    (0.3333, 0.5, 1.0)
    """
    one, two = _with_units(a, "a"), _with_units(b, "b")
    if names is None and isinstance(one, UnitValues) and isinstance(two, UnitValues) and one.name != two.name:
        names = one.name or "A", two.name or "B"
    called = checks.two_names(("A", "B") if names is None else names)
    both = "a and b" if called == ("A", "B") else " and ".join(called)
    if isinstance(one, Report) and isinstance(two, Report):
        one, two = over_union((one, two))
    place_in_b, n_query, averaging = matched(one, two, both)
    if measures is None:
        shown = common_means([one, two])
    else:
        shown = one._names(measures) if isinstance(one, UnitValues) else measure_names(measures, one.rel)
    if not shown:
        measured = f"{', '.join(one.measures)} and {', '.join(two.measures)}"
        raise InvalidValueError(both, f"must show a measure in common, or measures be given, but they show {measured}")
    median = next((name for name in shown if _measure(one, name).median), None)
    if median is not None:
        raise InvalidValueError("measures", f"must be means, which paired tests compare, but {median} is a median")
    checks.choice(by, get_args(By), "by")
    test = PairedTest(
        resample=averaging.units(resample, labels), alternative=alternative, confidence_level=confidence_level,
        method=method, n_resamples=n_resamples, seed=seed,
    )  # fmt: skip
    clusters, caveats = averaging.clusters(resample, labels), averaging.caveats(resample, labels)
    return Comparison(one, two, called, shown, test, by, n_query, place_in_b, clusters, caveats)


def matched(a: Report | UnitValues, b: Report | UnitValues, both: str) -> tuple[Int64, int, Averaging]:
    """Find each query of A in B, or -1; return their places, the number of queries and the averaging of both.

    Raises an error that begins with `both` if the results are not of the same queries, or not averaged equally.
    """
    _require_same_kind(a, b, both)
    place_in_b, n_query = _matched(a, b, both)
    _require_same_weights(a, b, place_in_b, both)
    _require_same_classes(a, b, place_in_b, both)
    return place_in_b, n_query, _averaging(a, b, place_in_b)


def _with_units(values: Any, name: str) -> Report | UnitValues:
    """Return a report as it is, and the values of each unit of any other result."""
    if isinstance(values, Report):
        return values
    result = unit_values(values)
    if result is None:
        kinds = "a Report, a result with a value for each query, or a dictionary of arrays"
        raise InvalidTypeError(name, f"must be {kinds}, but is {type(values).__name__}")
    return result


def _require_same_kind(a: Report | UnitValues, b: Report | UnitValues, both: str) -> None:
    """Refuse two systems whose values mean different things."""
    facts = [
        {"average": each.average, "singletons": each.singletons} if isinstance(each, Report)
        else {"unit": each.unit, **each.settings} for each in (a, b)
    ]  # fmt: skip
    if facts[0].keys() != facts[1].keys():
        raise InvalidValueError(both, "must be results of one kind")
    for name, (of_a, of_b) in ((name, [each[name] for each in facts]) for name in facts[0]):
        if of_a != of_b:
            raise InvalidValueError(both, f"must have the same {name}, but have {of_a!r} and {of_b!r}")


def common_means(reports: Iterable[Report | UnitValues]) -> tuple[str, ...]:
    """Return the measures that all results show, without medians, which paired tests do not compare."""
    first, *others = reports
    shown = (name for name in first.measures if all(name in other.measures for other in others))
    return tuple(name for name in shown if not _measure(first, name).median)


def _measure(values: Report | UnitValues, name: str) -> Measure:
    return values.measure(name) if isinstance(values, UnitValues) else parse(name)


def _averaging(a: Report | UnitValues, b: Report | UnitValues, place_in_b: Int64) -> Averaging:
    """Return the averaging of A, with labels of B where only B has them; leave one out if either may be that."""
    classes = a.labels
    if classes is None and b.classes is not None:
        classes = np.append(b.classes, -1)[place_in_b]
    separate = all(report.separate_gallery for report in (a, b) if report.labels is not None)
    return replace(a._averaging, labels=classes, separate_gallery=separate and classes is not None)


def _matched(a: Report | UnitValues, b: Report | UnitValues, both: str) -> tuple[Int64, int]:
    """Find each query of A in B, or -1, and the number of queries: by ids if both have them, else by position."""
    ids_a, ids_b = a._averaging.query_ids, b._averaging.query_ids
    if ids_a is None or ids_b is None or ids_a == ids_b:
        if a.n_query != b.n_query:
            unlike = "" if ids_a is None and ids_b is None else ", and only one of them has query_ids"
            units = UNITS[a.unit] if isinstance(a, UnitValues) else "queries"
            raise InvalidValueError(both, f"must be of the same {units}, but have {a.n_query} and {b.n_query}{unlike}")
        return np.arange(a.n_query), a.n_query
    in_a, in_b = ({query: place for place, query in enumerate(ids)} for ids in (ids_a, ids_b))
    lacking = {}
    for name, report, places, others in (("a", a, in_a, in_b), ("b", b, in_b, in_a)):
        if len(places) < report.n_query:
            raise InvalidValueError(name, "must have distinct query_ids to be matched by them, but has some twice")
        counted = np.full(report.n_query, True)
        if isinstance(report, Report) and report.singletons == "skip":
            counted = report.profile.n_relevant > 0
        lacking[name] = [query for query, place in places.items() if query not in others and counted[place]]
    listed = [f"{len(ids)} only in {name} ({ids[0]!r}, ...)" for name, ids in lacking.items() if ids]
    if listed:
        raise InvalidValueError(both, f"must be of the same queries, but of those with a value {' and '.join(listed)}")
    in_b_of_a = np.array([in_b.get(query, -1) for query in ids_a], dtype=np.int64)
    return in_b_of_a, len(in_a.keys() | in_b.keys())


def _require_same_weights(a: Report | UnitValues, b: Report | UnitValues, place_in_b: Int64, both: str) -> None:
    of_a, of_b = a._averaging.weights, b._averaging.weights
    if (of_a is None) != (of_b is None):
        raise InvalidValueError(both, "must both have weights of the queries, or neither")
    if of_a is not None and of_b is not None and (of_a != np.append(of_b, 0.0)[place_in_b])[place_in_b >= 0].any():
        raise InvalidValueError(both, "must have the same weights of the queries")


def _require_same_classes(a: Report | UnitValues, b: Report | UnitValues, place_in_b: Int64, both: str) -> None:
    """Refuse reports whose queries have different labels: they are other queries, or in another order."""
    if a.classes is None or b.classes is None:
        return
    in_both = place_in_b >= 0
    of_a, of_b = a.classes[in_both], b.classes[place_in_b[in_both]]
    if np.array_equal(of_a, of_b):
        return
    n_distinct_pair = len(np.unique(np.stack([of_a, of_b]), axis=1).T)
    if not n_distinct_pair == len(np.unique(of_a)) == len(np.unique(of_b)):
        raise InvalidValueError(both, "must be of the same queries in the same order, but their labels differ")
