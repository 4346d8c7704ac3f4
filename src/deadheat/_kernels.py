"""Loops that Numba compiles: hashing, exact sums, tiles of distances, and the counting of tiles.

No loop here decides a comparison by a rounded value: `count_tile` sorts scores into the slots between edges that
the caller has moved apart by the error bound, and reports what falls between the two edges of one threshold.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from deadheat._compile import inner, kernel

Array = NDArray[Any]

# Exact sums ------------------------------------------------------------------------------------------------------

LIMBS = 140  # 32 bits each: products of float64 numbers span 2^-2148 to 2^2048, and a sum has room for 2^31 of them
LOWEST = 1074  # every finite float64 number is an integer times 2^-1074


@inner
def _split(bits: int) -> tuple[int, int]:
    """From the bits of a float64 number, an integer and a place with number = integer·2^(place − 1074)."""
    exponent = (bits >> 52) & 0x7FF
    whole = bits & 0xFFFFFFFFFFFFF
    if exponent > 0:
        whole |= 1 << 52
        exponent -= 1
    return (-whole if bits < 0 else whole), exponent


@inner
def _add(limbs: Array, value: int, place: int) -> None:
    """Add value·2^place, |value| < 2^61, to the sum."""
    limb, shift = place >> 5, place & 31
    low = (value & 0x7FFFFFFF) << shift
    high = (value >> 31) << shift
    limbs[limb] += (low & 0xFFFFFFFF) + ((high & 1) << 31)
    limbs[limb + 1] += (low >> 32) + ((high >> 1) & 0xFFFFFFFF)
    limbs[limb + 2] += high >> 33


@inner
def _add_product(limbs: Array, a: int, b: int, place: int) -> None:
    """Add a·b·2^place, each of a and b below 2^53 in size, to the sum."""
    a_high, a_low = a >> 27, a & 0x7FFFFFF  # a = high·2^27 + low, so that every partial product is below 2^55
    b_high, b_low = b >> 27, b & 0x7FFFFFF
    _add(limbs, a_low * b_low, place)
    _add(limbs, a_high * b_low + a_low * b_high, place + 27)
    _add(limbs, a_high * b_high, place + 54)


@inner
def _carry(limbs: Array, out: Array) -> None:
    """Spread the carries; `out` is the two's complement of the sum, least significant limb first."""
    carry = np.int64(0)
    for k in range(LIMBS):
        total = limbs[k] + carry
        out[k] = np.uint32(total & 0xFFFFFFFF)
        carry = total >> 32


@kernel
def exact_dots(left: Array, right: Array) -> Array:
    """Exact row-wise dot products, float64, in units of 2^-2148."""
    out = np.empty((left.shape[0], LIMBS), np.uint32)
    limbs = np.empty(LIMBS, np.int64)
    for i in range(left.shape[0]):
        limbs[:] = 0
        a_bits, b_bits = left[i].view(np.int64), right[i].view(np.int64)
        for j in range(left.shape[1]):
            a, place_a = _split(a_bits[j])
            b, place_b = _split(b_bits[j])
            if a != 0 and b != 0:
                _add_product(limbs, a, b, place_a + place_b)
        _carry(limbs, out[i])
    return out


@kernel
def exact_absolute_differences(left: Array, right: Array) -> Array:
    """Exact row-wise sums of |left − right|, float64, in units of 2^-2148."""
    out = np.empty((left.shape[0], LIMBS), np.uint32)
    limbs = np.empty(LIMBS, np.int64)
    for i in range(left.shape[0]):
        limbs[:] = 0
        a_bits, b_bits = left[i].view(np.int64), right[i].view(np.int64)
        for j in range(left.shape[1]):
            sign = 1 if left[i, j] >= right[i, j] else -1
            a, place_a = _split(a_bits[j])
            b, place_b = _split(b_bits[j])
            _add(limbs, sign * a, place_a + LOWEST)
            _add(limbs, -sign * b, place_b + LOWEST)
        _carry(limbs, out[i])
    return out


# Rows ------------------------------------------------------------------------------------------------------------


@inner
def _pivot(row: Array) -> float:
    """The size of the first element that is not zero, or 1 where all are."""
    for value in row:
        if value != 0:
            return abs(np.float64(value))
    return 1.0


