"""The dropout table and the size figure: is the gap between train and test overfitting, or the number of classes?

In come embeddings of train and test sets, from files or from networks trained here on pictures of words; out go the gap
of the plain and of the grouped measure for each amount of dropout, and both measures against the number of classes.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from deadheat.analyses.grouped import Gap, generalization_gap, grouped
from deadheat.inputs import files
from deadheat.plots import _style
from deadheat.plots import grouped as plots
from deadheat.plots.grouped import Band
from deadheat.reports import evaluate
from deadheat.studies import network, rendered
from deadheat.studies.grouped import DATA_SETS
from deadheat.studies.network import Embedded, Recipe
from deadheat.studies.rendered import Pictures
from deadheat.studies.study import Finding, Mark, Outcome, Picture, Setting, Table, missing

TITLE = "Dropout, and the gap between train and test"
SOURCE = "M. Zhdanov, I. Karpukhin, Catching Image Retrieval Generalization, 2023, arXiv:2306.13357"
ABOUT = (
    "A network that has learned its training classes by heart finds them better than new ones. Recall@1 (Hit@1) should "
    "show this as a gap between train and test, but it also falls with the number of classes, so that the gap of two "
    "sets of different size mixes both. In groups of 10 classes the sets compare. The table has both gaps for several "
    "amounts of dropout."
)

MEASURE, GROUP_SIZE, REPEATS, LEVEL = "Hit@1", 10, 10, 0.95
PLAIN, GROUPED = "plain", f"in groups of {GROUP_SIZE}"

_CLAIM, _NOT_AT_HAND = "arXiv:2306.13357, the table of dropouts", "not at hand"
_FILE = re.compile(r"(?P<stem>[a-z0-9]+)(-dropout(?P<dropout>[0-9.]+))?-(?P<part>train|test)\.(npz|csv|tsv|parquet)")
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


class _Extent(NamedTuple):
    """How much is computed."""

    many: int  # words
    few: int
    per_word: int  # pictures
    epochs: int
    batch: int
    dropouts: tuple[float, ...]
    seeds: int  # trainings of each kind
    sizes: tuple[int, ...]  # words in a subset, up to `many`
    draws: int  # of subsets of each size


_FULL = _Extent(400, 100, 16, 16, 64, (0.0, 0.2, 0.5, 0.8), 2, (10, 20, 50, 100, 200, 400), 20)
_QUICK = _Extent(60, 30, 8, 6, 16, (0.0, 0.5), 1, (10, 20, 40, 60), 3)


def run(setting: Setting) -> Outcome:
    """Compare what files there are, then the stand-in."""
    extent = _QUICK if setting.quick else _FULL
    outcomes = [_from_files(setting), _stand_in(setting, extent)]
    return Outcome(
        findings=[finding for one in outcomes for finding in one.findings],
        pictures=[picture for one in outcomes for picture in one.pictures],
        tables=[table for one in outcomes for table in one.tables],
        text=[paragraph for one in outcomes for paragraph in one.text],
    )


# comparing two sets --------------------------------------------------------------------------------------------------


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
    found = gap.interval(confidence_level=LEVEL)
    low, high = found.lower.low, found.upper.high
    values = gap.train.expected, gap.test.expected, gap.expected
    return Sides(*values, low, high, gap.bound(confidence_level=LEVEL), gap.lower, gap.upper)


# files ---------------------------------------------------------------------------------------------------------------


def _from_files(setting: Setting) -> Outcome:
    """The table of each of the paper's data sets that is there as files, and what is missing of it."""
    findings, cases = [], []
    for name, stem in DATA_SETS.items():
        case, more = _by_files(setting, name, stem)
        findings += more
        cases += [case] if case.rows else []
    pictures = [Picture(case.name, f"{case.caption} Hit@1 and its gap.", _draw_cases([case])) for case in cases]
    return Outcome(findings, pictures, [_table(case) for case in cases])


