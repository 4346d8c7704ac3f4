"""Plots of reports: of several, their bounds under ties and intervals of means; of one, its queries and classes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from deadheat.analyses.difference import Difference
from deadheat.analyses.grouped import GroupedReport
from deadheat.analyses.hash_lookup import HashLookup
from deadheat.analyses.pooled import Classification
from deadheat.analyses.precision_recall import PrecisionRecall
from deadheat.analyses.sliced_comparison import SlicedComparison
from deadheat.errors import InvalidValueError
from deadheat.plots import arguments, layout, style
from deadheat.plots.pages import middle, per_query_name
from deadheat.reports.averaging import measure_names
from deadheat.reports.report import Report
from deadheat.reports.result import Result
from deadheat.reports.slices import Slices
from deadheat.reports.statistics.intervals import Interval, defined
from deadheat.reports.tables import count, headline, value
from deadheat.support import checks
from deadheat.support.arrays import Float64, Int64
from deadheat.support.triple import Triple

_WITH_TIES = ", with ties"  # of an interval around both bounds
_MANY_LEVELS = 30  # beyond which a curve has no marks
_STEPS = 20  # cutoffs of a curve up to the size of a gallery
_ALONE = "expected"  # the name of the line of a single result
_SINGLE = 150  # up to so many queries are drawn one by one
_EACH = 100  # cutoffs up to which Hit@k is drawn at each k
_QUOTED = (10, 5, 1, 20, 50, 100)  # cutoffs for a title, the best known first
_RESOLVED = 100  # negatives from which on a logarithmic axis shows more than a linear one


def _shown(values: Iterable[Result]) -> Float64:
    """Return lower, expected and upper of results of one unit, in per cent if they are fractions, (3, n_result)."""
    listed = list(values)
    units = {arguments.kind_of(each).unit for each in listed}
    if len(units) > 1:
        raise InvalidValueError("measures", f"must have one unit to be drawn on one axis, but have {sorted(units)}")
    return np.array(
        [[arguments.kind_of(each).scale * getattr(each, end) for end in Triple._fields] for each in listed]
    ).T


def first_measure(reports: Report | Mapping[str, Report]) -> str:
    """Return the first measure that a report, or the first of several, was made with."""
    return next(iter(next(iter(reports.values())) if isinstance(reports, Mapping) else reports))


def leader(what: str, values: Mapping[str, Any]) -> str:
    """Return a title: the number to report of one result, or the first of several by the guaranteed bound."""
    alone = next(iter(values.values()))
    kind, less = arguments.kind_of(alone), getattr(getattr(alone, "measure", None), "sign", 1) < 0
    bound = "upper" if less else "lower"
    known = {name: getattr(each, bound) for name, each in values.items() if not np.isnan(each.lower)}
    if len(values) == 1 or not known:
        return f"{what}: {value(alone, scale=kind.scale)} {kind.unit_shown}"
    best = min(known.values()) if less else max(known.values())
    first = [layout.short(name) for name, end in known.items() if end == best]
    verb = "is" if len(first) == 1 else "are"
    return f"{what}: {' and '.join(first)} {verb} first by the {bound} bound, {kind.scale * best:.2f} {kind.unit_shown}"


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
        Names of measures. By default, all of a single report, or the first measure of the first of several.
    sorts : mapping of str to sequence of float, optional
        Values of plain sorts, as fractions, by the name of the row: a tick each, below the bar.

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
    sorts = {} if sorts is None else checks.mapping(sorts, "sorts", "values of plain sorts, by the name of the row")
    ax = style.quiet(style.axes(ax, (6.4, 1.3 + 0.36 * len(results))), grid="x")
    ends = _shown(results.values())
    style.ends(ax, ends, 6)
    plain = [defined(sorts.get(name, ()), "sorts") for name in results]
    kind = arguments.kind_of(next(iter(results.values())))
    ticks = [(kind.scale * value, row + 0.32) for row, values in enumerate(plain) for value in values]
    if ticks:
        ax.plot(*np.array(ticks).T, "|", color=style.INK, markersize=6, markeredgewidth=0.9, label="plain sorts")
    widths = ends[2] - ends[0]
    names = list(dict.fromkeys(result.name for result in results.values()))
    ax.set_xlabel(f"{names[0] if len(names) == 1 else 'value'} ({kind.unit_shown})")
    open_row = list(results)[int(np.nanargmax(widths))] if np.isfinite(widths).any() else ""
    title = "No tie affects a value"
    if len(names) == 1:
        title = leader(names[0], results)
    elif (widths > 0).any():
        title = f"Ties leave up to {np.nanmax(widths):.2f} {kind.points} open ({layout.short(open_row)})"
    column = f"upper − lower ({kind.points})", list(map(_width, widths))
    return layout.finish(ax, title=title, rows=list(results), column=column)


def _width(points: float) -> str:
    return "0" if points == 0 else f"{points:.2f}" if points >= 0.005 else "< 0.01"


def _rows(reports: Report | Mapping[str, Report], measures: str | Iterable[str] | None) -> dict[str, Result]:
    """Return the result in each row, by the row's name: the measure, the report, or both."""
    if isinstance(reports, Report):
        return {name: reports[name] for name in (reports.measures if measures is None else measure_names(measures))}
    reports = arguments.several(reports, Report, "reports", alone=_ALONE)
    names = measure_names(first_measure(reports) if measures is None else measures)
    if len(names) == 1:
        return {title: report[names[0]] for title, report in reports.items()}
    return {f"{title}, {name}": report[name] for title, report in reports.items() for name in names}


