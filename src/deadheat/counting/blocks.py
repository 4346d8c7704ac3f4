"""A block of queries on its way through the counting pass: its relevant items, the cuts they make, and its counts.

    relevant items ──sorted into groups──> cuts ──moved apart by the error──> edges ──tile by tile──> counts ──> groups

What the float32 scores of a tile leave open is looked at in ever finer ways, each of which counts what it decides:

    tile ──open──> its float32 rows in float64, while in cache ──open──> float64, in batches ──open──> exact arithmetic
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deadheat.counting import kernels
from deadheat.counting.relevance import Relevance
from deadheat.distances import Distance, Workspace
from deadheat.exact import SignedRoot
from deadheat.ties import Cuts, Groups, Member, Relevant, Ties

Int64 = NDArray[np.int64]
Int32 = NDArray[np.int32]
Int = NDArray[Any]  # int32 or int64
Float64 = NDArray[np.float64]

_MANY_OPEN = 1 / 8  # share of open items beyond which a float64 product is cheaper than a closer look at each
_MANY_LEFT = 1 / 32  # share of a tile beyond which it is cheaper than float64 pair by pair
_MOST_OPEN = 1 << 15  # open items after which they are settled
_SMALL_CLASS = 256  # pairs below which a class is scored pair by pair
_SCORED_COLUMNS = 1024  # relevant columns that are scored at once


class RankingProblem:
    """What all blocks share: the distance, what tied means, who is relevant, and how much each column weighs."""

    def __init__(self, distance: Distance, rule: Ties, relevance: Relevance) -> None:
        self.distance, self.rule, self.relevance = distance, rule, relevance
        self.n_column = len(distance.columns)
        of_item = distance.columns.column_of_item
        ranked = np.flatnonzero(relevance.ranked)
        self.weight = np.bincount(of_item[ranked], minlength=self.n_column).astype(np.int32)
        self.plain = bool((self.weight == 1).all())
        keys = relevance.gallery_class[ranked] * self.n_column + of_item[ranked]
        self.class_keys, self.class_count = np.unique(keys, return_counts=True)
        n_class = int(relevance.gallery_class.max()) + 1
        self.class_start = np.searchsorted(self.class_keys, np.arange(n_class + 1) * self.n_column)

    @cached_property
    def width(self) -> Int64:
        """In how many columns each query's class is."""
        classes = self.relevance.query_class
        return np.where(classes >= 0, np.diff(self.class_start)[classes], 0)

    @cached_property
    def most_groups(self) -> Int64:
        """How many groups each query can have: its class's columns, but for one in which it is alone."""
        if not self.relevance.leave_one_out:
            return self.width
        queries = np.flatnonzero(self.relevance.ranked)
        keys = self.relevance.query_class[queries] * self.n_column + self.distance.columns.column_of_item[queries]
        most = self.width.copy()
        most[queries] -= self.class_count[np.searchsorted(self.class_keys, keys)] == 1
        return most


class Tile:
    """Scores of some queries for a run of columns, and how to see more of what they leave open."""

    def __init__(
        self, distance: Distance, number: int, queries: Int64, columns: range, rows: tuple[NDArray[Any], NDArray[Any]],
        scores: NDArray[Any], space: Workspace,
    ) -> None:  # fmt: skip
        self.distance, self.number, self.queries, self.columns = distance, number, queries, columns
        self.rows, self.scores, self.space = rows, scores, space

    @cached_property
    def last(self) -> NDArray[Any]:
        """The scores of the last level, until the next tile of that pass is computed in the same space."""
        last = len(self.distance.levels) - 1
        if self.number == last:
            return self.scores
        columns = np.arange(self.columns.start, self.columns.stop)
        return self.distance.tile(last, self.distance.query_rows(last, self.queries), columns, self.space)


@dataclass(frozen=True)
class _Edges:
    """Edges for the scores of one pass in one band, and bins to find a score's place among them."""

    edges: NDArray[Any]
    n_edge: int
    closed: bool  # whether the scores are exact, so that what is between two edges is tied
    base: NDArray[Any]
    scale: NDArray[Any]
    codes: NDArray[Any]
    error: Float64  # of each row's scores
    recheck_error: Float64  # and of those at a closer look

    @classmethod
    def of(cls, distance: Distance, cuts: Cuts, queries: Int64, number: int, band: int) -> _Edges:
        edges, n_edge, closed, error = edges_of(distance, cuts, queries, number, band)
        few = n_edge <= kernels.FEW_EDGES
        n_bin = 1 if few else n_bins(n_edge)
        codes = np.empty((len(edges), n_bin), dtype=np.uint16 if n_edge < 2**15 else np.uint32)
        base, scale = np.empty((2, len(edges)), dtype=edges.dtype)
        if not few:
            kernels.build_bins(edges, closed, base, scale, codes)
        looks = number == 0 and distance.rechecks
        recheck_error = distance.recheck_bound(queries, distance.columns.bands[band]) if looks else error
        return cls(edges, n_edge, closed, base, scale, codes, error, recheck_error)


