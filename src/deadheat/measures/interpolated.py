"""Interpolated precision [1]_: the best precision at any relevant item from a recall on, and its mean over 11 recalls.

Tie groups come in. Take one with k items closer, n of them relevant, and l tied, m of those relevant. In its best and
in its worst order, precision grows from each relevant item to the next, so both bounds are the precision at the last
one: (n + m)/(k + m) and (n + m)/(k + l). The expectation of the maximum follows from its distribution: the chance that
no precision exceeds t is a product over groups, and within a group it is added up slot by slot, for every t that an
order can give. It is accurate to about 12 digits, and NaN where that would take too long (`_MOST_STEPS`); for most of
these queries `_too_large` says so at once.

IPrec@r starts at the first relevant item with which recall r is reached, the ⌈r R⌉-th, as trec_eval up to 9 counts in
most cases; trec_eval 10 starts at the r R-th, rounded to the nearest, and so do iprec_at_recall and 11pt_avg.

.. [1] Manning, Raghavan, Schütze 2008, Introduction to Information Retrieval, section 8.4.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from deadheat.engine.profiles.profile import TieProfile
from deadheat.errors import LongRunWarning
from deadheat.measures.completions import Deciding, Placement, scanned
from deadheat.measures.family import Fill, Measure, NoRankSum
from deadheat.measures.groups import TwoSteps, filled
from deadheat.support.arrays import Float64, Int64, slices
from deadheat.support.lazy import fractions
from deadheat.support.progress import LONG, warn

RECALLS = tuple(i / 10 for i in range(11))  # of the mean over 11

_AT_ONCE = 2**21  # entries of a table of completions
_MOST_STEPS = 2**24  # slots × states × values of a query: about a tenth of a second
_STEPS_A_SECOND = 2e8

Group = tuple[int, int, int, int]
Groups = tuple[Group, ...]
Start = Callable[[float, Int64], Int64]  # recall and R -> which relevant item has it


def reached(recall: float, relevant: Int64) -> Int64:
    """Return the least number of relevant items that reaches the recall, taken as the decimal that is written."""
    share = fractions.Fraction(repr(recall))
    distinct, number = np.unique(relevant, return_inverse=True)
    return np.array([math.ceil(share * r) for r in distinct.tolist()], dtype=np.int64)[number]


def nearest(recall: float, relevant: Int64) -> Int64:
    """Return the number of relevant items nearest to the recall, rounded as in trec_eval 10."""
    rounded: Int64 = np.floor(recall * relevant + 0.5).astype(np.int64)
    return rounded


@dataclass(frozen=True)
class Interpolated(TwoSteps, NoRankSum):
    """The best precision from a recall on: its mean over `recalls`, or at the recall in the measure's name."""

    start: Start
    recalls: tuple[float, ...] | None = None

    def loop(self, profile: TieProfile, measure: Measure, out: Float64) -> Fill:
        firsts = self._firsts(profile, measure)
        lower, upper = ([_best(profile, first, worst) for first in firsts] for worst in (True, False))
        expected = [np.where(low == high, low, np.nan) for low, high in zip(lower, upper, strict=True)]
        return filled(profile, [_mean(values) for values in (lower, expected, upper)], out)

    def tied(self, profile: TieProfile, measure: Measure, query: Int64, deviation: bool, threads: int) -> Float64:
        """Return the mean, or the deviation for one recall; NaN for that of several, which are dependent."""
        firsts, values = [np.maximum(first, 1) for first in self._firsts(profile, measure)], np.full(len(query), np.nan)
        if deviation and len(firsts) > 1:
            return values
        too_large, n_step = np.array([_too_large(profile, first) for first in firsts]).transpose(1, 0, 2)
        known = np.flatnonzero(~too_large.any(axis=0)[query])
        if (seconds := n_step[:, query[known]].sum() / _STEPS_A_SECOND) > LONG:
            what = f"the expectation of {measure.name}, a maximum over tie groups of {len(known)} queries,"
            warn(f"{what} may take {seconds / 60:.0f} min", LongRunWarning)
        rows = np.column_stack([profile.closer, profile.closer_relevant, profile.tied, profile.tied_relevant])
        starts_of = np.column_stack([known, query[known], *(first[query[known]] for first in firsts)])
        for i, number, *starts in starts_of.tolist():
            groups = list(map(tuple, rows[profile.offsets[number] : profile.offsets[number + 1]].tolist()))
            parts = [(tuple(group for group in groups if group[1] + group[3] >= first), first) for first in starts]
            of_starts = [np.array(moments(*part)) for part in parts]
            values[i] = np.sqrt(of_starts[0][1]) if deviation else _mean(of_starts)[0]
        return values

    def _firsts(self, profile: TieProfile, measure: Measure) -> list[Int64]:
        """Return, for each recall, the number of the first relevant item of each query whose precision counts."""
        return [self.start(recall, profile.n_relevant) for recall in self._recalls(measure)]

    def _recalls(self, measure: Measure) -> tuple[float, ...]:
        return (measure.cutoff or 0.0,) if self.recalls is None else self.recalls

    def deciding(self, profile: TieProfile, measure: Measure) -> Deciding:
        """Return the completions at which the mean is least and greatest, of a table of all of them."""

        def values(placement: Placement) -> Float64:
            ranks, since = placement.found()
            firsts, means = [self.start(recall, placement.n_relevant) for recall in self._recalls(measure)], []
            for some in slices(len(placement.n_relevant), max(1, _AT_ONCE // max(1, len(ranks)))):
                relevant = since <= np.arange(len(placement.n_relevant))[some, None]
                hits, row = np.cumsum(relevant, axis=1), np.arange(len(relevant))
                best = np.zeros((len(row), len(ranks) + 1))  # from each rank on
                best[:, :-1] = np.maximum.accumulate((relevant * hits / ranks)[:, ::-1], axis=1)[:, ::-1]
                places = [(hits < first[some, None]).sum(axis=1) for first in firsts]
                means.append(_mean([best[row, place] for place in places]))
            return np.concatenate(means)

        return scanned(profile, values)


def _best(profile: TieProfile, first: Int64, worst: bool) -> Float64:
    """Return the best precision of each query, from relevant item `first` on; 0 if that was not retrieved."""
    hits, query = profile.closer_relevant + profile.tied_relevant, profile.query_of_group
    ranks = profile.closer + (profile.tied if worst else profile.tied_relevant)
    best = np.zeros(profile.n_query)
    np.maximum.at(best, query, np.where(hits >= first[query], hits / ranks, 0.0))
    return best


def _too_large(profile: TieProfile, first: Int64) -> Float64:
    """Return whether the expectation from relevant items `first` on is NaN for its size, and its steps if not: (2, n).

    A lower bound on the values of a query decides: the precisions of the last relevant item of one mixed group.
    """
    query, k, tied, m = profile.query_of_group, profile.closer, profile.tied, profile.tied_relevant
    hits, worst = profile.closer_relevant + m, _best(profile, first, worst=True)[query]
    mixed = np.flatnonzero((hits >= first[query]) & (hits / (k + m) > worst))
    query, k, tied, m, hits = (each[mixed] for each in (query, k, tied, m, hits))
    n_step = np.maximum(np.bincount(query, tied * (m + 1.0), profile.n_query), 1)
    most, values = np.floor(_MOST_STEPS / n_step), np.zeros(profile.n_query)
    np.maximum.at(values, query, np.minimum(tied - m + 1, np.floor(hits / worst[mixed]) - k - m - 1))
    n_value = np.bincount(query, m * (tied - m + 1.0), profile.n_query)
    return np.array([values > most, n_step * np.minimum(most, n_value)])


def _mean(values: Sequence[Float64]) -> Float64:
    return sum(values[1:], values[0]) / len(values)


@lru_cache(maxsize=2**14)
def moments(groups: Groups, first: int) -> tuple[float, float]:
    """Return mean and variance of the best precision from a relevant item on; NaN beyond `_MOST_STEPS`.

    `groups` are those of one query, from the group of that item on: closer, closer_relevant, tied, tied_relevant.

    Examples
    --------
    One relevant item among three: the precision is 1, 1/2 or 1/3.

    >>> mean, variance = moments(((0, 0, 3, 1),), 1)
    >>> f"{mean:.6f} {variance:.6f}"
    '0.611111 0.080247'
    """
    _, worst = max((((n + m) / (k + tied), (n + m, k + tied)) for k, n, tied, m in groups), default=(0.0, (0, 1)))
    mixed = [(k, n, tied, m) for k, n, tied, m in groups if (n + m) / (k + m) > worst[0] / worst[1]]
    n_step = sum(tied * (m + 1) for _, _, tied, m in mixed)
    precisions = _precisions(mixed, first, worst, _MOST_STEPS // max(n_step, 1))
    if precisions is None:
        return np.nan, np.nan
    over, under = precisions
    below = np.ones(len(over))
    for group in mixed:
        below *= _chance_below(group, first, over, under)
    values, chances = over / under, np.diff(below, prepend=0.0)
    mean = float(values[-1]) - math.fsum(np.diff(values) * below[:-1])
    return mean, math.fsum(chances * (values - mean) ** 2)


def _precisions(mixed: list[Group], first: int, worst: tuple[int, int], most: int) -> tuple[Int64, Int64] | None:
    """Return hits and ranks of the worst precision and of all possible ones above it, ascending; None if too many."""
    ratios = {worst[0] / worst[1]: worst}
    if len(ratios) > most:
        return None
    for k, n, _, m in mixed:
        for hit in range(max(1, first - n), m + 1):
            rank = k + hit
            while (n + hit) / rank > worst[0] / worst[1]:  # ends where the other hits of the group are all that follows
                ratios[(n + hit) / rank] = (n + hit, rank)
                if len(ratios) > most:
                    return None
                rank += 1
    over, under = np.array([ratios[value] for value in sorted(ratios)], dtype=np.int64).T
    return over, under


def _chance_below(group: Group, first: int, over: Int64, under: Int64) -> Float64:
    """Return the chance that no precision in a group exceeds each of the numbers over / under."""
    k, n, tied, m = group
    hits = np.arange(m + 1)
    earliest = -(-(n + hits) * under[:, None] // over[:, None]) - k  # the slot from which a hit is not too precise
    earliest[:, : max(1, first - n)] = 0
    if m == 1:
        late_enough: Int64 = np.clip(tied + 1 - earliest[:, 1], 0, tied)
        return late_enough / tied
    state = np.zeros((len(over), m + 1))  # the chance of so many hits up to a slot
    state[:, 0] = 1.0
    for slot in range(1, tied + 1):
        left = tied - slot + 1
        hit = state[:, :-1] * ((m - hits[:-1]) / left) * (slot >= earliest[:, 1:])
        state *= np.maximum(left - (m - hits), 0) / left
        state[:, 1:] += hit
    return state[:, m]
