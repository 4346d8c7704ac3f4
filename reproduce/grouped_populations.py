"""Seeded draws from known populations: their values, intervals that hold them, and the paper's tables and figures.

Table 1 and figures 2 and 3 are recomputed on synthetic classes, and the statements about Table 2 judged. By section 3.2
the mean of N independent groups is normal with variance σ²/N. So the bound of the measure must be its value + z σ/√N,
and that of the difference of two halves, with N/2 groups each, z √(σ²/(N/2) + σ²/(N/2)) = 2 z σ/√N.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from deadheat.analyses.gaps import Gap, GeneralizationGap, generalization_gap, split_half
from deadheat.analyses.grouped import grouped
from deadheat.engine.task import Task
from deadheat.plots import style
from deadheat.reports.averaging import Average
from deadheat.reports.evaluating import evaluate
from deadheat.reports.statistics import intervals
from deadheat.reports.statistics.intervals import Interval
from deadheat.support.lazy import require
from deadheat.support.triple import Triple
from reproduce import by_z
from reproduce import plots as plot_grouped
from reproduce.model_trends import GapTrend, ModelCorrelation, gap_trend, model_correlation
from reproduce.study import LEVEL, Finding, Mark, Outcome, Picture, Setting, Table

Float64 = NDArray[np.float64]

PAPER = "M. Zhdanov, I. Karpukhin, Catching Image Retrieval Generalization, 2023, arXiv:2306.13357"
TABLE_1, TABLE_2 = "arXiv:2306.13357, Table 1", "arXiv:2306.13357, Table 2"
GROUP_SIZE = 10  # section 5.3: groups of 10 classes


class TestSet(NamedTuple):
    """A row of Table 1: Recall@1, the grouped one and its bound, and how two halves of the test set differ.

    The classes are those of the data set's usual split, which the table does not print. The last two are values with
    their spread: the difference of the grouped measure between the halves, and the bound on it.
    """

    n_class: int
    recall: float
    grouped: float
    bound: float
    difference: tuple[float, float]
    bound_on_difference: tuple[float, float]


TEST_SETS = {
    "CARS196": TestSet(98, 8.4, 32.1, 33.4, (1.8, 0.8), (2.8, 0.3)),
    "CUB200": TestSet(100, 6.8, 29.8, 32.5, (2.0, 1.0), (6.0, 0.1)),
    "InShop": TestSet(3985, 23.4, 77.7, 78.3, (0.5, 0.2), (1.3, 6e-4)),
    "SOP": TestSet(11316, 21.1, 68.9, 69.3, (0.2, 0.1), (0.9, 2e-4)),
}


class Dropout(NamedTuple):
    """A row of Table 2: ResNet34 on CIFAR-100; gaps are train less test."""

    train_grouped: float
    test_grouped: float
    train_recall: float
    test_recall: float
    gap_grouped: float
    gap_recall: float


DROPOUTS = {
    0.0: Dropout(68.5, 66.0, 44.0, 41.1, 2.5, 2.9),
    0.2: Dropout(69.0, 66.2, 44.3, 38.7, 2.8, 5.6),
    0.5: Dropout(69.6, 66.0, 45.0, 36.1, 3.6, 8.9),
    0.7: Dropout(70.2, 65.5, 45.9, 38.1, 4.7, 7.8),
    0.99: Dropout(44.2, 48.0, 24.3, 23.4, -3.8, 0.9),
}
# Data sets of the paper, and the prefix of their files: cars196-test.npz.
IMAGE_SETS = {"CARS196": "cars196", "CUB200": "cub200", "InShop": "inshop", "SOP": "sop", "CIFAR-100": "cifar100"}

MEASURE: Final = "Hit@1"
DISTANCE: Final = "euclidean"
PLAIN, GROUPED = "plain", f"in groups of {GROUP_SIZE}"
LEVEL_TEXT = f"{100 * LEVEL:.0f} %"
OVER_GROUPS = {"z": "z", "Student's t": "t", "bootstrap": "percentile"}  # methods of an interval, by title
OF_PLAIN: dict[str, Average] = {"plain, z over queries": "query", "plain, z over classes": "class"}
REPEATED = "Student's t, 4 repeats"
_RESAMPLES = 999
_REPEATS = 4
_SETTINGS: dict[str, Any] = {"measures": MEASURE, "group_size": GROUP_SIZE}

# Each experiment draws from its own stream.
_DRAWS, _LARGE, _PLAIN, _GAP = range(4)
DIM = 128
_INNER, _SAMPLES, _DEVIATIONS, _UNEVENNESS = 12, 4, 1.3, 0.7
_SHRINKAGES = (0.001, 0.03, 0.3)
_MAP_REPEATS = 5
_MODELS_SEED = 17
_MAPS = "linear maps learned from synthetic classes, not networks and photographs"
_TABLE_SEED = 11
_CIFAR_CLASSES = 100  # at most in either set of CIFAR-100
_CLAIMS_SEED = 13

Drawn = tuple[NDArray[np.float32], NDArray[np.int64]]  # embeddings and labels


class Extent(NamedTuple):
    sizes: tuple[int, ...]  # classes
    large: int  # groups that a population's value is taken from
    draws: int
    plain_draws: int
    null_draws: int
    cost: tuple[int, ...]  # classes
    times: int  # runs, of which the shortest counts
    most_classes: int  # of the synthetic sets that are compared with Table 1
    halves: int  # random splits of each into halves
    maps: tuple[int, ...]  # directions that learned maps keep
    map_classes: tuple[int, int]  # to learn from, and others


def ends(interval: Triple[Interval]) -> tuple[float, float]:
    """The outer ends over ties and sampling."""
    return interval.lower.low, interval.upper.high


def percent(value: float, digits: int = 2) -> str:
    return f"{100 * value:.{digits}f} %"


FULL = Extent(
    (50, 100, 200, 500, 1000, 2000, 5000), 20_000, 1000, 400, 300, (800, 1600, 3200, 6400, 12_800), 2, 12_000, 20,
    (4, 8, 16, 32, 64, 128), (400, 100),
)  # fmt: skip
QUICK = Extent((50, 100, 200, 500), 300, 20, 10, 10, (100, 200, 400), 1, 500, 3, (4, 32, 128), (100, 40))


@dataclass(frozen=True)
class Population:
    """Classes as clouds of points: normal centres, and normal samples around each."""

    name: str
    deviation: float  # standard deviation of the centres, where samples have about 1; 0: labels are meaningless
    unevenness: float  # standard deviation of the logarithm of the size of a class's cloud
    samples: int = 4  # of each class
    dim: int = 16

    def draw(self, n_class: int, *seed: int) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """Draw embeddings (n_class · samples, dim) and labels of new classes."""
        rng = np.random.default_rng((*seed, round(10 * self.deviation)))
        centres = self.deviation * rng.standard_normal((n_class, self.dim), dtype=np.float32)
        sizes = np.exp(self.unevenness * rng.standard_normal(n_class, dtype=np.float32))
        labels = np.repeat(np.arange(n_class), self.samples)
        points = rng.standard_normal((len(labels), self.dim), dtype=np.float32)
        return centres[labels] + sizes[labels, None] * points, labels

    def chance(self, n_class: int) -> float:
        """The expected Hit@1 among `n_class` classes if labels are meaningless."""
        return (self.samples - 1) / (n_class * self.samples - 1)


RANDOM = Population("random", 0.0, 0.0)
CLUSTERED = Population("clustered", 1.3, 0.3)


class Known(NamedTuple):
    value: float  # of a population
    error: float  # its standard error, 0 where it follows from the definition


class Coverage(NamedTuple):
    """Numbers of intervals that hold the value of a population."""

    population: str
    method: str
    n_group: int
    n_draw: int
    n_hold: int
    known: Known  # the true value
    mean: float  # of the values found, over the draws
    width: float  # of the interval, the mean over the draws

    @property
    def share(self) -> float:
        return self.n_hold / self.n_draw

    def interval(self, confidence_level: float = LEVEL) -> Interval:
        return binomial(self.n_hold, self.n_draw, confidence_level)


def binomial(n_hold: int, n_draw: int, confidence_level: float) -> Interval:
    test = require("scipy.stats", "stats", "a binomial interval").binomtest(n_hold, n_draw)
    return Interval(*map(float, test.proportion_ci(confidence_level, method="exact")))


def task_of(data: tuple[NDArray[Any], NDArray[Any]], threads: int | None = 1) -> Task:
    return Task(*data, distance=DISTANCE, threads=threads)


def value_in_groups(population: Population, n_group: int) -> Known:
    result = grouped(task_of(population.draw(n_group * GROUP_SIZE, _LARGE)), **_SETTINGS)[MEASURE]
    return Known(result.expected, result.errors.expected)


def value_of_plain(population: Population, n_class: int, n_draw: int) -> Known:
    """The value of the plain measure on `n_class` classes, from separate draws."""
    values = [
        evaluate(task_of(population.draw(n_class, _PLAIN, n_class, number)), MEASURE)[MEASURE].expected
        for number in range(n_draw)
    ]
    return Known(math.fsum(values) / n_draw, intervals.standard_error(values))


def coverages_over_groups(
    population: Population, n_group: int, n_draw: int, known: Known, *, repeated: bool
) -> list[Coverage]:
    """Count the intervals over groups that hold the population's value, of each kind."""

    def outcome(data: Drawn, number: int) -> Iterator[tuple[str, float, Interval]]:
        task = task_of(data)
        result = grouped(task, **_SETTINGS, seed=number)[MEASURE]
        how: dict[str, Any] = {"confidence_level": LEVEL, "n_resamples": _RESAMPLES, "seed": number}
        for name, method in OVER_GROUPS.items():
            ends = by_z.by_z(result, LEVEL) if method == "z" else result.interval(method=method, **how)
            yield name, result.expected, ends.expected.within(0, 1)
        if repeated:
            result = grouped(task, **_SETTINGS, seed=number, draws=_REPEATS)[MEASURE]
            yield REPEATED, result.expected, result.interval(confidence_level=LEVEL, method="t").expected

    return _coverages(population, n_group, n_draw, known, outcome)


