"""Average precision by the trapezoid rule, as the code of the Oxford and Paris buildings computes it [1]_.

Each relevant item adds the mean of the precisions before and behind its rank, over R: the a-th at rank r adds
((a - 1)/(r - 1) + a/r)/2, and at rank 1 the precision before it is 1. Tie groups come in. The precisions behind are
those of average precision. Those before are the same of a group that has one relevant item and one item less in front,
unless it is the first group: of its l items, m of them relevant, the slots from the second on have (m - 1)/(l - 1) on
average, whatever the rank. Both fall with the rank, so the bounds have the relevant items last or first in each group.

.. [1] Philbin et al. 2007, Object retrieval with large vocabularies and fast spatial matching: compute_ap.cpp.
"""

from __future__ import annotations

import numpy as np

import deadheat._core as _core
from deadheat.engine.profiles.profile import TieProfile
from deadheat.measures.family import Choice
from deadheat.measures.groups import defined, kernel_arrays, sum_by_query
from deadheat.support.arrays import Float64, Int64
from deadheat.support.triple import Triple

TRAPEZOID = "interpolation='trapezoid'"
CHOICE = Choice(
    "the same with the mean of the precisions before and behind: Oxford and Paris",
    ("trapezoid AP", "trapezoidal AP", "AP trapezoid", "mAP trapezoid", "Oxford AP", "Oxford mAP"),
)


def bounds(profile: TieProfile, limit: int) -> Triple[Float64]:
    """Return lower, expected and upper of each query, where ranks up to `limit` count.

    Examples
    --------
    One relevant item behind another one, and one in front of it: (1 + 1)/2 and (1/2 + 2/3)/2.

    >>> profile = TieProfile.from_groups([[(0, 0, 1, 1), (2, 1, 1, 1)]], n_ranked=[3])
    >>> print(f"{bounds(profile, 3).lower[0]:.6f} {(1 + 7 / 12) / 2:.6f}")
    0.791667 0.791667
    """
    behind = np.empty((3, profile.n_query))
    _core.average_precisions(0, profile.n_query, kernel_arrays(profile), limit, behind)
    k, n, tied, m = profile.closer, profile.closer_relevant, profile.tied, profile.tied_relevant
    later = np.flatnonzero((k > 0) & (k < limit))
    before = _sums(profile, later, limit - 1, k[later] - 1, n[later] - 1, tied[later], m[later])
    first = np.flatnonzero(k == 0)
    tied, m = tied[first], m[first]
    slots, all_relevant = np.minimum(tied, limit), tied == m
    upper = np.minimum(m, slots).astype(np.float64)
    expected = m * (1 + (slots - 1) * (m - 1) / np.maximum(tied - 1, 1)) / tied
    of_first = [np.where(all_relevant, upper, 0.0), np.where(all_relevant, upper, expected), upper]
    before += [sum_by_query(profile, first, each) for each in of_first]
    late = first[~all_relevant & (m > 1)]  # the worst order has an irrelevant item first
    less_one = [each[late] for each in (k, n, profile.tied - 1, profile.tied_relevant - 1)]
    before[0] += _sums(profile, late, limit - 1, *less_one)[0]
    with np.errstate(invalid="ignore"):
        lower, expected, upper = (behind + defined(profile, before / np.maximum(profile.n_relevant, 1))) / 2
    return Triple(lower, np.clip(expected, lower, upper), upper)


def _sums(profile: TieProfile, chosen: Int64, limit: int, *groups: Int64) -> Float64:
    """Return the sums of the precisions at the relevant items of these groups of the chosen ones' queries."""
    sums, one = np.empty((3, profile.n_query)), np.ones(profile.n_query, dtype=np.int64)
    arrays = np.searchsorted(chosen, profile.offsets), *groups, profile.n_ranked, one
    if len(chosen):
        _core.average_precisions(0, profile.n_query, arrays, limit, sums)
    return sums if len(chosen) else np.zeros_like(sums)
