"""Expected reciprocal rank [1]_, ERR@k: the mean reciprocal rank at which a reader stops who goes down the ranking.

An item of gain g satisfies the reader with R = (2^g - 1) / 16, so that 4 is the highest grade, as in gdeval.pl and for
ir_measures. ERR@k is the sum over ranks r up to k of R / r times the product of 1 - R over the ranks before.

Where i stands just before j, the two add R_i / r + (1 - R_i) R_j / (r + 1) to the sum, times what does not depend on
their order; to exchange them adds (R_j - R_i) (1 / r - 1 / (r + 1)). So the orders by gain are the bounds, also where a
cutoff lies between the two. Behind a whole group the product is the same in every order, so groups count separately.
The mean chance over all orders of a group to pass its first t items, or to stop at the t-th, is a mean over all draws
of t items, and is built up item by item, without a difference.

.. [1] Chapelle, Metzler, Zhang, Grinspan 2009, Expected reciprocal rank for graded relevance.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from deadheat.engine.profiles.profile import TieProfile
from deadheat.measures.discounted_gain import exponential
from deadheat.measures.family import Fill, Measure, NoRankSum
from deadheat.support.arrays import Float64

_HIGHEST = 4


class ExpectedReciprocalRank(NoRankSum):
    """The sum over ranks up to k of the chance that a reader stops there, over the rank."""

    graded = True

    def loop(self, profile: TieProfile, measure: Measure, out: Float64) -> Fill:
        chances = _chances(profile)

        def fill(first: int, last: int) -> None:
            for query in range(first, last):
                groups = _groups(profile, query, measure.limit, chances[query])
                lower, expected, upper = (
                    math.fsum(group.passed * stopped(group) for group in groups) for stopped in (_last, _any, _first)
                )
                known = profile.n_relevant[query] > 0
                out[:, query] = (lower, min(max(expected, lower), upper), upper) if known else math.nan

        return fill

    def deviation(self, profile: TieProfile, measure: Measure) -> Float64:
        """Return the deviation, from the covariances of the chances to pass the first items of each group."""
        chances = _chances(profile)
        deviation = np.full(profile.n_query, math.nan)
        for query in np.flatnonzero(profile.n_relevant).tolist():
            groups = _groups(profile, query, measure.limit, chances[query])
            variances = [group.passed**2 * _variance(group) for group in groups if group.mixed]
            deviation[query] = math.sqrt(max(math.fsum(variances), 0.0))
        return deviation


class _Group(NamedTuple):
    passed: float  # the chance that a reader comes to the group
    chances: list[float]  # to stop at its relevant items, ascending
    closer: int
    tied: int
    slots: int  # within the cutoff

    @property
    def mixed(self) -> bool:
        return len(self.chances) < self.tied or self.chances[0] < self.chances[-1]


def _chances(profile: TieProfile) -> Float64:
    """Return the chance that each grade satisfies the reader, (n_query, n_grade)."""
    return np.asarray(exponential(profile.gain_table.astype(np.float64), _HIGHEST, "ERR") / 2**_HIGHEST)


def _groups(profile: TieProfile, query: int, cutoff: int, chances: Float64) -> list[_Group]:
    groups, passed = [], 1.0
    of_query = slice(*profile.offsets[query : query + 2].tolist())
    counts = profile.counts_by_grade[0][of_query]
    ranks = profile.closer[of_query].tolist(), profile.tied[of_query].tolist()
    for closer, tied, of_group in zip(*ranks, counts, strict=True):
        if closer >= cutoff:
            break
        groups.append(_Group(passed, np.repeat(chances, of_group).tolist(), closer, tied, min(tied, cutoff - closer)))
        for chance in groups[-1].chances:
            passed *= 1.0 - chance
    return groups


def _first(group: _Group) -> float:
    """Return the sum over the slots of a group of the chance to stop there, over its rank, for the best order."""
    return _stopped(group, group.chances[::-1], 0)


def _last(group: _Group) -> float:
    """Return the same for the worst order."""
    return _stopped(group, group.chances, group.tied - len(group.chances))


def _stopped(group: _Group, chances: list[float], others: int) -> float:
    """Return the same for an order, behind some other items."""
    terms, passed = [], 1.0
    for rank, chance in zip(range(group.closer + others + 1, group.closer + group.slots + 1), chances, strict=False):
        terms.append(chance * passed / rank)
        passed *= 1.0 - chance
    return math.fsum(terms)


def _any(group: _Group) -> float:
    """Return the mean of the same over all orders.

    Item by item: the new one is at slot t, or at an earlier one, or at a later one.
    """
    if not group.mixed:
        return _first(group)
    slot = np.arange(1.0, group.slots + 1)
    passing, stops = np.ones(group.slots), np.zeros(group.slots)  # the first t - 1 items, and at the t-th
    for n, chance in enumerate(group.chances, 1 + group.tied - len(group.chances)):
        before, later = (slot - 1) / n, np.maximum(n - slot, 0) / n
        shifted = np.concatenate([[0.0], stops[:-1]])
        stops = chance * passing / n + before * (1 - chance) * shifted + later * stops
        shifted = np.concatenate([[0.0], passing[:-1]])
        passing = before * (1 - chance) * shifted + np.maximum(n + 1 - slot, 0) / n * passing
    return math.fsum(stops / (group.closer + slot))


def _variance(group: _Group) -> float:
    """Return the variance of the same over all orders, as a quadratic form of U_t, the chance to stop by slot t.

    The sum over t of (U_t - U_(t-1)) / rank is one of weights times U_t. The means are built up as those of `_any` are.
    """
    t = np.arange(group.slots + 1)
    s = t[:, None]
    both, one = np.zeros((len(t), len(t))), np.zeros(len(t))  # the means of U_s U_t, s <= t, and of U_t
    for n, chance in enumerate(group.chances, 1 + group.tied - len(group.chances)):
        x, later, one_less = 1 - chance, np.maximum(n - t, 0) / n, np.concatenate([[0.0], one[:-1]])
        within = (
            chance**2 + chance * x * (one_less[:, None] + one_less) + x**2 * np.pad(both, ((1, 0), (1, 0)))[:-1, :-1]
        )
        between = chance * one[:, None] + x * np.pad(both, ((0, 0), (1, 0)))[:, :-1]
        both = s / n * within + np.maximum(t - s, 0) / n * between + later * both
        one = t / n * (chance + x * one_less) + later * one
    weights = 1.0 / (group.closer + t[1:])
    weights[:-1] -= weights[1:]
    terms = (both - np.multiply.outer(one, one))[1:, 1:] * np.multiply.outer(weights, weights)
    return math.fsum([*np.triu(terms).ravel(), *np.triu(terms, 1).ravel()])
