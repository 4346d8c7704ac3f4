"""The style of all plots: colours that colour-blind people and grey printers distinguish, and plain axes.

The colours are those of Okabe and Ito; lines also differ by their style, marks by their shape. Black on white
follows Matplotlib's style: under ``plt.style.use("dark_background")`` it is white on black. What a style sheet sets
goes before what stands here (`kept`). Text that is too long for the figure is folded by `deadheat.plots.layout`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import pairwise
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from matplotlib import rcParams, rcParamsDefault
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.ticker import AutoLocator, Locator, MaxNLocator, NullFormatter, NullLocator, StrMethodFormatter
from numpy.typing import ArrayLike

from deadheat.errors import InvalidTypeError, InvalidValueError
from deadheat.support.arrays import Float64
from deadheat.support.lazy import require

BLUE, VERMILION, GREEN, ORANGE, PURPLE, SKY = "#0072B2", "#D55E00", "#009E73", "#E69F00", "#CC79A7", "#56B4E9"
GREY = "#7F7F7F"
CYCLE = (BLUE, VERMILION, GREEN, ORANGE, PURPLE, SKY)
STYLES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 1)))
MARKERS = ("o", "s", "^", "D", "v", "P")
HATCHES = ("////", "\\\\\\\\", "||||", "----", "....", "xxxx")
DASHED, DOTTED = (0, (4, 2)), (0, (1, 2))  # of reference lines
TIES = "lower to upper: ties"  # the name of a band in a legend

if TYPE_CHECKING:
    INK: str  # of marks and lines
    PALE: str  # of what stands behind the data
    PAPER: str  # what all is drawn on


def __getattr__(name: str) -> str:
    """Return a colour that depends on the current style of Matplotlib."""
    paper = to_hex(rcParams["axes.facecolor"])
    is_dark = sum(to_rgb(paper)) < 1.5
    colours = {"INK": ("#1A1A1A", "#ECEEF0"), "PALE": ("#E5E5E5", "#3A4047"), "PAPER": (paper, paper)}
    if name not in colours:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return colours[name][is_dark]


def figure(width: float, height: float, **options: Any) -> Figure:
    """Return a figure of this size in inches that is never shown on a screen, but can be saved."""
    return Figure(figsize=(width, height), layout="constrained", **options)


def kept(key: Any, default: Any) -> Any:
    """Return the setting of a style sheet, or `default` where Matplotlib's own is unchanged."""
    return default if rcParams[key] == rcParamsDefault[key] else rcParams[key]


def axes(ax: Axes | None, figsize: tuple[float, float] = (5.0, 3.4)) -> Axes:
    """Return the axes given, or new ones of a figure that `matplotlib.pyplot` manages.

    A figure without a layout engine gets one, so that title, legend and labels have space.
    """
    if ax is None:
        pyplot = require("matplotlib.pyplot", "plots", "deadheat.plots")
        made: Axes = pyplot.subplots(figsize=kept("figure.figsize", figsize), layout="constrained")[1]
        return made
    if not isinstance(ax, Axes):
        raise InvalidTypeError("ax", f"must be Matplotlib axes, but is of type {type(ax).__name__}")
    if ax.name != "rectilinear":
        raise InvalidValueError("ax", f"must be rectilinear axes, but is of type {type(ax).__name__}")
    if ax.figure is None:
        raise InvalidValueError("ax", "must be axes of a figure, but was removed from its figure")
    figure = ax.figure
    is_free = isinstance(figure, Figure) and figure.get_layout_engine() is None
    if is_free and all(each.get_subplotspec() for each in figure.axes):
        figure.set_layout_engine("tight")  # type: ignore[union-attr]  # plt.tight_layout() would warn of "constrained"
    return ax


def quiet(ax: Axes, grid: str = "y") -> Axes:
    """Remove the frame, and put a pale grid behind the data."""
    ax.spines[["top", "right"]].set_visible(False)
    if grid:
        look = {"color": kept("grid.color", __getattr__("PALE")), "linewidth": kept("grid.linewidth", 0.6)}
        ax.grid(axis=grid, **look)  # type: ignore[arg-type]
    ax.set_axisbelow(True)
    return ax


