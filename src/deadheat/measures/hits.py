"""Hits among the first k ranks (P@k, Recall@k, R-Precision and F1@k) and in the whole set that was retrieved.

Each of the first is a hits / (b k + c R), the constants a, b and c by family. Only the group that straddles the cutoff
decides anything, and its hits are hypergeometric.

SetP, SetR, SetRelP, SetAP and SetF are trec_eval's set_P, set_recall, set_relative_P, set_map and set_F: functions of
how many items are ranked (n), relevant (R), and both (h). No order changes them: lower, expected and upper are equal.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import deadheat._core as _core
from deadheat.engine.profiles.profile import TieProfile
from deadheat.measures.family import ClosedForms, Counted, Fill, Measure, NoRankSum, RankSum
from deadheat.measures.groups import defined, filled, found, groups_within, kernel_arrays, sum_by_query
from deadheat.support.arrays import Float64, Int64
from deadheat.support.triple import Triple


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


@dataclass(frozen=True)
class SetCounts(NoRankSum):
    """A ratio of two functions of h, n and R; 0 where nothing relevant was retrieved."""

    over: Callable[[Float64], Float64]  # of h
    under: Callable[[Float64, Float64], Float64]  # of n and R

    def loop(self, profile: TieProfile, measure: Measure, out: Float64) -> Fill:
        hits = found(profile)
        ranked, relevant = profile.n_ranked.astype(np.float64), profile.n_relevant.astype(np.float64)
        nothing = np.zeros(profile.n_query)
        values = defined(profile, np.divide(self.over(hits), self.under(ranked, relevant), out=nothing, where=hits > 0))
        return filled(Triple(values, values, values), out)

    def deviation(self, profile: TieProfile, measure: Measure) -> Float64:
        return defined(profile, np.zeros(profile.n_query))
