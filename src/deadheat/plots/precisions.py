"""Plots of the same embeddings in fewer bits: the changes of a measure, and the measure against its bytes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from deadheat.analyses.comparison import compare
from deadheat.analyses.quantization import FormatComparison
from deadheat.plots import arguments, layout, style
from deadheat.plots.reports import first_measure
from deadheat.reports.report import Report
from deadheat.support import checks
from deadheat.support.arrays import Float64

_FAR = 10  # rows so many times as far out as all others leave the axis
_LOOKS = {  # of formats, by number and scale: colour, and a mark that distinguishes them in grey
    ("float64", "all"): ("INK", "*"),
    ("float32", "all"): ("INK", "o"),
    ("bfloat16", "all"): ("GREEN", "P"),
    ("float16", "all"): ("ORANGE", "X"),
    ("int8", "all"): ("BLUE", "s"),
    ("int8", "dimension"): ("BLUE", "^"),
    ("int8", "vector"): ("BLUE", "v"),
    ("1 bit", "all"): ("VERMILION", "D"),
}


def format_changes(
    reports: FormatComparison | Mapping[str, Report],
    *,
    base: str | None = None,
    measure: str | None = None,
    ax: Axes | None = None,
    **settings: Any,
) -> Axes:
    """Draw how far several reports on the same queries are from one of them, in percentage points.

    Parameters
    ----------
    reports : FormatComparison, or mapping of str to Report
        One row each, the first on top.
    base : str, optional
        The name of the report that is 0; by default that of `FormatComparison.base`, or the first.
    measure : str, optional
        By default the first that the reports were made with.
    **settings
        For `deadheat.compare`: `confidence_level`, `resample`, `n_resamples`, `seed`.

    Returns
    -------
    Axes
        A linear scale. A row is a dot at the difference of the expected values, a bar for the bounds that ties in both
        leave, and a thin line on to the ends of the paired confidence intervals; a report with exactly the ranks of
        `base` is one dot at 0. The difference is written on the right. If one row is more than ten times as far out as
        most, the axis ends before it, and an arrow marks the row.

    Examples
    --------
    >>> import deadheat as dh
    >>> points, labels = [[0.1], [0.2], [0.9], [0.8]], [0, 0, 1, 1]
    >>> found = dh.compare_formats(dh.Task(points, labels, distance="l2"), formats="int8,binary")
    >>> ax = dh.plots.format_changes(found)
    >>> [row.get_text() for row in ax.get_yticklabels()]
    ['float64', 'int8', '1 bit']
    """
    if isinstance(reports, FormatComparison):
        base = reports.base if base is None else base
        reports = reports.reports
    reports = arguments.several(reports, Report, "reports")
    names = list(reports)
    base = names[0] if base is None else checks.choice(base, names, "base")
    measure = first_measure(reports[base]) if measure is None else measure
    values = np.array([_change(report, reports[base], measure, settings) for report in reports.values()]).T
    ax = style.quiet(style.axes(ax, (6.4, 1.5 + 0.33 * len(names))), grid="x")
    inside = _inside(np.abs(values).max(axis=0))
    ax.axvline(0, color=style.INK, linewidth=0.8, zorder=0)
    rows, interval = np.arange(len(names)), f"{100 * settings.get('confidence_level', 0.95):g} % interval, with ties"
    moved = inside & (values[0] < values[4])
    ax.hlines(rows[moved], values[0, moved], values[4, moved], color=style.INK, linewidth=1, label=interval)
    style.ends(ax, np.where(inside, values[1:4], np.nan), 5)
    low, high = min(0.0, float(values[:, inside].min())), max(0.0, float(values[:, inside].max()))
    space = 0.08 * (high - low) or 1.0
    ax.set_xlim(low - space, high + space)
    for beyond, edge, marker in ((values[2] < 0, 0.0, 4), (values[2] >= 0, 1.0, 5)):  # carets to the left, to the right
        far = rows[~inside & beyond]
        if len(far):
            ax.plot(
                np.full(len(far), edge), far, linestyle="", marker=marker, markersize=8, color=style.INK,
                transform=ax.get_yaxis_transform(), clip_on=False, label="beyond the axis",
            )  # fmt: skip
    what = reports[base][measure].name
    ax.set_xlabel(f"{what}, difference to {layout.short(base)} (points)")
    most = int(np.nanargmax(np.abs(values[2]))) if np.isfinite(values[2]).any() else 0
    title = f"{what}: no difference to {layout.short(base)}"
    if values[2, most]:
        far = f"is farthest from {layout.short(base)}, {_signed(values[2, most])} points"
        title = f"{what}: {layout.short(names[most])} {far}"
    return layout.finish(ax, title=title, rows=names, column=("difference", [_signed(value) for value in values[2]]))


def _change(report: Report, base: Report, measure: str, settings: dict[str, Any]) -> list[float]:
    """Return in points: the interval's low end, lower, expected, upper, the interval's high end."""
    if report.profile == base.profile:
        return [0.0] * 5
    result = compare(report, base, measures=measure, **settings)[measure]
    interval = result.interval()
    return [100 * end for end in (interval.lower.low, result.lower, result.expected, result.upper, interval.upper.high)]


def _inside(sizes: Float64) -> NDArray[np.bool_]:
    """Return which rows the axis includes: all, or those before the first that is far out, if these are most."""
    ascending = np.sort(sizes)
    for at in range(len(sizes) // 2, len(sizes) - 1):
        if ascending[at] > 0 and ascending[at + 1] > _FAR * ascending[at]:
            return np.asarray(sizes <= ascending[at])
    return np.ones(len(sizes), dtype=np.bool_)


def _signed(points: float) -> str:
    """Format points with a sign and two decimals, or without a sign where they are too small for two decimals."""
    return "0" if points == 0 else f"{points:+.2f}".replace("-", "−") if abs(points) >= 0.005 else "≈ 0"


def measure_against_bytes(comparison: FormatComparison, measure: str | None = None, *, ax: Axes | None = None) -> Axes:
    """Draw the value of a measure in each format against the bytes that a vector takes, or against its dimensions.

    Parameters
    ----------
    comparison : FormatComparison
    measure : str, optional
        By default the first that the formats were compared in.

    Returns
    -------
    Axes
        A strip for each number of bytes, or of dimensions if there is one format, the smallest on the left, in which
        formats of this size stand side by side. A mark is the expected value (hollow with float queries), and a bar
        goes from lower to upper. A thin line goes from the base's value plus the low end of the paired interval to the
        same plus the high end: the changes that fewer bits can have made.

    Examples
    --------
    >>> import deadheat as dh
    >>> points, labels = [[0.1], [0.2], [0.9], [0.8]], [0, 0, 1, 1]
    >>> comparison = dh.compare_formats(dh.Task(points, labels, distance="l2"), formats="int8,binary")
    >>> dh.plots.measure_against_bytes(comparison, "Hit@1").get_ylabel()
    'Hit@1 (%)'
    """
    arguments.one(comparison, FormatComparison, "comparison")
    ax = style.quiet(style.axes(ax, (6.4, 4.0)))
    measure = comparison[comparison.base][comparison.measures[0] if measure is None else measure].name
    sizes = {name: comparison.bytes_per_vector(name) for name in comparison}
    strips = [[name for name in comparison if sizes[name] == size] for size in sorted(set(sizes.values()))]
    ends = np.cumsum([0, *(len(strip) + 1 for strip in strips)])
    origin, by_dim = comparison[comparison.base][measure].expected, comparison.by_dim
    labelled: set[str] = set()
    for start, strip in zip(ends, strips, strict=False):
        for at, name in enumerate(strip, start + 1):
            result, row = comparison[name][measure], comparison.steps[name].format
            change = comparison.change(name, measure)
            look, marker = _LOOKS[row.number, row.scale]
            colour = getattr(style, look)
            ax.vlines(at, 100 * (origin + change.low), 100 * (origin + change.high), color=colour, linewidth=1)
            if result.lower < result.upper:
                ax.vlines(at, 100 * result.lower, 100 * result.upper, color=colour, linewidth=4, alpha=0.35)
            face = style.PAPER if row.float_query else colour
            known = by_dim or row.name in labelled
            labelled.add(row.name)
            ax.plot(at, 100 * result.expected, marker, color=colour, markerfacecolor=face, markersize=6.5,
                    linestyle="", label=None if known else row.name)  # fmt: skip
    for end in ends[1:-1]:
        ax.axvline(end, color=style.PALE, linewidth=0.6, zorder=0)
    ticks = {name: step.dim for name, step in comparison.steps.items()} if by_dim else sizes
    ax.set_xticks((ends[:-1] + ends[1:]) / 2, [f"{ticks[strip[0]]:,}" for strip in strips])
    ax.tick_params(axis="x", length=0)
    ax.set(xlabel="dimensions" if by_dim else "bytes per vector" if comparison.distance else "bytes per score",
           ylabel=f"{measure} (%)", xlim=(0, ends[-1]))  # fmt: skip
    level = 100 * comparison.comparisons[comparison.base].test.confidence_level
    lines = [Line2D([], [], color=style.GREY, label=f"{level:g} % interval of the difference to {comparison.base}")]
    if any(report.ties.mixed_groups for report in comparison.reports.values()):
        lines.insert(0, Line2D([], [], color=style.GREY, linewidth=4, alpha=0.5, label=style.TIES))
    handles = [*ax.get_legend_handles_labels()[0], *lines]
    small = strips[0][0]
    takes = f"{small} {'take' if by_dim else 'takes'} {sizes[small]:,} of {sizes[comparison.base]:,} bytes"
    points = _signed(100 * comparison.change(small, measure).expected)
    return layout.finish(ax, title=f"{takes}: {measure} {points} points", handles=handles)
