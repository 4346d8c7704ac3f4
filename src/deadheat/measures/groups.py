"""What several closed forms share: parts of tie profiles, sums over them, and loops in threads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deadheat.engine.profiles.profile import TieProfile
from deadheat.measures.family import Fill, Measure
from deadheat.support.arrays import Bool, Float64, Int64
from deadheat.support.progress import Workers
from deadheat.support.triple import Triple


def kernel_arrays(profile: TieProfile) -> tuple[Int64, ...]:
    """The arrays of a profile, in the order that the loops know: `Groups` in the core."""
    ranking = (profile.closer, profile.closer_relevant, profile.tied, profile.tied_relevant)
    return (profile.offsets, *ranking, profile.n_ranked, profile.n_relevant)


def last_ranks(profile: TieProfile, measure: Measure) -> Int64:
    """The last rank that counts, (n_query,)."""
    if measure.limit == 0:
        return profile.n_relevant
    return np.minimum(np.maximum(profile.n_ranked, profile.n_relevant), measure.limit)


def groups_within(profile: TieProfile, measure: Measure, chosen: Bool) -> tuple[Int64, Int64]:
    """The groups chosen that begin before the cutoff, and how many of their slots are within it."""
    furthest = measure.limit or profile.n_relevant.max(initial=0)
    group = np.flatnonzero(chosen & (profile.closer < furthest))
    slots = last_ranks(profile, measure)[profile.query_of_group[group]] - profile.closer[group]
    within = slots > 0
    return group[within], np.minimum(slots[within], profile.tied[group[within]])


def sum_by_query(profile: TieProfile, group: Int64, values: Float64 | Int64) -> Float64:
    """Sums of the values of some groups over each query, (n_query,).

    One after the other, in the order given: np.add.reduceat has no order that is the same everywhere.
    """
    return np.bincount(profile.query_of_group[group], values, profile.n_query).astype(np.float64)


def found(profile: TieProfile) -> Float64:
    """How many relevant items of each query are ranked, (n_query,)."""
    return sum_by_query(profile, np.arange(profile.n_group), profile.tied_relevant)


def distinct(*keys: Int64) -> tuple[Int64, Int64]:
    """Where rows of keys stand that differ, each once, and which of them every row equals: none is computed twice."""
    order = np.lexsort(keys)
    new = np.ones(len(order), dtype=np.bool_)
    new[1:] = np.any([np.diff(key[order]) != 0 for key in keys], axis=0)
    number = np.empty(len(order), dtype=np.int64)
    number[order] = np.cumsum(new) - 1
    return order[new], number


def filled(values: Triple[Float64], out: Float64) -> Fill:
    """A loop that copies values which are known already."""

    def fill(first: int, last: int) -> None:
        for row, each in zip(out, values, strict=True):
            row[first:last] = each[first:last]

    return fill


def defined(profile: TieProfile, values: NDArray[Any]) -> Float64:
    """The values of queries that have a relevant item, NaN for the others."""
    return np.where(profile.n_relevant > 0, values, np.nan)


def reciprocal_ranks(n: int) -> Float64:
    """One over each rank from 0, which counts nothing, to n."""
    ranks = np.arange(n + 1, dtype=np.float64)
    return np.divide(1.0, ranks, out=np.zeros(n + 1), where=ranks > 0)


def in_threads(work: Callable[[int, int], object], ranges: list[tuple[int, int]], threads: int) -> None:
    """Do the work for each range, so many at once; with one thread, or for one range, without a pool."""
    if threads == 1 or len(ranges) == 1:
        for one_range in ranges:
            work(*one_range)
        return
    with Workers(min(threads, len(ranges))) as workers:
        workers.each(lambda one_range: work(*one_range), ranges)
