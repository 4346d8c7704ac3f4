"""Several reports: what ties can change, and intervals of means. One report: its queries and its classes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from deadheat.analyses.difference import Difference
from deadheat.analyses.pooled import Classification
from deadheat.analyses.precision_recall import PrecisionRecall
from deadheat.plots import style
from deadheat.reports.averaging import measure_names
from deadheat.reports.report import Report
from deadheat.reports.result import Result
from deadheat.support import checks
from deadheat.support.arrays import Float64, Int64
from deadheat.support.triple import Triple

_MANY_LEVELS = 30  # beyond which a curve has no marks
_SINGLE = 150  # up to so many queries are drawn one by one


def _per_cent(values: Iterable[Result | Triple[float]]) -> Float64:
    return np.array([[100 * getattr(value, end) for end in Triple._fields] for value in values]).T


def bounds(
    reports: Report | Mapping[str, Report],
    *,
    measures: str | Iterable[str] | None = None,
    sorts: Mapping[str, Sequence[float]] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw measures of a report, or of several: a bar from lower to upper with a dot at the expectation.

    Where no tie decides anything, the three are one dot.

    Parameters
    ----------
    reports : Report, or mapping of str to Report
        One row for each measure and report, the first on top.
    measures : str or iterable of str, optional
        Names of measures. By default, all that a single report was made with, and mAP of several.
    sorts : mapping of str to sequence of float, optional
        What plain sorts gave, as fractions, by what the row says: a tick each, below the bar.

    Returns
    -------
    Axes
        The horizontal axis is in per cent. On the right is upper minus lower, in percentage points.

    Examples
    --------
    >>> import deadheat as dh
    >>> report = dh.evaluate([[0.0], [0.0], [1.0], [1.0]], [0, 1, 0, 1], distance="euclidean")
    >>> ax = dh.plots.bounds(report)
    >>> [row.get_text() for row in ax.get_yticklabels()] == list(report)
    True
    """
    results = _rows(reports, measures)
    ax = style.quiet(style.axes(ax, (6.4, 1.0 + 0.36 * len(results))), grid="x")
    ends = _per_cent(results.values())
    style.ends(ax, ends, 6)
    ticks = [(100 * value, row + 0.32) for row, name in enumerate(results) for value in (sorts or {}).get(name, ())]
    if ticks:
        ax.plot(*np.array(ticks).T, "|", color=style.INK, markersize=6, markeredgewidth=0.9, label="plain sorts")
    style.rows(ax, list(results))
    style.right_column(ax, "upper − lower\n(points)", [_width(width) for width in ends[2] - ends[0]])
    names = dict.fromkeys(result.name for result in results.values())
    ax.set_xlabel(f"{next(iter(names))} (%)" if len(names) == 1 else "value (%)")
    style.legend_above(ax)
    return ax


def _width(points: float) -> str:
    return "0" if points == 0 else f"{points:.2f}" if points >= 0.005 else "< 0.01"


def _rows(reports: Report | Mapping[str, Report], measures: str | Iterable[str] | None) -> dict[str, Result]:
    """What is in each row, by its name: the measure, the report, or both."""
    if not isinstance(reports, Mapping):
        names = reports.measures if measures is None else measure_names(measures)
        return {name: reports[name] for name in names}
    style.check_some(reports, "report")
    names = measure_names("mAP" if measures is None else measures)
    if len(names) == 1:
        return {title: report[names[0]] for title, report in reports.items()}
    return {f"{title}, {name}": report[name] for title, report in reports.items() for name in names}


def mean_intervals(reports: Mapping[str, Report], measure: str, *, ax: Axes | None = None, **settings: Any) -> Axes:
    """A measure of several reports: what the ties can change, and the confidence interval round that.

    Parameters
    ----------
    reports : mapping of str to Report
        By the name to show; drawn from top to bottom.
    **settings
        For `Result.interval`: `confidence_level`, `resample`, `labels`, `method`, `n_resamples`, `seed`.

    Returns
    -------
    Axes
        For each report a box from lower to upper where they differ, a mark at the expectation, and whiskers from the
        low end of the interval for lower to the high end of that for upper.
    """
    style.check_some(reports, "report")
    ax = style.quiet(style.axes(ax, (5.0, 1.0 + 0.4 * len(reports))), grid="x")
    places: Int64 = np.arange(len(reports))
    results = [report[measure] for report in reports.values()]
    intervals = [report.interval(measure, **settings) for report in reports.values()]
    lower, expected, upper = _per_cent(results)
    low = 100 * np.array([interval.lower.low for interval in intervals])
    high = 100 * np.array([interval.upper.high for interval in intervals])
    level = intervals[0].confidence_level
    tied = lower < upper
    what = f"{100 * level:g} % interval"
    ax.hlines(places, low, high, color=style.INK, linewidth=1, label=f"{what}, with ties" if tied.any() else what)
    ax.plot([*low, *high], [*places, *places], linestyle="", marker="|", color=style.INK, markersize=7)
    if tied.any():
        width, left = (upper - lower)[tied], lower[tied]
        ax.barh(places[tied], width, left=left, height=0.36, color=style.SKY, label="lower to upper: ties")
    name = "expected" if tied.all() else "value" if not tied.any() else "expected, or the value without ties"
    ax.plot(expected, places, linestyle="", marker="D", markersize=4.5, color=style.BLUE, label=name)
    ax.set_yticks(places, list(reports))
    ax.set(xlabel=f"{results[0].name} (%)", ylim=(len(reports) - 0.5, -0.5))
    style.legend_above(ax)
    return ax


