"""Discounted cumulative gain: nDCG [1]_ and nDCG@k, with a linear or an exponential [2]_ gain.

Tie groups with their relevant items by grade come in; the sum of gain / log2(rank + 1), divided by that of the best
order of all relevant items, goes out. It is a linear rank statistic, so the expected gain at every rank of a group is
the mean gain of the group. Discounts are made of exact operations and 2^g - 1 of a real g of decimal digits, not by a
library whose last bit depends on the machine.

.. [1] Järvelin, Kekäläinen 2002, Cumulated gain-based evaluation of IR techniques.
.. [2] Burges et al. 2005, Learning to rank using gradient descent.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise

import numpy as np

import deadheat._core as _core
from deadheat.engine.profiles.profile import TieProfile
from deadheat.errors import InvalidValueError
from deadheat.measures.completions import Deciding, Placement, Unjudged, furthest, running, scanned
from deadheat.measures.family import ClosedForms, Counted, Fill, Measure, RankSum, Variant
from deadheat.measures.groups import distinct, groups_within, kernel_arrays, last_ranks, sum_by_query
from deadheat.support import scratch
from deadheat.support.arrays import Float64, Int64, pieces, runs_joined
from deadheat.support.lazy import decimal

# The gains of a grade g, as ir_measures calls them: g itself, which is the default, or 2^g - 1.
EXPONENTIAL = "dcg='exp-log2'"
GAINS = {
    "dcg='log2'": Variant("gains are the grades"),
    EXPONENTIAL: Variant("the same with gains 2^grade - 1", ("nDCG burges", "nDCG exp")),
}
UNDIVIDED_GAINS = {**GAINS, EXPONENTIAL: GAINS[EXPONENTIAL]._replace(aliases=("DCG burges", "DCG exp"))}
_LARGEST_EXPONENT = 500  # of the gain 2^g - 1: its square must not overflow

_BLOCK = 64  # the running sum of the discounts is kept at every _BLOCK-th rank; the core knows it too
_AT_ONCE = 2**20  # ranks whose discounts, or queries whose best orders, are computed in one call


class DiscountedGain(ClosedForms):
    """The sum of gain / log2(rank + 1), divided by that of the best order."""

    graded = True

    def loop(self, profile: TieProfile, measure: Measure, out: Float64) -> Fill:
        groups, limit, by_grade = kernel_arrays(profile), measure.limit, profile.counts_by_grade
        gains, table = gains_of(profile, measure), _discounts(profile, measure)

        def fill(first: int, last: int) -> None:
            for start, stop, of_grades in _of_like_gains(gains, first, last):
                _core.discounted_gains((start, stop), groups, limit, (*by_grade, of_grades), table, out)

        return fill

    def deviation(self, profile: TieProfile, measure: Measure) -> Float64:
        """Return the deviation, from the squared deviations of gains and of discounts in each group."""
        table, gains = _discounts(profile, measure), gains_of(profile, measure)
        by_grade, relevant_by_grade = profile.counts_by_grade
        ideal = np.empty(profile.n_query)
        cutoff = last_ranks(profile, measure)
        for start, stop, of_grades in _of_like_gains(gains, 0, profile.n_query):
            for first in range(start, stop, _AT_ONCE):
                part = slice(first, min(first + _AT_ONCE, stop))
                _core.ideal_gains(relevant_by_grade[part], of_grades, cutoff[part], table, ideal[part])
        group, slots = groups_within(profile, measure, profile.tied > 1)
        k, tied = profile.closer[group], profile.tied[group]
        one, number = distinct(slots, tied, k)
        squares = np.empty(len(one))
        for piece in pieces(slots[one]):
            some = one[piece]
            _core.discount_deviations(k[some], tied[some], slots[some], table[0], squares[piece])
        of_groups = gains if gains.ndim == 1 else gains[profile.query_of_group[group]].T
        variance = squares[number] * (gain_squares(by_grade[group], of_groups, tied) / (tied - 1))
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.sqrt(sum_by_query(profile, group, variance)) / ideal

    def deciding(self, profile: TieProfile, measure: Measure) -> Deciding:
        """Return the completions at which the sum of the gains over that of the best order is least and greatest."""
        some, in_all, gain = Unjudged.of(profile)
        n, most = furthest(profile), int((profile.n_relevant + in_all).max(initial=1))
        table = np.zeros(max(n, most) + 2)  # sums of the discounts up to each rank
        table[1:] = np.cumsum(discount_table(len(table).bit_length())[0][1 : len(table)])
        table[1 + min(measure.limit, len(table) - 1) :] = table[min(measure.limit, len(table) - 1)]
        gains = profile.gain_table.astype(np.float64)
        if measure.choice == EXPONENTIAL:
            gains, gain = (exponential(each, _LARGEST_EXPONENT, "an exponential gain") for each in (gains, gain))
        by_grade, relevant_by_grade = profile.counts_by_grade

        def values(placement: Placement) -> Float64:
            given = gains[placement.query], float(gain[placement.query]), table
            counts, n, s = by_grade[placement.groups], some[placement.groups], np.arange(len(placement.n_relevant))
            start = profile.closer[placement.groups] + (profile.tied[placement.groups] if placement.worst else 0)
            every = np.arange(len(n))[:: -1 if placement.worst else 1]
            group, t = np.repeat(every, n[every]), runs_joined(np.ones_like(n), n[every])

            def total(group: Int64, t: Int64) -> Float64:
                return _with_more(start[group], -1 if placement.worst else 1, counts[group], t, *given)

            steps, missing = total(group, t) - total(group, t - 1), np.zeros(len(s) - 1 - len(t))
            steps = np.concatenate([missing, steps] if placement.worst else [steps, missing])
            best = _with_more(0 * s, 1, np.tile(relevant_by_grade[placement.query], (len(s), 1)), s, *given)
            return np.asarray((total(every, 0 * every).sum() + running(steps)) / best)

        return scanned(profile, values)

    def rank_sum(self, measure: Measure, relevant: Int64, ranked: Int64, n: int) -> RankSum:
        discount = discount_table(n.bit_length())[0]
        return RankSum(Counted.ONE, discount, 1.0 / np.cumsum(discount)[np.minimum(relevant, measure.limit)])


def _with_more(
    start: Int64, sign: int, counts: Int64, n: Int64, gains: Float64, gain: float, table: Float64
) -> Float64:
    """Sum gains times discounts of items by gain, the greatest first, from ranks on (or back, if `sign` is -1).

    There are `counts` of each of the `gains`, ascending, and `n` more of one gain; `table` sums the discounts.
    """
    values, placed = np.zeros(len(start)), np.zeros(len(start), dtype=np.int64)
    columns = [(grade_gain, count) for grade_gain, count in zip(gains.tolist(), counts.T, strict=True) if count.any()]
    for item_gain, count in sorted([*columns, (gain, n)], key=lambda column: -column[0]):
        before, placed = placed, placed + count
        values += item_gain * sign * (table[start + sign * placed] - table[start + sign * before])
    return values


def gains_of(profile: TieProfile, measure: Measure) -> Float64:
    """Return what each grade adds, (n_grade,); (n_query, n_grade) where a grade has another gain in each query."""
    if len(profile.grades) == 1 and measure.family == "nDCG":
        return np.ones(1)  # its gain cancels out
    gains = profile.grades.astype(np.float64) if profile.gains is None else profile.gains
    return exponential(gains, _LARGEST_EXPONENT, "an exponential gain") if measure.choice == EXPONENTIAL else gains


def exponential(gains: Float64, most: int, name: str) -> Float64:
    """Return 2^g - 1 of each gain: exact if g is whole, else rounded once, from 60 digits, on every machine."""
    if (largest := gains.max(initial=0.0)) > most:
        raise InvalidValueError(name, f"takes grades up to {most}, but one is {largest:.17g}")
    distinct_gains, index = np.unique(gains, return_inverse=True)
    values = np.array([_power_less_one(gain) for gain in distinct_gains.tolist()])
    return np.asarray(values[index].reshape(gains.shape))


def _power_less_one(gain: float) -> float:
    if gain.is_integer():
        return math.ldexp(1.0, int(gain)) - 1
    exact = decimal.Decimal(gain)
    context = decimal.Context(60 + max(0, -exact.adjusted()), rounding=decimal.ROUND_HALF_EVEN, traps=[])
    return float(context.subtract(context.exp(context.multiply(exact, context.ln(2))), 1))


def _of_like_gains(gains: Float64, first: int, last: int) -> Iterator[tuple[int, int, Float64]]:
    """Yield runs of queries from the first number up to the second whose grades have the same gains, and these."""
    if gains.ndim == 1:
        yield first, last, gains
        return
    some = gains[first:last]
    new = np.flatnonzero((some[1:] != some[:-1]).any(axis=1)) + first + 1
    for start, stop in pairwise([first, *new.tolist(), last][: 1 + last - first]):
        yield start, stop, gains[start]


def gain_squares(by_grade: Int64, gains: Float64, tied: Int64) -> Float64:
    """Sum (gain - mean gain)^2 over the items of each group, irrelevant ones included; exactly 0 for equal gains.

    `gains` are (n_grade,) or, where they differ by group, (n_grade, n_group).
    """
    counts = np.column_stack([tied - by_grade.sum(axis=1), by_grade])
    gains = np.concatenate([np.zeros_like(gains[:1]), gains])
    mean = np.zeros(len(tied))
    for count, gain in zip(counts.T, gains, strict=True):
        mean += count * gain
    mean /= tied
    squares = np.zeros(len(tied))
    for count, gain in zip(counts.T, gains, strict=True):
        squares += count * (gain - mean) ** 2
    squares[(counts > 0).sum(axis=1) == 1] = 0.0
    return squares


def _discounts(profile: TieProfile, measure: Measure) -> tuple[Float64, Float64, Float64]:
    """Return 1/log2(rank + 1) for every rank that can count, and its running sums."""
    furthest = int(last_ranks(profile, measure).max(initial=1023))
    if furthest > 1023:
        last = profile.offsets[np.flatnonzero(np.diff(profile.offsets)) + 1] - 1
        end = (profile.closer[last] + profile.tied[last]).max(initial=1023)
        furthest = int(min(furthest, max(end, profile.n_relevant.max(initial=0))))
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
