"""Reports side by side: what ties can change, the intervals round that, and what lies between two systems."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from deadheat.analyses.comparison import Difference
from deadheat.errors import InvalidValueError
from deadheat.plots import style
from deadheat.reports import Report, Result
from deadheat.reports.options import measure_names
from deadheat.support.triple import Triple

_SINGLE = 150  # up to so many queries are drawn one by one


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
    ax : Axes, optional

    Returns
    -------
    Axes
        The horizontal axis is in per cent. On the right stands how far upper and lower are apart, in percentage
        points.

    Raises
    ------
    ValueError
        If there is no report, or a measure is unknown.

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
    _check_some(reports)
    names = measure_names("mAP" if measures is None else measures)
    if len(names) == 1:
        return {title: report[names[0]] for title, report in reports.items()}
    return {f"{title}, {name}": report[name] for title, report in reports.items() for name in names}


def _check_some(reports: Mapping[str, Report]) -> None:
    if not reports:
        raise InvalidValueError("reports", "must hold at least one report, but is empty")


def _per_cent(results: Iterable[Result]) -> NDArray[np.float64]:
    """Lower, expected and upper, (3, n)."""
    values = [[100 * getattr(result, end) for end in Triple._fields] for result in results]
    return np.array(values, dtype=np.float64).T


def mean_intervals(reports: Mapping[str, Report], measure: str, *, ax: Axes | None = None, **settings: Any) -> Axes:
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
        For each report a box from lower to upper where they differ, a mark at the expectation, and whiskers from the
        low end of the interval for lower to the high end of that for upper.

    Raises
    ------
    ValueError
        If there is no report.
    """
    _check_some(reports)
    ax = style.quiet(style.axes(ax, (5.0, 1.0 + 0.4 * len(reports))), grid="x")
    places: NDArray[np.int64] = np.arange(len(reports))
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
    ax : Axes, optional

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
