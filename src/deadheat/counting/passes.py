"""The counting pass: from embeddings and labels to a tie profile, in blocks, without the distance matrix.

Blocks of queries sort the few scores of their relevant items into groups; then all other items are counted between the
cuts that the groups make, one tile of scores at a time, while the tile is in cache:

    queries × gallery:  [ tile | tile | … ]   each: product ─> count for its rows ─> turn it ─> count for its columns

Leave one out is symmetric, so that a tile serves its columns as queries too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from threading import Event
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deadheat import _core
from deadheat.counting.blocks import Assembly, Block
from deadheat.counting.candidates import Relevance
from deadheat.counting.checkpoint import Checkpoint
from deadheat.counting.counters import Tile
from deadheat.counting.layout import ColumnRange, Layout, mirrored
from deadheat.counting.problem import RankingProblem
from deadheat.distances import Distance, Workspace
from deadheat.profiles import TieProfile
from deadheat.support.arrays import Int64
from deadheat.support.progress import Progress, Reporting
from deadheat.support.workers import Workers
from deadheat.ties import Ties

READY_BYTES = 64 << 20  # what blocks may take that are kept ready for the product


class CountingPass:
    """One counting pass: the work on its blocks, tiles and shards."""

    def __init__(self, distance: Distance, rule: Ties, relevance: Relevance, resumable: bool = False) -> None:
        in_order_of_queries = mirrored(distance, relevance)
        problem = RankingProblem(in_order_of_queries or distance, rule, relevance)
        self.layout = Layout(problem, in_order_of_queries is not None, resumable)
        self.problem = problem.at(problem.distance.expecting(self.layout.n_relevant, self.layout.mirrored))
        self.space = Workspace()
        _ = self.problem.distance.patterns  # looked for before there are threads

    def run(self, threads: int, progress: bool | Progress, checkpoint: Checkpoint | None = None) -> TieProfile:
        """Work through all shards and put the profile together."""
        blocks, ranges = self.cut()
        self.range_of = {columns.block: columns for columns in ranges}
        shards, assembly = self.layout.shards(blocks), Assembly(self.problem)
        left = [k for k, shard in enumerate(shards) if not assembly.load(checkpoint, k, [blocks[b] for b in shard])]
        total = len(self.layout.active) * self.problem.n_column
        done = total - sum(len(blocks[b]) for k in left for b in shards[k]) * self.problem.n_column
        with Workers(threads) as workers, Reporting(progress, total, done=done) as report:
            for place, number in enumerate(left):
                try:
                    self._count_shard(workers, {b: blocks[b] for b in shards[number]}, ranges, assembly, report)
                except KeyboardInterrupt:
                    n_kept = len(shards) - len(left) + place
                    raise KeyboardInterrupt(_what_is_kept(checkpoint, n_kept, len(shards))) from None
                assembly.save(checkpoint, number, [blocks[b] for b in shards[number]])
        return assembly.profile(self.problem)

    def cut(self) -> tuple[list[Int64], list[ColumnRange]]:
        """The queries of each block, and the columns of each tile."""
        return self.layout.cut()

    def _count_shard(
        self, workers: Workers, queries: dict[int, Int64], ranges: list[ColumnRange], assembly: Assembly,
        report: Callable[[int], None],
    ) -> None:  # fmt: skip
        """Make the blocks of a shard, count all tiles for them, and hand in their groups."""
        made = workers.each(lambda number: Block(self.problem, queries[number]), queries)
        blocks = dict(zip(queries, made, strict=True))
        ready = self.rows_made_ready(workers, blocks)
        workers.each(lambda columns: self.count_range(columns, blocks, ready, workers.stop, report), ranges[::-1])
        workers.each(assembly.add, made)

    def rows_made_ready(self, workers: Workers, blocks: dict[int, Block]) -> dict[int, NDArray[Any]]:
        """The queries of each block made ready for the first level, if all of them are small enough to be kept."""
        distance = self.problem.distance
        per_row = distance.query_rows(0, self.layout.active[:1]).nbytes
        if sum(len(block.queries) for block in blocks.values()) * per_row > READY_BYTES:
            return {}
        rows = workers.each(lambda number: distance.query_rows(0, blocks[number].queries), blocks)
        return dict(zip(blocks, rows, strict=True))

    def count_range(
        self, columns: ColumnRange, blocks: dict[int, Block], ready: dict[int, NDArray[Any]], stop: Event,
        report: Callable[[int], None],
    ) -> None:  # fmt: skip
        """Count a range of columns for all blocks; where it is a block of the shard, both for each other but once."""
        distance, index = self.problem.distance, np.arange(columns.columns.start, columns.columns.stop)
        mirror = blocks.get(columns.block)
        right: dict[int, NDArray[Any]] = {0: ready[columns.block]} if mirror is not None and ready else {}
        for number in _by_turns([b for b in blocks if mirror is None or b <= columns.block], columns):
            if stop.is_set():
                return
            block = blocks[number]
            level = max(block.level, mirror.level if mirror is not None else 0)
            if level not in right:
                right[level] = distance.column_rows(level, index)
            if mirror is block:
                left = right[level]
            else:
                left = ready[number] if ready and level == 0 else distance.query_rows(level, block.queries)
            self._count_tile(level, columns, number, blocks, left, right[level])
            report((len(block.queries) * len(index)) * (1 if mirror in (None, block) else 2))

    def _count_tile(
        self, level: int, columns: ColumnRange, number: int, blocks: dict[int, Block],
        left: NDArray[Any], right: NDArray[Any],
    ) -> None:  # fmt: skip
        """Count the scores of a block for a range of columns, and those of the range for the block's columns."""
        distance, space = self.problem.distance, self.space
        block, mirror = blocks[number], blocks.get(columns.block) if columns.block != number else None
        products = distance.product(level, left, right, space)
        if mirror is not None:
            turned = space.get("turned", products.shape[::-1], products.dtype)
            _core.transpose(products, turned)

        def add(to: Block, at: ColumnRange, rows: tuple[NDArray[Any], NDArray[Any]], values: NDArray[Any]) -> None:
            scores = distance.finish(values, np.arange(at.columns.start, at.columns.stop), space)
            to.add(Tile(distance, level, to.queries, at.columns, rows, scores, space), at.band)

        add(block, columns, (left, right), products)
        if mirror is not None:
            add(mirror, self.range_of[number], (right, left), turned)


def _by_turns(numbers: Iterable[int], columns: ColumnRange) -> list[int]:
    """The numbers of blocks from another one on for each range, so that threads do not meet at one block."""
    in_order = list(numbers)
    turn = len(in_order) * (columns.columns.start % 7) // 7
    return in_order[turn:] + in_order[:turn]


def _what_is_kept(checkpoint: Checkpoint | None, done: int, total: int) -> str:
    """What an interrupt leaves."""
    if checkpoint is None:
        return "nothing is kept: give a checkpoint to go on from where a run was interrupted"
    return f"{done} of {total} shards are kept in {checkpoint}"
