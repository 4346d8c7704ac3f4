"""The slot of the first, or last, relevant item of one group: what measures of one end of the ranking depend on.

In come tie groups in random order; out go mean and deviation of a function of one order statistic. A measure whose loop
knows only its two ends is completed here, for the queries in which these differ.
"""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from deadheat.measures.double_double import divide, multiply
from deadheat.measures.family import ClosedForms, Float64, Int64, Measure
from deadheat.measures.groups import defined, last_ranks
from deadheat.measures.loops import Array, as_before
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


def moments(
    k: Int64, tied: Int64, m: Int64, slots: Int64, value: int, *, deviation: bool = False, threads: int = 1
) -> Float64:
    """Expectation, or deviation, of a function of the first or last relevant slot, for some groups; see `extremes`."""
    order = np.lexsort((slots, m, tied, k))  # equal groups side by side are computed once
    k, tied, m, slots = (array[order] for array in (k, tied, m, slots))
    mean, variance, out = np.zeros((3, len(order)))
    shift = np.zeros(len(order))
    ranges = parts(len(order), min(threads, len(order) // 16))
    in_threads(lambda i, j: extremes(i, j, k, tied, m, slots, value, deviation, shift, False, mean), ranges)
    if deviation:
        extremes(0, len(order), k, tied, m, slots, value, True, mean, True, variance)
    out[order] = np.sqrt(variance) if deviation else mean
    return out


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
    Equal neighbours among the groups from first up to last are computed once.
    """
    for g in range(first, last):
        if g > first and as_before(closer, tied, tied_relevant, slots, g):
            out[g] = out[g - 1]
        else:
            k, size, m = closer[g], tied[g], tied_relevant[g]
            out[g] = _extreme(k, size, m, slots[g], kind, centred, shift[g], squared)
