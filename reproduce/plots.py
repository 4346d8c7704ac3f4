"""Plots that only the studies draw: in come numbers, out go Matplotlib axes, as in `deadheat.plots`."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap, to_rgb
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike

from deadheat.analyses.confidence.regions import HighestDensity
from deadheat.errors import InvalidValueError
from deadheat.inputs import labels as input_labels
from deadheat.plots import arguments, layout, style
from deadheat.reports.report import Report
from deadheat.reports.tables import count, headline
from deadheat.support.arrays import Float64
from reproduce import reference
from reproduce.model_trends import GapTrend, ModelCorrelation

_MOST_DRAWN = 12  # tied items, so that cells can be read
_WIDE = 8.0  # from this ratio of the largest number to the smallest on, a logarithmic axis
_CLASSES = (style.BLUE, style.ORANGE, style.GREEN, style.PURPLE, style.SKY, style.VERMILION)


def mixed_queries(reports: Mapping[str, Report], *, ax: Axes | None = None) -> Axes:
    """Draw what share of the queries of several reports has a tie that decides something.

    Parameters
    ----------
    reports : mapping of str to Report
        One row each, the first on top.

    Returns
    -------
    Axes
        A bar is the share of the queries with a mixed tie group, of those that have a relevant item, in per cent. At
        its end stands how many groups there are, and how many items are in the largest.
    """
    reports = arguments.several(reports, Report, "reports")
    names, rows = list(reports), np.arange(len(reports))
    ax = style.quiet(style.axes(ax, (5.0, 1.3 + 0.33 * len(names))), grid="x")
    ties = [report.ties for report in reports.values()]
    shares = [100 * each.queries / (report.n_query - report.n_singleton)
              for each, report in zip(ties, reports.values(), strict=True)]  # fmt: skip
    groups = [
        f"{count(each.mixed_groups, 'mixed group', 'mixed groups')} of up to {each.largest} items"
        if each.mixed_groups
        else ""
        for each in ties
    ]
    ax.barh(rows, shares, height=0.6, color=style.SKY, edgecolor=style.INK, linewidth=0.6)
    ax.set(xlabel="queries with a mixed tie (%)", xlim=(0, 100))
    most = int(np.nanargmax(shares))
    title = f"Ties reach {shares[most]:.1f} % of the queries of {names[most]}"
    return layout.finish(ax, title=title, rows=names, column=("", groups))


def sample_order(labels: ArrayLike, order: ArrayLike | None = None, *, ax: Axes | None = None) -> Axes:
    """Draw which class comes when in an order of the samples.

    Parameters
    ----------
    labels : (n,)
        Integers or strings.
    order : (n,) int, optional
        The samples in that order; by default as they are.

    Returns
    -------
    Axes
        Across: the place in the order, from 1. Upwards: the class, by size, the largest lowest.

    Raises
    ------
    ValueError
        If `order` is not a permutation of the samples.

    Examples
    --------
    >>> sample_order(["b", "a", "a"]).get_ylabel()
    'class'
    """
    _, codes = input_labels.label_codes(input_labels.labels(labels, np.size(labels), "labels", "labels"))
    n, sizes = len(codes), np.bincount(codes)
    places = np.arange(n) if order is None else np.asarray(order)
    if not np.array_equal(np.sort(places), np.arange(n)):
        raise InvalidValueError(
            "order", f"must be a permutation of the {n} samples, but holds {places.tolist()[:5]} and so on"
        )
    row = np.empty(len(sizes), dtype=np.int64)
    row[np.argsort(-sizes, kind="stable")] = np.arange(1, len(sizes) + 1)
    ax = style.quiet(style.axes(ax, (5.0, 2.4)), grid="")
    drawn = row[codes[places]]
    begin = np.flatnonzero(np.diff(drawn, prepend=0))  # of each run of one class
    length = np.diff(begin, append=n)
    ax.bar(begin + 0.5, 0.8, length, drawn[begin] - 0.4, align="edge", color=style.BLUE, linewidth=0, snap=False)
    ax.set(xlabel="place in the file", ylabel="class")
    ax.set(xlim=(0.5 - 0.005 * n, 1.005 * n + 0.5), ylim=(0.3, len(sizes) + 0.7))
    ax.yaxis.set_major_locator(MaxNLocator(integer=True))
    return ax


def distance_matrix(distances: ArrayLike, *, ax: Axes | None = None, label: str = "distance") -> Axes:
    """Draw the matrix D: how far each item, a column, is from each query, a row.

    Parameters
    ----------
    distances : (n_query, n_gallery)
    label : str
        What the distance is, and its unit.
    """
    ax = style.axes(ax, (4.6, 4.0))
    shown = ax.imshow(np.asarray(distances, dtype=np.float64), cmap="cividis", interpolation="nearest")
    ax.figure.colorbar(shown, ax=ax, label=label, fraction=0.046, pad=0.04)  # as high as square axes
    ax.set(xlabel="item", ylabel="query")
    return ax


def shift_matrix(relevant: ArrayLike, *, ax: Axes | None = None) -> Axes:
    """Draw the matrix E by which D is moved to decide its ties: 0 where relevant, else e.

    Parameters
    ----------
    relevant : (n_query, n_gallery) bool
    """
    ax = style.axes(ax, (4.6, 4.0))
    irrelevant = ~np.asarray(relevant, dtype=np.bool_)
    looks = ListedColormap([style.INK, style.PALE])
    shown = ax.imshow(irrelevant, cmap=looks, vmin=-0.5, vmax=1.5, interpolation="nearest")
    bar = ax.figure.colorbar(shown, ax=ax, ticks=[0, 1], fraction=0.046, pad=0.04)
    bar.ax.set_yticklabels(["0 (relevant)", "e (irrelevant)"])
    ax.set(xlabel="item", ylabel="query")
    return ax


class Band(NamedTuple):
    """Values with an interval round each, as fractions, at some places on the horizontal axis; all of shape (n,)."""

    at: ArrayLike
    value: ArrayLike
    low: ArrayLike
    high: ArrayLike


def measure_against_classes(
    bands: Mapping[str, Band], *, measure: str = "Hit@1", truth: float | None = None, ax: Axes | None = None
) -> Axes:
    """Draw a measure against the number of classes: a line for each name, and its intervals as a band.

    Parameters
    ----------
    bands : mapping of str to Band
        `at` is the number of classes. An interval that is NaN is left out.
    truth : float, optional
        The value inside groups, where it is known: a thin line.

    Returns
    -------
    Axes
        The horizontal axis is logarithmic, the vertical one in per cent.
    """
    ax = style.quiet(style.axes(ax))
    for number, (name, band) in enumerate(bands.items()):
        at, value, low, high = _sorted(band)
        line = _line(number)
        ax.fill_between(at, 100 * low, 100 * high, color=line["color"], alpha=0.18, linewidth=0)
        ax.plot(at, 100 * value, label=name, **line)
    if truth is not None:
        ax.axhline(100 * truth, color=style.INK, linewidth=0.8, label="value of the population in groups")
    style.log_axis(ax, "x", [band.at for band in bands.values()])
    ax.set(xlabel="classes", ylabel=f"{measure} (%)", ylim=(0, 100))
    shaded = any(np.isfinite(np.asarray(band.low, dtype=np.float64)).any() for band in bands.values())
    return shared_legend(ax, *([Patch(facecolor=style.GREY, alpha=0.3, label="interval")] if shaded else []))


def interval_coverage(bands: Mapping[str, Band], *, level: float = 0.95, ax: Axes | None = None) -> Axes:
    """Draw how many intervals hold the value that they are for, against the number of groups.

    Parameters
    ----------
    bands : mapping of str to Band
        By name of the method. `at` is the number of groups; `low` and `high` are what the draws leave open.
    level : float
        The share that should hold it, drawn as a line.

    Returns
    -------
    Axes
        Both axes are linear, the horizontal one with a place for each number of groups; the vertical one in per cent.
    """
    ax = style.quiet(style.axes(ax))
    places = sorted({int(at) for band in bands.values() for at in np.asarray(band.at).tolist()})
    shift = 0.5 / max(1, len(bands))
    ax.axhline(100 * level, color=style.INK, linewidth=1.0, label=f"as promised: {100 * level:g} %")
    for number, (name, band) in enumerate(bands.items()):
        at, value, low, high = _sorted(band)
        where = np.searchsorted(places, at) + shift * (number - (len(bands) - 1) / 2)
        bound = 100 * np.stack([value - low, high - value])
        ax.errorbar(where, 100 * value, bound, label=name, capsize=2, elinewidth=0.9, **_line(number))
    ax.set_xticks(range(len(places)), list(map(str, places)))
    ax.set(xlabel="groups", ylabel="intervals that hold the value (%)", xlim=(-0.5, len(places) - 0.5))
    return shared_legend(ax, Line2D([], [], color=style.GREY, marker="|", label="bar: what the draws leave open"))


def gap_histogram(values: Mapping[str, ArrayLike], *, truth: float = 0.0, ax: Axes | None = None) -> Axes:
    """Draw how differences found in many draws spread round the true one: a histogram for each name.

    Parameters
    ----------
    values : mapping of str to (n,)
        Differences of fractions.
    truth : float
        The true difference, drawn as a line.

    Returns
    -------
    Axes
        The horizontal axis is in percentage points.
    """
    ax = style.quiet(style.axes(ax))
    shown = {name: 100 * np.asarray(gaps, dtype=np.float64) for name, gaps in values.items()}
    edges = np.histogram_bin_edges(np.concatenate([*shown.values(), [100 * truth]]), bins=40)
    for number, (name, gaps) in enumerate(shown.items()):
        colour = style.CYCLE[number % len(style.CYCLE)]
        look: dict[str, Any] = {"color": colour, "alpha": 0.55, "edgecolor": style.PAPER}
        ax.hist(gaps, edges.tolist(), label=name, hatch=("", "///", "...")[number % 3], **look)
    ax.axvline(100 * truth, color=style.INK, linewidth=1.0, label=f"true gap: {100 * truth:g}")
    ax.set(xlabel="gap (percentage points)", ylabel="draws")
    return shared_legend(ax)


def processor_time(seconds: Mapping[str, tuple[ArrayLike, ArrayLike]], *, ax: Axes | None = None) -> Axes:
    """Draw processor time against the number of samples, both on logarithmic axes.

    Parameters
    ----------
    seconds : mapping of str to (n, seconds)
        Two arrays of one length for each name.

    Returns
    -------
    Axes
        Processor seconds over samples.
    """
    ax = style.quiet(style.axes(ax), grid="both")
    for number, (name, (n, time)) in enumerate(seconds.items()):
        ax.plot(n, time, label=name, **_line(number))
    style.log_axis(ax, "x", [n for n, _ in seconds.values()])
    style.log_axis(ax, "y")
    ax.set(xlabel="samples", ylabel="processor seconds")
    return shared_legend(ax)


def highest_density(
    region: HighestDensity,
    *,
    density: tuple[ArrayLike, ArrayLike] | None = None,
    samples: ArrayLike | None = None,
    ax: Axes | None = None,
    legend: bool = True,
) -> Axes:
    """Intervals of highest density: thick bars, below the hatched part of the density and a histogram of the samples.

    Parameters
    ----------
    region : HighestDensity
    density : (places, heights), optional
    samples : (n,), optional
        Drawn as a histogram of the same total.
    """
    ax = style.quiet(style.axes(ax))
    if samples is not None:
        ax.hist(np.asarray(samples), bins=60, density=True, color=style.SKY, alpha=0.6, label="samples")
    if density is not None:
        x, height = (np.asarray(array, dtype=np.float64) for array in density)
        ax.plot(x, height, color=style.BLUE, linewidth=1.4, label="density")
        for low, high in region.intervals:
            inside = (x >= low) & (x <= high)
            ax.fill_between(x[inside], height[inside], fc="none", ec=style.BLUE, hatch="////", linewidth=0)
    for number, (low, high) in enumerate(region.intervals):
        label = f"{100 * region.probability:.1f} % interval" if number == 0 else None
        look: dict[str, Any] = {"color": style.VERMILION, "linewidth": 5, "solid_capstyle": "butt", "clip_on": False}
        ax.plot([low, high], [0, 0], label=label, **look)
    ax.axvline(region.mode, color=style.INK, linestyle=style.DASHED, linewidth=1.0, label="mode")
    ax.set(xlabel="parameter", ylabel="density")
    ax.set_ylim(bottom=0)
    return layout.finish(ax) if legend else ax


def labelled_points(
    points: ArrayLike,
    labels: ArrayLike,
    *,
    confidence: ArrayLike | None = None,
    marked: ArrayLike | None = None,
    mark: str = "marked",
    ax: Axes | None = None,
    legend: bool = True,
) -> Axes:
    """Points of a plane, each class with its own colour and mark; a confident point is opaque, an unsure one faint.

    Parameters
    ----------
    points : (n, 2)
    labels : (n,)
    confidence : (n,), optional
        Of any scale: the least one becomes the faintest.
    marked : (n,) bool, optional
        Points to be ringed.
    mark : str
        What the ring means, for the legend.
    legend : bool
        Above the axes, unless there are more than 36 classes, which colours and marks do not distinguish.

    Examples
    --------
    >>> ax = labelled_points([[0, 0], [1, 1]], ["a", "b"], marked=[False, True], mark="odd")
    >>> ax.get_legend_handles_labels()[1]
    ['class a', 'class b', 'odd']
    """
    ax = style.quiet(style.axes(ax, (4.6, 2.8)), grid="")
    places, kinds = np.asarray(points, dtype=np.float64), np.asarray(labels)
    opacity = np.full(len(places), 0.75)
    if confidence is not None:
        sure = np.asarray(confidence, dtype=np.float64)
        opacity = 0.08 + 0.87 * (sure - sure.min()) / np.ptp(sure) if np.ptp(sure) else opacity + 0.2
    names = np.unique(kinds)
    for number, kind in enumerate(names):
        own = kinds == kind
        color = _CLASSES[number % len(_CLASSES)]
        marker = style.MARKERS[(number + number // len(_CLASSES)) % len(style.MARKERS)]  # all pairs before one returns
        look = {"s": 7, "marker": marker, "color": color, "alpha": opacity[own], "linewidth": 0}
        ax.scatter(places[own, 0], places[own, 1], label=f"class {kind}", **look)
    if marked is not None:
        x, y = places[np.asarray(marked, dtype=bool)].T
        ax.scatter(x, y, 26, facecolor="none", edgecolor=style.INK, linewidth=0.7, label=mark)
    distinct = len(names) <= len(_CLASSES) * len(style.MARKERS)
    return layout.finish(ax, markerscale=2) if legend and distinct else ax


def _sorted(band: Band) -> tuple[Float64, ...]:
    order = np.argsort(np.asarray(band.at), kind="stable")
    return tuple(np.asarray(values, dtype=np.float64)[order] for values in band)


def _line(number: int) -> dict[str, Any]:
    return style.marked_line(number) | {"markersize": 4.5}


def model_correlation(outcomes: ModelCorrelation, *, ax: Axes | None = None) -> Axes:
    """Draw two values of many models against each other: figure 2 of arXiv:2306.13357.

    Parameters
    ----------
    found : ModelCorrelation
        From `reproduce.model_trends.model_correlation`.

    Returns
    -------
    Axes
        A mark for each model, and lines from lower to upper where ties make a difference; both axes in per cent. The
        title has both coefficients.
    """
    ax = style.quiet(style.axes(ax, (4.6, 3.8)), grid="both")
    x, y = (100 * values for values in outcomes.shown)
    ends = [(100 * each.lower, 100 * each.upper) for each in (outcomes.first, outcomes.second)]
    bound = [np.stack([value - low, high - value]) for value, (low, high) in zip((x, y), ends, strict=True)]
    if any(each.any() for each in bound):
        ax.errorbar(x, y, bound[1], bound[0], fmt="none", ecolor=style.GREY, elinewidth=0.9, label="lower to upper")
    ax.plot(x, y, "o", color=style.BLUE, markersize=5, label="a model", zorder=3)
    ax.set(xlabel=f"{outcomes.names[0]} (%)", ylabel=f"{outcomes.names[1]} (%)")
    how = f"Pearson's r {outcomes.pearson:.3f}, Spearman's rho {outcomes.spearman:.3f}"
    return layout.finish(ax, title=f"{len(x)} models: {how}")


def gap_trend(trend: GapTrend, *, confidence_level: float = 0.95, ax: Axes | None = None) -> Axes:
    """Draw the generalization gap of many models against a number of each: figure 3 of arXiv:2306.13357.

    Parameters
    ----------
    trend : GapTrend
        From `reproduce.model_trends.gap_trend`.
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
        result = [gap.interval(confidence_level=confidence_level) for gap in gaps]
        at = trend.numbers * 1.04**number if wide else trend.numbers + 0.01 * span * number  # next to each other
        shown = 100 * np.array(list(map(headline, gaps)))
        low, high = (100 * np.array(ends) for ends in zip(*((e.lower.low, e.upper.high) for e in result), strict=True))
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