def mean_intervals(
    reports: Mapping[str, Report], measure: str | None = None, *, ax: Axes | None = None, **settings: Any
) -> Axes:
    """Draw a measure of several reports: its bounds under ties, and the confidence interval around them.

    Parameters
    ----------
    reports : mapping of str to Report
        By the name to show; drawn from top to bottom.
    measure : str, optional
        By default the first that the first report was made with.
    **settings
        For `Result.interval`: `confidence_level`, `resample`, `labels`, `method`, `n_resamples`, `seed`.

    Returns
    -------
    Axes
        For each report a box from lower to upper where they differ, a mark at the expectation, and whiskers from the
        low end of the interval for lower to the high end of that for upper.
    """
    reports = arguments.several(reports, Report, "reports")
    measure = first_measure(reports) if measure is None else measure
    ax = style.quiet(style.axes(ax, (5.0, 1.3 + 0.4 * len(reports))), grid="x")
    results = {name: report[measure] for name, report in reports.items()}
    intervals = [report.interval(measure, **settings) for report in reports.values()]
    level = f"{100 * intervals[0].confidence_level:g} % interval"
    _draw_rows(ax, results.values(), [each.outer for each in intervals], level, _WITH_TIES)
    first = next(iter(results.values()))
    ax.set_xlabel(f"{first.name} ({arguments.kind_of(first).unit_shown})")
    return layout.finish(ax, title=leader(first.name, results), rows=list(reports))


def slices(sliced: Slices | SlicedComparison, measure: str | None = None, *, ax: Axes | None = None) -> Axes:
    """Draw the slices of a report or of a comparison: a row for each value of the column, for their mean and for all.

    Parameters
    ----------
    sliced : Slices or SlicedComparison
        From ``by_slice`` of a report or of a comparison.
    measure : str, optional
        By default the first.

    Returns
    -------
    Axes
        Rows as those of `mean_intervals`, each interval by itself; the mean of slices has none. Differences A − B have
        a line at 0, and the interval of the value that is tested.

    Examples
    --------
    >>> import deadheat as dh
    >>> report = dh.evaluate([[0], [1], [1], [0]], [0, 0, 1, 1], distance="euclidean")
    >>> dh.plots.slices(report.by_slice(["day", "day", "night", "night"]), "MRR").get_xlabel()
    'MRR (%)'
    """
    if not isinstance(sliced, SlicedComparison):
        arguments.one(sliced, Slices, "sliced")
    known = [*sliced.whole]
    measure = known[0] if measure is None else checks.choice(measure, known, "measure")
    whole, (rows, ends, level) = sliced.whole[measure], sliced.drawn(measure)
    ax, kind = style.quiet(style.axes(ax, (5.0, 1.3 + 0.4 * len(rows))), grid="x"), arguments.kind_of(whole)
    around = "" if isinstance(whole, Difference) else _WITH_TIES
    _draw_rows(ax, rows, ends, f"{100 * level:g} % interval", around)
    if isinstance(whole, Difference):
        ax.axvline(0, color=style.GREY, linewidth=0.9)
        ax.set_xlabel(f"{measure}, {' − '.join(map(arguments.drawable, whole.names))} ({kind.points})")
    else:
        ax.set_xlabel(f"{measure} ({kind.unit_shown})")
    names = [*map(str, sliced.names), "mean of slices", "all"]
    return layout.finish(ax, title=f"{measure} by slice", rows=names)


