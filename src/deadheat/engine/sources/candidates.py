"""`from_candidates`: one relevant item, the positive, among the candidates of each query, as in link prediction.

The candidates that score better than the positive, or the same, are counted; they give its first and its last rank.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from deadheat.engine.evaluable import Origin
from deadheat.engine.literals import ScoreTiesName
from deadheat.engine.profiles.profile import TieProfile
from deadheat.engine.sources.counted import CountedTask
from deadheat.engine.sources.ranks import profile_of_ranks
from deadheat.engine.ties.rule import Ties
from deadheat.engine.ties.scores import ScoreTies
from deadheat.errors import InvalidTypeError, InvalidValueError
from deadheat.inputs import arrays, conversion
from deadheat.support import checks
from deadheat.support.arguments import VALUES, names_argument
from deadheat.support.arrays import Array, Bool, Int64, slices
from deadheat.support.floats import plain_floats
from deadheat.support.progress import Workers

_BLOCK_ENTRIES = 1 << 18  # compared at a time: what fits into a cache


@plain_floats
def from_candidates(
    scores: ArrayLike,
    *,
    positive_scores: ArrayLike | None = None,
    positive_columns: ArrayLike | None = None,
    order: Literal["descending", "ascending"] = "descending",
    junk: ArrayLike | None = None,
    ties: ScoreTiesName | Ties = "exact",
    threads: int | None = None,
) -> CountedTask:
    """Make a task of one positive a query, ranked among its candidates, or all among the same candidates.

    The score of the positive is given, or it is one of the candidates, and its column is given.

    Parameters
    ----------
    scores : (n_query, n_candidate) or (n_candidate,) array of floats or integers
        The scores of the candidates of each query, such as every entity as the tail of a triple, or those of negatives
        that all queries share.
    positive_scores : (n_query,) or (n_query, 1) array of floats or integers, optional
        The scores of the positives, if these are not among the candidates.
    positive_columns : (n_query,) array of integers, optional
        The column of the positive in each row of `scores`. It is ranked also where it is among the junk.
    order : {"descending", "ascending"}
        Whether the best score is the highest, or, as for distances, the lowest.
    junk : (n_candidate,) or (n_query, n_candidate) array of bool, optional
        Other known positives, in the filtered setting: they are not ranked, and their scores may be NaN or infinite.
    ties : {"exact", "float16", "bfloat16", "float32", "float64"}, Rounded or Tolerance
        As in `from_scores`.
    threads : int, optional
        Worker threads of every question. By default as many as this process may use.

    Returns
    -------
    CountedTask
        One group a query, with one relevant item.

    Notes
    -----
    Ties: scores tie when they are the same number; two types are compared in one that holds both.

    Examples
    --------
    The positive ties with one of three negatives, behind another, which is a known positive:

    >>> profile = from_candidates([[0.9, 0.5, 0.1]], positive_scores=[0.5]).profile
    >>> profile.closer, profile.tied, profile.n_ranked
    (array([1]), array([2]), array([4]))
    >>> profile == from_candidates([[0.9, 0.5, 0.5, 0.1]], positive_columns=[2]).profile
    True
    >>> filtered = from_candidates([[0.9, 0.5, 0.1]], positive_scores=[0.5], junk=[[True, False, False]]).profile
    >>> filtered.closer, filtered.tied, filtered.n_ranked
    (array([0]), array([2]), array([3]))
    """
    if (positive_scores is None) == (positive_columns is None):
        raise InvalidTypeError("positive_scores", "must be given, or positive_columns in place of them")
    if positive_scores is not None:
        opened = _with_scores(scores, positive_scores)
    else:
        opened = _with_columns(scores, positive_columns)
    return CountedTask("candidates", opened, {"order": order, "junk": junk, "ties": ties, "threads": threads})


class _Positives(NamedTuple):
    scores: Array  # (n_query, n_candidate) or (n_candidate,)
    positives: Array  # (n_query,), their scores
    columns: Int64 | None = None  # (n_query,), where the positives are among the candidates

    def counts(self, *, order: str, junk: Any, ties: Any, threads: int) -> tuple[TieProfile, Origin]:
        checks.choice(order, ("descending", "ascending"), "order")
        rule, n_query = ScoreTies.checked(ties), len(self.positives)
        arrays.require_counted(self.positives, "scores" if self.columns is not None else "positive_scores", False)
        mask = arrays.junk_mask(junk, n_query, self.scores.shape[-1])
        if self.columns is not None:
            mask = np.broadcast_to(False if mask is None else mask, self.scores.shape).copy()
            mask[np.arange(n_query), self.columns] = True  # the positive is no candidate in addition to itself
        common = self.positives.astype(np.result_type(self.positives, self.scores))
        positives = common if rule.dtype is None else rule.rounded(self.positives)
        if self.scores.ndim == 1 and (mask is None or mask.ndim == 1):
            counts = _among_shared(positives, self.scores if mask is None else self.scores[~mask], order, rule)
        else:
            rows = np.broadcast_to(self.scores, (n_query, self.scores.shape[-1]))
            counts = _among_own(positives, rows, mask, order, threads, rule)
        better, same, n_others = counts
        profile = profile_of_ranks(better + 1, better + same + 1, n_others + 1)
        profile = replace(profile, bounds_only=rule.bounds_only, check=False)
        return profile, Origin(tie_rule=rule.describe(), remarks=self._remarks())

    def _remarks(self) -> tuple[str, ...]:
        """Return a remark on negatives that all positives share; none where each positive has its own."""
        n, n_query = len(self.scores), len(self.positives)
        if self.scores.ndim != 1 or n_query == 1:
            return ()
        own = " If each positive has one of its own, give scores[:, None]." if n == n_query else ""
        return (f"{n} negatives, shared by all {n_query} positives.{own}",)


def _with_scores(scores: ArrayLike, positive_scores: ArrayLike) -> _Positives:
    positives, others = _scores(positive_scores, "positive_scores"), _scores(scores, "scores")
    positives = positives[:, 0] if positives.ndim == 2 and positives.shape[1] == 1 else positives
    if positives.ndim != 1 or others.ndim not in (1, 2) or (others.ndim == 2 and len(others) != len(positives)):
        rule = "must be (n_query,) and (n_query, n_candidate) or (n_candidate,)"
        actual = f"but have shapes {positives.shape} and {others.shape}"
        raise InvalidValueError("positive_scores and scores", f"{rule}, {actual}")
    _require_comparable(positives, others)
    return _Positives(others, positives)


def _with_columns(scores: ArrayLike, positive_columns: Any) -> _Positives:
    matrix, columns = _scores(scores, "scores"), conversion.integers(positive_columns, "positive_columns")
    if matrix.ndim != 2 or columns.shape != matrix.shape[:1]:
        actual = f"but have shapes {matrix.shape} and {columns.shape}"
        raise InvalidValueError(
            "scores and positive_columns", f"must be (n_query, n_candidate) and (n_query,), {actual}"
        )
    if not matrix.shape[1]:
        raise InvalidValueError("scores", f"must have at least one candidate, but has shape {matrix.shape}")
    for row in np.flatnonzero((columns < 0) | (columns >= matrix.shape[1]))[:1]:
        rule = f"must be columns from 0 to {matrix.shape[1] - 1}, but row {row} has {columns[row]}"
        raise InvalidValueError("positive_columns", rule)
    return _Positives(matrix, matrix[np.arange(len(matrix)), columns], columns)


def _among_own(scores: Array, others: Array, junk: Bool | None, order: str, threads: int, ties: ScoreTies) -> Int64:
    """Return for each query the others that score better, that score the same, and all, (3, n_query)."""
    low, high = (end[:, None] for end in ties.window(scores))

    def count_block(rows: slice) -> Int64:
        ignored = False if junk is None else np.broadcast_to(junk, others.shape)[rows]
        arrays.require_counted(others[rows], "scores", ignored, rows.start)
        block, least, most = ties.rounded(others[rows]), low[rows], high[rows]
        same = (block >= least) & (block <= most) if ties.bounds_only else block == least
        masks = block > most if order == "descending" else block < least, same
        if junk is None:
            return np.array([*map(_per_row, masks), np.full(len(block), block.shape[1])])
        return np.array([*(_per_row(mask & ~ignored) for mask in masks), _per_row(~ignored)])

    blocks = slices(len(others), max(1, _BLOCK_ENTRIES // max(1, others.shape[1])))
    with Workers(threads) as workers:
        return np.concatenate([np.zeros((3, 0), dtype=np.int64), *workers.each(count_block, blocks)], axis=1)


def _per_row(mask: Any) -> Int64:
    """Count the true entries of each row, in a third to a half of the time of `np.count_nonzero` along an axis."""
    if mask.shape[1] < 1 << 16:
        return np.asarray(mask.view(np.uint8).sum(axis=1, dtype=np.uint16), dtype=np.int64)
    return np.asarray(np.bitwise_count(np.packbits(mask, axis=1)).sum(axis=1, dtype=np.int64))


def _among_shared(scores: Array, others: Array, order: str, ties: ScoreTies) -> Int64:
    """Return the same for others that all queries share, which are sorted once."""
    arrays.require_counted(others[None], "scores", False)
    low, high = ties.window(scores)
    ranked = np.sort(ties.rounded(others).astype(low.dtype))
    below, up_to = np.searchsorted(ranked, low, "left"), np.searchsorted(ranked, high, "right")
    better = len(ranked) - up_to if order == "descending" else below
    return np.array([better, up_to - below, np.full(len(scores), len(ranked))])


@names_argument
def _scores(values: Any) -> Array:
    array = conversion.plain(values, unmasked="to leave items out, use junk")
    if array.dtype.kind not in "iubf" or array.dtype.itemsize > 8:
        raise InvalidTypeError(VALUES, f"must hold real numbers of at most 64 bits, but has dtype {array.dtype}")
    return array


def _require_comparable(scores: Array, others: Array) -> None:
    """Refuse integers that the common type of the comparison does not hold exactly."""
    if np.result_type(scores, others).kind == "f":
        for array, name in ((scores, "positive_scores"), (others, "scores")):
            if array.dtype.kind in "iu" and array.size:
                arrays.require_exact(array, name)
