"""Edges, moved apart by the error bound, between which scores are counted, and bins to find a score's place.

`tiles.count_tile` finds the slot of each score between edges that `build_edges` has moved apart, and lists what falls
between the two edges of one threshold.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from deadheat.support.arrays import Array
from deadheat.support.compiling import inner, kernel
from deadheat.ties.kernels import next_number

TINY_SINGLE = np.finfo(np.float32).tiny  # the smallest normal number
LOWEST_EDGE = -3e38  # below every score, and above the −infinity of what is left out


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


def n_bins(n_edge: int) -> int:
    """How many bins to spread over so many edges: about three each, as long as a row of them stays in cache."""
    return 1 << int(np.clip(np.ceil(np.log2(3 * max(1, n_edge))), 9, 12))


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
    marked = codes.dtype.type(1 << (8 * codes.itemsize - 1))
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
            crowded = in_bin[k] > 0 or (slot & 1 and not closed)
            codes[i, k] = codes.dtype.type(slot) | (marked if crowded else codes.dtype.type(0))
            slot += in_bin[k]
