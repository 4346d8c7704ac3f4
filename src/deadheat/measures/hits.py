"""Hits among the first k ranks: P@k, Recall@k, R-Precision and F1@k.

Each is a hits / (b k + c R), the constants a, b and c by family. Only the group that straddles the cutoff decides
anything, and its hits are hypergeometric.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deadheat.measures.family import ClosedForms, Counted, Fill, Float64, Int64, Measure, RankSum
from deadheat.measures.groups import (
    Array,
    Arrays,
    defined,
    groups_within,
    kernel_arrays,
    last_rank,
    store,
    sum_by_query,
)
from deadheat.profiles import TieProfile
from deadheat.support.compiling import inner, kernel


@dataclass(frozen=True)
class Hits(ClosedForms):
    """``factor`` hits / (``size`` k + ``share`` R)."""

    factor: float
    size: float
    share: float

    def loop(self, profile: TieProfile, measure: Measure, out: Float64) -> Fill:
        groups, limit = kernel_arrays(profile), measure.limit
        factor, size, share = self.factor, self.size * limit, self.share
        return lambda first, last: hits(first, last, groups, limit, factor, size, share, out)

    def deviation(self, profile: TieProfile, measure: Measure) -> Float64:
        """That of a hypergeometric distribution; it is 0 where all slots of a group count."""
        mixed, slots = groups_within(profile, measure, profile.tied > profile.tied_relevant)
        tied, m = profile.tied[mixed], profile.tied_relevant[mixed]
        variance = slots * (m / tied) * ((tied - m) / tied) * ((tied - slots) / (tied - 1))
        with np.errstate(invalid="ignore"):
            values = self.factor * np.sqrt(sum_by_query(profile, mixed, variance))
            return defined(profile, values / self._divisor(measure, profile.n_relevant))

    def rank_sum(self, measure: Measure, relevant: Int64, ranked: Int64, n: int) -> RankSum:
        return RankSum(Counted.ONE, np.ones(n + 1), 1.0 / (self._divisor(measure, relevant) / self.factor))

    def _divisor(self, measure: Measure, relevant: Int64) -> Float64:
        return np.asarray(self.size * measure.limit + self.share * relevant, dtype=np.float64)


@inner
def _last_before(start: int, stop: int, c: int, closer: Array) -> int:
    """The last group from start up to stop, less one, that begins before rank c; start - 1 where there is none."""
    while start < stop:
        middle = (start + stop) // 2
        if closer[middle] < c:
            start = middle + 1
        else:
            stop = middle
    return start - 1


@kernel
def hits(
    first: int, last: int, groups: Arrays, cutoff: int, factor: float, size: float, share: float, out: Array
) -> None:
    """Fill in `factor` times the hits in the first `cutoff` ranks, over `size` + `share` * `n_relevant`."""
    offsets, closer, closer_relevant, tied, tied_relevant, n_ranked, n_relevant = groups
    for query in range(first, last):
        c = last_rank(n_ranked[query], n_relevant[query], cutoff)
        divisor = size + share * float(n_relevant[query]) if n_relevant[query] > 0 else np.nan
        start = offsets[query]
        best = worst = _last_before(start, offsets[query + 1], c, closer)
        least = most = 0
        mean = 0.0 * divisor
        if best >= start:
            k, n, t, m = closer[best], closer_relevant[best], tied[best], tied_relevant[best]
            most = n + min(m, c - k)
            mean = factor * float(n * t + m * min(c - k, t)) / (float(t) * divisor)
        # Windows of a tolerance may overlap, and the relevant items of several then begin beyond the cutoff at worst.
        while worst >= start and closer[worst] + tied[worst] - tied_relevant[worst] >= c:
            worst -= 1
        if worst >= start:
            m = tied_relevant[worst]
            least = closer_relevant[worst] + min(m, c - (closer[worst] + tied[worst] - m))
        store(out, query, factor * float(least) / divisor, mean, factor * float(most) / divisor)
