"""Sums over the relevant items of a discount of their ranks: rank-biased precision [1]_, DCG [2]_, ACG, your own.

It is a linear rank statistic, so the expectation at every rank of a tie group is the mean discount of the group. Where
gains count, that is times their mean; the items of a group are in ascending order of gain at worst, descending at best.

.. [1] Moffat, Zobel 2008, Rank-biased precision for measurement of retrieval effectiveness.
.. [2] Järvelin, Kekäläinen 2002, Cumulated gain-based evaluation of IR techniques.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Literal

import numpy as np

from deadheat.engine.profiles.profile import TieProfile
from deadheat.measures.completions import Deciding, Placement, Unjudged, at_ends, by_cutoff, furthest, scanned
from deadheat.measures.discounted_gain import discount_table, gain_squares, gains_of
from deadheat.measures.family import ClosedForms, Counted, Fill, Measure, RankSum, Variant
from deadheat.measures.groups import defined, distinct, filled, groups_within, last_ranks, sum_by_query
from deadheat.support.arrays import Float64, Int64

Over = Literal["nothing", "relevant", "best"]

# The persistence p of rank-biased precision: the chance that a reader goes on to the next item.
PERSISTENCE = {
    "p=0.8": Variant("(1 - p) p^(rank - 1) over the relevant items, summed; p = 0.8"),
    "p=0.5": Variant("the same of an impatient reader"),
    "p=0.95": Variant("the same of a patient reader"),
}


class RankDiscount(ClosedForms):
    """The sum of discounts at the ranks of relevant items, undivided or divided by R or by that of the best order."""

    over: Over = "nothing"
    furthest = 2**62  # rank whose discount can count

    @abstractmethod
    def discounts(self, n: int, measure: Measure) -> Float64:
        """Return the discounts of the ranks from 1 to n, which never increase."""

    def sums(self, n: int, measure: Measure) -> Float64:
        """Return n + 1 numbers of which two differ by the sum of the discounts between their ranks, from rank 0 on."""
        return np.concatenate([[0.0], np.cumsum(self.discounts(n, measure))])

    def gains(self, profile: TieProfile, measure: Measure) -> Iterator[tuple[Float64, Int64]]:
        """Yield gains and the number of items of each group that have them, both (n_group,), the largest gain first."""
        yield np.ones(profile.n_group), profile.tied_relevant

    def variances(self, profile: TieProfile, measure: Measure, group: Int64) -> Float64:
        """Return the variance of the gain of an item of each of some groups, times tied / (tied - 1)."""
        tied, m = profile.tied[group], profile.tied_relevant[group]
        return np.asarray(m * (tied - m) / (tied * (tied - 1.0)))

    def loop(self, profile: TieProfile, measure: Measure, out: Float64) -> Fill:
        table = self.sums(self._n_discount(profile, measure), measure)
        last = np.clip(last_ranks(profile, measure), 0, len(table) - 1)[profile.query_of_group]
        closer, tied = profile.closer, profile.tied

        def between(first: Int64, stop: Int64) -> Float64:
            """Sum the discounts of those ranks after `first`, up to `stop`, that count."""
            return np.asarray(table[np.minimum(stop, last)] - table[np.minimum(first, last)])

        low, high, total = np.zeros((3, profile.n_group))
        last_of_worst, first_of_best = closer + tied, closer
        for gains, counts in self.gains(profile, measure):  # the largest first
            low += gains * between(last_of_worst - counts, last_of_worst)
            high += gains * between(first_of_best, first_of_best + counts)
            total += gains * counts
            last_of_worst, first_of_best = last_of_worst - counts, first_of_best + counts
        sums = low, np.clip(between(closer, closer + tied) * total / tied, low, high), high
        every, scale = np.arange(profile.n_group), self._scale(profile.n_relevant, table, measure)
        return filled(profile, [sum_by_query(profile, every, of_groups) * scale for of_groups in sums], out)

    def deviation(self, profile: TieProfile, measure: Measure) -> Float64:
        """Return the deviation of a linear rank statistic, from the discounts of the slots of each group."""
        discounts = self.discounts(self._n_discount(profile, measure), measure)
        group, slots = groups_within(profile, measure, profile.tied > (1 if self.graded else profile.tied_relevant))
        k, tied = profile.closer[group], profile.tied[group]
        one, number = distinct(slots, tied, k)
        squares = np.empty(len(one))
        for i, (first, n, size) in enumerate(zip(k[one], slots[one], tied[one], strict=True)):
            values = discounts[first : first + n]  # all others of the group are 0
            mean = values.sum() / size
            squares[i] = np.square(values - mean).sum() + (size - len(values)) * mean**2
        variance = squares[number] * self.variances(profile, measure, group)
        scale = self._scale(profile.n_relevant, np.concatenate([[0.0], np.cumsum(discounts)]), measure)
        return defined(profile, np.sqrt(sum_by_query(profile, group, variance)) * scale)

    def deciding(self, profile: TieProfile, measure: Measure) -> Deciding:
        if self.over == "nothing":
            return by_cutoff(profile, measure.limit)
        n = furthest(profile)
        most = min(max(n, int((profile.n_relevant + Unjudged.of(profile).in_all).max())), measure.limit)
        of_ranks = self.discounts(most, measure)
        table, discount = np.append(0.0, np.cumsum(of_ranks)), np.zeros(n + 2)
        discount[1 : 1 + min(n, most)] = of_ranks[:n]

        def values(placement: Placement) -> Float64:
            return placement.once(discount) * self._scale(placement.n_relevant, table, measure)

        return scanned(profile, values)

    def rank_sum(self, measure: Measure, relevant: Int64, ranked: Int64, n: int) -> RankSum:
        discount = np.concatenate([[0.0], self.discounts(n, measure)])
        return RankSum(Counted.ONE, discount, self._scale(relevant, np.cumsum(discount), measure))

    def _scale(self, relevant: Int64, table: Float64, measure: Measure) -> Float64:
        """Return one over the divisor of the sum, (n_query,); `table` has the running sums of the discounts."""
        if self.over == "nothing":
            return np.ones(len(relevant))
        if self.over == "relevant":
            return np.asarray(1.0 / np.maximum(relevant, 1))
        best = table[np.minimum(relevant, len(table) - 1)]
        return np.asarray(np.divide(1.0, best, out=np.zeros(len(best)), where=best > 0))

    def _n_discount(self, profile: TieProfile, measure: Measure) -> int:
        """Return the last rank that can count, at least 1."""
        furthest = max(int((profile.closer + profile.tied).max(initial=1)), int(profile.n_relevant.max(initial=1)))
        return min(furthest, measure.limit, self.furthest)


class RankBiasedPrecision(RankDiscount):
    """The sum of (1 - p) p^(rank - 1) over the relevant items, for one of the values of p."""

    furthest = 2**15  # from about rank 14,500 on the powers of 0.95, and earlier those of others, no longer change

    def discounts(self, n: int, measure: Measure) -> Float64:
        p = _persistence(measure)
        return (1.0 - p) * _powers(p, n)

    def sums(self, n: int, measure: Measure) -> Float64:
        """Return -p^rank, whose differences are as accurate far down the ranking as at its head."""
        return -_powers(_persistence(measure), n + 1)


class GainSum(RankDiscount):
    """The sum of gains, each times the discount of its rank: 1 / log2(rank + 1), or 1 / k for the mean grade."""

    graded = True

    def __init__(self, mean: bool) -> None:
        self.mean = mean

    def gains(self, profile: TieProfile, measure: Measure) -> Iterator[tuple[Float64, Int64]]:
        gains, counts = gains_of(profile, measure), profile.counts_by_grade[0]
        for grade in reversed(range(counts.shape[1])):
            of_groups = gains[grade] if gains.ndim == 1 else gains[profile.query_of_group, grade]
            yield np.broadcast_to(of_groups, profile.n_group), counts[:, grade]

    def variances(self, profile: TieProfile, measure: Measure, group: Int64) -> Float64:
        gains, tied = gains_of(profile, measure), profile.tied[group]
        of_groups = gains if gains.ndim == 1 else gains[profile.query_of_group[group]].T
        return np.asarray(gain_squares(profile.counts_by_grade[0][group], of_groups, tied) / (tied - 1))

    def discounts(self, n: int, measure: Measure) -> Float64:
        return np.ones(n) if self.mean else discount_table((n + 1).bit_length())[0][1 : n + 1]

    def deciding(self, profile: TieProfile, measure: Measure) -> Deciding:
        return at_ends(profile)  # no gain is below 0

    def _scale(self, relevant: Int64, table: Float64, measure: Measure) -> Float64:
        return np.full(len(relevant), 1.0 / measure.limit if self.mean else 1.0)


def _persistence(measure: Measure) -> float:
    return float(str(measure.choice).removeprefix("p="))


def _powers(p: float, n: int) -> Float64:
    """Return p^0 to p^(n - 1), one after the other: the same bits on every machine."""
    powers = np.full(n, p)
    powers[0] = 1.0
    return np.asarray(np.multiply.accumulate(powers))
