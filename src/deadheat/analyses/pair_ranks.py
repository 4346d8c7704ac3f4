"""Exact order of pairs of embeddings by their closeness.

Equal pairs are counted once. Float64 with a proven error bound decides nearly all others; pairs whose intervals overlap
form runs, and are compared as exact numbers with a pivot of their run, until only ties are left.
"""

from __future__ import annotations

import numpy as np

from deadheat.engine import exact
from deadheat.engine.distances.distance import Distance
from deadheat.engine.exact import Roots
from deadheat.support.arrays import Float64, Int64, slices

_AT_ONCE = 1 << 15  # pairs


def ranks_of_pairs(metric: Distance, pairs: Int64) -> tuple[Int64, Float64]:
    """Return the rank of each pair, (n_pair,), 0 for the farthest and equal for ties, and the closeness of each rank.

    The closeness is rounded down, so that a threshold there accepts the pairs of the rank.
    """
    columns = np.sort(metric.columns.column_of_item[pairs], axis=1)
    distinct, pair = np.unique(columns, axis=0, return_inverse=True)
    left, right = metric.columns.item_of_column[distinct[:, 0]], np.ascontiguousarray(distinct[:, 1])
    low, high = np.concatenate([_bounds(metric, left[some], right[some]) for some in slices(len(left), _AT_ONCE)], 1)
    order = np.argsort(low)
    starts = np.append(True, low[order][1:] > np.maximum.accumulate(high[order])[:-1])  # of runs that overlap
    run = np.empty(len(order), dtype=np.int64)
    run[order] = np.cumsum(starts) - 1
    shared = np.flatnonzero(np.bincount(run)[run] > 1)
    run *= len(run)
    if len(shared):
        run[shared] += _ranks_in_runs(metric.exact_closeness(left[shared], right[shared]), run[shared])
    _, first, rank = np.unique(run, return_index=True, return_inverse=True)
    closeness = metric.exact_closeness(left[first], right[first])
    return rank[pair.ravel()], exact.round_down(closeness, low[first], high[first])


def _bounds(metric: Distance, left: Int64, right: Int64) -> tuple[Float64, Float64]:
    score = metric.scores.pair_scores(left, right)
    known = metric.exact_values(score)
    bound = 0.0 if known is not None else metric.scores.pair_bounds(left, right, score)
    return (known, known) if known is not None else metric.closeness(left, score - bound, score + bound)


def _ranks_in_runs(roots: Roots, run: Int64) -> Int64:
    """Rank numbers by run and by size in each, equal for equal numbers: a quicksort of all runs at once."""
    rank, left = run, np.arange(len(run))
    while len(left):
        _, group, size = np.unique(rank[left], return_inverse=True, return_counts=True)
        pivot = left[np.argsort(group, kind="stable")[np.cumsum(size) - size // 2 - 1]]
        step = np.zeros(len(rank), dtype=np.int64)
        step[left] = order = roots.compare(left, roots, pivot[group])
        rank, left = np.unique(3 * rank + step, return_inverse=True)[1], left[order != 0]
    return rank
