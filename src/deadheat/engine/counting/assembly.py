"""The arrays of a profile that all blocks of a counting pass fill in."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from deadheat.engine.counting.problem import RankingProblem
from deadheat.engine.profiles.compact import CompactGroups
from deadheat.engine.profiles.profile import TieProfile
from deadheat.support import scratch
from deadheat.support.arrays import Int64, offsets_of, spread

if TYPE_CHECKING:
    from deadheat.engine.counting.checkpoint import Checkpoint


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
        self.room = self._starts, self._closer, self.n_group, self.n_relevant  # what the core fills in

    def add(self, others: Int64) -> None:
        """Take the `others` of the groups that the core has filled in."""
        self._others.append(others)
        self.let_go()

    def let_go(self) -> None:
        """Free the memory of the groups that are filled in, where they are on disk."""
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
