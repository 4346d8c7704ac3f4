"""Loops of the counting pass that Numba compiles: relevant items in groups, edges, and the counting of tiles.

No loop here decides a comparison by a rounded value. `count_tile` finds the slot of each score between edges that
`build_edges` has moved apart by the error bound, and lists what falls between the two edges of one threshold.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from deadheat.distances.row_kernels import product_of_rows
from deadheat.support.compiling import inner, kernel
from deadheat.support.vector import (
    EDGES,
    LANES,
    append_between,
    contiguous,
    fetch_row,
    find_slots,
    look_closer,
    sum_above,
)
from deadheat.ties.kernels import TINY, next_number

Array = NDArray[Any]

TINY_SINGLE = np.finfo(np.float32).tiny  # the smallest normal number

# Relevant items --------------------------------------------------------------------------------------------------


@kernel
def relevant_columns(
    classes: Array,
    starts: Array,
    keys: Array,
    sizes: Array,
    weight: Array,
    columns: Array,
    count: Array,
    others: Array,
) -> None:
    """List the columns of each query's class, with the relevant items in each and the others; 0 in padding.

    The classes' columns are given in CSR form: `keys` holds class · n_column + column, ascending, `sizes` the items.
    """
    n_column = len(weight)
    for i in range(len(classes)):
        start = starts[classes[i]]
        n = starts[classes[i] + 1] - start
        for j in range(n):
            column = keys[start + j] - classes[i] * n_column
            columns[i, j], count[i, j], others[i, j] = column, sizes[start + j], weight[column] - sizes[start + j]
        for j in range(n, columns.shape[1]):
            columns[i, j], count[i, j], others[i, j] = n_column, 0, 0


@kernel
def take_out(
    rows: Array,
    taken: Array,
    same_class: Array,
    columns: Array,
    count: Array,
    others: Array,
) -> Array:
    """Take single items out of the counts of their columns; returns which of them lie in columns not listed."""
    stray = np.zeros(len(rows), np.bool_)
    for p in range(len(rows)):
        i = rows[p]
        left, right = 0, columns.shape[1]
        while left < right:
            middle = (left + right) >> 1
            if columns[i, middle] < taken[p]:
                left = middle + 1
            else:
                right = middle
        if left == columns.shape[1] or columns[i, left] != taken[p]:
            stray[p] = True
        elif same_class[p]:
            count[i, left] -= 1
        else:
            others[i, left] -= 1
    return stray


# Edges -----------------------------------------------------------------------------------------------------------

LOWEST_EDGE = -3e38  # below every score, and above the −infinity of what is hidden
FEW_EDGES = 32  # up to which a score is compared with each of them
SQUARE = 1 << 18  # elements of the rows of one side of a square of a tile that is looked at more closely
MANY_EDGES = 8  # beyond which the scores below all edges are better left out first, where these are many


@inner
def _not_below(value: float, exactly: bool, edges: Array) -> Any:
    """A number of the type of `edges` that is not below the value: the lowest, or one that is found faster."""
    if not exactly:
        return edges.dtype.type(value + (2.0**-23 * abs(value) + 1e-37))
    edge = edges.dtype.type(value)
    return edge if edge >= value else next_number(edge, edges.dtype.type(np.inf), edges.dtype.type(TINY_SINGLE))


@kernel
def build_edges(low: Array, high: Array, error: Array, closed: bool, edges: Array) -> int:
    """Turn the intervals of each row into ascending edges for scores that may be off by `error`.

    The slot of a score is the number of edges that it is not below. Slot 2g + 1 is between the edges of interval g,
    moved apart by the error: what is there may be in the interval. Slot 2g is surely above interval g − 1 and below
    interval g. Infinite edges end each row. Returns the largest number of edges in a row.

    Rounding a lower edge to its type changes no comparison with a score of that type, or opens one more. An upper
    edge is rounded up: to the next number of that type where slots are `closed`, so that nothing else is tied.
    """
    most = 0
    for i in range(low.shape[0]):
        last, n_edge = LOWEST_EDGE, 0
        for g in range(low.shape[1]):
            if low[i, g] == np.inf:
                break
            below, above = max(low[i, g] - error[i], last), high[i, g] + error[i]
            if not (below <= np.inf and above <= np.inf):
                raise ValueError("a bound on a cut is not a number")
            edges[i, 2 * g] = _not_below(below, True, edges) if closed else below
            edges[i, 2 * g + 1] = _not_below(max(above, below), closed, edges)
            last = np.float64(edges[i, 2 * g + 1])
            n_edge = 2 * g + 2
        edges[i, n_edge:] = np.inf
        most = max(most, n_edge)
    return most


@inner
def _bin(score: float, base: float, scale: float, bottom: float, one: float, top: float) -> int:
    """The bin of a score: it never decreases as the score grows, however the arithmetic rounds."""
    return int(min(max((score - base) * scale + one, bottom), top))


@kernel
def build_bins(edges: Array, closed: bool, base: Array, scale: Array, codes: Array) -> None:
    """Spread bins over the edges of each row; a bin's code is the lowest slot that a score in it can have.

    The top bit of a code is set if the slot needs a closer look: an edge is in the bin, or the slot is open. Bin 0 is
    below all edges and the last bin above all. A score in a later bin than an edge is not below that edge.
    """
    n_bin = codes.shape[1]
    look = codes.dtype.type(1 << (8 * codes.itemsize - 1))
    in_bin = np.empty(n_bin, np.int64)  # edges
    bottom, one, top = edges.dtype.type(0), edges.dtype.type(1), edges.dtype.type(n_bin - 1)
    for i in range(edges.shape[0]):
        start = 0
        while edges[i, start] == edges.dtype.type(LOWEST_EDGE):
            start += 1
        end = start
        while edges[i, end] < np.inf:
            end += 1
        base[i], scale[i] = bottom, one
        if end > start:
            span = np.float64(edges[i, end - 1]) - np.float64(edges[i, start])
            base[i] = edges[i, start]
            scale[i] = (n_bin - 3) / max(span, 1e-25)
        in_bin[:] = 0
        for slot in range(end):
            in_bin[_bin(edges[i, slot], base[i], scale[i], bottom, one, top) if slot >= start else 0] += 1
        slot = 0
        for k in range(n_bin):
            marked = in_bin[k] > 0 or (slot & 1 and not closed)
            codes[i, k] = codes.dtype.type(slot) | (look if marked else codes.dtype.type(0))
            slot += in_bin[k]


# Tiles -----------------------------------------------------------------------------------------------------------


@inner
def _hide(row: Array, hidden: Array, start: int) -> None:
    """Set to −infinity the scores of hidden columns, given in ascending order, in a row that begins at `start`."""
    left, right = 0, len(hidden)
    while left < right:
        middle = (left + right) >> 1
        if hidden[middle] < start:
            left = middle + 1
        else:
            right = middle
    while left < len(hidden) and hidden[left] < start + len(row):
        row[hidden[left] - start] = -np.inf
        left += 1


@inner
def _few_above(row: Array, edge: float) -> bool:
    """Whether most of a row is below an edge, to judge by its first scores."""
    n, sample = np.int64(0), min(len(row), 4 * LANES)
    for j in range(sample):
        n += np.int64(row[j] >= edge)
    return bool(2 * n < sample)


@inner
def _list_between(row: Array, n_item: int, low: float, high: float, places: Array, n: int) -> int:
    """Append the places of the scores between two edges to a list of length n."""
    for begin in range(0, n_item, LANES):
        n = append_between(row, begin, low, high, places, n)
    return n


@inner
def _take_above(
    row: Array, weight: Array, plain: bool, n_item: int, edge: float, places: Array, scores: Array, weights: Array
) -> int:
    """Copy the scores that are not below an edge, and their weights, and list their places; returns how many."""
    n = _list_between(row, n_item, edge, np.inf, places, 0)
    for q in range(n):
        scores[q] = row[np.uint64(places[q])]
    if not plain:
        for q in range(n):
            weights[q] = weight[np.uint64(places[q])]
    for q in range(n, n + LANES):
        scores[q] = -np.inf
    return n


@inner
def _count_by_edge(
    row: Array, weight: Array, n_item: int, edges: Array, n_edge: int, closed: bool, sums: Array, slots: Array,
    counts: Array, places: Array,
) -> int:  # fmt: skip
    """Count some scores by comparing all of them with each edge; returns how many places were listed as open.

    The slots of these are noted as well.
    """
    for k in range(0, n_edge, EDGES):
        some = edges[k], edges[min(k + 1, n_edge)], edges[min(k + 2, n_edge)], edges[min(k + 3, n_edge)]
        sums[k], sums[k + 1], sums[k + 2], sums[k + 3] = sum_above(row, weight, n_item, some)
    n, sums[n_edge] = 0, 0
    for slot in range(1, n_edge + 1):
        count = sums[slot - 1] - sums[slot]
        if closed or slot & 1 == 0:
            counts[slot] += count
        elif count:
            listed = n
            n = _list_between(row, n_item, edges[slot - 1], edges[slot], places, n)
            for q in range(listed, n):
                slots[places[q]] = slot
    return n


@inner
def _count_by_bin(
    row: Array, weight: Array, plain: bool, n_item: int, edges: Array, closed: bool, base: float, scale: float,
    codes: Array, slots: Array, looks: Array, counts: Array, places: Array,
) -> int:  # fmt: skip
    """Count some scores by the codes of their bins, after a closer look where the codes say so.

    Returns how many places were listed as open.
    """
    top, odd = edges.dtype.type(len(codes) - 1), np.uint32(0 if closed else 1)
    n_look = n = 0
    for begin in range(0, n_item, LANES):
        n_look = find_slots(row, begin, base, scale, top, codes, slots, looks, n_look)
    for begin in range(0, n_look, LANES):
        n = look_closer(row, looks, begin, n_look, edges, odd, slots, places, n)
    if plain:
        for j in range(n_item):
            counts[np.uint64(slots[j])] += np.int32(1)
    else:
        for j in range(n_item):
            counts[np.uint64(slots[j])] += weight[j]
    for q in range(n):
        counts[np.uint64(slots[np.uint64(places[q])])] -= weight[np.uint64(places[q])]
    return n


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


@kernel
def count_tile(
    tile: Array, start: int, weight: Array, plain: bool, hidden: Array,
    edges: Array, n_edge: int, closed: bool, base: Array, scale: Array, codes: Array, counts: Array, opened: Array,
) -> int:  # fmt: skip
    """Add the weight of every column that is not hidden to the slot of its score.

    The tile's columns begin at `start`. Open items, those in odd slots unless these are closed, are not counted but
    listed in `opened`, three rows: the row and the place in the tile, and the slot. Returns how many there are.
    `plain` says that all weights are 1. What is counted in slot 0 means nothing.
    """
    n_row, n_column = tile.shape
    if tile.strides[1] != tile.itemsize:
        raise ValueError("the scores of a row must lie side by side")
    room = n_column + 2 * LANES  # vectors are read and written whole
    near, places = np.empty(room, np.uint32), np.empty(room, np.uint32)
    slots, looks = np.empty(room, np.uint32), np.empty(room, np.uint32)
    scores, near_scores = np.empty(room, edges.dtype), np.empty(room, edges.dtype)
    weights, near_weights = np.empty(room, np.int32), np.empty(room, np.int32)
    for j in range(room):
        scores[j], weights[j], near_weights[j] = -np.inf, weight[j] if j < n_column else 0, 1
    sums = np.empty(FEW_EDGES + EDGES, np.int32)
    n_open = 0
    for i in range(n_row):
        if i + 1 < n_row:
            fetch_row(edges, i + 1)
            fetch_row(codes, i + 1)
            fetch_row(counts, i + 1)
        row, own, n_item = contiguous(tile[i]), weights, n_column
        _hide(row, hidden[i], start)
        few = n_edge > MANY_EDGES and _few_above(row, edges[i, 0])
        if n_column % LANES:
            for j in range(n_column):
                scores[j] = row[j]
            row = scores
        if few:
            n_item = _take_above(row, weights, plain, n_column, edges[i, 0], near, near_scores, near_weights)
            row, own = near_scores, near_weights
        if n_edge <= FEW_EDGES:
            n = _count_by_edge(row, own, n_item, edges[i], n_edge, closed, sums, slots, counts[i], places)
        else:
            n = _count_by_bin(
                row, own, plain, n_item, edges[i], closed, base[i], scale[i], codes[i], slots, looks, counts[i], places
            )
        for q in range(n):
            place = places[q]
            opened[0, n_open], opened[1, n_open] = i, near[place] if few else place
            opened[2, n_open] = slots[place]
            n_open += 1
    return n_open


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
def transpose(tile: Array, out: Array) -> None:
    """out = tileᵀ, in strips that stay in cache."""
    for begin in range(0, tile.shape[1], 16):
        end = min(begin + 16, tile.shape[1])
        for j in range(begin, end):
            for i in range(tile.shape[0]):
                out[j, i] = tile[i, j]


# Single items ----------------------------------------------------------------------------------------------------


@kernel
def place_pairs(
    rows: Array, guess: Array, scores: Array, errors: Array, weights: Array, low: Array, high: Array, each: int,
    counts: Array, cuts: Array,
) -> int:  # fmt: skip
    """Count single items between the cuts of their rows, `each` cuts to an interval.

    `guess` is an interval near which an item may be, −1 if none is known. Where an item may lie in an interval its
    pair is kept: cuts[0, p] becomes its number, and between cuts[1, p] and cuts[2, p] is the number of cuts that it
    is above. Returns how many there are.
    """
    n_interval, n_kept = low.shape[1], 0
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
            cuts[0, n_kept], cuts[1, n_kept], cuts[2, n_kept] = p, surely * each, possible * each
            n_kept += 1
    return n_kept


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
