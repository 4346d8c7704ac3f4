"""What a search for collisions gives: counts by kind, and with one distance the collisions rank by rank.

In come matrices and counts of single queries; out go their sums, as tables, JSON and data frames.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deadheat import distances
from deadheat.reports.tables import Table, TabularResult, count
from deadheat.support import checks
from deadheat.support.named import ByName


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


_COLUMNS = tuple(each.name for each in fields(Count))


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
        return {"kind": list(counts)} | {name: [getattr(each, name) for each in counts.values()] for name in _COLUMNS}


@dataclass(frozen=True, eq=False)
class Collisions(TabularResult):
    """The collisions of every query, rank by rank. Printing gives a table of the counts.

    Attributes
    ----------
    kind : (n_query, depth) int8
        A `Kind` for each rank, nearest first.
    relevant : (n_query, depth) bool
        Whether the item at that rank is relevant, where the relevant items of a tie come first. This order is one of
        many, and only for drawing; False beyond the end.
    size : (n_query, depth) int32
        Items in the group that the item at this rank belongs to, beyond the depth too: 1 without a collision, 0 beyond
        the end.
    counts : Counts
    distance : str
    rule : str
        What colliding meant: ``"exact"``, ``"within 1e-10"``, or a rounding such as ``"float16 similarity"``.
    """

    kind: NDArray[np.int8] = field(repr=False)
    relevant: NDArray[np.bool_] = field(repr=False)
    size: NDArray[np.int32] = field(repr=False)
    counts: Counts
    distance: str
    rule: str

    def tables(self) -> list[Table]:
        """Groups, items, queries and largest group of each kind."""
        return [_table(self.distance, self.rule, self.counts)]

    def notes(self) -> list[str]:
        """How much was looked at."""
        return [_looked_at(self.counts)]

    def to_dict(self) -> dict[str, Any]:
        """The counts, and what was counted, as plain Python values that JSON can hold; not the matrices."""
        n_query, depth = self.kind.shape
        return {
            "distance": self.distance,
            "rule": self.rule,
            "n_query": n_query,
            "depth": depth,
            "counts": asdict(self.counts),
        }

    def columns(self) -> Mapping[str, Sequence[Any]]:
        """The counts, a row a kind."""
        return self.counts.columns()


@dataclass(frozen=True, eq=False)
class CollisionTable(TabularResult, ByName[Counts]):
    """Counts of collisions by distance: `table["cosine"]` is a `Counts`. Printing gives a table.

    Attributes
    ----------
    by_distance : dict of str to Counts
    rules : dict of str to str
        What colliding meant for each distance: a rounding is of the similarity or of the distance.
    """

    by_distance: dict[str, Counts]
    rules: dict[str, str]

    def __getitem__(self, distance: str) -> Counts:
        """The counts for a distance; raises ValueError for one that was not asked for."""
        return self.by_distance[checks.choice(distance, self.by_distance, "distance", distances.ALIASES)]

    def __iter__(self) -> Iterator[str]:
        return iter(self.by_distance)

    def tables(self) -> list[Table]:
        """Groups, items, queries and largest group of each kind, a table a distance."""
        return [_table(name, self.rules[name], counts) for name, counts in self.by_distance.items()]

    def notes(self) -> list[str]:
        """How much was looked at, which is the same for each distance."""
        return [_looked_at(next(iter(self.by_distance.values())))]

    def to_text(self, **options: Any) -> str:
        """The tables as plain text, all with the same widths, and what was looked at: what `print` shows."""
        tables = self.tables(**options)
        lines = Table(tables[0].header, [row for table in tables for row in (table.header, *table.rows)]).to_text()
        height = 1 + len(tables[0].rows)
        blocks = zip(*[iter(lines.splitlines()[1:])] * height, strict=True)
        return "\n\n".join(["\n".join(block) for block in blocks] + self.notes())

    def to_dict(self) -> dict[str, Any]:
        """The counts as plain Python values that JSON can hold."""
        return {
            "distances": {
                name: {"rule": self.rules[name], "counts": asdict(counts)} for name, counts in self.by_distance.items()
            }
        }

    def columns(self) -> Mapping[str, Sequence[Any]]:
        """The counts, a row a distance and kind."""
        parts = [counts.columns() for counts in self.by_distance.values()]
        joined = {name: [value for part in parts for value in part[name]] for name in parts[0]}
        return {"distance": [name for name in self for _ in parts[0]["kind"]], **joined}


def _table(distance: str, rule: str, counts: Counts) -> Table:
    columns = counts.columns().values()
    return Table((f"{distance}, {rule}", *_COLUMNS), [list(map(str, row)) for row in zip(*columns, strict=True)])


def _looked_at(counts: Counts) -> str:
    return f"{count(counts.n_query, 'query', 'queries')}, {counts.n_place} ranks looked at."
