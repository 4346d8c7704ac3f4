"""Discounted cumulative gain: nDCG [1]_ and nDCG@k, with a linear or an exponential [2]_ gain.

In come tie groups with their relevant items by grade; out goes the sum of gain / log2(rank + 1) over that of the best
order of all relevant items. It is a linear rank statistic, so every rank of a group has its mean gain on average.

.. [1] Järvelin, Kekäläinen 2002, Cumulated gain-based evaluation of IR techniques.
.. [2] Burges et al. 2005, Learning to rank using gradient descent.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from deadheat.errors import InvalidValueError
from deadheat.measures.double_double import add, divide, log2, multiply
from deadheat.measures.family import ClosedForms, Counted, Fill, Float64, Int64, Measure, RankSum
from deadheat.measures.groups import (
    Array,
    Arrays,
    distinct,
    groups_within,
    kernel_arrays,
    last_rank,
    last_ranks,
    plain,
    plus,
    store,
    sum_by_query,
)
from deadheat.profiles import TieProfile
from deadheat.support.compiling import inner, kernel
from deadheat.support.error_free import two_product

# The gains of a grade g, as ir_measures calls them: g itself, which is the default, or 2^g - 1.
EXPONENTIAL = "dcg='exp-log2'"
GAINS = {"dcg='log2'": (), EXPONENTIAL: ("nDCG burges", "nDCG exp")}
_LARGEST_EXPONENT = 500  # of the gain 2^g - 1: its square must not overflow

_BLOCK = 64  # the running sum of the discounts is kept at every _BLOCK-th rank

# Literal arguments would make numba compile a function once for each.
_NOTHING: Any = np.int64(0)
_ASCENDING: Any = np.int64(0)
_DESCENDING: Any = np.int64(1)


class DiscountedGain(ClosedForms):
    """Gains over log2(rank + 1), summed, over the same for the best order."""

    def loop(self, profile: TieProfile, measure: Measure, out: Float64) -> Fill:
        groups, limit, by_grade = kernel_arrays(profile), measure.limit, _counts_by_grade(profile)
        gains, table = _gains(profile, measure), _discounts(profile, measure)
        return lambda first, last: discounted_gains(first, last, groups, limit, by_grade, gains, table, out)

    def deviation(self, profile: TieProfile, measure: Measure) -> Float64:
        """That of a linear rank statistic, in each group: the spread of its gains times that of its discounts."""
        table, gains = _discounts(profile, measure), _gains(profile, measure)
        by_grade, relevant_by_grade = _counts_by_grade(profile)
        ideal = np.empty(profile.n_query)
        ideal_gains(relevant_by_grade, gains, last_ranks(profile, measure), *table, ideal)
        group, slots = groups_within(profile, measure, profile.tied > 1)
        k, tied = profile.closer[group], profile.tied[group]
        one, number = distinct(slots, tied, k)
        spread = np.empty(len(one))
        discount_spreads(k[one], tied[one], slots[one], table[0], spread)
        variance = spread[number] * (_gain_spread(by_grade[group], gains, tied) / (tied - 1))
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.sqrt(sum_by_query(profile, group, variance)) / ideal

    def rank_sum(self, measure: Measure, relevant: Int64, ranked: Int64, n: int) -> RankSum:
        discount = discount_table(n.bit_length())[0]
        return RankSum(Counted.ONE, discount, 1.0 / np.cumsum(discount)[np.minimum(relevant, measure.limit)])


def _counts_by_grade(profile: TieProfile) -> tuple[Int64, Int64]:
    """The relevant items by grade, (n_group, n_grade) and (n_query, n_grade)."""
    if profile.tied_by_grade is None or profile.relevant_by_grade is None:
        return plain(profile.tied_relevant[:, None]), plain(profile.n_relevant[:, None])
    return plain(profile.tied_by_grade), plain(profile.relevant_by_grade)


def _gains(profile: TieProfile, measure: Measure) -> Float64:
    """The gain of each grade."""
    if len(profile.grades) == 1:
        return np.ones(1)  # its gain cancels out
    if measure.choice != EXPONENTIAL:
        return profile.grades.astype(np.float64)
    if profile.grades[-1] > _LARGEST_EXPONENT:
        rule = f"takes grades up to {_LARGEST_EXPONENT}, but one is {profile.grades[-1]}"
        raise InvalidValueError("an exponential gain", rule)
    return np.array([math.ldexp(1.0, int(grade)) - 1 for grade in profile.grades], dtype=np.float64)


def _gain_spread(by_grade: Int64, gains: Float64, tied: Int64) -> Float64:
    """Sum over the items of each group of (gain - mean gain)^2, irrelevant ones included; exactly 0 for equal gains."""
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
    """1/log2(rank + 1) for every rank that can count, and its running sums."""
    furthest = int(last_ranks(profile, measure).max(initial=1023))
    if furthest > 1023:
        last = profile.offsets[np.flatnonzero(np.diff(profile.offsets)) + 1] - 1
        reach = (profile.closer[last] + profile.tied[last]).max(initial=1023)
        furthest = int(min(furthest, max(reach, profile.n_relevant.max(initial=0))))
    return discount_table(furthest.bit_length())


@lru_cache(maxsize=4)
def discount_table(bits: int) -> tuple[Float64, Float64, Float64]:
    """The discounts of the ranks below 2**bits, and their running sums at every `_BLOCK`-th rank as pairs."""
    size = 2**bits
    table = (np.zeros(size), np.zeros(size // _BLOCK + 1), np.zeros(size // _BLOCK + 1))
    discounts(*table)
    return table


@kernel
def discounts(discount: Array, high: Array, low: Array) -> None:
    """Fill in 1/log2(rank + 1) for every rank from 1 on, and its sum up to every _BLOCK-th rank, as pairs."""
    total = rest = 0.0
    for rank in range(1, len(discount)):
        a_high, a_low = log2(rank + 1)
        a_high, a_low = divide(1.0, 0.0, a_high, a_low)
        discount[rank] = a_high + a_low
        total, rest = add(total, rest, discount[rank], 0.0)
        if rank % _BLOCK == 0:
            high[rank // _BLOCK] = total
            low[rank // _BLOCK] = rest


@inner
def _discounts_between(start: int, stop: int, discount: Array, high: Array, low: Array) -> tuple[float, float]:
    """The sum of the discounts of the ranks start + 1 .. stop, as a pair."""
    total = rest = 0.0
    first, last = (start + _BLOCK - 1) // _BLOCK, stop // _BLOCK
    for rank in range(start + 1, (first * _BLOCK if first < last else stop) + 1):
        total, rest = plus(total, rest, discount[rank])
    if first >= last:
        return total, rest
    for rank in range(last * _BLOCK + 1, stop + 1):
        total, rest = plus(total, rest, discount[rank])
    a_high, a_low = add(high[last], low[last], -high[first], -low[first])
    return add(a_high, a_low, total, rest)


@inner
def _gain(
    start: int, c: int, counts: Array, row: int, gains: Array, order: int, discount: Array, high: Array, low: Array
) -> tuple[float, float]:
    """Discounted gain, as a pair, of the items that a row counts by grade, from rank start + 1 on, cut at rank c."""
    total = rest = 0.0
    for j in range(len(gains)):
        grade = j if order == _ASCENDING else len(gains) - 1 - j
        stop = min(start + counts[row, grade], c)
        if stop > start:
            block, e = _discounts_between(start, stop, discount, high, low)
            block, e = multiply(block, e, gains[grade], 0.0)
            total, rest = add(total, rest, block, e)
        start += counts[row, grade]
    return total, rest


@inner
def _mean_gain(
    k: int, size: int, c: int, counts: Array, row: int, gains: Array, discount: Array, high: Array, low: Array
) -> tuple[float, float]:
    """Discounted gain, as a pair, when every rank of a group has its mean gain."""
    mean, mean_low = 0.0, 0.0
    for grade in range(len(gains)):
        p, e = two_product(float(counts[row, grade]), gains[grade])
        mean, mean_low = add(mean, mean_low, p, e)
    mean, mean_low = divide(mean, mean_low, float(size), 0.0)
    block, e = _discounts_between(k, min(k + size, c), discount, high, low)
    return multiply(mean, mean_low, block, e)


@kernel
def discounted_gains(
    first: int, last: int, groups: Arrays, cutoff: int, by_grade: Arrays, gains: Array, table: Arrays, out: Array
) -> None:
    """Fill in nDCG, cut at rank `cutoff`, from counts by grade, (n_group, n_grade) and (n_query, n_grade).

    As in `average_precisions`, groups in which all items have the same gain are added up once for all three values.
    """
    offsets, closer, _, tied, tied_relevant, n_ranked, n_relevant = groups
    counts, relevant_counts = by_grade
    discount, high, low = table
    before, ideal, ideal_rest = -1, 0.0, 0.0
    for query in range(first, last):
        c = last_rank(n_ranked[query], n_relevant[query], cutoff)
        if len(gains) > 1 or min(n_relevant[query], c) != before:
            before = min(n_relevant[query], c)
            ideal, ideal_rest = _gain(_NOTHING, c, relevant_counts, query, gains, _DESCENDING, discount, high, low)
        if ideal == 0.0:
            store(out, query, np.nan, np.nan, np.nan)
            continue
        divisor = ideal + ideal_rest
        mixed = False
        total = rest = 0.0
        total_low = rest_low = total_mean = rest_mean = total_high = rest_high = 0.0
        for group in range(offsets[query], offsets[query + 1]):
            k = closer[group]
            if k >= c:
                break
            size = tied[group]
            if size == 1 and len(gains) == 1:
                total, rest = plus(total, rest, discount[k + 1])
                continue
            gain, e = _gain(k, c, counts, group, gains, _DESCENDING, discount, high, low)
            one_grade = False
            for grade in range(len(gains)):
                one_grade |= counts[group, grade] == size
            if one_grade:
                total, rest = add(total, rest, gain, e)
                continue
            mixed = True
            total_high, rest_high = add(total_high, rest_high, gain, e)
            gain, e = _gain(k + size - tied_relevant[group], c, counts, group, gains, _ASCENDING, discount, high, low)
            total_low, rest_low = add(total_low, rest_low, gain, e)
            gain, e = _mean_gain(k, size, c, counts, group, gains, discount, high, low)
            total_mean, rest_mean = add(total_mean, rest_mean, gain, e)
        if not mixed:
            value = min((total + rest) / divisor, 1.0)
            store(out, query, value, value, value)
            continue
        total_low, rest_low = add(total, rest, total_low, rest_low)
        total_mean, rest_mean = add(total, rest, total_mean, rest_mean)
        total_high, rest_high = add(total, rest, total_high, rest_high)
        value = min((total_high + rest_high) / divisor, 1.0)
        store(out, query, (total_low + rest_low) / divisor, (total_mean + rest_mean) / divisor, value)


@kernel
def ideal_gains(
    relevant_by_grade: Array, gains: Array, cutoff: Array, discount: Array, high: Array, low: Array, out: Array
) -> None:
    """Fill in the discounted gain of the best order per query, cut at rank `cutoff` (n_query,)."""
    for query in range(len(out)):
        gain, e = _gain(_NOTHING, cutoff[query], relevant_by_grade, query, gains, _DESCENDING, discount, high, low)
        out[query] = gain + e


@inner
def _discount_spread(k: int, size: int, slots: int, discount: Array) -> float:
    """Sum over the slots of a group of (d - mean d)^2, d their discounts, 0 beyond the cutoff.

    Far down the ranking the discounts of a small group are nearly equal; their differences are then taken as
    1/x - 1/y = (y - x)/(x y) with x, y the logarithms as pairs.
    """
    near = slots == size and k > 64 * size
    y_high, y_low = log2(k + size + 1) if near else (0.0, 0.0)
    mean = 0.0
    for t in range(1, slots + 1):
        mean += _discount_above(k, t, near, y_high, y_low, discount)
    mean /= size
    total = mean * mean * float(size - slots)
    for t in range(1, slots + 1):
        d = _discount_above(k, t, near, y_high, y_low, discount) - mean
        total += d * d
    return total


@inner
def _discount_above(k: int, t: int, near: bool, y_high: float, y_low: float, discount: Array) -> float:
    """The discount of slot t, less that of the slot with logarithm y where `near`."""
    if not near:
        return float(discount[k + t])
    x_high, x_low = log2(k + t + 1)
    d_high, d_low = add(y_high, y_low, -x_high, -x_low)
    return (d_high + d_low) / (x_high * y_high)


@kernel
def discount_spreads(closer: Array, tied: Array, slots: Array, discount: Array, out: Array) -> None:
    """Fill in the spread of the discounts of each of the groups given."""
    for g in range(len(out)):
        out[g] = _discount_spread(closer[g], tied[g], slots[g], discount)
