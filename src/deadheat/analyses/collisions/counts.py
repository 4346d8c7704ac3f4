"""How many collisions there are, by kind: in come counts of single queries, out go their sums."""

from __future__ import annotations

import operator
from dataclasses import dataclass, fields
from enum import IntEnum


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


COLUMNS = tuple(field.name for field in fields(Count))


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
        return {"kind": list(counts)} | {name: [getattr(each, name) for each in counts.values()] for name in COLUMNS}
