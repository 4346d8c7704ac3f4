"""The counting pass: from a distance and relevance to a tie profile, without the distance matrix.

Queries are cut into blocks (`layout.py`). A loop of the core (`src/core/pass/pass.h`) counts a block; `engine/count.py`
chooses one of the three for each:

    sort      the scores of each row are sorted: where much of the gallery is relevant
    stream    a block is made, counted along all columns, and freed
    tiles     blocks that fit in memory together are counted tile by tile, so that a tile of pairs that come twice
              serves both of its blocks

A card counts tiles too. What a loop has counted is in the `PackedGroups` of the pass.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from copy import copy
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np

from deadheat.engine.counting.candidates import Relevance
from deadheat.engine.counting.layout import ColumnRange, Partition, Share, by_query
from deadheat.engine.counting.problem import RankingProblem
from deadheat.engine.distances.distance import Distance
from deadheat.engine.profiles.packed import PackedGroups
from deadheat.engine.profiles.profile import TieProfile
from deadheat.engine.ties.rule import Ties
from deadheat.support.arrays import Float64, Int64, offsets_of, slices
from deadheat.support.caching import cached_property
from deadheat.support.progress import Progress, Reporting, raise_if_cancelled

NOTHING_KEPT = "nothing is kept: give a checkpoint to go on from where a run was interrupted"
LISTED = 1 << 14  # ranges of columns whose tiles the core lists at once


class Assembly:
    """The groups of the profile, with room for as many as each query can have; by default of all queries."""

    def __init__(self, problem: RankingProblem, queries: Int64 | None = None) -> None:
        most = problem.most_groups
        if queries is not None:
            most = np.zeros_like(most)
            most[queries] = problem.most_groups[queries]
        candidates, self._bounds_only = problem.relevance.candidates, [rule.bounds_only for rule in problem.rules]
        self._n_ranked, room = candidates.n_ranked, np.tile(most, len(problem.rules))  # of the queries by each rule
        n_item, overlapping = len(candidates.ranked), any(self._bounds_only)
        self.groups = PackedGroups.with_room(room, n_item, overlapping)  # the core fills it in

    def profiles(self) -> list[TieProfile]:
        """Return the profile by each rule."""
        parts, n_ranked = self.groups.parts(len(self._bounds_only)), self._n_ranked()
        return [TieProfile.of_packed(*each) for each in zip(parts, repeat(n_ranked), self._bounds_only, strict=False)]


class Section(NamedTuple):
    """Ranges of columns, and the numbers of the blocks that they are counted for."""

    ranges: list[ColumnRange]
    blocks: Collection[int]


Shard = tuple[dict[int, Int64], list[Section]]  # the queries of its blocks, and their tiles
Report = Callable[[int], None]


class CountingPass:
    """One counting pass: its blocks, and the loops over them."""

    card: Any = None

    def __init__(self, distance: Distance, rule: Ties, relevance: Relevance, *more: Ties) -> None:
        ordered = by_query(distance, relevance)
        self.problem = RankingProblem(ordered or distance, rule, relevance, *more)
        self.layout = Partition(self.problem, ordered is not None)
        self.distance = self.problem.distance.expecting(self.layout.n_relevant, self.layout.symmetric)

    @cached_property
    def core(self) -> Any:
        return self.problem.in_core(self.distance)

    @cached_property
    def cut_up(self) -> tuple[list[Int64], list[ColumnRange]]:
        """Queries of each block, and columns of each tile."""
        return self.layout.cut()

    def of_share(self, share: Share) -> CountingPass:
        """Return the same pass over a share of the queries."""
        part = copy(self)
        vars(part)["cut_up"] = self.layout.cut(share)
        return part

    def run(self, divide: Divide, threads: int, progress: bool | Progress) -> TieProfile:
        """Count all blocks by the loops that `divide` chooses for them."""
        return self.run_all(divide, threads, progress)[0]

    def run_all(self, divide: Divide, threads: int, progress: bool | Progress) -> list[TieProfile]:
        """Return the profile by each rule that the pass applies."""
        assembly = Assembly(self.problem)
        try:
            with Reporting(progress, len(self.layout.active) * self.problem.n_column) as report:
                self.count(divide, assembly, threads, report)
        except KeyboardInterrupt:
            raise KeyboardInterrupt(NOTHING_KEPT) from None
        return assembly.profiles()

    def count(self, divide: Divide, assembly: Assembly, threads: int, report: Report) -> None:
        blocks = self.cut_up[0]
        for loop, numbers in divide(Blocks(self, np.arange(len(blocks)))):
            loop(self, {b: blocks[b] for b in numbers.tolist()}, assembly, threads, report)

    # Loops over blocks, given by number and queries:

    def sort(self, blocks: dict[int, Int64], assembly: Assembly, threads: int, report: Report) -> None:
        """Sort the scores of each row."""
        with Polling(self.core, report) as poll:
            self.core.sort(blocks, _numbers_of(self.layout.long_ranges()), assembly.groups, threads, poll)

    def stream(self, blocks: dict[int, Int64], assembly: Assembly, threads: int, report: Report) -> None:
        """Make each block, count it along all columns, and free it."""
        with Polling(self.core, report) as poll:
            self.core.stream(blocks, _numbers_of(self.layout.long_ranges()), assembly.groups, threads, poll)

    def tiles(self, blocks: dict[int, Int64], assembly: Assembly, threads: int, report: Report) -> None:
        """Count tiles of as many blocks at a time as fit in memory together."""
        numbers, ranges = [*blocks], self.cut_up[1]
        shards = [{numbers[b]: blocks[numbers[b]] for b in shard} for shard in self.layout.shards([*blocks.values()])]
        for some in slices(len(shards), max(1, LISTED // max(1, len(ranges)))):
            tiles = [(queries, [Section(ranges, queries)]) for queries in shards[some]]
            self.count_shards(tiles, assembly, threads, report)

    def count_shards(
        self, shards: list[Shard], assembly: Assembly, threads: int, report: Report, *, outside_tiles: bool = True
    ) -> None:
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


class Blocks:
    """Blocks of a pass for which no loop has been chosen yet, by number."""

    def __init__(self, counting: CountingPass, numbers: Int64) -> None:
        self.counting, self.numbers = counting, numbers

    @cached_property
    def queries(self) -> list[Int64]:
        return [self.counting.cut_up[0][b] for b in self.numbers]

    @cached_property
    def relevant_share(self) -> Float64:
        """The mean share of the columns that are relevant to a query, (n_block,)."""
        problem, sizes = self.counting.problem, np.array([len(queries) for queries in self.queries], dtype=np.int64)
        widths = problem.width[np.concatenate([np.empty(0, dtype=np.int64), *self.queries])]
        return np.asarray(np.add.reduceat(widths, offsets_of(sizes)[:-1]) / sizes / problem.n_column)

    @cached_property
    def n_shard(self) -> int:
        """Number of turns in which these blocks fit in memory."""
        return len(self.counting.layout.shards(self.queries))

    @property
    def bytes_of_columns(self) -> float:
        """Memory of all columns, ready to be multiplied; infinity if their rows are too long to be kept ready."""
        counting = self.counting
        of_row = counting.distance.dim * np.dtype(counting.distance.levels[0].row_dtype).itemsize
        return np.inf if counting.layout.long_rows else 2 * counting.problem.n_column * of_row


Divide = Callable[[Blocks], Iterator[tuple[Callable[..., None], Int64]]]  # loops, and the numbers of blocks for each


class Polling:
    """Callback of the core while it counts: reports the progress since the last call, and raises if cancelled."""

    def __init__(self, core: Any, report: Report) -> None:
        self._pass, self._report, self._done = core, report, 0

    def __enter__(self) -> Report:
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
