"""The counting pass: from embeddings and labels to a tie profile, in blocks, without the distance matrix.

Blocks of queries sort the few scores of their relevant items into groups; then all other items are counted between the
cuts that the groups make, one tile of scores at a time, while the tile is in cache:

    queries × gallery:  [ tile | tile | … ]   each: product ─> count for its rows ─> turn it ─> count for its columns

Leave one out is symmetric, so that a tile serves its columns as queries too. What blocks need while they count is
kept for all of them at once as far as memory allows: the blocks that fit are a *shard*, and shards follow each other.
No result depends on how the work is cut up.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from threading import Event, local
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deadheat.counting import kernels
from deadheat.counting.blocks import Block, RankingProblem, Tile, n_bins
from deadheat.counting.checkpoint import Checkpoint
from deadheat.counting.relevance import Relevance
from deadheat.distances import Distance, Workspace
from deadheat.profiles import TieProfile
from deadheat.support.progress import Progress, Reporting
from deadheat.support.spans import spread
from deadheat.support.workers import Workers
from deadheat.ties import Ties

Int64 = NDArray[np.int64]

BLOCK_ROWS = 1024  # queries in a block
TILE_COLUMNS = 1024  # columns in a tile: what a row keeps for counting is fetched once for so many items
_BLOCK_ENTRIES = 1 << 19  # relevant pairs in a block, where classes are large
_SHARD_BYTES = 160 << 20  # what the blocks of a shard may take, and for each relevant pair of all queries:
_PAIR_BYTES = 16
_CHECKPOINT_SHARDS = 16  # into which a run with a checkpoint is cut, if it is long enough
_KEPT_BYTES = 64 << 20  # what blocks may take that are kept ready for the product
_SYMMETRIC_SHARE = 0.75  # of distinct rows from which on leave one out computes only half of the products


@dataclass(frozen=True)
class ColumnRange:
    """A run of columns of one band that make a tile, and the number of the block of queries that they are, or −1."""

    columns: range
    band: int
    block: int


class CountingPass:
    """One counting pass: how it is cut into blocks, tiles and shards, and the work on them."""

    def __init__(self, distance: Distance, rule: Ties, relevance: Relevance, resumable: bool = False) -> None:
        self.resumable = resumable
        n_query = len(relevance.query_class)
        self.symmetric = relevance.leave_one_out and len(distance.columns) >= _SYMMETRIC_SHARE * n_query
        if self.symmetric:
            size = np.bincount(relevance.gallery_class)[relevance.query_class]
            self.alone = size < 2  # the only one of its class
            distance = distance.arranged(distance.columns.as_items(_by_band_and_class(distance, relevance, size)))
        self.problem = RankingProblem(distance, rule, relevance)
        self.active = np.flatnonzero(~self.alone if self.symmetric else self.problem.most_groups)
        n_relevant = float(self.problem.width[self.active].mean()) if len(self.active) else 0.0
        self.distance = self.problem.distance = distance.expecting(n_relevant, self.symmetric)
        self.own = local()

    def identity(self) -> dict[str, str]:
        """What a profile follows from, for a checkpoint."""
        relevance, rule, name = self.problem.relevance, self.problem.rule, self.distance.name
        parts = {
            "query embeddings": self.distance.fingerprint(of_query=True),
            "distance": name,
            "ties": rule.describe(name),
        }
        if not relevance.leave_one_out:
            parts["gallery embeddings"] = self.distance.fingerprint(of_query=False)
        parts["labels"] = _digest(relevance.query_class, relevance.gallery_class)
        if relevance.junk is not None or not relevance.ranked.all():
            parts["junk"] = _digest(relevance.ranked, *(() if relevance.junk is None else (relevance.junk,)))
        return parts

    def run(self, threads: int, progress: bool | Progress, checkpoint: Checkpoint | None = None) -> TieProfile:
        """Work through all shards and put the profile together."""

        blocks, runs = self._layout(threads)
        self.run_of = {run.block: run for run in runs}
        shards, assembly = self._shards(blocks), _Assembly(self.problem)
        left = [k for k, shard in enumerate(shards) if not assembly.load(checkpoint, k, [blocks[b] for b in shard])]
        total = len(self.active) * self.problem.n_column
        done = total - sum(len(blocks[b]) for k in left for b in shards[k]) * self.problem.n_column
        with (
            Workers(threads) as workers,
            Reporting(progress, total, done=done) as report,
        ):
            for place, number in enumerate(left):
                try:
                    self._count_shard(workers, {b: blocks[b] for b in shards[number]}, runs, assembly, report)
                except KeyboardInterrupt:
                    raise KeyboardInterrupt(
                        _what_is_kept(checkpoint, len(shards) - len(left) + place, len(shards))
                    ) from None
                assembly.save(checkpoint, number, [blocks[b] for b in shards[number]])
        return assembly.profile(self.problem)

    def _layout(self, threads: int) -> tuple[list[Int64], list[ColumnRange]]:
        """The queries of each block, and the columns of each tile."""
        columns = self.distance.columns
        most = BLOCK_ROWS if self.resumable else -(-len(self.active) // (2 * threads)) or 1
        blocks: list[Int64] = []
        runs: list[ColumnRange] = []
        if not self.symmetric:
            blocks = self._blocks(_by_class(self.problem.relevance, self.active, self.problem.width), most)
            for band, (start, stop) in enumerate(columns.bands):
                runs += [ColumnRange(part, band, -1) for part in _parts(start, stop, TILE_COLUMNS)]
            return blocks, runs
        for band, (start, stop) in enumerate(columns.bands):
            items = columns.item_of_column[start:stop]
            n_active = int((~self.alone[items]).sum())  # they come first
            for queries in self._blocks(items[:n_active], min(most, TILE_COLUMNS)):
                runs.append(ColumnRange(range(start, start + len(queries)), band, len(blocks)))
                blocks.append(queries)
                start += len(queries)
            runs += [ColumnRange(part, band, -1) for part in _parts(start, stop, TILE_COLUMNS)]
        return blocks, runs

    def _blocks(self, order: Int64, most: int) -> list[Int64]:
        """Queries in their order, cut into blocks."""
        size, start, blocks = self.problem.width[order], 0, []
        most = min(BLOCK_ROWS, most)
        while start < len(order):
            widest = int(size[start : start + most].max())
            stop = start + max(4, min(most, _BLOCK_ENTRIES // max(1, widest)))
            blocks.append(order[start:stop])
            start = stop
        return blocks

    def _shards(self, blocks: list[Int64]) -> list[list[int]]:
        """The numbers of the blocks of each shard, such that what these need fits in memory."""
        room = _SHARD_BYTES + _PAIR_BYTES * int(self.problem.most_groups[self.active].sum())
        most = max(BLOCK_ROWS, len(self.active) // _CHECKPOINT_SHARDS) if self.resumable else len(self.active)
        shards: list[list[int]] = []
        taken, n_row = room, 0
        for number, queries in enumerate(blocks):
            width = int(self.problem.width[queries].max())
            need = len(queries) * (64 * width + 2 * n_bins(2 * width) + 100)
            if taken + need > room or n_row + len(queries) > most:
                shards.append([])
                taken = n_row = 0
            shards[-1].append(number)
            taken, n_row = taken + need, n_row + len(queries)
        return shards

    def _count_shard(
        self, workers: Workers, queries: dict[int, Int64], runs: list[ColumnRange], assembly: _Assembly,
        report: Callable[[int], None],
    ) -> None:  # fmt: skip
        """Make the blocks of a shard, count all tiles for them, and hand in their groups."""
        made = workers.each(lambda number: Block(self.problem, queries[number]), queries)
        blocks = dict(zip(queries, made, strict=True))
        kept = self._kept_rows(workers, blocks)
        workers.each(lambda run: self._count_run(run, blocks, kept, workers.stop, report), runs[::-1])
        workers.each(assembly.add, made)

    def _kept_rows(self, workers: Workers, blocks: dict[int, Block]) -> dict[int, NDArray[Any]]:
        """The queries of each block made ready for the first level, if all of them are small enough to be kept."""
        per_row = self.distance.query_rows(0, self.active[:1]).nbytes
        if sum(len(block.queries) for block in blocks.values()) * per_row > _KEPT_BYTES:
            return {}
        rows = workers.each(lambda number: self.distance.query_rows(0, blocks[number].queries), blocks)
        return dict(zip(blocks, rows, strict=True))

    def _count_run(
        self, run: ColumnRange, blocks: dict[int, Block], kept: dict[int, NDArray[Any]], stop: Event,
        report: Callable[[int], None],
    ) -> None:  # fmt: skip
        """Count a run of columns for all blocks; where it is a block of the shard, both for each other but once."""
        if not hasattr(self.own, "space"):
            self.own.space = Workspace()
        columns = np.arange(run.columns.start, run.columns.stop)
        partner = blocks.get(run.block)
        right: dict[int, NDArray[Any]] = {0: kept[run.block]} if partner is not None and kept else {}
        numbers = [number for number in blocks if partner is None or number <= run.block]
        turn = len(numbers) * (run.columns.start % 7) // 7  # so that threads do not meet at one block
        for number in numbers[turn:] + numbers[:turn]:
            if stop.is_set():
                return
            block = blocks[number]
            one = max(block.number, partner.number if partner is not None else 0)
            if one not in right:
                right[one] = self.distance.column_rows(one, columns)
            if partner is block:
                left = right[one]
            else:
                left = kept[number] if kept and one == 0 else self.distance.query_rows(one, block.queries)
            self._count_tile(one, run, number, blocks, left, right[one])
            report((len(block.queries) * len(columns)) * (1 if partner in (None, block) else 2))

    def _count_tile(
        self, one: int, run: ColumnRange, number: int, blocks: dict[int, Block], left: NDArray[Any], right: NDArray[Any]
    ) -> None:
        """Count the scores of a block for a run of columns, and those of the run for the block's columns."""

        distance, space = self.distance, self.own.space
        block, partner = blocks[number], blocks.get(run.block) if run.block != number else None
        products = distance.product(one, left, right, space)
        if partner is not None:
            turned = space.get("turned", products.shape[::-1], products.dtype)
            kernels.transpose(products, turned)
        columns = np.arange(run.columns.start, run.columns.stop)
        scores = distance.finish(products, columns, space)
        block.add(Tile(distance, one, block.queries, run.columns, (left, right), scores, space), run.band)
        if partner is not None:
            own = self.run_of[number]
            scores = distance.finish(turned, np.arange(own.columns.start, own.columns.stop), space)
            partner.add(Tile(distance, one, partner.queries, own.columns, (right, left), scores, space), own.band)


