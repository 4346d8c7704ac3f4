"""Ties, by what they come from: how large tie groups are, and how many queries have one that decides something."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from deadheat.plots import style, ticks
from deadheat.profiles import TieProfile
from deadheat.reports import Report


def group_sizes(profile: TieProfile) -> NDArray[np.int64]:
    """For every query and each of its relevant items, how many items are at the item's distance, itself included.

    Examples
    --------
    A query with one relevant item by itself, then two in a tie of five:

    >>> group_sizes(TieProfile.from_groups([[(0, 0, 1, 1), (1, 1, 5, 2)]], n_ranked=[9])).tolist()
    [1, 5, 5]
    """
    return np.repeat(profile.tied, profile.tied_relevant)


def tie_sizes(profiles: Mapping[str, TieProfile], *, ax: Axes | None = None) -> Axes:
    """Draw how the sizes of tie groups are distributed, as relevant items see them.

    Parameters
    ----------
    profiles : mapping of str to TieProfile
        One row each, the first on top.
    ax : Axes, optional

    Returns
    -------
    Axes
        Of all pairs of a query and a relevant item: a thick bar holds the middle half of the sizes, a thin line 90 % of
        them, a dot is the median, a cross the largest. The horizontal axis is a number of items, on a log scale.

    Examples
    --------
    >>> import deadheat as dh
    >>> dh.plots.tie_sizes({"all at one point": dh.profile([[0.0]] * 4, [0, 0, 1, 1])}).get_xscale()
    'log'
    """
    ax = style.quiet(style.axes(ax, (6.4, 0.9 + 0.36 * len(profiles))), grid="x")
    levels = np.array(
        [np.quantile(group_sizes(profile), (0.05, 0.25, 0.5, 0.75, 0.95, 1.0)) for profile in profiles.values()]
    )
    rows = np.arange(len(profiles))
    ax.hlines(rows, levels[:, 0], levels[:, 4], color=style.GREY, linewidth=1.2, label="middle 90 %")
    ax.hlines(rows, levels[:, 1], levels[:, 3], color=style.SKY, linewidth=7, label="middle half")
    ax.plot(levels[:, 2], rows, "o", color=style.INK, markersize=5, label="median")
    ax.plot(levels[:, 5], rows, "x", color=style.VERMILION, markersize=5, label="largest")
    ticks.log_axis(ax, "x")
    style.rows(ax, list(profiles))
    ax.set_xlabel("items at the distance of a relevant item")
    style.legend_above(ax)
    return ax


def mixed_queries(reports: Mapping[str, Report], *, ax: Axes | None = None) -> Axes:
    """Draw what share of the queries of several reports has a tie that decides something.

    Parameters
    ----------
    reports : mapping of str to Report
        One row each, the first on top.
    ax : Axes, optional

    Returns
    -------
    Axes
        A bar is the share of the queries with a mixed tie group, of those that have a relevant item, in per cent. At
        its end stands how many groups there are, and how many items are in the largest.
    """
    names, rows = list(reports), np.arange(len(reports))
    ax = style.quiet(style.axes(ax, (5.0, 1.0 + 0.33 * len(names))), grid="x")
    shares = []
    for row, report in enumerate(reports.values()):
        ties, relevant = report.ties, report.n_query - report.n_singleton
        shares.append(100 * ties.queries / relevant)
        text = f"{ties.mixed_groups} of up to {ties.largest} items" if ties.mixed_groups else "none"
        ax.text(103, row, text, va="center", fontsize="small")
    ax.barh(rows, shares, height=0.6, color=style.SKY, edgecolor=style.INK, linewidth=0.6)
    style.rows(ax, names)
    ax.set_xlim(0, 100)
    ax.set_xlabel("queries with a mixed tie (%)")
    ax.text(103, -0.62, "mixed tie groups", va="bottom", fontsize="small")
    return ax
