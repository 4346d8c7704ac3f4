"""The counts of a block between one sequence of cuts, to which tiles of scores and single items are added.

What the float32 scores of a tile leave open is looked at in ever finer ways, each of which counts what it decides:

    tile ──open──> its float32 rows in float64, while in cache ──open──> float64, in batches ──open──> exact arithmetic
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from deadheat import _core
from deadheat.counting.alike import Alike
from deadheat.counting.problem import RankingProblem
from deadheat.counting.tiles import Tile
from deadheat.distances import Distance
from deadheat.support.arrays import Float64, Int, Int32, Int64, slices
from deadheat.support.workers import go_on
from deadheat.ties import Cuts, Items

MANY_OPEN = 1 / 8  # share of open items beyond which a float64 product is cheaper than a closer look at each
MANY_LEFT = 1 / 32  # share of a tile beyond which it is cheaper than float64 pair by pair
MOST_OPEN = 1 << 15  # open items after which they are settled
ENOUGH_SEEN = 1 << 10  # items that only exact arithmetic has told, before it is turned to at once
MOSTLY = 3 / 4  # share of the items looked at that only exact arithmetic has told, likewise
SELDOM = 1 / 4  # share of the items looked at closer of which that has told less is left out
MOST_EXACT = 1 << 17  # items whose exact closeness is held at a time


def n_bins(n_edge: int) -> int:
    """How many bins to spread over so many edges: about two each, as long as a row of them stays in cache."""
    return 1 << int(np.clip(np.ceil(np.log2(2 * max(1, n_edge))), 9, 11))


class Edges(NamedTuple):
    """Edges for the scores of one level in one band, and bins to find a score's place among them."""

    edges: NDArray[Any]
    n_edge: int
    closed: bool  # whether the scores are exact, so that what is between two edges is tied
    base: NDArray[Any]
    scale: NDArray[Any]
    codes: NDArray[Any]
    zero_slot: Int32  # of each row, where its scores of exactly 0 belong; −1 where they are scores like any other
    apart: Alike | None  # what shows which scores of 0 are, if not all
    recheck_error: Float64  # of each row's scores at a closer look

    @classmethod
    def of(cls, distance: Distance, cuts: Cuts, queries: Int64, level: int, band: int, apart: Alike | None) -> Edges:
        edges, n_edge, closed = edges_of(distance, cuts, queries, level, band)
        few = n_edge <= _core.FEW_EDGES
        n_bin = 1 if few else n_bins(n_edge)
        codes = np.empty((len(edges), n_bin), dtype=np.uint16 if n_edge < 2**15 else np.uint32)
        base, scale = np.empty((2, len(edges)), dtype=edges.dtype)
        if not few:
            _core.build_bins(edges, closed, base, scale, codes)
        zero_slot = np.full(len(edges), -1, dtype=np.int32) if apart is None else apart.zero_slot
        if apart is None and cuts.each == 2 and not closed and distance.zeros_exact(level):
            _core.slots_of_zero(cuts.low, cuts.high, zero_slot)
        rechecks = level == 0 and distance.rechecks
        recheck_error = distance.recheck_bound(queries, distance.columns.bands[band]) if rechecks else np.empty(0)
        return cls(edges, n_edge, closed, base, scale, codes, zero_slot, apart, recheck_error)


