"""Average precision: mAP, mAP@k and MAP@R.

In come tie groups, out go the precisions at the ranks of the relevant items, summed, over R: per group in closed form,
with harmonic numbers. A cutoff drops the ranks beyond it, but not from R: mAP@k is trec_eval's map_cut (others divide
by min(k, R)), and MAP@R [1]_ has k = R.

.. [1] Musgrave, Belongie, Lim 2020, A metric learning reality check.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from deadheat.measures.double_double import add, from_integer, harmonic, multiply
from deadheat.measures.family import ClosedForms, Counted, Fill, Float64, Int64, Measure, RankSum
from deadheat.measures.groups import (
    Array,
    Arrays,
    defined,
    distinct,
    groups_within,
    kernel_arrays,
    last_rank,
    plus,
    reciprocal_ranks,
    store,
    sum_by_query,
)
from deadheat.profiles import TieProfile
from deadheat.support.compiling import inner, kernel

_UNIT: Any = np.int64(1)  # a literal argument would make numba compile a function once for each
_DIRECT = 64  # as many slots of a group are summed one by one; more, by the closed form


class AveragePrecision(ClosedForms):
    """The precision at the rank of each relevant item, summed, over R."""

    def loop(self, profile: TieProfile, measure: Measure, out: Float64) -> Fill:
        groups, limit = kernel_arrays(profile), measure.limit
        return lambda first, last: average_precisions(first, last, groups, limit, out)

    def deviation(self, profile: TieProfile, measure: Measure) -> Float64:
        """The sum of a group is a polynomial of degree two in a uniformly drawn slice of its slots."""
        mixed, slots = groups_within(profile, measure, profile.tied > profile.tied_relevant)
        k, n = profile.closer[mixed], profile.closer_relevant[mixed]
        tied, m = profile.tied[mixed], profile.tied_relevant[mixed]
        one, number = distinct(slots, m, tied, n, k)
        variance = np.empty(len(one))
        precision_variances(k[one], n[one], tied[one], m[one], slots[one], variance)
        with np.errstate(invalid="ignore"):
            return np.sqrt(sum_by_query(profile, mixed, variance[number])) / defined(profile, profile.n_relevant)

    def rank_sum(self, measure: Measure, relevant: Int64, ranked: Int64, n: int) -> RankSum:
        return RankSum(Counted.SO_FAR, reciprocal_ranks(n), 1.0 / relevant)


@inner
def _precisions(closer: int, seen: int, slots: int, p: int, q: int) -> float:
    """Sum over i = 1 .. slots of (seen + (i - 1) p/q) / (closer + i): the precisions in consecutive ranks.

    `seen` is the count of relevant items at the first rank, itself included, and p/q how many each further rank adds.
    In closed form [p slots + (seen q - p (closer + 1)) (H(closer + slots) - H(closer))] / q.
    """
    if slots <= _DIRECT:
        total = 0.0
        for i in range(1, slots + 1):
            total += float(seen * q + (i - 1) * p) / float(closer + i)
        return total / q
    h_high, h_low = harmonic(closer + slots)
    g_high, g_low = harmonic(closer)
    h_high, h_low = add(h_high, h_low, -g_high, -g_low)
    a_high, a_low = from_integer(seen * q - p * (closer + 1))
    h_high, h_low = multiply(a_high, a_low, h_high, h_low)
    a_high, a_low = from_integer(p * slots)
    h_high, h_low = add(a_high, a_low, h_high, h_low)
    return (h_high + h_low) / q


@inner
def _mixed_precisions(k: int, n: int, tied: int, relevant: int, c: int) -> tuple[float, float, float]:
    """Lower, expected and upper sum of the precisions at the relevant ranks up to c of one mixed group."""
    last = k + tied - relevant
    lower = _precisions(last, n + 1, min(max(c - last, 0), relevant), _UNIT, _UNIT)
    upper = _precisions(k, n + 1, min(c - k, relevant), _UNIT, _UNIT)
    slots = min(c - k, tied)
    expected = _precisions(k, n + 1, slots, relevant - 1, tied - 1) * float(relevant) / float(tied)
    return lower, expected, upper


@kernel
def average_precisions(first: int, last: int, groups: Arrays, cutoff: int, out: Array) -> None:
    """Fill in AP, cut at rank `cutoff`, divided by `n_relevant`.

    Groups without a tie to break are added up once, for all three values; so these are equal, bit by bit, where no
    group is mixed. A group like the one before it is not computed again.
    """
    offsets, closer, closer_relevant, tied, tied_relevant, n_ranked, n_relevant = groups
    k0 = n0 = l0 = m0 = c0 = -1
    low = mean = high = 0.0
    for query in range(first, last):
        c = last_rank(n_ranked[query], n_relevant[query], cutoff)
        mixed = False
        total = rest = 0.0
        total_low = rest_low = total_mean = rest_mean = total_high = rest_high = 0.0
        for group in range(offsets[query], offsets[query + 1]):
            k = closer[group]
            if k >= c:
                break
            n, size = closer_relevant[group], tied[group]
            if size == 1:
                total, rest = plus(total, rest, float(n + 1) / float(k + 1))
                continue
            m = tied_relevant[group]
            if size == m:
                total, rest = plus(total, rest, _precisions(k, n + 1, min(m, c - k), _UNIT, _UNIT))
                continue
            if k != k0 or n != n0 or size != l0 or m != m0 or c != c0:
                k0, n0, l0, m0, c0 = k, n, size, m, c
                low, mean, high = _mixed_precisions(k, n, size, m, c)
            mixed = True
            total_low, rest_low = plus(total_low, rest_low, low)
            total_mean, rest_mean = plus(total_mean, rest_mean, mean)
            total_high, rest_high = plus(total_high, rest_high, high)
        r = float(n_relevant[query]) if n_relevant[query] > 0 else np.nan
        if not mixed:
            value = (total + rest) / r
            store(out, query, value, value, value)
            continue
        total_low, rest_low = add(total, rest, total_low, rest_low)
        total_mean, rest_mean = add(total, rest, total_mean, rest_mean)
        total_high, rest_high = add(total, rest, total_high, rest_high)
        store(out, query, (total_low + rest_low) / r, (total_mean + rest_mean) / r, (total_high + rest_high) / r)


@inner
def _precision_variance(k: int, n: int, size: int, m: int, slots: int) -> float:
    """Variance of the sum of the precisions at the relevant ranks of one mixed group, over its orders.

    The sum is sum_t a_t X_t + sum_{s<t} b_t X_s X_t, where X_t is 1 when slot t holds a relevant item, and a_t =
    (n + 1) b_t, b_t = 1/(k + t), or 0 beyond the cutoff. The X are a uniformly drawn slice of m out of `size`, so the
    variance splits (Hoeffding) into a linear part, c_s = a_s - mean(a) + (m - 1) delta_s with delta_s = (w_s -
    mean(w))/(size - 2) and w_s = (s - 1) b_s + sum_{t>s} b_t, and a part that is orthogonal to it.

    Where all slots count, b_t is taken less the smallest: a constant drops out, and the differences keep their digits.
    """
    base = k + size if slots == size else 0
    sum_b = pairs_b = 0.0
    for t in range(1, slots + 1):
        b = _slot(k, t, base)
        sum_b += b
        pairs_b += (t - 1) * b
    mean_b = sum_b / size
    mean_pairs = 2.0 * pairs_b / (float(size) * float(size - 1))
    mean_w = 2.0 * pairs_b / size
    others = float(max(size - 2, 1))
    tail = linear = squares = deltas = 0.0
    for t in range(size, 0, -1):
        b = _slot(k, t, base) if t <= slots else 0.0
        delta = ((t - 1) * b + tail - mean_w) / others
        shift = (n + 1) * (b - mean_b) + (m - 1) * delta
        linear += shift * shift
        deltas += delta * delta
        squares += (t - 1) * (b - mean_pairs) * (b - mean_pairs)
        tail += b
    share = float(m) / float(size)
    variance = share * (float(size - m) / float(size - 1)) * linear
    if size >= 4:
        orthogonal = max(squares - others * deltas, 0.0)
        share *= (float(m - 1) / float(size - 1)) * (float(size - m) / float(size - 2))
        variance += share * (float(size - m - 1) / float(size - 3)) * orthogonal
    return variance


@inner
def _slot(k: int, t: int, base: int) -> float:
    """1/(k + t), less 1/base where base is not 0."""
    if base == 0:
        return 1.0 / float(k + t)
    return float(base - k - t) / (float(k + t) * float(base))


@kernel
def precision_variances(
    closer: Array, closer_relevant: Array, tied: Array, tied_relevant: Array, slots: Array, out: Array
) -> None:
    """Fill in the variance of each of the mixed groups given."""
    for g in range(len(out)):
        out[g] = _precision_variance(closer[g], closer_relevant[g], tied[g], tied_relevant[g], slots[g])
