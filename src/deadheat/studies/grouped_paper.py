"""The paper's Table 1 and figures 2 and 3 on synthetic classes, and its statements about its Table 2.

By its section 3.2 the mean of N independent groups is normal with variance σ²/N. So the bound of the measure must be
its value + z σ/√N, and that of the difference of two halves, with N/2 groups each, z √(σ²/(N/2) + σ²/(N/2)) = 2 z σ/√N.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from deadheat.analyses.gaps import GeneralizationGap, generalization_gap, split_half
from deadheat.analyses.model_trends import GapTrend, ModelCorrelation, gap_trend, model_correlation
from deadheat.plots import grouped as plot_grouped
from deadheat.plots import style
from deadheat.studies import published
from deadheat.studies.grouped_populations import CLUSTERED, DISTANCE, LEVEL_TEXT, MEASURE, Extent
from deadheat.studies.published import GROUP_SIZE
from deadheat.studies.study import LEVEL, Finding, Mark, Outcome, Picture, Setting, Table

Float64 = NDArray[np.float64]

DIM = 128
_INNER, _SAMPLES, _SPREAD, _UNEVENNESS = 12, 4, 1.3, 0.7
_SHRINKAGES = (0.001, 0.03, 0.3)
_REPEATS = 5
_MODELS_SEED = 17
_WHY = "linear maps learned from synthetic classes, not networks and photographs"
_TABLE_SEED = 11
_CIFAR_CLASSES = 100  # at most in either set of CIFAR-100
_CLAIMS_SEED = 13


# ---------------------------------------------------------------------------------------------------------------------
# Table 1


class Row(NamedTuple):  # one set of classes, in fractions
    plain: float
    grouped: float
    bound: float
    difference: tuple[float, float]  # of random halves: mean, standard deviation
    bound_on_difference: tuple[float, float]


def by_table(setting: Setting, extent: Extent) -> Outcome:
    rows = {}
    for number, (name, printed) in enumerate(published.TEST_SETS.items()):
        if printed.n_class <= extent.most_classes:
            setting.say(f"  Table 1: {printed.n_class} classes")
            data = CLUSTERED.draw(printed.n_class, _TABLE_SEED, number)
            rows[name] = table_row(*data, n_draw=extent.halves, threads=setting.threads)
    findings = [finding for name, row in rows.items() for finding in _row_findings(name, row)]
    return Outcome(findings, tables=[_table_1(rows)])


def table_row(embeddings: NDArray[np.float32], labels: NDArray[np.int64], *, n_draw: int, threads: int | None) -> Row:
    """The columns of Table 1 for one set, over `n_draw` random splits into halves."""
    halves = split_half(
        embeddings, labels, group_size=GROUP_SIZE, measure=MEASURE, splits=n_draw, distance=DISTANCE, threads=threads
    )
    found = halves.to_dict(confidence_level=LEVEL, method="normal")
    values = {name: found[name]["expected"] for name in ("plain", "grouped", "upper_limit")}
    spread = ((found[name]["expected"], found[name]["spread"]) for name in ("difference", "margin"))
    return Row(*values.values(), *spread)


def ratio_by_theory(n_class: int) -> float:
    """The bound on the difference of halves over (bound − value): 2, or a little more where groups are left over."""
    whole, half = n_class // GROUP_SIZE, n_class // 2 // GROUP_SIZE
    return math.sqrt(2 / half) / math.sqrt(1 / whole)


def printed_ratio(row: published.TestSet) -> tuple[float, float]:
    """The same from the printed values: the least and the most that their rounding allows."""
    above, between = row.bound - row.grouped, row.bound_on_difference[0]
    return (between - 0.05) / (above + 0.1), (between + 0.05) / (above - 0.1)


def _row_findings(name: str, row: Row) -> list[Finding]:
    printed, source = published.TEST_SETS[name], published.GROUPED_TABLE_1
    set_name = f"as many classes as {name} ({printed.n_class})"
    made = "a synthetic population, not the paper's photographs"
    plain, inside, bound = (f"{100 * value:.1f}" for value in row[:3])
    low, high = printed_ratio(printed)
    theory = ratio_by_theory(printed.n_class)
    ours = row.bound_on_difference[0] / (row.bound - row.grouped)
    agrees = low <= theory <= high
    return [
        Finding(f"{set_name}: {MEASURE} plain, in groups, and its bound", f"{plain}, {inside}, {bound} %",
                Mark.OTHER_DATA, f"{printed.recall}, {printed.grouped}, {printed.bound} %", source,
                f"{made}; the bound is the upper end of the {LEVEL_TEXT} interval of the mean over groups"),
        Finding(f"{set_name}: difference in groups of two halves, and the bound on it",
                f"{_spread(row.difference)} and {_spread(row.bound_on_difference)} points", Mark.OTHER_DATA,
                "{} ± {:g} and {} ± {:g} points".format(*printed.difference, *printed.bound_on_difference), source,
                f"{made}; the bound is half the width of the interval of the difference"),
        Finding(f"{name}: (bound on the difference) / (bound - value)", f"{ours:.2f}", Mark.of(agrees),
                f"{low:.2f} to {high:.2f} as rounded in print; {theory:.2f} by section 3.2", source,
                "" if agrees else "the halves have few groups and different σ; the table does not say which was used"),
    ]  # fmt: skip


def _spread(value: tuple[float, float]) -> str:
    return f"{100 * value[0]:.1f} ± {100 * value[1]:.1f}"


def _table_1(rows: dict[str, Row]) -> Table:
    lines = []
    for name, printed in published.TEST_SETS.items():
        flat = (*printed[1:4], *printed.difference, *printed.bound_on_difference)
        lines.append([name, printed.n_class, "the paper's data", *(value / 100 for value in flat)])
        if name in rows:
            row = rows[name]
            lines.append([name, printed.n_class, "synthetic classes", *row[:3], *row[3], *row[4]])
    values = (MEASURE, "in groups", "bound", "difference of halves", "its spread", "bound on the difference",
              "spread of the bound")  # fmt: skip
    caption = (
        "Table 1 of the paper, and synthetic sets with as many classes. Synthetic: bounds by section 3.2, "
        f"value + z σ/√N and z √(σ₁²/N₁ + σ₂²/N₂) at {LEVEL_TEXT}; spread: the standard deviation over random halves"
    )
    return Table("table-1", caption, ["set", "classes", "of", *values], lines, percent=values)


# ---------------------------------------------------------------------------------------------------------------------
# claims about Table 2


def by_claims(setting: Setting, extent: Extent) -> Outcome:
    setting.say("  claims about Table 2")
    gaps = [row.gap_grouped for row in published.DROPOUTS.values()]
    steps = [abs(later - earlier) for earlier, later in pairwise(gaps)]
    return Outcome([_approaches_zero(gaps), _margin(setting, extent, steps)])


def _approaches_zero(gaps: list[float]) -> Finding:
    """Approaching zero would make each absolute gap at most the one before."""
    nearest = min(zip(map(abs, gaps), published.DROPOUTS, strict=True))
    return Finding(
        "Table 2: the grouped gap as dropout grows",
        f"{', '.join(f'{gap:g}' for gap in gaps)} points; nearest to 0 at dropout {nearest[1]:g}",
        Mark.of(all(abs(later) <= abs(earlier) for earlier, later in pairwise(gaps))),
        '"the gap slowly approaches zero"', "arXiv:2306.13357, text; values of its Table 2",
        "it grows up to dropout 0.7, and changes sign where train and test both fall; deadheat reproduce dropout "
        "trains networks and has their gaps with intervals",
    )  # fmt: skip


def _margin(setting: Setting, extent: Extent, steps: list[float]) -> Finding:
    embeddings, labels = CLUSTERED.draw(2 * _CIFAR_CLASSES, _CLAIMS_SEED)
    halves = split_half(
        embeddings, labels, group_size=GROUP_SIZE, measure=MEASURE, splits=extent.halves, distance=DISTANCE,
        threads=setting.threads,
    )  # fmt: skip
    margins = halves.margins(confidence_level=LEVEL, method="normal")
    shown = ", ".join(f"{margin_by_table(name):.1f} ({name})" for name in ("CARS196", "CUB200"))
    return Finding(
        f"margin of error ({LEVEL_TEXT}) of a gap between two sets of {_CIFAR_CLASSES} classes",
        f"{100 * math.fsum(margins) / len(margins):.1f} points, synthetic classes",
        Mark.OTHER_DATA,
        f"{shown} points: the bounds on the difference of halves, for {_CIFAR_CLASSES // GROUP_SIZE} groups in each",
        published.GROUPED_TABLE_1,
        "Table 2 prints no errors; from one dropout to the next its gap changes by "
        f"{', '.join(f'{step:.1f}' for step in steps)} points",
    )


def margin_by_table(name: str) -> float:
    """The printed bound on the difference of halves for as many groups as 100 classes have: z σ √(2/n)."""
    row = published.TEST_SETS[name]
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
    centres[:, :_INNER] = _SPREAD * rng.standard_normal((n_class, _INNER))
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
    found: Float64 = whiten.T @ directions[:, ::-1][:, :n_direction]
    return found


def by_models(setting: Setting, extent: Extent) -> Outcome:
    n_train, n_test = extent.map_classes
    setting.say(f"  {len(extent.maps) * len(_SHRINKAGES)} maps learned from {n_train} classes")
    train, test = draw(n_train, 0), draw(n_test, 1)
    gaps: dict[str, GeneralizationGap] = {}
    for shrinkage in _SHRINKAGES:
        for n_direction in extent.maps:
            through = learned(train, n_direction, shrinkage)
            gaps[f"{n_direction} directions, shrinkage {shrinkage:g}"] = generalization_gap(
                train.points @ through, train.labels, test.points @ through, test.labels, group_size=GROUP_SIZE,
                measure=MEASURE, repeats=_REPEATS, distance=DISTANCE, threads=setting.threads,
            )  # fmt: skip
    least = list(gaps)[: len(extent.maps)]
    found = model_correlation(
        {name: gap.test_whole for name, gap in gaps.items()}, {name: gap.test_groups for name, gap in gaps.items()}
    )
    sizes = {name: DIM * n for name, n in zip(least, extent.maps, strict=True)}
    trend = gap_trend({name: gaps[name] for name in least}, sizes, name="parameters")
    return Outcome(
        [_of_correlation(found), _of_trend(trend)],
        _pictures(found, trend, n_train, n_test),
        [_models_table(gaps)],
        conclusion=f"Over {len(gaps)} learned maps plain and grouped {MEASURE} correlate at {found.pearson:.2f}, "
        f"but the smallest map has a plain gap of {100 * trend.plain[0].expected:.1f} points and one of "
        f"{100 * trend.grouped[0].expected:.1f} in groups.",
    )


def _of_correlation(found: ModelCorrelation) -> Finding:
    low, high = found.pearson_interval(confidence_level=LEVEL)
    what = f"{len(found.models)} models: correlation of {MEASURE} plain and in groups, on classes that were not learned"
    here = f"Pearson's r {found.pearson:.3f} ({low:.3f} to {high:.3f}), Spearman's rho {found.spearman:.3f}"
    source = "arXiv:2306.13357, figure 2, which prints no values"
    return Finding(what, here, Mark.OTHER_DATA, "highly correlated", source, _WHY)


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
        f"{_WHY}; a negative plain gap here comes from the number of classes",
    )


def _pictures(found: ModelCorrelation, trend: GapTrend, n_train: int, n_test: int) -> list[Picture]:
    first, second = style.figure(4.8, 3.8), style.figure(5.6, 3.6)
    plot_grouped.model_correlation(found, ax=first.subplots())
    plot_grouped.gap_trend(trend, confidence_level=LEVEL, ax=second.subplots())
    of_models = (
        f"{MEASURE} of {len(found.models)} learned maps on {n_test} classes that were not learned, plain and in groups "
        "(the paper's figure 2)."
    )
    of_gaps = (
        f"The gap in {MEASURE} between the {n_train} classes that a map is learned from and {n_test} others, by its "
        f"parameters, with {LEVEL_TEXT} intervals (the paper's figure 3)."
    )
    return [Picture("correlation", of_models, first), Picture("models", of_gaps, second)]


def _models_table(gaps: dict[str, GeneralizationGap]) -> Table:
    columns = ["model", "parameters"]
    for title in ("plain", "grouped"):
        columns += [f"{title}, train", f"{title}, test", f"gap, {title}", f"margin of error, {title}"]
    rows = []
    for name, gap in gaps.items():
        row: list[float] = []
        for side in (gap.plain, gap.grouped):
            row += [side.train.expected, side.test.expected, side.expected, side.margin(confidence_level=LEVEL)]
        rows.append([name, DIM * int(name.split()[0]), *row])
    return Table("models", "Learned maps: both measures, gaps and margins of error", columns, rows, percent=columns[2:])