class _Assembly:
    """The arrays of the profile, with room for as many groups as each query can have."""

    def __init__(self, problem: RankingProblem) -> None:
        n_query = len(problem.relevance.query_class)
        self.offsets = np.concatenate([[0], np.cumsum(problem.most_groups)])
        self.arrays = tuple(np.empty(self.offsets[-1], dtype=np.int64) for _ in range(4))
        self.n_group, self.n_relevant = np.zeros((2, n_query), dtype=np.int64)

    def add(self, block: Block) -> None:
        """Take the groups of a block that has counted everything."""
        self.n_group[block.queries], self.n_relevant[block.queries] = block.n_group, block.n_relevant
        block.finish(self.offsets, self.arrays)

    def save(self, checkpoint: Checkpoint | None, number: int, blocks: list[Int64]) -> None:
        """Keep what is known of a shard's queries."""
        if checkpoint is None:
            return
        queries = np.concatenate(blocks)
        places = spread(self.offsets[queries], self.n_group[queries])
        groups = {f"groups_{k}": array[places] for k, array in enumerate(self.arrays)}
        checkpoint.save(number, {"n_group": self.n_group[queries], "n_relevant": self.n_relevant[queries], **groups})

    def load(self, checkpoint: Checkpoint | None, number: int, blocks: list[Int64]) -> bool:
        """Take what was kept of a shard's queries; whether anything was."""
        kept = None if checkpoint is None else checkpoint.load(number)
        if kept is None:
            return False
        queries = np.concatenate(blocks)
        self.n_group[queries], self.n_relevant[queries] = kept["n_group"], kept["n_relevant"]
        places = spread(self.offsets[queries], self.n_group[queries])
        for k, array in enumerate(self.arrays):
            array[places] = kept[f"groups_{k}"]
        return True

    def profile(self, problem: RankingProblem) -> TieProfile:
        """The profile, without the room that was not needed."""

        offsets = np.concatenate([[0], np.cumsum(self.n_group)])
        if offsets[-1] < self.offsets[-1]:
            for array in self.arrays:
                kernels.close_gaps(array, self.offsets, self.n_group)
        arrays = [array[: offsets[-1]] for array in self.arrays]
        if offsets[-1] < 0.9 * self.offsets[-1]:
            arrays = [array.copy() for array in arrays]
        closer, closer_relevant, tied, tied_relevant = arrays
        return TieProfile(
            offsets, closer, closer_relevant, tied, tied_relevant, problem.relevance.n_ranked(), self.n_relevant,
            bounds_only=problem.rule.bounds_only, check=False,
        )  # fmt: skip


