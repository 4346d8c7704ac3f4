"""Ranges of queries, or of groups, for threads: numbers do not depend on how many there are."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from deadheat.profiles import TieProfile
from deadheat.support.workers import Workers

WORTH_A_THREAD = 2**16  # as many groups take longer than to start a thread
MOST_AT_ONCE = 2**17  # groups in a call, so that no interrupt waits long; a large mixed one takes some microseconds

Range = tuple[int, int]


def ranges_of_queries(profile: TieProfile, threads: int) -> list[Range]:
    """The queries, divided in ranges with about as many groups each: one a thread where that is worth it, or more."""
    n = profile.n_group
    count = max(1, min(threads, n // WORTH_A_THREAD), n // MOST_AT_ONCE)
    ends = np.searchsorted(profile.offsets, [n * i // count for i in range(1, count)])
    return list(pairwise((0, *ends.tolist(), profile.n_query)))


def in_threads(work: Callable[[int, int], object], ranges: list[Range], threads: int) -> None:
    """Do the work for each range, so many at once; with one thread, or for one range, without a pool."""
    if threads == 1 or len(ranges) == 1:
        for one_range in ranges:
            work(*one_range)
        return
    with Workers(min(threads, len(ranges))) as workers:
        workers.each(lambda one_range: work(*one_range), ranges)
