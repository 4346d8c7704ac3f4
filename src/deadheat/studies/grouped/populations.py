"""Seeded draws from populations that are known: how many intervals hold their values, and gaps where there is none."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from deadheat import evaluate, generalization_gap, grouped
from deadheat.analyses.grouped import Gap
from deadheat.reports.options import Average
from deadheat.statistics import intervals
from deadheat.statistics.intervals import Interval, Intervals
from deadheat.support.extras import require

GROUP_SIZE = 10
LEVEL = 0.95
MEASURE, DISTANCE = "Hit@1", "euclidean"
PLAIN, GROUPED = "plain", f"in groups of {GROUP_SIZE}"
LEVEL_TEXT = f"{100 * LEVEL:.0f} %"
OVER_GROUPS = {"z": "normal", "Student's t": "t", "bootstrap": "percentile"}  # by what the method is called here
OF_PLAIN: dict[str, Average] = {"plain, z over queries": "query", "plain, z over classes": "class"}
REPEATED = "Student's t, 4 repeats"
_RESAMPLES = 999
_REPEATS = 4
_PLAIN_SETTINGS: dict[str, Any] = {"measures": MEASURE, "distance": DISTANCE, "threads": 1}
_SETTINGS: dict[str, Any] = _PLAIN_SETTINGS | {"group_size": GROUP_SIZE}

# Each experiment draws from its own stream.
_DRAWS, _LARGE, _PLAIN, _GAP = range(4)


class Extent(NamedTuple):
    """How much is computed."""

    sizes: tuple[int, ...]  # classes
    large: int  # groups that a population's value is taken from
    draws: int
    plain_draws: int
    null_draws: int
    cost: tuple[int, ...]  # classes
    times: int  # of which the shortest counts
    most_classes: int  # of the made sets beside Table 1
    halves: int  # random ones of each
    maps: tuple[int, ...]  # directions that learned maps keep
    map_classes: tuple[int, int]  # that they are learned from, and others


def ends(interval: Intervals) -> tuple[float, float]:
    """The ends that neither ties nor sampling leave."""
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
    """Classes as clouds of points: centres from a normal distribution, samples from another round each centre.

    Parameters
    ----------
    name : str
    spread : float
        Standard deviation of the centres, that of a sample being 1 on average; 0 for labels that mean nothing.
    unevenness : float
        Standard deviation of the logarithm of the size of a class's cloud.
    samples, dim : int
        Samples of each class, and dimensions.
    """

    name: str
    spread: float
    unevenness: float
    samples: int = 4
    dim: int = 16

    def draw(self, n_class: int, *seed: int) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """Embeddings (n_class · samples, dim) and labels of classes that are drawn anew."""
        rng = np.random.default_rng((*seed, round(10 * self.spread)))
        centres = self.spread * rng.standard_normal((n_class, self.dim), dtype=np.float32)
        sizes = np.exp(self.unevenness * rng.standard_normal(n_class, dtype=np.float32))
        labels = np.repeat(np.arange(n_class), self.samples)
        points = rng.standard_normal((len(labels), self.dim), dtype=np.float32)
        return centres[labels] + sizes[labels, None] * points, labels

    def chance(self, n_class: int) -> float:
        """The expected Hit@1 among so many classes if labels mean nothing: the share of the right among the others."""
        return (self.samples - 1) / (n_class * self.samples - 1)


RANDOM = Population("random", 0.0, 0.0)
CLUSTERED = Population("clustered", 1.3, 0.3)


class Known(NamedTuple):
    """The value of a population; its standard error is 0 where it follows from the definition."""

    value: float
    error: float


class Coverage(NamedTuple):
    """How many of some intervals hold the value of a population.

    Attributes
    ----------
    population, method : str
    n_group, n_draw, n_hold : int
    known : Known
        The value that they are for.
    mean, width : float
        Mean over the draws of the value found, and of the interval's width.
    """

    population: str
    method: str
    n_group: int
    n_draw: int
    n_hold: int
    known: Known
    mean: float
    width: float

    @property
    def share(self) -> float:
        return self.n_hold / self.n_draw

    def interval(self, confidence_level: float = LEVEL) -> Interval:
        """What the number of draws leaves open."""
        return binomial(self.n_hold, self.n_draw, confidence_level)


def binomial(n_hold: int, n_draw: int, confidence_level: float) -> Interval:
    """The interval of Clopper and Pearson for a share."""
    test = require("scipy.stats", "stats", "a binomial interval").binomtest(n_hold, n_draw)
    return Interval(*map(float, test.proportion_ci(confidence_level, method="exact")))


def value_in_groups(population: Population, n_group: int) -> Known:
    """The value inside groups, estimated once from a large draw."""
    result = grouped(*population.draw(n_group * GROUP_SIZE, _LARGE), **_SETTINGS)[MEASURE]
    return Known(result.expected, result.errors.expected)


def value_of_plain(population: Population, n_class: int, n_draw: int) -> Known:
    """The value of the plain measure on so many classes, from draws that are not used again."""
    values = [
        evaluate(*population.draw(n_class, _PLAIN, n_class, number), **_PLAIN_SETTINGS)[MEASURE].expected
        for number in range(n_draw)
    ]
    return Known(math.fsum(values) / n_draw, intervals.standard_error(values))


def coverages(population: Population, n_group: int, n_draw: int, known: Known, *, repeated: bool) -> list[Coverage]:
    """Count the intervals over groups that hold the population's value, of each kind."""
    drawn: dict[str, list[tuple[float, Interval]]] = {}
    for number in range(n_draw):
        data = population.draw(n_group * GROUP_SIZE, _DRAWS, n_group, number)
        result = grouped(*data, **_SETTINGS, seed=number)[MEASURE]
        for name, method in OVER_GROUPS.items():
            interval = result.interval(
                confidence_level=LEVEL, method=method, n_resamples=_RESAMPLES, seed=number
            ).expected
            drawn.setdefault(name, []).append((result.expected, interval))
        if repeated:
            result = grouped(*data, **_SETTINGS, seed=number, repeats=_REPEATS)[MEASURE]
            drawn.setdefault(REPEATED, []).append(
                (result.expected, result.interval(confidence_level=LEVEL, method="t").expected)
            )
    return [_coverage(population, name, n_group, known, each) for name, each in drawn.items()]


