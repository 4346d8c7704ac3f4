"""Rankings with their exact ties: whole ones, and the k nearest of every query with all that tie with the k-th.

In come embeddings; out come blocks of queries with items in order and the number of the tie group of each. A profile
never needs this. Analyses of single items do: collisions, effects of the order of samples, and the k nearest items.

Whole rankings cost a sort of the gallery for each query. For the nearest, a fast product leaves the few columns that
may be among them, because its error is known; these are then grouped by their exact closeness. No matrix of queries and
gallery ever exists:

    block of queries × tile of columns ──> scores ± bound ──> candidates ──exactly──> tie groups, nearest first
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import deadheat._core as _core
from deadheat.engine.counting.candidates import Candidates, Relevance
from deadheat.engine.counting.options import CountingOptions
from deadheat.engine.counting.problem import RankingProblem
from deadheat.engine.distances.distance import Distance
from deadheat.engine.ties.rule import Exact, Ties
from deadheat.errors import InvalidValueError
from deadheat.inputs.samples import EmbeddingsLike
from deadheat.support import checks
from deadheat.support.arrays import Bool, Float64, Int64, offsets_of, runs_joined, slices
from deadheat.support.caching import cached_property
from deadheat.support.floats import plain_floats
from deadheat.support.progress import Workers, raise_if_cancelled

BLOCK_ENTRIES = 1 << 20  # items of all rankings of a block

# For the nearest
BLOCK_ROWS = 512
TILE_COLUMNS = 4096
MOST_CANDIDATES = 1 << 22  # of a block; with more, as where nearly all items tie, it is cut in halves
PAIRS = 1 << 18  # whose exact closeness is compared in one go


def require_groups(rule: Ties) -> None:
    """Refuse a rule for ties without groups."""
    if rule.bounds_only:
        raise InvalidValueError("ties", f"must have tie groups, but {rule!r} has none: its windows overlap")


@dataclass(frozen=True)
class Ranked:
    """The rankings of some queries: gallery items nearest first, and those of one tie group by ascending index.

    Rows are as long as the gallery; they end with −1 in place of unranked items: itself (leave one out), and junk.
    """

    queries: Int64  # (n,)
    items: Int64  # (n, n_gallery)
    group: Int64  # (n, n_gallery), the number of each item's tie group, from 0 for the nearest


class Rankings:
    """Rankings of all queries, computed block by block when iterated.

    Without a gallery each query is left out of its own ranking. `options` are those of a task, with junk as a mask and
    `exclude` as rows of the gallery; ties cannot be a tolerance, which has no tie groups.

    Examples
    --------
    Three points on a line; 1 and -1 are equally far from 0:

    >>> (block,) = Rankings([[0], [1], [-1]], None, CountingOptions.checked(distance="euclidean"))
    >>> block.items[0], block.group[0]
    (array([ 1,  2, -1]), array([ 0,  0, -1]))
    >>> block.items[1], block.group[1]
    (array([ 0,  2, -1]), array([ 0,  1, -1]))
    """

    @plain_floats
    def __init__(
        self,
        embeddings: EmbeddingsLike,
        gallery: EmbeddingsLike | None,
        options: CountingOptions,
    ) -> None:
        require_groups(options.rule)
        self.threads = options.threads
        self.metric = options.open(embeddings, gallery)
        self.n_query, self.n_gallery = self.metric.n_query, self.metric.n_gallery
        self.candidates = options.candidates(self.n_query, self.n_gallery, leave_one_out=gallery is None)
        of_query, of_item = (np.zeros(n, dtype=np.int64) for n in (self.n_query, self.n_gallery))
        # everything is relevant, so that everything is sorted
        self._problem = RankingProblem(self.metric, options.rule, Relevance(of_query, of_item, self.candidates))

    @cached_property
    def _pass(self) -> Any:
        return self._problem.in_core()

    def __iter__(self) -> Iterator[Ranked]:
        step = max(1, BLOCK_ENTRIES // self.n_gallery)
        blocks = [np.arange(i, min(i + step, self.n_query)) for i in range(0, self.n_query, step)]
        for start in range(0, len(blocks), self.threads):  # no more rankings at once than there are threads
            with Workers(self.threads) as workers:  # not while somebody else works on what is yielded
                ranked = workers.each(self._rank, blocks[start : start + self.threads])
            yield from ranked

    @property
    def items_of_columns(self) -> Any:
        """The items in each column: `ItemLists` in the core."""
        return self._problem.items_of_columns

    @plain_floats
    def columns_of(self, queries: Int64) -> tuple[Int64, Int64, Any]:
        """Return the columns of some queries, farthest first, their tie groups, and the items that are left out."""
        relevant = self._pass.relevant_items(queries)
        columns, group = sorted_columns(self.metric, self._problem.rule, relevant)
        return columns, group, self.candidates.excluded(queries)

    def _rank(self, queries: Int64) -> Ranked:
        columns, group, excluded = self.columns_of(queries)
        items, numbers = np.full((2, len(queries), self.n_gallery), -1)
        _core.expand(columns, group, self.items_of_columns, excluded, items, numbers)
        return Ranked(queries, items, numbers)

    @plain_floats
    def closeness(self, ranked: Ranked) -> tuple[Float64, Float64]:
        """Return bounds on the exact closeness of every ranked item, NaN at the end of a row.

        Closeness is the similarity, or minus the distance. The two bounds are one number for Hamming
        distance, and for city block and inner products of small multiples of a unit, such as integers.
        """
        metric = self._measuring
        valid = ranked.items >= 0
        rows = np.broadcast_to(ranked.queries[:, None], valid.shape)[valid]
        columns = metric.columns.column_of_item[ranked.items[valid]]
        score = metric.scores.pair_scores(rows, columns)
        exactly = metric.exact_values(score)
        low, high = np.full((2, *valid.shape), np.nan)
        if exactly is None:
            bound = metric.scores.pair_bounds(rows, columns, score)
            low[valid], high[valid] = metric.closeness(rows, score - bound, score + bound)
        else:
            low[valid] = high[valid] = exactly
        return low, high

    @cached_property
    def _measuring(self) -> Distance:
        return self.metric.measuring()


def sorted_columns(metric: Distance, rule: Ties, relevant: _core.RelevantItems) -> tuple[Int64, Int64]:
    """Sort the columns of each row, farthest first, and number their groups from 0 for the nearest; −1 in padding."""
    groups = rule.group(metric, relevant)
    columns, group = relevant.columns, groups.of_entry
    return columns, np.where(group >= 0, groups.n_group[:, None] - 1 - group, -1)


def nearest_groups(block: Ranked, k: int) -> Bool:
    """Mark the ranked items that are at most as far as the k-th nearest of their row: k of them, or more if it ties.

    If fewer than k items are ranked, all are marked.
    """
    checks.positive_integer(k, "k")
    n_ranked = (block.group >= 0).sum(axis=1)
    last = np.take_along_axis(block.group, np.minimum(k, n_ranked)[:, None] - 1, axis=1)
    return np.asarray((block.group >= 0) & (block.group <= last))


@dataclass(frozen=True)
class Nearest:
    """The nearest columns of some queries: at least k items if there are as many, whole tie groups, −1 in padding."""

    queries: Int64  # (n,)
    columns: Int64  # (n, most)
    group: Int64  # (n, most), the number of each column's tie group, from 0 for the nearest
    weight: Int64  # (n, most), the ranked items in each column, 0 in padding

    def groups_of(self, rows: Int64, columns: Int64) -> Int64:
        """Return the group of each column in its row; one beyond all groups if the column is not among the nearest."""
        base = int(max(self.columns.max(initial=0), columns.max(initial=0))) + 2
        keys = np.arange(len(self.columns))[:, None] * base + self.columns + 1
        return looked_up(keys.ravel(), self.group.ravel(), rows * base + columns + 1, self.group.shape[1])

    def within(self, k: int) -> tuple[Int64, Int64, Int64]:
        """Return the group of the k-th nearest item, the number of items closer than it, and its size; (n,) each."""
        most = int(self.group.max(initial=0)) + 1
        rows, entries = np.nonzero(self.weight)
        sizes = np.zeros((len(self.queries), most), dtype=np.int64)
        np.add.at(sizes, (rows, self.group[rows, entries]), self.weight[rows, entries])
        ends = np.cumsum(sizes, axis=1)
        last = (ends < np.minimum(k, ends[:, -1])[:, None]).sum(axis=1)
        every = np.arange(len(self.queries))
        return last, ends[every, last] - sizes[every, last], sizes[every, last]


def looked_up(keys: Int64, values: Int64, wanted: Int64, missing: int) -> Int64:
    """Look up the values of wanted keys, in any order; `missing` for those that are not there."""
    order = np.argsort(keys)
    keys, values = np.append(keys[order], -1), np.append(values[order], missing)  # so that none lies beyond
    position = np.searchsorted(keys[:-1], wanted)
    return np.where(keys[position] == wanted, values[position], missing)


def pair_groups(distance: Distance, query: Int64, item: Int64, rule: Ties = Exact()) -> Int64:  # noqa: B008
    """Return the number of each pair's tie group among the pairs of its query, from 0 for the nearest."""
    order, lengths = np.argsort(query, kind="stable"), np.bincount(query)
    starts, numbers = offsets_of(lengths), np.empty_like(query)
    rows, begin = np.argsort(-lengths, kind="stable")[: np.count_nonzero(lengths)], 0
    while begin < len(rows):  # the longest first, so that there is little padding
        raise_if_cancelled()
        width = int(lengths[rows[begin]])
        some = rows[begin : begin + max(1, PAIRS // width)]
        pairs = order[runs_joined(starts[some], lengths[some])]
        columns, there = np.full((len(some), width), -1), np.arange(width) < lengths[some, None]
        columns[there] = distance.columns.column_of_item[item[pairs]]
        numbers[pairs] = tie_groups(distance, some, columns, rule)[there]
        begin += len(some)
    return numbers


def tie_groups(distance: Distance, queries: Int64, columns: Int64, rule: Ties = Exact()) -> Int64:  # noqa: B008
    """Return the number of each column's tie group in its row, from 0 for the nearest, −1 in padding.

    `queries` are (n,), and `columns` (n, most), −1 in padding, too.
    """
    valid = columns >= 0
    row = np.nonzero(valid)[0]
    score, bound = np.full(columns.shape, np.nan), np.zeros(columns.shape)
    score[valid] = distance.scores.pair_scores(queries[row], columns[valid])
    if not distance.levels[-1].exact:
        bound[valid] = distance.scores.pair_bounds(queries[row], columns[valid], score[valid])
    count = valid.astype(np.int64)
    given = np.where(valid, columns, 0)
    irrelevant = np.zeros_like(count)
    relevant = _core.RelevantItems(
        queries=queries, columns=given, count=count, irrelevant=irrelevant, score=score, bound=bound
    )
    ordered, group = sorted_columns(distance, rule, relevant)
    # entries were put into another order: they are looked up by their column
    base = np.arange(len(columns))[:, None] * (len(distance.columns) + 1)
    there, numbers = group >= 0, np.full(columns.shape, -1)
    numbers[valid] = looked_up((base + ordered)[there], group[there], (base + given)[valid], -1)
    return numbers


@plain_floats
def nearest(
    distance: Distance, candidates: Candidates, k: int, threads: int, queries: Int64 | None = None
) -> Iterator[Nearest]:
    """Yield the k nearest items of queries, by default of all, in blocks of queries."""
    search = _NearestSearch(distance, candidates, k)
    queries = np.arange(distance.n_query) if queries is None else queries
    blocks = [queries[rows] for rows in slices(len(queries), BLOCK_ROWS)]
    for start in range(0, len(blocks), threads):  # no more at once than there are threads
        with Workers(threads) as workers:
            results = workers.each(search.of, blocks[start : start + threads])
        for parts in results:
            yield from parts


class _NearestSearch:
    def __init__(self, distance: Distance, candidates: Candidates, k: int) -> None:
        self.distance, self.candidates = distance, candidates
        self.weight = np.bincount(distance.columns.column_of_item, minlength=len(distance.columns))
        self.filtered = candidates.junk is not None or not candidates.ranked.all()
        self.items, self.starts = np.argsort(distance.columns.column_of_item, kind="stable"), offsets_of(self.weight)
        self.wanted = min(k + (candidates.itself is not None), len(distance.columns))  # each holds at least an item

    @plain_floats
    def of(self, queries: Int64) -> list[Nearest]:
        candidates = self._candidates(queries)
        if candidates is None:
            middle = len(queries) // 2
            return self.of(queries[:middle]) + self.of(queries[middle:])
        row, column = candidates
        width = np.bincount(row, minlength=len(queries))
        step = max(1, PAIRS // max(1, int(width.max())))
        ends = offsets_of(width)
        blocks = []
        for start in range(0, len(queries), step):
            raise_if_cancelled()
            stop = min(start + step, len(queries))
            part = slice(ends[start], ends[stop])
            blocks.append(self._block(queries[start:stop], row[part] - start, column[part], width[start:stop]))
        return blocks

    def _block(self, queries: Int64, row: Int64, column: Int64, width: Int64) -> Nearest:
        """Group the candidates of some queries by exact closeness; a query's own item does not count."""
        position = runs_joined(np.zeros_like(width), width)
        most = max(1, int(width.max()))
        columns, weight = np.full((len(queries), most), -1), np.zeros((len(queries), most), int)
        columns[row, position], weight[row, position] = column, self.weight[column]
        if self.filtered:
            weight[row, position] = self._n_allowed(queries[row], column)
        else:
            own_row, item = self.candidates.ranked_itself(queries)
            own = np.full(len(queries), -2)
            own[own_row] = self.distance.columns.column_of_item[item]
            weight -= columns == own[:, None]
        columns[weight == 0] = -1
        return Nearest(queries, columns, tie_groups(self.distance, queries, columns), weight)

    def _n_allowed(self, query: Int64, column: Int64) -> Int64:
        """Count the items of each column that are ranked for a query."""
        sizes = self.weight[column]
        pair, item = np.repeat(np.arange(len(column)), sizes), self.items[runs_joined(self.starts[column], sizes)]
        return np.bincount(pair[~self.candidates.left_out(query[pair], item)], minlength=len(column))

    def _allowed(self, queries: Int64, start: int, stop: int) -> Bool:
        """Mark the columns of a tile with an item that is not junk to each query."""
        items = self.items[self.starts[start] : self.starts[stop]]
        allowed = np.broadcast_to(self.candidates.ranked[items], (len(queries), len(items)))
        if self.candidates.junk is not None:
            allowed = allowed & ~self.candidates.junk[np.ix_(queries, items)]
        return np.logical_or.reduceat(allowed, self.starts[start:stop] - self.starts[start], axis=1)

    def _candidates(self, queries: Int64) -> tuple[Int64, Int64] | None:
        """Return rows and columns that may be among the nearest, by row; None if they are too many at a time."""
        distance = self.distance
        best = np.full((len(queries), self.wanted), -np.inf)  # what the nearest score at least
        kept: list[tuple[Int64, Int64, Float64]] = []
        n_kept = 0
        for number, band in enumerate(distance.columns.bands):
            bound = distance.scores.errors(0, queries, number)[:, 0]
            for start in range(band[0], band[1], TILE_COLUMNS):
                raise_if_cancelled()
                columns = np.arange(start, min(start + TILE_COLUMNS, band[1]))
                scores = distance.scores.tile(0, queries, columns)
                least = best.min(axis=1) - bound
                rounded = least.astype(scores.dtype)
                rounded = np.where(rounded > least, np.nextafter(rounded, scores.dtype.type(-np.inf)), rounded)
                near = scores >= rounded[:, None]
                if self.filtered:
                    near &= self._allowed(queries, columns[0], columns[-1] + 1)
                row, entry = np.nonzero(near)
                kept_scores = scores[row, entry].astype(np.float64)
                best = _raised(best, row, kept_scores - bound[row])
                kept.append(_still([(row, columns[entry], kept_scores + bound[row])], best))
                n_kept += len(kept[-1][0])
                if n_kept > MOST_CANDIDATES:
                    kept = [_still(kept, best)]
                    n_kept = len(kept[0][0])
                    if n_kept > MOST_CANDIDATES // 2 and len(queries) > 1:
                        return None
        row, column, _ = _still(kept, best)
        order = np.argsort(row, kind="stable")
        return row[order], column[order]


def _raised(best: Float64, row: Int64, scores: Float64) -> Float64:
    """Update the largest numbers of each row with `scores`, which come by row."""
    if not len(row):
        return best
    rows, counts = np.unique(row, return_counts=True)
    more = np.full((len(rows), int(counts.max())), -np.inf)
    more[np.repeat(np.arange(len(rows)), counts), runs_joined(np.zeros_like(counts), counts)] = scores
    n = best.shape[1]
    raised = best.copy()
    raised[rows] = np.partition(np.concatenate([best[rows], more], axis=1), -n, axis=1)[:, -n:]
    return raised


def _still(kept: list[tuple[Int64, Int64, Float64]], best: Float64) -> tuple[Int64, Int64, Float64]:
    """Keep the candidates that still may be among the nearest."""
    row, column, most = (np.concatenate(parts) for parts in zip(*kept, strict=True))
    still = most >= best.min(axis=1)[row]
    return row[still], column[still], most[still]
