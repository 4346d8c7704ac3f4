"""What the answers of workers add up to."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from deadheat.engine.counting.candidates import Candidates
from deadheat.engine.counting.portions import OF_FIRST
from deadheat.engine.profiles.profile import TieProfile
from deadheat.errors import ClusterError
from deadheat.support import scratch
from deadheat.support.arrays import Array, Int64, offsets_of, spread


@dataclass
class _Group:
    """The sums of a group of queries, and what only the first portion of it says."""

    queries: Array
    closer: Int64  # of irrelevant items, like `tied`
    tied: Int64
    known: dict[str, Int64] = field(default_factory=dict)


class Sums:
    """Sums of the counts of portions, whatever the order in which these come: they are integers."""

    def __init__(self) -> None:
        self._groups: dict[str, _Group] = {}

    def add(self, counts: dict[str, Array], times: int) -> None:
        """Add the counts of a portion, so many times; `times` is below 0 for what other portions counted too often."""
        for name in {key.partition(".")[0] for key in counts}:
            queries, closer, tied = (counts[f"{name}.{what}"] for what in ("queries", "closer", "tied"))
            if name not in self._groups:
                zeros = np.zeros((2, len(closer)), dtype=np.int64)
                self._groups[name] = _Group(queries, zeros[0], zeros[1])
            group = self._groups[name]
            if not np.array_equal(group.queries, queries) or len(group.closer) != len(closer):
                raise ClusterError("workers must agree on the tie groups of a query, but two do not: do all of them "
                                   "see the same files?")  # fmt: skip
            group.closer += times * closer.astype(np.int64)
            group.tied += times * tied.astype(np.int64)
            if f"{name}.n_group" in counts:
                group.known = {what: counts[f"{name}.{what}"].astype(np.int64) for what in OF_FIRST}

    def profile(self, candidates: Candidates, bounds_only: bool) -> TieProfile:
        """The profile that all portions together make."""
        n_group, n_relevant = np.zeros((2, candidates.n_query), dtype=np.int64)
        for group in self._groups.values():
            n_group[group.queries], n_relevant[group.queries] = group.known["n_group"], group.known["n_relevant"]
        offsets = offsets_of(n_group)
        arrays = scratch.arrays(4, int(offsets[-1]))
        for group in self._groups.values():
            places = spread(offsets[group.queries], group.known["n_group"])
            of_relevant = group.known["closer_relevant"], group.known["tied_relevant"]
            for k, irrelevant in enumerate((group.closer, group.tied)):
                arrays[2 * k][places] = irrelevant + of_relevant[k]
                arrays[2 * k + 1][places] = of_relevant[k]
            scratch.let_go(*arrays)
        closer, closer_relevant, tied, tied_relevant = arrays
        return TieProfile(
            offsets, closer, closer_relevant, tied, tied_relevant, candidates.n_ranked(), n_relevant,
            bounds_only=bounds_only, check=False,
        )  # fmt: skip
