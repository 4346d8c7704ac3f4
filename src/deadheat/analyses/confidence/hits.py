"""Accuracy and calibration of a confidence: how well it predicts which queries are right, from hits and confidences.

The first part is shared by all analyses of confidences: checked and matched values, exact sums, parts of tables.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deadheat.errors import InvalidTypeError, InvalidValueError
from deadheat.reports.answer import Answer, Column, Panel
from deadheat.reports.report import Report
from deadheat.reports.result import Result
from deadheat.reports.tables import count
from deadheat.reports.unit_values import fractions, numbers
from deadheat.support import checks
from deadheat.support.arrays import Float64, Int64
from deadheat.support.floats import plain_floats
from deadheat.support.means import exact_mean
from deadheat.support.triple import Triple

Values: TypeAlias = "ArrayLike | Triple[Float64] | Result"

UNDEFINED = Triple(math.nan, math.nan, math.nan)


def matched(values: Values, confidence: ArrayLike, name: str) -> tuple[Triple[Float64], NDArray[Any], int]:
    """Return the values that are defined, their confidences, and the number of queries without a value."""
    if isinstance(values, Report):
        raise InvalidTypeError(name, "must be those of one measure, such as report['Hit@1'], but is a whole Report")
    bounds = fractions(values.per_query if isinstance(values, Result) else values, name)
    sure = confidences(confidence, "confidence")
    if len(bounds.lower) != len(sure):
        numbers = f"{len(sure)} confidences for {len(bounds.lower)} queries"
        raise InvalidValueError("confidence", f"must have one entry per query, but got {numbers}")
    counted = ~np.isnan(bounds.lower)
    return Triple(*(array[counted] for array in bounds)), sure[counted], int(np.count_nonzero(~counted))


def matched_hits(correct: Values, confidence: ArrayLike) -> tuple[Triple[Float64], NDArray[Any], int]:
    """Match values as `matched` does, and check that they are 0 or 1."""
    hits, sure, n_left_out = matched(correct, confidence, "correct")
    for array in (hits.lower, hits.upper):
        for odd in array[(array != 0) & (array != 1)][:1]:
            raise InvalidValueError("correct", f"must be 0 or 1 for each query, as Hit@1 is, but holds {odd}")
    return hits, sure, n_left_out


def confidences(values: Any, name: str) -> NDArray[Any]:
    array = numbers(values, name)
    for at in np.flatnonzero(~np.isfinite(array))[:1]:
        raise InvalidValueError(name, f"must be finite, but entry {at} is {array[at]}")
    return array


def mean_of_all(values: Float64) -> float:
    """Return the mean of values: NaN if any of them is, or if there are none."""
    return math.nan if np.isnan(values).any() else exact_mean(values)


def integers(values: Float64) -> tuple[list[int], int]:
    """Return floats as integers over one power of two. Python divides integers of any size with one rounding."""
    ratios = [value.as_integer_ratio() for value in values.tolist()]
    scale = max((denominator for _, denominator in ratios), default=1)
    return [numerator * (scale // denominator) for numerator, denominator in ratios], scale


def panel_of_triples(title: str, rows: Mapping[str, Triple[float]], part: str | None = None) -> Panel:
    """Return a table with a row for each name; `part` tells its rows from those of others in a frame."""
    columns = [Column("value", list(rows), title=title), Column("", list(rows.values()), "fraction", shape="bounds")]
    return Panel(columns, key="", part=None if part is None else ("part", part))


def about_queries(n_query: int, n_left_out: int, n_open: int) -> str:
    """Return a note on the queries that count, those without a value, and the values that distance ties decide."""
    left_out = f", and {n_left_out} without a value, left out" if n_left_out else ""
    decided = f" Distance ties decide {count(n_open, 'value', 'values')}." if n_open else ""
    return f"{count(n_query, 'query', 'queries')}{left_out}.{decided}"


_MOST_BINS = 10_000
_ANY_SCALE = "error_reject_curve, confidence_accuracy and rank_correlation take any scale"


@dataclass(frozen=True)
class ConfidenceAccuracy(Answer):
    """Accuracy of the guess that a query is right if its confidence >= threshold, and AUROC.

    Attributes
    ----------
    mean_accuracy : Triple[float]
        The accuracy of the guess, averaged over all thresholds: the study's "confidence against Recall@1".
    best_accuracy : float
        The accuracy at the best threshold; the threshold is chosen on the same queries, which flatters it.
    best_threshold : float
        That threshold, the highest if there are several; infinity if it is best to guess that no query is right.
    majority_accuracy : float
        The accuracy of one guess for all queries, right or wrong, whichever is better.
    auroc : float
        The probability that a right query has a higher confidence than a wrong one; equal confidences count one half.
    right : Triple[float]
        The share of right queries.
    n_query, n_left_out, n_open : int
        Queries that count, that have no value, and whose hit depends on distance ties.
    """

    mean_accuracy: Triple[float]
    best_accuracy: float
    best_threshold: float
    majority_accuracy: float
    auroc: float
    right: Triple[float]
    n_query: int
    n_left_out: int
    n_open: int

    def panels(self) -> list[Panel]:
        """Return a table of the values."""
        return [panel_of_triples("accuracy", self.titled_values())]

    def facts(self) -> dict[str, Any]:
        """Return the values; None where one is undefined or infinite."""
        values = self._facts_of(*self.__dataclass_fields__)
        return values | {"best_threshold": None} if math.isinf(self.best_threshold) else values

    def notes(self) -> list[str]:
        """Return notes on the best threshold and on the queries that count."""
        at, about = self.best_threshold, about_queries(self.n_query, self.n_left_out, self.n_open)
        if math.isnan(at):
            return [about]
        taken = "no query for right" if math.isinf(at) else f"a query for right from a confidence of {at:.6g} up"
        return [f"The best guess takes {taken}.", about]

    def titled_values(self) -> dict[str, Triple[float]]:
        """Return the values by their titles in tables; a single value stands for all three bounds."""
        return {
            "mean over thresholds": self.mean_accuracy,
            "best threshold": Triple(*[self.best_accuracy] * 3),
            "one guess for all": Triple(*[self.majority_accuracy] * 3),
            "AUROC": Triple(*[self.auroc] * 3),
            "right queries": self.right,
        }


@plain_floats
def confidence_accuracy(correct: Values, confidence: ArrayLike) -> ConfidenceAccuracy:
    """Measure how well "confidence >= threshold" separates the right queries from the wrong ones.

    With prec the share of right queries, and TPR and FPR the shares of the right and of the wrong queries at or above
    a threshold, prec·TPR + (1 − prec)·(1 − FPR) is the accuracy at this threshold. The thresholds are infinity and
    every confidence that occurs, as in scikit-learn's ``roc_curve(drop_intermediate=False)``. The study averages over
    them [1]_; the library that it follows takes the best [2]_.

    Parameters
    ----------
    correct : (n_query,) array, Triple or Result
        1 for a query that was right, else 0, as Hit@1 is; NaN for a query that is left out.
    confidence : (n_query,)
        Finite numbers of any scale; only their order counts.

    Notes
    -----
    Of T + 1 thresholds, for T different confidences, let r lie at or below the confidence of a query. If it is right,
    the guess holds at those r; if it is wrong, at the other T + 1 − r. So a query adds r / (T + 1) or 1 − r / (T + 1)
    to the mean accuracy, whatever the others are.

    Ties: equal confidences are on the same side of every threshold, so that their order decides nothing. For a query
    whose hit depends on distance ties, `mean_accuracy` takes the lesser or the greater of its two terms, or their mean
    weighted by the expected hit: exact bounds, attained together, and the exact expectation. The best accuracy, the
    majority's and AUROC are NaN as soon as one hit depends on ties.

    Undefined: AUROC is NaN where all queries are right or all are wrong. The accuracies are defined even there; the
    study's formula has 0·NaN there, and its code gives NaN. Without any query, everything is NaN.

    References
    ----------
    .. [1] The study arrrrrmin/ranking-metrics, metrics.py, conf_vs_recall_at_1.
    .. [2] The library tinkoff-ai/probabilistic-embeddings, metrics/nearest.py, ConfidenceRecallAccuracy.

    Examples
    --------
    The most confident of three is right, the others are wrong. At the thresholds inf, 3, 2, 1, the guess holds for
    2, 3, 2 and 1 of them:

    >>> found = confidence_accuracy([True, False, False], [3, 2, 1])
    >>> found.mean_accuracy.expected == 8 / 12
    True
    >>> found.best_accuracy, found.best_threshold, found.auroc
    (1.0, 3.0, 1.0)
    """
    hits, sure, n_left_out = matched_hits(correct, confidence)
    levels, level = np.unique(sure, return_inverse=True)
    is_open = hits.lower < hits.upper
    best, threshold, majority, auroc = [math.nan] * 4
    if len(sure) and not is_open.any():
        best, threshold, majority, auroc = _of_levels(hits.lower, level, levels)
    return ConfidenceAccuracy(
        mean_accuracy=_over_thresholds(hits, level.astype(np.int64) + 1, len(levels) + 1),
        best_accuracy=best,
        best_threshold=threshold,
        majority_accuracy=majority,
        auroc=auroc,
        right=Triple(*map(mean_of_all, hits)) if len(sure) else UNDEFINED,
        n_query=len(sure),
        n_left_out=n_left_out,
        n_open=int(np.count_nonzero(is_open)),
    )


def _ends(hits: Triple[Float64], if_right: Any, if_wrong: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the least and greatest contribution of each query, which ties may make right or wrong."""
    chosen = [np.where(hit > 0, if_right, if_wrong) for hit in (hits.lower, hits.upper)]
    return np.minimum(*chosen), np.maximum(*chosen)


