"""Measures of the first or the last hit: Hit@k, MRR, MRR@k, MnR of the first relevant item, mINP [1]_, All@k of all.

Tie groups come in, and only the first, or the last, of them matters: a loop finds its best and its worst value. Where
these differ, mean and deviation are those of a function of one order statistic, the slot of the first, or last,
relevant item of a group in random order. Hit@k is "Recall@K" of metric learning, Success@k, CMC@k. All@k is 1 if the
last relevant item is among the first k: of a group of t items, m of them relevant, all m are in its first s slots with
probability C(s, m) / C(t, m).

MnR is the rank of the first relevant item itself, the mean rank of video–text retrieval [2]_ and MR1 of cover songs;
its median over queries is MdR. The first of m relevant items among t that tie has slot (t + 1)/(m + 1) on average.

.. [1] Ye et al. 2021, Deep learning for person re-identification: a survey and outlook.
.. [2] Yu, Kim, Kim 2018, A joint sequence fusion model for video question answering and retrieval.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

import deadheat._core as _core
from deadheat.engine.profiles.profile import TieProfile
from deadheat.errors import InvalidValueError
from deadheat.measures.completions import Deciding, Placement, by_cutoff, scanned
from deadheat.measures.family import ClosedForms, Counted, Fill, Measure, NoRankSum, RankSum
from deadheat.measures.groups import (
    TwoSteps,
    defined,
    distinct,
    filled,
    in_threads,
    kernel_arrays,
    last_ranks,
    reciprocal_ranks,
)
from deadheat.support.arrays import Float64, Int64, pieces

_MOST_SLOTS = 2**20  # in one call: some tens of milliseconds
_CLOSED_FORM = 2**14  # slots from which on a sum of 1/rank is a difference of harmonic numbers; a loop is as exact


@dataclass(frozen=True)
class HitPosition(TwoSteps):
    """A function of the rank of the first or last relevant item, by its `value` in `moments`; one tie group decides it.

    0 is 1 if the first relevant item is within the cutoff, 1 one over its rank, -1 R over the rank of the last one.
    """

    value: Literal[-1, 0, 1]

    def loop(self, profile: TieProfile, measure: Measure, out: Float64) -> Fill:
        groups, limit, reciprocal = kernel_arrays(profile), measure.limit, self.value == 1
        if self.value < 0:
            return lambda first, last: _core.inverse_penalties((first, last), groups, out)
        return lambda first, last: _core.first_hits((first, last), groups, limit, reciprocal, out)

    def tied(self, profile: TieProfile, measure: Measure, query: Int64, deviation: bool, threads: int) -> Float64:
        """Return the mean, or deviation, of a function of one order statistic."""
        group = profile.offsets[query] if self.value >= 0 else profile.offsets[query + 1] - 1
        k, tied = profile.closer[group], profile.tied[group]
        slots = np.clip(last_ranks(profile, measure)[query] - k, 0, tied)
        values = moments(k, tied, profile.tied_relevant[group], slots, self.value, deviation=deviation, threads=threads)
        return values if self.value >= 0 else values * profile.n_relevant[query]

    def deciding(self, profile: TieProfile, measure: Measure) -> Deciding:
        if self.value >= 0:
            return by_cutoff(profile, measure.limit)

        def values(placement: Placement) -> Float64:
            last = placement.last()
            missing = (last > placement.n_ranked) | (placement.n_relevant[0] > len(placement.judged))
            return np.where(missing, 0.0, placement.n_relevant / np.maximum(last, 1))

        return scanned(profile, values)

    def rank_sum(self, measure: Measure, relevant: Int64, ranked: Int64, n: int) -> RankSum:
        discount = reciprocal_ranks(n) if self.value else np.ones(n + 1)
        if self.value < 0:
            return RankSum(Counted.LAST, discount, relevant.astype(np.float64))
        return RankSum(Counted.FIRST, discount, np.ones(len(relevant)))


class FirstRank(NoRankSum):
    """The rank of the first relevant item; a query that has not retrieved any is refused, for it has no rank."""

    def loop(self, profile: TieProfile, measure: Measure, out: Float64) -> Fill:
        has = np.diff(profile.offsets) > 0
        lost = int(np.count_nonzero((profile.n_relevant > 0) & ~has))
        if lost:
            rule = f"needs a relevant item in every ranking, but {lost} of {profile.n_query} queries retrieved none"
            raise InvalidValueError(measure.name, f"{rule}; MRR counts them as 0")
        values = np.full((3, profile.n_query), np.nan)
        if has.any():
            k, tied, m = profile.closer, profile.tied, profile.tied_relevant
            # windows of a tolerance may overlap, so that another group than the first can have the least rank
            ranks = k + 1.0, k + (tied + 1) / (m + 1), k + (tied - m + 1.0)
            values[:, has] = [np.minimum.reduceat(of_groups, profile.offsets[:-1][has]) for of_groups in ranks]
        return filled(profile, values, out)

    def deviation(self, profile: TieProfile, measure: Measure) -> Float64:
        """Return the deviation of the least of m draws from 1, ..., t without replacement."""
        deviation = np.zeros(profile.n_query)
        query = np.flatnonzero(np.diff(profile.offsets))
        tied, m = (each[profile.offsets[query]].astype(np.float64) for each in (profile.tied, profile.tied_relevant))
        deviation[query] = np.sqrt(m * (tied + 1) * (tied - m) / (m + 2)) / (m + 1)
        return defined(profile, deviation)


class AllHits(ClosedForms):
    """The value 1 if all relevant items are within the cutoff, else 0; 0 too if one was not retrieved."""

    def loop(self, profile: TieProfile, measure: Measure, out: Float64) -> Fill:
        slots, m, tied = self._last_groups(profile, measure)
        return filled(profile, (slots >= tied, _chances(slots, m, tied), slots >= m), out)

    def deviation(self, profile: TieProfile, measure: Measure) -> Float64:
        chances = _chances(*self._last_groups(profile, measure))
        return defined(profile, np.sqrt(chances * (1 - chances)))

    def deciding(self, profile: TieProfile, measure: Measure) -> Deciding:
        return by_cutoff(profile, measure.limit)

    def rank_sum(self, measure: Measure, relevant: Int64, ranked: Int64, n: int) -> RankSum:
        return RankSum(Counted.LAST, np.ones(n + 1), np.ones(len(relevant)))

    def _last_groups(self, profile: TieProfile, measure: Measure) -> Int64:
        """Return slots within the cutoff, `tied_relevant` and `tied` of the last group of each query, (3, n_query).

        A query that did not retrieve all of its relevant items has no slot.
        """
        last = np.tile([[0], [1], [1]], profile.n_query)
        query = np.flatnonzero(np.diff(profile.offsets))
        group = profile.offsets[query + 1] - 1
        m, tied = profile.tied_relevant[group], profile.tied[group]
        slots = np.clip(measure.limit - profile.closer[group], 0, tied)
        slots[profile.closer_relevant[group] + m < profile.n_relevant[query]] = 0
        last[:, query] = slots, m, tied
        return last


def _chances(slots: Int64, m: Int64, tied: Int64) -> Float64:
    """Return C(slots, m) / C(tied, m) for some groups, as a product of the fewer factors, one by one."""
    one, number = distinct(slots, m, tied)
    chances = np.empty(len(one))
    for i, (s, r, t) in enumerate(zip(slots[one], m[one], tied[one], strict=True)):
        top, n = (s, r) if r <= t - s else (t - r, t - s)
        factors = (top - np.arange(n)) / (t - np.arange(n))  # one of them is 0 where s < r
        chances[i] = np.multiply.accumulate(factors)[-1] if n else 1.0
    return chances[number]


def moments(
    k: Int64, tied: Int64, m: Int64, slots: Int64, value: int, *, deviation: bool = False, threads: int = 1
) -> Float64:
    """Return the expectation, or deviation, of a function of the first or last relevant slot, for some groups.

    For `value` 0 the function is 1; for 1 it is one over the rank of the first relevant item, with slots counted from
    the front; for −1 one over the rank of the last, with slots counted from the back. Beyond `slots` it is 0. See
    `slot_expectations` in the core.
    """
    one, number = distinct(slots, m, tied, k)
    groups = tuple(array[one] for array in (k, tied, m, slots))
    closed = np.flatnonzero((groups[2] == 1) & (groups[3] >= _CLOSED_FORM)) if value else one[:0]
    exact = reciprocal_moments(groups[0][closed], groups[1][closed], groups[3][closed])
    groups[3][closed] = 0  # nothing for the loop to do
    ranges = [(piece.start, piece.stop) for piece in pieces(groups[3], _MOST_SLOTS)]

    def fill(centre: Float64, squared: bool, out: Float64) -> Float64:
        def work(first: int, last: int) -> None:
            k, tied, m, slots = (array[first:last] for array in groups)
            function = value, deviation, squared
            _core.slot_expectations((k, tied, m, slots), function, centre[first:last], out[first:last])

        in_threads(work, ranges, threads)
        return out

    mean, variance, shift = np.zeros((3, len(one)))
    fill(shift, False, mean)
    if deviation:
        fill(mean, True, variance)
    mean[closed], variance[closed] = exact
    return np.sqrt(variance[number]) if deviation else mean[number]


def reciprocal_moments(closer: Int64, size: Int64, slots: Int64) -> Float64:
    """Return mean and variance, (2, n), of one over the rank of one item among `size`, taken as 0 beyond `slots`."""
    moments = np.empty((2, len(closer)))
    whole = (np.ascontiguousarray(array, dtype=np.int64) for array in (closer, size, slots))
    _core.reciprocal_moments(*whole, moments[0], moments[1])  # type: ignore[call-arg,arg-type]
    return moments
