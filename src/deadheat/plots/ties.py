"""Plots of ties: collisions (the matrices of the paper on ties), sizes of groups, paths through one, sample orders.

In a collision image relevant collisions are orange, irrelevant ones blue, mixed ones nearly black (on a dark paper,
white). One mark is one cell of a large matrix, so no cell may get lost between the pixels: see `amplify`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from numpy.typing import NDArray

from deadheat.analyses.collisions import Collisions, Kind
from deadheat.analyses.exploit import Exploit
from deadheat.engine.profiles.profile import TieProfile
from deadheat.errors import InvalidTypeError, InvalidValueError
from deadheat.plots import arguments, layout, style
from deadheat.reports.tables import count
from deadheat.support import checks

_ROOM = 0.75  # share of the axes' width and height that is taken to be left once there are labels


def tie_sizes(profiles: Mapping[str, TieProfile], *, ax: Axes | None = None) -> Axes:
    """Draw the distribution of the sizes of tie groups, counted once for each relevant item.

    Parameters
    ----------
    profiles : mapping of str to TieProfile
        One row each, the first on top.

    Returns
    -------
    Axes
        Of all pairs of a query and a relevant item: a thick bar holds the middle half of the sizes, a thin line 90 % of
        them, a dot is the median, a cross the largest. The horizontal axis is a number of items, on a log scale.

    Examples
    --------
    >>> import deadheat as dh
    >>> dh.plots.tie_sizes({"all at one point": dh.Task([[0.0]] * 4, [0, 0, 1, 1]).profile}).get_xscale()
    'log'
    """
    profiles = arguments.several(profiles, TieProfile, "profiles")
    for name, profile in profiles.items():
        if not len(profile.tied):
            raise InvalidValueError("profiles", f"must have relevant items, but {name!r} has none")
    ax = style.quiet(style.axes(ax, (6.4, 1.2 + 0.36 * len(profiles))), grid="x")
    shares = (0.05, 0.25, 0.5, 0.75, 0.95, 1.0)
    of_items = (np.repeat(profile.tied, profile.tied_relevant) for profile in profiles.values())
    levels = np.array([np.quantile(sizes, shares) for sizes in of_items])
    rows = np.arange(len(profiles))
    ax.hlines(rows, levels[:, 0], levels[:, 4], color=style.GREY, linewidth=1.2, label="middle 90 %")
    ax.hlines(rows, levels[:, 1], levels[:, 3], color=style.SKY, linewidth=7, label="middle half")
    ax.plot(levels[:, 2], rows, "o", color=style.INK, markersize=5, label="median")
    ax.plot(levels[:, 5], rows, "x", color=style.VERMILION, markersize=5, label="largest")
    style.log_axis(ax, "x")
    ax.set_xlabel("items at the distance of a relevant item")
    largest = list(profiles)[int(np.argmax(levels[:, 5]))]
    title = f"Up to {levels[:, 5].max():,.0f} items tie with a relevant one ({layout.short(largest)})"
    return layout.finish(ax, title=title, rows=list(profiles))


def order_ranges(exploits: Mapping[str, Exploit], *, ax: Axes | None = None) -> Axes:
    """Draw the values that orders of the samples give, relative to the bounds.

    Parameters
    ----------
    exploits : mapping of str to Exploit
        One row each, the first on top.

    Returns
    -------
    Axes
        Across: the position between the lower bound (0) and the upper bound (100), in per cent; both are written next
        to the row, in per cent of the measure. A bar goes from the lowest to the highest value found, with a cap at an
        end if it is proven that no order goes beyond it. A row whose bounds are equal has no bar.
    """
    exploits = arguments.several(exploits, Exploit, "exploits")
    ax = style.quiet(style.axes(ax, (7.2, 1.4 + 0.5 * len(exploits))), grid="x")
    for row, exploit in enumerate(exploits.values()):
        low, high = exploit.bounds.lower, exploit.bounds.upper
        if low == high:
            ax.text(50, row, "one value", ha="center", va="center", fontsize="small")
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
        dot: dict[str, Any] = {"s": 34, "linewidths": 1.4, "zorder": 5}
        ax.scatter(expected, row, marker="o", facecolor=style.PAPER, edgecolor=style.INK, **dot)
        ax.scatter(given, row, marker="x", color=style.VERMILION, **dot)
    between = [_between(100 * each.bounds.lower, 100 * each.bounds.upper) for each in exploits.values()]
    ax.set(xlabel="position between the bounds (%)", xlim=(-2, 102))
    handles = [
        Patch(facecolor=style.SKY, edgecolor=style.BLUE, linewidth=0.6, label="lowest to highest found"),
        *(Line2D([], [], linestyle="", markersize=size, markeredgewidth=width, marker=marker, color=color,
                 markerfacecolor=style.PAPER, label=label)
          for label, marker, color, size, width in (("no order beyond", "|", style.BLUE, 11, 2.2),
                                                    ("expected", "o", style.INK, 6, 1.4),
                                                    ("as given", "x", style.VERMILION, 6, 1.4))),
        Line2D([], [], color=style.INK, linewidth=3, label="random orders ± std"),
    ]  # fmt: skip
    widths = {name: 100 * (exploit.highest.value - exploit.lowest.value) for name, exploit in exploits.items()}
    widest = max(widths, key=lambda name: widths[name])
    title = f"The order of the samples moves {layout.short(widest)} by {widths[widest]:.2f} points"
    title = title if widths[widest] > 0 else "The order of the samples changes nothing"
    return layout.finish(ax, title=title, rows=list(exploits), column=("bounds (%)", between), handles=handles)


def _between(low: float, high: float) -> str:
    """Format both ends, with as many digits as it takes to distinguish them."""
    digits = next((digits for digits in range(2, 7) if f"{low:.{digits}f}" != f"{high:.{digits}f}"), 7)
    return f"{low:.2f}" if low == high else f"{low:.{digits}f} to {high:.{digits}f}"


def colours() -> dict[Kind, str]:
    """Return the colour of each kind of collision, for the background of the current style of Matplotlib."""
    return {Kind.BEYOND: style.PALE, Kind.NONE: style.PAPER, Kind.IRRELEVANT: style.BLUE, Kind.RELEVANT: style.ORANGE,
            Kind.MIXED: style.INK}  # fmt: skip


def collision_image(
    collisions: Collisions | NDArray[np.int8],
    *,
    ax: Axes | None = None,
    rows: slice | None = None,
    amplify: int | None = None,
    legend: bool = True,
) -> Axes:
    """Draw the collisions, queries as rows in their order and ranks as columns.

    Parameters
    ----------
    collisions : Collisions, or (n_query, depth) of `deadheat.analyses.collisions.Kind`
    rows : slice, optional
        The queries to draw, such as ``slice(650, None)``: without a step; the axis numbers them among all queries. By
        default all of them.
    amplify : int, optional
        Widen each mark by this many ranks and queries on every side, so that single ones can be seen. By default, the
        least with which no mark falls between the pixels at the resolution of the figure (``figure.dpi``; save it with
        no less): 0 where there is a pixel for each cell. Where marks overlap, mixed is drawn over relevant, and
        relevant over irrelevant. The label under the ranks says by how much marks were widened.
    legend : bool
        Whether to put a legend of the colours under the axes.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import deadheat as dh
    >>> who = dh.collisions(dh.Task([[0], [1], [2]], [0, 0, 1], distance="cityblock"))
    >>> dh.plots.collision_image(who, legend=False).get_xlabel()
    'rank'
    >>> dh.plots.collision_image(who, rows=slice(1, 3), legend=False).get_title()
    '1 of 2 queries have a mixed tie'
    """
    legend = checks.flag(legend, "legend")
    kind = np.asarray(collisions.kind) if isinstance(collisions, Collisions) else collisions
    kind = arguments.one(kind, np.ndarray, "collisions")
    if kind.dtype.kind not in "iu" or not np.isin(kind, list(Kind)).all():
        raise InvalidValueError("collisions", "must hold kinds of collisions, deadheat.analyses.collisions.Kind")
    if kind.ndim != 2 or 0 in kind.shape:
        raise InvalidValueError("collisions", f"must have at least one query and one rank, but has shape {kind.shape}")
    first, last = drawn_rows(rows, len(kind))
    kind, ax = kind[first:last], style.axes(ax, (5.0, 5.0))
    most = max(kind.shape)
    bound = (
        min(least_width(ax, kind.shape), most) if amplify is None else checks.whole_number(amplify, "amplify", 0, most)
    )
    n_query, depth = kind.shape
    looks = ListedColormap([colours()[code] for code in Kind])
    edge = 3 * bound + 1  # a margin as wide as a mark, so that none lies under the frame
    shown = amplified(np.pad(kind, edge, constant_values=Kind.NONE), bound)
    span = (0.5 - edge, depth + 0.5 + edge, last - 0.5 + edge, first - 0.5 - edge)
    ax.imshow(shown, cmap=looks, vmin=-1, vmax=3, aspect="auto", interpolation="nearest", extent=span)
    ax.set_xlabel("rank" + (f"\n(each mark widened by {bound})" if bound else ""))
    ax.set_ylabel("query")
    style.whole_numbers(ax.xaxis)
    style.whole_numbers(ax.yaxis)
    n_mixed = int((kind == Kind.MIXED).any(axis=1).sum())
    title = f"{n_mixed} of {count(n_query, 'query has', 'queries have')} a mixed tie"
    if not (kind > Kind.NONE).any():
        ax.text(0.5, 0.5, "no collision", transform=ax.transAxes, ha="center", va="center", color=style.GREY)
    return layout.finish(ax, title=title, handles=_handles(bool((kind == Kind.BEYOND).any())), legend=legend)


def drawn_rows(rows: slice | None, n_query: int) -> tuple[int, int]:
    """Return the first of the queries to draw, and the one after the last.

    Examples
    --------
    >>> drawn_rows(slice(-2, None), 5)
    (3, 5)
    """
    if not isinstance(rows, slice | None):
        raise InvalidTypeError("rows", f"must be a slice, such as slice(0, 100), but is {checks.shown(rows)}")
    if rows is None:
        return 0, n_query
    if rows.step not in (None, 1):
        raise InvalidValueError("rows", f"must have no step, but has one of {checks.shown(rows.step)}")
    ends = (None if end is None else checks.whole_number(end, "rows", -(2**62)) for end in (rows.start, rows.stop))
    first, last, _ = slice(*ends).indices(n_query)
    if first >= last:
        raise InvalidValueError("rows", f"must leave a query to draw, but {checks.shown(rows)} has none of {n_query}")
    return first, last


def collision_legend(figure: Figure) -> None:
    """Put a legend of the colours under a figure of several pictures."""
    if not isinstance(arguments.one(figure, Figure, "figure").get_layout_engine(), ConstrainedLayoutEngine):
        figure.set_layout_engine("constrained")  # which alone makes space for a legend of a figure
    drawn = [np.asarray(image.get_array()) for ax in figure.axes for image in ax.images]
    handles = _handles(any((cells == Kind.BEYOND).any() for cells in drawn))
    figure.legend(handles=handles, loc="outside lower center", ncols=4, frameon=False)


def amplified(kind: NDArray[np.int8], width: int) -> NDArray[np.int8]:
    """Widen marks by `width` cells on every side; where they overlap, the highest `Kind` is kept.

    Examples
    --------
    >>> amplified(np.array([[0, 0, 0, 0], [0, 3, 0, 1]], dtype=np.int8), 1)
    array([[3, 3, 3, 1],
           [3, 3, 3, 1]], dtype=int8)
    """
    wide = kind
    for edges in ((width, width), (0, 0)), ((0, 0), (width, width)):
        padded = np.pad(wide, edges, constant_values=Kind.BEYOND)
        window = tuple(1 + sum(edge) for edge in edges)
        wide = np.lib.stride_tricks.sliding_window_view(padded, window).max(axis=(2, 3))
    return np.where(kind == Kind.BEYOND, kind, wide)


def least_width(ax: Axes, shape: tuple[int, ...]) -> int:
    """Return the least widening with which every mark covers the middle of some pixel."""
    box = ax.get_window_extent()
    cells = max(shape[1] / (_ROOM * box.width), shape[0] / (_ROOM * box.height))  # in a pixel
    return max(0, math.ceil((cells - 1) / 2))


def _handles(beyond: bool) -> list[Any]:
    names = {Kind.RELEVANT: "relevant", Kind.IRRELEVANT: "irrelevant", Kind.MIXED: "mixed"}
    names |= {Kind.BEYOND: "no rank"} if beyond else {}
    return [Patch(facecolor=colours()[code], label=name) for code, name in names.items()]
