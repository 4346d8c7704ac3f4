"""The edges between which the scores of one level are counted: the cuts, moved apart by the error of the scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deadheat.counting.kernels.edges import build_bins, build_edges
from deadheat.counting.kernels.tiles import FEW_EDGES
from deadheat.distances import Distance
from deadheat.ties import Cuts

Int64 = NDArray[np.int64]
Float64 = NDArray[np.float64]


@dataclass(frozen=True)
class Edges:
    """Edges for the scores of one level in one band, and bins to find a score's place among them."""

    edges: NDArray[Any]
    n_edge: int
    closed: bool  # whether the scores are exact, so that what is between two edges is tied
    base: NDArray[Any]
    scale: NDArray[Any]
    codes: NDArray[Any]
    error: Float64  # of each row's scores
    recheck_error: Float64  # and of those at a closer look

    @classmethod
    def of(cls, distance: Distance, cuts: Cuts, queries: Int64, level: int, band: int) -> Edges:
        edges, n_edge, closed, error = edges_of(distance, cuts, queries, level, band)
        few = n_edge <= FEW_EDGES
        n_bin = 1 if few else n_bins(n_edge)
        codes = np.empty((len(edges), n_bin), dtype=np.uint16 if n_edge < 2**15 else np.uint32)
        base, scale = np.empty((2, len(edges)), dtype=edges.dtype)
        if not few:
            build_bins(edges, closed, base, scale, codes)
        rechecks = level == 0 and distance.rechecks
        recheck_error = distance.recheck_bound(queries, distance.columns.bands[band]) if rechecks else error
        return cls(edges, n_edge, closed, base, scale, codes, error, recheck_error)


def edges_of(
    distance: Distance, cuts: Cuts, queries: Int64, level: int, band: int
) -> tuple[NDArray[Any], int, bool, Float64]:
    """Edges for the scores of a level in a band, how many a row has at most, whether closed, and the scores' errors."""
    n_row, n_interval = cuts.low.shape
    error = distance.bound(level, queries, distance.columns.bands[band])
    edges = np.empty((n_row, 2 * n_interval + 1), dtype=distance.levels[level].dtype)
    closed = distance.levels[level].exact and cuts.each == 2
    return edges, build_edges(cuts.low, cuts.high, error, closed, edges), closed, error


def n_bins(n_edge: int) -> int:
    """How many bins to spread over so many edges: about three each, as long as a row of them stays in cache."""
    return 1 << int(np.clip(np.ceil(np.log2(3 * max(1, n_edge))), 9, 12))
