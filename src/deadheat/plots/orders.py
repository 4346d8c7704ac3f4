"""What the order of the samples is worth: the orders, and how far they carry."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike

from deadheat import inputs
from deadheat.analyses.exploit import Exploit
from deadheat.errors import InvalidValueError
from deadheat.plots import style


def sample_order(labels: ArrayLike, order: ArrayLike | None = None, *, ax: Axes | None = None) -> Axes:
    """Draw which class comes when in an order of the samples.

    Parameters
    ----------
    labels : (n,)
        Integers or strings.
    order : (n,) int, optional
        The samples in that order; by default as they are.
    ax : Axes, optional

    Returns
    -------
    Axes
        Across: the place in the order, from 1. Upwards: the class, by size, the largest lowest.

    Raises
    ------
    ValueError
        If `order` is not a permutation of the samples.

    Examples
    --------
    >>> import deadheat as dh
    >>> dh.plots.sample_order(["b", "a", "a"]).get_ylabel()
    'class'
    """
    _, codes = inputs.label_codes(inputs.labels(labels, np.size(labels), "labels", "labels"))
    n, sizes = len(codes), np.bincount(codes)
    places = np.arange(n) if order is None else np.asarray(order)
    if not np.array_equal(np.sort(places), np.arange(n)):
        raise InvalidValueError(
            "order", f"must be a permutation of the {n} samples, but holds {places.tolist()[:5]} and so on"
        )
    row = np.empty(len(sizes), dtype=np.int64)
    row[np.argsort(-sizes, kind="stable")] = np.arange(1, len(sizes) + 1)
    ax = style.quiet(style.axes(ax, (5.0, 2.4)), grid="")
    drawn = row[codes[places]]
    begin = np.flatnonzero(np.diff(drawn, prepend=0))  # of each run of one class
    length = np.diff(begin, append=n)
    ax.bar(begin + 0.5, 0.8, length, drawn[begin] - 0.4, align="edge", color=style.BLUE, linewidth=0, snap=False)
    ax.set_xlim(0.5 - 0.005 * n, 1.005 * n + 0.5)
    ax.set_ylim(0.3, len(sizes) + 0.7)
    ax.set_xlabel("place in the file")
    ax.set_ylabel("class")
    ax.yaxis.set_major_locator(MaxNLocator(integer=True))
    return ax


def order_ranges(exploits: Mapping[str, Exploit], *, ax: Axes | None = None) -> Axes:
    """Draw where the values that orders of the samples give lie between the bounds.

    Parameters
    ----------
    exploits : mapping of str to Exploit
        One row each, the first on top.
    ax : Axes, optional

    Returns
    -------
    Axes
        Across: the way from the lower bound (0) to the upper bound (100), in per cent; both are written beside the
        row, in per cent of the measure. A bar reaches from the lowest to the highest value found, with a cap at an
        end where it is known that no order goes beyond it. A row whose bounds are one value has no bar.
    """
    ax = style.quiet(style.axes(ax, (7.2, 1.2 + 0.5 * len(exploits))), grid="x")
    series: dict[str, list[tuple[float, float]]] = {"expected": [], "as given": []}
    for row, exploit in enumerate(exploits.values()):
        low, high = exploit.bounds.lower, exploit.bounds.upper
        if low == high:
            ax.text(50, row, "no tie decides: one value", ha="center", va="center", fontsize="small")
            continue
        ax.hlines(row, 0, 100, color=style.GREY, linewidth=0.8, zorder=1)
        ends = (exploit.lowest, exploit.highest)
        values = (*(end.value for end in ends), exploit.bounds.expected, exploit.as_given, exploit.random_mean)
        least, most, expected, given, mean = (100 * (value - low) / (high - low) for value in values)
        std = 100 * exploit.random_std / (high - low)
        ax.barh(row, most - least, 0.36, least, color=style.SKY, edgecolor=style.BLUE, linewidth=0.6, zorder=2)
        proven = [place for place, end in zip((least, most), ends, strict=True) if end.exact]
        ax.vlines(proven, row - 0.3, row + 0.3, color=style.BLUE, linewidth=2.2, zorder=3)
        ax.hlines(row, mean - std, mean + std, color=style.INK, linewidth=3, zorder=4)
        series["expected"].append((expected, row))
        series["as given"].append((given, row))
    _marks(ax, "expected", series["expected"], marker="o", facecolor="white", edgecolor=style.INK)
    _marks(ax, "as given", series["as given"], marker="x", color=style.VERMILION)
    _legend(ax)
    _write_bounds(ax, exploits)
    ax.set_xlim(-2, 102)
    ax.set_xlabel("between lower bound and upper bound (%)")
    return ax


def _marks(ax: Axes, name: str, points: list[tuple[float, float]], **look: Any) -> None:
    across, rows = np.array(points).reshape(-1, 2).T
    ax.scatter(across, rows, s=34, linewidths=1.4, label=name, zorder=5, **look)


def _legend(ax: Axes) -> None:
    """One row above the axes, with what has no label of its own."""
    handles, _ = ax.get_legend_handles_labels()
    more = [
        Patch(facecolor=style.SKY, edgecolor=style.BLUE, linewidth=0.6, label="lowest to highest found"),
        Line2D([], [], color=style.BLUE, linewidth=2.2, marker="|", linestyle="", markersize=11, markeredgewidth=2.2,
               label="no order beyond"),
        Line2D([], [], color=style.INK, linewidth=3, label="random orders ± std"),
    ]  # fmt: skip
    style.legend_above(ax, handles=[*more, *handles])


def _write_bounds(ax: Axes, exploits: Mapping[str, Exploit]) -> None:
    """Write the names and the bounds beside the rows."""
    style.rows(ax, list(exploits))
    for row, exploit in enumerate(exploits.values()):
        text = _between(100 * exploit.bounds.lower, 100 * exploit.bounds.upper)
        ax.text(1.02, row, text, transform=ax.get_yaxis_transform(), va="center", fontsize="small")
    ax.text(1.02, 1.0, "bounds (%)", transform=ax.transAxes, va="bottom", fontsize="small")


def _between(low: float, high: float) -> str:
    """Both ends, with as many digits as it takes to tell them apart."""
    if low == high:
        return f"{low:.2f}"
    digits = next((digits for digits in range(2, 7) if f"{low:.{digits}f}" != f"{high:.{digits}f}"), 7)
    return f"{low:.{digits}f} to {high:.{digits}f}"
