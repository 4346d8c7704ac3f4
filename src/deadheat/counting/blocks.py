"""A block of queries on its way through the counting pass, and the arrays of the profile that all blocks fill in.

relevant items ──sorted into groups──> cuts ──moved apart by the error──> edges ──tile by tile──> counts ──> groups
"""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from deadheat import _core
from deadheat.counting import counters
from deadheat.counting.problem import RankingProblem
from deadheat.counting.relevant import beside_junk, few_outside, leave_out_junk, member_of, relevant_items, sharing
from deadheat.counting.tiles import Tile
from deadheat.profiles import CompactGroups, TieProfile
from deadheat.support import scratch
from deadheat.support.arrays import Int32, Int64, offsets_of, spread

Counts = list[Int32]  # of the items between the cuts of each counter

if TYPE_CHECKING:
    from deadheat.counting.checkpoint import Checkpoint


class Block:
    """Some queries that have something relevant, from their relevant items to their groups.

    `add`, `side` and `take` may be called from several threads. Its own counts are only changed with `counting` held,
    and everything else of its counters with `lock`, which is held for a moment only.
    """

    def __init__(self, problem: RankingProblem, queries: Int64) -> None:
        self.problem, self.queries = problem, queries
        self.counting, self.lock = Lock(), Lock()
        self.level = 0  # the level at which tiles are best computed
        self._seen = self._open = 0.0
        relevant, self.excluded_columns, singles = relevant_items(problem, queries)
        outside = few_outside(problem, queries, singles)
        self.tiled = outside is None  # whether anything is left to tiles
        self._singles = singles if outside is None else outside
        groups = problem.rule.group(problem.distance, relevant)
        cuts_of_counters = problem.rule.cuts(problem.distance, groups, member_of(problem, groups))
        self.counters = [counters.Counter(problem, queries, cuts) for cuts in cuts_of_counters]
        self.n_group, self._total = groups.n_group, groups.total
        self.n_relevant = groups.total.sum(axis=1)
        self._sharing = sharing(relevant, groups)

    @property
    def narrow(self) -> bool:
        """Whether the core can count for it while it multiplies."""
        return self.problem.relevance.candidates.junk is None and all(counter.narrow for counter in self.counters)

    def add(self, tile: Tile, scores: NDArray[Any], band: int) -> None:
        """Count a tile of scores of these queries."""
        leave_out_junk(self.problem, self.queries, tile.columns, scores)
        with self.counting, self.lock:
            self._learn(tile, [counter.count(tile, scores, band, self.excluded_columns) for counter in self.counters])

    @property
    def counts(self) -> Counts:
        """Its own counts."""
        return [counter.counts for counter in self.counters]

    def aside(self) -> Counts:
        """Counts beside its own ones, for one thread, until `join`."""
        return [np.zeros_like(counts) for counts in self.counts]

    def join(self, aside: Counts) -> None:
        """Add what was counted beside its own counts."""
        with self.counting:
            for counts, more in zip(self.counts, aside, strict=True):
                counts += more

    def side(self, tile: Tile, band: int, name: str, counts: Counts) -> tuple[Any, ...]:
        """What the core counts a tile of products in, and lists what is open."""
        problem, (start, stop) = self.problem, (tile.columns.start, tile.columns.stop)
        columns = start, problem.weight[start:stop], problem.plain, self.excluded_columns
        offsets = problem.distance.offsets(np.arange(start, stop)).astype(problem.distance.levels[tile.level].dtype)
        with self.lock:
            places = [
                counter.places(tile, band, f"{name} {k}", into)
                for k, (counter, into) in enumerate(zip(self.counters, counts, strict=True))
            ]
        return columns, offsets, places

    def take(self, tile: Tile, band: int, side: tuple[Any, ...], n_open: list[int], counts: Counts) -> None:
        """Settle what the core has listed as open, so much for each counter."""
        shares = []
        with self.lock:
            for counter, (*_, opened, scores), n, into in zip(self.counters, side[-1], n_open, counts, strict=True):
                shares.append(counter.take(tile, band, opened[:, :n], scores[:n] if tile.at_last else None, into))
            self._learn(tile, shares)

    def _learn(self, tile: Tile, shares: list[float]) -> None:
        """Begin with the last level from now on if the first leaves much open."""
        if tile.level == 0:
            self._seen, self._open = self._seen + tile.size, self._open + max(shares) * tile.size
            if self._open > counters.MANY_OPEN * self._seen:
                self.level = len(self.problem.distance.levels) - 1

    def finish(self, starts: Int64, closer: Int32, beside_tiles: bool) -> Int64:
        """Write the groups, nearest first, from where each query's begin; returns the `others` of `CompactGroups`."""
        for counter in self.counters:
            counter.settle(counter.counts)
        if beside_tiles:
            self._count_beside_tiles()
        only = self.counters[0] if len(self.counters) == 1 else None
        step, lead = (2, 0) if only is None else (2, 1) if only.cuts.each == 2 else (4, 2)
        within, nearer = self.counters[0].counts, self.counters[-1].counts
        others = np.empty((3, int(self.n_group.sum())), dtype=np.int64)
        counts = self.n_group, self._total, within, nearer
        n_other = _core.collect_groups(self.queries, *counts, step, lead, starts, closer, others)
        return others[:, :n_other].copy()

    def _count_beside_tiles(self) -> None:
        """Count what tiles leave out, and that does count."""
        row, group, columns, irrelevant = self._sharing
        if len(self.counters) == 1:  # what shares a relevant item's column is tied with it
            (only,) = self.counters
            np.add.at(only.counts, (row, (2 * group + 1) * (2 // only.cuts.each)), irrelevant)
        else:
            self._place(row, columns, irrelevant)
        self._place(*self._singles)
        for singles in beside_junk(self.problem, self.queries):
            self._place(*singles)

    def _place(self, rows: Int64, columns: Int64, weights: Int64) -> None:
        """Count single items in every counter."""
        weighing = weights > 0
        rows, columns, weights = rows[weighing], columns[weighing], weights[weighing]
        if len(rows):
            scores = self.problem.distance.pair_scores(self.queries[rows], columns)
            for counter in self.counters:
                counter.place(rows, columns, scores, weights=weights)


class Assembly:
    """The groups of the profile, with room for as many as each query can have; perhaps of some queries only."""

    def __init__(self, problem: RankingProblem, queries: Int64 | None = None) -> None:
        most = problem.most_groups
        if queries is not None:
            most = np.zeros_like(most)
            most[queries] = problem.most_groups[queries]
        offsets = offsets_of(most)
        (self._closer,) = scratch.arrays(1, int(offsets[-1]), np.int32)
        self._starts, self._others = offsets[:-1], [np.empty((3, 0), dtype=np.int64)]
        self.n_group, self.n_relevant = np.zeros((2, problem.relevance.candidates.n_query), dtype=np.int64)

    def add(self, block: Block, beside_tiles: bool = True) -> None:
        """Take the groups of a block that has counted what it is to count."""
        self.n_group[block.queries], self.n_relevant[block.queries] = block.n_group, block.n_relevant
        self._others.append(block.finish(self._starts, self._closer, beside_tiles))
        scratch.let_go(self._closer)

    def save(self, checkpoint: Checkpoint | None, number: int, blocks: list[Int64]) -> None:
        """Keep what is known of a shard's queries."""
        if checkpoint is not None:
            checkpoint.save(number, self.of(np.concatenate(blocks)))

    def of(self, queries: Int64) -> dict[str, Int64]:
        """What is known of some queries, one after another."""
        groups = {f"groups_{k}": array for k, array in enumerate(self.groups.arrays(queries))}
        return {"queries": queries, "n_group": self.n_group[queries], "n_relevant": self.n_relevant[queries], **groups}

    def load(self, checkpoint: Checkpoint | None, number: int, blocks: list[Int64]) -> bool:
        """Take what was kept of a shard's queries; whether anything was."""
        shard = None if checkpoint is None else checkpoint.load(number)
        queries = np.concatenate(blocks)
        if shard is None or not np.array_equal(shard["queries"], queries):  # that is cut up in another way
            return False
        self.n_group[queries], self.n_relevant[queries] = shard["n_group"], shard["n_relevant"]
        places = spread(self._starts[queries], self.n_group[queries])
        self._closer[places] = shard["groups_0"]
        self._others.append(CompactGroups.others_of(places, shard["groups_2"], shard["groups_3"]))
        return True

    @property
    def groups(self) -> CompactGroups:
        """What is known of all queries."""
        others = np.concatenate(self._others, axis=1)
        others = others.take(np.argsort(others[0]), axis=1)
        self._others = [others]
        return CompactGroups(self._starts, self.n_group, self._closer, others)

    def profile(self, problem: RankingProblem) -> TieProfile:
        """The profile."""
        n_ranked = problem.relevance.candidates.n_ranked()
        return TieProfile.of_compact(self.groups, n_ranked, self.n_relevant, problem.rule.bounds_only)
