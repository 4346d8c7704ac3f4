"""Measures of the set that was retrieved, whatever its order: SetP, SetR, SetRelP, SetAP and SetF.

In come the numbers of items that are ranked (n), relevant (R), and both (h); ties make no difference, so that lower,
expected and upper are one. They are trec_eval's set_P, set_recall, set_relative_P, set_map and set_F.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from deadheat.measures.family import Fill, Float64, Measure, NoRankSum
from deadheat.measures.groups import defined, filled, sum_by_query
from deadheat.profiles import TieProfile
from deadheat.support.triple import Triple


@dataclass(frozen=True)
class SetCounts(NoRankSum):
    """A ratio of two functions of h, n and R; 0 where nothing relevant was retrieved."""

    over: Callable[[Float64], Float64]  # of h
    under: Callable[[Float64, Float64], Float64]  # of n and R

    def loop(self, profile: TieProfile, measure: Measure, out: Float64) -> Fill:
        hits = sum_by_query(profile, np.arange(profile.n_group), profile.tied_relevant)
        ranked, relevant = profile.n_ranked.astype(np.float64), profile.n_relevant.astype(np.float64)
        nothing = np.zeros(profile.n_query)
        values = defined(profile, np.divide(self.over(hits), self.under(ranked, relevant), out=nothing, where=hits > 0))
        return filled(Triple(values, values, values), out)

    def deviation(self, profile: TieProfile, measure: Measure) -> Float64:
        """None."""
        return defined(profile, np.zeros(profile.n_query))
