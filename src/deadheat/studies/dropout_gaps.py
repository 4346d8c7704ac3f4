"""Hit@1 of two sets of embeddings, plain and in groups, and of random subsets: tables, pictures, findings."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from deadheat.analyses.gaps import Gap, generalization_gap
from deadheat.analyses.grouped import grouped
from deadheat.plots import style
from deadheat.plots.grouped import Band, measure_against_classes
from deadheat.reports.evaluating import evaluate
from deadheat.studies import published
from deadheat.studies.study import LEVEL, Finding, Mark, Picture, Table

MEASURE, GROUP_SIZE, REPEATS = "Hit@1", 10, 10
PLAIN, GROUPED = "plain", f"in groups of {GROUP_SIZE}"
_SEED = 5


class Values(NamedTuple):
    """One measure on two sets, as fractions: the values, their difference, its interval and the bound on it.

    The first three are expectations over ties. `least` and `most` are the bounds of the difference over tie-breakings;
    the interval and the bound on its size hold for all of them.
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
    """Two sets of embeddings from one network; `dropout` and `seed` are None where unknown."""

    dropout: float | None
    seed: int | None
    n_train: int
    n_test: int
    plain: Values
    grouped: Values


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
    gap = generalization_gap(
        *train, *test, group_size=GROUP_SIZE, measure=MEASURE, seed=_SEED, repeats=REPEATS, threads=threads
    )
    sizes = gap.train_groups.n_class, gap.test_groups.n_class
    return Compared(dropout, seed, *sizes, _sides(gap.plain), _sides(gap.grouped))


def _sides(gap: Gap) -> Values:
    interval = gap.interval(confidence_level=LEVEL)
    low, high = interval.lower.low, interval.upper.high
    values = gap.train.expected, gap.test.expected, gap.expected
    return Values(*values, low, high, gap.bound(confidence_level=LEVEL), gap.lower, gap.upper)


def by_kind(rows: Sequence[Compared]) -> dict[str, list[Values]]:
    return {PLAIN: [row.plain for row in rows], GROUPED: [row.grouped for row in rows]}


def both_gaps(row: Compared) -> str:
    return f"{PLAIN} {_points(row.plain)}; {GROUPED} {_points(row.grouped)} points"


def printed_gaps(dropout: float | None) -> str:
    """The gaps in Table 2 of the paper for an amount of dropout; empty where it has no such row."""
    row = None if dropout is None else published.DROPOUTS.get(dropout)
    if row is None:
        return ""
    return f"{PLAIN} {row.gap_recall:.1f}; {GROUPED} {row.gap_grouped:.1f} points"


def _points(side: Values) -> str:
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
        f"{case.caption} Gap: train less test, expected over ties; at least, at most: bounds over tie-breakings. The "
        "95 % interval and the bound on the size of the gap hold for all of these."
    )
    return Table(case.name, caption, columns, rows, percent=columns[len(about) :])


def cases_figure(cases: Sequence[Case]) -> Figure:
    """One row per case: values on the left, gaps with intervals on the right, both against dropout."""
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
    style.quiet(ax)
    ax.set_xlim(-0.4, len(rows) - 0.6)
    ax.set_xticks(range(len(rows)), ["not known" if row.dropout is None else f"{row.dropout:g}" for row in rows])


def legend(figure: Figure, ax: Axes) -> Figure:
    """A legend above the figure, from one of its axes: plain on the left, in groups on the right."""
    figure.legend(*ax.get_legend_handles_labels(), loc="outside upper left", ncols=2, frameon=False, fontsize="small",
                  handlelength=3.2)  # fmt: skip
    return figure


# ---------------------------------------------------------------------------------------------------------------------
# Hit@1 of random subsets of the words, against how many words there are