def _by_files(setting: Setting, name: str, stem: str) -> tuple[Case, list[Finding]]:
    """One data set: every pair of files of the same dropout, compared."""
    case = Case(f"{stem}-dropout", f"{name}, from files.", [])
    findings = []
    found = dict(_pairs(setting.data, stem)) or {None: {}}
    for dropout in sorted(found, key=lambda value: -1.0 if value is None else value):
        about = f"{name}{'' if dropout is None else f', dropout {dropout:g}'}: gap of {MEASURE}"
        lacking = [part for part in ("train", "test") if part not in found[dropout]]
        if lacking:
            wanted = " and ".join(f"{stem}{_variant(dropout)}-{part}.npz" for part in lacking)
            findings.append(missing(about, wanted, published=_NOT_AT_HAND, source=_CLAIM))
            continue
        setting.say(f"  {about}")
        train, test = (Sample(*files.read(found[dropout][part])) for part in ("train", "test"))
        try:
            row = compare(train, test, dropout=dropout, threads=setting.threads)
        except ValueError as error:
            raise ValueError(f"{found[dropout]['train']} and {found[dropout]['test']}: {error}") from None
        case.rows.append(row)
        why = "the embeddings given, not the paper's"
        findings.append(Finding(about, _both(row), Mark.STAND_IN, _NOT_AT_HAND, _CLAIM, why))
    return case, findings


def _pairs(folder: Path | None, stem: str) -> Iterator[tuple[float | None, dict[str, Path]]]:
    """For each dropout that a data set has files of (None where the name tells none), the files by train and test.

    Where there are several of one kind, ``.npz`` goes first.
    """
    found: dict[float | None, dict[str, Path]] = {}
    for path in sorted(folder.iterdir(), key=lambda path: (path.suffix != ".npz", path.name)) if folder else ():
        told = _FILE.fullmatch(path.name)
        if told and told["stem"] == stem and path.is_file():
            found.setdefault(_amount(told["dropout"]), {}).setdefault(told["part"], path)
    yield from found.items()


def _amount(told: str | None) -> float | None:
    try:
        return None if told is None else float(told)
    except ValueError:
        raise ValueError(f"a file's dropout must be a number such as 0.5, but is {told!r}") from None


def _variant(dropout: float | None) -> str:
    return "" if dropout is None else f"-dropout{dropout:g}"


# the stand-in --------------------------------------------------------------------------------------------------------


class _Words(NamedTuple):
    """Pictures of words: to learn, and never learned, of which the first few and the others are two sets."""

    learned: Pictures
    unseen: Pictures
    fonts: list[str]


def _stand_in(setting: Setting, extent: _Extent) -> Outcome:
    """Networks that learn pictures of words, with different dropout, and what they make of other words."""
    words = _render(setting, extent)
    about = "Words as the fonts draw them (left, a font a column), and distorted, as the networks see them (right)."
    sheet = Picture("words", about, _contact_sheet(words))
    text = [_about_words(extent, len(words.fonts))]
    if not network.is_installed():
        why = "PyTorch is not installed: pip install 'deadheat[torch]'"
        what = ("words: the table of dropouts", "words: the size figure")
        return Outcome([Finding(one, "", Mark.NO_DATA, _NOT_AT_HAND, _CLAIM, why) for one in what], [sheet], text=text)
    cases, by_size = _measure(setting, extent, words)
    table = Picture("dropout", _about_dropout(extent), _draw_cases(cases))
    size = Picture("size", _about_size(extent), _draw_sizes(by_size))
    findings = [*_case_findings(cases), *_size_findings(by_size, extent)]
    return Outcome(findings, [sheet, table, size], [*map(_table, cases), _size_table(by_size)], text)


def _render(setting: Setting, extent: _Extent) -> _Words:
    """As many words to learn as `many`, and other words: `few`, then `many` again."""
    fonts = rendered.find_fonts()
    setting.say(f"  drawing {2 * extent.many + extent.few} words in {len(fonts)} fonts")
    words = rendered.pseudo_words(2 * extent.many + extent.few, _SEED)
    learned, unseen = words[: extent.many], words[extent.many :]
    first, second = (rendered.render(some, fonts, extent.per_word, seed=_SEED) for some in (learned, unseen))
    return _Words(first, second, fonts)


def _measure(setting: Setting, extent: _Extent, words: _Words) -> tuple[list[Case], dict[str, dict[str, Band]]]:
    """All networks, one after another: the three cases, and the bands of the size figure for two amounts of dropout."""
    many, few = extent.many, extent.few
    cases = [
        Case("many-learned", f"{many} learned words against {few} unseen ones.", []),
        Case("few-learned", f"{few} learned words against {many} unseen ones.", []),
        Case("unseen", f"{few} unseen words (as train) against {many} other unseen ones (as test).", []),
    ]
    by_size = {}
    for seed in range(extent.seeds):
        for dropout in extent.dropouts:
            found = _network(setting, extent, words, many, dropout, seed)
            smaller = _network(setting, extent, words, few, dropout, seed)
            pairs = _pairs_of_sets(extent, found, smaller)
            for case, pair in zip(cases, pairs, strict=True):
                case.rows.append(compare(*pair, dropout=dropout, seed=seed, threads=setting.threads))
            if seed == 0 and dropout in _shown(extent):
                setting.say(f"  subsets of the words, dropout {dropout:g}")
                by_size[f"dropout {dropout:g}"] = _by_size(setting, extent, found)
    return cases, by_size


