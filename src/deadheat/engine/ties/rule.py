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

import numpy as np

import deadheat._core as _core
from deadheat._core import RelevantItems, TieGroups
from deadheat.engine.distances.distance import Distance
from deadheat.engine.exact import Roots
from deadheat.errors import InvalidValueError
from deadheat.support.arrays import Bool, Float64, Int64
from deadheat.support.progress import raise_if_cancelled

Above = Callable[[Int64, Int64, Roots, Int64], Bool]  # whether items are above cuts: rows, cuts, closeness, which of it


def padding_of(groups: TieGroups) -> Bool:
    """Mark the entries of (n_row, largest n_group) that stand for no group."""
    return np.arange(groups.score.shape[1]) >= groups.n_group[:, None]


@dataclass
class Cuts:
    """Ascending cuts for each row of a block, one in each interval, and the exact test for undecided items.

    An item whose score is at least `high` is above the cut in the interval, one whose score is below `low` is not.
    """

    low: Float64  # (n_row, n_interval), infinite in padding
    high: Float64
    above: Above
    sharp: bool = False  # whether scores are exact, and each interval is the least score above its cut
    per_interval: int = 1  # how many cuts are in an interval

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
    return _core.group_exactly(distance.scores, distance.exact, relevant)


def require_ungraded(rule: Ties, graded: bool) -> None:
    """Refuse grades with a tolerance: items of two grades may change places, which no window counts."""
    if graded and rule.bounds_only:
        raise InvalidValueError("ties", "must have tie groups where relevance is graded, but a tolerance has none")
