"""Reports side by side: what ties can change, and the confidence interval of a mean round that.

In come a report, or reports by name; out go the axes, in per cent.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from deadheat.errors import InvalidValueError
from deadheat.plots import style
from deadheat.reports import Report, Result
from deadheat.reports.options import measure_names

_ENDS = ("lower", "expected", "upper")


def bounds(
    reports: Report | Mapping[str, Report],
    *,
    measures: str | Iterable[str] | None = None,
    sorts: Mapping[str, Sequence[float]] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw measures of a report, or of several: a bar from lower to upper, and a dot at the expectation.

    Parameters
    ----------
    reports : Report, or mapping of str to Report
        One row for each measure and report, the first on top.
    measures : str or iterable of str, optional
        Names of measures. By default, all that a single report was made with, and mAP of several.
    sorts : mapping of str to sequence of float, optional
        What plain sorts gave, as fractions, by what the row says: a tick each, below the bar.
    ax : Axes, optional
        Axes to draw on; new ones by default.

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
    places = np.arange(len(results))
    ax = style.quiet(style.axes(ax, (6.4, 1.0 + 0.36 * len(results))), grid="x")
    lower, expected, upper = _per_cent(results.values())
    ax.hlines(places, lower, upper, color=style.GREY, linewidth=3, zorder=1)
    marks = (("lower", lower, "<", style.VERMILION), ("expected", expected, "o", style.INK))
    for label, values, marker, colour in (*marks, ("upper", upper, ">", style.BLUE)):
        ax.plot(values, places, marker, color=colour, markersize=6, label=label, zorder=3)
    ticks = [(100 * value, row + 0.32) for row, name in enumerate(results) for value in (sorts or {}).get(name, ())]
    if ticks:
        ax.plot(*np.array(ticks).T, "|", color=style.INK, markersize=6, markeredgewidth=0.9, label="plain sorts")
    style.rows(ax, list(results))
    _write_widths(ax, upper - lower)
    names = dict.fromkeys(result.name for result in results.values())
    ax.set_xlabel(f"{next(iter(names))} (%)" if len(names) == 1 else "value (%)")
    ax.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=4, frameon=False, fontsize="small", handletextpad=0.2)
    return ax


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
    return np.array([[100 * getattr(result, end) for end in _ENDS] for result in results], dtype=np.float64).T


def _write_widths(ax: Axes, widths: NDArray[np.float64]) -> None:
    """Upper − lower beside each row."""
    for row, width in enumerate(widths):
        ax.text(1.03, row, f"{width:.3g}", transform=ax.get_yaxis_transform(), va="center", fontsize="small")
    ax.text(1.03, 1.0, "upper − lower\n(points)", transform=ax.transAxes, va="bottom", fontsize="small")


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
        For each report a box from lower to upper, a mark at the expectation, and whiskers from the low end of the
        interval for lower to the high end of that for upper.

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
    ax.hlines(places, low, high, color=style.INK, linewidth=1, label=f"ties and {100 * level:g} % interval")
    ax.plot([*low, *high], [*places, *places], linestyle="", marker="|", color=style.INK, markersize=7)
    ax.barh(places, upper - lower, left=lower, height=0.36, color=style.BLUE, alpha=0.35, label="ties")
    ax.plot(expected, places, linestyle="", marker="D", markersize=4.5, color=style.BLUE, label="expected")
    ax.set_yticks(places, list(reports))
    ax.set(xlabel=f"{results[0].name} (%)", ylim=(len(reports) - 0.5, -0.5))
    ax.legend(frameon=False, fontsize="small", loc="lower center", bbox_to_anchor=(0.5, 1), ncols=4, columnspacing=1.0,
              handletextpad=0.4)  # fmt: skip
    return ax
