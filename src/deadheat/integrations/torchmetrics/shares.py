"""The profile of queries, of which each process counts its share.

Every process has all rows. It profiles a run of the queries against the whole gallery; then all gather the integers of
all, put them together in the order of the queries, and measure the same profile: the bits are those of one process.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from deadheat.counting import CountingOptions, profile_pair
from deadheat.inputs import Pair, Samples
from deadheat.inputs.sources import Array, Source
from deadheat.profiles import TieProfile
from deadheat.support.arrays import Int64, offsets_of


def shared_profile(
    pair: Pair, options: CountingOptions, share: tuple[int, int], gather: Callable[[Int64], list[Int64]]
) -> TieProfile:
    """The profile of all queries; `share` says which process this is, of how many."""
    rank, n_rank = share
    if n_rank == 1:
        return profile_pair(pair, options)
    cuts = np.arange(n_rank + 1) * len(pair.query.labels) // n_rank
    of_queries, of_groups = np.empty((0, 3), dtype=np.int64), np.empty((0, 4), dtype=np.int64)
    if cuts[rank] < cuts[rank + 1]:
        mine = _profile_of_run(pair, options, int(cuts[rank]), int(cuts[rank + 1]))
        of_queries = np.stack([np.diff(mine.offsets), mine.n_ranked, mine.n_relevant], axis=1)
        of_groups = np.stack([mine.closer, mine.closer_relevant, mine.tied, mine.tied_relevant], axis=1)
    n_group, n_ranked, n_relevant = np.concatenate(gather(of_queries)).T
    closer, closer_relevant, tied, tied_relevant = np.concatenate(gather(of_groups)).T
    return TieProfile(
        offsets_of(n_group), closer, closer_relevant, tied, tied_relevant, n_ranked, n_relevant,
        bounds_only=options.rule.bounds_only, check=False,
    )  # fmt: skip


def _profile_of_run(pair: Pair, options: CountingOptions, start: int, stop: int) -> TieProfile:
    """The profile of the queries from `start` to before `stop`."""
    run = slice(start, stop)
    query: Samples[Source] = Samples(Array(pair.query.embeddings.whole()[run]), pair.query.labels[run])
    if pair.gallery is not None:
        return profile_pair(pair._replace(query=query), options)
    return profile_pair(Pair(query, pair.query), replace(options, exclude=np.arange(start, stop)))