@kernel
def hash_rows(raw: Array, directions: bool) -> Array:
    """A 64-bit hash of every row; with `directions`, the same for rows that are positive multiples of each other."""
    out = np.empty(raw.shape[0], np.uint64)
    one = np.empty(1, np.float64)
    word = one.view(np.uint64)
    for i in range(raw.shape[0]):
        pivot = _pivot(raw[i]) if directions else 1.0
        state = np.uint64(0xCBF29CE484222325)
        for j in range(raw.shape[1]):
            one[0] = np.float64(raw[i, j]) / pivot + 0.0
            state = (state ^ word[0]) * np.uint64(0x9E3779B97F4A7C15)
            state ^= state >> np.uint64(29)
        out[i] = state
    return out


@inner
def _same_row(a: Array, b: Array) -> bool:
    for j in range(len(a)):  # noqa: SIM110
        if a[j] != b[j]:
            return False
    return True


@inner
def _same_direction(a: Array, b: Array, limbs: Array, out: Array) -> bool:
    """Whether a·pivot(b) = b·pivot(a) exactly, element by element."""
    if _same_row(a, b):
        return True
    pair = np.empty(2, np.float64)
    bits = pair.view(np.int64)
    pair[0], pair[1] = _pivot(a), _pivot(b)
    pivot_a, place_pivot_a = _split(bits[0])
    pivot_b, place_pivot_b = _split(bits[1])
    for j in range(len(a)):
        if np.float64(a[j]) / pair[0] != np.float64(b[j]) / pair[1]:
            return False
    for j in range(len(a)):
        limbs[:] = 0
        one = np.array([np.float64(a[j]), np.float64(b[j])]).view(np.int64)
        whole_a, place_a = _split(one[0])
        whole_b, place_b = _split(one[1])
        _add_product(limbs, whole_a, pivot_b, place_a + place_pivot_b)
        _add_product(limbs, -whole_b, pivot_a, place_b + place_pivot_a)
        _carry(limbs, out)
        if out.any():
            return False
    return True


@kernel
def same_rows(raw: Array, other: Array, directions: bool) -> Array:
    """Whether row i equals row other[i] exactly, or is a positive multiple of it."""
    result = np.empty(raw.shape[0], np.bool_)
    limbs, out = np.empty(LIMBS, np.int64), np.empty(LIMBS, np.uint32)
    for i in range(raw.shape[0]):
        if i == other[i]:
            result[i] = True
        elif directions:
            result[i] = _same_direction(raw[i], raw[other[i]], limbs, out)
        else:
            result[i] = _same_row(raw[i], raw[other[i]])
    return result


@kernel
def row_sums(raw: Array, scale: float) -> tuple[Array, Array]:
    """Sums of squares and of absolute values of the rows divided by `scale`."""
    squares, absolutes = np.empty(raw.shape[0]), np.empty(raw.shape[0])
    for i in range(raw.shape[0]):
        square, absolute = np.float64(0), np.float64(0)
        for j in range(raw.shape[1]):
            value = np.float64(raw[i, j]) / scale
            square += value * value
            absolute += abs(value)
        squares[i], absolutes[i] = square, absolute
    return squares, absolutes


@kernel
def take_rows(raw: Array, index: Array, factor: Array, out: Array) -> None:
    """out[i] = raw[index[i]] · factor[index[i]], multiplied in float64 and rounded to the type of `out`."""
    for i in range(len(index)):
        row, by, target = raw[index[i]], factor[index[i]], out[i]
        for j in range(raw.shape[1]):
            target[j] = np.float64(row[j]) * by


@kernel
def pair_dots(left: Array, left_factor: Array, rows: Array, right: Array, right_factor: Array, columns: Array) -> Array:
    """Dot products in float64 of row rows[p] on the left with row columns[p] on the right, each times its factor."""
    out = np.empty(len(rows))
    dim = left.shape[1]
    terms = np.empty(dim)
    for p in range(len(rows)):
        a, by_a = left[rows[p]], left_factor[rows[p]]
        b, by_b = right[columns[p]], right_factor[columns[p]]
        for j in range(dim):
            terms[j] = (a[j] * by_a) * (b[j] * by_b)
        n = dim
        while n > 1:  # fold the terms in half until one is left: both loops are vector loops
            half = n >> 1
            for j in range(half):
                terms[j] += terms[n - half + j]
            n -= half
        out[p] = terms[0]
    return out