def _network(setting: Setting, extent: _Extent, words: _Words, n_word: int, dropout: float, seed: int) -> Embedded:
    """The embeddings of a network that learned the first so many words.

    By one thread unless told otherwise: the networks are small, so that more help little, wait for each other when
    the processors have other work, and round differently.
    """
    rows = slice(n_word * extent.per_word)
    learned = Pictures(words.learned.images[rows], words.learned.words[rows])
    recipe = Recipe(dropout=dropout, seed=seed, epochs=extent.epochs, batch=extent.batch)
    return network.embedded(
        learned,
        words.unseen,
        recipe,
        setting.cache,
        threads=1 if setting.threads is None else setting.threads,
        say=lambda line: setting.say(f"  {line}"),
    )


def _pairs_of_sets(extent: _Extent, found: Embedded, smaller: Embedded) -> list[tuple[Sample, Sample]]:
    """Train and test of the three cases: many learned, few learned, and two sets of which nothing was learned."""
    cut = extent.few * extent.per_word
    few, many = slice(cut), slice(cut, None)
    return [
        (Sample(found.train, found.train_labels), Sample(found.test[few], found.test_labels[few])),
        (Sample(smaller.train, smaller.train_labels), Sample(smaller.test[many], smaller.test_labels[many])),
        (Sample(found.test[few], found.test_labels[few]), Sample(found.test[many], found.test_labels[many])),
    ]


def _shown(extent: _Extent) -> tuple[float, ...]:
    """The amounts of dropout of the size figure."""
    return (extent.dropouts[0], 0.5)


def _by_size(setting: Setting, extent: _Extent, found: Embedded) -> dict[str, Band]:
    """Learned and unseen words, plain and in groups, against the number of words in a random subset."""
    bands = {}
    for name, sample in (
        ("learned", Sample(found.train, found.train_labels)),
        ("unseen", Sample(found.test, found.test_labels)),
    ):
        draws = [
            [_subset_values(sample, size, draw, setting.threads) for draw in range(extent.draws)]
            for size in extent.sizes
        ]
        for at, kind in enumerate((PLAIN, GROUPED)):
            values = [[value[at] for value in drawn] for drawn in draws]
            low, high = np.quantile(values, [0.025, 0.975], axis=1)
            bands[f"{name}, {kind}"] = Band(extent.sizes, np.mean(values, axis=1), low, high)
    return bands


def _subset_values(sample: Sample, size: int, draw: int, threads: int | None) -> tuple[float, float]:
    """Hit@1 of so many words drawn at random: plain, and in groups."""
    words = np.unique(sample.labels)
    chosen = np.random.default_rng([_SEED, size, draw]).choice(words, size, replace=False)
    rows = np.isin(sample.labels, chosen)
    part = Sample(sample.embeddings[rows], sample.labels[rows])
    plain = evaluate(*part, measures=MEASURE, threads=threads)
    inside = grouped(*part, group_size=GROUP_SIZE, measures=MEASURE, seed=draw, threads=threads)
    return plain[MEASURE].expected, inside[MEASURE].expected


# findings ------------------------------------------------------------------------------------------------------------


def _case_findings(cases: Sequence[Case]) -> list[Finding]:
    """Both gaps of every case and dropout, in the first training, and what the cases say together."""
    why = "a stand-in: words rendered here, not the paper's photographs"
    each = [
        Finding(
            f"{case.caption.rstrip('.')}, dropout {row.dropout:g}: gap of {MEASURE}",
            _both(row),
            Mark.STAND_IN,
            _NOT_AT_HAND,
            _CLAIM,
            why,
        )
        for case in cases
        for row in case.rows
        if row.seed == 0
    ]
    unseen = cases[-1].rows
    away = {kind: sum(s.low > 0 or s.high < 0 for s in sides) for kind, sides in _by_kind(unseen).items()}
    open_ties = sum(s.least < s.most for case in cases for row in case.rows for s in (row.plain, row.grouped))
    return [
        *each,
        Finding(
            f"two unseen sets, {len(unseen)} networks: 95 % intervals of the gap that leave out 0",
            f"{PLAIN} {away[PLAIN]}, {GROUPED} {away[GROUPED]}", Mark.STAND_IN,
            "Recall@K depends on the number of classes, the grouped one does not", "arXiv:2306.13357, abstract",
            "neither set was learned, so that there is nothing to overfit: what gap there is comes from the sizes",
        ),
        Finding("comparisons of the words in which ties leave the gap open", str(open_ties), Mark.NEW),
    ]  # fmt: skip


