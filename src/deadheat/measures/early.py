"""Early recognition: enrichment factor and BEDROC [1]_ of virtual screening, sensitivity up to the first irrelevant.

Tie groups come in. EF@x is the precision among the first k = ⌈x n⌉ of n ranked items over that of all, R / n; only the
group that straddles rank k matters, and its hits are hypergeometric. BEDROC with parameter α sums e^(-α rank / n) over
the relevant items, and scales that from its least value to its greatest: equation 36 there [1]_, whose two constants
are these. It is a linear rank statistic. Relevant items that were not retrieved rank behind all others.

Sens1FP is the share of the relevant items in front of the first irrelevant one, the sensitivity up to the first false
positive of homology search [2]_. Of a group with b irrelevant items and nothing irrelevant in front, b + 1 parts are
equally likely to have each of the m relevant ones, so that m / (b + 1) of them come first on average.

.. [1] Truchon, Bayly 2007, Evaluating virtual screening methods: good and bad metrics for the "early recognition"
   problem.
.. [2] Steinegger, Söding 2017, MMseqs2 enables sensitive protein sequence searching for massive data sets.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from deadheat.engine.profiles.profile import TieProfile
from deadheat.measures.family import Fill, Measure, NoRankSum, Variant
from deadheat.measures.groups import defined, filled, found, sum_by_query
from deadheat.measures.interpolated import reached
from deadheat.measures.rank_discount import RankDiscount
from deadheat.support.arrays import Float64, Int64
from deadheat.support.lazy import decimal

# The parameter α of BEDROC. With 20, the first 8 % of the ranks have 80 % of the weight.
ALPHAS = {
    "alpha=20": Variant("e^(-alpha rank / n) over the relevant items, scaled to [0, 1]; alpha = 20"),
    "alpha=80.5": Variant("the same, of which the first 2 % have 80 % of the weight"),
    "alpha=160.9": Variant("the same, of which the first 1 % has 80 % of the weight"),
}


class Enrichment(NoRankSum):
    """The precision among the first ⌈x n⌉ of n ranked items, over R / n."""

    def loop(self, profile: TieProfile, measure: Measure, out: Float64) -> Fill:
        slots, scale = self._straddling(profile, measure)
        tied, m = profile.tied, profile.tied_relevant
        hits = np.maximum(slots - (tied - m), 0), slots * m / tied, np.minimum(slots, m)
        every = np.arange(profile.n_group)
        lower, mean, upper = (sum_by_query(profile, every, of_groups) for of_groups in hits)
        return filled(profile, np.array([lower, np.clip(mean, lower, upper), upper]) * scale, out)

    def deviation(self, profile: TieProfile, measure: Measure) -> Float64:
        """Return the deviation of hypergeometric hits."""
        slots, scale = self._straddling(profile, measure)
        tied, m = profile.tied, profile.tied_relevant
        of_groups = slots * (m / tied) * ((tied - m) / tied) * ((tied - slots) / np.maximum(tied - 1, 1))
        return defined(profile, np.sqrt(sum_by_query(profile, np.arange(profile.n_group), of_groups)) * scale)

    def _straddling(self, profile: TieProfile, measure: Measure) -> tuple[Int64, Float64]:
        """Return the slots of each group that count, (n_group,), and one over the hits by chance, (n_query,)."""
        k = reached(float(measure.cutoff or 0), profile.n_ranked)
        slots = np.clip(k[profile.query_of_group] - profile.closer, 0, profile.tied)
        by_chance = k.astype(np.float64) * profile.n_relevant
        scale = np.divide(profile.n_ranked, by_chance, out=np.full(len(k), np.nan), where=by_chance > 0)
        return slots, scale


class Bedroc(NoRankSum):
    """The sum of e^(-α rank / n) over the relevant items, scaled from its least to its greatest value; NaN if equal."""

    def loop(self, profile: TieProfile, measure: Measure, out: Float64) -> Fill:
        values = np.full((3, profile.n_query), np.nan)
        for query, sums, least, most in _by_size(profile, measure):
            part = np.empty((3, len(query)))
            sums.loop(profile[query], measure, part)(0, len(query))
            values[:, query] = np.clip((part - least) / (most - least), 0.0, 1.0)
        return filled(profile, values, out)

    def deviation(self, profile: TieProfile, measure: Measure) -> Float64:
        deviation = np.full(profile.n_query, np.nan)
        for query, sums, least, most in _by_size(profile, measure):
            deviation[query] = sums.deviation(profile[query], measure) / (most - least)
        return deviation


class _Powers(RankDiscount):
    """The sum of q^(rank - 1) - q^rank over the relevant items, from a table of the powers of q."""

    def __init__(self, powers: Float64) -> None:
        self.powers = powers

    def discounts(self, n: int, measure: Measure) -> Float64:
        return self.powers[:n] - self.powers[1 : n + 1]

    def sums(self, n: int, measure: Measure) -> Float64:
        return -self.powers[: n + 1]


def _by_size(profile: TieProfile, measure: Measure) -> Iterator[tuple[Int64, _Powers, Float64, Float64]]:
    """Yield the queries of each number of items, the sums for it, and the least and the greatest sum.

    Relevant items that were not retrieved have the last ranks, and are part of the sum: both ends are less by that.
    """
    relevant, lost = profile.n_relevant, profile.n_relevant - found(profile).astype(np.int64)
    sizes = profile.n_ranked + lost
    for n in np.unique(sizes[relevant < sizes]).tolist():
        query = np.flatnonzero((sizes == n) & (relevant < n))
        powers, r = _powers(n, str(measure.choice).removeprefix("alpha=")), relevant[query]
        behind = powers[n - lost[query]] - powers[n]
        yield query, _Powers(powers), powers[n - r] - powers[n] - behind, powers[0] - powers[r] - behind


def _powers(n: int, alpha: str) -> Float64:
    """Return e^(-α i / n) for i from 0 to n, products of squares of a number of 60 digits: the same bits everywhere."""
    context = decimal.Context(60, rounding=decimal.ROUND_HALF_EVEN)
    factor = context.exp(context.divide(decimal.Decimal(f"-{alpha}"), decimal.Decimal(n)))
    powers, ranks = np.ones(n + 1), np.arange(n + 1)
    for bit in range(n.bit_length()):
        powers[(ranks >> bit) & 1 == 1] *= float(factor)
        factor = context.multiply(factor, factor)
    return powers


class BeforeFirstMiss(NoRankSum):
    """The share of the relevant items that are in front of the first irrelevant one."""

    def loop(self, profile: TieProfile, measure: Measure, out: Float64) -> Fill:
        m, parts = self._first(profile)
        hits = np.where(parts == 1, m, 0), m / parts, m
        every, relevant = np.arange(profile.n_group), np.maximum(profile.n_relevant, 1)
        return filled(profile, [sum_by_query(profile, every, of_groups) / relevant for of_groups in hits], out)

    def deviation(self, profile: TieProfile, measure: Measure) -> Float64:
        """Return the deviation of the hits in the first of b + 1 parts, m (m + b + 1) b / ((b + 1)² (b + 2))."""
        m, parts = (each.astype(np.float64) for each in self._first(profile))
        variance = m * (m + parts) * (parts - 1) / (parts * parts * (parts + 1))
        total = sum_by_query(profile, np.arange(profile.n_group), variance)
        return defined(profile, np.sqrt(total) / np.maximum(profile.n_relevant, 1))

    def _first(self, profile: TieProfile) -> tuple[Int64, Int64]:
        """Return the relevant items of groups with nothing irrelevant in front, else 0, and their numbers of parts."""
        m = np.where(profile.closer == profile.closer_relevant, profile.tied_relevant, 0)
        return m, profile.tied - profile.tied_relevant + 1
