"""The counts of a block between one sequence of cuts, to which tiles of scores and single items are added.

What the float32 scores of a tile leave open is looked at in ever finer ways, each of which counts what it decides:

    tile ──open──> its float32 rows in float64, while in cache ──open──> float64, in batches ──open──> exact arithmetic
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deadheat import _core
from deadheat.counting.alike import Alike
from deadheat.counting.problem import RankingProblem
from deadheat.distances import Distance, Workspace
from deadheat.support.arrays import Float64, Int32, Int64, slices
from deadheat.support.workers import go_on
from deadheat.ties import Cuts

Int = NDArray[Any]  # int32 or int64

MANY_OPEN = 1 / 8  # share of open items beyond which a float64 product is cheaper than a closer look at each
MANY_LEFT = 1 / 32  # share of a tile beyond which it is cheaper than float64 pair by pair
MOST_OPEN = 1 << 15  # open items after which they are settled
MOST_EXACT = 1 << 17  # items whose exact closeness is held at a time


def n_bins(n_edge: int) -> int:
    """How many bins to spread over so many edges: about three each, as long as a row of them stays in cache."""
    return 1 << int(np.clip(np.ceil(np.log2(3 * max(1, n_edge))), 9, 12))


@dataclass(frozen=True)
class Edges:
    """Edges for the scores of one level in one band, and bins to find a score's place among them."""

    edges: NDArray[Any]
    n_edge: int
    closed: bool  # whether the scores are exact, so that what is between two edges is tied
    base: NDArray[Any]
    scale: NDArray[Any]
    codes: NDArray[Any]
    zero_slot: Int32  # of each row, where its scores of exactly 0 belong; −1 where they are scores like any other
    recheck_error: Float64  # of each row's scores at a closer look

    @classmethod
    def of(cls, distance: Distance, cuts: Cuts, queries: Int64, level: int, band: int) -> Edges:
        edges, n_edge, closed = edges_of(distance, cuts, queries, level, band)
        few = n_edge <= _core.FEW_EDGES
        n_bin = 1 if few else n_bins(n_edge)
        codes = np.empty((len(edges), n_bin), dtype=np.uint16 if n_edge < 2**15 else np.uint32)
        base, scale = np.empty((2, len(edges)), dtype=edges.dtype)
        if not few:
            _core.build_bins(edges, closed, base, scale, codes)
        zero_slot = np.full(len(edges), -1, dtype=np.int32)
        if cuts.each == 2 and not closed and distance.zeros_exact(level):
            _core.slots_of_zero(cuts.low, cuts.high, zero_slot)
        rechecks = level == 0 and distance.rechecks
        recheck_error = distance.recheck_bound(queries, distance.columns.bands[band]) if rechecks else np.empty(0)
        return cls(edges, n_edge, closed, base, scale, codes, zero_slot, recheck_error)


def edges_of(distance: Distance, cuts: Cuts, queries: Int64, level: int, band: int) -> tuple[NDArray[Any], int, bool]:
    """Edges for the scores of a level in a band, how many a row has at most, and whether they are closed."""
    (n_row, n_interval), ends = cuts.low.shape, distance.columns.bands[band]
    error = distance.bound(level, queries, ends)
    relative, tiny = distance.relative_bound(level, queries, ends) or (np.full(n_row, np.inf), np.zeros(n_row))
    edges = np.empty((n_row, 2 * n_interval + 1), dtype=distance.levels[level].dtype)
    closed = distance.levels[level].exact and cuts.each == 2
    return edges, _core.build_edges(cuts.low, cuts.high, error, relative, tiny, closed, edges), closed


class Tile:
    """Scores of some queries for a run of columns, and how to see more of what they leave open."""

    def __init__(
        self, distance: Distance, level: int, queries: Int64, columns: range, rows: tuple[NDArray[Any], NDArray[Any]],
        scores: NDArray[Any], space: Workspace,
    ) -> None:  # fmt: skip
        self.distance, self.level, self.queries, self.columns = distance, level, queries, columns
        self.rows, self.scores, self.space = rows, scores, space

    @cached_property
    def last(self) -> NDArray[Any]:
        """The scores of the last level, until the next tile of that level is computed in the same space."""
        last = len(self.distance.levels) - 1
        if self.level == last:
            return self.scores
        columns = np.arange(self.columns.start, self.columns.stop)
        return self.distance.tile(last, self.distance.query_rows(last, self.queries), columns, self.space)


