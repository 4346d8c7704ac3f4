"""The loop that ranks a small group of items by their scores."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from deadheat.support.compiling import kernel

_SLACK = 1 + 2.0**-50  # more than the roundings of a sum and a difference can change


@kernel
def rank_group(
    scores: NDArray[Any],
    bounds: NDArray[Any],
    columns: NDArray[Any],
    classes: NDArray[Any],
    n_group: NDArray[Any],
    arrays: NDArray[Any],
) -> int:
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