def line(number: int) -> dict[str, Any]:
    """Return colour and dashes of a line by its number, so that not only colour distinguishes lines."""
    look = {"color": CYCLE[number % len(CYCLE)], "linestyle": STYLES[number % len(STYLES)]}
    return look | _of_cycle(number, look)


def marked_line(number: int) -> dict[str, Any]:
    """Return the same as `line`, with a mark at each point."""
    mark = {"marker": MARKERS[number % len(MARKERS)]}
    return line(number) | mark | _of_cycle(number, mark)


def _of_cycle(number: int, look: Iterable[str]) -> dict[str, Any]:
    """Return the properties named in `look` that the cycle of a style sheet (``axes.prop_cycle``) sets."""
    cycle = list(kept("axes.prop_cycle", ())) or [{}]
    return {key: value for key, value in cycle[number % len(cycle)].items() if key in look}


def ends(ax: Axes, values: Float64, size: int) -> None:
    """Draw a row for each of n lower, expected and upper, (3, n): a bar with a mark at each, or one dot if equal."""
    rows = np.arange(values.shape[1])
    tied = values[0] < values[2]
    ax.hlines(rows[tied], values[0, tied], values[2, tied], color=GREY, linewidth=3, zorder=1)
    alone = "expected (alone: no tie decides)" if tied.any() else "value: no tie decides"
    name = "expected" if tied.all() else alone
    marks = (("lower", "<", VERMILION, tied), (name, "o", __getattr__("INK"), tied | True), ("upper", ">", BLUE, tied))
    for (label, marker, colour, where), row in zip(marks, values, strict=True):
        if where.any():
            ax.plot(row[where], rows[where], marker, color=colour, markersize=size, label=label, zorder=3)


def per_cent_axes(ax: Axes) -> None:
    """Show fractions in per cent at the ticks of both axes."""
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter(per_cent)


def per_cent(value: float, _: object = None) -> str:
    return f"{100 * value:.4g}"


def whole_numbers(axis: Any) -> None:
    """Put ticks at integers only."""
    axis.set_major_locator(MaxNLocator("auto", integer=True, steps=[1, 2, 5, 10]))


def tie_lines(draw: Any, at: Any, lower: Float64, upper: Float64, **look: Any) -> None:
    """Draw a line from lower to upper where they differ, by `Axes.hlines` or `Axes.vlines`."""
    tied = lower < upper
    if tied.any():
        draw(at[tied], lower[tied], upper[tied], label=TIES, **look)


def band(ax: Axes, x: ArrayLike, lower: Float64, upper: Float64, color: Any, label: str = TIES) -> None:
    """Fill the area between lower and upper, if they differ anywhere: the first plainly, others by hatching.

    Hatching of several bands keeps their colours, and areas would mix them.
    """
    if not (lower < upper).any():
        return
    before = sum(isinstance(each, PolyCollection) for each in ax.collections)
    look: dict[str, Any] = {"color": color, "alpha": 0.22, "linewidth": 0}
    if before:
        hatch = HATCHES[(before - 1) % len(HATCHES)]
        look = {"facecolor": "none", "edgecolor": color, "alpha": 0.55, "linewidth": 0.5, "hatch": hatch}
    ax.fill_between(x, lower, upper, label=label, **look)


# Logarithmic axes whose numbers do not touch

_LABEL = "{x:,.10g}"
_SIZE = 10 / 72  # inches: about as high as a number is
_WIDTH, _GAP, _HEIGHT = 0.62, 0.8, 1.4  # of a digit, between two numbers, from line to line: in that unit


