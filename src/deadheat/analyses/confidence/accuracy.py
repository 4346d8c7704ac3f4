"""The confidence as a guess at being right: from hits and confidences of queries to a `ConfidenceAccuracy`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deadheat.analyses.confidence import queries
from deadheat.analyses.confidence.queries import Float64, Int64, Values
from deadheat.reports.tables import DIGITS, Table, TabularResult
from deadheat.support.floats import plain_floats
from deadheat.support.triple import Triple


@dataclass(frozen=True)
class ConfidenceAccuracy(TabularResult):
    """The confidence as a guess at being right, "confidence >= threshold", and how often the guess holds.

    Attributes
    ----------
    mean_accuracy : Triple[float]
        The accuracy of the guess, averaged over all thresholds: the study's "confidence against Recall@1".
    best_accuracy : float
        The accuracy at the best threshold; the threshold is chosen on the same queries, which flatters it.
    best_threshold : float
        That threshold, the highest if there are several; infinity where it is best to take nothing for right.
    majority_accuracy : float
        The accuracy of the same guess for everybody, right or wrong, whichever is better.
    auroc : float
        The chance that a right query is more confident than a wrong one, equal confidences counting one half.
    right : Triple[float]
        The share of right queries.
    n_query, n_left_out, n_open : int
        Queries that count, that have no value, and that distance ties leave open.
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

    def to_dict(self) -> dict[str, Any]:
        """The values as plain Python values that JSON can hold; None where one is undefined, and for infinity."""
        values = queries.plain_values(self, self.__dataclass_fields__)
        return values | {"best_threshold": None} if math.isinf(self.best_threshold) else values

    def columns(self) -> Mapping[str, Sequence[Any]]:
        """A row a value; what ties do not leave open is one value three times."""
        return queries.columns_of_triples("accuracy", titled_values(self))

    def tables(self, *, digits: int = DIGITS) -> list[Table]:
        """The values in per cent."""
        return [queries.table_of_triples("accuracy", titled_values(self), digits)]

    def notes(self) -> list[str]:
        """Where the guess is best, and which queries count."""
        at = self.best_threshold
        if math.isnan(at):
            best = []
        elif math.isinf(at):
            best = ["The best guess takes no query for right."]
        else:
            best = [f"The best guess takes a query for right from a confidence of {at:.6g} up."]
        return [*best, queries.about_queries(self.n_query, self.n_left_out, self.n_open)]


def titled_values(found: ConfidenceAccuracy) -> dict[str, Triple[float]]:
    """The values, each by what it is called in tables; what ties do not leave open, three times."""
    return {
        "mean over thresholds": found.mean_accuracy,
        "best threshold": Triple(*[found.best_accuracy] * 3),
        "one guess for all": Triple(*[found.majority_accuracy] * 3),
        "AUROC": Triple(*[found.auroc] * 3),
        "right queries": found.right,
    }