def _over_thresholds(hits: Triple[Float64], below: Int64, n_threshold: int) -> Triple[float]:
    """Return the mean accuracy over the thresholds, of which `below` lie at or below each query's confidence."""
    if not len(below):
        return UNDEFINED
    whole, above = len(below) * n_threshold, n_threshold - below
    lower, upper = (int(ends.sum()) / whole for ends in _ends(hits, below, above))
    if np.isnan(hits.expected).any():
        return Triple(lower, math.nan, upper)
    chances, scale = integers(hits.expected)
    terms = zip(chances, below.tolist(), above.tolist(), strict=True)
    expected = sum(chance * b + (scale - chance) * a for chance, b, a in terms) / (whole * scale)
    return Triple(lower, expected, upper)


def _of_levels(hits: Float64, level: Int64, levels: NDArray[Any]) -> tuple[float, float, float, float]:
    """Return the best accuracy, its threshold, the accuracy of one guess for all, and AUROC; levels are ascending."""
    right, wrong = (np.bincount(level[hits == value], minlength=len(levels)).astype(np.int64) for value in (1, 0))
    n_right, n_wrong = int(right.sum()), int(wrong.sum())
    at_or_above = np.append(np.cumsum(right[::-1])[::-1], 0)
    below = np.append(0, np.cumsum(wrong))
    holds = (at_or_above + below)[::-1]  # from the highest threshold, so that the first best one is the highest
    best = len(levels) - int(np.argmax(holds))
    threshold = float(levels[best]) if best < len(levels) else math.inf
    doubled_pairs = int((right * (2 * below[:-1] + wrong)).sum())  # in which the right query is more confident
    auroc = doubled_pairs / (2 * n_right * n_wrong) if n_right and n_wrong else math.nan
    return int(holds.max()) / len(hits), threshold, max(n_right, n_wrong) / len(hits), auroc


