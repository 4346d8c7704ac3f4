"""Reference implementations of the published definitions, slow and plain, for tests and readers to compare with.

Nothing here is fast and nothing here is used by the rest of the package. It has six parts.

The matrices of the paper [1]_: distances D, relevance R, relevance in the order of the ranking, the counts C of
relevant items so far, precision Pr and recall Rc; mAP by a plain sort, and by a sort of D - eR and of D + eR.

One query in exact fractions: its tie groups, and the AP of all the arrangements of its tie groups, by enumeration, by
the dynamic programme of the paper's slides, and in closed form.

mAP with its bounds, by counting and never by sorting.

Grouped Recall@K of queries and a gallery [2]_, in exact fractions.

The evaluation as the paper's authors published it, with switches that correct it one step at a time.

The share of relevant items in the highest density region of a query's posterior, place by place.

A *tie group* is a tuple ``(closer, closer_relevant, tied, tied_relevant)``, written (k, n, l, m) in formulas (in code l
is ``size``): k items are strictly closer to the query than this distance, n of them relevant; l are exactly at it, m of
them relevant, m >= 1. Every measure is a fraction in [0, 1].

References
----------
.. [1] A. Nicolaou, S. Dey, V. Christlein, A. Maier, D. Karatzas, "Non-deterministic Behavior of Ranking-based Metrics
   when Evaluating Embeddings", 2018, arXiv:1806.07171. Code: github.com/anguelos/embedding_map.
.. [2] M. Zhdanov, I. Karpukhin, "Catching Image Retrieval Generalization", 2023, arXiv:2306.13357.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deadheat.support.lazy import require
from deadheat.support.triple import Triple

__all__ = [
    "ApMoments",
    "TieGroup",
    "TieState",
    "ap_bounds",
    "ap_by_arrangements",
    "ap_expected",
    "ap_expected_by_paths",
    "ap_of_ranks",
    "ap_variance",
    "average_precision",
    "correct_matrix",
    "credible_recall",
    "distance_matrix",
    "grouped_recall",
    "map_bounds",
    "map_by_adding",
    "map_unspecified",
    "precision_matrix",
    "published_ap",
    "published_map",
    "recall_matrix",
    "relevance_matrix",
    "sorted_relevance",
    "tie_groups",
    "tie_states",
    "without_self",
]


def __dir__() -> list[str]:
    return __all__


TieGroup = tuple[int, int, int, int]
Distance = Literal["cosine", "euclidean", "cityblock"]
Mode = Literal["unspecified", "optimistic", "pessimistic"]
SortKind = Literal["quicksort", "mergesort", "heapsort", "stable"] | None
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


class ApMoments(NamedTuple):
    """The average precision of one query over every arrangement of its tie groups, all equally likely."""

    lower: Fraction
    expected: Fraction
    upper: Fraction
    variance: Fraction


class TieState(NamedTuple):
    """A cell of the dynamic programme: `hits` relevant items among the first `position` positions of a tie group."""

    position: int
    hits: int
    through: Fraction  # the probability that an arrangement passes through it
    by_hit: Fraction  # the part of it that arrives by a relevant item, which is when the precision counts
    precision: Fraction


# ----------------------------------------------------------------------------------------------------------------------
# The matrices of the paper


def distance_matrix(
    query: ArrayLike, gallery: ArrayLike | None = None, *, distance: Distance = "cosine", use_scipy: bool = False
) -> Floats:
    """Return the matrix D of distances from every query to every gallery item, rounded to float64.

    Parameters
    ----------
    query : array_like of real numbers, shape (n_query, dim)
    gallery : array_like of real numbers, shape (n_gallery, dim), optional
        The queries themselves when left out; the query is still among them (see `without_self`).
    distance : {"cosine", "euclidean", "cityblock"}
        ``cosine`` is 1 minus the cosine, and 1 when either vector is zero.
    use_scipy : bool
        Let ``scipy.spatial.distance.cdist`` compute it, as the published code does; the last bits differ. SciPy has no
        value for the cosine of a zero vector.

    Returns
    -------
    ndarray of float64, shape (n_query, n_gallery)

    Raises
    ------
    ValueError
        For a distance of another name.
    ImportError
        With `use_scipy`, where SciPy is not installed.

    Notes
    -----
    **Ties:** these numbers are rounded. Two items at the same real distance may get different bits here, and two items
    at different distances the same bits. This function shows what rounding does; the package itself never ranks by it.

    Examples
    --------
    >>> distance_matrix([[3, 4]], [[6, 8], [0, 0], [-3, -4]]).tolist()
    [[0.0, 1.0, 2.0]]
    >>> distance_matrix([[0, 0]], [[3, 4]], distance="euclidean").tolist()
    [[5.0]]
    """
    q = np.asarray(query, dtype=np.float64)
    g = q if gallery is None else np.asarray(gallery, dtype=np.float64)
    if distance not in ("cosine", "euclidean", "cityblock"):
        raise ValueError(f"distance must be 'cosine', 'euclidean' or 'cityblock', but got {distance!r}")
    if use_scipy:
        scipy = require("scipy.spatial.distance", "stats", "a distance by SciPy")
        return np.asarray(scipy.cdist(q, g, distance), dtype=np.float64)
    if distance == "cosine":
        product = q @ g.T
        norms = np.outer(np.sqrt((q * q).sum(axis=1)), np.sqrt((g * g).sum(axis=1)))
        return np.asarray(1.0 - product / np.where(norms == 0, 1.0, norms), dtype=np.float64)
    out = np.empty((len(q), len(g)))
    for i, row in enumerate(q):
        difference = g - row
        if distance == "euclidean":
            out[i] = np.sqrt((difference * difference).sum(axis=1))
        else:
            out[i] = np.abs(difference).sum(axis=1)
    return out


def relevance_matrix(query_labels: ArrayLike, gallery_labels: ArrayLike | None = None) -> Bools:
    """Return the matrix R: true where the gallery item has the label of the query.

    Parameters
    ----------
    query_labels : array_like, shape (n_query,)
    gallery_labels : array_like, shape (n_gallery,), optional
        The query labels when left out.

    Returns
    -------
    ndarray of bool, shape (n_query, n_gallery)

    Examples
    --------
    >>> relevance_matrix(["a", "b"], ["a", "a", "b"]).astype(int).tolist()
    [[1, 1, 0], [0, 0, 1]]
    """
    q = np.asarray(query_labels)
    g = q if gallery_labels is None else np.asarray(gallery_labels)
    return np.asarray(q[:, None] == g[None, :], dtype=np.bool_)


def without_self(matrix: NDArray[Any]) -> NDArray[Any]:
    """Remove the diagonal of a square matrix: leave one out, by index.

    Parameters
    ----------
    matrix : ndarray, shape (n, n)
        D or R of a set of samples against itself.

    Returns
    -------
    ndarray, shape (n, n - 1)
        The same dtype; the order of the remaining columns is kept.

    Raises
    ------
    ValueError
        When the matrix is not square.

    Examples
    --------
    >>> without_self(np.array([[0, 1, 2], [3, 4, 5], [6, 7, 8]])).tolist()
    [[1, 2], [3, 5], [6, 7]]
    """
    n = len(matrix)
    if matrix.shape != (n, n):
        raise ValueError(f"leave one out needs a square matrix, but got one of shape {matrix.shape}")
    return matrix[~np.eye(n, dtype=bool)].reshape(n, n - 1)


def sorted_relevance(distances: ArrayLike, relevant: ArrayLike, *, kind: SortKind = None) -> Bools:
    """Return the relevance of each query's gallery in the order of a plain sort of its distances.

    Parameters
    ----------
    distances : array_like of real numbers, shape (n_query, n_gallery)
    relevant : array_like of bool, shape (n_query, n_gallery)
    kind : {None, "quicksort", "mergesort", "heapsort", "stable"}
        The algorithm of ``numpy.argsort``. The default, quicksort, leaves the order of equal distances to their place
        in the file, the length of the row and the vector instructions of the processor.

    Returns
    -------
    ndarray of bool, shape (n_query, n_gallery)
        Column j is rank j + 1.

    Examples
    --------
    >>> sorted_relevance([[0.2, 0.1, 0.1]], [[1, 0, 1]], kind="stable").astype(int).tolist()
    [[0, 1, 1]]
    """
    order = np.argsort(np.asarray(distances), axis=1, kind=kind)
    return np.take_along_axis(np.asarray(relevant, dtype=np.bool_), order, axis=1)


def correct_matrix(ranked: ArrayLike) -> NDArray[np.int64]:
    """Return the matrix C: the number of relevant items among the first r, for every rank r.

    Parameters
    ----------
    ranked : array_like of bool, shape (n_query, n_ranked)
        Relevance in order of rank, from `sorted_relevance`.

    Returns
    -------
    ndarray of int64, shape (n_query, n_ranked)

    Examples
    --------
    >>> correct_matrix([[1, 0, 1]]).tolist()
    [[1, 1, 2]]
    """
    return np.cumsum(np.asarray(ranked, dtype=np.bool_), axis=1, dtype=np.int64)


def precision_matrix(ranked: ArrayLike) -> Floats:
    """Return the matrix Pr: the share of relevant items among the first r, C / r.

    Parameters
    ----------
    ranked : array_like of bool, shape (n_query, n_ranked)

    Returns
    -------
    ndarray of float64, shape (n_query, n_ranked)

    Examples
    --------
    >>> precision_matrix([[1, 0, 0, 1]]).round(4).tolist()
    [[1.0, 0.5, 0.3333, 0.5]]
    """
    correct = correct_matrix(ranked)
    return np.asarray(correct / np.arange(1, correct.shape[1] + 1), dtype=np.float64)


def recall_matrix(ranked: ArrayLike) -> Floats:
    """Return the matrix Rc: the share of all the relevant items that are among the first r.

    Parameters
    ----------
    ranked : array_like of bool, shape (n_query, n_ranked)

    Returns
    -------
    ndarray of float64, shape (n_query, n_ranked)
        **Undefined:** NaN in the row of a query that has nothing relevant.

    Examples
    --------
    >>> recall_matrix([[1, 0, 0, 1], [0, 0, 0, 0]]).tolist()
    [[0.5, 0.5, 0.5, 1.0], [nan, nan, nan, nan]]
    """
    correct = correct_matrix(ranked).astype(np.float64)
    total = np.asarray(ranked, dtype=np.bool_).sum(axis=1).astype(np.float64)
    total[total == 0] = np.nan
    return np.asarray(correct / total[:, None], dtype=np.float64)


def average_precision(ranked: ArrayLike) -> Floats:
    """Return each query's AP: the mean of Pr over the ranks at which Rc grows, which hold the relevant items.

    Parameters
    ----------
    ranked : array_like of bool, shape (n_query, n_ranked)

    Returns
    -------
    ndarray of float64, shape (n_query,)
        **Undefined:** NaN for a query that has nothing relevant.

    Examples
    --------
    Relevant items at ranks 1 and 4: (1/1 + 2/4) / 2.

    >>> average_precision([[1, 0, 0, 1], [0, 0, 0, 0]]).tolist()
    [0.75, nan]
    """
    relevant = np.asarray(ranked, dtype=np.bool_)
    total = relevant.sum(axis=1).astype(np.float64)
    total[total == 0] = np.nan
    return np.asarray((precision_matrix(relevant) * relevant).sum(axis=1) / total, dtype=np.float64)


def map_unspecified(
    distances: ArrayLike, relevant: ArrayLike, *, kind: SortKind = None, order: ArrayLike | None = None
) -> float:
    """Return mAP by a plain sort, as it is usually computed: under ties, it is not a function of the distances.

    Parameters
    ----------
    distances : array_like of real numbers, shape (n_query, n_gallery)
    relevant : array_like of bool, shape (n_query, n_gallery)
    kind : {None, "quicksort", "mergesort", "heapsort", "stable"}
        The algorithm of ``numpy.argsort``.
    order : array_like of int, shape (n_gallery,), optional
        A permutation of the gallery to apply first: the order of the samples in the file.

    Returns
    -------
    float
        The mean over the queries that have something relevant. **Undefined:** NaN when none has.

    Examples
    --------
    Two items at the same distance, one of them relevant: whichever the file names first wins.

    >>> map_unspecified([[0.5, 0.5]], [[1, 0]], kind="stable")
    1.0
    >>> map_unspecified([[0.5, 0.5]], [[1, 0]], kind="stable", order=[1, 0])
    0.5
    """
    d, r = np.asarray(distances), np.asarray(relevant, dtype=np.bool_)
    if order is not None:
        columns = np.asarray(order)
        d, r = d[:, columns], r[:, columns]
    return _mean(average_precision(sorted_relevance(d, r, kind=kind)))


def map_by_adding(distances: ArrayLike, relevant: ArrayLike, *, e: float, kind: SortKind = None) -> tuple[float, float]:
    """Return the paper's pessimistic and optimistic mAP, from plain sorts of D + eR and of D - eR.

    Parameters
    ----------
    distances : array_like of real numbers, shape (n_query, n_gallery)
        Added to in float64.
    relevant : array_like of bool, shape (n_query, n_gallery)
    e : float
        The distance by which relevant items move. It has to be smaller than any difference of two distances, and yet
        large enough to change each of them when added in float64. No number need satisfy both.
    kind : {None, "quicksort", "mergesort", "heapsort", "stable"}

    Returns
    -------
    pessimistic, optimistic : float
        **Undefined:** NaN when no query has anything relevant.

    See Also
    --------
    map_bounds : the same bounds by counting, which cannot fail.

    Examples
    --------
    Six items tie at 0.3. Adding 1e-20 changes nothing, so the "bounds" agree on what the sort happened to do; a larger
    e gets them right, here.

    >>> distances, relevant = [[0.3] * 6], [[1, 1, 0, 0, 0, 1]]
    >>> [round(v, 4) for v in map_by_adding(distances, relevant, e=1e-20, kind="stable")]
    [0.8333, 0.8333]
    >>> [round(v, 4) for v in map_by_adding(distances, relevant, e=1e-10, kind="stable")]
    [0.3833, 1.0]
    """
    d, r = np.asarray(distances, dtype=np.float64), np.asarray(relevant, dtype=np.bool_)
    return map_unspecified(d + e * r, r, kind=kind), map_unspecified(d - e * r, r, kind=kind)


def _mean(values: Iterable[float]) -> float:
    """Return the mean of the values that are not NaN, with a correctly rounded sum; NaN if there are none."""
    defined = [float(value) for value in values if not math.isnan(value)]
    return math.fsum(defined) / len(defined) if defined else math.nan


# ----------------------------------------------------------------------------------------------------------------------
# One query, in exact fractions


def tie_groups(distances: ArrayLike, relevant: ArrayLike) -> list[TieGroup]:
    """Return the tie groups of one query by counting: nothing is sorted but the relevant distances.

    Parameters
    ----------
    distances : array_like of real numbers, shape (n_gallery,)
        Compared as they are.
    relevant : array_like of bool, shape (n_gallery,)

    Returns
    -------
    list of (closer, closer_relevant, tied, tied_relevant)
        Nearest first, one for each distinct distance with a relevant item; empty where nothing is relevant.

    Examples
    --------
    >>> tie_groups([0.1, 0.2, 0.2, 0.2, 0.5], [0, 1, 1, 0, 1])
    [(1, 0, 3, 2), (4, 2, 1, 1)]
    """
    d, r = np.asarray(distances), np.asarray(relevant, dtype=np.bool_)
    return [
        (int((d < at).sum()), int((d[r] < at).sum()), int((d == at).sum()), int((d[r] == at).sum()))
        for at in np.unique(d[r])
    ]


def ap_of_ranks(ranks: Iterable[int]) -> Fraction:
    """Return the AP of a ranking without ties, from the ranks of its relevant items: mean of a / rank_a.

    Parameters
    ----------
    ranks : iterable of int
        The ranks of all the relevant items, counted from 1, each once; at least one.

    Returns
    -------
    Fraction

    Raises
    ------
    ValueError
        When there is no rank, one is below 1, or two are equal.

    References
    ----------
    Figure 1 of [1]_: two relevant items among 100.

    Examples
    --------
    >>> ap_of_ranks([1, 6])
    Fraction(2, 3)
    >>> [f"{float(ap_of_ranks(r)):.2%}" for r in [(1, 2), (1, 5), (2, 7), (1, 7), (2, 5)]]
    ['100.00%', '70.00%', '39.29%', '64.29%', '45.00%']
    """
    ordered = sorted(ranks)
    if not ordered or ordered[0] < 1 or len(set(ordered)) < len(ordered):
        raise ValueError(f"ranks must be distinct and count from 1, with at least one, but got {ordered}")
    return sum((Fraction(a, rank) for a, rank in enumerate(ordered, 1)), Fraction(0)) / len(ordered)


def _check_groups(groups: Sequence[TieGroup]) -> int:
    """Check that the groups are those of one ranking, and return the number of relevant items."""
    items = relevant = 0
    for k, n, size, m in groups:
        if n != relevant or k < items or not 1 <= m <= size:
            raise ValueError(f"these are not the tie groups of one query, nearest first: {list(groups)}")
        items, relevant = k + size, n + m
    if relevant == 0:
        raise ValueError("AP is undefined without a relevant item")
    return relevant


def ap_bounds(groups: Sequence[TieGroup]) -> tuple[Fraction, Fraction]:
    """Return the least and the greatest AP: relevant items last, and first, in each of their tie groups.

    Per group the sums are (n + a) / (k + l - m + a) and (n + a) / (k + a) over a = 1 .. m.

    Parameters
    ----------
    groups : sequence of (closer, closer_relevant, tied, tied_relevant)
        All the tie groups of one query, nearest first.

    Returns
    -------
    lower, upper : Fraction

    Raises
    ------
    ValueError
        When the groups are not those of one query, or hold nothing relevant.

    Examples
    --------
    Five items, the first three at one distance; two of those three are relevant.

    >>> ap_bounds([(0, 0, 3, 2)])
    (Fraction(7, 12), Fraction(1, 1))
    """
    total = _check_groups(groups)
    lower = upper = Fraction(0)
    for k, n, size, m in groups:
        for a in range(1, m + 1):
            lower += Fraction(n + a, k + size - m + a)
            upper += Fraction(n + a, k + a)
    return lower / total, upper / total


@lru_cache(maxsize=4096)
def _expected_sum(k: int, n: int, size: int, m: int) -> Fraction:
    ratio = Fraction(m - 1, size - 1) if size > 1 else Fraction(0)
    reciprocals = sum((Fraction(1, k + i) for i in range(1, size + 1)), Fraction(0))  # H(k + l) - H(k)
    return Fraction(m, size) * ((n + 1) * reciprocals + ratio * (size - (k + 1) * reciprocals))


def ap_expected(groups: Sequence[TieGroup]) -> Fraction:
    """Return the mean AP over every arrangement of the tie groups, in closed form.

    A group adds (m/l) [(n + 1) dH + ((m - 1)/(l - 1)) (l - (k + 1) dH)], where dH = 1/(k + 1) + ... + 1/(k + l). The
    middle factor counts as 0 in a group of one.

    Parameters
    ----------
    groups : sequence of (closer, closer_relevant, tied, tied_relevant)
        All the tie groups of one query, nearest first.

    Returns
    -------
    Fraction

    Raises
    ------
    ValueError
        When the groups are not those of one query, or hold nothing relevant.

    Examples
    --------
    The three places for the irrelevant item give 7/12, 5/6 and 1.

    >>> ap_expected([(0, 0, 3, 2)])
    Fraction(29, 36)
    """
    total = _check_groups(groups)
    return sum((_expected_sum(*group) for group in groups), Fraction(0)) / total


def ap_expected_by_paths(groups: Sequence[TieGroup]) -> Fraction:
    """Return the mean AP over every arrangement, by the dynamic programme of the paper's slides, O(l m) per group.

    Every arrangement of a group is a path over the cells (i, j): j relevant items among the first i. Each cell has the
    probability that a path passes through it; the part of it that arrives by a relevant item, which is when the cell
    counts; and the precision there, (n + j) / (k + i). The expectation is the sum over the cells of the last two.

    Parameters
    ----------
    groups : sequence of (closer, closer_relevant, tied, tied_relevant)
        All the tie groups of one query, nearest first.

    Returns
    -------
    Fraction

    Raises
    ------
    ValueError
        When the groups are not those of one query, or hold nothing relevant.

    Examples
    --------
    >>> ap_expected_by_paths([(0, 0, 3, 2)])
    Fraction(29, 36)
    """
    total = _check_groups(groups)
    return sum((state.by_hit * state.precision for group in groups for state in tie_states(group)), Fraction(0)) / total


def tie_states(group: TieGroup) -> list[TieState]:
    """Return the cells of the dynamic programme of `ap_expected_by_paths` for one tie group, row by row.

    Parameters
    ----------
    group : (closer, closer_relevant, tied, tied_relevant)

    Returns
    -------
    list of TieState
        Those that a path can pass through, by position and then by relevant items; the start, (0, 0), is not listed.

    Examples
    --------
    >>> for state in tie_states((0, 0, 2, 1)):
    ...     print(state.position, state.hits, state.through, state.by_hit, state.precision)
    1 0 1/2 0 0
    1 1 1/2 1/2 1
    2 1 1 1/2 1/2
    """
    k, n, size, m = group
    through, states = [Fraction(1)] + [Fraction(0)] * m, []  # P(cell) in the row of position i - 1, for j = 0 .. m
    for i in range(1, size + 1):
        left = size - i + 1  # items not yet placed
        by_hit = [Fraction(0)] + [through[j - 1] * Fraction(m - j + 1, left) for j in range(1, m + 1)]
        by_miss = [through[j] * (1 - Fraction(m - j, left)) for j in range(m + 1)]
        through = [hit + miss for hit, miss in zip(by_hit, by_miss, strict=True)]
        states += [
            TieState(i, j, through[j], by_hit[j], Fraction(n + j, k + i)) for j in range(m + 1) if through[j]
        ]  # fmt: skip
    return states


def _all_ranks(groups: Sequence[TieGroup]) -> Iterator[list[int]]:
    places = [itertools.combinations(range(k + 1, k + size + 1), m) for k, _, size, m in groups]
    for choice in itertools.product(*places):
        yield [rank for ranks in choice for rank in ranks]


def ap_by_arrangements(groups: Sequence[TieGroup], *, limit: int = 1_000_000) -> ApMoments:
    """Return the least, mean and greatest AP and its variance, by trying every arrangement.

    Parameters
    ----------
    groups : sequence of (closer, closer_relevant, tied, tied_relevant)
        All the tie groups of one query, nearest first.
    limit : int
        The largest number of arrangements to try.

    Returns
    -------
    ApMoments
        ``lower``, ``expected``, ``upper`` and ``variance``, each a Fraction.

    Raises
    ------
    ValueError
        When the groups are not those of one query, hold nothing relevant, or have more arrangements than `limit`.

    Examples
    --------
    >>> ap_by_arrangements([(0, 0, 3, 2)])
    ApMoments(lower=Fraction(7, 12), expected=Fraction(29, 36), upper=Fraction(1, 1), variance=Fraction(19, 648))
    """
    _check_groups(groups)
    number = math.prod(math.comb(size, m) for _, _, size, m in groups)
    if number > limit:
        raise ValueError(f"there are {number} arrangements, more than the limit of {limit}")
    values = [ap_of_ranks(ranks) for ranks in _all_ranks(groups)]
    mean = sum(values, Fraction(0)) / number
    variance = sum(((value - mean) ** 2 for value in values), Fraction(0)) / number
    return ApMoments(min(values), mean, max(values), variance)


def ap_variance(groups: Sequence[TieGroup]) -> Fraction:
    """Return the variance of AP over every arrangement of the tie groups, in closed form, O(l) per group.

    With X_t = 1 where slot t of the group holds a relevant item, the group adds Y = sum a_t X_t + sum_{s<t} b_t X_s X_t
    to AP's sum, a_t = (n + 1)/(k + t) and b_t = 1/(k + t). The pairs split into a constant, a part that is linear in
    the X and a remainder that is uncorrelated with it; their variances add. The derivation is in
    ``docs/ties-proofs.md``.

    Parameters
    ----------
    groups : sequence of (closer, closer_relevant, tied, tied_relevant)
        All the tie groups of one query, nearest first.

    Returns
    -------
    Fraction
        0 where nothing depends on the order.

    Raises
    ------
    ValueError
        When the groups are not those of one query, or hold nothing relevant.

    Examples
    --------
    >>> ap_variance([(0, 0, 3, 2)])
    Fraction(19, 648)
    """
    total = _check_groups(groups)
    return sum((_sum_variance(*group) for group in groups), Fraction(0)) / total**2


@lru_cache(maxsize=4096)
def _sum_variance(k: int, n: int, size: int, m: int) -> Fraction:
    if m == size:  # every slot is relevant, whatever the order
        return Fraction(0)
    b = [Fraction(1, k + t) for t in range(1, size + 1)]
    pairs = Fraction(size * (size - 1), 2)
    # The weight of the pair s < t is b_t. From it: the mean, the sum of squares, and the degree of each slot.
    mean_weight = sum((t * b[t] for t in range(size)), Fraction(0)) / pairs
    squares = sum((t * b[t] ** 2 for t in range(size)), Fraction(0))
    after = list(itertools.accumulate(reversed(b), initial=Fraction(0)))[::-1]  # after[s] = b[s] + b[s+1] + ...
    degree = [s * b[s] + after[s + 1] for s in range(size)]
    mean_degree = (size - 1) * mean_weight
    delta = [(w - mean_degree) / (size - 2) if size > 2 else Fraction(0) for w in degree]
    linear = [(n + 1) * b[s] + (m - 1) * delta[s] for s in range(size)]
    mean_linear = sum(linear, Fraction(0)) / size
    p = Fraction(m, size)
    variance = p * (1 - p) * Fraction(size, size - 1) * sum(((c - mean_linear) ** 2 for c in linear), Fraction(0))
    if 2 <= m <= size - 2:
        rest = squares - pairs * mean_weight**2 - (size - 2) * sum((d * d for d in delta), Fraction(0))
        variance += rest * Fraction(
            m * (m - 1) * (size - m) * (size - m - 1), size * (size - 1) * (size - 2) * (size - 3)
        )
    return variance


# ----------------------------------------------------------------------------------------------------------------------
# mAP, by counting


def map_bounds(distances: ArrayLike, relevant: ArrayLike) -> Triple[float]:
    """Return the least, expected and greatest mAP of given distances, by counting what is closer and what is tied.

    Parameters
    ----------
    distances : array_like of real numbers, shape (n_query, n_gallery)
        Compared as they are; nothing is added to them.
    relevant : array_like of bool, shape (n_query, n_gallery)

    Returns
    -------
    Triple of float
        ``lower``, ``expected`` and ``upper``: means over the queries that have something relevant of exact values,
        rounded to float64 per query. **Ties:** equal entries of a row of `distances`. **Undefined:** NaN when no query
        has anything relevant.

    Examples
    --------
    >>> [round(v, 4) for v in map_bounds([[0.3] * 6], [[1, 1, 0, 0, 0, 1]])]
    [0.3833, 0.645, 1.0]
    """
    lower, expected, upper = [], [], []
    for d, r in zip(np.asarray(distances), np.asarray(relevant, dtype=np.bool_), strict=True):
        groups = tie_groups(d, r)
        if not groups:
            continue
        worst, best = _bounds(tuple(groups))
        lower.append(float(worst))
        expected.append(float(ap_expected(groups)))
        upper.append(float(best))
    return Triple(_mean(lower), _mean(expected), _mean(upper))


_bounds = lru_cache(maxsize=64)(ap_bounds)


# ----------------------------------------------------------------------------------------------------------------------
# Grouped Recall@K, in exact fractions


def grouped_recall(
    distances: ArrayLike,
    labels: Sequence[Any],
    gallery_labels: Sequence[Any],
    groups: Iterable[Iterable[Any]],
    *,
    ranked: ArrayLike | None = None,
    k: int = 1,
) -> Triple[Fraction]:
    """Return GR@K = (1/N) Σ R@K(Q_i, D_i), equation 4 of [2]_: Recall@K inside each group of labels, then the mean.

    Parameters
    ----------
    distances : array_like of real numbers, shape (n_query, n_gallery)
        Compared as they are.
    labels, gallery_labels : sequences of length n_query and n_gallery
    groups : iterable of iterables of labels
        Q_i and D_i are the queries and the gallery items with a label of group i.
    ranked : array_like of bool, shape (n_query, n_gallery), optional
        False for the query itself and for junk; by default everything is ranked.
    k : int
        A query counts 1 if the first k items of its group hold one with its label, else 0.

    Returns
    -------
    Triple of Fraction
        **Ties:** the least, mean and greatest over all choices of the tied items that are among the first k, by
        enumeration. **Undefined:** a query without a relevant item, and then a group without a query, is left out.

    Raises
    ------
    ValueError
        If no group has a value.

    Examples
    --------
    >>> grouped_recall([[1, 1, 2], [8, 1, 2]], "ab", "aab", ["ab"])
    Triple(lower=Fraction(1, 2), expected=Fraction(1, 2), upper=Fraction(1, 2))
    >>> grouped_recall([[1, 1, 2]], "a", "aba", ["ab"])
    Triple(lower=Fraction(0, 1), expected=Fraction(1, 2), upper=Fraction(1, 1))
    """
    matrix = np.asarray(distances)
    counts = np.ones(matrix.shape, dtype=np.bool_) if ranked is None else np.asarray(ranked, dtype=np.bool_)
    of_groups = []
    for group in map(set, groups):
        of_queries = []
        for query, label in enumerate(labels):
            items = [item for item, other in enumerate(gallery_labels) if other in group and counts[query, item]]
            right = [gallery_labels[item] == label for item in items]
            if label in group and any(right):
                of_queries.append(_found_among_first(matrix[query, items].tolist(), right, k))
        if of_queries:
            of_groups.append([sum(values, Fraction(0)) / len(values) for values in zip(*of_queries, strict=True)])
    if not of_groups:
        raise ValueError("no query has a relevant item in its group, so that the measure is undefined")
    return Triple(*(sum(values, Fraction(0)) / len(values) for values in zip(*of_groups, strict=True)))


def _found_among_first(distances: Sequence[float], relevant: Sequence[bool], k: int) -> tuple[Fraction, ...]:
    """Return 1 if a relevant item is among the first k, else 0: in the worst case, on average and in the best."""
    last = sorted(distances)[min(k, len(distances)) - 1]
    closer = [right for at, right in zip(distances, relevant, strict=True) if at < last]
    tied = [right for at, right in zip(distances, relevant, strict=True) if at == last]
    room = min(k, len(distances)) - len(closer)
    result = [any(closer) or any(chosen) for chosen in itertools.combinations(tied, room)]
    return Fraction(min(result)), Fraction(sum(result), len(result)), Fraction(max(result))


# ----------------------------------------------------------------------------------------------------------------------
# The evaluation as published, and mended


def published_ap(
    embeddings: ArrayLike,
    labels: ArrayLike,
    *,
    mode: Mode = "unspecified",
    distance: Distance = "euclidean",
    e: float = 1e-20,
    remove_self: Literal["column", "index"] = "column",
    count_rank_one: bool = True,
    separate: Literal["add", "count"] = "add",
    dtype: str = "float64",
    use_scipy: bool = True,
    kind: SortKind = None,
    distances: ArrayLike | None = None,
) -> Floats:
    """Return the leave one out AP of every query, by default as the code published with the paper computes it.

    The defaults are that code's. `remove_self`, `count_rank_one` and `separate` each correct one mistake of it.

    Parameters
    ----------
    embeddings : array_like of real numbers, shape (n, dim)
    labels : array_like, shape (n,)
    mode : {"unspecified", "optimistic", "pessimistic"}
        Relevant items stay where they are, move e closer, or move e further.
    distance : {"cosine", "euclidean", "cityblock"}
    e : float
        Added to distances, and to both sides of the fraction that is the recall.
    remove_self : {"column", "index"}
        ``"column"``: each sample is ranked against all samples, itself included, and whatever comes first is dropped.
        With another sample at the same rounded distance, or when rounding puts a sample at a little more than 0 from
        itself, that can be another sample; then the sample itself stays in its own ranking, as a relevant item.
        ``"index"``: the sample itself is dropped, before anything is sorted.
    count_rank_one : bool
        True: precision is averaged over the ranks where (C + e) / (R + e) is larger than at the rank before, with 0
        before rank 1. Since e / (R + e) > 0 this takes in rank 1 even when it holds an irrelevant item, and a query
        whose nearest item is irrelevant is divided by R + 1. False: over the ranks that hold a relevant item.
    separate : {"add", "count"}
        ``"add"``: ties are separated by adding e to the distance, or taking it off, in the dtype of the distances,
        where it is mostly rounded away. ``"count"``: equal distances are put in the order of their relevance, with no
        arithmetic; the same as counting what is closer and what is tied.
    dtype : {"float64", "float32", "float16"}
        Round the distances to this type, as a system that stores them so would rank. The published code keeps float64.
    use_scipy : bool
        Distances from SciPy, as published, or from `distance_matrix` without it. Where a tie is made by rounding alone,
        the results differ.
    kind : {None, "quicksort", "mergesort", "heapsort", "stable"}
        The algorithm of ``numpy.argsort``; quicksort as published.
    distances : array_like of float64, shape (n, n), optional
        Use these and not the embeddings, to compute them once for many calls.

    Returns
    -------
    ndarray of float64, shape (n,)
        **Undefined:** NaN for a sample with no relevant item left. With ``remove_self="column"`` a sample that is alone
        in its class can still have one left: itself.

    Raises
    ------
    ValueError
        For a `mode`, `remove_self` or `separate` of another name, or distances of the wrong shape.

    Notes
    -----
    Not reproduced: the published options for singletons other than leaving them out. Those fill the matrices before
    precision is averaged; "balanced" is documented as precision 0 and sets 1, as "perfect" does, and "null" leaves a
    singleton without a change of recall, so that its AP is 0/0 and the mean NaN.

    References
    ----------
    [1]_, and the function ``get_map`` in ``src/map.py`` of the repository named there.

    Examples
    --------
    Two samples of one class and one of another, all at one point. The pessimistic order puts the sample itself last as
    well, so the column that is dropped is another sample: a perfect score for the worst case of the two, and the sample
    that is alone in its class finds itself.

    >>> same_place, labels = [[1.0], [1.0], [1.0]], [0, 0, 1]
    >>> published_ap(same_place, labels, mode="pessimistic", kind="stable", use_scipy=False, separate="count")
    array([1.  , 1.  , 0.25])
    >>> published_ap(same_place, labels, mode="pessimistic", kind="stable", use_scipy=False, separate="count",
    ...              remove_self="index", count_rank_one=False)
    array([0.5, 0.5, nan])
    """
    if mode not in ("unspecified", "optimistic", "pessimistic"):
        raise ValueError(f"mode must be 'unspecified', 'optimistic' or 'pessimistic', but got {mode!r}")
    if remove_self not in ("column", "index"):
        raise ValueError(f"remove_self must be 'column' or 'index', but got {remove_self!r}")
    if separate not in ("add", "count"):
        raise ValueError(f"separate must be 'add' or 'count', but got {separate!r}")
    relevant = relevance_matrix(labels)
    if distances is None:
        d = distance_matrix(embeddings, distance=distance, use_scipy=use_scipy)
    else:
        d = np.asarray(distances, dtype=np.float64)
    if d.shape != relevant.shape:
        raise ValueError(f"{len(relevant)} labels need distances of shape {relevant.shape}, but got {d.shape}")
    d = d.astype(dtype)
    if remove_self == "index":
        d, relevant = without_self(d), without_self(relevant)

    further = {"unspecified": 0, "optimistic": -1, "pessimistic": 1}[mode] * relevant
    if separate == "add" or mode == "unspecified":
        ranked = sorted_relevance(d + d.dtype.type(e) * further.astype(d.dtype), relevant, kind=kind)
    else:
        ranked = np.take_along_axis(relevant, np.lexsort((further, d), axis=1), axis=1)
    if remove_self == "column":
        ranked = ranked[:, 1:]
    if not count_rank_one:
        return average_precision(ranked)

    total = ranked.sum(axis=1)[:, None]
    recall = (correct_matrix(ranked) + e) / (total + e)
    before = np.concatenate([np.zeros((len(recall), 1)), recall[:, :-1]], axis=1)
    grows = recall > before
    result = total[:, 0] > 0
    out = np.full(len(ranked), np.nan)
    out[result] = (precision_matrix(ranked) * grows)[result].sum(axis=1) / grows[result].sum(axis=1)
    return out


def published_map(embeddings: ArrayLike, labels: ArrayLike, **options: Any) -> float:
    """Return the mean of `published_ap` over the samples that have a relevant item left.

    On the PHOCNet embeddings of the George Washington words [1]_ with ``distance="cosine"`` the code as published gives
    95.3495 % for "optimistic" and 95.3607 % for "pessimistic", the wrong way round. Corrected, all give 95.5491 %.

    Parameters
    ----------
    embeddings : array_like of real numbers, shape (n, dim)
    labels : array_like, shape (n,)
    **options
        Those of `published_ap`.

    Returns
    -------
    float
        **Undefined:** NaN when no sample has a relevant item left.

    Raises
    ------
    ValueError
        As `published_ap`.

    Examples
    --------
    A nearest neighbour of the wrong class, then the right one: AP is 1/2 for the two samples of class 0. As published
    it is divided by two changes of recall, not one.

    >>> points, labels = [[0.0], [2.0], [1.0]], [0, 0, 1]
    >>> published_map(points, labels, use_scipy=False)
    0.25
    >>> published_map(points, labels, use_scipy=False, count_rank_one=False)
    0.5
    """
    return _mean(published_ap(embeddings, labels, **options))


# ---------------------------------------------------------------------------------------------------------------------
# credible regions


def credible_recall(
    items: Sequence[float], draws: Sequence[float], relevant: Sequence[int], mass: Fraction
) -> Triple[Fraction]:
    """Return the share of a query's relevant items in the region of its densest posterior draws that hold a mass.

    Parameters
    ----------
    items : (n_item,)
        The density of the posterior at each item.
    draws : (n_draw,)
        The same at draws from it.
    relevant : (n_item,)
        1 for an item that is to be found, at least once, else 0.
    mass : Fraction
        Above 0 and below 1: of all draws, the smallest number that makes up this share is needed.

    Returns
    -------
    Triple[Fraction]
        Each item takes every place among the draws that are as dense: it is found if fewer than the needed draws come
        before it. The worst place, the mean over all places, and the best place.

    Examples
    --------
    One of two draws is needed. The first item is as dense as that draw: it comes before or after it.

    >>> credible_recall([8, 3], [8, 5], [1, 1], Fraction(1, 2))
    Triple(lower=Fraction(0, 1), expected=Fraction(1, 4), upper=Fraction(1, 2))
    """
    needed = math.ceil(mass * len(draws))
    result = []
    for item in itertools.compress(items, relevant):
        before, tied = sum(draw > item for draw in draws), sum(draw == item for draw in draws)
        result.append([Fraction(int(before + place < needed)) for place in range(tied + 1)])
    n = len(result)
    return Triple(
        sum(map(min, result), Fraction(0)) / n,
        sum((sum(places, Fraction(0)) / len(places) for places in result), Fraction(0)) / n,
        sum(map(max, result), Fraction(0)) / n,
    )
