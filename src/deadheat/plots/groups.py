"""Grouped measures of one's own data: the groups' values, two measures of many models, and gaps against a number."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes

from deadheat.analyses.grouped import GapTrend, GroupedReport, ModelCorrelation
from deadheat.errors import InvalidValueError
from deadheat.plots import style, ticks

_WIDE = 8.0  # from this ratio of the largest number to the smallest on, a logarithmic axis


def group_values(
    reports: Mapping[str, GroupedReport], measure: str = "Hit@1", *, confidence_level: float = 0.95,
    ax: Axes | None = None,
) -> Axes:  # fmt: skip
    """The values of the groups, and their mean with its confidence interval: a row for each report.

    Parameters
    ----------
    reports : mapping of str to GroupedReport
        By the name to show; drawn from top to bottom.
    measure : str
    confidence_level : float
    ax : Axes, optional

    Returns
    -------
    Axes
        A dot for each group at its expected value (under a tolerance, its lower one), and a line from lower to upper
        where ties make a difference. The interval goes from the low end for the lower mean to the high end for the
        upper one.

    Raises
    ------
    ValueError
        If there is no report, or the measure is unknown.
    """
    if not reports:
        raise InvalidValueError("reports", "must hold at least one report, but is empty")
    ax = style.quiet(style.axes(ax, (5.6, 1.1 + 0.7 * len(reports))), grid="x")
    results = [report[measure] for report in reports.values()]
    for row, result in enumerate(results):
        lower, expected, upper = (100 * values for values in result.per_group)
        shown = lower if np.isnan(expected).all() else expected
        heights = row + 0.12 + 0.26 * np.linspace(0, 1, len(shown))
        tied = lower < upper
        ax.hlines(heights[tied], lower[tied], upper[tied], color=style.SKY, linewidth=1.2)
        ax.plot(shown, heights, "o", color=style.BLUE, markersize=3.5, alpha=0.7, label="" if row else "a group")
        found = result.interval(confidence_level=confidence_level)
        mean = result.lower if np.isnan(result.expected) else result.expected
        whisker = f"{100 * confidence_level:g} % interval of the mean"
        ax.hlines([row - 0.08], 100 * found.lower.low, 100 * found.upper.high, color=style.INK, linewidth=1.4,
                  label="" if row else whisker)  # fmt: skip
        ax.plot([100 * mean], [row - 0.08], "D", color=style.VERMILION, markersize=5.5, label="" if row else "mean")
    style.rows(ax, list(reports))
    ax.set_xlabel(f"{results[0].name} in a group of {next(iter(reports.values())).group_size} (%)")
    style.legend_above(ax)
    return ax


def model_correlation(found: ModelCorrelation, *, ax: Axes | None = None) -> Axes:
    """Two values of many models against each other: figure 2 of arXiv:2306.13357.

    Parameters
    ----------
    found : ModelCorrelation
        From `deadheat.model_correlation`.
    ax : Axes, optional

    Returns
    -------
    Axes
        A mark for each model, and lines from lower to upper where ties make a difference; both axes in per cent. The
        legend has both coefficients.
    """
    ax = style.quiet(style.axes(ax, (4.6, 3.8)), grid="both")
    x, y = (100 * values for values in found.shown)
    ends = [(100 * each.lower, 100 * each.upper) for each in (found.first, found.second)]
    reach = [np.stack([value - low, high - value]) for value, (low, high) in zip((x, y), ends, strict=True)]
    if any(each.any() for each in reach):
        ax.errorbar(x, y, reach[1], reach[0], fmt="none", ecolor=style.GREY, elinewidth=0.9, label="lower to upper")
    title = f"a model; r = {found.pearson:.3f}, rho = {found.spearman:.3f}"
    ax.plot(x, y, "o", color=style.BLUE, markersize=5, label=title, zorder=3)
    for label, values in ((ax.set_xlabel, found.names[0]), (ax.set_ylabel, found.names[1])):
        label(f"{values} (%)")
    style.legend_above(ax)
    return ax


def gap_trend(trend: GapTrend, *, confidence_level: float = 0.95, ax: Axes | None = None) -> Axes:
    """The generalization gap of many models against a number of each: figure 3 of arXiv:2306.13357.

    Parameters
    ----------
    trend : GapTrend
        From `deadheat.gap_trend`.
    confidence_level : float
    ax : Axes, optional

    Returns
    -------
    Axes
        The grouped and the plain gap, each with its interval, ties included; a line at 0. The horizontal axis is
        logarithmic where the largest number is 8 times the smallest or more, and that is above 0.
    """
    ax = style.quiet(style.axes(ax, (5.6, 3.6)), grid="both")
    wide = trend.numbers[0] > 0 and trend.numbers[-1] >= _WIDE * trend.numbers[0]
    span = trend.numbers[-1] - trend.numbers[0]
    ax.axhline(0, color=style.INK, linewidth=0.8)
    for number, (title, gaps) in enumerate(trend.titles.items()):
        found = [gap.interval(confidence_level=confidence_level) for gap in gaps]
        at = trend.numbers * 1.04**number if wide else trend.numbers + 0.01 * span * number  # side by side
        shown = 100 * np.array([gap.lower if np.isnan(gap.expected) else gap.expected for gap in gaps])
        low, high = (100 * np.array(ends) for ends in zip(*((e.lower.low, e.upper.high) for e in found), strict=True))
        ax.errorbar(at, shown, np.stack([shown - low, high - shown]), label=title, capsize=2, elinewidth=0.9,
                    markersize=4.5, **style.marked_line(number))  # fmt: skip
    if wide:
        ticks.log_axis(ax, "x", [trend.numbers])
    ax.set_xlabel(trend.name)
    ax.set_ylabel(f"gap in {trend.measure} (points)")
    style.legend_above(ax, handlelength=3.0)
    return ax
