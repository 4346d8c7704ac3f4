"""What "tied" means: the exact distance, the distance rounded to a type, or within a tolerance.

In come the scores of a block of queries against their relevant items, each with a bound on its error. Out go the
relevant items in groups, farthest first, and the *cuts* between which all other items are counted. A cut is a real
number, known to lie between two floats and exactly comparable with any item:

    far                                                                                 near
    ───────────┤ tied with group 0 ├─────────────────┤ tied with group 1 ├──────────────────>  closeness
             cut 0               cut 1             cut 2               cut 3
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from deadheat import _core
from deadheat.distances import Distance
from deadheat.exact import Roots
from deadheat.support.arrays import Bool, Float64, Int32, Int64

Above = Callable[[Int64, Int64, Roots, Int64], Bool]  # whether items are above cuts: rows, cuts, closeness, which of it
Member = Callable[[Int64, Int64], Int64]  # the columns of members of groups, given their rows and numbers


class Items(NamedTuple):
    """Items that lie between two intervals of their rows: from the first interval they may be in to beyond the last."""

    rows: Int64
    columns: Int64
    low: Int64
    high: Int64
    weights: Int32

    def take(self, which: Int64 | slice) -> Items:
        """Some of them."""
        return Items(*(numbers[which] for numbers in self))  # type: ignore[arg-type]


Direct = Callable[[Items, Int32], Int64]  # counts items; which are left


@dataclass
class Relevant:
    """The relevant columns of a block of queries, as matrices of shape (n_row, width)."""

    rows: Int64  # (n_row,), the queries
    columns: Int64
    count: Int64  # of relevant items in a column; 0 is padding
    irrelevant: Int64  # items in it
    score: Float64  # of the last level, NaN in padding
    bound: Float64  # on the error of the score

    def matrices(self) -> tuple[Int64, Int64, Int64, Float64, Float64]:
        """What is put into a new order together: columns, count, irrelevant, score, bound."""
        return self.columns, self.count, self.irrelevant, self.score, self.bound

    def sort(self) -> Bool:
        """Sort the entries of every row by score; returns where a score is surely above all before it."""
        order = np.argsort(self.score, axis=1)
        starts = np.empty(order.shape, dtype=np.bool_)
        _core.sort_rows(order, *self.matrices(), starts)
        return starts

    def apart(self) -> Groups | None:
        """Groups of one item each, if scores alone show that all are, and no entry has irrelevant ones beside it."""
        n_group, reach = np.empty(len(self.rows), dtype=np.int64), np.empty(len(self.rows))
        has_zero = np.empty(len(self.rows), dtype=np.bool_)
        if not _core.single_items(*self.matrices(), n_group, reach, has_zero):
            return None
        score = np.sort(self.score, axis=1)
        if not _core.all_apart(score, reach, n_group):
            return None
        score = score[:, : max(1, n_group.max())]
        total = (np.arange(score.shape[1]) < n_group[:, None]).astype(np.int32)
        bound = np.broadcast_to(reach[:, None], score.shape)
        if has_zero.any():  # which is known to be one, and what is as far ties with it
            bound = np.where((score == 0) & has_zero[:, None], 0.0, bound)
        return Groups(self.rows, n_group, score, bound, total, None, None)

    def groups(self, starts: Bool) -> Groups:
        """The groups of sorted entries, given where each of them starts."""
        n_group = starts.sum(axis=1)
        shape = (len(starts), max(1, int(n_group.max(initial=0))))
        group, first, total = np.full(starts.shape, -1), np.full(shape, -1), np.zeros(shape, dtype=np.int32)
        _core.number_groups(starts, self.count, group, first, total)

        def of_first(values: NDArray[Any], fill: float) -> NDArray[Any]:
            return np.where(first >= 0, np.take_along_axis(values, np.maximum(first, 0), axis=1), fill)

        score, bound = of_first(self.score, np.nan), of_first(self.bound, 0.0)
        return Groups(self.rows, n_group, score, bound, total, of_first(self.columns, 0).astype(np.int32), group)


class Groups(NamedTuple):
    """The tie groups of a block of queries, farthest first, as matrices of shape (n_row, largest n_group).

    `of_entry` is the group of each relevant entry in the order of its row, (n_row, width), −1 in padding. Where groups
    are one relevant item each, by ascending score, it and `columns` are None.
    """

    rows: Int64  # (n_row,), the queries
    n_group: Int64  # (n_row,)
    score: Float64  # of a member of each group, NaN in padding
    bound: Float64  # on the error of that score
    total: Int32  # relevant items in each group
    columns: Int32 | None  # of that member
    of_entry: Int64 | None

    @property
    def padding(self) -> Bool:
        """Where there is no group."""
        return np.arange(self.score.shape[1]) >= self.n_group[:, None]


@dataclass
class Cuts:
    """Ascending cuts for each row of a block: intervals that hold them, and the exact test for what these leave open.

    An item whose score is at least `high` is above all cuts in the interval, one whose score is below `low` above none.
    """

    low: Float64  # (n_row, n_interval), infinite in padding
    high: Float64
    each: int  # how many cuts are in an interval: 1, or 2 that belong to one group
    above: Above
    members: Member | None = (
        None  # of the groups that the intervals belong to, where what ties with one is between cuts
    )
    sharp: bool = False  # whether scores are exact, and each interval is the least score above its cut
    direct: Direct | None = None  # counts items at once, as far as it can

    def __post_init__(self) -> None:
        _core.make_ascending(self.low, self.high)

    def count_below(self, rows: Int64, closeness: Roots, low: Int64, high: Int64) -> Int64:
        """How many cuts of its row each item is above, known to be from `low` to `high`, by bisection."""
        low, high = low.copy(), high.copy()
        which = np.flatnonzero(low < high)
        while len(which):
            middle = (low[which] + high[which]) // 2
            above = self.above(rows[which], middle, closeness, which)
            low[which] = np.where(above, middle + 1, low[which])
            high[which] = np.where(above, high[which], middle)
            which = which[low[which] < high[which]]
        return low


class Ties(ABC):
    """A meaning of "tied"."""

    bounds_only = False
    exact_only = False  # whether scores are only ever compared with each other

    def check(self, distance: Distance) -> None:  # noqa: B027
        """Refuse a distance that this meaning does not fit; most fit all."""

    @abstractmethod
    def group(self, distance: Distance, relevant: Relevant) -> Groups:
        """Sort the relevant items of every query into groups; the entries of `relevant` are put into their order."""

    @abstractmethod
    def cuts(self, distance: Distance, groups: Groups, member: Member) -> list[Cuts]:
        """One sequence of cuts with two for each group, or two sequences with one each: tied or closer, and closer."""

    @abstractmethod
    def describe(self, distance: str) -> str:
        """How it is written in a report on this distance."""
