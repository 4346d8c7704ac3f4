"""Plots of confidences: the error under rejection, calibration, and the share of items in credible regions.

A band goes from lower to upper, the bounds that ties leave. `legend=False` leaves the legend to the caller; everything
has a label for it.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from matplotlib.axes import Axes

from deadheat.analyses.confidence.hits import Calibration
from deadheat.analyses.confidence.regions import CredibleRecall
from deadheat.analyses.confidence.rejecting import RejectCurve
from deadheat.plots import arguments, layout, style
from deadheat.reports.tables import value
from deadheat.support import checks

_DIAGONAL = "as draws"


def error_reject(
    curve: RejectCurve,
    *,
    ax: Axes | None = None,
    label: str = "by confidence",
    number: int = 0,
    references: bool = True,
    legend: bool = True,
) -> Axes:
    """Draw the mean error of the queries that are kept against the share that is rejected.

    The vertical axis fits the lines where at least one query in fifty is kept; elsewhere they, and bands, can leave it.

    Parameters
    ----------
    curve : RejectCurve
    label : str
        In the legend. The line is the expected error, or the upper bound where the values have no expectation.
    number : int
        The index of the curve in the picture, which selects its colour and line style.
    references : bool
        Also draw the perfect order and a random one.
    legend : bool
        Name each line with the area under it, the mean over all shares: ERC, also called AURC. Where ties affect it,
        its bounds follow.

    Examples
    --------
    >>> import deadheat as dh
    >>> curve = dh.confidence.error_reject_curve([1, 0, 1, 0], [3, 2, 2, 1])
    >>> for text in dh.plots.error_reject(curve).get_legend().get_texts():
    ...     print(text.get_text())
    random order: area 50.00 %
    perfect order: area 20.83 %
    by confidence: area 27.08 [20.83, 33.33] %
    lower to upper: ties
    """
    return _curve(curve, "rejected", "rejected queries", ax, label, number, references, legend)


def risk_coverage(
    curve: RejectCurve,
    *,
    ax: Axes | None = None,
    label: str = "by confidence",
    number: int = 0,
    references: bool = True,
    legend: bool = True,
) -> Axes:
    """Draw the mean error (risk) of the queries that are kept against their share; parameters as in `error_reject`."""
    return _curve(curve, "coverage", "kept queries (coverage)", ax, label, number, references, legend)


def _curve(
    curve: RejectCurve, across: str, what: str, ax: Axes | None, label: str, number: int, references: bool, legend: bool
) -> Axes:
    arguments.one(curve, RejectCurve, "curve")
    label = arguments.drawable(checks.text(label, "label"))
    references, legend = checks.flag(references, "references"), checks.flag(legend, "legend")
    drawn, x = style.line(checks.whole_number(number, "number")), getattr(curve, across)
    ax = style.quiet(style.axes(ax))
    if references:
        random: dict[str, Any] = {"color": style.GREY, "linestyle": style.DOTTED, "linewidth": 1.2}
        perfect: dict[str, Any] = {"color": style.INK, "linestyle": style.DASHED, "linewidth": 1.0}
        ax.axhline(curve.random_area.upper, label=f"random order: area {value(curve.random_area)} %", **random)
        ax.plot(x, curve.optimal.upper, label=f"perfect order: area {value(curve.optimal_area)} %", **perfect)
        if curve.n_open:
            ax.plot(x, curve.optimal.lower, **perfect)
            ax.axhline(curve.random_area.lower, **random)
    middle = curve.upper if np.isnan(curve.expected).any() else curve.expected
    ax.plot(x, middle, linewidth=1.6, label=f"{label}: area {value(curve.area)} %", **drawn)
    style.band(ax, x, curve.lower, curve.upper, drawn["color"])
    ax.set(xlabel=f"{what} (%)", ylabel="error of the kept (%)", xlim=(0, 1))
    highest = max(middle[curve.n_query // 50 :].max(initial=0.0), curve.random_area.upper)
    areas = np.array([curve.random_area, curve.area, curve.optimal_area])  # each with its lower, expected and upper
    by_chance, own, best = areas[:, 2 if np.isnan(areas[:, 1]).any() else 1]
    gain, most = by_chance - own, by_chance - best
    title = None
    if references and most > 0:
        saves = f"{'saves' if gain >= 0 else 'costs'} {100 * abs(gain):.1f}"
        title = f"Rejecting {layout.short(label)} {saves} points of area, the perfect order saves {100 * most:.1f}"
    before = ax.get_ylim()[1] if ax.get_ylim()[0] == 0 else 0.0  # of the curves that are there already
    ax.set_ylim(0, max(min(1.2 * highest, 1.03), before))
    style.per_cent_axes(ax)
    return layout.finish(ax, title=title) if legend else ax


def reliability(
    calibration: Calibration, *, ax: Axes | None = None, label: str = "queries", legend: bool = True
) -> Axes:
    """Draw the share of right queries in each bin against its mean confidence, both in per cent.

    The area of a mark shows the number of queries; a vertical line goes from lower to upper, as distance ties allow.
    """
    arguments.one(calibration, Calibration, "calibration")
    label = arguments.drawable(checks.text(label, "label"))
    legend, colour = checks.flag(legend, "legend"), style.line(0)["color"]
    ax = _square(ax, "mean confidence of the bin (%)", "right queries (%)")
    ax.plot([0, 1], [0, 1], color=style.GREY, linestyle=style.DOTTED, label="as confident as right")
    filled = calibration.count > 0
    x, (lower, expected, upper) = calibration.confidence[filled], (array[filled] for array in calibration.right)
    middle = np.where(np.isnan(expected), (lower + upper) / 2, expected)
    style.tie_lines(ax.vlines, x, lower, upper, color=colour, linewidth=2)
    ax.plot(x, middle, color=colour, linewidth=1.2)
    counts, largest = calibration.count[filled], int(calibration.count.max(initial=1))
    size = 14 + 160 * counts / largest
    shown = f"{label} of a bin: area by number, {counts.min(initial=largest)} to {largest}"
    ax.scatter(x, middle, s=size, color=colour, edgecolor=style.PAPER, linewidth=0.6, zorder=3, label=shown)
    title = f"Confidence is off by {value(calibration.ece, 1)} % on average (ECE)"
    return layout.finish(ax, markerscale=0.6, title=title) if legend else ax


def credible_recall(
    result: CredibleRecall,
    *,
    ax: Axes | None = None,
    label: str = "relevant",
    number: int = 0,
    others: bool = True,
    legend: bool = True,
) -> Axes:
    """Draw the share of relevant items in the highest density regions against the mass of these, both in per cent.

    On the diagonal, relevant items lie as draws from the posteriors do.

    Parameters
    ----------
    result : CredibleRecall
    label : str
        In the legend. The line is the expected share, or the upper bound where there is none; the band goes from lower
        to upper, which ties at the ends of regions decide.
    number : int
        The index of the curve in the picture, which selects its colour and line style.
    others : bool
        Also draw the share of all other items, dotted.
    legend : bool

    Examples
    --------
    >>> import deadheat as dh
    >>> result = dh.confidence.credible_recall([[3, 1]], [[4, 3, 2, 0]], [[1, 0]], masses=[0.25, 0.5, 0.9])
    >>> ax = dh.plots.credible_recall(result)
    >>> ax.get_legend_handles_labels()[1]
    ['as draws', 'relevant', 'lower to upper: ties', 'relevant: others']
    """
    arguments.one(result, CredibleRecall, "result")
    label = arguments.drawable(checks.text(label, "label"))
    others, legend = checks.flag(others, "others"), checks.flag(legend, "legend")
    drawn = style.marked_line(checks.whole_number(number, "number"))
    ax = _square(ax, "mass of the region (%)", "items inside (%)")
    if not any(line.get_label() == _DIAGONAL for line in ax.get_lines()):
        ax.plot([0, 1], [0, 1], color=style.GREY, linewidth=1.0, label=_DIAGONAL)
    lower, expected, upper = result.relevant
    middle = np.where(np.isnan(expected), upper, expected)
    ax.plot(result.masses, middle, markersize=4, linewidth=1.6, label=label, **drawn)
    style.band(ax, result.masses, lower, upper, drawn["color"])
    if others:
        look = {"color": drawn["color"], "linestyle": style.DOTTED, "linewidth": 1.2}
        ax.plot(result.masses, result.others.upper, label=f"{label}: others", **look)
    return layout.finish(ax) if legend else ax


def _square(ax: Axes | None, xlabel: str, ylabel: str) -> Axes:
    """Return axes from 0 to 100 % in both directions: those given, or new ones that are square."""
    aspect: Literal["auto", "equal"] = "equal" if ax is None else "auto"
    ax = style.quiet(style.axes(ax, (3.8, 4.2)), grid="both")
    ax.set(xlabel=xlabel, ylabel=ylabel, xlim=(-0.03, 1.03), ylim=(-0.03, 1.05), aspect=aspect)
    style.per_cent_axes(ax)
    return ax
