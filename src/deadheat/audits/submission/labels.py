"""What the labels look like: how they follow each other in the file, and how much of a mean each class is."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from deadheat.audits.submission import limits
from deadheat.support.arrays import Int64


@dataclass(frozen=True)
class Runs:
    """Runs of equal labels in a file.

    Attributes
    ----------
    n, n_class, n_run : int
        Samples, classes, and runs of one class.
    likely : float
        The runs that a random order has on average.
    """

    n: int
    n_class: int
    n_run: int
    likely: float

    @property
    def order(self) -> float:
        """0 for as many runs as a random order has, 1 for classes one after the other; NaN where these are the same."""
        away = self.likely - self.n_class
        return (self.likely - self.n_run) / away if away > 0 else math.nan

    @property
    def found(self) -> bool:
        """Whether classes are together as they are not by chance."""
        equal, likely = self.n - self.n_run, self.n - self.likely  # equal neighbours
        by_chance = likely + limits.RUNS_BEYOND_CHANCE * math.sqrt(likely)
        return self.order >= limits.IN_RUNS and equal > by_chance


def runs_of(codes: Int64) -> Runs:
    """The runs of labels by number.

    Examples
    --------
    >>> runs_of(np.array([0, 0, 1, 1, 1, 0]))
    Runs(n=6, n_class=2, n_run=3, likely=4.0)
    """
    n, sizes = len(codes), np.bincount(codes)
    equal = float((sizes * (sizes - 1)).sum()) / n  # neighbours, on average
    return Runs(n, int(np.count_nonzero(sizes)), 1 + int(np.count_nonzero(np.diff(codes))), n - equal)
