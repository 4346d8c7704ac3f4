"""Error-reject (risk-coverage) curves, and a report that combines the analyses of one confidence.

In come a value and a confidence of each query, or a report; out come a `RejectCurve`, or a `ConfidenceReport`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deadheat.analyses.confidence.hits import (
    ConfidenceAccuracy,
    Values,
    about_queries,
    confidence_accuracy,
    integers,
    matched,
    mean_of_all,
    panel_of_triples,
)
from deadheat.analyses.confidence.targets import RankCorrelation, rank_correlation
from deadheat.errors import InvalidTypeError
from deadheat.reports.answer import Answer, Column, Panel, stacked
from deadheat.reports.report import Report
from deadheat.reports.tables import plain
from deadheat.support.arrays import Float64, Int64
from deadheat.support.floats import plain_floats
from deadheat.support.triple import Triple

_AREAS = {
    "area": "area under the curve",
    "optimal_area": "in the perfect order",
    "excess_area": "excess over that",
    "random_area": "in a random order",
}
REJECTED = (0, 5, 10, 20, 50)  # per cent of the queries
_HIT = "Hit@1"


@dataclass(frozen=True, eq=False)
class RejectCurve(Answer):
    """Mean error of the queries that are kept when the least confident ones are rejected.

    Printing gives the areas, in per cent; a data frame has the curve, and everything else is a fraction in [0, 1].
    Entry k − 1 of every array is about the k most confident queries. **Ties:** see `error_reject_curve`.

    Attributes
    ----------
    confidence : (n_query,)
        The confidences, highest first: entry k − 1 is the threshold that keeps k queries, if none ties across it.
    lower, expected, upper : (n_query,) float64
        The mean error of the k most confident queries.
    optimal : Triple
        The same in the perfect order, least error first. `lower` is that of the least errors that distance ties allow,
        `upper` of the largest; `expected` is NaN where an error depends on ties.
    random_area : Triple[float]
        The mean area of a random order: the mean error.
    n_left_out : int
        Queries without a value.
    n_tied : int
        Queries whose confidence another query has too.
    n_open : int
        Queries whose value depends on distance ties.
    """

    confidence: NDArray[Any]
    lower: Float64
    expected: Float64
    upper: Float64
    optimal: Triple[Float64]
    random_area: Triple[float]
    n_left_out: int
    n_tied: int
    n_open: int

    @property
    def n_query(self) -> int:
        """Number of queries that count."""
        return len(self.lower)

    @property
    def coverage(self) -> Float64:
        """The share of queries that are kept, k / n: (n_query,)."""
        return np.arange(1, self.n_query + 1) / self.n_query

    @property
    def rejected(self) -> Float64:
        """The share of queries that are rejected, (n − k) / n: (n_query,)."""
        return np.arange(self.n_query - 1, -1, -1) / self.n_query

    @property
    def area(self) -> Triple[float]:
        """The mean over k of the mean errors: the area under the curve, called ERC or AURC."""
        return Triple(*map(mean_of_all, (self.lower, self.expected, self.upper)))

    @property
    def optimal_area(self) -> Triple[float]:
        """The area in the perfect order of the errors; `expected` is NaN where an error depends on ties."""
        return Triple(*map(mean_of_all, self.optimal))

    @property
    def excess_area(self) -> Triple[float]:
        """The area minus that of the perfect order: excess AURC.

        **Ties:** exact if no value depends on distance ties. Otherwise the errors that minimise the area need not be
        those that make the perfect order worst, so that `lower` and `upper` are outer bounds and `expected` is NaN.
        """
        area, best = self.area, self.optimal_area
        return Triple(max(0.0, area.lower - best.upper), area.expected - best.expected, area.upper - best.lower)

    def panels(self) -> list[Panel]:
        """Return a table of the areas."""
        return [panel_of_triples("error", self.titled_areas())]

    def data(self, **options: Any) -> Panel:
        """Return the curve: a row for each number of queries that are kept, not one for each area."""
        curve = Triple(self.lower, self.expected, self.upper)
        bounds = {f"{prefix}{end}": values for prefix, each in (("", curve), ("optimal_", self.optimal))
                  for end, values in each._asdict().items()}  # fmt: skip
        return Panel([
            Column("n_kept", range(1, self.n_query + 1), "count"),
            Column("coverage", self.coverage.tolist(), "fraction"),
            Column("confidence", self.confidence.tolist(), "number"),
            *(Column(name, values.tolist(), "fraction") for name, values in bounds.items()),
        ])  # fmt: skip

    def facts(self) -> dict[str, Any]:
        """Return the areas and the counts; the curve is in `columns`."""
        return self._facts_of(*_AREAS, "n_query", "n_left_out", "n_tied", "n_open")

    def notes(self) -> list[str]:
        """Return a note on the queries that count, and on those that tie."""
        tied = f" The confidences of {self.n_tied} tie." if self.n_tied else ""
        return [about_queries(self.n_query, self.n_left_out, self.n_open) + tied]

    def titled_areas(self) -> dict[str, Triple[float]]:
        """Return the areas by their titles in tables."""
        return {title: getattr(self, name) for name, title in _AREAS.items()}


@plain_floats
def error_reject_curve(values: Values, confidence: ArrayLike) -> RejectCurve:
    """Return the mean error, 1 − value, of the k most confident queries, for every k.

    Its area, the mean over all k, is the error-reject measure ERC [1]_, [2]_; the same number is the area under the
    risk-coverage curve, AURC, for the risk 1 − value [3]_.

    Parameters
    ----------
    values : (n_query,) array, Triple or Result
        A value in [0, 1] for each query, of any measure; NaN for a query that is left out.
    confidence : (n_query,)
        Finite numbers of any scale; only their order counts.

    Notes
    -----
    Ties: queries of equal confidence may come in any order. `lower` has the least errors first in each group of them,
    `upper` the largest, and `expected` is the mean over all orders, all equally likely. The bounds hold at every k at
    once, for one order attains them all. Values that depend on distance ties add to this: a lower error is 1 − the
    upper value. The two kinds of ties are broken independently.

    Undefined: without any query the arrays are empty and the areas NaN. `expected` is NaN if the values have no
    expectation, as under a tolerance.

    References
    ----------
    .. [1] The library tinkoff-ai/probabilistic-embeddings, metrics/nearest.py: ERC by Recall@K and by MAP@R.
    .. [2] The study arrrrrmin/ranking-metrics, metrics.py.
    .. [3] Geifman, Uziel, El-Yaniv 2019, Bias-reduced uncertainty estimation for deep neural classifiers.

    Examples
    --------
    Right, wrong, right. The last two are equally confident, so the error of the first two is 0, 1/2, or 1/4 on average:

    >>> curve = error_reject_curve([1, 0, 1], [0.9, 0.5, 0.5])
    >>> curve.lower.round(4), curve.expected.round(4), curve.upper.round(4)
    (array([0.    , 0.    , 0.3333]), array([0.    , 0.25  , 0.3333]), array([0.    , 0.5   , 0.3333]))
    >>> curve.area.lower == 1 / 9, curve.excess_area.lower
    (True, 0.0)
    """
    bounds, sure, n_left_out = matched(values, confidence, "values")
    distinct, number = np.unique(sure, return_inverse=True)
    group = len(distinct) - 1 - number  # of equal confidences, 0 for the highest
    sizes, order = np.bincount(group, minlength=len(distinct)), np.argsort(group, kind="stable")
    lower = _running_errors(bounds.upper[np.lexsort((-bounds.upper, group))])
    expected = _expected_errors(bounds.expected[order], sizes)
    upper = _running_errors(bounds.lower[np.lexsort((bounds.lower, group))])
    best, worst = _running_errors(-np.sort(-bounds.upper)), _running_errors(-np.sort(-bounds.lower))
    n_open = int(np.count_nonzero(bounds.lower < bounds.upper))
    return RejectCurve(
        confidence=sure[order],
        lower=lower,
        expected=expected,
        upper=upper,
        optimal=Triple(best, np.full(len(sure), np.nan) if n_open else best, worst),
        random_area=Triple(*(float(errors[-1]) if len(errors) else math.nan for errors in (lower, expected, upper))),
        n_left_out=n_left_out,
        n_tied=int(sizes[sizes > 1].sum()),
        n_open=n_open,
    )


def _running_errors(values: Float64) -> Float64:
    """Return the mean of 1 − value over the first k entries, for every k: exact, rounded once."""
    numerators, scale = integers(values)
    sums = accumulate(scale - numerator for numerator in numerators)
    return np.array([total / (k * scale) for k, total in enumerate(sums, 1)], dtype=np.float64)


def _expected_errors(values: Float64, sizes: Int64) -> Float64:
    """Return these means averaged over all orders within groups of `sizes`; their sums are linear inside a group."""
    if np.isnan(values).any():
        return np.full(len(values), np.nan)
    numerators, scale = integers(values)
    means, before, start = [], 0, 0
    for size in sizes.tolist():
        total = size * scale - sum(numerators[start : start + size])
        means += [(before * size + j * total) / ((start + j) * size * scale) for j in range(1, size + 1)]
        before, start = before + total, start + size
    return np.array(means, dtype=np.float64)


@dataclass(frozen=True, eq=False)
class ConfidenceReport(Answer):
    """Error-reject curves, accuracy and rank correlation of a confidence, by the measures of a report.

    Attributes
    ----------
    curves : dict of str to RejectCurve
        The error-reject curve of each measure.
    accuracy : ConfidenceAccuracy
        The confidence as a guess at Hit@1, the study's "confidence against Recall@1".
    correlation : RankCorrelation or None
        The rank correlation with a target; None if none was given.
    """

    curves: dict[str, RejectCurve]
    accuracy: ConfidenceAccuracy
    correlation: RankCorrelation | None

    def panels(self) -> list[Panel]:
        """Return a table for each measure, one of the accuracy, and one of the correlations."""
        panels = [panel_of_triples(title, rows, title) for title, rows in self._parts().items()]
        return panels + ([] if self.correlation is None else self.correlation.panels())

    def data(self, **options: Any) -> Panel:
        """Return a row for each value: its part, its name and its bounds."""
        parts = self._parts()
        if self.correlation is not None:
            parts["rank correlation"] = {"rho": self.correlation.rho, "tau": self.correlation.tau}
        return stacked([panel_of_triples(title, rows, title) for title, rows in parts.items()])

    def facts(self) -> dict[str, Any]:
        """Return the parts; of curves, areas and errors at some rates."""
        curves = {}
        for name, curve in self.curves.items():
            at = {f"{percent / 100:g}": errors for percent, errors in _errors(curve)}
            curves[name] = curve.facts() | {"error_at_rejected": plain(at)}
        correlation = None if self.correlation is None else self.correlation.facts()
        return {"curves": curves, "accuracy": self.accuracy.facts(), "correlation": correlation}

    def notes(self) -> list[str]:
        """Return notes on the queries that count by each measure, the best threshold, and the correlation."""
        notes = [f"{name}: {note}" for name, curve in self.curves.items() for note in curve.notes()]
        notes += self.accuracy.notes()[:-1]
        return notes + ([] if self.correlation is None else [f"Correlation: {self.correlation.notes()[0]}"])

    def _parts(self) -> dict[str, dict[str, Triple[float]]]:
        parts = {}
        for name, curve in self.curves.items():
            rejecting = {f"rejecting {percent} %": at for percent, at in _errors(curve)}
            parts[f"error by {name}"] = curve.titled_areas() | rejecting
        return parts | {f"confidence against {_HIT}": self.accuracy.titled_values()}


@plain_floats
def confidence_report(report: Report, confidence: ArrayLike, target: ArrayLike | None = None) -> ConfidenceReport:
    """Return the error-reject curve of each measure, the accuracy of the confidence, and its correlation with a target.

    Parameters
    ----------
    report : Report
        Of measures with values in [0, 1].
    confidence : (n_query,)
        Finite numbers of any scale; larger is more confident.
    target : (n_query,), optional
        Numbers in the order that the confidence should have. With a target for uncertainty, such as an entropy, a good
        confidence correlates negatively.

    Returns
    -------
    ConfidenceReport
        Each part treats ties as `error_reject_curve`, `confidence_accuracy` and `rank_correlation` do.

    Examples
    --------
    >>> import deadheat as dh
    >>> report = dh.evaluate([[0.0], [1.0], [-1.0]], ["a", "a", "b"], distance="euclidean", measures="Hit@1")
    >>> found = confidence_report(report, [2, 1, 0])
    >>> found.curves["Hit@1"].area
    Triple(lower=0.0, expected=0.375, upper=0.75)
    >>> found.accuracy.mean_accuracy.upper
    0.5
    """
    if not isinstance(report, Report):
        raise InvalidTypeError("report", f"must be a Report, as evaluate returns, but is {type(report).__name__}")
    return ConfidenceReport(
        {name: error_reject_curve(report[name], confidence) for name in report},
        confidence_accuracy(report[_HIT], confidence),
        None if target is None else rank_correlation(confidence, target),
    )


def _errors(curve: RejectCurve) -> list[tuple[int, Triple[float]]]:
    """Return the error of the kept queries for each share of `REJECTED`, whose count is rounded down."""
    n, curves = curve.n_query, (curve.lower, curve.expected, curve.upper)
    kept = {percent: n - n * percent // 100 for percent in REJECTED}
    return [(percent, Triple(*(float(values[k - 1]) for values in curves))) for percent, k in kept.items()]
