"""Groups of neighbours in rank, of ties and of what collides: in come ranks and relevance, out go matrices and counts.

Neighbours that are at most so far apart are decided from bounds where these show it, and from exact numbers elsewhere.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass, fields
from enum import IntEnum
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deadheat.engine.counting.ranking import Ranked, Rankings
from deadheat.support.arrays import Float64, Int64

Bool = NDArray[np.bool_]
Bounds = tuple[Float64, Float64]

PAIRS_AT_ONCE = 1 << 15  # pairs whose exact distances are held at a time


class Kind(IntEnum):
    """What is at a rank. Where marks overlap in a picture, the highest is seen.

    BEYOND: the ranking has ended. NONE: no collision. IRRELEVANT, RELEVANT, MIXED: a collision of items all of which
    are irrelevant, all of which are relevant, or some of each.
    """

    BEYOND = -1
    NONE = 0
    IRRELEVANT = 1
    RELEVANT = 2
    MIXED = 3


@dataclass(frozen=True)
class Count:
    """How many collisions of a kind there are.

    Attributes
    ----------
    groups : int
        Groups of colliding items that begin within the depth.
    items : int
        How many of their items are at ranks within the depth, over all queries.
    queries : int
        Queries that have such a group.
    largest : int
        Items of the largest group, those beyond the depth included.
    """

    groups: int = 0
    items: int = 0
    queries: int = 0
    largest: int = 0

    def __add__(self, other: Count) -> Count:
        """The count over the queries of both."""
        return Count(
            self.groups + other.groups,
            self.items + other.items,
            self.queries + other.queries,
            max(self.largest, other.largest),
        )


COUNTED = tuple(each.name for each in fields(Count))


@dataclass(frozen=True)
class Counts:
    """Collisions by kind.

    Attributes
    ----------
    relevant, irrelevant, mixed, together : Count
        `together` is all three; a query that has several kinds counts once in it.
    n_query : int
    n_place : int
        Ranks that were looked at, over all queries.
    """

    relevant: Count = Count()
    irrelevant: Count = Count()
    mixed: Count = Count()
    together: Count = Count()
    n_query: int = 0
    n_place: int = 0

    def __add__(self, other: Counts) -> Counts:
        """The counts over the queries of both."""
        return Counts(*map(operator.add, vars(self).values(), vars(other).values()))

    def columns(self) -> dict[str, list[str] | list[int]]:
        """The kinds, and of each its groups, items, queries and largest group; the last entry is all kinds together."""
        counts = {kind: getattr(self, kind) for kind in ("relevant", "irrelevant", "mixed", "together")}
        return {"kind": list(counts)} | {name: [getattr(each, name) for each in counts.values()] for name in COUNTED}


class Groups:
    """Groups of neighbours in rank; the places of all queries lie one after another.

    `of_place` is the group of each place; `first` the first place of each group, `size` its items, `relevant` how
    many of them are relevant.
    """

    def __init__(self, starts: Bool, relevant: Bool) -> None:
        self.of_place, self.first = np.cumsum(starts) - 1, np.flatnonzero(starts)
        self.size = np.diff(self.first, append=len(starts))
        self.relevant = np.bincount(self.of_place[relevant], minlength=len(self.first))

    @property
    def kind(self) -> NDArray[np.int8]:
        """A `Kind` for each group."""
        kind = np.full(len(self.first), Kind.MIXED, dtype=np.int8)
        kind[self.relevant == 0] = Kind.IRRELEVANT
        kind[self.relevant == self.size] = Kind.RELEVANT
        kind[self.size == 1] = Kind.NONE
        return kind


class GroupedRanks:
    """Some queries, the ranks that they have (n, n_gallery), and the groups in these: of ties, and of collisions."""

    def __init__(self, queries: Int64, valid: Bool, relevant: Bool, tie_starts: Bool, starts: Bool) -> None:
        """From (n, n_gallery): which ranks there are, what is relevant, and where ties and collisions start."""
        self.queries, self.valid = queries, valid
        self.ties, self.colliding = (Groups(begins[valid], relevant[valid]) for begins in (tie_starts, starts))

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


def linked(rankings: Rankings, block: Ranked, starts: Bool, width: Fraction) -> Bool:
    """Where a tie group starts that is at most `width` farther than the one before it."""
    farther_starts, is_linked = starts.copy(), np.zeros_like(starts)
    farther_starts[:, 0] = False
    row, rank = np.nonzero(farther_starts)
    low, high = rankings.closeness(block)
    nearer, farther = (low[row, rank - 1], high[row, rank - 1]), (low[row, rank], high[row, rank])
    links, is_open = decided(nearer, farther, float(width))
    open_row, open_rank = row[is_open], rank[is_open]
    items = block.items[open_row, open_rank - 1], block.items[open_row, open_rank]
    links[is_open] = settled(rankings, block.queries[open_row], *items, width)
    is_linked[row, rank] = links
    return is_linked


def decided(nearer: Bounds, farther: Bounds, width: float) -> tuple[Bool, Bool]:
    """Whether gaps are at most `width` as far as bounds on the closeness of both show it, and where they do not.

    A difference that is rounded to something other than the width is on that side of it, since rounding keeps the
    order. Where it is rounded to the width itself and both sides are known exactly, the sign of what was rounded off
    decides.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        widest, narrowest = nearer[1] - farther[0], nearer[0] - farther[1]
        back = nearer[1] - widest
        lost = (nearer[1] - (widest + back)) + (back - farther[0])  # exact difference − rounded difference (Knuth)
    is_exact = (nearer[0] == nearer[1]) & (farther[0] == farther[1])
    links = (widest < width) | (is_exact & (widest == width) & (lost <= 0))
    return links, ~links & ~is_exact & (narrowest <= width)


def settled(rankings: Rankings, queries: Int64, nearer: Int64, farther: Int64, width: Fraction) -> Bool:
    """Whether the exact distances of pairs of items to a query differ by at most `width`."""
    metric, links = rankings.metric, np.empty(len(queries), dtype=np.bool_)
    for start in range(0, len(queries), PAIRS_AT_ONCE):
        part = slice(start, start + PAIRS_AT_ONCE)
        near, far = (
            metric.exact_closeness(queries[part], metric.columns.column_of_item[items[part]])
            for items in (nearer, farther)
        )
        pairs = np.arange(len(near))
        links[part] = near.compare_shifted(pairs, far, pairs, float(width)) <= 0
    return links