def coverages_of_plain(population: Population, n_group: int, n_draw: int, known: Known) -> list[Coverage]:
    """The same for the plain measure on as many classes, with intervals over queries and over classes."""

    def outcome(data: Drawn, number: int) -> Iterator[tuple[str, float, Interval]]:
        report = evaluate(task_of(data), MEASURE)
        for name, unit in OF_PLAIN.items():
            yield name, report[MEASURE].expected, by_z.of_report(report, MEASURE, unit, LEVEL).expected

    return _coverages(population, n_group, n_draw, known, outcome)


def _coverages(
    population: Population, n_group: int, n_draw: int, known: Known,
    outcome: Callable[[Drawn, int], Iterator[tuple[str, float, Interval]]],
) -> list[Coverage]:  # fmt: skip
    """Count what each draw gives, by method; a NaN interval holds nothing."""
    drawn: dict[str, list[tuple[float, Interval]]] = defaultdict(list)
    for number in range(n_draw):
        for name, value, interval in outcome(population.draw(n_group * GROUP_SIZE, _DRAWS, n_group, number), number):
            drawn[name].append((value, interval))
    coverages = []
    for name, rows in drawn.items():
        n_hold = sum(interval.low <= known.value <= interval.high for _, interval in rows)
        mean = math.fsum(value for value, _ in rows) / n_draw
        width = math.fsum(interval.high - interval.low for _, interval in rows) / n_draw
        coverages.append(Coverage(population.name, name, n_group, n_draw, n_hold, known, mean, width))
    return coverages


