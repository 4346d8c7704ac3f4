"""Loops of the counting pass that Numba compiles: relevant items in groups, edges, and the counting of tiles.

No loop here decides a comparison by a rounded value. `count_tile` finds the slot of each score between edges that
`build_edges` has moved apart by the error bound, and lists what falls between the two edges of one threshold.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from deadheat._compile import inner, kernel

Array = NDArray[Any]

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


@kernel
def sort_rows(order: Array, columns: Array, count: Array, others: Array, score: Array, bound: Array) -> Array:
    """Put the entries of each row in the given order, in place; where a score is surely above all before it.

    Entries with a count of 0 are padding and come last.
    """
    n_row, width = order.shape
    starts = np.zeros((n_row, width), np.bool_)
    kept = np.empty((3, width), np.int64)
    scores, bounds = np.empty(width), np.empty(width)
    for i in range(n_row):
        for j in range(width):
            entry = order[i, j]
            kept[0, j], kept[1, j], kept[2, j] = columns[i, entry], count[i, entry], others[i, entry]
            scores[j], bounds[j] = score[i, entry], bound[i, entry]
        n_entry = 0
        for j in range(width):
            columns[i, j], count[i, j], others[i, j] = kept[0, j], kept[1, j], kept[2, j]
            score[i, j], bound[i, j] = scores[j], bounds[j]
            n_entry += kept[1, j] > 0
        lowest = np.inf  # of the entries from j on
        for j in range(n_entry - 1, -1, -1):
            lowest = min(lowest, scores[j] - bounds[j])
            bounds[j], scores[j] = lowest, scores[j] + bounds[j]
        highest = -np.inf  # of the entries before j
        for j in range(n_entry):
            starts[i, j] = j == 0 or highest < bounds[j]
            highest = max(highest, scores[j])
    return starts


@kernel
def number_groups(starts: Array, count: Array, group: Array, first: Array, total: Array) -> None:
    """Number the groups of each row, note the first entry of each, and add up its counts."""
    for i in range(starts.shape[0]):
        number = -1
        for j in range(starts.shape[1]):
            if count[i, j] == 0:
                break
            if starts[i, j]:
                number += 1
                first[i, number] = j
            group[i, j] = number
            total[i, number] += count[i, j]


@kernel
def all_apart(score: Array, reach: Array, n_entry: Array) -> bool:
    """Whether ascending scores are surely different in every row, if each may be off by the row's reach."""
    for i in range(score.shape[0]):
        apart = True
        for j in range(1, n_entry[i]):
            apart &= score[i, j] - reach[i] > score[i, j - 1] + reach[i]
        if not apart:
            return False
    return True


@kernel
def exact_cuts(score: Array, bound: Array, n_group: Array, low: Array, high: Array) -> None:
    """Where the threshold of each group lies: between `low` and `high`; infinite in padding.

    An exact score is the threshold itself: `low`, and `high` is the next number.
    """
    for i in range(score.shape[0]):
        for g in range(score.shape[1]):
            value, reach = score[i, g], bound[i, g]
            if g >= n_group[i]:
                low[i, g] = high[i, g] = np.inf
            elif reach == 0:
                low[i, g], high[i, g] = value, np.nextafter(value, np.inf)
            else:
                slack = 2.0**-51 * (abs(value) + reach) + 1e-300
                low[i, g], high[i, g] = (value - reach) - slack, (value + reach) + slack


@kernel
def make_ascending(low: Array, high: Array) -> None:
    """Widen bounds on ascending numbers so that both bounds ascend, in place, row by row."""
    for i in range(low.shape[0]):
        for c in range(1, low.shape[1]):
            high[i, c] = max(high[i, c], high[i, c - 1])
        for c in range(low.shape[1] - 1, 0, -1):
            low[i, c - 1] = min(low[i, c - 1], low[i, c])


# Edges -----------------------------------------------------------------------------------------------------------

LOWEST_EDGE = -3e38  # below every score, and above the −infinity of what is hidden
FEW_EDGES = 24  # up to which a score is compared with each of them


@inner
def _not_below(value: float, exactly: bool, edges: Array) -> Any:
    """A number of the type of `edges` that is not below the value: the lowest, or one that is found faster."""
    edge = edges.dtype.type(value)
    if edge >= value:
        return edge
    if exactly:
        return np.nextafter(edge, edges.dtype.type(np.inf))
    return edges.dtype.type(value + (2.0**-23 * abs(value) + 1e-37))


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
        filled = 0
        for slot in range(end):
            bin_of_edge = _bin(edges[i, slot], base[i], scale[i], bottom, one, top) if slot >= start else 0
            mark = look if slot & 1 and not closed else codes.dtype.type(0)
            codes[i, filled : bin_of_edge + 1] = codes.dtype.type(slot) | mark
            filled = bin_of_edge + 1
            codes[i, bin_of_edge] |= look
        mark = look if end & 1 and not closed else codes.dtype.type(0)
        codes[i, filled:] = codes.dtype.type(end) | mark


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
def _list_nonzero(bins: Array, near: Array) -> int:
    """The places of the entries that are not 0, found sixteen at a time where all are."""
    n = np.uint64(0)
    for begin in range(0, len(bins) - 15, 16):
        some = np.uint32(0)
        for j in range(16):
            some |= bins[begin + j]
        if some:
            for j in range(begin, begin + 16):
                near[n] = j
                n += np.uint64(bins[j] > 0)
    for j in range(len(bins) - len(bins) % 16, len(bins)):
        near[n] = j
        n += np.uint64(bins[j] > 0)
    return n


