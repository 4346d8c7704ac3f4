"""The counting pass on a card: blocks, cuts and the ladder are the core's, and only the filter is new.

    rows on the card ──products──> scores ──between the edges of a block──> counts ────> added to the block's
                                                                   └──open──> items ───> float64, exact integers

What is asked of the core is asked here alone. `Pass.make` gives blocks, `Blocks.collect` their groups, and each block has

    queries, excluded, n_counter     its rows, the columns that tiles leave out of each, and how many sequences of cuts
    edges(counter, level, band)      the cuts, widened by the bounds on the scores of a level
    add(counter, counts)             for what a tile has in each slot between the edges
    place(counter, items)            for what it leaves open

No score decides unless it is further from the edges than the bound on its error, which holds for any order of summation,
and counts are integers: so the result is that of the core, by the same proof.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from deadheat.engine.counting.card.counting import count_between, kernel_of
from deadheat.engine.counting.card.device import Card, Tensor
from deadheat.engine.counting.card.scores import CardScores
from deadheat.engine.counting.layout import ColumnRange
from deadheat.engine.counting.passes import Assembly, CountingPass, Polling, Section
from deadheat.engine.distances.distance import Distance
from deadheat.support.arrays import Int64, slices
from deadheat.support.progress import Workers, raise_if_cancelled

MANY_OPEN = 1 / 64  # share of a tile in float32 beyond which a product in float64 is cheaper than single pairs


class CardPass(CountingPass):
    """A counting pass whose tiles are on a card. Blocks, shards and so checkpoints are those of any pass."""

    def __init__(self, card: Card, distance: Distance, *args: Any, **options: Any) -> None:
        super().__init__(distance, *args, **options)
        self.card, self.stream = card, card.stream()
        with card.using(self.stream):
            self.scores = CardScores(card, self.distance)
            self.weight = None if self.problem.plain else card.upload(self.problem.weight)
        self.distance = self.scores.distance
        self.last = len(self.distance.levels) - 1
        self._edges: dict[
            Any, tuple[Tensor, bool]
        ] = {}  # of the blocks of a shard, and whether slots between are closed

    @cached_property
    def cut_up(self) -> tuple[list[Int64], list[ColumnRange]]:
        blocks, _ = self.layout.cut()
        each = 64 if kernel_of(self.card) is None else 16  # bytes of a score, sorted with its place or not
        return blocks, self.layout.column_ranges(
            self.card.columns(max(map(len, blocks), default=1), each, self.distance.dim)
        )

    def large(self, blocks: list[Int64]) -> set[int]:
        return set()  # what is counted here is in tiles

    def streams(self, n_shard: int) -> bool:
        return False

    def count_shard(
        self, queries: dict[int, Int64], sections: list[Section], assembly: Assembly, threads: int,
        report: Callable[[int], None], *, outside_tiles: bool = True,
    ) -> None:  # fmt: skip
        with Polling(self.core, report) as poll:
            made = self.core.make(queries, threads, poll)
        blocks, tiles = dict(zip(sorted(queries), made, strict=True)), []
        for section in sections:
            some = [blocks[number] for number in blocks if number in section.blocks]
            tiles += [(columns, block) for columns in section.ranges for block in some]
        with Workers(threads) as workers:
            workers.each(lambda tile: self._count(*tile, report), tiles)
        self._let_go()
        assembly.add(made.collect(outside_tiles, assembly.room))

    def _count(self, columns: ColumnRange, block: Any, report: Callable[[int], None]) -> None:
        """Count a tile on the card; then the core decides what that leaves open."""
        raise_if_cancelled()
        for counter, counts, rows, places, slots, scores in self._on_card(columns, block):
            block.add(counter, counts)
            if len(rows):
                if scores is None:
                    scores = self.distance.scores.pair_scores(block.queries[rows], places)
                block.place(counter, rows, places, scores, slots >> 1, self.problem.weight[places].astype(np.int64))
        report(len(block.queries) * len(columns.columns))

    def _on_card(self, columns: ColumnRange, block: Any) -> list[Any]:
        """Count a tile on the card, by parts if there is not memory enough for it."""
        try:
            with self.card.using(self.stream):
                return self._tile(columns, block, 0 if self.card.has_float32() else self.last)
        except self.card.torch.cuda.OutOfMemoryError:
            if len(columns.columns) == 1:
                raise
        self._let_go()
        self.card.torch.cuda.empty_cache()
        parts = [columns.columns[part] for part in slices(len(columns.columns), -(-len(columns.columns) // 2))]
        return [found for part in parts for found in self._on_card(columns._replace(columns=part), block)]

    def _tile(self, columns: ColumnRange, block: Any, level: int) -> list[Any]:
        """Return, for each sequence of cuts, the counts, and rows, columns, slots and float64 scores of what is open."""
        start, stop, found = columns.columns.start, columns.columns.stop, []
        tile = self.scores.tile(level, block.queries, columns.columns)
        self._leave_out(block, tile, columns.columns)
        for counter in range(block.n_counter):
            if (key := (id(block), counter, level, columns.band)) not in self._edges:
                edges, closed = block.edges(*key[1:])
                self._edges[key] = self.card.upload(edges), closed
            edges, closed = self._edges[key]
            weight = None if self.weight is None else self.weight[start:stop]
            counted = count_between(self.card, tile, edges, weight, closed)
            counts, rows, places, slots = (each.cpu().numpy() for each in counted)
            if level < self.last and (len(rows) > MANY_OPEN * tile.numel() or not self.card.has_float32()):  # any more
                return self._tile(columns, block, self.last)
            scores = tile[counted[1], counted[2]].cpu().numpy() if level == self.last else None
            found.append((counter, counts, rows, places + start, slots, scores))
        return found

    def _leave_out(self, block: Any, tile: Tensor, columns: range) -> None:
        """Move what does not count farther than all other scores."""
        excluded, junk = self.card.upload(block.excluded), self.problem.relevance.candidates.junk
        rows, entries = ((excluded >= columns.start) & (excluded < columns.stop)).nonzero(as_tuple=True)
        tile[rows, excluded[rows, entries].long() - columns.start] = -math.inf
        if junk is not None:
            items, starts = self.problem.items_of_columns
            here = items[starts[columns.start] : starts[columns.stop]]
            row, place = np.nonzero(junk[np.ix_(block.queries, here)])
            column = self.problem.distance.columns.column_of_item[here[place]] - columns.start
            tile[self.card.upload(row), self.card.upload(column)] = -math.inf

    def _let_go(self) -> None:
        """Free what is on the card for the next tiles."""
        self.scores.let_go()
        self._edges = {}