def by_size(sets: dict[str, Sample], sizes: tuple[int, ...], n_draw: int, threads: int | None) -> dict[str, Band]:
    """Each set of words, plain and in groups, against the number of words in a random subset."""
    bands = {}
    for name, sample in sets.items():
        draws = [[subset_values(sample, size, draw, threads) for draw in range(n_draw)] for size in sizes]
        for at, kind in enumerate((PLAIN, GROUPED)):
            values = [[value[at] for value in drawn] for drawn in draws]
            low, high = np.quantile(values, [0.025, 0.975], axis=1)
            bands[f"{name}, {kind}"] = Band(sizes, np.mean(values, axis=1), low, high)
    return bands


def subset_values(sample: Sample, size: int, draw: int, threads: int | None) -> tuple[float, float]:
    """Hit@1 of `size` words drawn at random: plain, and in groups."""
    words = np.unique(sample.labels)
    chosen = np.random.default_rng([_SEED, size, draw]).choice(words, size, replace=False)
    rows = np.isin(sample.labels, chosen)
    part = Sample(sample.embeddings[rows], sample.labels[rows])
    plain = evaluate(*part, measures=MEASURE, threads=threads)
    inside = grouped(*part, group_size=GROUP_SIZE, measures=MEASURE, seed=draw, threads=threads)
    return plain[MEASURE].expected, inside[MEASURE].expected


def sizes_picture(by_size: dict[str, dict[str, Band]], n_learned: int, n_draw: int) -> Picture:
    figure = style.figure(7.6, 3.6)
    axes = figure.subplots(1, len(by_size), sharey=True, squeeze=False)[0]
    for ax, (name, bands) in zip(axes, by_size.items(), strict=True):
        measure_against_classes(bands, measure=MEASURE, ax=ax)
        ax.set_xlabel(f"words ({name})")
        ax.get_legend().remove()
    lowest = 100 * min(np.min(band.low) for bands in by_size.values() for band in bands.values())
    axes[0].set_ylim(10 * np.floor(lowest / 10), 102)  # so that no mark at 100 is cut
    for ax in axes[1:]:
        ax.set_ylabel("")
    legend(figure, axes[0])
    caption = (
        f"{MEASURE} of random subsets of the words, plain and in groups of {GROUP_SIZE} words, by a network that "
        f"learned {n_learned} words. Lines: means of {n_draw} draws; bands: the middle 95 % of the draws."
    )
    return Picture("size", caption, figure)


def sizes_findings(by_size: dict[str, dict[str, Band]], n_draw: int) -> list[Finding]:
    found = []
    for name, bands in by_size.items():
        for kind in (PLAIN, GROUPED):
            band = bands[f"unseen, {kind}"]
            at, value = np.asarray(band.at), 100 * np.asarray(band.value)
            found.append(
                Finding(
                    f"{name}, unseen words: {MEASURE} {kind} of {at[0]} and of {at[-1]} words",
                    f"{value[0]:.1f} % and {value[-1]:.1f} %",
                    Mark.OTHER_DATA,
                    "falls as classes are added" if kind == PLAIN else "does not fall",
                    "arXiv:2306.13357, figure 1, which prints no values",
                    f"means of {n_draw} draws",
                )
            )
        gaps = [
            float(np.asarray(bands[f"learned, {kind}"].value)[-1] - np.asarray(bands[f"unseen, {kind}"].value)[-1])
            for kind in (PLAIN, GROUPED)
        ]
        here = f"{PLAIN} {100 * gaps[0]:.1f}, {GROUPED} {100 * gaps[1]:.1f} points"
        why = "sets of the same size are comparable without groups too, but the gap is for this size only"
        found.append(Finding(f"{name}, {at[-1]} words each, learned less unseen", here, Mark.OTHER_DATA, why=why))
    return found


def sizes_table(by_size: dict[str, dict[str, Band]]) -> Table:
    rows = [
        [name, *line.split(", "), *row]
        for name, bands in by_size.items()
        for line, band in bands.items()
        for row in np.stack([np.asarray(column, dtype=np.float64) for column in band], axis=1).tolist()
    ]
    columns = ["network", "words", "measure", "number of words", MEASURE, "2.5th percentile", "97.5th percentile"]
    return Table("size", f"{MEASURE} of random subsets of the words.", columns, rows, percent=columns[4:])
