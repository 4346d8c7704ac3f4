"""Logarithmic scales whose numbers do not touch."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, LogLocator, NullFormatter, NullLocator, StrMethodFormatter
from numpy.typing import ArrayLike

_LABEL = "{x:,.10g}"
_LETTER = 10 / 72  # inches: about as high as one of ten points is with its gap


def log_x(ax: Axes, places: Iterable[ArrayLike] | None = None) -> None:
    """A logarithmic horizontal axis with numbers at these places, as far as there is room; else at 1, 2, 5, 10 ..."""
    ax.set_xscale("log")
    ax.xaxis.set_major_locator(_usual() if places is None else _Spaced(ax, places))
    ax.xaxis.set_major_formatter(StrMethodFormatter(_LABEL))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_minor_formatter(NullFormatter())


def log_y(ax: Axes) -> None:
    """A logarithmic vertical axis with numbers at 1, 2, 5, 10 ..., as far as there is room."""
    ax.set_yscale("log")
    ax.yaxis.set_major_locator(_usual())
    ax.yaxis.set_major_formatter(StrMethodFormatter(_LABEL))
    ax.yaxis.set_minor_locator(NullLocator())
    ax.yaxis.set_minor_formatter(NullFormatter())


def _usual() -> LogLocator:
    return LogLocator(subs=(1.0, 2.0, 5.0), numticks=8)


class _Spaced(FixedLocator):
    """Ticks at given places, the ends first, and each of the others where its number touches none that is there."""

    def __init__(self, ax: Axes, places: Iterable[ArrayLike]) -> None:
        found: list[float] = np.unique(np.concatenate([np.ravel(np.asarray(part)) for part in places])).tolist()
        super().__init__(found)
        self._ax, self._places = ax, found

    def __call__(self) -> Any:
        first, *inner, last = self._places if len(self._places) > 1 else self._places * 2
        kept = [last]
        for place in [first, *inner]:
            if all(self._apart(place, other) for other in kept):
                kept.append(place)
        return sorted(kept)

    def _apart(self, place: float, other: float) -> bool:
        """Whether there is a gap between two numbers."""
        pixels = np.diff(self._ax.transData.transform([(place, 1.0), (other, 1.0)])[:, 0])
        letters = (len(_LABEL.format(x=place)) + len(_LABEL.format(x=other))) / 2
        return float(abs(pixels[0])) > self._ax.figure.dpi * _LETTER * (0.62 * letters + 0.8)
