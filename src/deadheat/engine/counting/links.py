"""Tie profiles of link prediction, where each query has one positive among candidates: from ranks, or from scores.

One tie group a query says it all: with the optimistic rank o, the pessimistic rank p and N candidates, o - 1 are
closer, p - o + 1 tied and N ranked. What scores better than the positive is counted, and what scores the same.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from deadheat.engine.profiles.profile import TieProfile
from deadheat.errors import InvalidTypeError, InvalidValueError
from deadheat.inputs import arrays, conversion
from deadheat.support import checks
from deadheat.support.arrays import Array, Bool, Int64, slices
from deadheat.support.floats import plain_floats
from deadheat.support.progress import Workers

Order = Literal["descending", "ascending"]

_HIGHEST = np.iinfo(np.int64).max
_BLOCK_ENTRIES = 1 << 18  # compared at a time: what fits into a cache


def profile_ranks(optimistic: ArrayLike, pessimistic: ArrayLike, n_candidates: ArrayLike) -> TieProfile:
    """Make the tie profile of queries with one positive each from its first and its last possible rank.

    Parameters
    ----------
    optimistic : (n_query,) integers
        The rank of the positive, from 1 on, in front of all candidates with its score.
    pessimistic : (n_query,) integers
        Its rank behind all candidates with its score.
    n_candidates : int or (n_query,) integers
        How many candidates were ranked, the positive among them and other known positives not.

    Returns
    -------
    TieProfile
        One group a query, with one relevant item.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described, or not ``1 <= optimistic <= pessimistic <= n_candidates``.

    Notes
    -----
    Ties: all ranks from `optimistic` to `pessimistic` are equally likely. Their mean, the "realistic" rank, does not
    suffice: the mean of 1/rank is not one over the mean rank.

    Examples
    --------
    A scorer that gives the same score to all of 1,000 candidates:

    >>> from deadheat import link_prediction
    >>> found = link_prediction(profile_ranks([1], [1000], 1000), ["MRR", "Hits@10"])
    >>> print(f"{found['MRR'].expected:.4f} {found['Hits@10'].expected:.3f}")
    0.0075 0.010
    """
    named = {"optimistic": optimistic, "pessimistic": pessimistic, "n_candidates": n_candidates}
    first, last, n_ranked = (_integers(values, name) for name, values in named.items())
    n_ranked = np.full(first.shape, n_ranked) if n_ranked.ndim == 0 else n_ranked
    if first.ndim != 1 or not first.shape == last.shape == n_ranked.shape:
        came = f"but have shapes {first.shape}, {last.shape} and {n_ranked.shape}"
        raise InvalidValueError(" and ".join(named), f"must have one entry per query, {came}")
    for wrong in np.flatnonzero((first < 1) | (last < first) | (n_ranked < last))[:1]:
        came = f"query {wrong} has {first[wrong]}, {last[wrong]} and {n_ranked[wrong]}"
        raise InvalidValueError(" and ".join(named), f"must be at least 1 and in this order, but {came}")
    zeros, ones, offsets = np.zeros_like(first), np.ones_like(first), np.arange(len(first) + 1)
    return TieProfile(offsets, first - 1, zeros, last - first + 1, ones, n_ranked, ones, check=False)


@plain_floats
def profile_links(
    positives: ArrayLike,
    negatives: ArrayLike,
    *,
    order: Order = "descending",
    junk: ArrayLike | None = None,
    threads: int | None = None,
) -> TieProfile:
    """Rank each positive among its negatives, or all of them among the same negatives.

    Parameters
    ----------
    positives : (n_query,) or (n_query, 1) array of floats or integers
        The scores of the positives.
    negatives : (n_query, n_negative) or (n_negative,) array of floats or integers
        The scores of the negatives of each query, or of the negatives that all queries share.
    order : {"descending", "ascending"}
        Whether the best score is the highest, or, as for distances, the lowest.
    junk : (n_negative,) or (n_query, n_negative) array of bool, optional
        Other known positives, in the filtered setting: they are not ranked, and their scores may be NaN or infinite.
    threads : int, optional
        Worker threads, for this call alone. By default as many as this process may use.

    Returns
    -------
    TieProfile
        One group a query, with one relevant item.

    Raises
    ------
    TypeError, ValueError
        If an argument breaks its rule; the message names the argument, the rule and what came.

    Notes
    -----
    Ties: scores tie when they are the same number; two types are compared in one that holds both.

    Examples
    --------
    The positive ties with one of three negatives, behind another, which is a known positive:

    >>> profile = profile_links([0.5], [[0.9, 0.5, 0.1]])
    >>> profile.closer, profile.tied, profile.n_ranked
    (array([1]), array([2]), array([4]))
    >>> filtered = profile_links([0.5], [[0.9, 0.5, 0.1]], junk=[[True, False, False]])
    >>> filtered.closer, filtered.tied, filtered.n_ranked
    (array([0]), array([2]), array([3]))
    """
    checks.choice(order, ("descending", "ascending"), "order")
    scores, others = _scores(positives, "positives"), _scores(negatives, "negatives")
    scores = scores[:, 0] if scores.ndim == 2 and scores.shape[1] == 1 else scores
    if scores.ndim != 1 or others.ndim not in (1, 2) or (others.ndim == 2 and len(others) != len(scores)):
        rule = "must be (n_query,) and (n_query, n_negative) or (n_negative,)"
        came = f"but have shapes {scores.shape} and {others.shape}"
        raise InvalidValueError("positives and negatives", f"{rule}, {came}")
    _require_comparable(scores, others)
    arrays.require_counted(scores, False, "positives")
    mask = arrays.junk_mask(junk, len(scores), others.shape[-1])
    if others.ndim == 1 and (mask is None or mask.ndim == 1):
        counts = _among_shared(scores, others if mask is None else others[~mask], order)
    else:
        rows = np.broadcast_to(others, (len(scores), others.shape[-1]))
        counts = _among_own(scores, rows, mask, order, threads, "negatives")
    return _profile(counts)


@plain_floats
def profile_candidates(
    scores: ArrayLike,
    positives: ArrayLike,
    *,
    order: Order = "descending",
    junk: ArrayLike | None = None,
    threads: int | None = None,
) -> TieProfile:
    """Rank one candidate of each row, the positive, among the others of the row.

    Parameters
    ----------
    scores : (n_query, n_candidate) array of floats or integers
        The scores of all candidates, such as those of every entity as the tail of a triple.
    positives : (n_query,) array of integers
        The column of the positive in each row. It is ranked also where it is among the junk.
    order : {"descending", "ascending"}
        Whether the best score is the highest, or, as for distances, the lowest.
    junk : (n_candidate,) or (n_query, n_candidate) array of bool, optional
        Other known positives, in the filtered setting: they are not ranked, and their scores may be NaN or infinite.
    threads : int, optional
        Worker threads, for this call alone. By default as many as this process may use.

    Returns
    -------
    TieProfile
        One group a query, with one relevant item.

    Raises
    ------
    TypeError, ValueError
        If an argument breaks its rule; the message names the argument, the rule and what came.

    Notes
    -----
    Ties: scores tie when they are the same number.

    Examples
    --------
    >>> profile = profile_candidates([[0.9, 0.5, 0.5, 0.1]], [2], junk=[[True, False, True, False]])
    >>> profile.closer, profile.tied, profile.n_ranked
    (array([0]), array([2]), array([3]))
    """
    matrix, columns = _scores(scores, "scores"), _integers(positives, "positives")
    if matrix.ndim != 2 or columns.shape != matrix.shape[:1]:
        came = f"but have shapes {matrix.shape} and {columns.shape}"
        raise InvalidValueError("scores and positives", f"must be (n_query, n_candidate) and (n_query,), {came}")
    if not matrix.shape[1]:
        raise InvalidValueError("scores", f"must have at least one candidate, but has shape {matrix.shape}")
    for row in np.flatnonzero((columns < 0) | (columns >= matrix.shape[1]))[:1]:
        rule = f"must be columns from 0 to {matrix.shape[1] - 1}, but row {row} has {columns[row]}"
        raise InvalidValueError("positives", rule)
    mask = arrays.junk_mask(junk, *matrix.shape)
    others = np.zeros(matrix.shape, dtype=np.bool_) if mask is None else np.broadcast_to(mask, matrix.shape).copy()
    own = np.arange(len(matrix)), columns
    others[own] = True  # the positive is no candidate next to itself
    checks.choice(order, ("descending", "ascending"), "order")
    arrays.require_counted(matrix[own], False, "scores")
    return _profile(_among_own(matrix[own], matrix, others, order, threads, "scores"))


def _profile(counts: Int64) -> TieProfile:
    """The profile for how many others of each query score better, how many the same, and how many there are."""
    better, same, n_others = counts
    return profile_ranks(better + 1, better + same + 1, n_others + 1)


def _among_own(scores: Array, others: Array, junk: Bool | None, order: str, threads: int | None, name: str) -> Int64:
    """What `_profile` takes, (3, n_query), with others of its own for each query."""
    better = np.greater if order == "descending" else np.less

    def count_block(rows: slice) -> Int64:
        block, score = others[rows], scores[rows, None]
        masks = better(block, score), block == score
        if junk is None:
            arrays.require_counted(block, False, name, rows.start)
            return np.array([*map(_per_row, masks), np.full(len(block), block.shape[1])])
        ignored = np.broadcast_to(junk, others.shape)[rows]
        arrays.require_counted(block, ignored, name, rows.start)
        return np.array([*(_per_row(mask & ~ignored) for mask in masks), _per_row(~ignored)])

    blocks = slices(len(others), max(1, _BLOCK_ENTRIES // max(1, others.shape[1])))
    with Workers(checks.thread_count(threads)) as workers:
        return np.concatenate([np.zeros((3, 0), dtype=np.int64), *workers.each(count_block, blocks)], axis=1)


def _per_row(mask: Any) -> Int64:
    """How often each row is true; a third and a half of the time of `np.count_nonzero` along an axis."""
    if mask.shape[1] < 1 << 16:
        return np.asarray(mask.view(np.uint8).sum(axis=1, dtype=np.uint16), dtype=np.int64)
    return np.asarray(np.bitwise_count(np.packbits(mask, axis=1)).sum(axis=1, dtype=np.int64))


def _among_shared(scores: Array, negatives: Array, order: str) -> Int64:
    """What `_profile` takes, for negatives that all queries share, which are sorted once."""
    arrays.require_counted(negatives, False, "negatives")
    common = np.result_type(scores, negatives)
    ranked, asked = np.sort(negatives.astype(common)), scores.astype(common)
    below, up_to = (np.searchsorted(ranked, asked, side) for side in ("left", "right"))
    better = len(ranked) - up_to if order == "descending" else below
    return np.array([better, up_to - below, np.full(len(scores), len(ranked))])


def _integers(values: ArrayLike, name: str) -> Int64:
    array = conversion.plain(values, name)
    if array.dtype.kind not in "iu" and array.size:
        raise InvalidTypeError(name, f"must hold integers, but has dtype {array.dtype}")
    if array.dtype == np.uint64 and array.size and array.max() > _HIGHEST:
        raise InvalidValueError(name, f"must hold integers below 2^63, but holds {array.max()}")
    return array.astype(np.int64)


def _scores(values: ArrayLike, name: str) -> Array:
    array = conversion.plain(values, name, unmasked="to leave items out, use junk")
    if array.dtype.kind not in "iubf" or array.dtype.itemsize > 8:
        raise InvalidTypeError(name, f"must hold real numbers of at most 64 bits, but has dtype {array.dtype}")
    return array


def _require_comparable(scores: Array, others: Array) -> None:
    """Refuse integers that the type in which they are compared does not hold."""
    if np.result_type(scores, others).kind == "f":
        for array, name in ((scores, "positives"), (others, "negatives")):
            if array.dtype.kind in "iu" and array.size:
                arrays.require_exact(array, name)