def _draw_rows(ax: Axes, results: Iterable[Any], intervals: Sequence[Interval], what: str, around: str) -> None:
    """Draw a row for each result: a box of its bounds, a mark at its expectation, and whiskers of its interval."""
    listed = list(results)
    scale = arguments.kind_of(listed[0]).scale  # a mean of slices has no measure of its own
    lower, expected, upper = scale * np.array([[getattr(each, end) for end in Triple._fields] for each in listed]).T
    low, high = scale * np.array(intervals).T
    places, tied = np.arange(len(lower)), lower < upper
    ax.hlines(places, low, high, color=style.INK, linewidth=1, label=f"{what}{around}" if tied.any() else what)
    ax.plot([*low, *high], [*places, *places], "|", color=style.INK, markersize=7)
    if tied.any():
        width, left = (upper - lower)[tied], lower[tied]
        ax.barh(places[tied], width, left=left, height=0.36, color=style.SKY, label=style.TIES)
    name = "expected" if tied.all() else "value" if not tied.any() else "expected, or the value without ties"
    ax.plot(expected, places, "D", markersize=4.5, color=style.BLUE, label=name)


def group_values(
    reports: Mapping[str, GroupedReport], measure: str | None = None, *, confidence_level: float = 0.95,
    ax: Axes | None = None,
) -> Axes:  # fmt: skip
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
        style.tie_lines(ax.hlines, heights, lower, upper, color=style.SKY, linewidth=1.2)
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


def differences(difference: Difference, *, ax: Axes | None = None) -> Axes:
    """Draw the difference between two systems for each query, sorted, with its bounds under ties.

    Parameters
    ----------
    difference : Difference
        One measure of a `deadheat.compare`, such as ``compare(a, b, names=("new", "old"))["mAP"]``.

    Returns
    -------
    Axes
        First the queries that A wins however ties fall, then those that ties decide, the equal ones, and those that
        B wins, each from the largest expected difference A − B to the smallest (the middle of the bounds, where there
        is no expectation), as bars from 0. A line, or a band of many queries, goes from A.lower − B.upper to A.upper −
        B.lower.

    Examples
    --------
    >>> import deadheat as dh
    >>> a, b = (dh.evaluate(points, [0, 0, 1, 1]) for points in ([[0], [1], [1], [0]], [[1], [1], [-1], [-1]]))
    >>> dh.plots.differences(dh.compare(a, b, names=("new", "old"))["mAP"]).get_xlabel()
    'queries, by who wins'
    """
    arguments.one(difference, Difference, "difference")
    ax = style.quiet(style.axes(ax))
    unit = arguments.kind_of(difference)
    values = unit.scale * np.stack(difference.per_query)
    values, shown = values[:, ~np.isnan(values[0])], unit.scale * middle(difference.per_query)
    (low, _, high), ties = values, values[0] < values[2]
    winning = [low > 0, high < 0][:: difference.measure.sign]
    kinds = np.select([*winning, ties], [0, 3, 1], 2)
    order = np.lexsort((-low, -shown, kinds))
    at, low, high, shown, kinds = 1 + np.arange(len(order)), low[order], high[order], shown[order], kinds[order]
    a, b = map(arguments.drawable, difference.names)
    wins_a, wins_b, n_open = difference.n_wins_a, difference.n_wins_b, difference.n_open
    colours = style.BLUE, style.ORANGE, style.INK, style.VERMILION
    labels = f"{a} wins ({wins_a})", f"ties decide ({n_open})", f"equal ({difference.n_equal})", f"{b} wins ({wins_b})"
    for kind, (colour, label) in enumerate(zip(colours, labels, strict=True)):
        own = kinds == kind
        if own.any():
            ax.bar(at[own], shown[own], 1.0, color=colour, edgecolor=colour, linewidth=0.4, label=label)
    _open(ax, at, low, high, style.INK)
    ax.axhline(0, color=style.INK, linewidth=0.8)
    what = f"{per_query_name(difference.name)} of {layout.short(a)} − {layout.short(b)} ({unit.points})"
    style.whole_numbers(ax.xaxis)
    ax.set(xlabel="queries, by who wins", ylabel=what, xlim=(0, len(at) + 1))
    wins = f"{layout.short(a)} wins {wins_a} and {layout.short(b)} {wins_b}"
    title = f"Of {count(len(at), 'query', 'queries')}, {wins}{f', ties decide {n_open}' if n_open else ''}"
    return layout.finish(ax, title=title)