def null_gaps(population: Population, n_class: tuple[int, int], n_draw: int) -> list[tuple[Gap, Gap]]:
    """Gaps, grouped and plain, between two sets of classes of one population, where the true gap is 0."""
    gaps = []
    for number in range(n_draw):
        train, test = (task_of(population.draw(n, _GAP, n, number)) for n in n_class)
        gap = generalization_gap(train, test, group_size=GROUP_SIZE, measure=MEASURE, seed=number)
        gaps.append((gap.grouped, gap.plain))
    return gaps


# ---------------------------------------------------------------------------------------------------------------------
# Table 1


class Row(NamedTuple):  # one set of classes, in fractions
    plain: float
    grouped: float
    bound: float
    difference: tuple[float, float]  # of random halves: mean, standard deviation
    bound_on_difference: tuple[float, float]


def by_table(setting: Setting, extent: Extent) -> Outcome:
    findings, lines = [], []
    for number, (name, printed) in enumerate(TEST_SETS.items()):
        flat = (*printed[1:4], *printed.difference, *printed.bound_on_difference)
        lines.append([name, printed.n_class, "the paper's data", *(value / 100 for value in flat)])
        if printed.n_class <= extent.most_classes:
            setting.say(f"  Table 1: {printed.n_class} classes")
            data = CLUSTERED.draw(printed.n_class, _TABLE_SEED, number)
            row = table_row(*data, n_draw=extent.halves, threads=setting.threads)
            lines.append([name, printed.n_class, "synthetic classes", *row[:3], *row[3], *row[4]])
            findings += _row_findings(name, row)
    values = (MEASURE, "in groups", "bound", "difference of halves", "its spread", "bound on the difference",
              "spread of the bound")  # fmt: skip
    caption = (
        "Table 1 of the paper, and synthetic sets with as many classes. Synthetic: bounds by section 3.2, "
        f"value + z σ/√N and z √(σ₁²/N₁ + σ₂²/N₂) at {LEVEL_TEXT}; spread: the standard deviation over random halves"
    )
    return Outcome(findings, tables=[Table("table-1", caption, ["set", "classes", "of", *values], lines, values)])


