"""The tie groups of a profile, from counts between cuts, or from the scores of a small group of items."""

from __future__ import annotations

import numpy as np

from deadheat.support.arrays import Array
from deadheat.support.compiling import kernel

_SLACK = 1 + 2.0**-50  # more than the roundings of a sum and a difference can change


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


@kernel
def rank_group(scores: Array, bounds: Array, columns: Array, classes: Array, n_group: Array, arrays: Array) -> int:
    """Write the tie groups of each row, nearest first; returns how many, or −1 if two neighbours are undecided.

    `scores` and `bounds` are (n, n). Two items tie if they share a column, or if both scores are exact and equal.
    `arrays` takes closer, closer_relevant, tied and tied_relevant.
    """
    n, total = len(scores), 0
    for row in range(n):
        score, bound = scores[row], bounds[row]
        order = np.argsort(-score)
        begun = total
        closer = closer_relevant = tied = tied_relevant = 0
        last = -1
        for item in order:
            if item == row:
                continue
            if last >= 0:
                reach = bound[last] + bound[item]
                same = columns[last] == columns[item] or (reach == 0 and score[last] == score[item])
                if not same:
                    if not score[last] - score[item] > reach * _SLACK:
                        return -1
                    if tied_relevant > 0:
                        arrays[0, total], arrays[1, total] = closer, closer_relevant
                        arrays[2, total], arrays[3, total] = tied, tied_relevant
                        total += 1
                    closer += tied
                    closer_relevant += tied_relevant
                    tied = tied_relevant = 0
            tied += 1
            if classes[item] == classes[row]:
                tied_relevant += 1
            last = item
        if tied_relevant > 0:
            arrays[0, total], arrays[1, total] = closer, closer_relevant
            arrays[2, total], arrays[3, total] = tied, tied_relevant
            total += 1
        n_group[row] = total - begun
    return total
