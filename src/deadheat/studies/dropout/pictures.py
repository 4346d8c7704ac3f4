"""The pictures of comparisons: values and gaps against dropout, and measures against the number of words.

In come cases and bands; out go figures.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from deadheat import plots
from deadheat.plots import Band, style
from deadheat.studies.dropout.compared import MEASURE, Case, Compared, by_kind


def cases_figure(cases: Sequence[Case]) -> Figure:
    """A row a case: values on the left, gaps with intervals on the right, both against dropout."""
    figure = style.figure(7.6, 0.7 + 2.3 * len(cases))
    grid = figure.subplots(len(cases), 2, squeeze=False, sharex="row")
    for (left, right), case in zip(grid, cases, strict=True):
        _draw_values(left, case)
        _draw_gaps(right, case)
        left.set_title(case.caption.rstrip("."), fontsize="small", loc="left")
    for ax in grid[-1]:
        ax.set_xlabel("dropout")
    return _legend(figure, grid[0, 0])


def _draw_values(ax: Axes, case: Case) -> None:
    """Hit@1 of both sets, plain and in groups, in the first training."""
    rows = [row for row in case.rows if not row.seed]
    for number, (kind, sides) in enumerate(by_kind(rows).items()):
        look: dict[str, Any] = {"color": style.CYCLE[1 - number], "marker": style.MARKERS[1 - number]}
        ax.plot([100 * s.train for s in sides], "-", label=f"train, {kind}", **look)
        ax.plot([100 * s.test for s in sides], "--", label=f"test, {kind}", mfc="white", **look)
    ax.set_ylabel(f"{MEASURE} (%)")
    _dropouts(ax, rows)


def _draw_gaps(ax: Axes, case: Case) -> None:
    """The gaps of the first training with their intervals, and those of the others as small marks."""
    rows = [row for row in case.rows if not row.seed]
    places = {row.dropout: place for place, row in enumerate(rows)}
    ax.axhline(0, color=style.INK, linewidth=0.8)
    for number, (kind, sides) in enumerate(by_kind(rows).items()):
        shift, colour = 0.16 * number - 0.08, style.CYCLE[1 - number]
        marker = style.MARKERS[1 - number]
        values, low, high = (100 * np.array([getattr(s, name) for s in sides]) for name in ("gap", "low", "high"))
        ax.errorbar(np.arange(len(rows)) + shift, values, [values - low, high - values], color=colour, marker=marker,
                    linestyle=":", linewidth=0.9, elinewidth=1.1, capsize=2.5)  # fmt: skip
        later = [row for row in case.rows if row.seed]
        at = [places[row.dropout] + shift * 2.6 for row in later]
        ax.plot(at, [100 * s.gap for s in by_kind(later)[kind]], linestyle="", color=colour, marker=marker,
                markersize=3.5, mfc="white")  # fmt: skip
    ax.set_ylabel("train less test (points)")
    _dropouts(ax, rows)


def _dropouts(ax: Axes, rows: Sequence[Compared]) -> None:
    """A place on the horizontal axis for each amount."""
    style.quiet(ax)
    ax.set_xlim(-0.4, len(rows) - 0.6)
    ax.set_xticks(range(len(rows)), ["not told" if row.dropout is None else f"{row.dropout:g}" for row in rows])


def sizes_figure(by_size: dict[str, dict[str, Band]]) -> Figure:
    figure = style.figure(7.6, 3.6)
    axes = figure.subplots(1, len(by_size), sharey=True, squeeze=False)[0]
    for ax, (name, bands) in zip(axes, by_size.items(), strict=True):
        plots.measure_against_classes(bands, measure=MEASURE, ax=ax)
        ax.set_xlabel(f"words ({name})")
        ax.get_legend().remove()
    lowest = 100 * min(np.min(band.low) for bands in by_size.values() for band in bands.values())
    axes[0].set_ylim(10 * np.floor(lowest / 10), 102)  # so that no mark at 100 is cut
    for ax in axes[1:]:
        ax.set_ylabel("")
    return _legend(figure, axes[0])


def _legend(figure: Figure, ax: Axes) -> Figure:
    """The names on one of the axes, above the figure: plain on the left, in groups on the right."""
    figure.legend(*ax.get_legend_handles_labels(), loc="outside upper left", ncols=2, frameon=False, fontsize="small",
                  handlelength=3.2)  # fmt: skip
    return figure