def _by_kind(rows: Sequence[Compared]) -> dict[str, list[Sides]]:
    return {PLAIN: [row.plain for row in rows], GROUPED: [row.grouped for row in rows]}


def _size_findings(by_size: dict[str, dict[str, Band]], extent: _Extent) -> list[Finding]:
    """How far each measure falls over the sizes, and the gap of sets of the same size."""
    findings = []
    for name, bands in by_size.items():
        for kind in (PLAIN, GROUPED):
            band = bands[f"unseen, {kind}"]
            at, value = np.asarray(band.at), 100 * np.asarray(band.value)
            findings.append(
                Finding(
                    f"{name}, unseen words: {MEASURE} {kind} of {at[0]} and of {at[-1]} words",
                    f"{value[0]:.1f} % and {value[-1]:.1f} %",
                    Mark.STAND_IN,
                    _NOT_AT_HAND,
                    "arXiv:2306.13357, the figure of sizes",
                    f"means of {extent.draws} draws",
                )
            )
        gaps = [
            float(np.asarray(bands[f"learned, {kind}"].value)[-1] - np.asarray(bands[f"unseen, {kind}"].value)[-1])
            for kind in (PLAIN, GROUPED)
        ]
        here = f"{PLAIN} {100 * gaps[0]:.1f}, {GROUPED} {100 * gaps[1]:.1f} points"
        why = "sets of the same size compare without groups too, but the gap is that of this size alone"
        findings.append(
            Finding(f"{name}, {extent.sizes[-1]} words each, learned less unseen", here, Mark.STAND_IN, why=why)
        )
    return findings


def _both(row: Compared) -> str:
    """Both gaps as a person reads them, in percentage points."""
    told = (f"{name} {_points(side)}" for name, side in ((PLAIN, row.plain), (GROUPED, row.grouped)))
    return f"{'; '.join(told)} points"


def _points(side: Sides) -> str:
    around = "no interval" if math.isnan(side.low) else f"{100 * side.low:.1f} to {100 * side.high:.1f}"
    return f"{100 * side.gap:.1f} ({around})"


# tables --------------------------------------------------------------------------------------------------------------


def _table(case: Case) -> Table:
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
    return Table(case.name, caption, columns, rows)


def _size_table(by_size: dict[str, dict[str, Band]]) -> Table:
    rows = [
        [name, *line.split(", "), *row]
        for name, bands in by_size.items()
        for line, band in bands.items()
        for row in np.stack([np.asarray(column, dtype=np.float64) for column in band], axis=1).tolist()
    ]
    columns = ["network", "words", "measure", "number of words", MEASURE, "2.5 % of draws below", "97.5 % below"]
    return Table("size", f"{MEASURE} of random subsets of the words.", columns, rows)


# pictures ------------------------------------------------------------------------------------------------------------


def _draw_cases(cases: Sequence[Case]) -> Figure:
    """A row a case: values on the left, gaps with intervals on the right, both against dropout."""
    figure = Figure(figsize=(7.6, 0.7 + 2.3 * len(cases)), layout="constrained")
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
    for number, (kind, sides) in enumerate(_by_kind(rows).items()):
        style: dict[str, Any] = {"color": _style.CYCLE[1 - number], "marker": _style.MARKERS[1 - number]}
        ax.plot([100 * s.train for s in sides], "-", label=f"train, {kind}", **style)
        ax.plot([100 * s.test for s in sides], "--", label=f"test, {kind}", mfc="white", **style)
    ax.set_ylabel(f"{MEASURE} (%)")
    _dropouts(ax, rows)


