"""Groups of neighbours in rank: of ties, and of what collides.

In come ranks, relevance and where each group starts; out go matrices rank by rank, and counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from deadheat.analyses.collisions.results import Count, Counts, Kind
from deadheat.errors import InvalidValueError
from deadheat.support import checks, memory

Int64 = NDArray[np.int64]
Bool = NDArray[np.bool_]


class Groups(NamedTuple):
    """Groups of neighbours in rank; the places of all queries lie one after another.

    `of_place` is the group of each place; `first` the first place of each group, `size` its items, `relevant` how
    many of them are.
    """

    of_place: Int64
    first: Int64
    size: Int64
    relevant: Int64

    @classmethod
    def of(cls, starts: Bool, relevant: Bool) -> Groups:
        of_place, first = np.cumsum(starts) - 1, np.flatnonzero(starts)
        size = np.diff(first, append=len(starts))
        return cls(of_place, first, size, np.bincount(of_place[relevant], minlength=len(first)))

    @property
    def kind(self) -> NDArray[np.int8]:
        """A `Kind` for each group."""
        kind = np.full(len(self.first), Kind.MIXED, dtype=np.int8)
        kind[self.relevant == 0] = Kind.IRRELEVANT
        kind[self.relevant == self.size] = Kind.RELEVANT
        kind[self.size == 1] = Kind.NONE
        return kind


@dataclass(frozen=True)
class GroupedRanks:
    """Some queries, the ranks that they have (n, n_gallery), and the groups in these: of ties, and of collisions."""

    queries: Int64
    valid: Bool
    ties: Groups
    colliding: Groups

    @classmethod
    def of(cls, queries: Int64, valid: Bool, relevant: Bool, tie_starts: Bool, starts: Bool) -> GroupedRanks:
        """From (n, n_gallery): which ranks there are, what is relevant, and where ties and collisions start."""
        ties, colliding = (Groups.of(begins[valid], relevant[valid]) for begins in (tie_starts, starts))
        return cls(queries, valid, ties, colliding)

    def matrices(self, depth: int) -> tuple[NDArray[np.int8], Bool, NDArray[np.int32]]:
        """Kind, relevance and size for the first so many ranks."""
        groups, ties = self.colliding, self.ties
        place = np.arange(len(ties.of_place))
        relevant_first = place - ties.first[ties.of_place] < ties.relevant[ties.of_place]
        return (
            self._spread(groups.kind[groups.of_place], depth, np.int8(Kind.BEYOND)),
            self._spread(relevant_first, depth, np.bool_(False)),
            self._spread(groups.size[groups.of_place].astype(np.int32), depth, np.int32(0)),
        )

    def _spread(self, values: NDArray[Any], depth: int, beyond: np.generic) -> NDArray[Any]:
        """Values of all places as a matrix of the first so many ranks."""
        matrix = np.full((len(self.queries), max(depth, self.valid.shape[1])), beyond)
        matrix[:, : self.valid.shape[1]][self.valid] = values
        return matrix[:, :depth]

    def counts(self, depth: int) -> Counts:
        """The counts within the first so many ranks."""
        groups = self.colliding
        row, rank = (index[groups.first] for index in np.nonzero(self.valid))
        inside = np.minimum(groups.size, depth - rank)

        def count(wanted: Bool) -> Count:
            begun = wanted & (rank < depth)
            return Count(
                groups=int(begun.sum()),
                items=int(inside[begun].sum()),
                queries=len(np.unique(row[begun])),
                largest=int(groups.size[begun].max(initial=0)),
            )

        kind = groups.kind
        return Counts(
            relevant=count(kind == Kind.RELEVANT),
            irrelevant=count(kind == Kind.IRRELEVANT),
            mixed=count(kind == Kind.MIXED),
            together=count(kind != Kind.NONE),
            n_query=len(self.queries),
            n_place=int(np.minimum(self.valid.sum(axis=1), depth).sum()),
        )


def require_room(n_query: int, depth: int) -> None:
    """Refuse matrices that memory has no room for, before long work."""
    needed, there = 6 * n_query * depth, memory.available()
    if needed > there:
        came = f"{n_query} queries and {checks.shown(depth)} ranks take 6 bytes each, and {there / 1e9:.1f} GB are free"
        raise InvalidValueError("depth", f"must be so small that the result fits in memory, but {came}")
