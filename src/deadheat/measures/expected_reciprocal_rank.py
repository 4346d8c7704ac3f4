"""Expected reciprocal rank [1]_, ERR@k: the mean reciprocal rank at which a reader stops who goes down the ranking.

An item of gain g satisfies the reader with R = (2^g - 1) / 16, so that 4 is the highest grade, as in gdeval.pl and for
ir_measures. ERR@k is the sum over ranks r up to k of R / r times the product of 1 - R over the ranks before.

Where i stands just before j, the two add R_i / r + (1 - R_i) R_j / (r + 1) to the sum, times what does not depend on
their order; to exchange them adds (R_j - R_i) (1 / r - 1 / (r + 1)). So the orders by gain are the bounds, also where a
cutoff lies between the two. Behind a whole group the product is the same in every order, so groups count separately. In
one, the sum is that of U_t, the chance to stop by slot t, times 1 / rank less that of the next slot that counts. The
means of U_t, and of products of two, are built up item by item, without a difference.

.. [1] Chapelle, Metzler, Zhang, Grinspan 2009, Expected reciprocal rank for graded relevance.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

import deadheat._core as _core
from deadheat.engine.profiles.profile import TieProfile
from deadheat.measures.completions import Deciding, at_ends
from deadheat.measures.discounted_gain import exponential
from deadheat.measures.family import Fill, Measure, NoRankSum
from deadheat.measures.groups import kernel_arrays
from deadheat.support.arrays import Float64, Int64, pieces

_HIGHEST = 4
_MOST_SLOTS = 1000  # of a mixed group, whose variance takes time with the square of it


class ExpectedReciprocalRank(NoRankSum):
    """The sum over ranks up to k of the chance that a reader stops there, over the rank."""

    graded = True

    def loop(self, profile: TieProfile, measure: Measure, out: Float64) -> Fill:
        by_grade, chances = profile.counts_by_grade[0], _chances(profile)
        groups, slots = kernel_arrays(profile), np.minimum(profile.tied, measure.limit)
        steps = np.bincount(profile.query_of_group, slots * profile.tied_relevant, profile.n_query).astype(np.int64)

        def fill(first: int, last: int) -> None:
            for some in pieces(steps[first:last]):  # so that a call is short
                queries = first + some.start, first + some.stop
                _core.expected_reciprocal_ranks(queries, groups, measure.limit, by_grade, chances, out)

        return fill

    def deviation(self, profile: TieProfile, measure: Measure) -> Float64:
        """Return the deviation: the variances of groups add up; NaN if more than 1000 slots of a mixed one count."""
        chances, deviation = _chances(profile), np.full(profile.n_query, math.nan)
        for query in np.flatnonzero(profile.n_relevant).tolist():
            groups = _groups(profile, query, measure.limit, chances[query])
            variances = [group.passed**2 * group.variance() for group in groups if group.mixed]
            deviation[query] = math.sqrt(max(math.fsum(variances), 0.0))
        return deviation

    def deciding(self, profile: TieProfile, measure: Measure) -> Deciding:
        return at_ends(profile)


def _chances(profile: TieProfile) -> Float64:
    """Return the chance that each grade satisfies the reader, (n_query, n_grade)."""
    return np.asarray(exponential(profile.gain_table.astype(np.float64), _HIGHEST, "ERR") / 2**_HIGHEST)


def _groups(profile: TieProfile, query: int, cutoff: int, chances: Float64) -> list[_GainGroup]:
    groups, passed = [], 1.0
    of_query = slice(*profile.offsets[query : query + 2].tolist())
    counts = profile.counts_by_grade[0][of_query]
    ranks = profile.closer[of_query].tolist(), profile.tied[of_query].tolist()
    for closer, tied, of_group in zip(*ranks, counts, strict=True):
        if closer >= cutoff:
            break
        groups.append(
            _GainGroup(passed, np.repeat(chances, of_group).tolist(), closer, tied, min(tied, cutoff - closer))
        )
        for chance in groups[-1].chances:
            passed *= 1.0 - chance
    return groups


class _GainGroup(NamedTuple):
    """A tie group, and its part of the sum for a reader who comes to it, over all orders."""

    passed: float  # the chance that a reader comes to the group
    chances: list[float]  # to stop at its relevant items, ascending
    closer: int
    tied: int
    slots: int  # within the cutoff

    @property
    def mixed(self) -> bool:
        return len(self.chances) < self.tied or self.chances[0] < self.chances[-1]

    def variance(self) -> float:
        if self.slots > _MOST_SLOTS:
            return math.nan
        t = np.arange(self.slots + 1)
        s = t[:, None]
        products, means = np.zeros((len(t), len(t))), np.zeros(len(t))  # of U_s and U_t for s <= t
        for n, chance in enumerate(self.chances, 1 + self.tied - len(self.chances)):
            x, less = 1 - chance, np.concatenate([[0.0], means[:-1]])
            shifted = np.pad(products, ((1, 0), (1, 0)))
            within = chance**2 + chance * x * (less[:, None] + less) + x**2 * shifted[:-1, :-1]
            between = chance * means[:, None] + x * shifted[1:, :-1]
            beyond = np.maximum(n - t, 0) / n * products
            products = s / n * within + np.maximum(t - s, 0) / n * between + beyond
            means = _with_one_more(means, t, n, chance)
        weights = self._weights()
        terms = (products - np.multiply.outer(means, means))[1:, 1:] * np.multiply.outer(weights, weights)
        return math.fsum([*np.triu(terms).ravel(), *np.triu(terms, 1).ravel()])

    def _weights(self) -> Float64:
        """Return 1 / rank, less that of the next slot within the cutoff."""
        ranks = self.closer + np.arange(1.0, self.slots + 1)
        return np.asarray(1.0 / ranks / np.append(ranks[:-1] + 1, 1.0))


def _with_one_more(means: Float64, t: Int64, n: int, chance: float) -> Float64:
    """Return the mean chances to stop by slot t in n items, from those without one: it is up to slot t, or beyond."""
    less = np.concatenate([[0.0], means[:-1]])
    return np.asarray(t / n * (chance + (1 - chance) * less) + np.maximum(n - t, 0) / n * means)