def tie_states(group: reference.TieGroup, *, ax: Axes | None = None) -> Axes:
    """Draw the dynamic programme for the expected AP of one small tie group, next to its closed form.

    Every arrangement of the group is a path from left to right: a step up is a relevant item, a level step an
    irrelevant one.

    Parameters
    ----------
    group : (closer, closer_relevant, tied, tied_relevant)
        Items strictly closer to the query, the relevant ones of them, items tied, the relevant ones of them (at least
        one); at most 12 tied.

    Returns
    -------
    Axes
        Across: the position in the group, from 0. Upwards: how many of its relevant items are at this position or
        before. A cell has the probability that a path passes through it, which its colour shows too, and below it the
        probability of arriving by a relevant item, times the precision there. The title has the sum of these products,
        the value by the closed form, and both as a decimal number.

    Raises
    ------
    ValueError
        If the numbers are not those of a tie group, or more than 12 items are tied.

    References
    ----------
    The slides to Nicolaou et al. 2018, arXiv:1806.07171; `reproduce.reference.ap_expected_by_paths`.

    Examples
    --------
    >>> print(tie_states((0, 0, 3, 2)).get_title())
    expected sum of precisions: 29/18 by paths, 29/18 in closed form (1.6111)
    """
    k, n, size, m = group
    if size > _MOST_DRAWN:
        raise InvalidValueError("group", f"must have at most {_MOST_DRAWN} tied items to be drawn, but has {size}")
    before = [(0, 0, n, n)] * (n > 0)  # the rest of a whole query, with precision 1
    scale = n + m
    closed = scale * reference.ap_expected([*before, group]) - n
    states = reference.tie_states(group)
    ax = style.axes(ax, (1.2 + 1.05 * size, 1.4 + 0.95 * m))
    for state in (reference.TieState(0, 0, Fraction(1), Fraction(0), Fraction(0)), *states):
        _draw_state(ax, state, size, m)
    total = sum((state.by_hit * state.precision for state in states), Fraction(0))
    for color, label in ((style.BLUE, "the next item is relevant"), (style.GREY, "it is not")):
        ax.plot([], [], color=color, linewidth=1.2, label=label)
    title = f"expected sum of precisions: {total} by paths, {closed} in closed form ({float(total):.4f})"
    ax.set(xlabel=f"position in the group (rank {k} + position)", ylabel="relevant items so far")
    ax.set(xlim=(-0.5, size + 0.5), ylim=(-0.6, m + 0.5), xticks=range(size + 1), yticks=range(m + 1))
    return layout.finish(style.quiet(ax, grid=""), title=title)


def _draw_state(ax: Axes, state: reference.TieState, size: int, m: int) -> None:
    i, j = state.position, state.hits
    for up in (0, 1):
        if i < size and j + up <= m and (m - j - up) <= size - i - 1:
            ax.plot([i, i + 1], [j, j + up], color=(style.GREY, style.BLUE)[up], linewidth=1.2, zorder=1)
    share = 0.1 + 0.5 * float(state.through)
    shade = (1 - share) * np.array(to_rgb(style.PAPER)) + share * np.array(to_rgb(style.SKY))
    box = {"boxstyle": "round,pad=0.3", "facecolor": tuple(shade), "edgecolor": style.INK, "linewidth": 0.6}
    ax.text(i, j, str(state.through), ha="center", va="center", fontsize="medium", bbox=box, zorder=3)
    if state.by_hit:
        ax.text(i, j - 0.27, f"{state.by_hit} · {state.precision}", ha="center", va="top", fontsize="x-small", zorder=3)


def shared_legend(ax: Axes, *more: Any, title: str | None = None) -> Axes:
    handles = [*ax.get_legend_handles_labels()[0], *more]
    return layout.finish(ax, handles=handles, handlelength=3.0, title=title)