def _draw_gaps(ax: Axes, case: Case) -> None:
    """The gaps of the first training with their intervals, and those of the others as small marks."""
    rows = [row for row in case.rows if not row.seed]
    places = {row.dropout: place for place, row in enumerate(rows)}
    ax.axhline(0, color=_style.INK, linewidth=0.8)
    for number, (kind, sides) in enumerate(_by_kind(rows).items()):
        shift, colour = 0.16 * number - 0.08, _style.CYCLE[1 - number]
        marker = _style.MARKERS[1 - number]
        values, low, high = (100 * np.array([getattr(s, name) for s in sides]) for name in ("gap", "low", "high"))
        ax.errorbar(np.arange(len(rows)) + shift, values, [values - low, high - values], color=colour, marker=marker,
                    linestyle=":", linewidth=0.9, elinewidth=1.1, capsize=2.5)  # fmt: skip
        others = [row for row in case.rows if row.seed]
        at = [places[row.dropout] + shift * 2.6 for row in others]
        ax.plot(at, [100 * s.gap for s in _by_kind(others)[kind]], linestyle="", color=colour, marker=marker,
                markersize=3.5, mfc="white")  # fmt: skip
    ax.set_ylabel("train less test (points)")
    _dropouts(ax, rows)


def _dropouts(ax: Axes, rows: Sequence[Compared]) -> None:
    """A place on the horizontal axis for each amount."""
    _style.quiet(ax)
    ax.set_xlim(-0.4, len(rows) - 0.6)
    ax.set_xticks(range(len(rows)), ["not told" if row.dropout is None else f"{row.dropout:g}" for row in rows])


def _draw_sizes(by_size: dict[str, dict[str, Band]]) -> Figure:
    figure = Figure(figsize=(7.6, 3.6), layout="constrained")
    axes = figure.subplots(1, len(by_size), sharey=True, squeeze=False)[0]
    for ax, (name, bands) in zip(axes, by_size.items(), strict=True):
        plots.against_classes(bands, measure=MEASURE, ax=ax)
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


def _contact_sheet(words: _Words, n_word: int = 6, n_font: int = 4) -> Figure:
    """Words in a few fonts without distortion, and the first pictures of each as they are learned."""
    fonts = [words.fonts[at * len(words.fonts) // n_font] for at in range(min(n_font, len(words.fonts)))]
    per_word = len(words.learned.words) // len(np.unique(words.learned.words))
    shown = list(dict.fromkeys(words.learned.words.tolist()))[:n_word]
    plain = rendered.Distortion(fill=(0.9, 0.9), stretch=(1, 1), slant=0, turn=0, stroke=0, blur=0, noise=0, ink=1)
    left = [[rendered.draw(w, [font], 0, seed=_SEED, distortion=plain) for font in fonts] for w in shown]
    right = [list(words.learned.images[row * per_word :][:8]) for row in range(len(shown))]
    figure = Figure(figsize=(7.6, 1.55), layout="constrained")
    for ax, rows in zip(figure.subplots(1, 2, width_ratios=[len(fonts), 8]), (left, right), strict=True):
        ax.imshow(np.block(rows), cmap="gray_r", vmin=0, vmax=255, interpolation="nearest")
        ax.set_axis_off()
    return figure


# captions ------------------------------------------------------------------------------------------------------------


def _about_words(extent: _Extent, n_font: int) -> str:
    return (
        "CARS196, CUB200, InShop, SOP and CIFAR-100 are taken as files of embeddings, in the folder given as --data "
        "(cars196-train.npz and cars196-test.npz; cars196-dropout0.5-train.npz and so on). Without them there is a "
        f"stand-in: pseudo-words are the classes, each drawn {extent.per_word} times in fonts of the system "
        f"({n_font} here), slanted, stretched, blurred and noisy. A small network of convolutions learns some of the "
        "words, and never sees the others. It shows the effect; its values are not those of the paper, and they change "
        "with the fonts and the version of PyTorch."
    )


def _about_dropout(extent: _Extent) -> str:
    return (
        f"Left: {MEASURE} against dropout, filled marks for train and open ones for test, in the first of "
        f"{extent.seeds} trainings. Right: train less test, with 95 % intervals over the words; small open marks are "
        "other trainings. In the last row neither set was learned: a gap there is no overfitting."
    )


def _about_size(extent: _Extent) -> str:
    return (
        f"{MEASURE} of random subsets of the words, plain and in groups of {GROUP_SIZE} words, by a network that "
        f"learned {extent.many} words. Lines: means of {extent.draws} draws; bands: the middle 95 % of the draws."
    )
