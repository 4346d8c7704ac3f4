"""Plot of a grouped measure: the groups and their mean."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes

from deadheat.analyses.grouped import GroupedReport
from deadheat.plots import arguments, layout, style
from deadheat.plots.reports import leader
from deadheat.reports.tables import headline


def group_values(
    reports: Mapping[str, GroupedReport],
    measure: str | None = None,
    *,
    confidence_level: float = 0.95,
    ax: Axes | None = None,
) -> Axes:
    """Draw the values of the groups, and their mean with its confidence interval: a row for each report.

    Parameters
    ----------
    reports : mapping of str to GroupedReport
        By the name to show; drawn from top to bottom.
    measure : str, optional
        By default the first that the first report was made with.
    confidence_level : float

    Returns
    -------
    Axes
        A dot for each group at its expected value (under a tolerance, its lower one), and a line from lower to upper
        where ties make a difference. The interval goes from the low end for the lower mean to the high end for the
        upper one.
    """
    reports = arguments.several(reports, GroupedReport, "reports")
    ax = style.quiet(style.axes(ax, (5.6, 1.4 + 0.7 * len(reports))), grid="x")
    measure = next(iter(reports.values())).measures[0] if measure is None else measure
    results = {name: report[measure] for name, report in reports.items()}
    for row, result in enumerate(results.values()):
        lower, _, upper = (100 * values for values in result.per_group)
        shown = 100 * headline(result.per_group)
        heights = row + 0.12 + 0.26 * np.linspace(0, 1, len(shown))
        tied = lower < upper
        ax.hlines(heights[tied], lower[tied], upper[tied], color=style.SKY, linewidth=1.2,
                  label=style.TIES if tied.any() else "")  # fmt: skip
        ax.plot(shown, heights, "o", color=style.BLUE, markersize=3.5, alpha=0.85, label="" if row else "a group")
        computed = result.interval(confidence_level=confidence_level)
        whisker = f"{100 * confidence_level:g} % interval of the mean"
        ax.hlines([row - 0.08], 100 * computed.lower.low, 100 * computed.upper.high, color=style.INK, linewidth=1.4,
                  label="" if row else whisker)  # fmt: skip
        mean = 100 * headline(result)
        ax.plot([mean], [row - 0.08], "D", color=style.VERMILION, markersize=5.5, label="" if row else "mean")
    what = f"{next(iter(results.values())).name} in a group of {next(iter(reports.values())).group_size}"
    ax.set_xlabel(f"{what} (%)")
    return layout.finish(ax, title=leader(what, results), rows=list(reports))
