"""Tie profiles of link prediction, where each query has one positive among candidates: from ranks, or from scores.

One tie group per query suffices: with the optimistic rank o, the pessimistic rank p and N candidates, o - 1 are
closer, p - o + 1 tied and N ranked. From scores, the candidates that score better than the positive, or the same, are
counted.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from deadheat.engine.profiles.profile import TieProfile
from deadheat.engine.ties.scores import ScoreTies
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
    """Make the profile of first and last possible ranks: `deadheat.Task.from_ranks`."""
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
    ties: Any = "exact",
    junk: ArrayLike | None = None,
    threads: int | None = None,
) -> TieProfile:
    """Rank each positive among its negatives: `deadheat.Task.from_links`."""
    checks.choice(order, ("descending", "ascending"), "order")
    ties = ScoreTies.checked(ties)
    scores, others = _scores(positives, "positives"), _scores(negatives, "negatives")
    scores = scores[:, 0] if scores.ndim == 2 and scores.shape[1] == 1 else scores
    if scores.ndim != 1 or others.ndim not in (1, 2) or (others.ndim == 2 and len(others) != len(scores)):
        rule = "must be (n_query,) and (n_query, n_negative) or (n_negative,)"
        came = f"but have shapes {scores.shape} and {others.shape}"
        raise InvalidValueError("positives and negatives", f"{rule}, {came}")
    _require_comparable(scores, others)
    arrays.require_counted(scores, False, "positives")
    mask = arrays.junk_mask(junk, len(scores), others.shape[-1])
    scores = scores.astype(np.result_type(scores, others)) if ties.dtype is None else ties.rounded(scores)
    if others.ndim == 1 and (mask is None or mask.ndim == 1):
        counts = _among_shared(scores, others if mask is None else others[~mask], order, ties)
    else:
        rows = np.broadcast_to(others, (len(scores), others.shape[-1]))
        counts = _among_own(scores, rows, mask, order, threads, "negatives", ties)
    return _profile(counts, ties)


def about_negatives(negatives: ArrayLike, n_query: int) -> list[str]:
    """Return a remark on negatives that all positives share; none where each positive has its own."""
    shape = np.shape(negatives)
    if len(shape) != 1 or n_query == 1:
        return []
    own = " If each positive has one of its own, give negatives[:, None]." if shape[0] == n_query else ""
    return [f"{shape[0]} negatives, shared by all {n_query} positives.{own}"]


@plain_floats
def profile_candidates(
    scores: ArrayLike,
    positives: ArrayLike,
    *,
    order: Order = "descending",
    ties: Any = "exact",
    junk: ArrayLike | None = None,
    threads: int | None = None,
) -> TieProfile:
    """Rank one candidate of each row among the others: `deadheat.Task.from_candidates`."""
    ties = ScoreTies.checked(ties)
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
    counts = _among_own(ties.rounded(matrix[own]), matrix, others, order, threads, "scores", ties)
    return _profile(counts, ties)


def _profile(counts: Int64, ties: ScoreTies) -> TieProfile:
    """Return the profile for the numbers of others of each query that score better, that score the same, and of all."""
    better, same, n_others = counts
    profile = profile_ranks(better + 1, better + same + 1, n_others + 1)
    return replace(profile, bounds_only=ties.bounds_only, check=False)


def _among_own(
    scores: Array, others: Array, junk: Bool | None, order: str, threads: int | None, name: str, ties: ScoreTies
) -> Int64:
    """Return the counts for `_profile`, (3, n_query), with others of its own for each query."""
    low, high = (end[:, None] for end in ties.window(scores))

    def count_block(rows: slice) -> Int64:
        ignored = False if junk is None else np.broadcast_to(junk, others.shape)[rows]
        arrays.require_counted(others[rows], ignored, name, rows.start)
        block, least, most = ties.rounded(others[rows]), low[rows], high[rows]
        same = (block >= least) & (block <= most) if ties.bounds_only else block == least
        masks = block > most if order == "descending" else block < least, same
        if junk is None:
            return np.array([*map(_per_row, masks), np.full(len(block), block.shape[1])])
        return np.array([*(_per_row(mask & ~ignored) for mask in masks), _per_row(~ignored)])

    blocks = slices(len(others), max(1, _BLOCK_ENTRIES // max(1, others.shape[1])))
    with Workers(checks.thread_count(threads)) as workers:
        return np.concatenate([np.zeros((3, 0), dtype=np.int64), *workers.each(count_block, blocks)], axis=1)


def _per_row(mask: Any) -> Int64:
    """Count the true entries of each row, in a third to a half of the time of `np.count_nonzero` along an axis."""
    if mask.shape[1] < 1 << 16:
        return np.asarray(mask.view(np.uint8).sum(axis=1, dtype=np.uint16), dtype=np.int64)
    return np.asarray(np.bitwise_count(np.packbits(mask, axis=1)).sum(axis=1, dtype=np.int64))


def _among_shared(scores: Array, negatives: Array, order: str, ties: ScoreTies) -> Int64:
    """Return the counts for `_profile`, for negatives that all queries share, which are sorted once."""
    arrays.require_counted(negatives[None], False, "negatives")
    low, high = ties.window(scores)
    ranked = np.sort(ties.rounded(negatives).astype(low.dtype))
    below, up_to = np.searchsorted(ranked, low, "left"), np.searchsorted(ranked, high, "right")
    better = len(ranked) - up_to if order == "descending" else below
    return np.array([better, up_to - below, np.full(len(scores), len(ranked))])


def _integers(values: ArrayLike, name: str) -> Int64:
    array = conversion.plain(values, name)
    if not array.size:
        return np.empty(array.shape, dtype=np.int64)
    if array.dtype.kind not in "iu":
        raise InvalidTypeError(name, f"must hold integers, but has dtype {array.dtype}")
    if array.dtype == np.uint64 and array.max() > _HIGHEST:
        raise InvalidValueError(name, f"must hold integers below 2^63, but holds {array.max()}")
    return array.astype(np.int64)


def _scores(values: ArrayLike, name: str) -> Array:
    array = conversion.plain(values, name, unmasked="to leave items out, use junk")
    if array.dtype.kind not in "iubf" or array.dtype.itemsize > 8:
        raise InvalidTypeError(name, f"must hold real numbers of at most 64 bits, but has dtype {array.dtype}")
    return array


def _require_comparable(scores: Array, others: Array) -> None:
    """Refuse integers that the common type of the comparison does not hold exactly."""
    if np.result_type(scores, others).kind == "f":
        for array, name in ((scores, "positives"), (others, "negatives")):
            if array.dtype.kind in "iu" and array.size:
                arrays.require_exact(array, name)