def edges_of(
    distance: Distance, cuts: Cuts, queries: Int64, number: int, band: int
) -> tuple[NDArray[Any], int, bool, Float64]:
    """Edges for the scores of a pass in a band, how many a row has at most, whether closed, and the scores' errors."""
    one, (n_row, n_interval) = distance.levels[number], cuts.low.shape
    error = distance.bound(number, queries, distance.columns.bands[band])
    edges = np.empty((n_row, 2 * n_interval + 1), dtype=one.dtype)
    closed = one.exact and cuts.each == 2
    return edges, kernels.build_edges(cuts.low, cuts.high, error, closed, edges), closed, error


def n_bins(n_edge: int) -> int:
    """How many bins to spread over so many edges: about three each, as long as a row of them stays in cache."""
    return 1 << int(np.clip(np.ceil(np.log2(3 * max(1, n_edge))), 9, 12))


class _Counter:
    """Counts the items of one block of queries between one sequence of cuts.

    Slot 2i of a row counts what is surely between interval i − 1 and interval i. Where two cuts share an interval,
    slot 2i + 1 counts what is between them.
    """

    def __init__(self, problem: RankingProblem, queries: Int64, cuts: Cuts) -> None:
        self.problem, self.queries, self.cuts = problem, queries, cuts
        self.counts = np.zeros((len(queries), 2 * cuts.low.shape[1] + 1), dtype=np.int32)
        self.edges: dict[tuple[int, int], _Edges] = {}
        self.pending: list[NDArray[np.int32]] = []
        self.n_pending = 0

    def add(self, tile: Tile, band: int, hidden: NDArray[np.int32]) -> float:
        """Count a tile of scores; returns the share of its items that its pass left open."""
        distance = self.problem.distance
        e, last = self._edges_of(tile.number, band), len(distance.levels) - 1
        start, stop = tile.columns.start, tile.columns.stop
        opened = tile.space.get("opened", (3, tile.scores.size), np.int32)
        weight = self.problem.weight[start:stop]
        n_open = n_left = kernels.count_tile(
            tile.scores, start, weight, self.problem.plain, hidden,
            e.edges, e.n_edge, e.closed, e.base, e.scale, e.codes, self.counts, opened,
        )  # fmt: skip
        many = tile.number == last or n_open > _MANY_OPEN * tile.scores.size
        if n_open and not many and distance.rechecks:
            offsets = distance.offsets(np.arange(start, stop))
            n_left = kernels.settle_open(
                opened[:, :n_open], *tile.rows, offsets, weight, e.edges, e.error, e.recheck_error, self.counts
            )
            many = n_left > _MANY_LEFT * tile.scores.size
        rows, places, slots = opened[:, :n_left]
        if n_left and many:
            self.place(rows, places + start, tile.last[rows, places].astype(np.float64), slots >> 1)
        elif n_left:
            self._postpone(rows, places + start, slots >> 1)
        return n_open / tile.scores.size

    def _edges_of(self, number: int, band: int) -> _Edges:
        key = number, band
        if key not in self.edges:
            if len(self.edges) > 3:  # bands that have been passed
                self.edges.clear()
            self.edges[key] = _Edges.of(self.problem.distance, self.cuts, self.queries, number, band)
        return self.edges[key]

    def _postpone(self, rows: Int32, columns: Int32, guess: Int32) -> None:
        self.pending.append(np.stack([rows, columns, guess]))
        self.n_pending += len(rows)
        if self.n_pending > _MOST_OPEN:
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
        errors = distance.pair_bound(self.queries[rows], columns)
        weights = self.problem.weight[columns] if weights is None else weights
        guess = np.full(len(rows), -1, dtype=np.int32) if guess is None else guess
        undecided, ranges = self._place(rows, guess, scores, errors, weights)
        for start in range(0, len(undecided), 4096):
            part = undecided[start : start + 4096]
            exact_closeness = distance.exact_closeness(self.queries[rows[part]], columns[part])
            chosen = ranges[:, start : start + 4096].tolist()
            for pair, closeness, low, high in zip(part.tolist(), exact_closeness, *chosen, strict=True):
                row = int(rows[pair])
                cut = self._cut(row, closeness, low, high)
                self.counts[row, cut * (2 // self.cuts.each)] += weights[pair]

    def _cut(self, row: int, closeness: SignedRoot, low: int, high: int) -> int:
        """The number of cuts that an item is above, known to be from `low` to `high`."""
        while low < high:
            middle = (low + high) // 2
            if self.cuts.above(row, middle, closeness):
                low = middle + 1
            else:
                high = middle
        return low

    def _place(self, rows: Int, guess: Int, scores: Float64, errors: Float64, weights: Int) -> tuple[Int64, Int64]:
        """Count single items as far as their scores decide; which they do not, and between which cuts these are."""
        kept = np.empty((3, len(rows)), dtype=np.int64)
        cuts = self.cuts
        n = kernels.place_pairs(rows, guess, scores, errors, weights, cuts.low, cuts.high, cuts.each, self.counts, kept)
        return kept[0, :n], kept[1:, :n]


class Block:
    """Some queries, from their relevant items to their groups. `add` may be called from several threads.

    Parameters
    ----------
    problem : RankingProblem
    queries : (n,) int64
        Queries that have something relevant.

    Attributes
    ----------
    counters : list
        What counts the items of these queries; to be changed with `lock` held.
    n_group, n_relevant : (n,) int64
        How many groups each query has, and how many relevant items.
    """

    def __init__(self, problem: RankingProblem, queries: Int64) -> None:
        self.problem, self.queries, self.lock = problem, queries, Lock()
        self.number = 0  # the level at which tiles are best computed
        self._seen = self._open = 0.0
        relevant, self.hidden, self._leftovers = relevant_items(problem, queries)
        groups = problem.rule.group(problem.distance, relevant)
        member = _member_of(problem, groups)
        self.counters = [
            _Counter(problem, queries, cuts) for cuts in problem.rule.cuts(problem.distance, groups, member)
        ]
        self.n_group, self._total = groups.n_group, groups.total
        self.n_relevant = groups.total.sum(axis=1)
        self._shared = _shared(relevant, groups)

    def add(self, tile: Tile, band: int) -> None:
        """Count a tile of scores of these queries."""
        with self.lock:
            share = max(counter.add(tile, band, self.hidden) for counter in self.counters)
            if tile.number == 0:
                self._seen, self._open = self._seen + tile.scores.size, self._open + share * tile.scores.size
                if self._open > _MANY_OPEN * self._seen:
                    self.number = len(self.problem.distance.levels) - 1

    def finish(self, offsets: Int64, arrays: tuple[Int64, ...]) -> None:
        """Write the groups, nearest first, to the arrays of a profile from where each query's begin."""
        row, group, columns, others = self._shared
        for counter in self.counters:
            counter.settle()
        if len(self.counters) == 1:  # what shares a relevant item's column is tied with it
            (only,) = self.counters
            np.add.at(only.counts, (row, (2 * group + 1) * (2 // only.cuts.each)), others)
            step, lead = (2, 1) if only.cuts.each == 2 else (4, 2)
        else:
            self._place(row, columns, others)
            step, lead = 2, 0
        self._place(*self._leftovers)
        within, nearer = self.counters[0].counts, self.counters[-1].counts
        kernels.collect_groups(self.queries, self.n_group, self._total, within, nearer, step, lead, offsets, *arrays)

    def _place(self, rows: Int64, columns: Int64, weights: Int64) -> None:
        """Count single items in every counter."""
        real = weights > 0
        rows, columns, weights = rows[real], columns[real], weights[real]
        if len(rows):
            scores = self.problem.distance.pair_scores(self.queries[rows], columns)
            for counter in self.counters:
                counter.place(rows, columns, scores, weights=weights)


# Relevant items --------------------------------------------------------------------------------------------------


def relevant_items(
    problem: RankingProblem, queries: Int64
) -> tuple[Relevant, NDArray[np.int32], tuple[Int64, Int64, Int64]]:
    """The relevant columns of some queries; columns hidden from the count; and what is left in the latter.

    A column can hold items that do not count for a query (itself, junk) beside others that do. Such columns, and the
    relevant ones, are hidden from the tiles; what counts in them is placed singly.
    """
    classes = problem.relevance.query_class[queries]
    columns, count, others = np.empty((3, len(queries), max(1, problem.width[queries].max())), dtype=np.int64)
    kernels.relevant_columns(
        classes, problem.class_start, problem.class_keys, problem.class_count, problem.weight, columns, count, others
    )
    pointer, items = problem.relevance.excluded(queries)
    row = np.repeat(np.arange(len(queries)), np.diff(pointer))
    column = problem.distance.columns.column_of_item[items]
    same_class = problem.relevance.gallery_class[items] == classes[row]
    stray = kernels.take_out(row, column, same_class, columns, count, others)
    strays = _strays(problem, row[stray], column[stray])
    gone_row, gone_entry = np.nonzero((count == 0) & (others > 0))
    leftovers = (
        np.concatenate([gone_row, strays[0]]),
        np.concatenate([columns[gone_row, gone_entry], strays[1]]),
        np.concatenate([others[gone_row, gone_entry], strays[2]]),
    )
    others[gone_row, gone_entry] = 0
    hidden = _hidden(columns, strays, problem.n_column)
    score, bound = _relevant_scores(problem, queries, classes, columns, count > 0)
    return Relevant(queries, columns, count, others, score, bound), hidden, leftovers


def _member_of(problem: RankingProblem, groups: Groups) -> Member:
    """The column of a member of a group, given its row and number."""
    if groups.columns is not None:
        columns = groups.columns
        return lambda row, group: int(columns[row, group])

    @lru_cache(maxsize=64)
    def ascending(row: int) -> Int64:
        query = groups.rows[row : row + 1]
        relevant, _, _ = relevant_items(problem, query)
        columns = relevant.columns[relevant.count > 0]
        return columns[np.argsort(problem.distance.pair_scores(query.repeat(len(columns)), columns))]

    return lambda row, group: int(ascending(row)[group])


def _shared(relevant: Relevant, groups: Groups) -> tuple[Int64, Int64, Int64, Int64]:
    """What shares a column with relevant items: row, group, column, and how many."""
    if groups.of_entry is None:
        return (np.empty(0, dtype=np.int64),) * 4
    row, entry = np.nonzero(relevant.irrelevant > 0)
    return row, groups.of_entry[row, entry], relevant.columns[row, entry], relevant.irrelevant[row, entry]


def _strays(problem: RankingProblem, row: Int64, column: Int64) -> tuple[Int64, Int64, Int64]:
    """Columns outside a query's class that hold items that do not count, and how many in them do."""
    keys, taken = np.unique(row * problem.n_column + column, return_counts=True)
    row, column = np.divmod(keys, problem.n_column)
    return row, column, problem.weight[column] - taken


def _hidden(columns: Int64, strays: tuple[Int64, Int64, Int64], n_column: int) -> NDArray[np.int32]:
    """For each row the columns to hide, ascending, padded with n_column."""
    row, column, _ = strays
    if not len(row):
        return columns.astype(np.int32)
    most = int(np.bincount(row).max())
    extra = np.full((len(columns), most), n_column)
    extra[row, np.arange(len(row)) - np.searchsorted(row, row)] = column
    return np.sort(np.concatenate([columns, extra], axis=1), axis=1).astype(np.int32)


def _relevant_scores(
    problem: RankingProblem, queries: Int64, classes: Int64, columns: Int64, valid: NDArray[np.bool_]
) -> tuple[Float64, Float64]:
    """Scores of the last level for the relevant columns, class by class, NaN in padding, and how much they err."""
    distance = problem.distance
    score = np.full(columns.shape, np.nan)
    last = len(distance.levels) - 1
    heads = np.flatnonzero(np.diff(classes, prepend=-1, append=-1))
    small = np.zeros(len(queries), dtype=np.bool_)
    for begin, end in pairwise(heads.tolist()):
        width = int(problem.width[queries[begin]])
        if width * (end - begin) < _SMALL_CLASS:
            small[begin:end] = True
            continue
        left = distance.query_rows(last, queries[begin:end])
        for start in range(0, width, _SCORED_COLUMNS):
            part = columns[begin, start : min(start + _SCORED_COLUMNS, width)]
            score[begin:end, start : start + len(part)] = distance.tile(last, left, part)
    if small.any():
        row, entry = np.nonzero(valid & small[:, None])
        score[row, entry] = distance.pair_scores(queries[row], columns[row, entry])
    score[~valid] = np.nan
    if distance.levels[last].exact:
        return score, np.zeros(columns.shape)
    bound = distance.pair_bound(queries[:, None], np.minimum(columns, problem.n_column - 1))
    bound[~valid] = 0
    return score, bound
