"""Grouped measures: value against the number of classes, coverage of intervals, and cost."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FixedLocator
from numpy.typing import ArrayLike, NDArray

from deadheat.plots import style, ticks


class Band(NamedTuple):
    """Values with an interval round each, as fractions, at some places on the horizontal axis; all of shape (n,)."""

    at: ArrayLike
    value: ArrayLike
    low: ArrayLike
    high: ArrayLike


def measure_against_classes(
    bands: Mapping[str, Band], *, measure: str = "Hit@1", truth: float | None = None, ax: Axes | None = None
) -> Axes:
    """Draw a measure against the number of classes: a line for each name, and its intervals as a band.

    Parameters
    ----------
    bands : mapping of str to Band
        `at` is the number of classes. An interval that is NaN is left out.
    measure : str
        What the vertical axis is of.
    truth : float, optional
        The value inside groups, where it is known: a thin line.
    ax : Axes, optional

    Returns
    -------
    Axes
        The horizontal axis is logarithmic, the vertical one in per cent.
    """
    ax = style.quiet(style.axes(ax))
    for number, (name, band) in enumerate(bands.items()):
        at, value, low, high = _sorted(band)
        line = _line(number)
        ax.fill_between(at, 100 * low, 100 * high, color=line["color"], alpha=0.18, linewidth=0)
        ax.plot(at, 100 * value, label=name, **line)
    if truth is not None:
        ax.axhline(100 * truth, color=style.INK, linewidth=0.8, label="value of the population in groups")
    ticks.log_axis(ax, "x", [band.at for band in bands.values()])
    ax.set_ylim(0, 100)
    ax.set_xlabel("classes")
    ax.set_ylabel(f"{measure} (%)")
    shaded = any(np.isfinite(np.asarray(band.low, dtype=np.float64)).any() for band in bands.values())
    return _legend(ax, *([Patch(facecolor=style.GREY, alpha=0.3, label="interval")] if shaded else []))


def interval_coverage(bands: Mapping[str, Band], *, level: float = 0.95, ax: Axes | None = None) -> Axes:
    """Draw how many intervals hold the value that they are for, against the number of groups.

    Parameters
    ----------
    bands : mapping of str to Band
        By name of the method. `at` is the number of groups; `low` and `high` are what the draws leave open.
    level : float
        The share that should hold it, drawn as a line.
    ax : Axes, optional

    Returns
    -------
    Axes
        Both axes are linear, the horizontal one with a place for each number of groups; the vertical one in per cent.
    """
    ax = style.quiet(style.axes(ax))
    places = sorted({int(at) for band in bands.values() for at in np.asarray(band.at).tolist()})
    shift = 0.5 / max(1, len(bands))
    ax.axhline(100 * level, color=style.INK, linewidth=1.0, label=f"as promised: {100 * level:g} %")
    for number, (name, band) in enumerate(bands.items()):
        at, value, low, high = _sorted(band)
        where = np.searchsorted(places, at) + shift * (number - (len(bands) - 1) / 2)
        reach = 100 * np.stack([value - low, high - value])
        ax.errorbar(where, 100 * value, reach, label=name, capsize=2, elinewidth=0.9, **_line(number))
    ax.xaxis.set_major_locator(FixedLocator(range(len(places))))
    ax.set_xticklabels([str(place) for place in places])
    ax.set_xlim(-0.5, len(places) - 0.5)
    ax.set_xlabel("groups")
    ax.set_ylabel("intervals that hold the value (%)")
    return _legend(ax, Line2D([], [], color=style.GREY, marker="|", label="bar: what the draws leave open"))


def gap_histogram(values: Mapping[str, ArrayLike], *, truth: float = 0.0, ax: Axes | None = None) -> Axes:
    """Draw how differences found in many draws spread round the true one: a histogram for each name.

    Parameters
    ----------
    values : mapping of str to (n,)
        Differences of fractions.
    truth : float
        The true difference, drawn as a line.
    ax : Axes, optional

    Returns
    -------
    Axes
        The horizontal axis is in percentage points.
    """
    ax = style.quiet(style.axes(ax))
    shown = {name: 100 * np.asarray(gaps, dtype=np.float64) for name, gaps in values.items()}
    edges = np.histogram_bin_edges(np.concatenate([*shown.values(), [100 * truth]]), bins=40)
    for number, (name, gaps) in enumerate(shown.items()):
        colour = style.CYCLE[number % len(style.CYCLE)]
        ax.hist(
            gaps,
            edges.tolist(),
            label=name,
            color=colour,
            alpha=0.55,
            edgecolor="white",
            hatch=("", "///", "...")[number % 3],
        )
    ax.axvline(100 * truth, color=style.INK, linewidth=1.0, label=f"true gap: {100 * truth:g}")
    ax.set_xlabel("gap (percentage points)")
    ax.set_ylabel("draws")
    return _legend(ax)


def processor_time(seconds: Mapping[str, tuple[ArrayLike, ArrayLike]], *, ax: Axes | None = None) -> Axes:
    """Draw processor time against the number of samples, both on logarithmic axes.

    Parameters
    ----------
    seconds : mapping of str to (n, seconds)
        Two arrays of one length for each name.
    ax : Axes, optional

    Returns
    -------
    Axes
        Processor seconds over samples.
    """
    ax = style.quiet(style.axes(ax), grid="both")
    for number, (name, (n, time)) in enumerate(seconds.items()):
        ax.plot(n, time, label=name, **_line(number))
    ticks.log_axis(ax, "x", [n for n, _ in seconds.values()])
    ticks.log_axis(ax, "y")
    ax.set_xlabel("samples")
    ax.set_ylabel("processor seconds")
    return _legend(ax)


def _sorted(band: Band) -> tuple[NDArray[np.float64], ...]:
    """The arrays of a band by ascending place."""
    order = np.argsort(np.asarray(band.at), kind="stable")
    return tuple(np.asarray(values, dtype=np.float64)[order] for values in band)


def _line(number: int) -> dict[str, Any]:
    return style.marked_line(number) | {"markersize": 4.5}


def _legend(ax: Axes, *more: Any) -> Axes:
    """A legend above the data, with what has no label of its own."""
    handles = [*ax.get_legend_handles_labels()[0], *more]
    style.legend_above(ax, handles=handles, handlelength=3.0)
    return ax