def differences(difference: Difference, *, ax: Axes | None = None) -> Axes:
    """What lies between two systems for each query, sorted, with bars for what the ties can change.

    Parameters
    ----------
    difference : Difference
        One measure of a `deadheat.compare`, such as ``compare(a, b)["mAP"]``.

    Returns
    -------
    Axes
        Queries from the largest expected difference A − B to the smallest (by the middle of the bounds, where there
        is no expectation). A bar goes from A.lower − B.upper to A.upper − B.lower: it is above 0 where A wins however
        the ties fall, and below 0 where B does.

    Examples
    --------
    >>> import deadheat as dh
    >>> a, b = (dh.evaluate(points, [0, 0, 1, 1]) for points in ([[0], [1], [1], [0]], [[1], [1], [-1], [-1]]))
    >>> dh.plots.differences(dh.compare(a, b)["mAP"]).get_ylabel()
    'mAP of A − B (%)'
    """
    ax = style.quiet(style.axes(ax))
    values = 100 * np.stack(difference.per_query)
    values = values[:, ~np.isnan(values[0])]
    middle = np.where(np.isnan(values[1]), (values[0] + values[2]) / 2, values[1])
    order = np.lexsort((-values[0], -middle))
    place, (low, _, high), middle = 1 + np.arange(len(order)), values[:, order], middle[order]
    ax.axhline(0, color=style.INK, linewidth=0.8)
    for chosen, color, marker, label in (
        (low > 0, style.BLUE, "^", f"A wins ({difference.n_wins_a})"),
        (high < 0, style.VERMILION, "v", f"B wins ({difference.n_wins_b})"),
        ((low <= 0) & (high >= 0) & (low < high), style.GREY, "o", f"ties decide ({difference.n_open})"),
        ((low == 0) & (high == 0), style.INK, "_", f"equal ({difference.n_equal})"),
    ):
        if chosen.any():
            few = len(place) <= _SINGLE
            x, bottom, top, centre = (part[chosen] for part in (place, low, high, middle))
            ax.vlines(x, bottom, top, color=color, linewidth=1.6 if few else 0.8, alpha=1 if few else 0.6)
            ax.plot(x, centre, linestyle="", marker=marker, markersize=4 if few else 3, color=color, label=label)
    if len(place) > _SINGLE:
        ax.plot(place, middle, color=style.INK, linewidth=0.9)
    ax.set(xlabel="queries, sorted", ylabel=f"{difference.name} of A − B (%)", xlim=(0, len(place) + 1))
    style.legend_above(ax)
    return ax


def cmc(reports: Report | Mapping[str, Report], *, k: int | Iterable[int] = 20, ax: Axes | None = None) -> Axes:
    """Draw Hit@k against k, the cumulative matching characteristic (CMC): a relevant item among the first k.

    Parameters
    ----------
    reports : Report, or mapping of str to Report
        A line each.
    k : int or iterable of int
        The largest k, or each of them.

    Returns
    -------
    Axes
        A line is the expected value over all ways to break ties, a band goes from lower to upper.

    Examples
    --------
    >>> import deadheat as dh
    >>> report = dh.evaluate([[0.0], [0.0], [1.0], [1.0]], [0, 1, 0, 1], distance="euclidean")
    >>> ax = dh.plots.cmc(report, k=3)
    >>> ax.lines[0].get_ydata().tolist()
    [0.0, 50.0, 100.0]
    """
    named = reports if isinstance(reports, Mapping) else {"expected": reports}
    style.check_some(named, "report")
    asked = k if isinstance(k, Iterable) else range(1, checks.positive_integer(k, "k") + 1)
    cutoffs = sorted({checks.positive_integer(each, "k") for each in asked})
    ax = style.quiet(style.axes(ax))
    for number, (name, report) in enumerate(named.items()):
        lower, expected, upper = _per_cent(report[f"Hit@{k}"] for k in cutoffs)
        line = style.marked_line(number)
        label = "lower to upper: ties" if len(named) == 1 else f"{name}: ties"
        style.band(ax, cutoffs, lower, upper, line["color"], label)
        expected = np.where(np.isnan(expected), lower, expected)  # under a tolerance
        ax.plot(cutoffs, expected, markersize=4, linewidth=1.4, label=name, **line)
    ax.set(xlabel="k", ylabel="Hit@k (%)")
    ax.set_ylim(top=min(101.0, ax.get_ylim()[1]))
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    style.legend_above(ax)
    return ax


