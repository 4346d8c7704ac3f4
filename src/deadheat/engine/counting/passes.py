"""The counting pass: from embeddings and labels to a tie profile, in shards of blocks, without the distance matrix.

The loop is in the core (`src/core/pass/pass.h`). This module gives it the partition of the work, the shards that a
checkpoint lacks, the number of threads, a callback for progress, and the arrays for the groups.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from deadheat.engine.counting.candidates import Relevance, Sharing
from deadheat.engine.counting.layout import ColumnRange, Layout, mirrored
from deadheat.engine.counting.problem import RankingProblem
from deadheat.engine.distances.distance import Distance
from deadheat.engine.profiles.packed import PackedGroups
from deadheat.engine.profiles.profile import TieProfile
from deadheat.engine.ties.rule import Exact, Ties
from deadheat.support.arrays import Int64, slices
from deadheat.support.caching import cached_property
from deadheat.support.lazy import lazy
from deadheat.support.progress import Progress, Reporting, raise_if_cancelled

if TYPE_CHECKING:
    from deadheat.engine.counting import checkpoint as checkpoints
    from deadheat.engine.counting.checkpoint import Checkpoint
else:
    checkpoints = lazy("deadheat.engine.counting.checkpoint")

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

    def save(self, checkpoint: Checkpoint | None, number: int, blocks: list[Int64]) -> None:
        """Save the groups of a shard's queries to the checkpoint, if there is one."""
        if checkpoint is not None:
            checkpoint.save(number, self.of(np.concatenate(blocks)))

    def of(self, queries: Int64) -> dict[str, Int64]:
        """Return the groups and counts of some queries, one after another."""
        groups = {f"groups_{k}": array for k, array in enumerate(self.groups.arrays(queries))}
        n_group, n_relevant = self.groups.n_group[queries], self.groups.n_relevant[queries]
        return {"queries": queries, "n_group": n_group, "n_relevant": n_relevant, **groups}

    def load(self, checkpoint: Checkpoint | None, number: int, blocks: list[Int64]) -> bool:
        """Load the groups of a shard's queries from the checkpoint; return whether it has them."""
        shard = None if checkpoint is None else checkpoint.load(number)
        queries = np.concatenate(blocks)
        if shard is None or not np.array_equal(shard["queries"], queries):  # that is cut up in another way
            return False
        self.groups.pack(queries, shard["n_group"], *(shard[f"groups_{k}"] for k in (0, 2, 3)))
        return True

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

    def __init__(self, distance: Distance, rule: Ties, relevance: Relevance, resumable: bool = False) -> None:
        in_order_of_queries = mirrored(distance, relevance)
        self.problem = RankingProblem(in_order_of_queries or distance, rule, relevance)
        self.layout = Layout(self.problem, in_order_of_queries is not None, resumable)
        self.distance = self.problem.distance.expecting(self.layout.n_relevant, self.layout.mirrored)

    @cached_property
    def core(self) -> Any:
        return self.problem.in_core(self.distance)

    def run(self, threads: int, progress: bool | Progress, checkpoint: Checkpoint | None = None) -> TieProfile:
        blocks, ranges = self.cut_up
        large = self.large(blocks)
        shards, assembly = self.layout.shards(blocks, large), Assembly(self.problem)
        streams = self.streams(len(shards))
        left = [k for k, shard in enumerate(shards) if not assembly.load(checkpoint, k, [blocks[b] for b in shard])]
        total = len(self.layout.active) * self.problem.n_column
        done = total - sum(len(blocks[b]) for k in left for b in shards[k]) * self.problem.n_column
        n_kept = len(shards) - len(left)
        if checkpoint is not None:
            checkpoints.report_found(checkpoint, n_kept, len(shards), "shards", progress)
        try:
            with Reporting(progress, total, done=done) as report:
                at_once = max(1, self.LISTED // max(1, len(ranges))) if checkpoint is None else 1
                for together in (left[some] for some in slices(len(left), at_once)):
                    numbers = [b for number in together for b in shards[number]]
                    if mostly := {b: blocks[b] for b in numbers if b in large}:
                        self._along(self.core.sort, mostly, assembly, threads, report)
                    if streams and len(mostly) < len(numbers):
                        streamed = {b: blocks[b] for b in numbers if b not in large}
                        self._along(self.core.stream, streamed, assembly, threads, report)
                    elif len(mostly) < len(numbers):
                        of_shards = [{b: blocks[b] for b in shards[number] if b not in large} for number in together]
                        tiles = [(queries, [Section(ranges, queries)]) for queries in of_shards]
                        self.count_shards(tiles, assembly, threads, report)
                    for number in together:
                        assembly.save(checkpoint, number, [blocks[b] for b in shards[number]])
                    n_kept += len(together)
            return assembly.profile()
        except KeyboardInterrupt:
            raise KeyboardInterrupt(checkpoints.what_is_kept(checkpoint, n_kept, len(shards), "shards")) from None

    @cached_property
    def cut_up(self) -> tuple[list[Int64], list[ColumnRange]]:
        """Queries of each block, and columns of each tile."""
        return self.layout.cut()

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
