"""Partition of a counting pass: queries into blocks, columns into tiles, and blocks into shards.

    queries × gallery:  [ tile | tile | … ]

The working data of blocks are kept for as many blocks at once as fit in memory: these are a *shard*. The core cuts the
tiles of all shards into a list of pieces for its threads (`core/pass/plan.h`). No result depends on the partition.

Leave one out is symmetric: every pair comes twice. Then columns are put in the order of the queries, so that a tile of
two blocks is multiplied once and counted for both.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

import numpy as np

from deadheat.engine.counting.candidates import Relevance
from deadheat.engine.counting.problem import RankingProblem
from deadheat.engine.distances.distance import Distance
from deadheat.support.arrays import Int64

BLOCK_ROWS = 384  # queries in a block: a square of scores that fits in cache (visit.cpp), small enough for 64 threads
TILE_COLUMNS = 1024  # columns in a tile: the counting data of a row are loaded once per tile
ROWS_BYTES = 16 << 20  # for the rows of a block or a tile, if rows are long
LONG_ROW = 4096  # numbers; longer rows are not kept ready, but multiplied in slices of this length (core/pass/scores.h)
FEWEST_ROWS = 8  # long rows that are read at once
STREAMED_COLUMNS = 4096  # columns in a tile if blocks are counted one by one, along all columns
BLOCK_ENTRIES = 1 << 18  # relevant pairs in a block, if classes are large
SHARD_BYTES = 120 << 20  # for the blocks of a shard, with their rows ready to be multiplied,
PAIR_BYTES = 48  # for each relevant pair,
FEWEST_BINS, MOST_BINS, BIN_BYTES = 512, 2048, 2  # for each query, about two bins for each edge, two edges for a group
MAKING_BYTES = 2 * 112  # in addition, for each pair of the largest block, while two threads make theirs
SYMMETRIC_SHARE = 0.75  # of distinct rows from which on symmetric pairs are computed only once


class Share(NamedTuple):
    """Share `number` of `n` of successive queries or columns."""

    number: int
    n: int

    def of(self, start: int, stop: int) -> slice:
        first, last = ((stop - start) * number // self.n for number in (self.number, self.number + 1))
        return slice(start + first, start + last)


WHOLE = Share(0, 1)


class ColumnRange(NamedTuple):
    """Successive columns of one band that make a tile, and the number of the block of queries that they are, or −1."""

    columns: range
    band: int
    block: int


def by_query(distance: Distance, relevance: Relevance) -> Distance | None:
    """Return the distance with its columns in the order of the queries, if pairs come twice and using that pays.

    In each band singletons come last, the other queries by the size of their class, and by class.
    """
    n_query = relevance.candidates.n_query
    if not relevance.candidates.symmetric or len(distance.columns) < SYMMETRIC_SHARE * n_query:
        return None
    size, band = relevance.class_size, distance.columns.band_of(np.arange(n_query))
    return distance.having(columns=distance.columns.as_items(np.lexsort((relevance.query_class, size, size < 2, band))))


class Partition:
    """Partition of one pass; if `symmetric`, columns are queries, so that a tile serves both.

    `active` are the queries that have a relevant item.
    """

    def __init__(self, problem: RankingProblem, symmetric: bool) -> None:
        self.problem, self.symmetric = problem, symmetric
        self.active = np.flatnonzero(problem.relevance.class_size > 1 if symmetric else problem.most_groups)
        distance = problem.distance
        self.of_row, self.most = 4 * distance.dim, BLOCK_ROWS  # bytes of a row, and rows of a block
        self.tile_columns = TILE_COLUMNS
        if distance.n_terms is not None:  # sparse rows: their numbers, and all places
            self.of_row = 8 * distance.n_terms + 4 * distance.dim // BLOCK_ROWS
        self.long_rows = distance.takes != "bits" and distance.dim > LONG_ROW and distance.n_terms is None
        if self.long_rows:
            in_memory = all(rows.source.in_memory for rows in (distance.queries, distance.items))
            self.of_row = 4 * LONG_ROW if in_memory else 8 * distance.dim
            self.most = self.tile_columns = min(BLOCK_ROWS, max(FEWEST_ROWS, ROWS_BYTES // self.of_row))

    @property
    def n_relevant(self) -> float:
        return float(self.problem.width[self.active].mean()) if len(self.active) else 0.0

    def cut(self, share: Share = WHOLE, columns: Share = WHOLE) -> tuple[list[Int64], list[ColumnRange]]:
        """Return the blocks of a share of the queries, and the tiles of a share of the columns, all if symmetric.

        They are the same for any number of threads.
        """
        if self.symmetric:
            return self.cut_symmetric(share)
        width, query_class = self.problem.width, self.problem.relevance.query_class
        order = self.active[np.lexsort((query_class[self.active], width[self.active]))]
        return self._blocks(order[share.of(0, len(order))], self.most), self.column_ranges(self.tile_columns, columns)

    def column_ranges(self, step: int, share: Share = WHOLE) -> list[ColumnRange]:
        shares = [(band, share.of(*ends)) for band, ends in enumerate(self.problem.distance.columns.bands)]
        return [ColumnRange(part, band, -1) for band, some in shares for part in _parts(some.start, some.stop, step)]

    def long_ranges(self) -> list[ColumnRange]:
        """Return ranges over all columns, for blocks that are counted one by one."""
        return self.column_ranges(STREAMED_COLUMNS)

    def joined(self, ranges: list[ColumnRange], blocks: Collection[int], most: int | None = None) -> list[ColumnRange]:
        """Merge neighbouring ranges that are none of the blocks of a shard, up to `most` columns, by default a tile."""
        joined: list[ColumnRange] = []
        for columns in ranges:
            part, band, block = columns
            block = block if block in blocks else -1
            if joined and block < 0 and joined[-1][1:] == (band, -1) and joined[-1].columns.stop == part.start:
                start = joined[-1].columns.start
                if part.stop - start <= (most or self.tile_columns):
                    part = range(start, part.stop)
                    joined.pop()
            joined.append(ColumnRange(part, band, block))
        return joined

    def cut_symmetric(
        self, share: Share, *, own: bool = False, first: int = 0
    ) -> tuple[list[Int64], list[ColumnRange]]:
        """Return the blocks of a share of the queries, numbered from `first`, and the tiles of all columns.

        With `own`, tiles are of its own columns alone: those of its blocks, and its share of the singletons.
        """
        columns, singleton = self.problem.distance.columns, self.problem.relevance.class_size < 2
        blocks: list[Int64] = []
        ranges: list[ColumnRange] = []
        for band, (start, stop) in enumerate(columns.bands):
            items = columns.item_of_column[start:stop]
            n_active = int((~singleton[items]).sum())  # they come first
            active, rest = share.of(0, n_active), share.of(start + n_active, stop)
            others = [(rest.start, rest.stop)] if own else [(start, start + active.start), (start + active.stop, stop)]
            start += active.start
            for queries in self._blocks(items[active], min(self.most, self.tile_columns)):
                ranges.append(ColumnRange(range(start, start + len(queries)), band, first + len(blocks)))
                blocks.append(queries)
                start += len(queries)
            ranges += [ColumnRange(part, band, -1) for ends in others for part in _parts(*ends, self.tile_columns)]
        return blocks, ranges

    def _blocks(self, order: Int64, most: int) -> list[Int64]:
        size, start, blocks = self.problem.width[order], 0, []
        most = -(-len(order) // -(-len(order) // most)) if len(order) else most  # all of about one length
        while start < len(order):
            widest = int(size[start : start + most].max())
            stop = start + max(4, min(most, BLOCK_ENTRIES // max(1, widest)))
            blocks.append(order[start:stop])
            start = stop
        return blocks

    def shards(self, blocks: list[Int64]) -> list[list[int]]:
        """Return the positions of the blocks of each shard, such that their working data fit in memory."""
        widths = [int(self.problem.width[queries].max()) for queries in blocks]
        room = SHARD_BYTES - MAKING_BYTES * max(map(int.__mul__, map(len, blocks), widths), default=0)
        of_junk = 0 if self.problem.relevance.candidates.junk is None else self.problem.n_column // 8
        shards: list[list[int]] = []
        taken = 0
        for number, (queries, width) in enumerate(zip(blocks, widths, strict=True)):
            need = len(queries) * (_bytes_of_query(width) + of_junk + self.of_row)
            if not shards or taken + need > room:
                shards.append([])
                taken = 0
            shards[-1].append(number)
            taken += need
        return shards


def _bytes_of_query(width: int) -> int:
    """Return the memory of a query with this number of relevant columns in its block."""
    n_bin = min(MOST_BINS, max(FEWEST_BINS, 1 << (4 * width - 1).bit_length()))
    return PAIR_BYTES * width + BIN_BYTES * n_bin + 100


def _parts(start: int, stop: int, step: int) -> list[range]:
    return [range(first, min(first + step, stop)) for first in range(start, stop, step)]
