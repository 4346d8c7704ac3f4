"""Sources and targets of a confidence (label entropies, norms), and its rank correlation with them.

Embeddings, counts of labels, or annotations give a number for each item: the entropy of its labels or of its
neighbours' labels, or its norm. A confidence and such a target give a `RankCorrelation`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from deadheat.analyses.confidence.hits import UNDEFINED, confidences
from deadheat.engine.counting.ranking import Rankings, nearest_groups
from deadheat.engine.task import Task, rows_of
from deadheat.errors import InvalidTypeError, InvalidValueError
from deadheat.inputs import arrays, conversion
from deadheat.inputs import labels as input_labels
from deadheat.inputs.samples import EmbeddingsLike, open_rows
from deadheat.reports.answer import Answer, Column, Panel
from deadheat.reports.tables import count, has_ties
from deadheat.support import checks
from deadheat.support.arrays import Float64, Int64
from deadheat.support.floats import plain_floats
from deadheat.support.lazy import require
from deadheat.support.triple import Triple


@plain_floats
def label_entropy(task: Task, k: int, *, normalized: bool = False) -> Float64:
    """Return the entropy of the labels of each embedding's neighbours, in bits: a target for its uncertainty.

    Parameters
    ----------
    task : Task
        Made of embeddings without gallery and junk, with ties that are exact or rounded.
    k : int
        The number of neighbours: the neighbourhood is every other item that is at most as far as the k-th nearest.
    normalized : bool
        Divide by log2 of the number of classes, so that entropies lie in [0, 1].

    Returns
    -------
    (n,) float64
        0 where all neighbours have one label, whether or not it is that of the embedding itself.

    Notes
    -----
    Ties: all items as far as the k-th nearest belong to the neighbourhood, which is larger than k then. So the value is
    unique, and depends on the embeddings and the labels alone.

    Undefined: normalised entropies are NaN where there is one class.

    Examples
    --------
    From 0, the points 1 and -1 are equally far and have different labels; from 1, the nearest is 0:

    >>> label_entropy(Task([[0], [1], [-1]], ["a", "a", "b"], distance="euclidean"), 1)
    array([1., 0., 0.])
    """
    size = checks.positive_integer(k, "k")
    samples, gallery = rows_of(task, "label entropies").pair[:2]
    for name, given in (("gallery", gallery), ("junk", task.options.junk)):
        if given is not None:
            rule = f"must have no {name} for label entropies, which are of the neighbours of a row among all others"
            raise InvalidValueError("task", rule)
    rankings = Rankings(samples.embeddings, None, task.options)
    codes, n = input_labels.label_codes(samples.labels)[0], rankings.n_query
    if size > n - 1:
        raise InvalidValueError(
            "k", f"must be at most the number of other embeddings, {n - 1}, but is {checks.shown(size)}"
        )
    n_class = int(codes.max()) + 1
    entropy = np.empty(n)
    for block in rankings:
        row, rank = np.nonzero(nearest_groups(block, size))
        key = row * n_class + codes[block.items[row, rank]]
        counts = np.bincount(key, minlength=len(block.queries) * n_class).reshape(-1, n_class)
        entropy[block.queries] = [_bits(row_counts[row_counts > 0].tolist()) for row_counts in counts]
    return _per_class(entropy, n_class) if checks.flag(normalized, "normalized") else entropy


def _bits(counts: Sequence[float]) -> float:
    """Return the entropy of counts in bits: a sum of non-negative terms, exactly 0 for a single count."""
    total = math.fsum(counts)
    return math.fsum(count / total * math.log2(total / count) for count in counts)


@plain_floats
def distribution_entropy(counts: ArrayLike, *, normalized: bool = False) -> Float64:
    """Return the entropy of the labels that each item was given, in bits: a target for its uncertainty [1]_.

    Parameters
    ----------
    counts : (n, n_class)
        The number of times each item was given each label, or shares of any total: finite, 0 or more.
    normalized : bool
        Divide by log2 of the number of classes, so that entropies lie in [0, 1].

    Returns
    -------
    (n,) float64

    Notes
    -----
    Ties: the value is unique, and bitwise independent of the order of the classes.

    Undefined: NaN for an item that was given no label, and everywhere if there is one class and `normalized` is asked.

    References
    ----------
    .. [1] The study arrrrrmin/ranking-metrics, README, "Ground truth σ": label entropy as a σ-target.

    Examples
    --------
    >>> distribution_entropy([[2, 2], [4, 0], [0, 0]])
    array([ 1.,  0., nan])
    """
    matrix = arrays.embeddings(counts, "counts").astype(np.float64)
    if matrix.min() < 0:
        row, column = np.argwhere(matrix < 0)[0]
        rule = f"must not be negative, but holds {matrix[row, column]} in row {row}, column {column}"
        raise InvalidValueError("counts", rule)
    matrix = np.ldexp(matrix, -np.frexp(matrix.max(axis=1, keepdims=True))[1])  # shares of any total, without overflow
    entropy = np.array([_bits([c for c in row if c]) if any(row) else math.nan for row in matrix.tolist()])
    return _per_class(entropy, matrix.shape[1]) if checks.flag(normalized, "normalized") else entropy


@plain_floats
def annotation_entropy(annotations: ArrayLike, *, missing: Any = None, normalized: bool = False) -> Float64:
    """Return the entropy of the labels that annotators gave each item, in bits: a target for its uncertainty.

    Parameters
    ----------
    annotations : (n, n_annotator)
        The label that each annotator gave each item: integers or strings.
    missing : integer or string, optional
        The value that stands for no label, such as -1 or "". None and NaN are refused: replace them by it.
    normalized : bool
        Divide by log2 of the number of different labels.

    Returns
    -------
    (n,) float64
        As `distribution_entropy` of the counts; NaN for an item without a label.

    Examples
    --------
    >>> annotation_entropy([["cat", "cat", "dog", "dog"], ["cat", "cat", "cat", ""]], missing="")
    array([1., 0.])
    """
    matrix = conversion.plain(annotations, "annotations")
    if matrix.ndim != 2:
        raise InvalidValueError("annotations", f"must be a matrix, an item a row, but has shape {matrix.shape}")
    if not (missing is None or isinstance(missing, (int, str, np.integer))):
        raise InvalidTypeError("missing", f"must be an integer or a string, but is {checks.shown(missing)}")
    given = np.full(matrix.shape, True) if missing is None else np.asarray(matrix != missing)
    if not given.any():
        raise InvalidValueError("annotations", f"must hold a label, but has none in {matrix.size} entries")
    named = matrix[given]
    codes = input_labels.label_codes(input_labels.labels(named, len(named), "annotations", "entry"))[0]
    n_class = int(codes.max()) + 1
    counts = np.bincount(np.nonzero(given)[0] * n_class + codes, minlength=len(matrix) * n_class)
    return distribution_entropy(counts.reshape(-1, n_class), normalized=normalized)


def _per_class(entropy: Float64, n_class: int) -> Float64:
    """Divide entropies by the largest that `n_class` classes can have; NaN if there is only one class."""
    return np.minimum(entropy / math.log2(n_class), 1.0) if n_class > 1 else np.full(len(entropy), np.nan)


@plain_floats
def norms(embeddings: EmbeddingsLike) -> Float64:
    """Return the euclidean norm of each embedding, which some losses make large for inputs that are easy.

    Parameters
    ----------
    embeddings : (n, dim)
        As `deadheat.Task` takes them.

    Returns
    -------
    (n,) float64
        By `math.hypot`: within one unit in the last place, and nearly always correctly rounded.

    Notes
    -----
    Ties: norms that are equal as real numbers can differ by one unit. Rows that were scaled to length 1 have
    norms that differ by their rounding alone, which says nothing.

    Examples
    --------
    >>> norms([[3, 4], [0, 5], [0, 0]])
    array([5., 5., 0.])
    """
    pieces = open_rows(embeddings, "embeddings").pieces()
    return np.array([math.hypot(*row) for _, rows in pieces for row in rows.tolist()], dtype=np.float64)


@dataclass(frozen=True)
class RankCorrelation(Answer):
    """Rank correlation of two confidences: coefficients in [−1, 1], each with the p-value of no association.

    Attributes
    ----------
    spearman, spearman_p : float
        Spearman's rho, equal confidences having their mean rank.
    kendall, kendall_p : float
        Kendall's tau-b, which corrects for ties.
    rho, tau : Triple[float]
        Spearman's rho and Kendall's tau-a of strict orders: lower, expected and upper over all ways to break the ties.
    n : int
        Number of pairs.
    """

    spearman: float
    spearman_p: float
    kendall: float
    kendall_p: float
    rho: Triple[float]
    tau: Triple[float]
    n: int

    def panels(self) -> list[Panel]:
        """Return a table of the coefficients (not in per cent), their p-values, and their bounds if there are ties."""
        tied = has_ties(self.rho)
        return [Panel([
            Column("correlation", ["Spearman's rho", "Kendall's tau-b"]),
            Column("coefficient", [self.spearman, self.kendall], "number", form=".4f"),
            Column("p", [self.spearman_p, self.kendall_p], "probability", form=".3g"),
            Column("", [self.rho, self.tau], "number", shape="bounds", form=".4f", only="" if tied else "data"),
        ], key="")]  # fmt: skip

    def facts(self) -> dict[str, Any]:
        return self._facts_of(*self.__dataclass_fields__)

    def notes(self) -> list[str]:
        """Return the number of pairs, and the meaning of the bounds."""
        tied = "; lower, expected, upper: rho and tau-a over all ways to break the ties" if has_ties(self.rho) else ""
        return [f"{count(self.n, 'pair', 'pairs')}{tied}."]


@plain_floats
def rank_correlation(confidence: ArrayLike, target: ArrayLike) -> RankCorrelation:
    """Return Spearman's rho and Kendall's tau-b of predicted and target confidences with two-sided p-values.

    SciPy computes them from ranks, so that they are bitwise independent of any increasing change of scale and of the
    order of the pairs.

    Parameters
    ----------
    confidence, target : (n,)
        Finite numbers of any scale.

    Notes
    -----
    Ties: both coefficients are defined for ties, and have one value. A target of a few levels ties most of its items,
    and the corrections hide how much of the order it leaves undetermined. `rho` and `tau` show it: the coefficients of
    strict orders with ties broken against the confidence, on average, and in its favour. Ties on either side are broken
    independently, all ways equally likely. They are computed in integers and rounded once; the bounds are attained,
    both by the same orders.

    Undefined: NaN for fewer than two pairs; the coefficients also where either side is constant; `rho` and `tau` then
    range from −1 to 1. The p-value of rho is NaN for two pairs.

    Examples
    --------
    Of the three pairs of items, two are in the same order in both:

    >>> found = rank_correlation([0.1, 0.2, 0.3], [10, 30, 20])
    >>> round(found.spearman, 12), round(found.kendall, 12) == round(1 / 3, 12)
    (0.5, True)

    A target of two levels determines the order only partly:

    >>> rank_correlation([1, 2, 3, 4], [0, 0, 1, 1]).rho
    Triple(lower=0.6, expected=0.8, upper=1.0)
    """
    first, second = confidences(confidence, "confidence"), confidences(target, "target")
    if len(first) != len(second):
        rule = f"must have the same number of entries, but have {len(first)} and {len(second)}"
        raise InvalidValueError("confidence and target", rule)
    ranks = np.stack([np.unique(values, return_inverse=True)[1] for values in (first, second)])
    in_order = ranks[:, np.lexsort((ranks[1], ranks[0]))]  # the same sums, whatever order the pairs came in
    rho, tau = _broken_rho(in_order), _broken_tau(in_order)
    if len(first) < 2 or (ranks.max(axis=1) == 0).any():
        return RankCorrelation(math.nan, math.nan, math.nan, math.nan, rho, tau, len(first))
    stats = require("scipy.stats", "stats", "rank_correlation")
    (spearman, spearman_p), (kendall, kendall_p) = stats.spearmanr(*in_order), stats.kendalltau(*in_order)
    return RankCorrelation(float(spearman), float(spearman_p), float(kendall), float(kendall_p), rho, tau, len(first))


def _broken_rho(ranks: Int64) -> Triple[float]:
    """Return Spearman's rho over all ways to break the ties.

    The sum of products of ranks is largest if the ties of each side are broken by the other side, since equal numbers
    on one side are then sorted by the other (rearrangement inequality). Reversing one side negates rho. A broken tie
    has its mean rank on average, independently on both sides.
    """
    first, second = ranks
    n = len(first)
    if n < 2:
        return UNDEFINED
    least, most = (4 * _largest_product(first, other) for other in (-second, second))
    mean = sum((_doubled_mid_ranks(first) * _doubled_mid_ranks(second)).tolist())
    shift, scale = 3 * n * (n + 1) ** 2, n * (n * n - 1)
    return Triple((shift - 3 * least) / scale, (3 * mean - shift) / scale, (3 * most - shift) / scale)


def _largest_product(first: Int64, second: Int64) -> int:
    """Return the sum of products of ranks, with each side's ties broken by the other side."""
    ranks = (1 + np.argsort(np.lexsort(keys)) for keys in ((second, first), (first, second)))
    return sum(np.multiply(*ranks).tolist())


