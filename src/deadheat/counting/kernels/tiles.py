"""The counting of a tile: the slot of each score among its row's edges, and the places of those that are open."""

from __future__ import annotations

import numpy as np

from deadheat.counting.kernels.columns import first_not_below
from deadheat.support.arrays import Array
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

FEW_EDGES = 32  # up to which a score is compared with each of them
MANY_EDGES = 8  # beyond which the scores below all edges are better left out first, where these are many


@inner
def _leave_out(row: Array, excluded: Array, start: int) -> None:
    """Set to −infinity the scores of excluded columns, given in ascending order, in a row that begins at `start`."""
    place = first_not_below(excluded, start)
    while place < len(excluded) and excluded[place] < start + len(row):
        row[excluded[place] - start] = -np.inf
        place += 1


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
        four = edges[k], edges[min(k + 1, n_edge)], edges[min(k + 2, n_edge)], edges[min(k + 3, n_edge)]
        sums[k], sums[k + 1], sums[k + 2], sums[k + 3] = sum_above(row, weight, n_item, four)
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


@kernel
def count_tile(
    tile: Array, start: int, weight: Array, plain: bool, excluded_columns: Array,
    edges: Array, n_edge: int, closed: bool, base: Array, scale: Array, codes: Array, counts: Array, opened: Array,
) -> int:  # fmt: skip
    """Add the weight of every column that is not excluded to the slot of its score.

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
        _leave_out(row, excluded_columns[i], start)
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


@kernel
def transpose(tile: Array, out: Array) -> None:
    """out = tileᵀ, in strips that stay in cache."""
    for begin in range(0, tile.shape[1], 16):
        end = min(begin + 16, tile.shape[1])
        for j in range(begin, end):
            for i in range(tile.shape[0]):
                out[j, i] = tile[i, j]