@dataclass(frozen=True, eq=False)
class Calibration(Answer):
    """The deviation of confidences from the share of right queries.

    Attributes
    ----------
    brier : Triple[float]
        The mean squared difference between confidence and hit.
    ece : Triple[float]
        Expected calibration error: the mean over queries of the gap in their bin between the mean confidence and the
        share of right queries.
    edges : (bins + 1,) float64
        Edges of the bins; a bin holds its upper edge, the first one its lower edge too.
    count : (bins,) int64
        Queries in each bin.
    confidence : (bins,) float64
        Their mean confidence; NaN in an empty bin.
    right : Triple
        The share of right queries in each bin, three arrays (bins,); NaN in an empty bin.
    n_query, n_left_out, n_open : int
        Queries that count, that have no value, and whose hit depends on distance ties.
    """

    brier: Triple[float]
    ece: Triple[float]
    edges: Float64
    count: Int64
    confidence: Float64
    right: Triple[Float64]
    n_query: int
    n_left_out: int
    n_open: int

    def panels(self) -> list[Panel]:
        """Return the scores, and the reliability table: a row for each bin."""
        edges = self.edges.tolist()
        names = [f"{100 * low:.4g} to {100 * high:.4g}" for low, high in pairwise(edges)]
        right = [Triple(*row) for row in np.column_stack(self.right).tolist()]
        bins = [
            Column("confidence", names, title="confidence (%)", only="table"),
            Column("above", edges[:-1], "fraction", only="data"),
            Column("up_to", edges[1:], "fraction", only="data"),
            Column("count", self.count.tolist(), "count", "queries"),
            Column("confidence", self.confidence.tolist(), "fraction", "mean confidence"),
            Column("right", right, "fraction", shape="bounds"),
        ]
        return [panel_of_triples("calibration", {"Brier score": self.brier, "ECE": self.ece}), Panel(bins, key="")]

    def data(self, **options: Any) -> Panel:
        """Return the reliability table."""
        return self.panels(**options)[1]

    def facts(self) -> dict[str, Any]:
        return self._facts_of(*self.__dataclass_fields__)

    def notes(self) -> list[str]:
        """Return a note on the queries that count."""
        return [about_queries(self.n_query, self.n_left_out, self.n_open)]