def plain_coverages(population: Population, n_group: int, n_draw: int, known: Known) -> list[Coverage]:
    """The same of the plain measure on as many classes, its intervals over queries and over classes."""
    drawn: dict[str, list[tuple[float, Interval]]] = {}
    for number in range(n_draw):
        report = evaluate(*population.draw(n_group * GROUP_SIZE, _DRAWS, n_group, number), **_PLAIN_SETTINGS)
        for name, unit in OF_PLAIN.items():
            interval = report.interval(MEASURE, confidence_level=LEVEL, resample=unit, method="normal").expected
            drawn.setdefault(name, []).append((report[MEASURE].expected, interval))
    return [_coverage(population, name, n_group, known, each) for name, each in drawn.items()]


def null_gaps(population: Population, n_class: tuple[int, int], n_draw: int) -> list[tuple[Gap, Gap]]:
    """Gaps, grouped and plain, between two sets of classes that one population gave: there is none."""
    gaps = []
    for number in range(n_draw):
        train, test = (population.draw(n, _GAP, n, number) for n in n_class)
        gap = generalization_gap(
            *train, *test, group_size=GROUP_SIZE, measure=MEASURE, seed=number, distance=DISTANCE, threads=1
        )
        gaps.append((gap.grouped, gap.plain))
    return gaps


def _coverage(
    population: Population, method: str, n_group: int, known: Known, drawn: Sequence[tuple[float, Interval]]
) -> Coverage:
    """Count; an interval that is NaN holds nothing."""
    return Coverage(
        population.name,
        method,
        n_group,
        len(drawn),
        sum(interval.low <= known.value <= interval.high for _, interval in drawn),
        known,
        math.fsum(value for value, _ in drawn) / len(drawn),
        math.fsum(interval.high - interval.low for _, interval in drawn) / len(drawn),
    )
