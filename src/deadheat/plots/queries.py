"""One report from close by: its queries one by one, its classes, and how far down its hits are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from deadheat.analyses.precision_recall import PrecisionRecall
from deadheat.errors import InvalidValueError
from deadheat.plots import style
from deadheat.reports import Report, Result
from deadheat.support import checks
from deadheat.support.triple import Triple

Float64 = NDArray[np.float64]

_MANY_LEVELS = 30  # beyond which a curve has no marks
_SINGLE = 150  # up to so many queries are drawn one by one


def _per_cent(values: Iterable[Result | Triple[float]]) -> Float64:
    """Lower, expected and upper, (3, n)."""
    return np.array([[100 * getattr(value, end) for end in Triple._fields] for value in values]).T


def cmc(reports: Report | Mapping[str, Report], *, k: int | Iterable[int] = 20, ax: Axes | None = None) -> Axes:
    """Draw Hit@k against k, the cumulative matching characteristic (CMC): a relevant item among the first k.

    Parameters
    ----------
    reports : Report, or mapping of str to Report
        A line each.
    k : int or iterable of int
        The largest k, or each of them.
    ax : Axes, optional

    Returns
    -------
    Axes
        A line is the expected value over all ways to break ties, a band goes from lower to upper.

    Raises
    ------
    ValueError, TypeError
        If there is no report, or a k is no positive integer.

    Examples
    --------
    >>> import deadheat as dh
    >>> report = dh.evaluate([[0.0], [0.0], [1.0], [1.0]], [0, 1, 0, 1], distance="euclidean")
    >>> ax = dh.plots.cmc(report, k=3)
    >>> ax.lines[0].get_ydata().tolist()
    [0.0, 50.0, 100.0]
    """
    named = reports if isinstance(reports, Mapping) else {"expected": reports}
    if not named:
        raise InvalidValueError("reports", "must hold at least one report, but is empty")
    asked = k if isinstance(k, Iterable) else range(1, checks.positive_integer(k, "k") + 1)
    cutoffs = sorted({checks.positive_integer(each, "k") for each in asked})
    ax = style.quiet(style.axes(ax))
    for number, (name, report) in enumerate(named.items()):
        lower, expected, upper = _per_cent(report[f"Hit@{k}"] for k in cutoffs)
        line = style.marked_line(number)
        if (lower < upper).any():
            label = "lower to upper: ties" if len(named) == 1 else f"{name}: ties"
            ax.fill_between(cutoffs, lower, upper, color=line["color"], alpha=0.2, linewidth=0, label=label)
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
    ax : Axes, optional

    Returns
    -------
    Axes
        A line is the expected precision over all ways to break ties, a band goes from lower to upper. Where no
        expectation is known there is the band alone. Lines between marks only join them.

    Raises
    ------
    ValueError
        If there is no curve.

    Examples
    --------
    >>> import deadheat as dh
    >>> profile = dh.profile([[0.0], [0.0], [1.0], [1.0]], [0, 1, 0, 1], distance="euclidean")
    >>> ax = dh.plots.precision_recall(dh.precision_recall(profile, interpolate=False))
    >>> ax.get_xlabel(), len(ax.lines)
    ('recall (%)', 1)
    """
    named = curves if isinstance(curves, Mapping) else {"expected": curves}
    if not named:
        raise InvalidValueError("curves", "must hold at least one curve, but is empty")
    ax = style.quiet(style.axes(ax))
    for number, (name, curve) in enumerate(named.items()):
        line = style.marked_line(number)
        recall, lower, upper = 100 * curve.recall, 100 * curve.lower, 100 * curve.upper
        if (lower < upper).any():
            label = "lower to upper: ties" if len(named) == 1 else f"{name}: ties"
            ax.fill_between(recall, lower, upper, color=line["color"], alpha=0.2, linewidth=0, label=label)
        mark = len(recall) > _MANY_LEVELS and {"marker": None}
        ax.plot(recall, 100 * curve.expected, markersize=4, linewidth=1.4, label=name, **(line | (mark or {})))
    interpolated = all(curve.interpolated for curve in named.values())
    ax.set(xlabel="recall (%)", ylabel=f"{'interpolated ' * interpolated}precision (%)", xlim=(-2, 102), ylim=(0, 102))
    style.legend_above(ax)
    return ax


def per_class(report: Report, measure: str = "mAP", *, n: int = 20, ax: Axes | None = None) -> Axes:
    """Draw the mean of a measure over the queries of each class, the worst class on top.

    Parameters
    ----------
    report : Report
        One that knows the labels of its queries.
    measure : str
        Any name of a measure.
    n : int
        At most so many classes, in the order of `Report.per_class`.
    ax : Axes, optional

    Returns
    -------
    Axes
        A bar is the expected value, and a line across its end goes from lower to upper. On the right stands how many
        queries the class has; a class without a value is left out.

    Raises
    ------
    ValueError
        If the labels are not known.

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
    measure : str
        Any name of a measure.
    ax : Axes, optional

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
