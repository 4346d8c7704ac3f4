"""Measures of one end of the ranking: Hit@k, MRR and MRR@k of the first relevant item, mINP [1]_ of the last.

In come tie groups, of which only the first, or last, matters: a loop finds the value at both ends of that group. Where
these differ, mean and deviation are those of a function of one order statistic, the slot of the first, or last,
relevant item of a group in random order. Hit@k is "Recall@K" of metric learning, Success@k, CMC@k.

.. [1] Ye et al. 2021, Deep learning for person re-identification: a survey and outlook.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np

from deadheat.measures.double_double import divide, multiply
from deadheat.measures.family import ClosedForms, Counted, Fill, Float64, Int64, Measure, RankSum
from deadheat.measures.groups import (
    Array,
    Arrays,
    defined,
    distinct,
    kernel_arrays,
    last_rank,
    last_ranks,
    reciprocal_ranks,
    store,
)
from deadheat.measures.ranges import in_threads, parts
from deadheat.profiles import TieProfile
from deadheat.support.compiling import inner, kernel
from deadheat.support.error_free import two_sum
from deadheat.support.triple import Triple

_NEGLIGIBLE = 2.0**-60  # a tail of a sum smaller than this part of it cannot change its last bit


class OneEnd(ClosedForms):
    """A measure of the rank of the first or last relevant item, of which one tie group decides.

    Its loop leaves the expected value NaN where lower and upper differ.
    """

    @property
    @abstractmethod
    def value(self) -> int:
        """What the expectation is taken of, as `extremes` numbers it."""

    @abstractmethod
    def group(self, profile: TieProfile, query: Int64) -> Int64:
        """The group that decides, of some queries that have one."""

    def factor(self, relevant: Int64) -> Int64:
        """What the function of a slot is multiplied by, given the number of relevant items."""
        return np.ones_like(relevant)

    def complete(self, profile: TieProfile, measure: Measure, values: Triple[Float64], threads: int) -> None:
        lower, expected, upper = values
        query = np.flatnonzero(lower < upper)
        if len(query):  # else nothing is compiled
            mean = moments(*self._slots(profile, measure, query), self.value, threads=threads)
            mean *= self.factor(profile.n_relevant[query])
            expected[query] = np.minimum(np.maximum(lower[query], mean), upper[query])

    def deviation(self, profile: TieProfile, measure: Measure) -> Float64:
        """That of a function of one order statistic."""
        values = np.empty((3, profile.n_query))
        self.loop(profile, measure, values)(0, profile.n_query)
        query = np.flatnonzero(values[0] < values[2])
        deviation = np.zeros(profile.n_query)
        deviation[query] = moments(*self._slots(profile, measure, query), self.value, deviation=True)
        return defined(profile, self.factor(profile.n_relevant) * deviation)

    def _slots(self, profile: TieProfile, measure: Measure, query: Int64) -> tuple[Int64, Int64, Int64, Int64]:
        """`closer`, `tied`, `tied_relevant` and the slots that count, of the group that decides in each query."""
        group = self.group(profile, query)
        k, tied = profile.closer[group], profile.tied[group]
        slots = np.clip(last_ranks(profile, measure)[query] - k, 0, tied)
        return k, tied, profile.tied_relevant[group], slots


@dataclass(frozen=True)
class FirstHit(OneEnd):
    """1 or, where `reciprocal`, one over the rank of the first relevant item; 0 if that is beyond the cutoff."""

    reciprocal: bool

    def loop(self, profile: TieProfile, measure: Measure, out: Float64) -> Fill:
        groups, limit, reciprocal = kernel_arrays(profile), measure.limit, self.reciprocal
        return lambda first, last: first_hits(first, last, groups, limit, reciprocal, out)

    def group(self, profile: TieProfile, query: Int64) -> Int64:
        return profile.offsets[query]

    @property
    def value(self) -> int:
        return int(self.reciprocal)

    def rank_sum(self, measure: Measure, relevant: Int64, ranked: Int64, n: int) -> RankSum:
        discount = reciprocal_ranks(n) if self.reciprocal else np.ones(n + 1)
        return RankSum(Counted.FIRST, discount, np.ones(len(relevant)))


class LastHit(OneEnd):
    """R over the rank of the last relevant item."""

    value = -1

    def loop(self, profile: TieProfile, measure: Measure, out: Float64) -> Fill:
        groups = kernel_arrays(profile)
        return lambda first, last: inverse_penalties(first, last, groups, out)

    def group(self, profile: TieProfile, query: Int64) -> Int64:
        return profile.offsets[query + 1] - 1

    def factor(self, relevant: Int64) -> Int64:
        return relevant

    def rank_sum(self, measure: Measure, relevant: Int64, ranked: Int64, n: int) -> RankSum:
        return RankSum(Counted.LAST, reciprocal_ranks(n), relevant.astype(np.float64))


@kernel
def first_hits(first: int, last: int, groups: Arrays, cutoff: int, reciprocal: bool, out: Array) -> None:
    """Fill in Hit@k or the reciprocal rank: only the first group matters. A mean over its slots is left NaN."""
    offsets, closer, _, tied, tied_relevant, n_ranked, n_relevant = groups
    for query in range(first, last):
        group = offsets[query]
        if group == offsets[query + 1]:
            nothing = 0.0 if n_relevant[query] > 0 else np.nan
            store(out, query, nothing, nothing, nothing)
            continue
        k, final = closer[group], tied[group] - tied_relevant[group] + 1
        slots = min(last_rank(n_ranked[query], n_relevant[query], cutoff) - k, tied[group])
        low = high = 0.0
        if slots > 0:
            high = 1.0 / float(k + 1) if reciprocal else 1.0
        if slots >= final:
            low = 1.0 / float(k + final) if reciprocal else 1.0
        store(out, query, low, high if low == high else np.nan, high)


@kernel
def inverse_penalties(first: int, last: int, groups: Arrays, out: Array) -> None:
    """Fill in mINP: only the last group matters, if nothing relevant is missing. A mean over its slots is left NaN."""
    offsets, closer, closer_relevant, tied, tied_relevant, _, n_relevant = groups
    for query in range(first, last):
        group = offsets[query + 1] - 1
        r = n_relevant[query]
        if group < offsets[query] or closer_relevant[group] + tied_relevant[group] < r:
            nothing = 0.0 if r > 0 else np.nan
            store(out, query, nothing, nothing, nothing)
            continue
        low = float(r) / float(closer[group] + tied[group])
        high = float(r) / float(closer[group] + tied_relevant[group])
        store(out, query, low, high if low == high else np.nan, high)


def moments(
    k: Int64, tied: Int64, m: Int64, slots: Int64, value: int, *, deviation: bool = False, threads: int = 1
) -> Float64:
    """Expectation, or deviation, of a function of the first or last relevant slot, for some groups; see `extremes`."""
    one, number = distinct(slots, m, tied, k)
    k, tied, m, slots = (array[one] for array in (k, tied, m, slots))
    mean, variance, shift = np.zeros((3, len(one)))
    ranges = parts(len(one), min(threads, len(one) // 16))
    in_threads(lambda i, j: extremes(i, j, k, tied, m, slots, value, deviation, shift, False, mean), ranges)
    if deviation:
        extremes(0, len(one), k, tied, m, slots, value, True, mean, True, variance)
    return np.asarray((np.sqrt(variance) if deviation else mean)[number])


@inner
def _value_at(i: int, k: int, size: int, kind: int, base: int) -> float:
    """What `extremes` takes the expectation of; where base is not 0, how far it is from 1/base."""
    if kind == 0:
        return 1.0
    rank = k + i if kind > 0 else k + size + 1 - i
    if base == 0:
        return 1.0 / float(rank)
    return float(abs(rank - base)) / (float(rank) * float(base))


@inner
def _extreme(k: int, size: int, m: int, slots: int, kind: int, centred: bool, shift: float, squared: bool) -> float:
    """The expectation of a function of the slot of the first of m relevant items among `size`: see `extremes`."""
    p_high, p_low = divide(float(m), 0.0, float(size), 0.0)
    final = size - m + 1  # the last slot that it can have
    base, end = 0, 0.0
    if centred and kind != 0:
        base = k + 1 if kind > 0 else k + size
        end = 1.0 / float(base)
    if slots >= final:
        end = _value_at(final, k, size, kind, base)
    end = abs(end - shift)
    end = end * end if squared else end
    total = rest = 0.0
    for i in range(1, min(slots, final) + 1):
        value = abs(_value_at(i, k, size, kind, base) - shift)
        value = value * value if squared else value
        total, e = two_sum(total, p_high * value)
        rest += e + p_low * value
        if i == final:
            return total + rest
        # The values go up or down all the way, and all slots that follow are less likely than this one.
        if not squared and p_high * max(value, end) * float(final - i) <= _NEGLIGIBLE * total:
            return total + rest
        p_high, p_low = multiply(p_high, p_low, float(final - i), 0.0)
        p_high, p_low = divide(p_high, p_low, float(size - i), 0.0)
    return total + p_high * float(size - slots) / float(m) * end + rest


@kernel
def extremes(
    first: int,
    last: int,
    closer: Array,
    tied: Array,
    tied_relevant: Array,
    slots: Array,
    kind: int,
    centred: bool,
    shift: Array,
    squared: bool,
    out: Array,
) -> None:
    """Fill in the expectation of f(i), i the slot of the first of the relevant items of a group in random order.

    P(i + 1) = P(i) (tied - tied_relevant - i + 1)/(tied - i), from P(1) = tied_relevant/tied. Up to `slots`, f(i) is
    1 for kind 0, one over the rank counted from the front for kind 1 and from the back (the slot of the last of the
    relevant items) for kind -1; beyond it 0. Where `centred`, it is the distance to f(1) instead: the variance is the
    same, and small differences keep their digits. Where `squared`, the expectation is that of (f(i) - shift)^2.
    """
    for g in range(first, last):
        out[g] = _extreme(closer[g], tied[g], tied_relevant[g], slots[g], kind, centred, shift[g], squared)
