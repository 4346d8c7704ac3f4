"""How much is computed, and how its numbers are written."""

from __future__ import annotations

from typing import NamedTuple

from deadheat.statistics.intervals import Intervals
from deadheat.studies.grouped.populations import GROUP_SIZE, LEVEL

PLAIN, GROUPED = "plain", f"in groups of {GROUP_SIZE}"
LEVEL_TEXT = f"{100 * LEVEL:.0f} %"


class Extent(NamedTuple):
    """How much is computed."""

    sizes: tuple[int, ...]  # classes
    large: int  # groups that a population's value is taken from
    draws: int
    plain_draws: int
    null_draws: int
    cost: tuple[int, ...]  # classes
    times: int  # of which the shortest counts


def ends(interval: Intervals) -> tuple[float, float]:
    """The ends that neither ties nor sampling leave."""
    return interval.lower.low, interval.upper.high


def percent(value: float, digits: int = 2) -> str:
    return f"{100 * value:.{digits}f} %"


FULL = Extent((50, 100, 200, 500, 1000, 2000, 5000), 20_000, 1000, 400, 300, (800, 1600, 3200, 6400, 12_800), 2)
QUICK = Extent((50, 100, 200, 500), 300, 20, 10, 10, (100, 200, 400), 1)