def precision_recall(curves: PrecisionRecall | Mapping[str, PrecisionRecall], *, ax: Axes | None = None) -> Axes:
    """Draw precision against recall, of one query or as a mean over queries, with the band that ties leave.

    Parameters
    ----------
    curves : PrecisionRecall, or mapping of str to PrecisionRecall
        A line each, as `deadheat.precision_recall` gives them.

    Returns
    -------
    Axes
        A line is the expected precision over all ways to break ties, a band goes from lower to upper. Where no
        expectation is known there is the band alone. Lines between marks only join them.

    Examples
    --------
    >>> import deadheat as dh
    >>> profile = dh.profile([[0.0], [0.0], [1.0], [1.0]], [0, 1, 0, 1], distance="euclidean")
    >>> ax = dh.plots.precision_recall(dh.precision_recall(profile, interpolate=False))
    >>> ax.get_xlabel(), len(ax.lines)
    ('recall (%)', 1)
    """
    named = curves if isinstance(curves, Mapping) else {"expected": curves}
    style.check_some(named, "curve")
    ax = style.quiet(style.axes(ax))
    for number, (name, curve) in enumerate(named.items()):
        line = style.marked_line(number)
        recall, lower, upper = 100 * curve.recall, 100 * curve.lower, 100 * curve.upper
        label = "lower to upper: ties" if len(named) == 1 else f"{name}: ties"
        style.band(ax, recall, lower, upper, line["color"], label)
        mark = len(recall) > _MANY_LEVELS and {"marker": None}
        ax.plot(recall, 100 * curve.expected, markersize=4, linewidth=1.4, label=name, **(line | (mark or {})))
    interpolated = all(curve.interpolated for curve in named.values())
    ax.set(xlabel="recall (%)", ylabel=f"{'interpolated ' * interpolated}precision (%)", xlim=(-2, 102), ylim=(0, 102))
    style.legend_above(ax)
    return ax


def roc(results: Classification | Mapping[str, Classification], *, ax: Axes | None = None) -> Axes:
    """Draw the true against the false positive rate of pooled scores (ROC), with the band that ties leave.

    Parameters
    ----------
    results : Classification, or mapping of str to Classification
        A line each, as `deadheat.classification` gives them.

    Returns
    -------
    Axes
        **Ties:** marks are the ends of groups of equal scores, and inside them there is no threshold: the line is the
        mean over all orders at each rank there, and the band holds what any order has.

    Examples
    --------
    >>> import deadheat as dh
    >>> ax = dh.plots.roc(dh.classification([3, 2, 2, 1], [1, 1, 0, 0]))
    >>> ax.lines[0].get_xydata().tolist()
    [[0.0, 0.0], [0.0, 0.0], [0.0, 50.0], [0.0, 50.0], [50.0, 100.0], [100.0, 100.0]]
    """
    named = results if isinstance(results, Mapping) else {"expected": results}
    style.check_some(named, "result")
    ax = style.quiet(style.axes(ax))
    for number, (name, result) in enumerate(named.items()):
        profile, line = result.profile, style.marked_line(number)
        n, before = profile.closer_relevant, profile.closer - profile.closer_relevant
        low, high = (100 * hits / result.n_positive for hits in (n, n + profile.tied_relevant))
        last = before + profile.tied - profile.tied_relevant
        start, stop = (100 * false / result.n_negative for false in (before, last))
        corners = (start, start, stop, stop), (low, low, low, high), (low, high, high, high)
        if profile.ties.mixed_groups:
            at, least, most = (np.stack(each, axis=1).ravel() for each in corners)
            label = "any order: ties" if len(named) == 1 else f"{name}: ties"
            style.band(ax, at, least, most, line["color"], label)
        x, y = (np.stack(each, axis=1).ravel() for each in ((start, stop), (low, high)))
        mark = len(x) > 2 * _MANY_LEVELS and {"marker": None}
        ax.plot([0, *x, 100], [0, *y, y[-1]], markersize=4, linewidth=1.4, label=name, **(line | (mark or {})))
    ax.set(xlabel="false positive rate (%)", ylabel="true positive rate (%)", xlim=(-2, 102), ylim=(0, 102))
    style.legend_above(ax)
    return ax


