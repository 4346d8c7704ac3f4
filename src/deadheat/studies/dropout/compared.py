"""Two sets of embeddings compared: Hit@1 plain and in groups, the gap of each, and the table and picture of both."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from deadheat import generalization_gap
from deadheat.analyses.grouped import Gap
from deadheat.plots import style
from deadheat.studies import published
from deadheat.studies.study import Table

MEASURE, GROUP_SIZE, REPEATS, LEVEL = "Hit@1", 10, 10, 0.95
PLAIN, GROUPED = "plain", f"in groups of {GROUP_SIZE}"
_SEED = 5


class Sides(NamedTuple):
    """One measure on two sets, as fractions: the values, their difference, its interval and the bound on it.

    The first three are expectations over ties. `least` and `most` are what the difference can be however the ties
    fall; the interval and the bound hold for all of that.
    """

    train: float
    test: float
    gap: float
    low: float
    high: float
    bound: float
    least: float
    most: float


class Compared(NamedTuple):
    """Two sets of embeddings from one network; `dropout` and `seed` are None where they are not known."""

    dropout: float | None
    seed: int | None
    n_train: int
    n_test: int
    plain: Sides
    grouped: Sides


class Case(NamedTuple):
    """Comparisons of the same two sets of classes under different networks; `name` is also a file's name."""

    name: str
    caption: str
    rows: list[Compared]


class Sample(NamedTuple):
    """Embeddings (n, dim) and labels (n,)."""

    embeddings: Any
    labels: NDArray[Any]


def compare(
    train: Sample, test: Sample, *, dropout: float | None = None, seed: int | None = None, threads: int | None = None
) -> Compared:
    """Hit@1 of two sets of embeddings, plain and in groups, and the gap of each."""
    gap = generalization_gap(
        *train, *test, group_size=GROUP_SIZE, measure=MEASURE, seed=_SEED, repeats=REPEATS, threads=threads
    )
    sizes = gap.train_groups.n_class, gap.test_groups.n_class
    return Compared(dropout, seed, *sizes, _sides(gap.plain), _sides(gap.grouped))


def _sides(gap: Gap) -> Sides:
    interval = gap.interval(confidence_level=LEVEL)
    low, high = interval.lower.low, interval.upper.high
    values = gap.train.expected, gap.test.expected, gap.expected
    return Sides(*values, low, high, gap.bound(confidence_level=LEVEL), gap.lower, gap.upper)


def by_kind(rows: Sequence[Compared]) -> dict[str, list[Sides]]:
    return {PLAIN: [row.plain for row in rows], GROUPED: [row.grouped for row in rows]}


def both_gaps(row: Compared) -> str:
    """Both gaps as a person reads them, in percentage points."""
    told = (f"{name} {_points(side)}" for name, side in ((PLAIN, row.plain), (GROUPED, row.grouped)))
    return f"{'; '.join(told)} points"


def printed_gaps(dropout: float | None) -> str:
    """What Table 2 of the paper has for an amount of dropout; nothing where it has no such row."""
    row = None if dropout is None else published.DROPOUTS.get(dropout)
    if row is None:
        return ""
    return f"{PLAIN} {row.gap_recall:.1f}; {GROUPED} {row.gap_grouped:.1f} points"


def _points(side: Sides) -> str:
    around = "no interval" if math.isnan(side.low) else f"{100 * side.low:.1f} to {100 * side.high:.1f}"
    return f"{100 * side.gap:.1f} ({around})"


def table_of(case: Case) -> Table:
    """One row for each network and measure; fractions."""
    about = ["train classes", "test classes", "dropout", "training", "measure"]
    columns = [*about, "train", "test", "gap", "95 % from", "to", "bound", "gap at least", "gap at most"]
    rows = [
        [row.n_train, row.n_test, row.dropout, row.seed, name, *side]
        for row in case.rows
        for name, side in ((MEASURE, row.plain), (f"{MEASURE} {GROUPED}", row.grouped))
    ]
    caption = (
        f"{case.caption} Gap: train less test, expected over ties; at least, at most: however the ties fall. The "
        "95 % interval and the bound on the size of the gap hold for all of that."
    )
    return Table(case.name, caption, columns, rows, percent=columns[len(about) :])


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
    return legend(figure, grid[0, 0])


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


def legend(figure: Figure, ax: Axes) -> Figure:
    """The names on one of the axes, above the figure: plain on the left, in groups on the right."""
    figure.legend(*ax.get_legend_handles_labels(), loc="outside upper left", ncols=2, frameon=False, fontsize="small",
                  handlelength=3.2)  # fmt: skip
    return figure
