"""Average precision: mAP, mAP@k and MAP@R.

Tie groups come in; the sum of the precisions at the ranks of the relevant items, divided by R, goes out: for each group
in closed form, with harmonic numbers. A cutoff drops the ranks beyond it and leaves R as it is: mAP@k is trec_eval's
map_cut (others divide by min(k, R)), and MAP@R [1]_ has k = R.

.. [1] Musgrave, Belongie, Lim 2020, A metric learning reality check.
"""

from __future__ import annotations

import numpy as np

import deadheat._core as _core
from deadheat.engine.profiles.profile import TieProfile
from deadheat.measures.family import ClosedForms, Counted, Fill, Measure, RankSum
from deadheat.measures.groups import defined, distinct, groups_within, kernel_arrays, reciprocal_ranks, sum_by_query
from deadheat.support.arrays import Float64, Int64, pieces


class AveragePrecision(ClosedForms):
    """The sum of the precisions at the ranks of the relevant items, divided by R."""

    def loop(self, profile: TieProfile, measure: Measure, out: Float64) -> Fill:
        groups, limit = kernel_arrays(profile), measure.limit
        return lambda first, last: _core.average_precisions(first, last, groups, limit, out)

    def deviation(self, profile: TieProfile, measure: Measure) -> Float64:
        """Return the deviation: a group's sum is a polynomial of degree two in a uniformly drawn slice of its slots."""
        mixed, slots = groups_within(profile, measure, profile.tied > profile.tied_relevant)
        k, n = profile.closer[mixed], profile.closer_relevant[mixed]
        tied, m = profile.tied[mixed], profile.tied_relevant[mixed]
        one, number = distinct(slots, m, tied, n, k)
        variance = np.empty(len(one))
        arrays = k[one], n[one], tied[one], m[one], slots[one], variance
        for piece in pieces(tied[one]):
            _core.precision_variances(*(array[piece] for array in arrays))  # type: ignore[arg-type]
        with np.errstate(invalid="ignore"):
            return np.sqrt(sum_by_query(profile, mixed, variance[number])) / defined(profile, profile.n_relevant)

    def rank_sum(self, measure: Measure, relevant: Int64, ranked: Int64, n: int) -> RankSum:
        return RankSum(Counted.SO_FAR, reciprocal_ranks(n), 1.0 / relevant)