# Orders ----------------------------------------------------------------------------------------------------------


def _by_class(relevance: Relevance, queries: Int64, size: Int64) -> Int64:
    """Queries sorted by the size of their class, and by class."""
    return queries[np.lexsort((relevance.query_class[queries], size[queries]))]


def _by_band_and_class(distance: Distance, relevance: Relevance, size: Int64) -> Int64:
    """All items by band; in each those that are alone in their class last, and the others as in `_by_class`."""
    items = np.arange(len(size))
    return np.lexsort((relevance.query_class, size, size < 2, distance.columns.band_of(items)))


def _parts(start: int, stop: int, step: int) -> list[range]:
    """A range cut into ranges of equal length, but for the last."""
    return [range(first, min(first + step, stop)) for first in range(start, stop, step)]


def _digest(*arrays: NDArray[Any]) -> str:
    """A digest of arrays, of their shapes and types."""
    found = hashlib.blake2b(digest_size=32)
    for array in arrays:
        found.update(f"{array.shape} {array.dtype.str} ".encode())
        found.update(np.ascontiguousarray(array).data)
    return found.hexdigest()


def _what_is_kept(checkpoint: Checkpoint | None, done: int, total: int) -> str:
    """What an interrupt leaves."""
    if checkpoint is None:
        return "nothing is kept: give a checkpoint to go on from where a run was interrupted"
    return f"{done} of {total} shards are kept in {checkpoint}"
