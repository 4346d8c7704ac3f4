"""Logarithmic axes whose numbers do not touch."""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import AutoLocator, Locator, NullFormatter, NullLocator, StrMethodFormatter
from numpy.typing import ArrayLike, NDArray

_LABEL = "{x:,.10g}"
_SIZE = 10 / 72  # inches: about as high as a number is
_WIDTH, _GAP, _HEIGHT = 0.62, 0.8, 1.4  # of a digit, between two numbers, from line to line: in that unit


def log_axis(ax: Axes, which: Literal["x", "y"], places: Iterable[ArrayLike] | None = None) -> None:
    """A logarithmic axis with numbers at these places, as far as there is room; else at 1, 2, 5, 10 ..."""
    axis = ax.xaxis if which == "x" else ax.yaxis
    (ax.set_xscale if which == "x" else ax.set_yscale)("log")
    axis.set_major_locator(_Round(ax, which) if places is None else _Given(ax, which, places))
    axis.set_major_formatter(StrMethodFormatter(_LABEL))
    axis.set_minor_locator(NullLocator())
    axis.set_minor_formatter(NullFormatter())


class _Spaced(Locator):
    """What both kinds know: whether there is a gap between two numbers."""

    def __init__(self, ax: Axes, which: Literal["x", "y"]) -> None:
        self.ax, self.which = ax, which

    def apart(self, place: float, other: float) -> bool:
        pixels = np.diff(self.ax.transData.transform([(place, place), (other, other)]), axis=0)[0]
        if self.which == "y":
            return float(abs(pixels[1])) > self.ax.figure.dpi * _SIZE * _HEIGHT
        digits = (len(_LABEL.format(x=place)) + len(_LABEL.format(x=other))) / 2
        return float(abs(pixels[0])) > self.ax.figure.dpi * _SIZE * (_WIDTH * digits + _GAP)

    def thinned(self, places: list[float]) -> NDArray[np.float64]:
        """The first place, and each of the others whose number touches none that is there."""
        kept: list[float] = []
        for place in places:
            if all(self.apart(place, other) for other in kept):
                kept.append(place)
        return np.array(sorted(kept))


class _Given(_Spaced):
    """Ticks at given places, first of all the ends, as far as their numbers touch none."""

    def __init__(self, ax: Axes, which: Literal["x", "y"], places: Iterable[ArrayLike]) -> None:
        super().__init__(ax, which)
        self.places = np.unique(np.concatenate([np.ravel(np.asarray(part)) for part in places])).tolist()

    def __call__(self) -> Any:
        return self.thinned([self.places[-1], *self.places[:-1]])


class _Round(_Spaced):
    """Ticks at 1, 2, 5 and so on, or at powers of ten, or at every second of them: the most for which there is room."""

    def __call__(self) -> Any:
        low, high = sorted(self.ax.get_xlim() if self.which == "x" else self.ax.get_ylim())
        for step in ((1.0, 2.0, 5.0), 1, 2, 3, 4, 6, 12):
            ticks = _round(low, high, step)
            if len(ticks) > 1 and all(self.apart(*pair) for pair in pairwise(ticks.tolist())):
                return ticks
        within = np.asarray(AutoLocator().tick_values(low, high))  # of less than a decade
        return self.thinned(within[(within >= low) & (within <= high) & (within > 0)].tolist())


def _round(low: float, high: float, step: tuple[float, ...] | int) -> NDArray[np.float64]:
    """Powers of ten times these, or each so many-th power of ten, that lie between two ends."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    if isinstance(step, int):
        found = [10.0**power for power in powers if power % step == 0]
    else:
        found = [10.0**power * factor for power in powers for factor in step]
    return np.array([place for place in found if low <= place <= high])
