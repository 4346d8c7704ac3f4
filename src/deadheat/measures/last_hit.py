"""The last hit: mINP [1]_.

In come tie groups, of which only the last matters; out goes R over the rank of the last relevant item, 0 if one was
not retrieved.

.. [1] Ye et al. 2021, Deep learning for person re-identification: a survey and outlook.
"""

from __future__ import annotations

import numpy as np

from deadheat.measures.family import Counted, Fill, Float64, Int64, Measure, RankSum
from deadheat.measures.groups import kernel_arrays, reciprocal_ranks
from deadheat.measures.loops import Array, Arrays, store
from deadheat.measures.order_statistics import OneEnd
from deadheat.profiles import TieProfile
from deadheat.support.compiling import kernel


class LastHit(OneEnd):
    """R over the rank of the last relevant item."""

    value = -1

    def loop(self, profile: TieProfile, measure: Measure, out: Float64) -> Fill:
        groups = kernel_arrays(profile)
        return lambda first, last: inverse_penalties(first, last, groups, out)

    def group(self, profile: TieProfile, query: Int64) -> Int64:
        return profile.offsets[query + 1] - 1

    def factor(self, relevant: Int64) -> Int64:
        return relevant

    def rank_sum(self, measure: Measure, relevant: Int64, ranked: Int64, n: int) -> RankSum:
        return RankSum(Counted.LAST, reciprocal_ranks(n), relevant.astype(np.float64))


@kernel
def inverse_penalties(first: int, last: int, groups: Arrays, out: Array) -> None:
    """Fill in mINP: only the last group matters, if nothing relevant is missing. A mean over its slots is left NaN."""
    offsets, closer, closer_relevant, tied, tied_relevant, _, n_relevant = groups
    for query in range(first, last):
        group = offsets[query + 1] - 1
        r = n_relevant[query]
        if group < offsets[query] or closer_relevant[group] + tied_relevant[group] < r:
            nothing = 0.0 if r > 0 else np.nan
            store(out, query, nothing, nothing, nothing)
            continue
        low = float(r) / float(closer[group] + tied[group])
        high = float(r) / float(closer[group] + tied_relevant[group])
        store(out, query, low, high if low == high else np.nan, high)