@inner
def _above(row: Array, weight: Array, plain: bool, edge: float) -> int:
    """The weight of the scores that are not below an edge."""
    n = np.int32(0)
    if plain:
        for j in range(len(row)):
            n += np.int32(row[j] >= edge)
    else:
        for j in range(len(row)):
            n += weight[j] if row[j] >= edge else np.int32(0)
    return n


@inner
def _between(row: Array, low: float, high: float, interval: int, places: Array, n: int) -> int:
    """Append the places of the scores between two edges to a list of length n."""
    for begin in range(0, len(row), 64):
        end = min(begin + 64, len(row))
        some = np.int32(0)
        for j in range(begin, end):
            some += np.int32((row[j] >= low) & (row[j] < high))
        if some:
            for j in range(begin, end):
                if row[j] >= low and row[j] < high:
                    places[n] = (j << 32) | interval
                    n += 1
    return n


@inner
def _count_by_edge(
    row: Array, weight: Array, plain: bool, edges: Array, n_edge: int, closed: bool, counts: Array, places: Array
) -> int:
    """Count a row by comparing all scores with each edge; returns how many places were listed as open."""
    n = 0
    above = _above(row, weight, plain, edges[0]) if n_edge else 0
    for slot in range(1, n_edge + 1):
        beyond = _above(row, weight, plain, edges[slot]) if slot < n_edge else 0
        if closed or slot & 1 == 0:
            counts[slot] += above - beyond
        elif above > beyond:
            n = _between(row, edges[slot - 1], edges[slot], slot >> 1, places, n)
        above = beyond
    return n


@inner
def _count_by_bin(
    row: Array, weight: Array, edges: Array, closed: bool, codes: Array, bins: Array, some: Array, n_some: int,
    counts: Array, places: Array,
) -> int:  # fmt: skip
    """Count some places of a row by the codes of their bins, then look closer where the codes say so.

    `some` lists the places, or all count if there are `len(row)` of them. Returns how many were listed as open.
    """
    shift = np.uint64(8 * codes.itemsize - 1)
    slot_of = (np.uint64(1) << shift) - np.uint64(1)
    opens = np.uint64(0 if closed else 1)
    n_look = np.uint64(0)
    everything = n_some == len(row)
    for q in range(n_some):
        j = np.uint64(q) if everything else np.uint64(some[q])
        code = np.uint64(codes[np.uint64(bins[j])])
        counts[code & slot_of] += weight[j]
        some[n_look] = j
        n_look += code >> shift
    n = np.uint64(0)
    for q in range(n_look):
        j = np.uint64(some[q])
        score = row[j]
        seen = np.uint64(codes[np.uint64(bins[j])]) & slot_of
        slot = seen + np.uint64(score >= edges[seen])
        slot += np.uint64(score >= edges[slot])
        while score >= edges[slot]:
            slot += np.uint64(1)
        is_open = slot & opens
        counts[seen] -= weight[j]
        counts[slot] += weight[j] if is_open == 0 else np.int32(0)
        places[n] = (j << np.uint64(32)) | (slot >> np.uint64(1))
        n += is_open
    return n


@kernel
def count_tile(
    tile: Array, start: int, weight: Array, plain: bool, hidden: Array,
    edges: Array, n_edge: int, closed: bool, base: Array, scale: Array, codes: Array, counts: Array, opened: Array,
) -> int:  # fmt: skip
    """Add the weight of every column that is not hidden to the slot of its score.

    The tile's columns begin at `start`. Open items, those in odd slots unless these are closed, are not counted but
    listed in `opened`, three rows: the row and the place in the tile, and the interval. Returns how many there are. `plain` says that
    all weights are 1.
    """
    n_column = tile.shape[1]
    bins, some = np.empty(n_column, np.uint32), np.empty(n_column + 1, np.int64)
    places = np.empty(n_column + 1, np.int64)
    bottom, one, top = edges.dtype.type(0), edges.dtype.type(1), edges.dtype.type(codes.shape[1] - 1)
    n_open = 0
    for i in range(tile.shape[0]):
        row = tile[i]
        _hide(row, hidden[i], start)
        if n_edge <= FEW_EDGES:
            n = _count_by_edge(row, weight, plain, edges[i], n_edge, closed, counts[i], places)
        else:
            origin, by, n_some = base[i], scale[i], 0
            for j in range(n_column):
                bins[j] = np.uint32(_bin(row[j], origin, by, bottom, one, top))
                n_some += bins[j] > 0
            if n_some < n_column >> 2 and edges[i, 0] > LOWEST_EDGE:  # most are beyond all thresholds: list the others
                n_some = _list_nonzero(bins, some)
            else:
                n_some = n_column
            n = _count_by_bin(row, weight, edges[i], closed, codes[i], bins, some, n_some, counts[i], places)
        for q in range(n):
            opened[0, n_open], opened[1, n_open], opened[2, n_open] = i, places[q] >> 32, places[q] & 0xFFFFFFFF
            n_open += 1
    return n_open


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
        surely, end = np.int64(guess[p]), n_interval
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
        elif each == 2 and errors[p] == 0 and high[i, surely] == np.nextafter(low[i, surely], np.inf):
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
