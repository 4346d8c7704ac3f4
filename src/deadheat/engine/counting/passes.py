"""The counting pass: from embeddings and labels to a tie profile, in shards of blocks, without the distance matrix.

The loop is in the core (`src/core/pass/pass.h`). This module gives it the partition of the work, the shards that a
checkpoint lacks, the number of threads, a callback for progress, and the arrays for the groups.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Collection
from typing import Any, NamedTuple

import numpy as np

from deadheat.engine.counting.candidates import Relevance, Sharing
from deadheat.engine.counting.layout import WHOLE, ColumnRange, Layout, Share, mirrored
from deadheat.engine.counting.problem import RankingProblem
from deadheat.engine.distances.distance import Distance
from deadheat.engine.profiles.packed import PackedGroups
from deadheat.engine.profiles.profile import TieProfile
from deadheat.engine.ties.rule import Exact, Ties
from deadheat.support.arrays import Int64, slices
from deadheat.support.caching import cached_property
from deadheat.support.progress import Progress, Reporting, raise_if_cancelled

# Of the columns, relevant, from which on rows are sorted, not counted between cuts. With 15 %, sorting takes 0.65 of
# the time on random rows (of 128 or 512 numbers), 0.95 on clustered ones; with 10 %, 0.7 to 0.85, and 1.4 to 1.9.
LARGE_PART = 0.15
STREAMED_SHARDS = 3  # from which on blocks are counted one by one, as a tile seldom serves both of its sides,
STREAMED_BYTES = 96 << 20  # if all columns made ready take no more


class Assembly:
    """The groups of the profile, with room for as many as each query can have; by default of all queries."""

    def __init__(self, problem: RankingProblem, queries: Int64 | None = None) -> None:
        most = problem.most_groups
        if queries is not None:
            most = np.zeros_like(most)
            most[queries] = problem.most_groups[queries]
        candidates, self._bounds_only = problem.relevance.candidates, problem.rule.bounds_only
        self._n_ranked = candidates.n_ranked
        self.groups = PackedGroups.with_room(most, len(candidates.ranked), self._bounds_only)  # the core fills it in

    def profile(self) -> TieProfile:
        return TieProfile.of_packed(self.groups, self._n_ranked(), self._bounds_only)


class Section(NamedTuple):
    """Ranges of columns, and the numbers of the blocks that they are counted for."""

    ranges: list[ColumnRange]
    blocks: Collection[int]


Shard = tuple[dict[int, Int64], list[Section]]  # the queries of its blocks, and their tiles


class CountingPass:
    """One counting pass: the work on its blocks, ranges and shards."""

    LISTED = 1 << 14  # ranges of shards that the core takes at once: it makes a list of pieces of them all

    def __init__(self, distance: Distance, rule: Ties, relevance: Relevance) -> None:
        in_order_of_queries = mirrored(distance, relevance)
        self.problem = RankingProblem(in_order_of_queries or distance, rule, relevance)
        self.layout = Layout(self.problem, in_order_of_queries is not None)
        self.distance = self.problem.distance.expecting(self.layout.n_relevant, self.layout.mirrored)

    @cached_property
    def core(self) -> Any:
        return self.problem.in_core(self.distance)

    def run(self, threads: int, progress: bool | Progress) -> TieProfile:
        assembly = Assembly(self.problem)
        try:
            with Reporting(progress, len(self.layout.active) * self.problem.n_column) as report:
                self.count_all(assembly, threads, report)
            return assembly.profile()
        except KeyboardInterrupt:
            raise KeyboardInterrupt(
                "nothing is kept: give a checkpoint to go on from where a run was interrupted"
            ) from None

    def count_all(self, assembly: Assembly, threads: int, report: Callable[[int], None]) -> None:
        """Count all blocks along all columns."""
        blocks, ranges = self.cut_up
        large = self.large(blocks)
        shards = self.layout.shards(blocks, large)
        streams = self.streams(len(shards))
        at_once = max(1, self.LISTED // max(1, len(ranges)))
        for together in (shards[some] for some in slices(len(shards), at_once)):
            numbers = [b for shard in together for b in shard]
            if mostly := {b: blocks[b] for b in numbers if b in large}:
                self._along(self.core.sort, mostly, assembly, threads, report)
            if streams and len(mostly) < len(numbers):
                streamed = {b: blocks[b] for b in numbers if b not in large}
                self._along(self.core.stream, streamed, assembly, threads, report)
            elif len(mostly) < len(numbers):
                of_shards = [{b: blocks[b] for b in shard if b not in large} for shard in together]
                tiles = [(queries, [Section(ranges, queries)]) for queries in of_shards]
                self.count_shards(tiles, assembly, threads, report)

    def of_share(self, share: Share) -> CountingPass:
        """Return this pass with a share of its queries."""
        part = copy.copy(self)
        vars(part)["cut_up"] = self.cut(share)
        return part

    @cached_property
    def cut_up(self) -> tuple[list[Int64], list[ColumnRange]]:
        """Queries of each block, and columns of each tile."""
        return self.cut()

    def cut(self, share: Share = WHOLE, columns: Share = WHOLE) -> tuple[list[Int64], list[ColumnRange]]:
        """Return the same for a share of the queries, and of the columns."""
        return self.layout.cut(share, columns)

    def large(self, blocks: list[Int64]) -> set[int]:
        """Return the numbers of the blocks whose queries have so much relevant that their rows are sorted."""
        if isinstance(self.problem.relevance, Sharing):
            return set(range(len(blocks)))
        if not isinstance(self.problem.rule, Exact):
            return set()
        width, least = self.problem.width, LARGE_PART * self.problem.n_column
        return {number for number, queries in enumerate(blocks) if width[queries].mean() >= least}

    def streams(self, n_shard: int) -> bool:
        """Return whether blocks are made, counted along all columns and freed, one by one."""
        of_row = self.distance.dim * np.dtype(self.distance.levels[0].row_dtype).itemsize
        few = n_shard >= STREAMED_SHARDS and not self.layout.long_rows
        return few and 2 * self.problem.n_column * of_row <= STREAMED_BYTES

    def count_shards(
        self, shards: list[Shard], assembly: Assembly, threads: int, report: Callable[[int], None], *,
        outside_tiles: bool = True,
    ) -> None:  # fmt: skip
        """Make the blocks of shards, count the tiles of each section for its blocks, and collect their groups.

        The sections of a shard have no tile twice, nor transposed. `outside_tiles` says whether to count the items in
        no tile, too.
        """
        described = []
        for queries, sections in shards:
            joined = [_numbers_of(self.layout.joined(section.ranges, queries)) for section in sections]
            numbers = [np.array([*section.blocks], dtype=np.int64) for section in sections]
            described.append((queries, [*zip(joined, numbers, strict=True)]))
        with Polling(self.core, report) as poll:
            self.core.count(described, outside_tiles, assembly.groups, threads, poll)

    def _along(
        self, work: Any, queries: dict[int, Int64], assembly: Assembly, threads: int, report: Callable[[int], None]
    ) -> None:  # fmt: skip
        """Count or sort some queries along all columns."""
        ranges = _numbers_of(self.layout.long_ranges())
        with Polling(self.core, report) as poll:
            work(queries, ranges, assembly.groups, threads, poll)


class Polling:
    """Callback of the core while it counts: reports the progress since the last call, and raises if cancelled."""

    def __init__(self, core: Any, report: Callable[[int], None]) -> None:
        self._pass, self._report, self._done = core, report, 0

    def __enter__(self) -> Callable[[int], None]:
        self._pass.done = self._done = 0
        return self._poll

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        if kind is None:
            self._poll(self._pass.done)

    def _poll(self, done: int) -> None:
        raise_if_cancelled()
        more, self._done = done - self._done, done
        self._report(more)


def _numbers_of(ranges: list[ColumnRange]) -> Int64:
    """Return ranges as the core takes them: start, stop, band and block; (n, 4)."""
    rows = [(columns.columns.start, columns.columns.stop, columns.band, columns.block) for columns in ranges]
    return np.array(rows, dtype=np.int64).reshape(-1, 4)