@inner
def _gcd(a: int, b: int) -> int:
    while b:
        a, b = b, a % b
    return a


@kernel
def integer_units(raw: Array, units: Array, limit: float) -> float:
    """Find numbers of which every element is a small integer multiple: one for all (len 1) or one a row.

    Fills `units` and returns the largest multiple, or infinity as soon as one exceeds `limit`.
    """
    largest_of_all = 0.0
    one = np.empty(1, np.float64)
    word = one.view(np.int64)
    odd, place, largest = 0, 0, 0.0
    for i in range(raw.shape[0]):
        if len(units) > 1:
            odd, place, largest = 0, 0, 0.0
        for j in range(raw.shape[1]):
            if raw[i, j] == 0:
                continue
            one[0] = abs(np.float64(raw[i, j]))
            largest = max(largest, one[0])
            whole, low = _split(word[0])
            while whole & 1 == 0:
                whole >>= 1
                low += 1
            place = low if odd == 0 else min(place, low)
            if odd != 1:
                odd = _gcd(whole, odd)
        unit: float = np.float64(odd)
        for _ in range(abs(place - LOWEST)):
            unit = unit * 2.0 if place > LOWEST else unit / 2.0
        if odd == 0:
            unit = 1.0
        if largest / unit > limit:
            return np.inf
        largest_of_all = largest / unit if len(units) == 1 else max(largest_of_all, largest / unit)
        units[i if len(units) > 1 else 0] = unit
    return largest_of_all


# Tiles of scores -------------------------------------------------------------------------------------------------


@kernel
def signed_squares(products: Array, squares: Array, out: Array) -> None:
    """out[i, j] = a·|a| / squares[j] for the product a = products[i, j]: cosine up to the query, sign kept."""
    for i in range(products.shape[0]):
        for j in range(products.shape[1]):
            a = np.float64(products[i, j])
            out[i, j] = a * abs(a) / squares[j]


@kernel
def minus_absolute_differences(left: Array, right: Array, out: Array) -> None:
    """out[i, j] = −Σ |left[i] − right[:, j]|, with the gallery given by columns so that the loop over j is a vector."""
    for i in range(left.shape[0]):
        row = out[i]
        row[:] = 0
        for k in range(left.shape[1]):
            value = left[i, k]
            column = right[k]
            for j in range(out.shape[1]):
                row[j] -= abs(value - column[j])


@kernel
def minus_differing_bits(left: Array, right: Array, out: Array) -> None:
    """out[i, j] = −(number of bits in which left[i] and right[j] differ)."""
    for i in range(left.shape[0]):
        for j in range(right.shape[0]):
            count = np.uint64(0)
            for k in range(left.shape[1]):
                x = left[i, k] ^ right[j, k]
                x = x - ((x >> np.uint64(1)) & np.uint64(0x5555555555555555))
                x = (x & np.uint64(0x3333333333333333)) + ((x >> np.uint64(2)) & np.uint64(0x3333333333333333))
                x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
                count += (x * np.uint64(0x0101010101010101)) >> np.uint64(56)
            out[i, j] = -np.float64(count)


# Counting --------------------------------------------------------------------------------------------------------

LOWEST_EDGE = -3e38  # below every score, and above the −infinity of what is hidden


@kernel
def make_ascending(low: Array, high: Array) -> None:
    """Widen bounds on ascending numbers so that both bounds ascend, in place, row by row."""
    for i in range(low.shape[0]):
        for c in range(1, low.shape[1]):
            high[i, c] = max(high[i, c], high[i, c - 1])
        for c in range(low.shape[1] - 1, 0, -1):
            low[i, c - 1] = min(low[i, c - 1], low[i, c])


