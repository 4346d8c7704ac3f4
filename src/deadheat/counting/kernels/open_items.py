"""What a tile leaves open: a closer look at its float32 rows, and the places of single items between cuts."""

from __future__ import annotations

import numpy as np

from deadheat.distances.row_kernels import product_of_rows
from deadheat.support.arrays import Array
from deadheat.support.compiling import inner, kernel
from deadheat.ties.kernels import TINY, next_number

SQUARE = 1 << 18  # elements of the rows of one side of a square of a tile that is looked at more closely


@inner
def _way(score: float, reach: float, edges: Array, slot: int, error: float) -> int:
    """Where an item of an odd slot is, by a better score: −1 below the interval, 1 above it, 0 if that is open.

    The slot's edges are the ends of the interval moved by `error`, and rounded; so are those of the intervals beside
    it, from which the tile's score has told the item apart unless they have an edge in common.
    """
    low, high = np.float64(edges[slot - 1]), np.float64(edges[slot])
    if score + reach < low + error - (2.0**-22 * abs(low) + 1e-36):
        return -1 if slot < 2 or edges[slot - 2] < edges[slot - 1] else 0
    if score - reach >= high - error + (2.0**-22 * abs(high) + 1e-36):
        return 1 if edges[slot] < edges[slot + 1] else 0
    return 0


@inner
def _by_square(opened: Array, shift: int, n_row: int, n_column: int) -> Array:
    """The order of listed items by squares of a tile, so that the rows that belong to a square stay in cache."""
    n = opened.shape[1]
    order = np.arange(n)
    if max(n_row, n_column) <= 1 << shift:
        return order
    across = (n_column >> shift) + 1
    starts = np.zeros(((n_row >> shift) + 1) * across + 1, np.int64)
    for p in range(n):
        starts[(opened[0, p] >> shift) * across + (opened[1, p] >> shift) + 1] += 1
    for square in range(1, len(starts)):
        starts[square] += starts[square - 1]
    for p in range(n):
        square = (opened[0, p] >> shift) * across + (opened[1, p] >> shift)
        order[starts[square]] = p
        starts[square] += 1
    return order


@kernel
def settle_open(
    opened: Array, left: Array, right: Array, offset: Array, weight: Array, edges: Array, error: Array, reach: Array,
    counts: Array,
) -> int:  # fmt: skip
    """Count what can be told of open items by the product in float64 of their float32 rows, minus the column's offset.

    That score is off by up to `reach`, the tile's by up to `error`. `opened` becomes the list of what is still open;
    returns how many there are.
    """
    n_open = opened.shape[1]
    shift = 6  # squares of 64 rows or more
    while left.shape[1] << (shift + 1) <= SQUARE:
        shift += 1
    order = _by_square(opened, shift, len(left), len(right))
    ways = np.empty(n_open, np.int8)
    for p in order:
        i, j, slot = opened[0, p], opened[1, p], opened[2, p]
        score = product_of_rows(left[i], right[j]) - (offset[j] if len(offset) else 0.0)
        ways[p] = _way(score, reach[i], edges[i], slot, error[i])
        if ways[p] != 0:
            counts[i, slot + ways[p]] += weight[j]
    n_left = 0
    for p in range(n_open):
        if ways[p] == 0:
            opened[0, n_left], opened[1, n_left], opened[2, n_left] = opened[0, p], opened[1, p], opened[2, p]
            n_left += 1
    return n_left


@kernel
def place_pairs(
    rows: Array, guess: Array, scores: Array, errors: Array, weights: Array, low: Array, high: Array, each: int,
    counts: Array, cuts: Array,
) -> int:  # fmt: skip
    """Count single items between the cuts of their rows, `each` cuts to an interval.

    `guess` is an interval near which an item may be, −1 if none is known. Where an item may lie in an interval its
    pair is listed: cuts[0, p] becomes its number, and between cuts[1, p] and cuts[2, p] is the number of cuts that it
    is above. Returns how many there are.
    """
    n_interval, n_listed = low.shape[1], 0
    for p in range(len(rows)):
        i, farthest, nearest = rows[p], scores[p] - errors[p], scores[p] + errors[p]
        surely, end = int(guess[p]), n_interval
        if surely < 0:
            surely = 0
            while surely < end:
                middle = (surely + end) >> 1
                if farthest >= high[i, middle]:
                    surely = middle + 1
                else:
                    end = middle
        while surely > 0 and farthest < high[i, surely - 1]:
            surely -= 1
        while surely < n_interval and farthest >= high[i, surely]:
            surely += 1  # to the first interval that the item is not surely above
        possible = surely
        while possible < n_interval and nearest >= low[i, possible]:
            possible += 1  # to the first interval that the item is surely below
        if surely == possible:
            counts[i, 2 * surely] += weights[p]
        elif each == 2 and errors[p] == 0 and high[i, surely] == next_number(low[i, surely], np.inf, TINY):
            counts[i, 2 * surely + 1] += weights[p]  # both are exact, and equal
        else:
            cuts[0, n_listed], cuts[1, n_listed], cuts[2, n_listed] = p, surely * each, possible * each
            n_listed += 1
    return n_listed
