"""Plots of grouped measures: the groups and their mean, two measures of many models, and the gaps of many models."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from deadheat.analyses.grouped import GroupedReport
from deadheat.analyses.model_trends import GapTrend, ModelCorrelation
from deadheat.plots import style
from deadheat.plots.reports import leader
from deadheat.reports.tables import headline

_WIDE = 8.0  # from this ratio of the largest number to the smallest on, a logarithmic axis


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
    style.check_some(reports, "report")
    ax = style.quiet(style.axes(ax, (5.6, 1.4 + 0.7 * len(reports))), grid="x")
    measure = next(iter(reports.values())).measures[0] if measure is None else measure
    results = {name: report[measure] for name, report in reports.items()}
    for row, result in enumerate(results.values()):
        lower, _, upper = (100 * values for values in result.per_group)
        shown = 100 * headline(result.per_group)
        heights = row + 0.12 + 0.26 * np.linspace(0, 1, len(shown))
        tied = lower < upper
        ax.hlines(heights[tied], lower[tied], upper[tied], color=style.SKY, linewidth=1.2,
                  label="lower to upper: ties" if tied.any() else "")  # fmt: skip
        ax.plot(shown, heights, "o", color=style.BLUE, markersize=3.5, alpha=0.85, label="" if row else "a group")
        found = result.interval(confidence_level=confidence_level)
        whisker = f"{100 * confidence_level:g} % interval of the mean"
        ax.hlines([row - 0.08], 100 * found.lower.low, 100 * found.upper.high, color=style.INK, linewidth=1.4,
                  label="" if row else whisker)  # fmt: skip
        mean = 100 * headline(result)
        ax.plot([mean], [row - 0.08], "D", color=style.VERMILION, markersize=5.5, label="" if row else "mean")
    style.rows(ax, list(reports))
    what = f"{next(iter(results.values())).name} in a group of {next(iter(reports.values())).group_size}"
    ax.set_xlabel(f"{what} (%)")
    return style.legend_above(ax, title=leader(what, results))


def model_correlation(found: ModelCorrelation, *, ax: Axes | None = None) -> Axes:
    """Draw two values of many models against each other: figure 2 of arXiv:2306.13357.

    Parameters
    ----------
    found : ModelCorrelation
        From `deadheat.analyses.model_trends.model_correlation`.

    Returns
    -------
    Axes
        A mark for each model, and lines from lower to upper where ties make a difference; both axes in per cent. The
        title has both coefficients.
    """
    ax = style.quiet(style.axes(ax, (4.6, 3.8)), grid="both")
    x, y = (100 * values for values in found.shown)
    ends = [(100 * each.lower, 100 * each.upper) for each in (found.first, found.second)]
    reach = [np.stack([value - low, high - value]) for value, (low, high) in zip((x, y), ends, strict=True)]
    if any(each.any() for each in reach):
        ax.errorbar(x, y, reach[1], reach[0], fmt="none", ecolor=style.GREY, elinewidth=0.9, label="lower to upper")
    ax.plot(x, y, "o", color=style.BLUE, markersize=5, label="a model", zorder=3)
    ax.set(xlabel=f"{found.names[0]} (%)", ylabel=f"{found.names[1]} (%)")
    how = f"Pearson's r {found.pearson:.3f}, Spearman's rho {found.spearman:.3f}"
    return style.legend_above(ax, title=f"{len(x)} models: {how}")


def gap_trend(trend: GapTrend, *, confidence_level: float = 0.95, ax: Axes | None = None) -> Axes:
    """Draw the generalization gap of many models against a number of each: figure 3 of arXiv:2306.13357.

    Parameters
    ----------
    trend : GapTrend
        From `deadheat.analyses.model_trends.gap_trend`.
    confidence_level : float

    Returns
    -------
    Axes
        The grouped and the plain gap, each with its interval, ties included; a line at 0. The horizontal axis is
        logarithmic if the smallest number is above 0 and the largest is at least 8 times as large.
    """
    ax = style.quiet(style.axes(ax, (5.6, 3.6)), grid="both")
    wide = trend.numbers[0] > 0 and trend.numbers[-1] >= _WIDE * trend.numbers[0]
    span = trend.numbers[-1] - trend.numbers[0]
    ax.axhline(0, color=style.INK, linewidth=0.8)
    for number, (title, gaps) in enumerate(trend.titles.items()):
        found = [gap.interval(confidence_level=confidence_level) for gap in gaps]
        at = trend.numbers * 1.04**number if wide else trend.numbers + 0.01 * span * number  # next to each other
        shown = 100 * np.array(list(map(headline, gaps)))
        low, high = (100 * np.array(ends) for ends in zip(*((e.lower.low, e.upper.high) for e in found), strict=True))
        ax.errorbar(at, shown, np.stack([shown - low, high - shown]), label=title, capsize=2, elinewidth=0.9,
                    markersize=4.5, **style.marked_line(number))  # fmt: skip
    if wide:
        style.log_axis(ax, "x", [trend.numbers])
    ax.set(xlabel=trend.name, ylabel=f"gap in {trend.measure} (points)")
    ends = 100 * headline(trend.grouped[0]), 100 * headline(trend.grouped[-1])
    at = f"{trend.name} {trend.numbers[0]:g} to {trend.numbers[-1]:g}"
    title = f"From {at}, the gap in groups goes from {ends[0]:+.1f} to {ends[1]:+.1f} points"
    bar = Line2D([], [], color=style.GREY, marker="|", label=f"{100 * confidence_level:g} % interval, with ties")
    return shared_legend(ax, bar, title=title.replace("-", "−"))


def shared_legend(ax: Axes, *more: Any, title: str | None = None) -> Axes:
    handles = [*ax.get_legend_handles_labels()[0], *more]
    return style.legend_above(ax, handles=handles, handlelength=3.0, title=title)