class Counter:
    """Counts the items of one block of queries between one sequence of cuts.

    Slot 2i of a row counts what is surely between interval i − 1 and interval i. Where two cuts share an interval,
    slot 2i + 1 counts what is between them.
    """

    def __init__(self, problem: RankingProblem, queries: Int64, cuts: Cuts) -> None:
        self.problem, self.queries, self.cuts = problem, queries, cuts
        self.counts = np.zeros((len(queries), 2 * cuts.low.shape[1] + 1), dtype=np.int32)
        self.edges: dict[tuple[int, int], Edges] = {}
        self.pending: list[Int32] = []
        self.n_pending = 0

    @cached_property
    def alike(self) -> Alike | None:
        """What tells open items that surely tie."""
        distance, members = self.problem.distance, self.cuts.members
        if members is None or distance.patterns is None:
            return None
        return Alike(distance.patterns, distance, self.queries, self.cuts, members)

    def add(self, tile: Tile, band: int, excluded_columns: Int32) -> float:
        """Count a tile of scores; returns the share of its items that its level left open."""
        distance = self.problem.distance
        edges, last = self._edges_of(tile.level, band), len(distance.levels) - 1
        start, stop = tile.columns.start, tile.columns.stop
        opened = tile.space.get("opened", (3, tile.scores.size), np.int32)
        weight = self.problem.weight[start:stop]
        n_open = n_left = _core.count_tile(
            tile.scores, start, weight, self.problem.plain, excluded_columns,
            edges.edges, edges.n_edge, edges.closed, edges.base, edges.scale, edges.codes, edges.zero_slot,
            self.counts, opened,
        )  # fmt: skip
        if n_open and self.alike is not None:
            n_open = n_left = self.alike.settle(opened[:, :n_open], tile.columns, weight, self.counts)
        many = tile.level == last or n_open > MANY_OPEN * tile.scores.size
        if n_open and not many and distance.rechecks:
            offsets = distance.offsets(np.arange(start, stop))
            n_left = _core.settle_open(
                opened[:, :n_open], *tile.rows, offsets, weight, edges.recheck_error,
                edges.edges, self.cuts.low, self.cuts.high, self.counts,
            )  # fmt: skip
            many = n_left > MANY_LEFT * tile.scores.size
        rows, places, slots = opened[:, :n_left]
        if n_left and many:
            self.place(rows, places + start, tile.last[rows, places].astype(np.float64), slots >> 1)
        elif n_left:
            self._postpone(rows, places + start, slots >> 1)
        return n_open / tile.scores.size

    def _edges_of(self, level: int, band: int) -> Edges:
        key = level, band
        if key not in self.edges:
            if len(self.edges) > 3:  # bands that have been passed
                self.edges.clear()
            self.edges[key] = Edges.of(self.problem.distance, self.cuts, self.queries, level, band)
        return self.edges[key]

    def _postpone(self, rows: Int32, columns: Int32, guess: Int32) -> None:
        self.pending.append(np.stack([rows, columns, guess]))
        self.n_pending += len(rows)
        if self.n_pending > MOST_OPEN:
            self.settle()

    def settle(self) -> None:
        """Count the items that were put off, by their scores of the last level."""
        if self.pending:
            rows, columns, guess = np.concatenate(self.pending, axis=1)
            self.pending, self.n_pending = [], 0
            self.place(rows, columns, self.problem.distance.pair_scores(self.queries[rows], columns), guess)

    def place(
        self, rows: Int, columns: Int, scores: Float64, guess: Int | None = None, weights: Int | None = None
    ) -> None:
        """Count single items by their scores of the last level, and exactly where these leave something open.

        `guess` is an interval that each may be in.
        """
        distance = self.problem.distance
        scores = np.ascontiguousarray(scores)
        errors = np.ascontiguousarray(distance.pair_bound(self.queries[rows], columns, scores))
        weights = self.problem.weight[columns] if weights is None else weights
        guess = np.full(len(rows), -1) if guess is None else guess
        listed, cuts = np.empty((3, len(rows)), dtype=np.int64), self.cuts
        rows, guess, weights = (np.ascontiguousarray(numbers, dtype=np.int64) for numbers in (rows, guess, weights))
        n = _core.place_pairs(
            rows, guess, scores, errors, weights, cuts.low, cuts.high, cuts.each, self.counts, listed,
        )  # fmt: skip
        undecided, ranges = listed[0, :n], listed[1:, :n]
        for some in slices(n, MOST_EXACT):
            go_on()
            part = undecided[some]
            row = rows[part].astype(np.int64)
            closeness = distance.exact_closeness(self.queries[row], columns[part])
            slots = cuts.count_below(row, closeness, *ranges[:, some]) * (2 // cuts.each)
            np.add.at(self.counts.reshape(-1), row * self.counts.shape[1] + slots, weights[part].astype(np.int32))
