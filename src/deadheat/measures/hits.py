"""Hits among the first k ranks: P@k, Recall@k, R-Precision and F1@k.

Each is a hits / (b k + c R), the constants a, b and c by family. Only the group that straddles the cutoff decides
anything, and its hits are hypergeometric.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deadheat import _core
from deadheat.measures.family import ClosedForms, Counted, Fill, Float64, Int64, Measure, RankSum
from deadheat.measures.groups import defined, groups_within, kernel_arrays, sum_by_query
from deadheat.profiles import TieProfile


@dataclass(frozen=True)
class Hits(ClosedForms):
    """``factor`` hits / (``size`` k + ``share`` R)."""

    factor: float
    size: float
    share: float

    def loop(self, profile: TieProfile, measure: Measure, out: Float64) -> Fill:
        groups, limit = kernel_arrays(profile), measure.limit
        factor, size, share = self.factor, self.size * limit, self.share
        return lambda first, last: _core.hits(first, last, groups, limit, factor, size, share, out)

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