@plain_floats
def confidence_accuracy(correct: Values, confidence: ArrayLike) -> ConfidenceAccuracy:
    """Return how well "confidence >= threshold" tells the right queries from the wrong ones.

    With prec the share of right queries, and TPR and FPR the shares of the right and of the wrong queries at or above
    a threshold, prec·TPR + (1 − prec)·(1 − FPR) is the accuracy at this threshold. The thresholds are infinity and
    every confidence that occurs, as in scikit-learn's ``roc_curve(drop_intermediate=False)``. The study averages over
    them [1]_; the library that it follows takes the best [2]_.

    Parameters
    ----------
    correct : (n_query,) array, Triple or Result
        Whether each query was right, 0 or 1: Hit@1. NaN for a query that is left out.
    confidence : (n_query,)
        Finite numbers of any scale; only their order counts.

    Returns
    -------
    ConfidenceAccuracy

    Notes
    -----
    Of T + 1 thresholds, for T different confidences, let r lie at or below the confidence of a query. If it is right,
    the guess holds at those r; if it is wrong, at the other T + 1 − r. So it adds r / (T + 1) or 1 − r / (T + 1) to
    the mean accuracy, whatever the others are.

    Ties: equal confidences are on the same side of every threshold, so that their order decides nothing. For a query
    whose hit distance ties leave open, `mean_accuracy` takes the lesser or the greater of its two terms, or their mean
    weighted by the expected hit: exact bounds, attained together, and the exact expectation. The best accuracy, the
    majority's and AUROC are NaN as soon as a hit is open.

    Undefined: AUROC is NaN where all queries are right or all are wrong. The accuracies are not: they are those of a
    guess. The study's formula has 0·NaN there, and its code gives NaN. Without any query, everything is NaN.

    Raises
    ------
    ValueError, TypeError
        If an entry of `correct` is neither 0 nor 1, a confidence is not finite, or the numbers of entries differ.

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
    hits, sure, n_left_out = queries.matched(correct, confidence, "correct")
    queries.require_hits(hits)
    levels, level = np.unique(sure, return_inverse=True)
    is_open = hits.lower < hits.upper
    closed = None if is_open.any() or not len(sure) else _ByLevel.of(hits.lower, level, len(levels))
    best, threshold = closed.best(levels) if closed else (math.nan, math.nan)
    return ConfidenceAccuracy(
        mean_accuracy=_over_thresholds(hits, level.astype(np.int64) + 1, len(levels) + 1),
        best_accuracy=best,
        best_threshold=threshold,
        majority_accuracy=closed.majority() if closed else math.nan,
        auroc=closed.auroc() if closed else math.nan,
        right=Triple(*map(queries.mean_of_all, hits)) if len(sure) else queries.UNDEFINED,
        n_query=len(sure),
        n_left_out=n_left_out,
        n_open=int(np.count_nonzero(is_open)),
    )


def _over_thresholds(hits: Triple[Float64], below: Int64, n_threshold: int) -> Triple[float]:
    """The mean accuracy over the thresholds, of which `below` lie at or below each query's confidence."""
    if not len(below):
        return queries.UNDEFINED
    whole = len(below) * n_threshold
    above = n_threshold - below
    worst, best = np.minimum(below, above), np.maximum(below, above)
    closed = np.where(hits.lower > 0, below, above)
    is_open = hits.lower < hits.upper
    lower, upper = (int(np.where(is_open, extreme, closed).sum()) / whole for extreme in (worst, best))
    if np.isnan(hits.expected).any():
        return Triple(lower, math.nan, upper)
    chances, scale = queries.integers(hits.expected)
    terms = zip(chances, below.tolist(), above.tolist(), strict=True)
    expected = sum(chance * b + (scale - chance) * a for chance, b, a in terms) / (whole * scale)
    return Triple(lower, expected, upper)


@dataclass(frozen=True)
class _ByLevel:
    """How many right and wrong queries there are at each level of confidence, lowest first."""

    right: Int64
    wrong: Int64

    @classmethod
    def of(cls, hits: Float64, level: Int64, n_level: int) -> _ByLevel:
        right, wrong = (np.bincount(level[hits == value], minlength=n_level).astype(np.int64) for value in (1, 0))
        return cls(right, wrong)

    def best(self, levels: NDArray[Any]) -> tuple[float, float]:
        """The accuracy at the best threshold, and this threshold."""
        above = np.append(np.cumsum(self.right[::-1])[::-1], 0)  # right, and at or above the threshold
        below = np.append(0, np.cumsum(self.wrong))
        holds = (above + below)[::-1]  # from the highest threshold, so that the first best one is the highest
        at = len(levels) - int(np.argmax(holds))
        n = int(self.right.sum() + self.wrong.sum())
        return int(holds.max()) / n, float(levels[at]) if at < len(levels) else math.inf

    def majority(self) -> float:
        right, wrong = int(self.right.sum()), int(self.wrong.sum())
        return max(right, wrong) / (right + wrong)

    def auroc(self) -> float:
        pairs = int(self.right.sum()) * int(self.wrong.sum())
        below = np.cumsum(self.wrong) - self.wrong
        return int((self.right * (2 * below + self.wrong)).sum()) / (2 * pairs) if pairs else math.nan