def table_row(embeddings: NDArray[np.float32], labels: NDArray[np.int64], *, n_draw: int, threads: int | None) -> Row:
    """The columns of Table 1 for one set, over `n_draw` random splits into halves."""
    halves = split_half(task_of((embeddings, labels), threads), group_size=GROUP_SIZE, measure=MEASURE, draws=n_draw)
    result = by_z.HalvesByZ.of(halves).to_dict(confidence_level=LEVEL)
    deviation = ((result[name]["expected"], result[name]["std"]) for name in ("difference", "margin"))
    return Row(*(result[name]["expected"] for name in ("plain", "grouped", "upper_limit")), *deviation)


def ratio_by_theory(n_class: int) -> float:
    """The bound on the difference of halves over (bound − value): 2, or a little more where groups are left over."""
    whole, half = n_class // GROUP_SIZE, n_class // 2 // GROUP_SIZE
    return math.sqrt(2 / half) / math.sqrt(1 / whole)


def printed_ratio(row: TestSet) -> tuple[float, float]:
    """The same from the printed values: the least and the most that their rounding allows."""
    above, between = row.bound - row.grouped, row.bound_on_difference[0]
    return (between - 0.05) / (above + 0.1), (between + 0.05) / (above - 0.1)


def _row_findings(name: str, row: Row) -> list[Finding]:
    printed, made = TEST_SETS[name], "a synthetic population, not the paper's photographs"
    set_name = f"as many classes as {name} ({printed.n_class})"
    plain, inside, bound = (f"{100 * value:.1f}" for value in row[:3])
    difference, on_difference = (f"{100 * value:.1f} ± {100 * deviation:.1f}" for value, deviation in row[3:])
    low, high = printed_ratio(printed)
    theory = ratio_by_theory(printed.n_class)
    ours = row.bound_on_difference[0] / (row.bound - row.grouped)
    agrees = low <= theory <= high
    return [
        Finding(f"{set_name}: {MEASURE} plain, in groups, and its bound", f"{plain}, {inside}, {bound} %",
                Mark.OTHER_DATA, f"{printed.recall}, {printed.grouped}, {printed.bound} %", TABLE_1,
                f"{made}; the bound is the upper end of the {LEVEL_TEXT} interval of the mean over groups"),
        Finding(f"{set_name}: difference in groups of two halves, and the bound on it",
                f"{difference} and {on_difference} points", Mark.OTHER_DATA,
                "{} ± {:g} and {} ± {:g} points".format(*printed.difference, *printed.bound_on_difference), TABLE_1,
                f"{made}; the bound is half the width of the interval of the difference"),
        Finding(f"{name}: (bound on the difference) / (bound - value)", f"{ours:.2f}", Mark.of(agrees),
                f"{low:.2f} to {high:.2f} as rounded in print; {theory:.2f} by section 3.2", TABLE_1,
                "" if agrees else "the halves have few groups and different σ; the table does not say which was used"),
    ]  # fmt: skip


# ---------------------------------------------------------------------------------------------------------------------
# claims about Table 2