@kernel
def build_slots(low: Array, high: Array, error: Array, edges: Array, regions: Array) -> int:
    """Turn the cuts of each row into edges for scores that may be off by `error`.

    Cut c of a row lies between low[i, c] and high[i, c], both ascending. An item with score s is surely above it if
    s >= high + error and surely not if s < low − error. `edges` becomes the ascending list of these numbers, ended
    by infinity, rounded up to its type (which changes no comparison); the slot of a score is the number of edges
    that it is not below, and `regions[i, slot]` is the number of cuts that an item in this slot is above, or −1
    where that is open. Returns the largest number of slots in a row.
    """
    n_cut = low.shape[1]
    most = 0
    top = edges.dtype.type(np.inf)
    for i in range(low.shape[0]):
        possible = surely = slot = 0
        regions[i, 0] = 0
        while (surely < n_cut and high[i, surely] < np.inf) or (possible < n_cut and low[i, possible] < np.inf):
            edge = np.inf
            if possible < n_cut:
                edge = low[i, possible] - error[i]
            if surely < n_cut:
                edge = min(edge, high[i, surely] + error[i])
            if np.isnan(edge):
                raise ValueError("a bound on a cut is not a number")
            edge = max(edge, LOWEST_EDGE)
            while possible < n_cut and low[i, possible] - error[i] <= edge:
                possible += 1
            while surely < n_cut and high[i, surely] + error[i] <= edge:
                surely += 1
            edges[i, slot] = edge
            if edges[i, slot] < edge:
                edges[i, slot] = np.nextafter(edges[i, slot], top)
            slot += 1
            regions[i, slot] = surely if surely == possible else -1
        edges[i, slot] = top
        most = max(most, slot + 1)
    return most


@inner
def _bin(score: float, base: float, scale: float, bottom: float, one: float, top: float) -> int:
    """The bin of a score: it never decreases as the score grows, however the arithmetic rounds."""
    return int(min(max((score - base) * scale + one, bottom), top))


@kernel
def build_bins(edges: Array, base: Array, scale: Array, first: Array) -> None:
    """Spread bins over the edges of each row; first[i, b] is the lowest slot that a score in bin b can have.

    Bin 0 is below all edges and the last bin above all. A score in a later bin than an edge is not below that edge.
    """
    n_bin = first.shape[1]
    bottom, one, top = edges.dtype.type(0), edges.dtype.type(1), edges.dtype.type(n_bin - 1)
    for i in range(edges.shape[0]):
        start = 1 if edges[i, 0] == edges.dtype.type(LOWEST_EDGE) else 0
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
            while filled <= bin_of_edge:
                first[i, filled] = slot
                filled += 1
        while filled < n_bin:
            first[i, filled] = end
            filled += 1


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
def _slot(score: Any, slot: Any, edge: Array) -> Any:
    """The number of edges that a score is not below, given a number that it is not below for certain."""
    while score >= edge[slot]:
        slot += np.uint64(1)
    return slot


@inner
def _list_nonzero(bins: Array, near: Array) -> int:
    """The places of the entries that are not 0, found sixteen at a time where all are."""
    n = 0
    for begin in range(0, len(bins) - 15, 16):
        some = np.uint32(0)
        for j in range(16):
            some |= bins[begin + j]
        if some:
            for j in range(begin, begin + 16):
                near[n] = j
                n += bins[j] > 0
    for j in range(len(bins) - len(bins) % 16, len(bins)):
        near[n] = j
        n += bins[j] > 0
    return n


@kernel
def count_tile(
    tile: Array,
    columns: Array,
    weight: Array,
    hidden: Array,
    edges: Array,
    regions: Array,
    base: Array,
    scale: Array,
    first: Array,
    slots: Array,
    open_rows: Array,
    open_columns: Array,
    n_open: int,
) -> int:
    """Add the weight of every column that is not hidden to the slot of its score.

    Appends the items whose slot leaves something open to the list of `n_open` such items, and returns its new length.
    """
    n_column = tile.shape[1]
    bins = np.empty(n_column, np.uint32)
    near = np.empty(n_column, np.int64)
    weights = weight[columns[0] : columns[0] + n_column]
    bottom, one, top = edges.dtype.type(0), edges.dtype.type(1), edges.dtype.type(first.shape[1] - 1)
    for i in range(tile.shape[0]):
        row, edge, region, count, start = tile[i], edges[i], regions[i], slots[i], first[i]
        _hide(row, hidden[i], columns[0])
        origin, by = base[i], scale[i]
        n_near = 0
        for j in range(n_column):
            bins[j] = np.uint32(_bin(row[j], origin, by, bottom, one, top))
            n_near += bins[j] > 0
        if n_near < n_column >> 2:  # most items are farther than the farthest relevant one: look at the others only
            n_near = _list_nonzero(bins, near)
            for k in range(n_near):
                j = near[k]
                slot = _slot(row[j], np.uint64(start[np.uint64(bins[j])]), edge)
                count[slot] += weights[j]
                if region[slot] < 0:
                    open_rows[n_open], open_columns[n_open] = i, columns[0] + j
                    n_open += 1
            continue
        for j in range(n_column):
            slot = _slot(row[j], np.uint64(start[np.uint64(bins[j])]), edge)
            count[slot] += weights[j]
            if region[slot] < 0:
                open_rows[n_open], open_columns[n_open] = i, columns[0] + j
                n_open += 1
    return n_open