def per_class(report: Report, measure: str = "mAP", *, n: int = 20, ax: Axes | None = None) -> Axes:
    """Draw the mean of a measure over the queries of each class, the worst class on top.

    Parameters
    ----------
    report : Report
        One that knows the labels of its queries.
    n : int
        At most so many classes, in the order of `Report.per_class`.

    Returns
    -------
    Axes
        A bar is the expected value, and a line across its end goes from lower to upper. On the right stands how many
        queries the class has; a class without a value is left out.

    Examples
    --------
    >>> import deadheat as dh
    >>> report = dh.evaluate([[0], [1], [5], [9]], ["far", "near", "near", "far"], distance="l2")
    >>> [row.get_text() for row in dh.plots.per_class(report).get_yticklabels()]
    ['far', 'near']
    """
    every = report.per_class(measures=measure)
    (values,) = every.per_row.values()
    n_class = int(np.count_nonzero(~np.isnan(values.lower)))  # those without a value come last
    names, counts = (column[: min(checks.positive_integer(n, "n"), n_class)] for column in every.rows.values())
    lower, expected, upper = (100 * end[: len(names)] for end in values)
    rows, length = np.arange(len(names)), np.where(np.isnan(expected), lower, expected)
    ax = style.quiet(style.axes(ax, (6.4, 1.2 + 0.24 * len(names))), grid="x")
    ax.barh(rows, length, height=0.66, color=style.SKY, edgecolor=style.INK, linewidth=0.6, label="mean of the class")
    tied = lower < upper
    if tied.any():
        ends: dict[str, Any] = {"color": style.INK, "linewidth": 2.2, "label": "lower to upper: ties"}
        ax.hlines(rows[tied], lower[tied], upper[tied], **ends)
    whole = report[measure]
    mean = whole.lower if np.isnan(whole.expected) else whole.expected
    ax.axvline(100 * mean, color=style.INK, linestyle=style.DASHED, linewidth=1, label="mean of the report")
    style.rows(ax, list(map(str, names)))
    style.right_column(ax, "queries", map(str, counts))
    ax.set(xlabel=f"{whole.name} (%)", ylabel=_how_many(len(names), n_class), xlim=(0, 100))
    style.legend_above(ax)
    return ax


def _how_many(n: int, n_all: int) -> str:
    return "classes" if n == n_all else f"the worst {n} of {n_all} classes"


def caterpillar(report: Report, measure: str = "mAP", *, ax: Axes | None = None) -> Axes:
    """Draw a measure for every query, from the worst to the best, with the interval that ties leave open.

    Parameters
    ----------
    report : Report

    Returns
    -------
    Axes
        For each query a line from lower to upper, and a dot at the expected value (in the middle under a tolerance);
        one dot where no tie decides. Queries without a value are left out.

    Examples
    --------
    >>> import deadheat as dh
    >>> ax = dh.plots.caterpillar(dh.evaluate([[0], [0], [1], [2]], [0, 1, 0, 1], distance="l2"))
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['ties decide (2)', 'no tie decides (2)', 'mean, lower to upper']
    """
    result = report[measure]
    values = 100 * np.stack(result.per_query)
    values = values[:, ~np.isnan(values[0])]
    middle = np.where(np.isnan(values[1]), (values[0] + values[2]) / 2, values[1])
    order = np.lexsort((values[2], values[0], middle))
    place, (lower, _, upper), middle = np.arange(1, len(order) + 1), values[:, order], middle[order]
    tied, few = lower < upper, len(order) <= _SINGLE
    ax = style.quiet(style.axes(ax))
    dot: dict[str, Any] = {"linestyle": "", "marker": "o", "markersize": 4 if few else 2, "zorder": 3}
    if tied.any():
        ax.vlines(place[tied], lower[tied], upper[tied], color=style.ORANGE, linewidth=2 if few else 0.8)
        ax.plot(place[tied], middle[tied], color=style.INK, label=f"ties decide ({tied.sum()})", **dot)
    if not tied.all():
        ax.plot(place[~tied], middle[~tied], color=style.BLUE, label=f"no tie decides ({(~tied).sum()})", **dot)
    _mean(ax, result)
    ax.set(xlabel="queries, from worst to best", ylabel=f"{result.name} (%)", xlim=(0, len(order) + 1))
    style.legend_above(ax)
    return ax


def _mean(ax: Axes, result: Result) -> None:
    """The mean as a dashed line, and what ties leave open of it as a band."""
    low, high = 100 * result.lower, 100 * result.upper
    if low < high:
        ax.axhspan(low, high, color=style.GREY, alpha=0.25, linewidth=0, zorder=0)
    middle = (low + high) / 2 if np.isnan(result.expected) else 100 * result.expected
    label = "mean, lower to upper" if low < high else "mean"
    ax.axhline(middle, color=style.INK, linestyle=style.DASHED, linewidth=1, label=label)
