"""What fewer bits change, and what ties they bring.

In come reports by name; out go Matplotlib axes.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes

from deadheat.errors import InvalidValueError
from deadheat.plots import style
from deadheat.reports import Report

_SMALLEST = 1e-3  # percentage points; the scale is linear below


def precision_changes(
    reports: Mapping[str, Report], *, base: str | None = None, measure: str = "mAP", ax: Axes | None = None
) -> Axes:
    """Draw how far lower, expected and upper of several reports are from the expected value of one of them.

    Parameters
    ----------
    reports : mapping of str to Report
        One row each, the first on top; `precisions(...).reports` is such a mapping.
    base : str, optional
        The name of the report whose expected value is 0; the first by default.
    measure : str
        Any name of a measure.
    ax : Axes, optional
        Axes to draw on; new ones by default.

    Returns
    -------
    Axes
        The horizontal axis is in percentage points, logarithmic on both sides of 0 and linear up to 0.001.

    Raises
    ------
    ValueError
        If there is no report named `base`.
    """
    names = list(reports)
    if base is not None and base not in reports:
        raise InvalidValueError("base", f"must be one of {', '.join(names)}, but is {base!r}")
    ax = style.quiet(style.axes(ax, (6.4, 1.0 + 0.33 * len(names))), grid="x")
    origin = reports[names[0] if base is None else base][measure].expected
    results = [report[measure] for report in reports.values()]
    ends = {
        column: np.array([100 * (getattr(result, column) - origin) for result in results])
        for column in ("lower", "expected", "upper")
    }
    rows = np.arange(len(names))
    ax.axvline(0, color=style.INK, linewidth=0.8, zorder=0)
    ax.hlines(rows, ends["lower"], ends["upper"], color=style.GREY, linewidth=3, zorder=1)
    for (column, values), marker, colour in zip(
        ends.items(), "<o>", (style.VERMILION, style.INK, style.BLUE), strict=True
    ):
        ax.plot(values, rows, marker, color=colour, markersize=5, label=column, zorder=3)
    _points(ax, max(float(np.abs(values).max()) for values in ends.values()))
    style.rows(ax, names)
    ax.set_xlabel(f"{results[0].name} above or below (points)")
    ax.legend(
        loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3, frameon=False, fontsize="small", handletextpad=0.2
    )
    return ax


def mixed_queries(reports: Mapping[str, Report], *, ax: Axes | None = None) -> Axes:
    """Draw what share of the queries of several reports has a tie that decides something.

    Parameters
    ----------
    reports : mapping of str to Report
        One row each, the first on top.
    ax : Axes, optional
        Axes to draw on; new ones by default.

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


def _points(ax: Axes, largest: float) -> None:
    """A scale that is logarithmic on both sides of 0, with few ticks."""
    ax.set_xscale("symlog", linthresh=_SMALLEST, linscale=0.5)
    reach = 2 * max(largest, 0.01)
    labelled, between = ([p for p in powers if p <= reach] for powers in ((0.01, 1.0, 100.0), (0.001, 0.1, 10.0)))
    ax.set_xticks([*(-power for power in labelled), 0.0, *labelled])
    ax.set_xticks([*(-power for power in between), *between], minor=True)
    ax.xaxis.set_major_formatter("{x:g}")
    ax.xaxis.set_minor_formatter("")
    ax.set_xlim(-reach, reach)
