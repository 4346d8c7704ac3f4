"""Ranges of queries, or of groups, for threads: numbers do not depend on how many there are."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from deadheat.profiles import TieProfile
from deadheat.support.workers import Workers

WORTH_A_THREAD = 2**16  # as many groups take longer than to start a thread

Range = tuple[int, int]


def parts(n: int, most: int) -> list[Range]:
    """So many things in that many ranges, or in one, of about the same size."""
    count = max(1, most)
    return list(pairwise(n * i // count for i in range(count + 1)))


def ranges_of_queries(profile: TieProfile, threads: int) -> list[Range]:
    """The queries, divided in ranges with about as many groups each; fewer than threads where that is not worth it."""
    ends = [last for _, last in parts(profile.n_group, min(threads, profile.n_group // WORTH_A_THREAD))]
    inner = np.searchsorted(profile.offsets, ends[:-1]).tolist()
    return list(pairwise((0, *inner, profile.n_query)))


def in_threads(work: Callable[[int, int], object], ranges: list[Range]) -> None:
    """Do the work for each range, all at once; a single one in the caller's thread, without a pool."""
    if len(ranges) == 1:
        work(*ranges[0])
        return
    with Workers(len(ranges), uses_blas=False) as workers:
        workers.each(lambda one_range: work(*one_range), ranges)