def by_claims(setting: Setting, extent: Extent) -> Outcome:
    setting.say("  claims about Table 2")
    gaps = [row.gap_grouped for row in DROPOUTS.values()]
    steps = ", ".join(f"{abs(later - earlier):.1f}" for earlier, later in pairwise(gaps))
    drawn = task_of(CLUSTERED.draw(2 * _CIFAR_CLASSES, _CLAIMS_SEED), setting.threads)
    halves = split_half(drawn, group_size=GROUP_SIZE, measure=MEASURE, draws=extent.halves)
    margins = by_z.HalvesByZ.of(halves).margins(confidence_level=LEVEL)
    shown = ", ".join(f"{margin_by_table(name):.1f} ({name})" for name in ("CARS196", "CUB200"))
    margin = Finding(
        f"margin of error ({LEVEL_TEXT}) of a gap between two sets of {_CIFAR_CLASSES} classes",
        f"{100 * math.fsum(margins) / len(margins):.1f} points, synthetic classes",
        Mark.OTHER_DATA,
        f"{shown} points: the bounds on the difference of halves, for {_CIFAR_CLASSES // GROUP_SIZE} groups in each",
        TABLE_1,
        f"Table 2 prints no errors; from one dropout to the next its gap changes by {steps} points",
    )
    return Outcome([_approaches_zero(gaps), margin])


def _approaches_zero(gaps: list[float]) -> Finding:
    """Approaching zero would make each absolute gap at most the one before."""
    nearest = min(zip(map(abs, gaps), DROPOUTS, strict=True))
    return Finding(
        "Table 2: the grouped gap as dropout grows",
        f"{', '.join(f'{gap:g}' for gap in gaps)} points; nearest to 0 at dropout {nearest[1]:g}",
        Mark.of(all(abs(later) <= abs(earlier) for earlier, later in pairwise(gaps))),
        '"the gap slowly approaches zero"', "arXiv:2306.13357, text; values of its Table 2",
        "it grows up to dropout 0.7, and changes sign where train and test both fall; python -m reproduce dropout "
        "trains networks and has their gaps with intervals",
    )  # fmt: skip


