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

import numpy as np
from numpy.typing import NDArray

from deadheat.distances import Distance
from deadheat.exact import Float64, SignedRoot
from deadheat.ties import kernels
from deadheat.ties.groups import Groups, Relevant

Int64 = NDArray[np.int64]
Above = Callable[[int, int, SignedRoot], bool]
Member = Callable[[int, int], int]  # the column of a member of a group, given its row and number


@dataclass
class Cuts:
    """Ascending cuts for each row of a block: intervals that hold them, and the exact test for what these leave open.

    Parameters
    ----------
    low, high : (n_row, n_interval) float64
        An item whose score is at least `high` is above all cuts in the interval, one whose score is below `low` above
        none; infinite in padding.
    each : int
        How many cuts are in each interval: 1, or 2 that belong to one group.
    above : callable (row, cut, closeness) -> bool
        Whether an item of this exact closeness is above the cut.
    """

    low: Float64
    high: Float64
    each: int
    above: Above

    def __post_init__(self) -> None:
        kernels.make_ascending(self.low, self.high)


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