def _open(ax: Axes, at: Int64, low: Float64, high: Float64, colour: str) -> None:
    """Draw the interval of each query under ties: one line each for few queries, a band for many."""
    tied = low < high
    look: dict[str, Any] = {"label": style.TIES, "color": colour, "alpha": 0.5}
    if len(at) <= _SINGLE and tied.any():
        ax.vlines(at[tied], low[tied], high[tied], linewidth=2, **look)
    elif tied.any():
        ax.fill_between(at, low, high, step="mid", linewidth=0, **look)


def cmc(reports: Report | Mapping[str, Report], *, k: int | Iterable[int] = 20, ax: Axes | None = None) -> Axes:
    """Draw Hit@k against k, the cumulative matching characteristic (CMC): a relevant item among the first k.

    Parameters
    ----------
    reports : Report, or mapping of str to Report
        A line each.
    k : int or iterable of int
        The largest k, in at most 100 equal steps of a round size; or each of them.

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
    return _at_cutoffs("Hit", reports, k, ax)


def precision_at_k(
    reports: Report | Mapping[str, Report], *, k: int | Iterable[int] | None = None, ax: Axes | None = None
) -> Axes:
    """Draw P@k against k: the share of the first k items that are relevant.

    Parameters and lines as in `cmc`; by default k is the size of the gallery, and steps are at most 20.

    Examples
    --------
    >>> import deadheat as dh
    >>> report = dh.evaluate([[0.0], [0.0], [1.0], [1.0]], [0, 1, 0, 1], distance="euclidean")
    >>> ax = dh.plots.precision_at_k(report)
    >>> ax.lines[0].get_xdata().tolist(), ax.lines[0].get_ydata().round(2).tolist()
    ([1, 2, 3], [0.0, 25.0, 33.33])
    """
    return _at_cutoffs("P", reports, k, ax)


def recall_at_k(
    reports: Report | Mapping[str, Report], *, k: int | Iterable[int] | None = None, ax: Axes | None = None
) -> Axes:
    """Draw Recall@k against k: the share of the relevant items that is among the first k.

    Parameters and lines as in `cmc`; by default k is the size of the gallery, and steps are at most 20.

    Examples
    --------
    >>> import deadheat as dh
    >>> report = dh.evaluate([[0.0], [0.0], [1.0], [1.0]], [0, 1, 0, 1], distance="euclidean")
    >>> dh.plots.recall_at_k(report).lines[0].get_ydata().tolist()
    [0.0, 50.0, 100.0]
    """
    return _at_cutoffs("Recall", reports, k, ax)


def _at_cutoffs(
    measure: str, reports: Report | Mapping[str, Report], k: int | Iterable[int] | None, ax: Axes | None
) -> Axes:
    """Draw a measure at several cutoffs against them."""
    named = arguments.several(reports, Report, "reports", alone=_ALONE)
    most = max(1, *(int(report.profile.n_ranked.max()) for report in named.values())) if k is None else k
    cutoffs = arguments.cutoffs(most, _EACH if measure == "Hit" else _STEPS)
    ax = style.quiet(style.axes(ax))
    for number, (name, report) in enumerate(named.items()):
        report._compute([f"{measure}@{each}" for each in cutoffs], threads=1)  # all in one look at each group
        ends = Triple(*_shown(report[f"{measure}@{each}"] for each in cutoffs))
        _line(ax, number, name, cutoffs, ends._replace(expected=headline(ends)), marked=len(cutoffs) <= _MANY_LEVELS)
    ax.set(xlabel="k", ylabel=f"{measure}@k (%)")
    ax.set_ylim(None if measure == "Hit" else 0, min(102.0, ax.get_ylim()[1]))
    step = next((step for step in (1, 5, 10, 20, 25, 50, 100) if cutoffs[-1] <= 6 * step), cutoffs[-1] // 5)
    ax.set_xticks(sorted({cutoffs[0], *range(step, cutoffs[-1] + 1, step)} - {2 if step > 1 else 0}))
    quoted = next((each for each in _QUOTED if each in cutoffs), cutoffs[0]) if measure != "Hit" else cutoffs[0]
    name = f"{measure}@{quoted}"
    return layout.finish(ax, title=leader(name, {system: report[name] for system, report in named.items()}))


def _line(ax: Axes, number: int, label: str, x: Any, ends: Triple[Float64], *, marked: bool = True) -> None:
    """Draw a line with a mark at each point, and the band that ties leave; the band has the label if it is alone."""
    look = style.marked_line(number) | ({} if marked else {"marker": None})
    alone = bool(np.isnan(ends.expected).all())
    style.band(ax, x, ends.lower, ends.upper, look["color"], label if alone else style.TIES)
    ax.plot(x, ends.expected, markersize=4, linewidth=1.4, label=label, **look)


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
    >>> profile = dh.Task([[0.0], [0.0], [1.0], [1.0]], [0, 1, 0, 1], distance="euclidean").profile
    >>> ax = dh.plots.precision_recall(dh.precision_recall(profile))
    >>> ax.get_xlabel(), len(ax.lines)
    ('recall (%)', 1)
    """
    named = arguments.several(curves, PrecisionRecall, "curves", alone=_ALONE)
    ax = style.quiet(style.axes(ax))
    for number, (name, curve) in enumerate(named.items()):
        expected = np.where(curve.lower == curve.upper, curve.lower, curve.expected)  # one value, under a tolerance too
        ends = Triple(100 * curve.lower, 100 * expected, 100 * curve.upper)
        few = len(curve.recall) <= _MANY_LEVELS
        _line(ax, number, name, 100 * curve.recall, ends, marked=few)
    interpolated = all(curve.interpolated for curve in named.values())
    ax.set(xlabel="recall (%)", ylabel=f"{'interpolated ' * interpolated}precision (%)", xlim=(-2, 102), ylim=(0, 102))
    return layout.finish(ax, title=leader("Precision at 50 % recall", {n: _at_half(c) for n, c in named.items()}))


