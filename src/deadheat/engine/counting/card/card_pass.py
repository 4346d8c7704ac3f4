"""The counting pass on a card: blocks, cuts and the ladder are the core's, and only the filter is new.

    rows on the card ──products──> scores ──between the edges of a block──> counts ───> added to the block's
                                                                   └──open──> items ──> float64, exact integers

What is asked of the core is asked here alone. `Pass.make` gives blocks, `Blocks.collect` their groups; a block has

    queries, excluded, n_counter   its rows, the columns that tiles leave out of each, how many sequences of cuts,
    edges(counter, level, band)    the cuts, widened by the bounds on the scores of a level,
    add(counter, counts)           for what a tile has in each slot between the edges, and
    place(counter, items)          for what it leaves open

No score decides unless it is further from the edges than its bound, which holds for any order of summation, and counts
are integers: so the result is that of the core.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from deadheat.engine.counting.card.counting import count_between, kernel_of
from deadheat.engine.counting.card.device import MOST_BYTES, Card, CardRows, Tensor
from deadheat.engine.counting.layout import ColumnRange
from deadheat.engine.counting.passes import Assembly, CountingPass, Polling, Report, Section, Shard
from deadheat.engine.distances.distance import Distance
from deadheat.support.arrays import Int64, slices
from deadheat.support.progress import Workers, raise_if_cancelled

MANY_OPEN = 1 / 64  # share of a tile in float32 beyond which a product in float64 is cheaper than single pairs


def _overlap(torch: Any, queries: Tensor, columns: Tensor) -> Tensor:
    sums = torch.minimum(queries[:, :1], columns[:, 0])
    for k in range(1, queries.shape[1]):
        sums += torch.minimum(queries[:, k : k + 1], columns[:, k])
    return sums


def _bits(torch: Any, queries: Tensor, columns: Tensor) -> Tensor:
    """Return −Σ(q − x)² = 2q·x − Σq − Σx: PyTorch counts no ones in words, and products of 0 and 1 are exact."""
    return (queries @ columns.T).mul_(2).sub_(queries.sum(dim=1)[:, None]).sub_(columns.sum(dim=1))


def _share(torch: Any, queries: Tensor, columns: Tensor) -> Tensor:
    ones = queries.sum(dim=1)[:, None] + columns.sum(dim=1)
    return _bits(torch, queries, columns).div_(ones.clamp_(min=1))


FORMS = {
    "product": lambda torch, queries, columns: queries @ columns.T,
    "difference": lambda torch, queries, columns: torch.cdist(queries, columns, p=1.0).neg_(),
    "overlap": _overlap,
    "bits": _bits,
    "share": _share,
}


class CardPass(CountingPass):
    """A counting pass whose tiles are on a card. Blocks, shards and so checkpoints are those of any pass."""

    def __init__(self, card: Card, distance: Distance, *args: Any, **options: Any) -> None:
        super().__init__(distance, *args, **options)
        self.card = card
        self.cuda_stream = None if card.where.type == "cpu" else card.torch.cuda.current_stream(card.where)
        first, last = (self.distance.levels[k]._replace(chunk=None) for k in (0, -1))
        levels = (first,) if not card.wide and np.dtype(first.dtype) == np.float32 else ()
        levels = *levels, last._replace(dtype=np.float64, rows=None)
        self.distance, self.last = self.distance.having(levels=levels), len(levels) - 1
        with card.using(self.cuda_stream):
            self.queries = self.items = CardRows(card, self.distance.queries)
            if self.distance.items is not self.distance.queries:
                self.items = CardRows(card, self.distance.items)
            self.weight = None if self.problem.plain else card.upload(self.problem.weight)
        self._let_go()

    def _let_go(self) -> None:
        """Free what the next tiles can use: columns, and edges of blocks, with whether what is between them is tied."""
        self._strip: tuple[Any, Tensor] = (None, None)
        self._edges: dict[Any, tuple[Tensor, bool]] = {}

    def wide(self, ranges: list[ColumnRange], blocks: Iterable[Int64]) -> list[ColumnRange]:
        """Return ranges merged into tiles as wide as the memory of the card allows."""
        of_score = 64 if kernel_of(self.card) is None else 16  # bytes of a score, sorted with its place or not
        of_column = max(map(len, blocks), default=1) * of_score + 16 * self.distance.dim
        return self.layout.joined(ranges, (), max(1, min(MOST_BYTES, self.card.free() // 2) // of_column))

    def count_shards(
        self, shards: list[Shard], assembly: Assembly, threads: int, report: Report, *, outside_tiles: bool = True
    ) -> None:
        for shard in shards:
            self._count_shard(*shard, assembly, threads, report, outside_tiles)

    def _count_shard(
        self, queries: dict[int, Int64], sections: list[Section], assembly: Assembly, threads: int,
        report: Report, outside_tiles: bool,
    ) -> None:  # fmt: skip
        with Polling(self.core, report) as poll:
            made = self.core.make(queries, threads, poll)
        blocks, tiles = dict(zip(sorted(queries), made, strict=True)), []
        for section in sections:
            some = [blocks[number] for number in blocks if number in section.blocks]
            tiles += [(columns, block) for columns in self.wide(section.ranges, queries.values()) for block in some]
        with Workers(threads) as workers:
            workers.each(lambda tile: self._count(*tile, report), tiles)
        self._let_go()
        made.collect(outside_tiles, assembly.groups)

    def _count(self, columns: ColumnRange, block: Any, report: Report) -> None:
        """Count a tile on the card; then the core decides what that leaves open."""
        raise_if_cancelled()
        for counter, counts, rows, places, slots, scores in self._on_card(columns, block):
            block.add(counter, counts)
            if len(rows):
                if scores is None:
                    scores = self.distance.scores.pair_scores(block.queries[rows], places)
                block.place(counter, rows, places, scores, slots >> 1)
        report(len(block.queries) * len(columns.columns))

    def _on_card(self, columns: ColumnRange, block: Any) -> list[Any]:
        """Count a tile on the card, by parts if there is not memory enough for it."""
        try:
            with self.card.using(self.cuda_stream):
                return self._tile(columns, block, 0 if self.card.has_float32() else self.last)
        except self.card.torch.cuda.OutOfMemoryError:
            if len(columns.columns) == 1:
                raise
        with self.card.using(self.cuda_stream):
            self._let_go()
            self.card.torch.cuda.empty_cache()
        parts = [columns.columns[part] for part in slices(len(columns.columns), -(-len(columns.columns) // 2))]
        return [found for part in parts for found in self._on_card(columns._replace(columns=part), block)]

    def _tile(self, columns: ColumnRange, block: Any, level: int) -> list[Any]:
        """Return the counts for each sequence of cuts; rows, columns, slots, scores in float64 of what is open."""
        start, stop, results = columns.columns.start, columns.columns.stop, []
        tile = self._scores(level, block.queries, columns.columns)
        self._leave_out(block, tile, columns.columns)
        weight = None if self.weight is None else self.weight[start:stop]
        for counter in range(block.n_counter):
            if (key := (id(block), counter, level, columns.band)) not in self._edges:
                edges, closed = block.edges(*key[1:])
                self._edges[key] = self.card.upload(edges), closed
            counts, *opened = count_between(self.card, tile, self._edges[key][0], weight, self._edges[key][1])
            if level < self.last and (len(opened[0]) > MANY_OPEN * tile.numel() or not self.card.has_float32()):
                return self._tile(columns, block, self.last)
            scores = tile[opened[0], opened[1]].cpu().numpy() if level == self.last else None
            rows, places, slots = (each.cpu().numpy() for each in opened)
            results.append((counter, counts.cpu().numpy(), rows, places + start, slots, scores))
        return results

    def _scores(self, level: int, queries: Int64, columns: range) -> Tensor:
        """Return the scores of a level in float64, (n_query, n_column)."""
        items = self.distance.columns.item_of_column[columns.start : columns.stop]
        dtype = getattr(self.card.torch, np.dtype(self.distance.levels[level].dtype).name)
        if self._strip[0] != (level, columns):
            self._strip = (None, None)  # its memory is free before the next one is made
            self._strip = (level, columns), self.items.take(items, dtype)
        products = FORMS[self.distance.form](self.card.torch, self.queries.take(queries, dtype), self._strip[1])
        if len(self.distance.squares):
            return (products.abs() * products).div_(self.card.upload(self.distance.squares[items]))
        if len(self.distance.offset):
            products.sub_(self.card.upload(self.distance.offset[items]).to(dtype))
        return products.double()

    def _leave_out(self, block: Any, tile: Tensor, columns: range) -> None:
        """Move what does not count farther than all other scores."""
        excluded, junk = self.card.upload(block.excluded), self.problem.relevance.candidates.junk
        rows, entries = ((excluded >= columns.start) & (excluded < columns.stop)).nonzero(as_tuple=True)
        tile[rows, excluded[rows, entries].long() - columns.start] = -math.inf
        if junk is not None:
            starts, items = self.problem.items_of_columns
            here = items[starts[columns.start] : starts[columns.stop]]
            row, entry = np.nonzero(junk[np.ix_(block.queries, here)])
            column = self.problem.distance.columns.column_of_item[here[entry]] - columns.start
            tile[self.card.upload(row), self.card.upload(column)] = -math.inf
