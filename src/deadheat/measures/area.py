"""The area under the ROC curve: AUC, the share of pairs with the relevant item in front; a rank sum (Mann and Whitney).

A relevant item that was not retrieved is behind all. Undefined also where no irrelevant item is ranked.
"""

from __future__ import annotations

import numpy as np

from deadheat import _core
from deadheat.measures.family import ClosedForms, Counted, Fill, Float64, Int64, Measure, RankSum
from deadheat.measures.groups import kernel_arrays, sum_by_query
from deadheat.profiles import TieProfile


class Area(ClosedForms):
    """The share of pairs of a relevant and a ranked irrelevant item with the relevant one in front."""

    def loop(self, profile: TieProfile, measure: Measure, out: Float64) -> Fill:
        groups = kernel_arrays(profile)
        return lambda first, last: _core.areas(first, last, groups, out)

    def deviation(self, profile: TieProfile, measure: Measure) -> Float64:
        """That of a rank sum, in each group."""
        mixed = np.flatnonzero(profile.tied > profile.tied_relevant)
        tied, m = profile.tied[mixed], profile.tied_relevant[mixed]
        variance = sum_by_query(profile, mixed, m.astype(np.float64) * (tied - m) * (tied + 1) / 12)
        query = np.flatnonzero(np.diff(profile.offsets))
        last = profile.offsets[query + 1] - 1
        irrelevant = profile.n_ranked.copy()
        irrelevant[query] -= profile.closer_relevant[last] + profile.tied_relevant[last]
        pairs = profile.n_relevant.astype(np.float64) * irrelevant
        with np.errstate(invalid="ignore"):
            return np.sqrt(variance) / np.where(pairs > 0, pairs, np.nan)

    def rank_sum(self, measure: Measure, relevant: Int64, ranked: Int64, n: int) -> RankSum:
        pairs = relevant * (ranked - relevant).astype(np.float64)
        return RankSum(Counted.ONE, -np.arange(n + 1, dtype=np.float64), 1.0 / pairs)