def hash_lookup(
    results: HashLookup | Mapping[str, HashLookup],
    *,
    against: Literal["radius", "recall"] = "radius",
    average: Literal["macro", "micro"] = "macro",
    ax: Axes | None = None,
) -> Axes:
    """Draw precision and recall within each Hamming radius, or precision against recall over the radii.

    Parameters
    ----------
    results : HashLookup, or mapping of str to HashLookup
        As `deadheat.hash_lookup` gives them.
    against : {"radius", "recall"}
        The horizontal axis: the radius, for precision and recall (of one result also the share of empty balls); or
        recall, for precision, with a mark at each radius within which any query has an item.
    average : {"macro", "micro"}
        Means over queries, or values of all their balls together.

    Returns
    -------
    Axes
        There is no band: no tie decides which items are within a radius.

    Examples
    --------
    >>> import deadheat as dh
    >>> task = dh.Task([[0, 0], [0, 0], [1, 1], [0, 1]], [0, 0, 1, 1], distance="hamming")
    >>> ax = dh.plots.hash_lookup(dh.hash_lookup(task))
    >>> [line.get_label() for line in ax.lines], ax.lines[1].get_ydata().tolist()
    (['precision', 'recall', 'empty balls'], [50.0, 100.0, 100.0])
    """
    against = checks.choice(against, ("radius", "recall"), "against")  # type: ignore[assignment]
    average = checks.choice(average, ("macro", "micro"), "average")  # type: ignore[assignment]
    named = arguments.several(results, HashLookup, "results", alone=_ALONE)
    alone = len(named) == 1
    ax = style.quiet(style.axes(ax))
    handles: list[Any] = []
    for number, (name, result) in enumerate(named.items()):
        values, radii = getattr(result, average), np.arange(result.n_bits + 1)
        computed = result.n_empty < result.n_query
        look: dict[str, Any] = {"markersize": 4, "linewidth": 1.4, **style.marked_line(number)}
        look |= {} if result.n_bits < _MANY_LEVELS else {"marker": None}
        if against == "recall":
            x, y = 100 * values.recall[computed], 100 * values.precision[computed]
            handles += ax.plot(x, y, label="precision" if alone else name, **look)
        elif alone:
            handles += ax.plot(radii, 100 * values.precision, label="precision", **look)
            handles += ax.plot(radii, 100 * values.recall, label="recall", **look | style.marked_line(1))
            dots: dict[str, Any] = {"color": style.GREY, "linestyle": style.DOTTED}
            handles += ax.plot(radii, 100 * result.empty, label="empty balls", **dots)
        else:
            handles += ax.plot(radii, 100 * values.precision, label=name, **look | {"linestyle": "-"})
            ax.plot(radii, 100 * values.recall, label=f"{name}: recall", **look | {"linestyle": style.DASHED})
    if against == "radius":
        style.whole_numbers(ax.xaxis)
        kinds: dict[str, Any] = {} if alone else {"precision": "-", "recall": style.DASHED}
        handles += [Line2D([], [], color=style.GREY, linestyle=dash, label=kind) for kind, dash in kinds.items()]
    ax.set(xlabel="recall (%)" if against == "recall" else "Hamming radius", ylim=(0, 102))
    ax.set_ylabel(f"{'precision' if against == 'recall' else 'value'} (%)")
    best = {name: Triple(*3 * [float(getattr(result, average).f1.max())]) for name, result in named.items()}
    return layout.finish(ax, title=leader("Best F1", best), handles=handles)


