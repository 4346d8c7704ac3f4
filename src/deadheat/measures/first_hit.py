"""The first hit: Hit@k, MRR and MRR@k. Hit@k is "Recall@K" of metric learning, Success@k, CMC@k.

In come tie groups, of which only the first matters; out goes 1 if its first relevant item is among the first k ranks,
or one over the rank of that item.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deadheat.measures.family import Counted, Fill, Float64, Int64, Measure, RankSum
from deadheat.measures.groups import kernel_arrays, reciprocal_ranks
from deadheat.measures.loops import Array, Arrays, last_rank, store
from deadheat.measures.order_statistics import OneEnd
from deadheat.profiles import TieProfile
from deadheat.support.compiling import kernel


@dataclass(frozen=True)
class FirstHit(OneEnd):
    """1 or, where `reciprocal`, one over the rank of the first relevant item; 0 if that is beyond the cutoff."""

    reciprocal: bool

    def loop(self, profile: TieProfile, measure: Measure, out: Float64) -> Fill:
        groups, limit, reciprocal = kernel_arrays(profile), measure.limit, self.reciprocal
        return lambda first, last: first_hits(first, last, groups, limit, reciprocal, out)

    def group(self, profile: TieProfile, query: Int64) -> Int64:
        return profile.offsets[query]

    @property
    def value(self) -> int:
        return int(self.reciprocal)

    def rank_sum(self, measure: Measure, relevant: Int64, ranked: Int64, n: int) -> RankSum:
        discount = reciprocal_ranks(n) if self.reciprocal else np.ones(n + 1)
        return RankSum(Counted.FIRST, discount, np.ones(len(relevant)))


@kernel
def first_hits(first: int, last: int, groups: Arrays, cutoff: int, reciprocal: bool, out: Array) -> None:
    """Fill in Hit@k or the reciprocal rank: only the first group matters. A mean over its slots is left NaN."""
    offsets, closer, _, tied, tied_relevant, n_ranked, n_relevant = groups
    for query in range(first, last):
        group = offsets[query]
        if group == offsets[query + 1]:
            nothing = 0.0 if n_relevant[query] > 0 else np.nan
            store(out, query, nothing, nothing, nothing)
            continue
        k, final = closer[group], tied[group] - tied_relevant[group] + 1
        slots = min(last_rank(n_ranked[query], n_relevant[query], cutoff) - k, tied[group])
        low = high = 0.0
        if slots > 0:
            high = 1.0 / float(k + 1) if reciprocal else 1.0
        if slots >= final:
            low = 1.0 / float(k + final) if reciprocal else 1.0
        store(out, query, low, high if low == high else np.nan, high)