def margin_by_table(name: str) -> float:
    """The printed bound on the difference of halves for as many groups as 100 classes have: z σ √(2/n)."""
    row = TEST_SETS[name]
    n_half = row.n_class // 2 // GROUP_SIZE
    return row.bound_on_difference[0] * math.sqrt(n_half / (_CIFAR_CLASSES // GROUP_SIZE))


# ---------------------------------------------------------------------------------------------------------------------
# figures 2 and 3, on learned linear maps
#
# Synthetic classes have centres in a few dimensions and noise of uneven size in all of them. A model is a linear map
# that Fisher's discriminant learns from some classes: it whitens the noise within them and keeps the directions in
# which their centres differ most. The more directions it keeps, the more it overfits.


class Samples(NamedTuple):
    points: Float64  # (n, DIM)
    labels: NDArray[np.int64]


def draw(n_class: int, seed: int) -> Samples:
    """Draw classes; centres and noise have the same axes in every draw."""
    world, rng = np.random.default_rng(_MODELS_SEED), np.random.default_rng([_MODELS_SEED, seed])
    axes = np.linalg.qr(world.standard_normal((DIM, DIM)))[0]
    noise = np.exp(_UNEVENNESS * world.standard_normal(DIM))
    centres = np.zeros((n_class, DIM))
    centres[:, :_INNER] = _DEVIATIONS * rng.standard_normal((n_class, _INNER))
    labels = np.repeat(np.arange(n_class), _SAMPLES)
    return Samples((centres[labels] + noise * rng.standard_normal((len(labels), DIM))) @ axes, labels)


def learned(samples: Samples, n_direction: int, shrinkage: float) -> Float64:
    """Fisher's discriminant as a map (DIM, n_direction); the scatter within classes is shrunk towards a sphere."""
    n_class = int(samples.labels.max()) + 1
    means = samples.points.reshape(n_class, -1, DIM).mean(axis=1)
    rest = samples.points - means[samples.labels]
    within = rest.T @ rest / (len(rest) - n_class)
    within = (1 - shrinkage) * within + shrinkage * np.trace(within) / DIM * np.eye(DIM)
    whiten = np.linalg.inv(np.linalg.cholesky(within))
    _, directions = np.linalg.eigh(whiten @ np.cov(means.T) @ whiten.T)
    result: Float64 = whiten.T @ directions[:, ::-1][:, :n_direction]
    return result


def by_models(setting: Setting, extent: Extent) -> Outcome:
    n_train, n_test = extent.map_classes
    setting.say(f"  {len(extent.maps) * len(_SHRINKAGES)} maps learned from {n_train} classes")
    train, test = draw(n_train, 0), draw(n_test, 1)
    gaps: dict[str, GeneralizationGap] = {}
    rows = []
    for shrinkage in _SHRINKAGES:
        for n_direction in extent.maps:
            name, through = f"{n_direction} directions, shrinkage {shrinkage:g}", learned(train, n_direction, shrinkage)
            sides = (task_of((part.points @ through, part.labels), setting.threads) for part in (train, test))
            gaps[name] = gap = generalization_gap(*sides, group_size=GROUP_SIZE, measure=MEASURE, draws=_MAP_REPEATS)
            row: list[Any] = [name, DIM * n_direction]
            for side in (gap.plain, gap.grouped):
                row += [side.train.expected, side.test.expected, side.expected, by_z.margin(side, LEVEL)]
            rows.append(row)
    result = model_correlation(
        {name: gap.test_whole for name, gap in gaps.items()}, {name: gap.test_groups for name, gap in gaps.items()}
    )
    least = dict(list(gaps.items())[: len(extent.maps)])
    sizes = {name: DIM * n for name, n in zip(least, extent.maps, strict=True)}
    trend = gap_trend(least, sizes, name="parameters")
    first, second = style.figure(4.8, 3.8), style.figure(5.6, 3.6)
    plot_grouped.model_correlation(result, ax=first.subplots())
    plot_grouped.gap_trend(trend, confidence_level=LEVEL, ax=second.subplots())
    of_models = (
        f"{MEASURE} of {len(gaps)} learned maps on {n_test} classes that were not learned, plain and in groups "
        "(the paper's figure 2)."
    )
    of_gaps = (
        f"The gap in {MEASURE} between the {n_train} classes that a map is learned from and {n_test} others, by its "
        f"parameters, with {LEVEL_TEXT} intervals (the paper's figure 3)."
    )
    columns = ["model", "parameters"]
    for title in ("plain", "grouped"):
        columns += [f"{title}, train", f"{title}, test", f"gap, {title}", f"margin of error, {title}"]
    caption = "Learned maps: both measures, gaps and margins of error"
    return Outcome(
        [_of_correlation(result), _of_trend(trend)],
        [Picture("correlation", of_models, first), Picture("models", of_gaps, second)],
        [Table("models", caption, columns, rows, percent=columns[2:])],
        conclusion=f"Over {len(gaps)} learned maps plain and grouped {MEASURE} correlate at {result.pearson:.2f}, "
        f"but the smallest map has a plain gap of {100 * trend.plain[0].expected:.1f} points and one of "
        f"{100 * trend.grouped[0].expected:.1f} in groups.",
    )


def _of_correlation(outcome: ModelCorrelation) -> Finding:
    low, high = outcome.pearson_interval(confidence_level=LEVEL)
    what = (
        f"{len(outcome.models)} models: correlation of {MEASURE} plain and in groups, on classes that were not learned"
    )
    here = f"Pearson's r {outcome.pearson:.3f} ({low:.3f} to {high:.3f}), Spearman's rho {outcome.spearman:.3f}"
    source = "arXiv:2306.13357, figure 2, which prints no values"
    return Finding(what, here, Mark.OTHER_DATA, "highly correlated", source, _MAPS)


def _of_trend(trend: GapTrend) -> Finding:
    parts = []
    for title, gaps in trend.titles.items():
        below, above = trend.signs(gaps, confidence_level=LEVEL)
        values = ", ".join(f"{100 * gap.expected:.1f}" for gap in gaps)
        parts.append(f"{title} {values} points ({below} surely below 0, {above} surely above)")
    sizes = ", ".join(f"{number:g}" for number in trend.numbers)
    return Finding(
        f"gap of {MEASURE} by the number of parameters ({sizes})",
        "; ".join(parts),
        Mark.OTHER_DATA,
        "even ResNet101 has a negative gap on CARS196, InShop and SOP",
        "arXiv:2306.13357, figure 3, which prints no values",
        f"{_MAPS}; a negative plain gap here comes from the number of classes",
    )
