"""Rules for ties: by the exact distance, by the distance rounded to a type, or within a tolerance.

In come the scores of a block of queries against their relevant items, each with a bound on its error. Out go the
relevant items in groups, farthest first, and the *cuts* between which all other items are counted. A cut is a real
number, known to lie between two floats and exactly comparable with any item:

    far                                                                                 near
    ───────────┤ tied with group 0 ├─────────────────┤ tied with group 1 ├──────────────────>  closeness
             cut 0               cut 1             cut 2               cut 3

The core applies the exact rule (src/core/pass/grouping.h); the other two are applied here.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

import deadheat._core as _core
from deadheat.engine.distances.distance import Distance
from deadheat.engine.exact import Roots
from deadheat.support.arrays import Bool, Float64, Int32, Int64
from deadheat.support.progress import raise_if_cancelled

Above = Callable[[Int64, Int64, Roots, Int64], Bool]  # whether items are above cuts: rows, cuts, closeness, which of it


class RelevantItems(NamedTuple):
    """The relevant columns of a block of queries, as matrices of shape (n_row, width)."""

    rows: Int64  # (n_row,), the queries
    columns: Int64
    sizes: Int64  # the relevant items in a column; 0 is padding
    irrelevant: Int64  # items in it
    score: Float64  # of the last level, NaN in padding
    bound: Float64  # on the error of the score


class TieGroups(NamedTuple):
    """The tie groups of a block of queries, farthest first, as matrices of shape (n_row, largest n_group)."""

    rows: Int64  # (n_row,), the queries
    n_group: Int64  # (n_row,)
    score: Float64  # of a member of each group, NaN in padding
    bound: Float64  # on the error of that score
    total: Int32  # relevant items in each group
    columns: Int32  # of that member
    of_entry: Int64  # the group of each relevant entry in the order of its row, (n_row, width), −1 in padding

    @property
    def padding(self) -> Bool:
        return np.arange(self.score.shape[1]) >= self.n_group[:, None]


@dataclass
class Cuts:
    """Ascending cuts for each row of a block, one in each interval, and the exact test for items left open by scores.

    An item whose score is at least `high` is above the cut in the interval, one whose score is below `low` is not.
    """

    low: Float64  # (n_row, n_interval), infinite in padding
    high: Float64
    above: Above
    sharp: bool = False  # whether scores are exact, and each interval is the least score above its cut
    each: int = 1  # how many cuts are in an interval

    def __post_init__(self) -> None:
        self.low, self.high = np.ascontiguousarray(self.low), np.ascontiguousarray(self.high)  # as the core reads them

    def count_below(self, rows: Int64, closeness: Roots, low: Int64, high: Int64) -> Int64:
        """Count the cuts of its row that each item is above, known to be from `low` to `high`, by bisection."""
        low, high = low.copy(), high.copy()
        which = np.flatnonzero(low < high)
        while len(which):
            raise_if_cancelled()
            middle = (low[which] + high[which]) // 2
            above = self.above(rows[which], middle, closeness, which)
            low[which] = np.where(above, middle + 1, low[which])
            high[which] = np.where(above, high[which], middle)
            which = which[low[which] < high[which]]
        return low


class Ties(ABC):
    """A rule that says which items tie."""

    bounds_only = False
    exact_only = False  # whether scores are only ever compared with each other

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((type(self), *vars(self).values()))

    def check(self, distance: type[Distance]) -> None:  # noqa: B027
        """Refuse a distance that this rule does not fit; most rules fit all."""

    @abstractmethod
    def group(self, distance: Distance, relevant: RelevantItems) -> TieGroups:
        """Sort the relevant items of every query into groups; the entries of `relevant` are sorted in place."""

    @abstractmethod
    def cuts(self, distance: Distance, groups: TieGroups) -> list[Cuts]:
        """Return one sequence with two cuts per group, or two sequences with one each: tied or closer, and closer."""

    @abstractmethod
    def describe(self, distance: str) -> str:
        """Return the text for the rule in a report on this distance."""


class Exact(Ties):
    """The rule that items tie if their distances are equal as real numbers."""

    exact_only = True

    def describe(self, distance: str) -> str:
        return "exact"

    def group(self, distance: Distance, relevant: RelevantItems) -> TieGroups:
        return group_by_score(distance, relevant)

    def cuts(self, distance: Distance, groups: TieGroups) -> list[Cuts]:
        raise NotImplementedError  # the core makes them


def group_by_score(distance: Distance, relevant: RelevantItems) -> TieGroups:
    """Sort by the exact closeness: by score, and by exact arithmetic where the bounds of scores overlap."""
    rows, columns, sizes, irrelevant, score, bound = relevant
    entries = columns, sizes, irrelevant, score, bound
    found: Any = _core.group_exactly(distance.scores, distance.exact, rows, entries)
    return TieGroups(rows, *found)