@plain_floats
def calibration(correct: Values, confidence: ArrayLike, bins: int = 15) -> Calibration:
    """Return Brier score [1]_, expected calibration error [2]_ and the reliability table of confidences in [0, 1].

    Parameters
    ----------
    correct : (n_query,) array, Triple or Result
        1 for a query that was right, else 0, as Hit@1 is; NaN for a query that is left out.
    confidence : (n_query,)
        Probabilities of being right.
    bins : int
        The number of bins of equal width, up to 10000.

    Notes
    -----
    Ties: the confidence decides the bin, so that equal confidences are in one bin. Where hits depend on distance ties,
    the Brier score is a sum over queries and has exact bounds and an exact expectation. The gap of a bin is least or
    greatest for some number of right queries between those that must be right and those that can be: `ece.lower` and
    `ece.upper` are attained. Its expectation is NaN then, since a mean of gaps is not the gap of the means.

    Undefined: without any query, both are NaN.

    References
    ----------
    .. [1] Brier 1950, Verification of forecasts expressed in terms of probability.
    .. [2] Guo, Pleiss, Sun, Weinberger 2017, On calibration of modern neural networks, equation 3.

    Examples
    --------
    Two queries in the bin from 0 to 0.5, both wrong, and two in the bin up to 1, one of them right:

    >>> found = calibration([0, 0, 1, 0], [0.25, 0.25, 0.75, 0.75], bins=2)
    >>> found.ece.expected, found.brier.expected
    (0.25, 0.1875)
    >>> found.confidence, found.right.expected
    (array([0.25, 0.75]), array([0. , 0.5]))
    """
    n_bin = checks.positive_integer(bins, "bins", _MOST_BINS)
    hits, sure, n_left_out = matched_hits(correct, confidence)
    array = confidences(confidence, "confidence")
    for at in np.flatnonzero((array < 0) | (array > 1))[:1]:
        rule = f"must lie in [0, 1], but entry {at} is {array[at]}; {_ANY_SCALE}"
        raise InvalidValueError("confidence", rule)
    sure = sure.astype(np.float64)
    edges = np.arange(n_bin + 1) / n_bin
    at = np.searchsorted(edges[1:], sure)  # a bin holds its upper edge
    members = [np.flatnonzero(at == number) for number in range(n_bin)]
    gaps = [_gap(sure[m], hits.lower[m], hits.upper[m]) for m in members if len(m)]
    is_open = hits.lower < hits.upper
    ece = [math.fsum(ends) / len(sure) for ends in zip(*gaps, strict=True)] if len(sure) else [math.nan] * 2
    return Calibration(
        brier=_brier(hits, sure),
        ece=Triple(ece[0], math.nan if is_open.any() else ece[0], ece[1]),
        edges=edges,
        count=np.array([len(m) for m in members], dtype=np.int64),
        confidence=np.array([mean_of_all(sure[m]) for m in members]),
        right=Triple(*(np.array([mean_of_all(values[m]) for m in members]) for values in hits)),
        n_query=len(sure),
        n_left_out=n_left_out,
        n_open=int(np.count_nonzero(is_open)),
    )


def _gap(confidence: Float64, lower: Float64, upper: Float64) -> tuple[float, float]:
    """Return the least and greatest difference between the sum of confidences and the number of right queries."""
    total, least, most = math.fsum(confidence.tolist()), int(lower.sum()), int(upper.sum())
    near = [min(max(whole, least), most) for whole in (math.floor(total), math.ceil(total))]
    return min(abs(total - right) for right in near), max(abs(total - right) for right in (least, most))


def _brier(hits: Triple[Float64], confidence: Float64) -> Triple[float]:
    if_right, if_wrong = np.square(1 - confidence), np.square(confidence)
    lower, upper = _ends(hits, if_right, if_wrong)
    mixed = hits.expected * if_right + (1 - hits.expected) * if_wrong
    expected = np.minimum(np.maximum(mixed, lower), upper)  # rounding must not leave the bounds
    return Triple(*map(mean_of_all, (lower, expected, upper)))
