"""The counting pass: from embeddings and labels to a tie profile, in blocks, without the distance matrix.

A worker takes a block of queries, sorts the few scores of their relevant items into groups, and counts all other
items between the cuts that the groups make, one tile of the gallery at a time, while the tile is still in cache:

    queries × gallery:  [ tile | tile | tile | … ]   each: product ─> hide relevant ─> count ─> refine ─> decide

What a float32 score leaves open goes to float64, what that leaves open to exact arithmetic; see `distances`. No
result depends on how the work is cut up.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deadheat import distances, inputs
from deadheat import ties as tie_rules
from deadheat.distances import Distance
from deadheat.profiles import TieProfile
from deadheat.relevance import Relevance
from deadheat.ties import Cuts, Relevant, Ties

Int64 = NDArray[np.int64]
Progress = Callable[[int, int], None]

BLOCK_ROWS = 512  # queries in a block
TILE_COLUMNS = 1024  # columns in a tile: block × tile × 4 bytes is about a core's L2 cache
_BLOCK_ENTRIES = 1 << 17  # relevant pairs in a block, where classes are large
_MANY_OPEN = 1 / 16  # share of a tile beyond which a float64 product is cheaper than refining pair by pair
_MOST_OPEN = 1 << 16  # open items after which they are settled
_SMALL_CLASS = 256  # pairs below which a class is scored pair by pair


def profile(
    query: ArrayLike,
    query_labels: ArrayLike,
    gallery: ArrayLike | None = None,
    gallery_labels: ArrayLike | None = None,
    *,
    distance: str = "cosine",
    ties: str | Ties = "exact",
    junk: ArrayLike | None = None,
    threads: int | None = None,
    progress: bool | Progress = False,
) -> TieProfile:
    """Count, for every query and every distance at which it has a relevant item, what is closer and what is tied.

    Relevant to a query is what has its label. Without a gallery it is leave one out: every row is a query against
    all the others, taken out by its index.

    Parameters
    ----------
    query : (n_query, dim) array of floats, integers or bool
    query_labels : (n_query,) integers or strings
    gallery : (n_gallery, dim) array, optional
    gallery_labels : (n_gallery,) integers or strings, optional
    distance : {"cosine", "euclidean", "inner_product", "cityblock", "hamming"}
        Hamming takes bool, or uint8 with eight bits packed in each.
    ties : {"exact", "float16", "bfloat16", "float32"}, Rounded or Tolerance
        What tied means; see `deadheat.ties`.
    junk : (n_gallery,) or (n_query, n_gallery) bool, optional
        Items that are neither ranked nor relevant, for every query alike or pair by pair.
    threads : int, optional
        Worker threads, for this call alone; by default as many as there are processors.
    progress : bool or callable
        True for a bar on standard error, or a function that is called with (done, total).

    Returns
    -------
    TieProfile

    Raises
    ------
    TypeError, ValueError
        If an argument breaks its rule; the message names the argument, the rule and what came.

    Examples
    --------
    Four points on a line; the first query has one relevant item, tied with an irrelevant one:

    >>> import deadheat as dh
    >>> profile = dh.profile([[0], [1], [-1], [5]], ["a", "a", "b", "b"], distance="euclidean")
    >>> profile[0].closer, profile[0].tied
    (array([0]), array([2]))
    """
    rule = tie_rules.make(ties)
    workers = inputs.thread_count(threads)
    if (gallery is None) != (gallery_labels is None):
        given, missing = ("gallery", "gallery_labels") if gallery_labels is None else ("gallery_labels", "gallery")
        raise ValueError(f"gallery and gallery_labels must be given together, but got {given} without {missing}")
    metric = distances.make(distance, query, gallery, rule.exact_only)
    rule.check(metric)
    relevance = _relevance(metric, query_labels, gallery_labels, junk)
    return _Pass(metric, rule, relevance).run(workers, progress)


def _relevance(
    metric: Distance, query_labels: ArrayLike, gallery_labels: ArrayLike | None, junk: ArrayLike | None
) -> Relevance:
    """Check labels and junk, and work out who is relevant to whom."""
    n_query, n_gallery = metric.n_query, metric.n_gallery
    wanted = inputs.labels(query_labels, n_query, "query_labels", "query")
    if gallery_labels is None:
        codes = inputs.label_codes(wanted)
    else:
        codes = inputs.label_codes(wanted, inputs.labels(gallery_labels, n_gallery, "gallery_labels", "gallery"))
    mask = inputs.junk_mask(junk, n_query, n_gallery)
    return Relevance.by_label(*codes, junk=mask, leave_one_out=gallery_labels is None)


@dataclass(frozen=True)
class _BlockResult:
    """The groups of a block's queries, nearest first, and the queries' own counts."""

    queries: Int64
    n_group: Int64
    groups: NDArray[np.int64]  # (4, n_group): closer, closer_relevant, tied, tied_relevant
    n_relevant: Int64


class _Pass:
    """One counting pass: what all blocks share."""

    def __init__(self, distance: Distance, rule: Ties, relevance: Relevance) -> None:
        self.distance, self.rule, self.relevance = distance, rule, relevance
        n_column = len(distance.columns)
        of_item = distance.columns.of_item
        ranked = np.flatnonzero(relevance.ranked)
        self.weight = np.bincount(of_item[ranked], minlength=n_column).astype(np.int64)
        keys = relevance.gallery_class[ranked] * n_column + of_item[ranked]
        self.class_keys, self.class_count = np.unique(keys, return_counts=True)
        n_class = int(relevance.gallery_class.max()) + 1
        self.class_start = np.searchsorted(self.class_keys, np.arange(n_class + 1) * n_column)
        self.n_column = n_column

    def run(self, threads: int, progress: bool | Progress) -> TieProfile:
        """Work through all blocks and put the profile together."""
        from threadpoolctl import threadpool_limits

        blocks = self._blocks(threads)
        total = sum(map(len, blocks)) * self.n_column
        with _Reporting(progress, total) as report, threadpool_limits(1, user_api="blas"):
            results = _in_threads(self._block, blocks, threads, lambda block: report(len(block) * self.n_column))
        return self._assemble(results)

    def _blocks(self, threads: int) -> list[Int64]:
        """Queries with something relevant, sorted by class and cut into blocks."""
        classes = self.relevance.query_class
        size = np.where(classes >= 0, np.diff(self.class_start)[classes], 0)
        order = np.argsort(classes, kind="stable")
        order = order[size[order] > 0]
        most = min(BLOCK_ROWS, -(-len(order) // (2 * threads)) or 1)
        blocks, start = [], 0
        while start < len(order):
            widest = int(size[order[start : start + most]].max())
            stop = start + max(4, min(most, _BLOCK_ENTRIES // widest))
            blocks.append(order[start:stop])
            start = stop
        return blocks

    def _block(self, queries: Int64) -> _BlockResult:
        """The groups of some queries."""
        from deadheat import _kernels

        relevant, hidden, leftovers = self._relevant(queries)
        self.rule.group(self.distance, relevant)
        counters = [
            _Counter(self.distance, queries, cuts, self.weight) for cuts in self.rule.cuts(self.distance, relevant)
        ]
        self._count_columns(queries, hidden, counters)
        row, entry = np.nonzero(relevant.others > 0)
        if len(counters) == 1:  # what shares a relevant item's column is tied with it
            place = 2 * relevant.group[row, entry] + 1
            np.add.at(counters[0].counts, (row, place), relevant.others[row, entry])
        else:
            _place(counters, row, relevant.columns[row, entry], relevant.others[row, entry])
        _place(counters, *leftovers)
        groups = np.empty((4, int(relevant.n_group.sum())), dtype=np.int64)
        within, nearer = counters[0].counts, counters[-1].counts
        _kernels.collect_groups(relevant.n_group, relevant.total, within, nearer, groups)
        return _BlockResult(queries, relevant.n_group, groups, relevant.total.sum(axis=1))

    def _relevant(self, queries: Int64) -> tuple[Relevant, Int64, tuple[Int64, Int64, Int64]]:
        """The relevant columns of some queries; columns hidden from the count; and what is left in the latter.

        A column can hold items that do not count for a query (itself, junk) beside others that do. Such columns,
        and the relevant ones, are hidden from the tiles; what counts in them is placed singly.
        """
        from deadheat import _kernels

        classes = self.relevance.query_class[queries]
        size = self.class_start[classes + 1] - self.class_start[classes]
        columns, count, others = np.empty((3, len(queries), size.max()), dtype=np.int64)
        _kernels.relevant_columns(
            classes, self.class_start, self.class_keys, self.class_count, self.weight, columns, count, others
        )
        pointer, items = self.relevance.excluded(queries)
        row = np.repeat(np.arange(len(queries)), np.diff(pointer))
        column = self.distance.columns.of_item[items]
        same_class = self.relevance.gallery_class[items] == classes[row]
        stray = _kernels.take_out(row, column, same_class, columns, count, others)
        strays = self._strays(row[stray], column[stray])
        gone_row, gone_entry = np.nonzero((count == 0) & (others > 0))
        leftovers = (
            np.concatenate([gone_row, strays[0]]),
            np.concatenate([columns[gone_row, gone_entry], strays[1]]),
            np.concatenate([others[gone_row, gone_entry], strays[2]]),
        )
        others[gone_row, gone_entry] = 0
        hidden = _hidden(columns, strays, self.n_column)
        score, bound = self._relevant_scores(queries, classes, columns, count > 0)
        return Relevant(queries, columns, count, others, score, bound), hidden, leftovers

    def _strays(self, row: Int64, column: Int64) -> tuple[Int64, Int64, Int64]:
        """Columns outside a query's class that hold items that do not count, and how many in them do."""
        keys, taken = np.unique(row * self.n_column + column, return_counts=True)
        row, column = np.divmod(keys, self.n_column)
        return row, column, self.weight[column] - taken

    def _relevant_scores(
        self, queries: Int64, classes: Int64, columns: Int64, valid: NDArray[np.bool_]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Scores of the last pass for the relevant columns, class by class, NaN in padding."""
        score = np.full(columns.shape, np.nan)
        last = len(self.distance.passes) - 1
        heads = np.flatnonzero(np.diff(classes, prepend=-1, append=-1))
        small = np.zeros(len(queries), dtype=np.bool_)
        for begin, end in pairwise(heads.tolist()):
            width = int(self.class_start[classes[begin] + 1] - self.class_start[classes[begin]])
            if width * (end - begin) < _SMALL_CLASS:
                small[begin:end] = True
                continue
            left = self.distance.left(last, queries[begin:end])
            for start in range(0, width, TILE_COLUMNS):
                part = columns[begin, start : min(start + TILE_COLUMNS, width)]
                score[begin:end, start : start + len(part)] = self.distance.tile(last, left, part)
        if small.any():
            row, entry = np.nonzero(valid & small[:, None])
            score[row, entry] = self.distance.pair_scores(queries[row], columns[row, entry])
        score[~valid] = np.nan
        if self.distance.passes[last].exact:
            return score, np.zeros(columns.shape)
        bound = self.distance.pair_bound(queries[:, None], np.minimum(columns, self.n_column - 1))
        bound[~valid] = 0
        return score, bound

    def _count_columns(self, queries: Int64, hidden: Int64, counters: list[_Counter]) -> None:
        """Count every column that is not hidden."""
        number, last = 0, len(self.distance.passes) - 1
        scores = _Scores(self.distance, queries)
        for band in self.distance.columns.bands:
            for counter in counters:
                counter.enter(band)
            for start in range(band[0], band[1], TILE_COLUMNS):
                columns = np.arange(start, min(start + TILE_COLUMNS, band[1]))
                tile = scores.tile(number, columns)
                share = max(counter.add(number, tile, columns, hidden, scores) for counter in counters)
                number = last if share > 4 * _MANY_OPEN else number
            for counter in counters:
                counter.leave()

    def _assemble(self, results: list[_BlockResult]) -> TieProfile:
        """Put the blocks together in the order of the queries."""
        from deadheat import _kernels

        n_query = len(self.relevance.query_class)
        n_group, n_relevant = np.zeros(n_query, dtype=np.int64), np.zeros(n_query, dtype=np.int64)
        for result in results:
            n_group[result.queries], n_relevant[result.queries] = result.n_group, result.n_relevant
        offsets = np.concatenate([[0], np.cumsum(n_group)])
        groups = np.empty((4, offsets[-1]), dtype=np.int64)
        for result in results:
            _kernels.spread_groups(result.queries, result.n_group, result.groups, offsets, groups)
        n_ranked = self.relevance.n_ranked()
        closer, closer_relevant, tied, tied_relevant = groups
        return TieProfile(
            offsets, closer, closer_relevant, tied, tied_relevant, n_ranked, n_relevant,
            bounds_only=self.rule.bounds_only, check=False,
        )  # fmt: skip


def _hidden(columns: Int64, strays: tuple[Int64, Int64, Int64], n_column: int) -> Int64:
    """For each row the columns to hide, ascending, padded with n_column."""
    row, column, _ = strays
    if not len(row):
        return columns.copy()  # the columns themselves will be sorted by score
    most = int(np.bincount(row).max())
    extra = np.full((len(columns), most), n_column)
    extra[row, np.arange(len(row)) - np.searchsorted(row, row)] = column
    return np.sort(np.concatenate([columns, extra], axis=1), axis=1)


class _Scores:
    """Tiles of scores for a block of queries, in memory that is used again for each tile."""

    def __init__(self, distance: Distance, queries: Int64) -> None:
        self.distance, self.queries = distance, queries
        self.left: dict[int, NDArray[Any]] = {}
        self.space: dict[int, NDArray[Any]] = {}

    def tile(self, number: int, columns: Int64) -> NDArray[Any]:
        """Scores of one pass, until the next tile of that pass is asked for."""
        if number not in self.left:
            self.left[number] = self.distance.left(number, self.queries)
            self.space[number] = np.empty(len(self.queries) * TILE_COLUMNS, self.distance.passes[number].dtype)
        shape = (len(self.queries), len(columns))
        out = self.space[number][: shape[0] * shape[1]].reshape(shape)
        return self.distance.tile(number, self.left[number], columns, out)


class _Slots:
    """Edges for the scores of one pass in one band, and what was counted between them."""

    def __init__(self, cuts: Cuts, error: NDArray[np.float64], dtype: Any) -> None:
        from deadheat import _kernels

        n_row, n_cut = cuts.low.shape
        self.edges = np.empty((n_row, 2 * n_cut + 1), dtype=dtype)
        self.regions = np.empty((n_row, 2 * n_cut + 1), dtype=np.int32)
        used = _kernels.build_slots(cuts.low, cuts.high, error, self.edges, self.regions)
        n_bin = 1 << int(np.clip(np.ceil(np.log2(6 * used)), 6, 12))
        self.first = np.empty((n_row, n_bin), dtype=np.uint16 if used < 2**16 else np.uint32)
        self.base, self.scale = np.empty(n_row, dtype=dtype), np.empty(n_row, dtype=dtype)
        _kernels.build_bins(self.edges, self.base, self.scale, self.first)
        self.slots = np.zeros((n_row, used), dtype=np.int64)


class _Counter:
    """Counts the items of one block of queries between one sequence of cuts.

    Items that a pass leaves open are kept in a list until there are many, and then computed anew in the last pass.
    """

    def __init__(self, distance: Distance, queries: Int64, cuts: Cuts, weight: Int64) -> None:
        self.distance, self.queries, self.cuts, self.weight = distance, queries, cuts, weight
        self.counts = np.zeros((len(queries), cuts.low.shape[1] + 1), dtype=np.int64)
        self.open = np.empty((2, _MOST_OPEN + len(queries) * TILE_COLUMNS), dtype=np.int32)
        self.n_open = 0

    def enter(self, band: tuple[int, int]) -> None:
        """Begin a band of columns."""
        self.band = band
        self.slots: dict[int, _Slots] = {}

    def leave(self) -> None:
        """End a band: what was counted in slots is counted in regions."""
        from deadheat import _kernels

        self._settle_open()
        for slots in self.slots.values():
            _kernels.add_slots(slots.slots, slots.regions, self.counts)

    def add(self, number: int, tile: NDArray[Any], columns: Int64, hidden: Int64, scores: _Scores) -> float:
        """Count a tile of scores of one pass; returns the share of items that the pass left open."""
        from deadheat import _kernels

        if number not in self.slots:
            error = self.distance.bound(number, self.queries, self.band)
            self.slots[number] = _Slots(self.cuts, error, tile.dtype)
        s, before, last = self.slots[number], self.n_open, len(self.distance.passes) - 1
        self.n_open = _kernels.count_tile(
            tile, columns, self.weight, hidden, s.edges, s.regions, s.base, s.scale, s.first, s.slots,
            self.open[0], self.open[1], before,
        )  # fmt: skip
        share = (self.n_open - before) / tile.size
        if share and (number == last or share > _MANY_OPEN):
            rows, places = self.open[:, before : self.n_open].astype(np.int64)
            exact_tile = tile if number == last else scores.tile(last, columns)
            self.n_open = before
            self.place(rows, places, exact_tile[rows, places - columns[0]].astype(np.float64))
        elif self.n_open > _MOST_OPEN:
            self._settle_open()
        return share

    def _settle_open(self) -> None:
        """Count the items on the list by their scores of the last pass."""
        rows, columns = self.open[:, : self.n_open].astype(np.int64)
        self.n_open = 0
        if len(rows):
            self.place(rows, columns, self.distance.pair_scores(self.queries[rows], columns))

    def place(self, rows: Int64, columns: Int64, scores: NDArray[np.float64], weights: Int64 | None = None) -> None:
        """Count single items by their scores of the last pass, and exactly where these leave something open."""
        from deadheat import _kernels

        weights = self.weight[columns] if weights is None else weights
        errors = self.distance.pair_bound(self.queries[rows], columns)
        ranges = np.empty((len(rows), 2), dtype=np.int64)
        _kernels.place_pairs(rows, scores, errors, weights, self.cuts.low, self.cuts.high, self.counts, ranges)
        undecided = np.flatnonzero(ranges[:, 0] < ranges[:, 1])
        for start in range(0, len(undecided), 4096):
            part = undecided[start : start + 4096]
            surds = self.distance.surds(self.queries[rows[part]], columns[part])
            for pair, closeness in zip(part.tolist(), surds, strict=True):
                low, high = ranges[pair].tolist()
                row = int(rows[pair])
                while low < high:  # the first cut that the item is not above
                    middle = (low + high) // 2
                    if self.cuts.above(row, middle, closeness):
                        low = middle + 1
                    else:
                        high = middle
                self.counts[row, low] += weights[pair]


def _place(counters: list[_Counter], rows: Int64, columns: Int64, weights: Int64) -> None:
    """Count single items in every counter."""
    real = weights > 0
    rows, columns, weights = rows[real], columns[real], weights[real]
    if len(rows):
        scores = counters[0].distance.pair_scores(counters[0].queries[rows], columns)
        for counter in counters:
            counter.place(rows, columns, scores, weights)


def _in_threads(
    work: Callable[[Int64], _BlockResult], blocks: list[Int64], threads: int, done: Callable[[Int64], None]
) -> list[_BlockResult]:
    """Do the work for every block, in threads; an interrupt drops the blocks that have not begun."""
    if threads == 1:
        results = []
        for block in blocks:
            results.append(work(block))
            done(block)
        return results
    pool = ThreadPoolExecutor(threads)
    try:
        futures = {pool.submit(work, block): block for block in blocks}
        for future in as_completed(futures):
            future.result()
            done(futures[future])
        return [future.result() for future in futures]
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


class _Reporting:
    """Calls a progress function with what is done so far; draws a bar where progress is True."""

    def __init__(self, progress: bool | Progress, total: int) -> None:
        self.progress, self.total, self.done = progress, total, 0
        self.bar: Any = None

    def __enter__(self) -> Callable[[int], None]:
        if self.progress is True:
            from rich.console import Console
            from rich.progress import Progress as Bar

            self.bar = Bar(console=Console(stderr=True), transient=True)
            self.task = self.bar.add_task("counting", total=self.total)
            self.bar.start()
        return self.add

    def add(self, amount: int) -> None:
        """Note that so much more is done."""
        self.done += amount
        if self.bar is not None:
            self.bar.update(self.task, completed=self.done)
        elif callable(self.progress):
            self.progress(self.done, self.total)

    def __exit__(self, *error: object) -> None:
        if self.bar is not None:
            self.bar.stop()
