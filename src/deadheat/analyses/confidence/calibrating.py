"""A confidence that is meant as a probability: from hits and confidences of queries to a `Calibration`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from deadheat.analyses.confidence import queries
from deadheat.analyses.confidence.queries import Float64, Int64, Values
from deadheat.errors import InvalidValueError
from deadheat.reports.tables import DIGITS, Table, TabularResult, decimals, number
from deadheat.support import checks
from deadheat.support.floats import plain_floats
from deadheat.support.triple import Triple

_MOST_BINS = 10_000
_ANY_SCALE = "error_reject_curve, confidence_accuracy and rank_correlation take any scale"


@dataclass(frozen=True, eq=False)
class Calibration(TabularResult):
    """How far confidences are from the share of right queries.

    Attributes
    ----------
    brier : Triple[float]
        The mean squared difference between confidence and hit.
    ece : Triple[float]
        Expected calibration error: the mean over queries of the gap in their bin between the mean confidence and the
        share of right queries.
    edges : (bins + 1,) float64
        Of the bins; a bin holds its upper edge, the first one its lower edge too.
    count : (bins,) int64
        Queries in each bin.
    confidence : (bins,) float64
        Their mean confidence; NaN in an empty bin.
    right : Triple
        The share of right queries in each bin, three arrays (bins,); NaN in an empty bin.
    n_query, n_left_out, n_open : int
        Queries that count, that have no value, and that distance ties leave open.
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

    def to_dict(self) -> dict[str, Any]:
        """The scores and the table of the bins as plain Python values that JSON can hold; None where undefined."""
        return queries.plain_values(self, self.__dataclass_fields__)

    def columns(self) -> Mapping[str, Sequence[Any]]:
        """The reliability table: a row a bin."""
        arrays = {"above": self.edges[:-1], "up_to": self.edges[1:], "count": self.count, "confidence": self.confidence}
        right = {f"right_{bound}": values for bound, values in self.right._asdict().items()}
        return {name: values.tolist() for name, values in {**arrays, **right}.items()}

    def tables(self, *, digits: int = DIGITS) -> list[Table]:
        """The scores, and the reliability table of the bins, in per cent."""
        rows = []
        for above, up_to, count, *shares in zip(*self.columns().values(), strict=True):
            name = f"{100 * above:.4g} to {100 * up_to:.4g}"
            rows.append([name, str(count), *(number(100 * share, decimals(digits)) for share in shares)])
        header = ("confidence (%)", "queries", "mean confidence", *(f"right, {bound}" for bound in Triple._fields))
        return [
            queries.table_of_triples("calibration", {"Brier score": self.brier, "ECE": self.ece}, digits),
            Table(header, rows),
        ]

    def notes(self) -> list[str]:
        """Which queries count."""
        return [queries.about_queries(self.n_query, self.n_left_out, self.n_open)]


@plain_floats
def calibration(correct: Values, confidence: ArrayLike, bins: int = 15) -> Calibration:
    """Return Brier score [1]_, expected calibration error [2]_ and the reliability table of confidences in [0, 1].

    Parameters
    ----------
    correct : (n_query,) array, Triple or Result
        As in `confidence_accuracy`.
    confidence : (n_query,)
        Probabilities of being right.
    bins : int
        How many bins of equal width, up to 10000.

    Returns
    -------
    Calibration

    Notes
    -----
    Ties: the confidence decides the bin, so that equal confidences never part. Where distance ties leave hits open,
    the Brier score is a sum over queries and has exact bounds and an exact expectation. The gap of a bin is least or
    greatest for some number of right queries between those that must be right and those that can be: `ece.lower` and
    `ece.upper` are attained. Its expectation is NaN then, since a mean of gaps is not the gap of the means.

    Undefined: without any query, both are NaN.

    Raises
    ------
    ValueError, TypeError
        If a confidence lies outside [0, 1], an entry of `correct` is neither 0 nor 1, or the numbers of entries differ.

    References
    ----------
    .. [1] Brier 1950, Verification of forecasts expressed in terms of probability.
    .. [2] Guo, Pleiss, Sun, Weinberger 2017, On calibration of modern neural networks, equation 3.

    Examples
    --------
    Two queries in the bin from 0 to 0.5, both wrong, and two in that up to 1, one of them right:

    >>> found = calibration([0, 0, 1, 0], [0.25, 0.25, 0.75, 0.75], bins=2)
    >>> found.ece.expected, found.brier.expected
    (0.25, 0.1875)
    >>> found.confidence, found.right.expected
    (array([0.25, 0.75]), array([0. , 0.5]))
    """
    n_bin = checks.positive_integer(bins, "bins", _MOST_BINS)
    hits, sure, n_left_out = queries.matched(correct, confidence, "correct")
    queries.require_hits(hits)
    _require_probabilities(confidence)
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
        confidence=np.array([queries.mean_of_all(sure[m]) for m in members]),
        right=Triple(*(np.array([queries.mean_of_all(values[m]) for m in members]) for values in hits)),
        n_query=len(sure),
        n_left_out=n_left_out,
        n_open=int(np.count_nonzero(is_open)),
    )


def _gap(confidence: Float64, lower: Float64, upper: Float64) -> tuple[float, float]:
    """The least and the greatest difference between the sum of the confidences and the number of right queries."""
    total, least, most = math.fsum(confidence.tolist()), int(lower.sum()), int(upper.sum())
    near = [min(max(whole, least), most) for whole in (math.floor(total), math.ceil(total))]
    return min(abs(total - right) for right in near), max(abs(total - right) for right in (least, most))


def _brier(hits: Triple[Float64], confidence: Float64) -> Triple[float]:
    if_right, if_wrong = np.square(1 - confidence), np.square(confidence)
    is_open = hits.lower < hits.upper
    closed = np.where(hits.lower > 0, if_right, if_wrong)
    lower = np.where(is_open, np.minimum(if_right, if_wrong), closed)
    upper = np.where(is_open, np.maximum(if_right, if_wrong), closed)
    mixed = np.where(is_open, hits.expected * if_right + (1 - hits.expected) * if_wrong, closed)
    expected = np.minimum(np.maximum(mixed, lower), upper)  # rounding must not leave the bounds
    return Triple(*map(queries.mean_of_all, (lower, expected, upper)))


def _require_probabilities(confidence: ArrayLike) -> None:
    array = queries.confidences(confidence, "confidence")
    outside = (array < 0) | (array > 1)
    if outside.any():
        at = int(np.argmax(outside))
        rule = f"must lie in [0, 1], but entry {at} is {array[at]}; {_ANY_SCALE}"
        raise InvalidValueError("confidence", rule)
