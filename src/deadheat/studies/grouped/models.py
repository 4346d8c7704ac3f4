"""Many models: the paper's figures 2 and 3 on maps that are learned here.

Made classes have centres in a few dimensions and noise of uneven size in all of them; a model is a linear map, learned
from the samples of some classes by Fisher's discriminant: it whitens the noise within these classes and keeps the
directions in which their centres differ most. The more directions it keeps, the more it has learned by heart.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from deadheat import gap_trend, generalization_gap, model_correlation, plots
from deadheat.analyses.grouped import GapTrend, GeneralizationGap, ModelCorrelation
from deadheat.plots import style
from deadheat.studies.grouped.populations import DISTANCE, GROUP_SIZE, LEVEL, LEVEL_TEXT, MEASURE, Extent
from deadheat.studies.study import Finding, Mark, Outcome, Picture, Setting, Table

Float64 = NDArray[np.float64]

DIM = 128
_INNER, _SAMPLES, _SPREAD, _UNEVENNESS = 12, 4, 1.3, 0.7
_SHRINKAGES = (0.001, 0.03, 0.3)
_REPEATS = 5
_SEED = 17
_WHY = "linear maps learned from made classes, not networks and photographs"


class Samples(NamedTuple):
    """Points (n, DIM) of classes and their labels."""

    points: Float64
    labels: NDArray[np.int64]


def draw(n_class: int, seed: int) -> Samples:
    """Classes drawn anew; centres and noise have the same axes in every draw."""
    world, rng = np.random.default_rng(_SEED), np.random.default_rng([_SEED, seed])
    axes = np.linalg.qr(world.standard_normal((DIM, DIM)))[0]
    noise = np.exp(_UNEVENNESS * world.standard_normal(DIM))
    centres = np.zeros((n_class, DIM))
    centres[:, :_INNER] = _SPREAD * rng.standard_normal((n_class, _INNER))
    labels = np.repeat(np.arange(n_class), _SAMPLES)
    return Samples((centres[labels] + noise * rng.standard_normal((len(labels), DIM))) @ axes, labels)


def learned(samples: Samples, n_direction: int, shrinkage: float) -> Float64:
    """Fisher's discriminant as a map (DIM, n_direction); the scatter within classes is drawn to a sphere by a share."""
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
    """Learn maps of several sizes, and measure each on the classes it was learned from and on others."""
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
        [_correlation_picture(found, n_test), _trend_picture(trend, n_train, n_test)],
        [_table(gaps, DIM)],
        conclusion=f"Over {len(gaps)} learned maps plain and grouped {MEASURE} correlate at {found.pearson:.2f}, "
        f"but the smallest map has a plain gap of {100 * trend.plain[0].expected:.1f} points and one of "
        f"{100 * trend.grouped[0].expected:.1f} in groups.",
    )


def _of_correlation(found: ModelCorrelation) -> Finding:
    low, high = found.pearson_interval(confidence_level=LEVEL)
    return Finding(
        f"{len(found.models)} models: correlation of {MEASURE} plain and in groups, on classes that were not learned",
        f"Pearson's r {found.pearson:.3f} ({low:.3f} to {high:.3f}), Spearman's rho {found.spearman:.3f}",
        Mark.OTHER_DATA,
        "highly correlated",
        "arXiv:2306.13357, figure 2, which prints no values",
        _WHY,
    )


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
        f"{_WHY}; a negative plain gap here is one of the number of classes",
    )


def _correlation_picture(found: ModelCorrelation, n_test: int) -> Picture:
    figure = style.figure(4.8, 3.8)
    plots.model_correlation(found, ax=figure.subplots())
    caption = (
        f"{MEASURE} of {len(found.models)} learned maps on {n_test} classes that were not learned, plain and in groups "
        "(the paper's figure 2)."
    )
    return Picture("correlation", caption, figure)


def _trend_picture(trend: GapTrend, n_train: int, n_test: int) -> Picture:
    figure = style.figure(5.6, 3.6)
    plots.gap_trend(trend, confidence_level=LEVEL, ax=figure.subplots())
    caption = (
        f"The gap in {MEASURE} between the {n_train} classes that a map is learned from and {n_test} others, by its "
        f"parameters, with {LEVEL_TEXT} intervals (the paper's figure 3)."
    )
    return Picture("models", caption, figure)


def _table(gaps: dict[str, GeneralizationGap], dim: int) -> Table:
    columns = ["model", "parameters"]
    for title in ("plain", "grouped"):
        columns += [f"{title}, train", f"{title}, test", f"gap, {title}", f"margin of error, {title}"]
    rows = []
    for name, gap in gaps.items():
        row: list[float] = []
        for side in (gap.plain, gap.grouped):
            row += [side.train.expected, side.test.expected, side.expected, side.margin(confidence_level=LEVEL)]
        rows.append([name, dim * int(name.split()[0]), *row])
    return Table("models", "Learned maps: both measures, gaps and margins of error", columns, rows, percent=columns[2:])