@kernel
def add_slots(slots: Array, regions: Array, counts: Array) -> None:
    """Add what was counted in slots to the regions that they are; open slots were listed instead."""
    for i in range(slots.shape[0]):
        for slot in range(slots.shape[1]):
            if slots[i, slot] and regions[i, slot] >= 0:
                counts[i, regions[i, slot]] += slots[i, slot]


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
def exact_cuts(score: Array, bound: Array, first: Array, low: Array, high: Array) -> None:
    """Two cuts a group at the score of its first entry: "at least as close" and "closer"; infinite in padding."""
    for i in range(first.shape[0]):
        for g in range(first.shape[1]):
            j = first[i, g]
            if j < 0:
                low[i, 2 * g] = low[i, 2 * g + 1] = high[i, 2 * g] = high[i, 2 * g + 1] = np.inf
                continue
            if bound[i, j] == 0:  # an exact score: both cuts are known, and differ
                low[i, 2 * g] = high[i, 2 * g] = score[i, j]
                low[i, 2 * g + 1] = high[i, 2 * g + 1] = np.nextafter(score[i, j], np.inf)
            else:
                low[i, 2 * g] = low[i, 2 * g + 1] = np.nextafter(score[i, j] - bound[i, j], -np.inf)
                high[i, 2 * g] = high[i, 2 * g + 1] = np.nextafter(score[i, j] + bound[i, j], np.inf)


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
def collect_groups(n_group: Array, relevant: Array, within: Array, nearer: Array, out: Array) -> None:
    """From counts between cuts, farthest first, to profile rows (4, all groups), nearest first.

    `within` counts irrelevant items by the number of cuts "tied or closer" that they are above, `nearer` by the cuts
    "closer". Where the cuts of the two kinds take turns in one sequence, both are the same array, twice as wide.
    """
    step = 1 if within.shape[1] == relevant.shape[1] + 1 else 2
    place = 0
    for i in range(len(n_group)):
        seen = above_within = above_nearer = 0
        in_within, in_nearer = within.shape[1] - 1, nearer.shape[1] - 1
        for g in range(n_group[i] - 1, -1, -1):
            while in_within > step * g:
                above_within += within[i, in_within]
                in_within -= 1
            while in_nearer > step * g + step - 1:
                above_nearer += nearer[i, in_nearer]
                in_nearer -= 1
            out[0, place] = above_nearer + seen
            out[1, place] = seen
            out[2, place] = above_within - above_nearer + relevant[i, g]
            out[3, place] = relevant[i, g]
            seen += relevant[i, g]
            place += 1


@kernel
def spread_groups(queries: Array, n_group: Array, block: Array, offsets: Array, out: Array) -> None:
    """Copy the profile rows of a block's queries to where they belong."""
    start = 0
    for i in range(len(queries)):
        target = offsets[queries[i]]
        for k in range(n_group[i]):
            for which in range(4):
                out[which, target + k] = block[which, start + k]
        start += n_group[i]


@kernel
def place_pairs(
    rows: Array, scores: Array, errors: Array, weights: Array, low: Array, high: Array, counts: Array, ranges: Array
) -> None:
    """Count single items between the cuts of their rows; ranges[p] says between which cuts pair p is still open."""
    n_cut = low.shape[1]
    for p in range(len(rows)):
        i = rows[p]
        surely, end = 0, n_cut
        while surely < end:  # the first cut that the item is not surely above
            middle = (surely + end) >> 1
            if scores[p] - errors[p] >= high[i, middle]:
                surely = middle + 1
            else:
                end = middle
        possible = surely
        while possible < n_cut and scores[p] + errors[p] >= low[i, possible]:
            possible += 1  # to the first cut that the item is surely not above
        ranges[p, 0], ranges[p, 1] = surely, possible
        if surely == possible:
            counts[i, surely] += weights[p]
