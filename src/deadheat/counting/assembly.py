"""The arrays of a profile while blocks fill them in, and what a checkpoint keeps of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from deadheat.counting.blocks import Block
from deadheat.counting.checkpoint import Checkpoint
from deadheat.counting.kernels.groups import close_gaps
from deadheat.counting.problem import RankingProblem
from deadheat.profiles import TieProfile
from deadheat.support.spans import spread

Int64 = NDArray[np.int64]


class Assembly:
    """The arrays of the profile, with room for as many groups as each query can have."""

    def __init__(self, problem: RankingProblem) -> None:
        self.offsets = np.concatenate([[0], np.cumsum(problem.most_groups)])
        self.arrays = tuple(np.empty(self.offsets[-1], dtype=np.int64) for _ in range(4))
        self.n_group, self.n_relevant = np.zeros((2, problem.relevance.candidates.n_query), dtype=np.int64)

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
        shard = None if checkpoint is None else checkpoint.load(number)
        if shard is None:
            return False
        queries = np.concatenate(blocks)
        self.n_group[queries], self.n_relevant[queries] = shard["n_group"], shard["n_relevant"]
        places = spread(self.offsets[queries], self.n_group[queries])
        for k, array in enumerate(self.arrays):
            array[places] = shard[f"groups_{k}"]
        return True

    def profile(self, problem: RankingProblem) -> TieProfile:
        """The profile, without the room that was not needed."""
        offsets = np.concatenate([[0], np.cumsum(self.n_group)])
        if offsets[-1] < self.offsets[-1]:
            for array in self.arrays:
                close_gaps(array, self.offsets, self.n_group)
        arrays = [array[: offsets[-1]] for array in self.arrays]
        if offsets[-1] < 0.9 * self.offsets[-1]:
            arrays = [array.copy() for array in arrays]
        closer, closer_relevant, tied, tied_relevant = arrays
        return TieProfile(
            offsets, closer, closer_relevant, tied, tied_relevant,
            problem.relevance.candidates.n_ranked(), self.n_relevant,
            bounds_only=problem.rule.bounds_only, check=False,
        )  # fmt: skip
