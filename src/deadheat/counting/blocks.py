"""A block of queries on its way through the counting pass: its relevant items, the cuts they make, and its counts.

relevant items ──sorted into groups──> cuts ──moved apart by the error──> edges ──tile by tile──> counts ──> groups
"""

from __future__ import annotations

from threading import Lock

import numpy as np
from numpy.typing import NDArray

from deadheat.counting import counters
from deadheat.counting.counters import Tile
from deadheat.counting.kernels.groups import collect_groups
from deadheat.counting.problem import RankingProblem
from deadheat.counting.relevant import member_of, relevant_items, sharing

Int64 = NDArray[np.int64]


class Block:
    """Some queries, from their relevant items to their groups. `add` may be called from several threads.

    Parameters
    ----------
    problem : RankingProblem
    queries : (n,) int64
        Queries that have something relevant.

    Attributes
    ----------
    counters : list
        What counts the items of these queries; to be changed with `lock` held.
    n_group, n_relevant : (n,) int64
        How many groups each query has, and how many relevant items.
    """

    def __init__(self, problem: RankingProblem, queries: Int64) -> None:
        self.problem, self.queries, self.lock = problem, queries, Lock()
        self.level = 0  # the level at which tiles are best computed
        self._seen = self._open = 0.0
        relevant, self.excluded_columns, self._singles = relevant_items(problem, queries)
        groups = problem.rule.group(problem.distance, relevant)
        cuts_of_counters = problem.rule.cuts(problem.distance, groups, member_of(problem, groups))
        self.counters = [counters.Counter(problem, queries, cuts) for cuts in cuts_of_counters]
        self.n_group, self._total = groups.n_group, groups.total
        self.n_relevant = groups.total.sum(axis=1)
        self._sharing = sharing(relevant, groups)

    def add(self, tile: Tile, band: int) -> None:
        """Count a tile of scores of these queries."""
        with self.lock:
            share = max(counter.add(tile, band, self.excluded_columns) for counter in self.counters)
            if tile.level == 0:
                self._seen, self._open = self._seen + tile.scores.size, self._open + share * tile.scores.size
                if self._open > counters.MANY_OPEN * self._seen:
                    self.level = len(self.problem.distance.levels) - 1

    def finish(self, offsets: Int64, arrays: tuple[Int64, ...]) -> None:
        """Write the groups, nearest first, to the arrays of a profile from where each query's begin."""
        row, group, columns, irrelevant = self._sharing
        for counter in self.counters:
            counter.settle()
        if len(self.counters) == 1:  # what shares a relevant item's column is tied with it
            (only,) = self.counters
            np.add.at(only.counts, (row, (2 * group + 1) * (2 // only.cuts.each)), irrelevant)
            step, lead = (2, 1) if only.cuts.each == 2 else (4, 2)
        else:
            self._place(row, columns, irrelevant)
            step, lead = 2, 0
        self._place(*self._singles)
        within, nearer = self.counters[0].counts, self.counters[-1].counts
        collect_groups(self.queries, self.n_group, self._total, within, nearer, step, lead, offsets, *arrays)

    def _place(self, rows: Int64, columns: Int64, weights: Int64) -> None:
        """Count single items in every counter."""
        weighing = weights > 0
        rows, columns, weights = rows[weighing], columns[weighing], weights[weighing]
        if len(rows):
            scores = self.problem.distance.pair_scores(self.queries[rows], columns)
            for counter in self.counters:
                counter.place(rows, columns, scores, weights=weights)
