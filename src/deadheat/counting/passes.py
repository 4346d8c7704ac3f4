"""The counting pass: from embeddings and labels to a tie profile, in blocks, without the distance matrix.

Blocks of queries sort the few scores of their relevant items into groups; then all other items are counted between the
cuts that the groups make, one tile of scores at a time, while the tile is in cache:

    queries × gallery:  [ tile | tile | … ]   each: product ─> count for its rows ─> turn it ─> count for its columns

Leave one out is symmetric, so that a tile serves its columns as queries too. Where classes are so large that few blocks
fit in memory at a time, few tiles would: then block after block is made, counted along all columns, and forgotten.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from functools import cached_property
from threading import Event
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from deadheat import _core
from deadheat.counting.blocks import Assembly, Block, Counts
from deadheat.counting.candidates import Relevance
from deadheat.counting.layout import ColumnRange, Layout, mirrored
from deadheat.counting.problem import RankingProblem
from deadheat.counting.tiles import Ready, Tile
from deadheat.distances import Distance, Workspace
from deadheat.distances.levels import CHUNK
from deadheat.profiles import TieProfile
from deadheat.support.arrays import Int64
from deadheat.support.progress import Progress, Reporting
from deadheat.support.workers import Workers, go_on
from deadheat.ties import Ties

if TYPE_CHECKING:
    from deadheat.counting.checkpoint import Checkpoint

READY_BYTES = 64 << 20  # what blocks may take that are kept ready for the product: packed, and perhaps as rows too
STREAMED_SHARDS = 3  # from which on blocks are counted one by one,
STREAMED_BYTES = 96 << 20  # if all columns made ready take no more


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
        blocks, ranges = self.cut_up
        shards, assembly = self.layout.shards(blocks), Assembly(self.problem)
        left = [k for k, shard in enumerate(shards) if not assembly.load(checkpoint, k, [blocks[b] for b in shard])]
        total = len(self.layout.active) * self.problem.n_column
        done = total - sum(len(blocks[b]) for k in left for b in shards[k]) * self.problem.n_column
        with Workers(threads) as workers, Reporting(progress, total, done=done) as report:
            streamed = self.columns_made_ready(workers, len(shards))
            for place, number in enumerate(left):
                queries = {b: blocks[b] for b in shards[number]}
                try:
                    if streamed:
                        self.stream_shard(workers, queries, streamed, assembly, report)
                    else:
                        self.count_shard(workers, queries, [Section(ranges, shards[number])], assembly, report)
                except KeyboardInterrupt:
                    n_kept = len(shards) - len(left) + place
                    raise KeyboardInterrupt(_what_is_kept(checkpoint, n_kept, len(shards))) from None
                assembly.save(checkpoint, number, [blocks[b] for b in shards[number]])
        return assembly.profile(self.problem)

    def cut(self) -> tuple[list[Int64], list[ColumnRange]]:
        """The queries of each block, and the columns of each tile."""
        return self.layout.cut()

    @cached_property
    def cut_up(self) -> tuple[list[Int64], list[ColumnRange]]:
        """What `cut` gives, made once."""
        return self.cut()

    @cached_property
    def range_of(self) -> dict[int, ColumnRange]:
        """The columns that each block is."""
        return {columns.block: columns for columns in self.cut_up[1]}

    def count_shard(
        self, workers: Workers, queries: dict[int, Int64], sections: list[Section], assembly: Assembly,
        report: Callable[[int], None], *, beside_tiles: bool = True,
    ) -> None:  # fmt: skip
        """Make the blocks of a shard, count the tiles of each section for its blocks, and hand in their groups.

        Sections have no tile twice, nor turned. `beside_tiles` says whether to count what is in no tile, too.
        """
        made = workers.each(lambda number: Block(self.problem, queries[number]), queries)
        blocks = {number: block for number, block in zip(queries, made, strict=True) if block.tiled}
        ready = self.rows_made_ready(workers, blocks)

        def count(work: tuple[ColumnRange, dict[int, Block]]) -> None:
            columns, of_section = work
            self.count_range(columns, of_section, ready, workers.stop, report, blocks.get(columns.block))

        works = []
        for section in sections:
            of_section = {number: blocks[number] for number in section.blocks if number in blocks}
            if of_section:
                works += [(columns, of_section) for columns in self.layout.joined(section.ranges, blocks)]
        workers.each(count, works[::-1])
        report(sum(len(block.queries) for block in made if not block.tiled) * self.problem.n_column)
        workers.each(lambda block: assembly.add(block, beside_tiles), made)

    def columns_made_ready(self, workers: Workers, n_shard: int) -> dict[ColumnRange, Ready]:
        """All columns in long ranges, made ready for the first level, if blocks are to be counted one by one.

        Where blocks make many shards a tile seldom serves both of its sides. What a block keeps for counting is fetched
        into the cache less often where it runs along many columns at once.
        """
        distance, ranges = self.problem.distance, self.layout.long_ranges()
        per_row = distance.query_rows(0, self.layout.active[:1]).nbytes
        if n_shard < STREAMED_SHARDS or 2 * self.problem.n_column * per_row > STREAMED_BYTES:
            return {}
        ready = workers.each(lambda part: Ready(distance, 0, np.arange(*_ends(part)), of_query=False), ranges)
        return dict(zip(ranges, ready, strict=True))

    def stream_shard(
        self, workers: Workers, queries: dict[int, Int64], ready: dict[ColumnRange, Ready], assembly: Assembly,
        report: Callable[[int], None],
    ) -> None:  # fmt: skip
        """Make each block of a shard, count all columns for it, and hand in its groups."""

        def count(number: int) -> None:
            block = Block(self.problem, queries[number])
            if block.tiled:
                left = {number: Ready(self.problem.distance, 0, block.queries, of_query=True)}
                for columns, right in ready.items():
                    go_on()
                    self.count_range(columns, {number: block}, left, workers.stop, report, of_first=right)
            else:
                report(len(block.queries) * self.problem.n_column)
            assembly.add(block)

        workers.each(count, queries)

    def rows_made_ready(self, workers: Workers, blocks: dict[int, Block]) -> dict[int, Ready]:
        """The queries of each block made ready for the first level, if all of them are small enough to be kept."""
        distance = self.problem.distance
        per_row = distance.query_rows(0, self.layout.active[:1]).nbytes
        n_row = sum(len(block.queries) for block in blocks.values())
        if n_row * per_row > READY_BYTES:
            return {}
        keep = 2 * n_row * per_row <= READY_BYTES
        rows = workers.each(lambda number: Ready(distance, 0, blocks[number].queries, of_query=True, keep=keep), blocks)
        return dict(zip(blocks, rows, strict=True))

    def count_range(
        self, columns: ColumnRange, blocks: dict[int, Block], ready: dict[int, Ready], stop: Event,
        report: Callable[[int], None], mirror: Block | None = None, of_first: Ready | None = None,
    ) -> None:  # fmt: skip
        """Count a range of columns for all blocks; where it is the block `mirror`, both for each other but once.

        `of_first` are the rows of the columns for the first level, if they are there already.
        """
        distance, index = self.problem.distance, np.arange(*_ends(columns))
        aside = None if mirror is None else mirror.aside()
        of_first = ready[columns.block] if mirror is not None and ready else of_first
        right: dict[int, Ready] = {} if of_first is None else {0: of_first}
        left_of = {number: block for number, block in blocks.items() if mirror is None or number <= columns.block}
        for number in _by_turns(left_of, columns):
            if stop.is_set():
                return
            block = blocks[number]
            level = max(block.level, mirror.level if mirror is not None else 0)
            if level not in right:
                right[level] = Ready(distance, level, index, of_query=False)
            if mirror is block:
                left = right[level]
            else:
                left = ready[number] if ready and level == 0 else Ready(distance, level, block.queries, of_query=True)
            tile = Tile(distance, level, block.queries, columns.columns, (left, right[level]), self.space)
            sides = [Side(block, tile, columns.band, "across", block.counts)]
            if mirror is not None and mirror is not block and aside is not None:
                of_block = self.range_of[number]
                turned = Tile(distance, level, mirror.queries, of_block.columns, (right[level], left), self.space, tile)
                sides.append(Side(mirror, turned, of_block.band, "down", aside))
            fused = left.panels is not None and all(side.block.narrow for side in sides)
            (_count_products if fused else _count_scores)(sides)
            report(tile.size * len(sides))
        if mirror is not None and aside is not None:
            mirror.join(aside)


def _ends(columns: ColumnRange) -> tuple[int, int]:
    """Where a range of columns begins and ends."""
    return columns.columns.start, columns.columns.stop


class Section(NamedTuple):
    """Ranges of columns, and the numbers of the blocks that they are counted for."""

    ranges: list[ColumnRange]
    blocks: Collection[int]


class Side(NamedTuple):
    """A block, the tile of a range of columns for its queries, and what that is counted in."""

    block: Block
    tile: Tile
    band: int
    name: str  # "across", or "down" for the tile that is the first one turned
    counts: Counts


def _count_scores(sides: list[Side]) -> None:
    """Count the scores of a tile, and those of the same tile turned if that has a side of its own."""
    tile = sides[0].tile
    space, distance = tile.space, tile.distance
    products = [distance.product(tile.level, *tile.rows, space)]
    if len(sides) > 1:
        products.append(space.get("turned", products[0].shape[::-1], products[0].dtype))
        _core.transpose(*products)
    for side, values in zip(sides, products, strict=True):
        columns = np.arange(side.tile.columns.start, side.tile.columns.stop)
        side.block.add(side.tile, distance.finish(values, columns, space), side.band)


def _count_products(sides: list[Side]) -> None:
    """The same where the core counts while it multiplies."""
    tile = sides[0].tile
    left, right = tile.ready
    with sides[0].block.counting:  # what the other side is counted in belongs to this thread
        places = [side.block.side(*side[1:]) for side in sides]
        chunk = tile.distance.levels[tile.level].chunk or CHUNK
        n_open = _core.count_products(left.panels, right.panels, chunk, places)
        for side, place, n in zip(sides, places, n_open, strict=True):
            side.block.take(side.tile, side.band, place, n, side.counts)


def _by_turns(blocks: dict[int, Block], columns: ColumnRange) -> Iterator[int]:
    """The numbers of blocks from another one on for each range, those last that another thread is counting for."""
    waiting = list(blocks)
    turn = len(waiting) * (columns.columns.start % 7) // 7
    waiting = waiting[turn:] + waiting[:turn]
    while waiting:
        free = next((number for number in waiting if not blocks[number].counting.locked()), waiting[0])
        waiting.remove(free)
        yield free


def _what_is_kept(checkpoint: Checkpoint | None, done: int, total: int) -> str:
    """What an interrupt leaves."""
    if checkpoint is None:
        return "nothing is kept: give a checkpoint to go on from where a run was interrupted"
    return f"{done} of {total} shards are kept in {checkpoint}"