def _doubled_mid_ranks(numbers: Int64) -> Int64:
    """Return twice the mean rank of each number among its equals, from 2."""
    _, group, sizes = np.unique(numbers, return_inverse=True, return_counts=True)
    return np.asarray((2 * np.cumsum(sizes) - sizes + 1)[group])


def _broken_tau(ranks: Int64) -> Triple[float]:
    """Return Kendall's tau-a over all ways to break the ties: tied pairs can all go the same way at once."""
    first, second = ranks
    n = len(first)
    if n < 2:
        return UNDEFINED
    pairs = n * (n - 1) // 2
    tied, tied_second, tied_both = (_tied_pairs(numbers) for numbers in (first, second, first * n + second))
    is_open = tied + tied_second - tied_both
    difference = pairs - is_open - 2 * _inversions(second)
    return Triple(*((difference + sign * is_open) / pairs for sign in (-1, 0, 1)))


def _tied_pairs(numbers: Int64) -> int:
    sizes = np.unique(numbers, return_counts=True)[1]
    return int((sizes * (sizes - 1) // 2).sum())


def _inversions(numbers: Int64) -> int:
    """Count the pairs whose first number is larger: within each half, and across the halves."""
    if len(numbers) <= 32:
        return int(np.triu(numbers[:, None] > numbers, 1).sum())
    left, right = numbers[: len(numbers) // 2], numbers[len(numbers) // 2 :]
    across = len(left) - np.searchsorted(np.sort(left), right, side="right")
    return _inversions(left) + _inversions(right) + int(across.sum())
