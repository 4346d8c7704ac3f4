"""Lower bound, expectation and upper bound of several reports, one row each.

In come reports by name; out go Matplotlib axes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from deadheat.plots import _style
from deadheat.reports import Report


def bounds(
    reports: Mapping[str, Report],
    *,
    measure: str = "mAP",
    sorts: Mapping[str, Sequence[float]] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw a measure of several reports: a bar from lower to upper, and a dot at the expectation.

    Parameters
    ----------
    reports : mapping of str to Report
        One row each, the first on top.
    measure : str
        Any name of a measure.
    sorts : mapping of str to sequence of float, optional
        What plain sorts gave, as fractions, by the name of the report: a tick each, below the bar.
    ax : Axes, optional
        Axes to draw on; new ones by default.

    Returns
    -------
    Axes
        The horizontal axis is in per cent. On the right stands how far upper and lower are apart, in percentage
        points.
    """
    rows = np.arange(len(reports))
    ax = _style.quiet(_style.axes(ax, (6.4, 1.0 + 0.36 * len(reports))), grid="x")
    results = [report[measure] for report in reports.values()]
    lower, expected, upper = (
        np.array([100 * getattr(result, column) for result in results]) for column in ("lower", "expected", "upper")
    )
    ax.hlines(rows, lower, upper, color=_style.GREY, linewidth=3, zorder=1)
    marks = (("lower", lower, "<", _style.VERMILION), ("expected", expected, "o", _style.INK))
    for label, values, marker, colour in (*marks, ("upper", upper, ">", _style.BLUE)):
        ax.plot(values, rows, marker, color=colour, markersize=6, label=label, zorder=3)
    given = [(100 * value, row + 0.32) for row, name in enumerate(reports) for value in (sorts or {}).get(name, ())]
    if given:
        ax.plot(*np.array(given).T, "|", color=_style.INK, markersize=6, markeredgewidth=0.9, label="plain sorts")
    _label(ax, list(reports), upper - lower)
    ax.set_xlabel(f"{results[0].name} (%)")
    ax.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=4, frameon=False, fontsize="small", handletextpad=0.2)
    return ax


def _label(ax: Axes, names: list[str], widths: NDArray[np.float64]) -> None:
    """Write the names on the left and the widths on the right."""
    ax.set_yticks(range(len(names)), names)
    ax.set_ylim(len(names) - 0.4, -0.6)
    for row, width in enumerate(widths):
        ax.text(1.03, row, f"{width:.3g}", transform=ax.get_yaxis_transform(), va="center", fontsize="small")
    ax.text(1.03, 1.0, "upper − lower\n(points)", transform=ax.transAxes, va="bottom", fontsize="small")