def edges_of(distance: Distance, cuts: Cuts, queries: Int64, level: int, band: int) -> tuple[NDArray[Any], int, bool]:
    """Edges for the scores of a level in a band, how many a row has at most, and whether they are closed."""
    (n_row, n_interval), ends = cuts.low.shape, distance.columns.bands[band]
    error = distance.bound(level, queries, ends)
    relative, tiny = distance.relative_bound(level, queries, ends) or (np.full(n_row, np.inf), np.zeros(n_row))
    edges = np.empty((n_row, 2 * n_interval + 1), dtype=distance.levels[level].dtype)
    closed = distance.levels[level].exact and (cuts.each == 2 or cuts.sharp)
    return edges, _core.build_edges(cuts.low, cuts.high, error, relative, tiny, closed, edges), closed


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
        self.n_looked_at = self.n_exact = 0  # open items of tiles, and those that only exact arithmetic has told
        self.n_rechecked = self.n_told = 0  # open items that were looked at closer, and those which that has told

    def _only_exactly(self) -> bool:
        """Whether exact arithmetic is needed for so many open items that nothing else is worth a try."""
        distance = self.problem.distance
        if self.cuts.direct is None or self.n_exact <= max(ENOUGH_SEEN, MOSTLY * self.n_looked_at):
            return False
        return distance.twofold is not None or distance.integers is not None

    def _count_directly(self, tile: Tile, opened: Int32, edges: Edges, counts: Int32) -> None:
        """Count the open items of a tile by exact arithmetic."""
        start, stop = tile.columns.start, tile.columns.stop
        weight = self.problem.weight[start:stop]
        for some in slices(opened.shape[1], MOST_EXACT):
            found = np.empty((4, len(opened[0, some])), dtype=np.int64)
            _core.intervals_of_open(opened[:, some], edges.edges, self.cuts.low, found)
            rows, places, low, high = found
            self._count_exactly(Items(rows, places + start, low, high, weight[places]), counts)

    def _count_exactly(self, items: Items, counts: Int32) -> None:
        """Count items by exact arithmetic."""
        go_on()
        cuts = self.cuts
        if cuts.direct is not None:
            items = items.take(cuts.direct(items, counts))
        rows, columns, low, high, weights = items
        if len(rows):
            closeness = self.problem.distance.exact_closeness(self.queries[rows], columns)
            slots = cuts.count_below(rows, closeness, low * cuts.each, high * cuts.each) * (2 // cuts.each)
            np.add.at(counts.reshape(-1), rows * counts.shape[1] + slots, weights)

    @cached_property
    def alike(self) -> Alike | None:
        """What tells open items that surely tie."""
        distance, members = self.problem.distance, self.cuts.members
        if members is None or distance.patterns is None:
            return None
        return Alike(distance.patterns, distance, self.queries, self.cuts, members)

    @cached_property
    def apart(self) -> Alike | None:
        """The same, if groups have members without a place in common with their query: these score 0, as others may."""
        patterns = self.problem.distance.patterns
        if self.cuts.each != 2 or patterns is None or not patterns.zeros or self.alike is None:
            return None
        return self.alike if (self.alike.zero_slot >= 0).any() else None

    @property
    def narrow(self) -> bool:
        """Whether the core can count for it while it multiplies: slots are numbers of 15 bits."""
        return bool(self.counts.shape[1] < 2**15)

    def count(self, tile: Tile, scores: NDArray[Any], band: int, excluded_columns: Int32) -> float:
        """Count a tile of scores; returns the share of its items that its level left open."""
        weight = self.problem.weight[tile.columns.start : tile.columns.stop]
        tables, counts, opened, _ = self.places(tile, band, "opened", self.counts)
        columns = tile.columns.start, weight, self.problem.plain, excluded_columns
        arguments: tuple[Any, ...] = (scores, *columns, *tables, counts, opened)
        n_open: int = _core.count_tile(*arguments)
        opened = opened[:, :n_open]
        return self.take(tile, band, opened, scores[opened[0], opened[1]] if tile.at_last else None, counts)

    def places(self, tile: Tile, band: int, name: str, counts: Int32) -> tuple[tuple[Any, ...], Int32, Int32, Float64]:
        """What a tile is counted in: tables of edges, counts, and lists of open items, with this name, and scores."""
        edges = self._edges_of(tile.level, band)
        if edges.apart is None:  # no places, which says nothing against a zero
            where = tuple(np.empty(shape, dtype=np.uint32) for shape in ((len(edges.edges), 0), (0, len(tile.columns))))
        else:
            where = edges.apart.places(tile.columns)
        tables = edges.edges, edges.n_edge, edges.closed, edges.base, edges.scale, edges.codes, edges.zero_slot, where
        opened = tile.space.get(name, (3, tile.size), np.int32)
        return tables, counts, opened, np.empty(tile.size if tile.at_last and not edges.closed else 0)

    def take(self, tile: Tile, band: int, opened: Int32, scores: NDArray[Any] | None, counts: Int32) -> float:
        """Settle the items that a tile has left open in these counts, or put them off; returns their share.

        They come as rows, places and slots, with scores if these are of the last level.
        """
        distance, edges, start = self.problem.distance, self._edges_of(tile.level, band), tile.columns.start
        weight = self.problem.weight[start : tile.columns.stop]
        if opened.shape[1] and self.alike is not None:
            scores = None if scores is None else scores.astype(np.float64)
            n_open = self.alike.settle(opened, scores, tile.columns, weight, counts)
            opened, scores = opened[:, :n_open], None if scores is None else scores[:n_open]
        n_open = n_left = opened.shape[1]
        if n_open and self._only_exactly():
            self._count_directly(tile, opened, edges, counts)
            return 0.0
        self.n_looked_at += n_open
        many = tile.at_last or n_open > MANY_OPEN * tile.size
        worth = self.n_rechecked <= ENOUGH_SEEN or self.n_told >= SELDOM * self.n_rechecked
        if n_open and not many and distance.rechecks and worth:
            offsets = distance.offsets(np.arange(start, tile.columns.stop))
            n_left = _core.settle_open(
                opened, *tile.rows, offsets, weight, edges.recheck_error,
                edges.edges, self.cuts.low, self.cuts.high, counts,
            )  # fmt: skip
            self.n_rechecked, self.n_told = self.n_rechecked + n_open, self.n_told + n_open - n_left
        many = many or n_left > MANY_LEFT * tile.size
        rows, places, slots = opened[:, :n_left]
        if n_left and many:
            of_last = tile.last_scores(rows, places) if scores is None else scores.astype(np.float64, copy=False)
            self.place(rows, places + start, of_last, slots >> 1, into=counts)
        elif n_left:
            self._postpone(rows, places + start, slots >> 1, counts)
        return float(n_open / tile.size)

    def _edges_of(self, level: int, band: int) -> Edges:
        key = level, band
        if key not in self.edges:
            if len(self.edges) > 3:  # bands that have been passed
                self.edges.clear()
            distance = self.problem.distance
            apart = None if distance.zeros_exact(level) else self.apart
            self.edges[key] = Edges.of(distance, self.cuts, self.queries, level, band, apart)
        return self.edges[key]

    def _postpone(self, rows: Int32, columns: Int32, guess: Int32, counts: Int32) -> None:
        self.pending.append(np.stack([rows, columns, guess]))
        self.n_pending += len(rows)
        if self.n_pending > MOST_OPEN:
            self.settle(counts)

    def settle(self, counts: Int32) -> None:
        """Count the items that were put off, by their scores of the last level."""
        if self.pending:
            rows, columns, guess = np.concatenate(self.pending, axis=1)
            self.pending, self.n_pending = [], 0
            self.place(
                rows, columns, self.problem.distance.pair_scores(self.queries[rows], columns), guess, into=counts
            )

    def place(
        self, rows: Int, columns: Int, scores: Float64, guess: Int | None = None, weights: Int | None = None,
        into: Int32 | None = None,
    ) -> None:  # fmt: skip
        """Count single items by their scores of the last level, and exactly where these leave something open.

        `guess` is an interval that each may be in; they are counted in the counter's own counts, or `into` others.
        """
        distance, counts = self.problem.distance, self.counts if into is None else into
        guess = np.full(len(rows), -1) if guess is None else guess
        rows, columns, guess = (np.ascontiguousarray(numbers, dtype=np.int64) for numbers in (rows, columns, guess))
        weights = np.asarray(self.problem.weight[columns] if weights is None else weights, dtype=np.int64)
        scores = np.ascontiguousarray(scores)
        errors = np.ascontiguousarray(distance.pair_bound(self.queries[rows], columns, scores))
        listed, cuts = np.empty((3, len(rows)), dtype=np.int64), self.cuts
        n = _core.place_pairs(
            rows, guess, scores, errors, weights, cuts.low, cuts.high, cuts.each, counts, listed,
        )  # fmt: skip
        self.n_exact += n
        undecided, ranges = listed[0, :n], listed[1:, :n] // cuts.each
        for some in slices(n, MOST_EXACT):
            part = undecided[some]
            low, high = ranges[:, some]
            of_items = columns[part].astype(np.int64), low, high, weights[part].astype(np.int32)
            self._count_exactly(Items(rows[part], *of_items), counts)
