"""The size figure: Hit@1 of random subsets of the words, plain and in groups, against how many words there are."""

from __future__ import annotations

import numpy as np

from deadheat import evaluate, grouped, plots
from deadheat.plots import Band, style
from deadheat.studies.dropout.compared import GROUP_SIZE, GROUPED, MEASURE, PLAIN, Sample, legend
from deadheat.studies.dropout.network import Embedded
from deadheat.studies.study import Finding, Mark, Picture, Table

_SEED = 5


def by_size(embedded: Embedded, sizes: tuple[int, ...], n_draw: int, threads: int | None) -> dict[str, Band]:
    """Learned and unseen words, plain and in groups, against the number of words in a random subset."""
    bands = {}
    for name, sample in (
        ("learned", Sample(embedded.train, embedded.train_labels)),
        ("unseen", Sample(embedded.test, embedded.test_labels)),
    ):
        draws = [[subset_values(sample, size, draw, threads) for draw in range(n_draw)] for size in sizes]
        for at, kind in enumerate((PLAIN, GROUPED)):
            values = [[value[at] for value in drawn] for drawn in draws]
            low, high = np.quantile(values, [0.025, 0.975], axis=1)
            bands[f"{name}, {kind}"] = Band(sizes, np.mean(values, axis=1), low, high)
    return bands


def subset_values(sample: Sample, size: int, draw: int, threads: int | None) -> tuple[float, float]:
    """Hit@1 of so many words drawn at random: plain, and in groups."""
    words = np.unique(sample.labels)
    chosen = np.random.default_rng([_SEED, size, draw]).choice(words, size, replace=False)
    rows = np.isin(sample.labels, chosen)
    part = Sample(sample.embeddings[rows], sample.labels[rows])
    plain = evaluate(*part, measures=MEASURE, threads=threads)
    inside = grouped(*part, group_size=GROUP_SIZE, measures=MEASURE, seed=draw, threads=threads)
    return plain[MEASURE].expected, inside[MEASURE].expected


def picture(by_size: dict[str, dict[str, Band]], n_learned: int, n_draw: int) -> Picture:
    """The size figure: a panel a network."""
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
    legend(figure, axes[0])
    caption = (
        f"{MEASURE} of random subsets of the words, plain and in groups of {GROUP_SIZE} words, by a network that "
        f"learned {n_learned} words. Lines: means of {n_draw} draws; bands: the middle 95 % of the draws."
    )
    return Picture("size", caption, figure)


def findings(by_size: dict[str, dict[str, Band]], n_draw: int) -> list[Finding]:
    """How far each measure falls over the sizes, and the gap of sets of the same size."""
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
        why = "sets of the same size compare without groups too, but the gap is that of this size alone"
        found.append(Finding(f"{name}, {at[-1]} words each, learned less unseen", here, Mark.OTHER_DATA, why=why))
    return found


def table(by_size: dict[str, dict[str, Band]]) -> Table:
    rows = [
        [name, *line.split(", "), *row]
        for name, bands in by_size.items()
        for line, band in bands.items()
        for row in np.stack([np.asarray(column, dtype=np.float64) for column in band], axis=1).tolist()
    ]
    columns = ["network", "words", "measure", "number of words", MEASURE, "2.5 % of draws below", "97.5 % below"]
    return Table("size", f"{MEASURE} of random subsets of the words.", columns, rows, percent=columns[4:])
