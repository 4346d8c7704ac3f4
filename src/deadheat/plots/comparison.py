"""Pictures of a comparison: how two systems differ query by query, and several reports with their intervals.

In come a `Difference` or reports; out go the axes. In per cent.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from deadheat.analyses.comparison import Difference
from deadheat.plots._style import BLUE, GREY, INK, VERMILION, axes, quiet
from deadheat.reports import Report

_THREE = ("lower", "expected", "upper")
_IN_A_ROW: dict[str, Any] = {"ncols": 4, "columnspacing": 1.0, "handletextpad": 0.4}
_SINGLE = 150  # up to so many queries are drawn one by one


def differences(difference: Difference, *, ax: Axes | None = None) -> Axes:
    """What lies between two systems for each query, sorted, with bars for what the ties can change.

    Parameters
    ----------
    difference : Difference
        One measure of a `deadheat.compare`, such as ``compare(a, b)["mAP"]``.
    ax : Axes, optional

    Returns
    -------
    Axes
        Queries from the largest expected difference A − B to the smallest (by the middle of the bounds, where there
        is no expectation). A bar goes from A.lower − B.upper to A.upper − B.lower: it is above 0 where A wins however
        the ties fall, and below 0 where B does.
    """
    ax = quiet(axes(ax))
    values = 100 * np.stack(difference.per_query)
    values = values[:, ~np.isnan(values[0])]
    middle = np.where(np.isnan(values[1]), (values[0] + values[2]) / 2, values[1])
    order = np.lexsort((-values[0], -middle))
    place, (low, _, high), middle = 1 + np.arange(len(order)), values[:, order], middle[order]
    ax.axhline(0, color=INK, linewidth=0.8)
    for chosen, color, marker, label in (
        (low > 0, BLUE, "^", f"A wins ({difference.n_wins_a})"),
        (high < 0, VERMILION, "v", f"B wins ({difference.n_wins_b})"),
        ((low <= 0) & (high >= 0) & (low < high), GREY, "o", f"ties decide ({difference.n_open})"),
        ((low == 0) & (high == 0), INK, "_", f"equal ({difference.n_equal})"),
    ):
        if chosen.any():
            few = len(place) <= _SINGLE
            x, bottom, top, centre = (part[chosen] for part in (place, low, high, middle))
            ax.vlines(x, bottom, top, color=color, linewidth=1.6 if few else 0.8, alpha=1 if few else 0.6)
            ax.plot(x, centre, linestyle="", marker=marker, markersize=4 if few else 3, color=color, label=label)
    if len(place) > _SINGLE:
        ax.plot(place, middle, color=INK, linewidth=0.9)
    ax.set(xlabel="queries, sorted", ylabel=f"{difference.name} of A − B (%)", xlim=(0, len(place) + 1))
    ax.legend(frameon=False, fontsize="small", loc="lower center", bbox_to_anchor=(0.5, 1), **_IN_A_ROW)
    return ax


def intervals(reports: Mapping[str, Report], measure: str, *, ax: Axes | None = None, **settings: Any) -> Axes:
    """A measure of several reports side by side: what the ties can change, and the confidence interval round that.

    Parameters
    ----------
    reports : mapping of str to Report
        By the name to show; drawn from top to bottom.
    measure : str
    ax : Axes, optional
    **settings
        For `Result.interval`: `confidence_level`, `resample`, `labels`, `method`, `n_resamples`, `seed`.

    Returns
    -------
    Axes
        For each report a box from lower to upper, a mark at the expectation, and whiskers from the low end of the
        interval for lower to the high end of that for upper.
    """
    if not reports:
        raise ValueError("reports must hold at least one report, but is empty")
    ax = quiet(axes(ax, (5.0, 1.0 + 0.4 * len(reports))), grid="x")
    place: NDArray[np.int64] = np.arange(len(reports))
    found = [(report[measure], report.interval(measure, **settings)) for report in reports.values()]
    lower, expected, upper = (100 * np.array([getattr(result, name) for result, _ in found]) for name in _THREE)
    low = 100 * np.array([interval.lower.low for _, interval in found])
    high = 100 * np.array([interval.upper.high for _, interval in found])
    level = found[0][1].confidence_level
    ax.hlines(place, low, high, color=INK, linewidth=1, label=f"ties and {100 * level:g} % interval")
    ax.plot([*low, *high], [*place, *place], linestyle="", marker="|", color=INK, markersize=7)
    ax.barh(place, upper - lower, left=lower, height=0.36, color=BLUE, alpha=0.35, label="ties")
    ax.plot(expected, place, linestyle="", marker="D", markersize=4.5, color=BLUE, label="expected")
    ax.set_yticks(place, list(reports))
    ax.set(xlabel=f"{found[0][0].name} (%)", ylim=(len(reports) - 0.5, -0.5))
    ax.legend(frameon=False, fontsize="small", loc="lower center", bbox_to_anchor=(0.5, 1), **_IN_A_ROW)
    return ax
