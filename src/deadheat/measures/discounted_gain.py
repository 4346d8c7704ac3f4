"""Discounted cumulative gain: nDCG [1]_ and nDCG@k, with a linear or an exponential [2]_ gain.

Tie groups with their relevant items by grade come in; the sum of gain / log2(rank + 1), divided by that of the best
order of all relevant items, goes out. It is a linear rank statistic, so the expected gain at every rank of a group is
the mean gain of the group.

.. [1] Järvelin, Kekäläinen 2002, Cumulated gain-based evaluation of IR techniques.
.. [2] Burges et al. 2005, Learning to rank using gradient descent.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

import deadheat._core as _core
from deadheat.engine.profiles.profile import TieProfile
from deadheat.errors import InvalidValueError
from deadheat.measures.family import Choice, ClosedForms, Counted, Fill, Measure, RankSum
from deadheat.measures.groups import distinct, groups_within, kernel_arrays, last_ranks, sum_by_query
from deadheat.support import scratch
from deadheat.support.arrays import Float64, Int64, pieces, slices

# The gains of a grade g, as ir_measures calls them: g itself, which is the default, or 2^g - 1.
EXPONENTIAL = "dcg='exp-log2'"
GAINS = {
    "dcg='log2'": Choice("gains are the grades"),
    EXPONENTIAL: Choice("the same with gains 2^grade - 1", ("nDCG burges", "nDCG exp")),
}
_LARGEST_EXPONENT = 500  # of the gain 2^g - 1: its square must not overflow

_BLOCK = 64  # the running sum of the discounts is kept at every _BLOCK-th rank; the core knows it too
_AT_ONCE = 2**20  # ranks whose discounts, or queries whose best orders, are computed in one call


class DiscountedGain(ClosedForms):
    """The sum of gain / log2(rank + 1), divided by that of the best order."""

    graded = True

    def loop(self, profile: TieProfile, measure: Measure, out: Float64) -> Fill:
        groups, limit, by_grade = kernel_arrays(profile), measure.limit, _counts_by_grade(profile)
        gains, table = _gains(profile, measure), _discounts(profile, measure)
        return lambda first, last: _core.discounted_gains(first, last, groups, limit, by_grade, gains, table, out)

    def deviation(self, profile: TieProfile, measure: Measure) -> Float64:
        """Return the deviation, from the spread of the gains times that of the discounts in each group."""
        table, gains = _discounts(profile, measure), _gains(profile, measure)
        by_grade, relevant_by_grade = _counts_by_grade(profile)
        ideal = np.empty(profile.n_query)
        cutoff = last_ranks(profile, measure)
        for part in slices(profile.n_query, _AT_ONCE):
            _core.ideal_gains(relevant_by_grade[part], gains, cutoff[part], table, ideal[part])
        group, slots = groups_within(profile, measure, profile.tied > 1)
        k, tied = profile.closer[group], profile.tied[group]
        one, number = distinct(slots, tied, k)
        spread = np.empty(len(one))
        for piece in pieces(slots[one]):
            some = one[piece]
            _core.discount_spreads(k[some], tied[some], slots[some], table[0], spread[piece])
        variance = spread[number] * (_gain_spread(by_grade[group], gains, tied) / (tied - 1))
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.sqrt(sum_by_query(profile, group, variance)) / ideal

    def rank_sum(self, measure: Measure, relevant: Int64, ranked: Int64, n: int) -> RankSum:
        discount = discount_table(n.bit_length())[0]
        return RankSum(Counted.ONE, discount, 1.0 / np.cumsum(discount)[np.minimum(relevant, measure.limit)])


def _counts_by_grade(profile: TieProfile) -> tuple[Int64, Int64]:
    """Return the numbers of relevant items by grade, (n_group, n_grade) and (n_query, n_grade)."""
    if profile.tied_by_grade is None or profile.relevant_by_grade is None:
        return profile.tied_relevant[:, None], profile.n_relevant[:, None]
    return profile.tied_by_grade, profile.relevant_by_grade


def _gains(profile: TieProfile, measure: Measure) -> Float64:
    if len(profile.grades) == 1:
        return np.ones(1)  # its gain cancels out
    if measure.choice != EXPONENTIAL:
        return profile.grades.astype(np.float64)
    if profile.grades[-1] > _LARGEST_EXPONENT:
        rule = f"takes grades up to {_LARGEST_EXPONENT}, but one is {profile.grades[-1]}"
        raise InvalidValueError("an exponential gain", rule)
    return np.array([math.ldexp(1.0, int(grade)) - 1 for grade in profile.grades], dtype=np.float64)


def _gain_spread(by_grade: Int64, gains: Float64, tied: Int64) -> Float64:
    """Sum (gain - mean gain)^2 over the items of each group, irrelevant ones included; exactly 0 for equal gains."""
    counts = np.column_stack([tied - by_grade.sum(axis=1), by_grade])
    gains = np.concatenate([[0.0], gains])
    mean = np.zeros(len(tied))
    for count, gain in zip(counts.T, gains, strict=True):
        mean += count * gain
    mean /= tied
    spread = np.zeros(len(tied))
    for count, gain in zip(counts.T, gains, strict=True):
        spread += count * (gain - mean) ** 2
    spread[(counts > 0).sum(axis=1) == 1] = 0.0
    return spread


def _discounts(profile: TieProfile, measure: Measure) -> tuple[Float64, Float64, Float64]:
    """Return 1/log2(rank + 1) for every rank that can count, and its running sums."""
    furthest = int(last_ranks(profile, measure).max(initial=1023))
    if furthest > 1023:
        last = profile.offsets[np.flatnonzero(np.diff(profile.offsets)) + 1] - 1
        reach = (profile.closer[last] + profile.tied[last]).max(initial=1023)
        furthest = int(min(furthest, max(reach, profile.n_relevant.max(initial=0))))
    return discount_table(furthest.bit_length())


@lru_cache(maxsize=4)
def discount_table(bits: int) -> tuple[Float64, Float64, Float64]:
    """Return the discounts of ranks below 2**bits, and their sums up to every `_BLOCK`-th rank as double-doubles."""
    size = 2**bits
    if 8 * size > scratch.available_memory():
        rule = f"needs a table of 8 bytes for each of up to {size} ranks, more than the free memory; nDCG@k does not"
        raise InvalidValueError("nDCG", rule)
    table = (np.zeros(size), np.zeros(size // _BLOCK + 1), np.zeros(size // _BLOCK + 1))
    for first in range(0, size, _AT_ONCE):
        _core.fill_discounts(first, min(first + _AT_ONCE, size - 1), table)
    return table