def log_axis(ax: Axes, which: Literal["x", "y"], places: Iterable[ArrayLike] | None = None) -> None:
    """Make an axis logarithmic, with numbers at as many of these places as fit; else at 1, 2, 5, 10 ..."""
    axis = ax.xaxis if which == "x" else ax.yaxis
    (ax.set_xscale if which == "x" else ax.set_yscale)("log")
    axis.set_major_locator(_Spaced(ax, which, places))
    axis.set_major_formatter(StrMethodFormatter(_LABEL))
    axis.set_minor_locator(NullLocator())
    axis.set_minor_formatter(NullFormatter())


_quantile: Any = np.vectorize(NormalDist().inv_cdf, otypes=[float])
_share: Any = np.vectorize(NormalDist().cdf, otypes=[float])
_PROBITS = np.array([1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1, 1, 2, 5, 10, 20, 40, 60, 80, 90, 95, 98, 99, 99.9])  # per cent


def probit_axis(ax: Axes, which: Literal["x", "y"], least: float) -> None:
    """Scale an axis in per cent by the normal quantile, from `least` to as far from 100; beyond, values are clipped."""
    axis, low = ax.xaxis if which == "x" else ax.yaxis, min(least, 40.0)

    def forward(rates: ArrayLike) -> Any:
        return _quantile(np.clip(rates, low, 100 - low) / 100)

    def backward(quantiles: ArrayLike) -> Any:
        return 100 * _share(quantiles)

    (ax.set_xscale if which == "x" else ax.set_yscale)("function", functions=(forward, backward))
    (ax.set_xlim if which == "x" else ax.set_ylim)(low, 100 - low)
    axis.set_major_locator(_Spaced(ax, which, [_PROBITS[(low <= _PROBITS) & (100 - low >= _PROBITS)]]))
    axis.set_major_formatter(StrMethodFormatter(_LABEL))
    axis.set_minor_locator(NullLocator())


class _Spaced(Locator):
    """Ticks whose numbers do not touch.

    Of given places, the ends come first, then as many others as fit. Otherwise ticks are at 1, 2, 5 and so on, or at
    all powers of ten, or at every second one or fewer: the most that fit.
    """

    def __init__(self, ax: Axes, which: Literal["x", "y"], places: Iterable[ArrayLike] | None) -> None:
        self.ax, self.which = ax, which
        given = [np.ravel(np.asarray(part)) for part in places or ()]
        self.places = np.unique(np.concatenate(given)).tolist() if given else []

    def __call__(self) -> Any:
        if self.places:
            return self._thinned([self.places[-1], *self.places[:-1]])
        low, high = sorted(self.ax.get_xlim() if self.which == "x" else self.ax.get_ylim())
        powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
        of_decades = [[10.0**power * factor for power in powers for factor in (1.0, 2.0, 5.0)]]
        of_decades += [[10.0**power for power in powers if power % step == 0] for step in (1, 2, 3, 4, 6, 12)]
        for candidates in of_decades:
            ticks = [tick for tick in candidates if low <= tick <= high]
            if len(ticks) > 1 and all(self._separated(*pair) for pair in pairwise(ticks)):
                return np.array(ticks)
        within = np.asarray(AutoLocator().tick_values(low, high))  # of less than a decade
        return self._thinned(within[(within >= low) & (within <= high) & (within > 0)].tolist())

    def _separated(self, tick: float, another: float) -> bool:
        pixels = np.abs(np.diff(self.ax.transData.transform([(tick, tick), (another, another)]), axis=0)[0])
        size = self.ax.figure.dpi * _SIZE
        if self.which == "y":
            return bool(pixels[1] > size * _HEIGHT)
        digits = (len(_LABEL.format(x=tick)) + len(_LABEL.format(x=another))) / 2
        return bool(pixels[0] > size * (_WIDTH * digits + _GAP))

    def _thinned(self, places: list[float]) -> Float64:
        """Return the first tick, and each of the others whose number touches none that is kept, in ascending order."""
        kept: list[float] = []
        for at in places:
            if all(self._separated(at, another) for another in kept):
                kept.append(at)
        return np.array(sorted(kept))
