"""From counts between cuts to the tie groups of a profile."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from deadheat.support.compiling import kernel

Array = NDArray[Any]


@kernel
def collect_groups(
    queries: Array, n_group: Array, relevant: Array, within: Array, nearer: Array, step: int, lead: int,
    offsets: Array, closer: Array, closer_relevant: Array, tied: Array, tied_relevant: Array,
) -> None:  # fmt: skip
    """From counts between cuts, farthest first, to rows of the profile, nearest first, where the query's begin.

    Group g's cut "tied or closer" is after slot step · g of `within`, its cut "closer" after slot step · g + lead of
    `nearer`.
    """
    for i in range(len(n_group)):
        place = offsets[queries[i]]
        seen = above_within = above_nearer = np.int64(0)
        in_within, in_nearer = within.shape[1] - 1, nearer.shape[1] - 1
        for g in range(n_group[i] - 1, -1, -1):
            while in_within > step * g:
                above_within += within[i, in_within]
                in_within -= 1
            while in_nearer > step * g + lead:
                above_nearer += nearer[i, in_nearer]
                in_nearer -= 1
            closer[place], closer_relevant[place] = above_nearer + seen, seen
            tied[place], tied_relevant[place] = above_within - above_nearer + relevant[i, g], relevant[i, g]
            seen += relevant[i, g]
            place += 1


@kernel
def close_gaps(array: Array, starts: Array, lengths: Array) -> int:
    """Move runs that lie in ascending order with gaps between them together, in place; returns the new length."""
    place = 0
    for i in range(len(lengths)):
        for k in range(lengths[i]):
            array[place] = array[starts[i] + k]
            place += 1
    return place