def _at_half(curve: PrecisionRecall) -> Triple[float]:
    """Return the precision at the first level of recall that is not below one half."""
    at = min(int(np.searchsorted(curve.recall, 0.5)), len(curve.recall) - 1)
    return Triple(*(float(getattr(curve, end)[at]) for end in Triple._fields))


def roc(
    results: Classification | Mapping[str, Classification],
    *,
    scale: Literal["log", "linear"] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the true against the false positive rate of pooled scores (ROC), with the band that ties leave.

    Parameters
    ----------
    results : Classification, or mapping of str to Classification
        A line each, as `deadheat.classification` gives them.
    scale : {"log", "linear"}, optional
        The axis of the false positive rate. By default logarithmic from 100 negatives on, so that the true positive
        rate at a false positive rate of 0.1 % (TAR@FAR=1e-3) can be read; it begins at half of one false positive.

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
    named = arguments.several(results, Classification, "results", alone=_ALONE)
    n_negative = max(result.n_negative for result in named.values())
    if scale is None:
        scale = "log" if n_negative >= _RESOLVED else "linear"
    checks.choice(scale, ("log", "linear"), "scale")
    ax = style.quiet(style.axes(ax))
    for number, (name, result) in enumerate(named.items()):
        _pooled_curve(ax, number, name, result, scale == "log", lambda rates: rates)
    ax.set(xlabel="false positive rate (%)", ylabel="true positive rate (%)", xlim=(-2, 102), ylim=(0, 102))
    if scale == "log":
        style.log_axis(ax, "x")
        ax.set_xlim(50 / n_negative, 102)
    return layout.finish(ax, title=leader("AUC", {name: result["AUC"] for name, result in named.items()}))


def _pooled_curve(
    ax: Axes, number: int, name: str, result: Classification, bent: bool, of_hits: Callable[[Float64], Float64]
) -> None:
    """Draw hits, or a function of them, against false positives in per cent; straight lines are curves if `bent`."""
    profile, line = result.profile, style.marked_line(number)
    n, before = profile.closer_relevant, profile.closer - profile.closer_relevant
    low, high = (100 * hits / result.n_positive for hits in (n, n + profile.tied_relevant))
    last = before + profile.tied - profile.tied_relevant
    start, stop = (100 * false / result.n_negative for false in (before, last))
    corners = (start, start, stop, stop), (low, low, low, high), (low, high, high, high)
    if profile.ties.mixed_groups:
        at, *ends = (np.stack(each, axis=1).ravel() for each in corners)
        least, most = np.sort([of_hits(each) for each in ends], axis=0)
        style.band(ax, at, least, most, line["color"])
    few = len(start) <= _MANY_LEVELS  # on a bent axis, what is straight elsewhere is a curve
    inside = np.linspace(0, 1, 33) ** 3 if few and bent else np.array([0.0, 1.0])
    x, y = ((a[:, None] + inside * (b - a)[:, None]).ravel() for a, b in ((start, stop), (low, high)))
    marks = [place for first in range(1, len(x), len(inside)) for place in (first, first + len(inside) - 1)]
    look = line | ({"markevery": [0, *marks, len(x) + 1]} if few else {"marker": None})
    rates = of_hits(np.array([0, *y, y[-1]]))
    ax.plot([0, *x, 100], rates, markersize=4, linewidth=1.4, label=name, **look)


def det(results: Classification | Mapping[str, Classification], *, ax: Axes | None = None) -> Axes:
    """Draw the false negative against the false positive rate of pooled scores, both on probit axes (DET).

    Normal scores of equal variance are a straight line there, and small errors of good systems are distinguished.

    Parameters
    ----------
    results : Classification, or mapping of str to Classification
        A line each, as `deadheat.pair_classification` or `deadheat.classification` gives them.

    Returns
    -------
    Axes
        Both axes begin at half of one error, which also stands for no error, as a probit axis has no 0. **Ties:** marks
        are the ends of groups of equal scores, as in `roc`, and the band holds what any order has.

    References
    ----------
    Martin et al. 1997, The DET curve in assessment of detection task performance, Eurospeech.

    Examples
    --------
    >>> import deadheat as dh
    >>> ax = dh.plots.det(dh.classification([3, 2, 2, 1], [1, 1, 0, 0]))
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('false positive rate (%)', 'false negative rate (%)')
    """
    named = arguments.several(results, Classification, "results", alone=_ALONE)
    ax = style.quiet(style.axes(ax), grid="both")
    for number, (name, result) in enumerate(named.items()):
        _pooled_curve(ax, number, name, result, True, lambda rates: 100 - rates)
    for which, most in (("x", "n_negative"), ("y", "n_positive")):
        style.probit_axis(ax, which, 50 / max(getattr(result, most) for result in named.values()))  # type: ignore[arg-type]
    ax.set(xlabel="false positive rate (%)", ylabel="false negative rate (%)")
    errors = {layout.short(name): value(result["EER"]) for name, result in named.items()}
    listed = [error if len(named) == 1 else f"{name} {error}" for name, error in errors.items()]
    return layout.finish(ax, title=f"EER: {', '.join(listed)} %")


def per_class(report: Report, measure: str | None = None, *, n: int = 20, ax: Axes | None = None) -> Axes:
    """Draw the mean of a measure over the queries of each class, the worst class on top.

    Parameters
    ----------
    report : Report
        One that knows the labels of its queries.
    measure : str, optional
        By default the first that the report was made with.
    n : int
        The largest number of classes to draw, in the order of `Report.by_class`.

    Returns
    -------
    Axes
        A bar is the expected value, and a line across its end goes from lower to upper. The number of queries of the
        class is on the right; a class without a value is left out.

    Examples
    --------
    >>> import deadheat as dh
    >>> report = dh.evaluate([[0], [1], [5], [9]], ["far", "near", "near", "far"], distance="l2")
    >>> [row.get_text() for row in dh.plots.per_class(report).get_yticklabels()]
    ['far', 'near']
    """
    arguments.one(report, Report, "report")
    measure = first_measure(report) if measure is None else measure
    every = report.by_class(measures=measure)
    (values,) = every.per_row.values()
    n_class = int(np.count_nonzero(~np.isnan(values.lower)))  # those without a value come last
    names, counts = (column[: min(checks.positive_integer(n, "n"), n_class)] for column in every.rows.values())
    whole = report[measure]
    kind = arguments.kind_of(whole)
    lower, length, upper = (kind.scale * end[: len(names)] for end in (values.lower, headline(values), values.upper))
    rows = np.arange(len(names))
    ax = style.quiet(style.axes(ax, (6.4, 1.5 + 0.24 * len(names))), grid="x")
    ax.barh(rows, length, height=0.66, color=style.SKY, edgecolor=style.INK, linewidth=0.6, label="mean of the class")
    style.tie_lines(ax.hlines, rows, lower, upper, color=style.INK, linewidth=2.2)
    ax.axvline(
        kind.scale * headline(whole), color=style.INK, linestyle=style.DASHED, linewidth=1, label="mean of the report"
    )
    some = "classes" if len(names) == n_class else f"the worst {len(names)} of {n_class} classes"
    ax.set(xlabel=f"{whole.name} ({kind.unit_shown})", ylabel=some, xlim=(0, 100 if kind.unit == "fraction" else None))
    worst = ""
    if len(names):
        of_class = value(Triple(*(end[0] for end in values)), scale=kind.scale)
        worst = f"The worst class is {layout.short(names[0])}: {of_class} {kind.unit_shown}"
    title = f"{worst}, all queries {value(whole, scale=kind.scale)} {kind.unit_shown}" if worst else None
    return layout.finish(
        ax, title=title, rows=list(map(arguments.drawable, names)), column=("queries", list(map(str, counts)))
    )


def caterpillar(report: Report, measure: str | None = None, *, ax: Axes | None = None) -> Axes:
    """Draw a measure for every query, from the worst to the best, with the interval that ties leave.

    Parameters
    ----------
    report : Report
    measure : str, optional
        By default the first that the report was made with.

    Returns
    -------
    Axes
        For each query a dot at the expected value (in the middle under a tolerance), and a line from lower to upper,
        or a band over many queries; one dot where no tie decides. Queries without a value are left out.

    Examples
    --------
    >>> import deadheat as dh
    >>> ax = dh.plots.caterpillar(dh.evaluate([[0], [0], [1], [2]], [0, 1, 0, 1], distance="l2"))
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['lower to upper: ties', 'ties decide (2)', 'no tie decides (2)', 'mean, lower to upper']
    """
    arguments.one(report, Report, "report")
    result = report[first_measure(report) if measure is None else measure]
    kind, sign = arguments.kind_of(result), result.measure.sign
    values = kind.scale * np.stack(result.per_query)
    values, shown = values[:, ~np.isnan(values[0])], kind.scale * middle(result.per_query)
    order = np.lexsort((sign * values[2], sign * values[0], sign * shown))
    at, (lower, _, upper), shown = np.arange(1, len(order) + 1), values[:, order], shown[order]
    tied, few = lower < upper, len(order) <= _SINGLE
    ax = style.quiet(style.axes(ax))
    _open(ax, at, lower, upper, style.ORANGE)
    dot: dict[str, Any] = {"linestyle": "", "markersize": 4 if few else 2.5, "zorder": 3}
    if tied.any():
        ax.plot(at[tied], shown[tied], "o", color=style.INK, label=f"ties decide ({tied.sum()})", **dot)
    if not tied.all():
        ax.plot(at[~tied], shown[~tied], "D", color=style.BLUE, label=f"no tie decides ({(~tied).sum()})", **dot)
    low, high = kind.scale * result.lower, kind.scale * result.upper
    if low < high:
        ax.axhspan(low, high, color=style.GREY, alpha=0.25, linewidth=0, zorder=0)
    mean = (low + high) / 2 if np.isnan(result.expected) else kind.scale * result.expected
    label = "mean, lower to upper" if low < high else "mean"
    ax.axhline(mean, color=style.INK, linestyle=style.DASHED, linewidth=1, label=label)
    name = per_query_name(result.name)
    style.whole_numbers(ax.xaxis)
    ax.set(xlabel="queries, from worst to best", ylabel=f"{name} ({kind.unit_shown})", xlim=(0, len(order) + 1))
    title = f"Ties affect {name} in {tied.sum()} of {count(len(order), 'query', 'queries')}"
    return layout.finish(ax, title=title)
