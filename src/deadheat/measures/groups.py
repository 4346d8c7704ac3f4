"""Helpers of the closed forms: parts of tie profiles, sums over them, loops in threads, and forms with two steps."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deadheat.engine.profiles.profile import TieProfile
from deadheat.measures.family import ClosedForms, Fill, Measure
from deadheat.support.arrays import Bool, Float64, Int64
from deadheat.support.progress import Workers
from deadheat.support.triple import Triple

POSSIBLE = "over='possible'"  # the choice of a measure that divides by min(k, R) in place of R


def kernel_arrays(profile: TieProfile, n_relevant: Int64 | None = None) -> tuple[Int64, ...]:
    """Return the arrays of a profile in the order that the loops expect: `Profile` in the core.

    `n_relevant` replaces the numbers of relevant items, by which the loops divide.
    """
    ranking = (profile.closer, profile.closer_relevant, profile.tied, profile.tied_relevant)
    return (profile.offsets, *ranking, profile.n_ranked, profile.n_relevant if n_relevant is None else n_relevant)


def most_found(relevant: Int64, measure: Measure) -> Int64:
    """Return the divisor of each query: R, or min(k, R) for ``over='possible'``."""
    return np.minimum(relevant, measure.limit) if measure.choice == POSSIBLE else relevant


def last_ranks(profile: TieProfile, measure: Measure) -> Int64:
    """Return the last rank that counts, (n_query,)."""
    if measure.limit == 0:
        return profile.n_relevant
    return np.minimum(np.maximum(profile.n_ranked, profile.n_relevant), measure.limit)


def groups_within(profile: TieProfile, measure: Measure, chosen: Bool) -> tuple[Int64, Int64]:
    """Return the chosen groups that begin before the cutoff, and how many of their slots are within it."""
    furthest = measure.limit or profile.n_relevant.max(initial=0)
    group = np.flatnonzero(chosen & (profile.closer < furthest))
    slots = last_ranks(profile, measure)[profile.query_of_group[group]] - profile.closer[group]
    within = slots > 0
    return group[within], np.minimum(slots[within], profile.tied[group[within]])


def sum_by_query(profile: TieProfile, group: Int64, values: Float64 | Int64) -> Float64:
    """Sum the values of some groups over each query, (n_query,).

    They are added one by one in the given order: np.add.reduceat has no order that is the same everywhere.
    """
    return np.bincount(profile.query_of_group[group], values, profile.n_query).astype(np.float64)


def found(profile: TieProfile) -> Float64:
    """Count the relevant items of each query that are ranked, (n_query,)."""
    return sum_by_query(profile, np.arange(profile.n_group), profile.tied_relevant)


def distinct(*keys: Int64) -> tuple[Int64, Int64]:
    """Return the position of each distinct row of keys, and each row's index among them, to compute each row once."""
    order = np.lexsort(keys)
    new = np.ones(len(order), dtype=np.bool_)
    new[1:] = np.any([np.diff(key[order]) != 0 for key in keys], axis=0)
    number = np.empty(len(order), dtype=np.int64)
    number[order] = np.cumsum(new) - 1
    return order[new], number


def filled(profile: TieProfile, values: Iterable[NDArray[Any]], out: Float64) -> Fill:
    """Return a loop that copies values of all queries; NaN where a query has no relevant item."""
    known = np.array([defined(profile, row) for row in values])

    def fill(first: int, last: int) -> None:
        out[:, first:last] = known[:, first:last]

    return fill


def defined(profile: TieProfile, values: NDArray[Any]) -> Float64:
    """Return the values of queries that have a relevant item, and NaN for the others."""
    return np.where(profile.n_relevant > 0, values, np.nan)


def reciprocal_ranks(n: int) -> Float64:
    """Return one over each rank from 0 to n, and 0 for rank 0."""
    ranks = np.arange(n + 1, dtype=np.float64)
    return np.divide(1.0, ranks, out=np.zeros(n + 1), where=ranks > 0)


class TwoSteps(ClosedForms):
    """Closed forms whose loop leaves the expected value NaN where lower and upper differ, for `tied` to compute."""

    @abstractmethod
    def tied(self, profile: TieProfile, measure: Measure, query: Int64, deviation: bool, threads: int) -> Float64:
        """Return the expected values, or deviations, of the given queries."""

    def complete(self, profile: TieProfile, measure: Measure, values: Triple[Float64], threads: int) -> None:
        query = np.flatnonzero(values.lower < values.upper)
        if len(query):
            mean = self.tied(profile, measure, query, False, threads)
            values.expected[query] = np.clip(mean, values.lower[query], values.upper[query])

    def deviation(self, profile: TieProfile, measure: Measure) -> Float64:
        values, deviation = np.empty((3, profile.n_query)), np.zeros(profile.n_query)
        self.loop(profile, measure, values)(0, profile.n_query)
        query = np.flatnonzero(values[0] < values[2])
        if len(query):
            deviation[query] = self.tied(profile, measure, query, True, 1)
        return defined(profile, deviation)


def in_threads(work: Callable[[int, int], object], ranges: list[tuple[int, int]], threads: int) -> None:
    """Run `work` on each range in up to `threads` threads; without a pool for one thread or one range."""
    if threads == 1 or len(ranges) == 1:
        for one_range in ranges:
            work(*one_range)
        return
    with Workers(min(threads, len(ranges))) as workers:
        workers.each(lambda one_range: work(*one_range), ranges)
