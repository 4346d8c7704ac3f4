"""Sums over the relevant items of a discount of their ranks: rank-biased precision [1]_, and measures of one's own.

It is a linear rank statistic, so the expectation at every rank of a tie group is the mean discount of the group.

.. [1] Moffat, Zobel 2008, Rank-biased precision for measurement of retrieval effectiveness.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Literal

import numpy as np

from deadheat.engine.profiles.profile import TieProfile
from deadheat.measures.completions import Deciding, Unjudged, by_cutoff, furthest, scanned
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

    def loop(self, profile: TieProfile, measure: Measure, out: Float64) -> Fill:
        table = self.sums(self._n_discount(profile, measure), measure)
        last = np.clip(last_ranks(profile, measure), 0, len(table) - 1)[profile.query_of_group]
        closer, tied, m = profile.closer, profile.tied, profile.tied_relevant

        def between(first: Int64, stop: Int64) -> Float64:
            """Sum the discounts of those ranks after `first`, up to `stop`, that count."""
            return np.asarray(table[np.minimum(stop, last)] - table[np.minimum(first, last)])

        low, high = between(closer + tied - m, closer + tied), between(closer, closer + m)
        sums = low, np.clip(between(closer, closer + tied) * m / tied, low, high), high
        every, scale = np.arange(profile.n_group), self._scale(profile.n_relevant, table)
        return filled(profile, [sum_by_query(profile, every, of_groups) * scale for of_groups in sums], out)

    def deviation(self, profile: TieProfile, measure: Measure) -> Float64:
        """Return the deviation of a linear rank statistic, from the discounts of the slots of each group."""
        discounts = self.discounts(self._n_discount(profile, measure), measure)
        group, slots = groups_within(profile, measure, profile.tied > profile.tied_relevant)
        k, tied, m = profile.closer[group], profile.tied[group], profile.tied_relevant[group]
        one, number = distinct(slots, tied, k)
        squares = np.empty(len(one))
        for i, (first, n, size) in enumerate(zip(k[one], slots[one], tied[one], strict=True)):
            values = discounts[first : first + n]  # all others of the group are 0
            mean = values.sum() / size
            squares[i] = np.square(values - mean).sum() + (size - len(values)) * mean**2
        variance = squares[number] * (m * (tied - m) / (tied * (tied - 1.0)))
        table = np.concatenate([[0.0], np.cumsum(discounts)])
        return defined(
            profile, np.sqrt(sum_by_query(profile, group, variance)) * self._scale(profile.n_relevant, table)
        )

    def deciding(self, profile: TieProfile, measure: Measure) -> Deciding:
        if self.over == "nothing":
            return by_cutoff(profile, measure.limit)
        n = furthest(profile)
        most = min(max(n, int((profile.n_relevant + Unjudged.of(profile).in_all).max())), measure.limit)
        of_ranks = self.discounts(most, measure)
        table, discount = np.append(0.0, np.cumsum(of_ranks)), np.zeros(n + 2)
        discount[1 : 1 + min(n, most)] = of_ranks[:n]
        return scanned(profile, lambda placement: placement.once(discount) * self._scale(placement.n_relevant, table))

    def rank_sum(self, measure: Measure, relevant: Int64, ranked: Int64, n: int) -> RankSum:
        discount = np.concatenate([[0.0], self.discounts(n, measure)])
        return RankSum(Counted.ONE, discount, self._scale(relevant, np.cumsum(discount)))

    def _scale(self, relevant: Int64, table: Float64) -> Float64:
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


def _persistence(measure: Measure) -> float:
    return float(str(measure.choice).removeprefix("p="))


def _powers(p: float, n: int) -> Float64:
    """Return p^0 to p^(n - 1), one after the other: the same bits on every machine."""
    powers = np.full(n, p)
    powers[0] = 1.0
    return np.asarray(np.multiply.accumulate(powers))
