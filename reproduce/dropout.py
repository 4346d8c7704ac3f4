"""The dropout table and the size figure: is the gap between train and test overfitting, or the number of classes?

Input: embeddings of train and test sets, from files or, in place of the paper's data, from networks trained here on
pictures of words. Output: the gap of the plain and of the grouped measure for each amount of dropout, and both measures
against the number of classes.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from deadheat.analyses.gaps import generalization_gap
from deadheat.analyses.grouped import grouped
from deadheat.engine.task import Task
from deadheat.errors import FileError, InvalidValueError
from deadheat.inputs.samples import read
from deadheat.plots import style
from deadheat.reports.evaluating import evaluate
from reproduce import by_z
from reproduce import dropout_network as network
from reproduce.dropout_network import Embedded, Pictures, Recipe
from reproduce.grouped_populations import (
    DROPOUTS,
    GROUP_SIZE,
    GROUPED,
    IMAGE_SETS,
    MEASURE,
    PAPER,
    PLAIN,
    TABLE_2,
    Dropout,
    ends,
)
from reproduce.plots import Band, measure_against_classes
from reproduce.study import LEVEL, Finding, Mark, Outcome, Picture, Setting, Table, joined, missing

TITLE = "Dropout, and the gap between train and test"
SOURCE = PAPER
ABOUT = (
    "A network that overfits its training classes retrieves them better than new ones. Recall@1 (Hit@1) should show "
    "this as a gap between train and test, but it also falls with the number of classes, so that the gap between sets "
    "of different sizes mixes both. In groups of 10 classes the sets are comparable. The table has both gaps for "
    "several amounts of dropout."
)
NEEDS = ("PIL", "scipy")

_OF_TABLE_2 = "CIFAR-100"
_SEED, _REPEATS = 5, 10
_FILE = re.compile(r"(?P<stem>[a-z0-9]+)(-dropout(?P<dropout>[0-9.]+))?-(?P<part>train|test)\.(npz|csv|tsv|parquet)")


class Extent(NamedTuple):
    many: int  # words
    few: int
    per_word: int  # pictures
    epochs: int
    batch: int
    dropouts: tuple[float, ...]
    seeds: int  # trainings of each kind
    sizes: tuple[int, ...]  # words in a subset, up to `many`
    draws: int  # of subsets of each size


FULL = Extent(400, 100, 16, 16, 64, (0.0, 0.2, 0.5, 0.8), 2, (10, 20, 50, 100, 200, 400), 20)
QUICK = Extent(60, 30, 8, 6, 16, (0.0, 0.5), 1, (10, 20, 40, 60), 3)


def run(setting: Setting) -> Outcome:
    return joined([of_words(setting, QUICK if setting.quick else FULL), from_files(setting)])


def from_files(setting: Setting) -> Outcome:
    return joined(_by_files(setting, name, stem) for name, stem in IMAGE_SETS.items())


def _by_files(setting: Setting, name: str, stem: str) -> Outcome:
    case = Case(f"{stem}-dropout", f"{name}, from files.", [])
    findings = []
    pairs = _pairs(setting.data, stem) or {None: {}}
    for dropout in sorted(pairs, key=lambda value: -1.0 if value is None else value):
        about = f"{name}{'' if dropout is None else f', dropout {dropout:g}'}: gap of {MEASURE}"
        printed, source = printed_gaps(dropout) if name == _OF_TABLE_2 else ("", "")
        variant = "" if dropout is None else f"-dropout{dropout:g}"
        wanted = [f"{stem}{variant}-{part}.npz" for part in ("train", "test") if part not in pairs[dropout]]
        if wanted:
            findings.append(missing(about, " and ".join(wanted), published=printed, source=source))
            continue
        setting.say(f"  {about}")
        train, test = (Sample(*read(pairs[dropout][part])) for part in ("train", "test"))
        try:
            case.rows.append(compare(train, test, dropout=dropout, threads=setting.threads))
        except ValueError as error:
            raise FileError(pairs[dropout]["train"], f" and {pairs[dropout]['test']}: {error}") from None
        why = "embeddings from files, not the paper's"
        findings.append(Finding(about, both_gaps(case.rows[-1]), Mark.OTHER_DATA, printed, source, why))
    if not case.rows:
        return Outcome(findings)
    picture = Picture(case.name, f"{case.caption} Hit@1 and its gap.", cases_figure([case]))
    return Outcome(findings, [picture], [table_of(case)])


def _pairs(folder: Path | None, stem: str) -> dict[float | None, dict[str, Path]]:
    """The files of a data set by dropout (None where the name has none), and by train and test.

    Of several formats, ``.npz`` is taken.
    """
    pairs: dict[float | None, dict[str, Path]] = {}
    for path in sorted(folder.iterdir(), key=lambda path: (path.suffix != ".npz", path.name)) if folder else ():
        result = _FILE.fullmatch(path.name)
        if result and result["stem"] == stem and path.is_file():
            text = result["dropout"]
            try:
                dropout = None if text is None else float(text)
            except ValueError:
                rule = f"must be a number such as 0.5, but is {text!r}"
                raise InvalidValueError("a file's dropout", rule) from None
            pairs.setdefault(dropout, {}).setdefault(result["part"], path)
    return pairs


# ---------------------------------------------------------------------------------------------------------------------
# in place of the paper's data: networks that learn pictures of words, and embed other words


def of_words(setting: Setting, extent: Extent) -> Outcome:
    words = render(setting, extent)
    about = "Words as drawn by the fonts (left, one font per column), and distorted, as the networks see them (right)."
    sheet = Picture("words", about, contact_sheet(words))
    text = (
        "CARS196, CUB200, InShop, SOP and CIFAR-100 are read as files of embeddings in the folder given as --data "
        "(cars196-train.npz and cars196-test.npz; cars196-dropout0.5-train.npz and so on). In their place, "
        f"pseudo-words are the classes, each drawn {extent.per_word} times in fonts of the system "
        f"({len(words.fonts)} here), slanted, stretched, blurred and noisy. A small convolutional network learns some "
        "of the words, and never sees the others. It shows the effect; its values are not those of the paper, and they "
        "change with the fonts and the version of PyTorch."
    )
    columns = ["dropout", *Dropout._fields]
    rows = [[dropout, *(value / 100 for value in row)] for dropout, row in DROPOUTS.items()]
    caption = "Table 2 of the paper, as printed: ResNet34 on CIFAR-100; gaps are train less test"
    printed = Table("table-2", caption, columns, rows, percent=columns[1:])
    if not network.is_installed():
        why = "PyTorch is not installed: pip install 'deadheat[torch]'"
        what = ("words: the table of dropouts", "words: the size figure")
        return Outcome([Finding(each, "", Mark.NO_DATA, why=why) for each in what], [sheet], [printed], [text])
    cases, sizes = _measure(setting, extent, words)
    caption = (
        f"Left: {MEASURE} against dropout, filled marks for train and open ones for test, in the first of "
        f"{extent.seeds} trainings. Right: train less test, with 95 % intervals over the words; small open marks are "
        "other trainings. In the last row neither set was learned: a gap there is not overfitting."
    )
    table = Picture("dropout", caption, cases_figure(cases))
    many, _, unseen = (by_kind(case.rows) for case in cases)
    ranges = [
        f"{100 * min(side.gap for side in sides):.1f} to {100 * max(side.gap for side in sides):.1f}"
        for sides in (many[PLAIN], many[GROUPED], unseen[PLAIN], unseen[GROUPED])
    ]
    conclusion = (
        f"The plain gap mixes overfitting with the number of classes: for many learned words it is {ranges[0]} points "
        f"by dropout, {GROUPED} {ranges[1]}. Between two sets of unseen words, where nothing can be overfitted, it is "
        f"still {ranges[2]} points; {GROUPED} {ranges[3]}."
    )
    ours = Outcome(of_cases(cases), [sheet, table], [printed, *map(table_of, cases)])
    return joined([ours, of_sizes(sizes, extent.many, extent.draws)], [text], conclusion)


def _measure(setting: Setting, extent: Extent, words: Words) -> tuple[list[Case], dict[str, dict[str, Band]]]:
    many, few = extent.many, extent.few
    cases = [
        Case("many-learned", f"{many} learned words against {few} unseen ones.", []),
        Case("few-learned", f"{few} learned words against {many} unseen ones.", []),
        Case("unseen", f"{few} unseen words (as train) against {many} other unseen ones (as test).", []),
    ]
    sizes, cut = {}, few * extent.per_word
    for seed in range(extent.seeds):
        for dropout in extent.dropouts:
            larger, smaller = (_network(setting, extent, words, n_word, dropout, seed) for n_word in (many, few))
            unseen = Sample(larger.test[:cut], larger.test_labels[:cut])
            others, by_smaller = (Sample(each.test[cut:], each.test_labels[cut:]) for each in (larger, smaller))
            pairs = (Sample(*larger[:2]), unseen), (Sample(*smaller[:2]), by_smaller), (unseen, others)
            for case, pair in zip(cases, pairs, strict=True):
                case.rows.append(compare(*pair, dropout=dropout, seed=seed, threads=setting.threads))
            if seed == 0 and dropout in (extent.dropouts[0], 0.5):
                setting.say(f"  subsets of the words, dropout {dropout:g}")
                sets = {"learned": Sample(*larger[:2]), "unseen": Sample(*larger[2:])}
                sizes[f"dropout {dropout:g}"] = by_size(sets, extent.sizes, extent.draws, setting.threads)
    return cases, sizes


def _network(setting: Setting, extent: Extent, words: Words, n_word: int, dropout: float, seed: int) -> Embedded:
    """The embeddings of a network that learned the first `n_word` words.

    One thread unless another number was given: with small networks more threads help little, wait for each other on a
    busy machine, and round differently.
    """
    rows = slice(n_word * extent.per_word)
    learned = Pictures(words.learned.images[rows], words.learned.words[rows])
    recipe = Recipe(dropout=dropout, seed=seed, epochs=extent.epochs, batch=extent.batch)
    threads = 1 if setting.threads is None else setting.threads
    return network.embedded(
        learned, words.unseen, recipe, setting.cache, threads=threads, say=lambda line: setting.say(f"  {line}")
    )


class Words(NamedTuple):
    learned: Pictures
    unseen: Pictures  # the first few and the others are two sets
    fonts: list[str]


def render(setting: Setting, extent: Extent) -> Words:
    fonts = network.find_fonts()
    setting.say(f"  drawing {2 * extent.many + extent.few} words in {len(fonts)} fonts")
    words = network.pseudo_words(2 * extent.many + extent.few, _SEED)
    learned, unseen = words[: extent.many], words[extent.many :]
    first, second = (network.render(part, fonts, extent.per_word, seed=_SEED) for part in (learned, unseen))
    return Words(first, second, fonts)


def contact_sheet(words: Words, n_word: int = 6, n_font: int = 4) -> Figure:
    """Words in a few fonts without distortion, and the first distorted pictures of each."""
    fonts = [words.fonts[at * len(words.fonts) // n_font] for at in range(min(n_font, len(words.fonts)))]
    per_word = len(words.learned.words) // len(np.unique(words.learned.words))
    shown = list(dict.fromkeys(words.learned.words.tolist()))[:n_word]
    plain = network.Distortion(fill=(0.9, 0.9), stretch=(1, 1), slant=0, turn=0, stroke=0, blur=0, noise=0, ink=1)
    left = [[network.draw(w, [font], 0, seed=_SEED, distortion=plain) for font in fonts] for w in shown]
    right = [list(words.learned.images[row * per_word :][:8]) for row in range(len(shown))]
    figure = style.figure(7.6, 1.55)
    for ax, rows in zip(figure.subplots(1, 2, width_ratios=[len(fonts), 8]), (left, right), strict=True):
        ax.imshow(np.block(rows), cmap="gray_r", vmin=0, vmax=255, interpolation="nearest")
        ax.set_axis_off()
    return figure


def of_cases(cases: Sequence[Case]) -> list[Finding]:
    why = "words rendered here and a small network, not the paper's photographs and ResNet34"
    one = [
        Finding(f"{case.caption.rstrip('.')}, dropout {row.dropout:g}: gap of {MEASURE}", both_gaps(row),
                Mark.OTHER_DATA, *printed_gaps(row.dropout), why)
        for case in cases for row in case.rows if row.seed == 0
    ]  # fmt: skip
    first, unseen = [row for row in cases[0].rows if row.seed == 0], cases[-1].rows
    worst = {kind: max(zip(sides, first, strict=True), key=lambda pair: pair[0].gap)[1].dropout
             for kind, sides in by_kind(first).items()}  # fmt: skip
    gaps = {PLAIN: {at: row.gap_recall for at, row in DROPOUTS.items()},
            GROUPED: {at: row.gap_grouped for at, row in DROPOUTS.items()}}  # fmt: skip
    printed = {kind: max(by_dropout, key=by_dropout.__getitem__) for kind, by_dropout in gaps.items()}
    here, there = ("; ".join(f"{kind} {value:g}" for kind, value in one.items()) for one in (worst, printed))
    away = {kind: sum(s.low > 0 or s.high < 0 for s in sides) for kind, sides in by_kind(unseen).items()}
    open_ties = sum(s.least < s.most for case in cases for row in case.rows for s in (row.plain, row.grouped))
    return [
        *one,
        Finding(
            f"{cases[0].caption.rstrip('.')}: the dropout with the largest gap", here, Mark.OTHER_DATA, there, TABLE_2,
            "in Table 2 the gap in groups grows with dropout up to 0.7, and the two measures point to different "
            "amounts; with the words it falls with dropout, as intended",
        ),
        Finding(
            f"two unseen sets, {len(unseen)} networks: 95 % intervals of the gap that exclude 0",
            f"{PLAIN} {away[PLAIN]}, {GROUPED} {away[GROUPED]}", Mark.OTHER_DATA,
            "Recall@K depends on the number of classes, the grouped one does not", "arXiv:2306.13357, abstract",
            "neither set was learned, so that nothing can be overfitted: any gap comes from the sizes",
        ),
        Finding("comparisons of the words in which ties affect the gap", str(open_ties), Mark.NEW),
    ]  # fmt: skip


# ---------------------------------------------------------------------------------------------------------------------
# both measures of two sets of embeddings: tables, pictures, findings


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
    """Comparisons of the same two sets of classes under different networks."""

    name: str  # of a file, too
    caption: str
    rows: list[Compared]


class Sample(NamedTuple):
    embeddings: Any  # (n, dim)
    labels: NDArray[Any]


def compare(
    train: Sample, test: Sample, *, dropout: float | None = None, seed: int | None = None, threads: int | None = None
) -> Compared:
    tasks = (Task(*sample, threads=threads) for sample in (train, test))
    gap = generalization_gap(*tasks, group_size=GROUP_SIZE, measure=MEASURE, seed=_SEED, draws=_REPEATS)
    sides = [
        Values(side.train.expected, side.test.expected, side.expected, *ends(by_z.interval(side, LEVEL)),
               by_z.bound(side, LEVEL), side.lower, side.upper)
        for side in (gap.plain, gap.grouped)
    ]  # fmt: skip
    return Compared(dropout, seed, gap.train_groups.n_class, gap.test_groups.n_class, *sides)


def by_kind(rows: Sequence[Compared]) -> dict[str, list[Values]]:
    return {PLAIN: [row.plain for row in rows], GROUPED: [row.grouped for row in rows]}


def both_gaps(row: Compared) -> str:
    """Both gaps in points, with their intervals."""
    shown = []
    for kind, side in ((PLAIN, row.plain), (GROUPED, row.grouped)):
        around = "no interval" if math.isnan(side.low) else f"{100 * side.low:.1f} to {100 * side.high:.1f}"
        shown.append(f"{kind} {100 * side.gap:.1f} ({around})")
    return f"{'; '.join(shown)} points"


def printed_gaps(dropout: float | None) -> tuple[str, str]:
    """The gaps in Table 2 of the paper for an amount of dropout, and their source; empty where it has no such row."""
    row = None if dropout is None else DROPOUTS.get(dropout)
    if row is None:
        return "", ""
    return f"{PLAIN} {row.gap_recall:.1f}; {GROUPED} {row.gap_grouped:.1f} points", TABLE_2


def table_of(case: Case) -> Table:
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
    figure = style.figure(7.6, 0.7 + 2.3 * len(cases))
    grid = figure.subplots(len(cases), 2, squeeze=False, sharex="row")
    for (left, right), case in zip(grid, cases, strict=True):
        first = [row for row in case.rows if not row.seed]
        _draw_values(left, first)
        _draw_gaps(right, first, [row for row in case.rows if row.seed])
        names = ["not known" if row.dropout is None else f"{row.dropout:g}" for row in first]
        for ax, what in ((left, f"{MEASURE} (%)"), (right, "train less test (points)")):
            style.quiet(ax).set(ylabel=what, xlim=(-0.4, len(first) - 0.6))
            ax.set_xticks(range(len(first)), names)
        left.set_title(case.caption.rstrip("."), fontsize="small", loc="left")
    for ax in grid[-1]:
        ax.set_xlabel("dropout")
    return legend(figure, grid[0, 0])


def _draw_values(ax: Axes, rows: Sequence[Compared]) -> None:
    for number, (kind, sides) in enumerate(by_kind(rows).items()):
        look: dict[str, Any] = {"color": style.CYCLE[1 - number], "marker": style.MARKERS[1 - number]}
        ax.plot([100 * s.train for s in sides], "-", label=f"train, {kind}", **look)
        ax.plot([100 * s.test for s in sides], "--", label=f"test, {kind}", mfc="white", **look)


def _draw_gaps(ax: Axes, rows: Sequence[Compared], later: Sequence[Compared]) -> None:
    places = {row.dropout: place for place, row in enumerate(rows)}
    ax.axhline(0, color=style.INK, linewidth=0.8)
    for number, (kind, sides) in enumerate(by_kind(rows).items()):
        shift = 0.16 * number - 0.08
        look: dict[str, Any] = {"color": style.CYCLE[1 - number], "marker": style.MARKERS[1 - number]}
        values, low, high = (100 * np.array([getattr(s, name) for s in sides]) for name in ("gap", "low", "high"))
        ax.errorbar(np.arange(len(rows)) + shift, values, [values - low, high - values],
                    linestyle=":", linewidth=0.9, elinewidth=1.1, capsize=2.5, **look)  # fmt: skip
        at = [places[row.dropout] + shift * 2.6 for row in later]
        gaps = [100 * s.gap for s in by_kind(later)[kind]]
        ax.plot(at, gaps, linestyle="", markersize=3.5, mfc="white", **look)


def legend(figure: Figure, ax: Axes) -> Figure:
    """A legend above the figure, from one of its axes: plain on the left, in groups on the right."""
    look: dict[str, Any] = {"ncols": 2, "frameon": False, "fontsize": "small", "handlelength": 3.2}
    figure.legend(*ax.get_legend_handles_labels(), loc="outside upper left", **look)
    return figure


# ---------------------------------------------------------------------------------------------------------------------
# Hit@1 of random subsets of the words, against how many words there are


def by_size(sets: dict[str, Sample], sizes: tuple[int, ...], n_draw: int, threads: int | None) -> dict[str, Band]:
    bands = {}
    for name, sample in sets.items():
        draws = [[subset_values(sample, size, draw, threads) for draw in range(n_draw)] for size in sizes]
        for at, kind in enumerate((PLAIN, GROUPED)):
            values = [[value[at] for value in drawn] for drawn in draws]
            low, high = np.quantile(values, [0.025, 0.975], axis=1)
            bands[f"{name}, {kind}"] = Band(sizes, np.mean(values, axis=1), low, high)
    return bands


def subset_values(sample: Sample, size: int, draw: int, threads: int | None) -> tuple[float, float]:
    words = np.unique(sample.labels)
    chosen = np.random.default_rng([_SEED, size, draw]).choice(words, size, replace=False)
    rows = np.isin(sample.labels, chosen)
    task = Task(sample.embeddings[rows], sample.labels[rows], threads=threads)
    plain = evaluate(task, MEASURE)
    inside = grouped(task, group_size=GROUP_SIZE, measures=MEASURE, seed=draw)
    return plain[MEASURE].expected, inside[MEASURE].expected


def of_sizes(sizes: dict[str, dict[str, Band]], n_learned: int, n_draw: int) -> Outcome:
    figure = style.figure(7.6, 3.6)
    axes = figure.subplots(1, len(sizes), sharey=True, squeeze=False)[0]
    findings, rows = [], []
    for ax, (name, bands) in zip(axes, sizes.items(), strict=True):
        measure_against_classes(bands, measure=MEASURE, ax=ax)
        ax.set_xlabel(f"words ({name})")
        ax.get_legend().remove()
        percent = {line: 100 * np.asarray(band.value) for line, band in bands.items()}
        first, last = np.asarray(bands[f"unseen, {PLAIN}"].at)[[0, -1]].tolist()
        for kind in (PLAIN, GROUPED):
            value = percent[f"unseen, {kind}"]
            findings.append(Finding(
                f"{name}, unseen words: {MEASURE} {kind} of {first} and of {last} words",
                f"{value[0]:.1f} % and {value[-1]:.1f} %", Mark.OTHER_DATA,
                "falls as classes are added" if kind == PLAIN else "does not fall",
                "arXiv:2306.13357, figure 1, which prints no values", f"means of {n_draw} draws",
            ))  # fmt: skip
        plain, inside = (percent[f"learned, {kind}"][-1] - percent[f"unseen, {kind}"][-1] for kind in (PLAIN, GROUPED))
        here = f"{PLAIN} {plain:.1f}, {GROUPED} {inside:.1f} points"
        why = "sets of the same size are comparable without groups too, but the gap is for this size only"
        findings.append(Finding(f"{name}, {last} words each, learned less unseen", here, Mark.OTHER_DATA, why=why))
        for line, band in bands.items():
            columns = np.column_stack([np.asarray(column, dtype=np.float64) for column in band])
            rows += [[name, *line.split(", "), *row] for row in columns.tolist()]
    lowest = 100 * min(np.min(band.low) for bands in sizes.values() for band in bands.values())
    axes[0].set_ylim(10 * np.floor(lowest / 10), 102)  # so that no mark at 100 is cut
    for ax in axes[1:]:
        ax.set_ylabel("")
    legend(figure, axes[0])
    caption = (
        f"{MEASURE} of random subsets of the words, plain and in groups of {GROUP_SIZE} words, by a network that "
        f"learned {n_learned} words. Lines: means of {n_draw} draws; bands: the middle 95 % of the draws."
    )
    names = ["network", "words", "measure", "number of words", MEASURE, "2.5th percentile", "97.5th percentile"]
    table = Table("size", f"{MEASURE} of random subsets of the words.", names, rows, percent=names[4:])
    return Outcome(findings, [Picture("size", caption, figure)], [table])
