"""Seeded draws from known populations: their values, and the coverage of intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from deadheat.analyses.gaps import Gap, generalization_gap
from deadheat.analyses.grouped import grouped
from deadheat.plots import style
from deadheat.plots.grouped import Band, interval_coverage
from deadheat.reports.averaging import Average
from deadheat.reports.evaluating import evaluate
from deadheat.reports.statistics import intervals
from deadheat.reports.statistics.intervals import Interval, Intervals
from deadheat.studies.published import GROUP_SIZE
from deadheat.studies.study import LEVEL, Finding, Mark, Outcome, Picture, Setting, Table
from deadheat.support.lazy import require

MEASURE: Final = "Hit@1"
DISTANCE: Final = "euclidean"
PLAIN, GROUPED = "plain", f"in groups of {GROUP_SIZE}"
LEVEL_TEXT = f"{100 * LEVEL:.0f} %"
OVER_GROUPS = {"z": "normal", "Student's t": "t", "bootstrap": "percentile"}  # methods of an interval, by title
OF_PLAIN: dict[str, Average] = {"plain, z over queries": "query", "plain, z over classes": "class"}
REPEATED = "Student's t, 4 repeats"
_RESAMPLES = 999
_REPEATS = 4
_PLAIN_SETTINGS: dict[str, Any] = {"measures": MEASURE, "distance": DISTANCE, "threads": 1}
_SETTINGS: dict[str, Any] = _PLAIN_SETTINGS | {"group_size": GROUP_SIZE}

# Each experiment draws from its own stream.
_DRAWS, _LARGE, _PLAIN, _GAP = range(4)


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


def ends(interval: Intervals) -> tuple[float, float]:
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
    spread: float  # standard deviation of the centres, where samples have about 1; 0: labels are meaningless
    unevenness: float  # standard deviation of the logarithm of the size of a class's cloud
    samples: int = 4  # of each class
    dim: int = 16

    def draw(self, n_class: int, *seed: int) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """Draw embeddings (n_class · samples, dim) and labels of new classes."""
        rng = np.random.default_rng((*seed, round(10 * self.spread)))
        centres = self.spread * rng.standard_normal((n_class, self.dim), dtype=np.float32)
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
    """How many of some intervals hold the value of a population."""

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


def value_in_groups(population: Population, n_group: int) -> Known:
    result = grouped(*population.draw(n_group * GROUP_SIZE, _LARGE), **_SETTINGS)[MEASURE]
    return Known(result.expected, result.errors.expected)


def value_of_plain(population: Population, n_class: int, n_draw: int) -> Known:
    """The value of the plain measure on `n_class` classes, from separate draws."""
    values = [
        evaluate(*population.draw(n_class, _PLAIN, n_class, number), **_PLAIN_SETTINGS)[MEASURE].expected
        for number in range(n_draw)
    ]
    return Known(math.fsum(values) / n_draw, intervals.standard_error(values))


def coverages_over_groups(
    population: Population, n_group: int, n_draw: int, known: Known, *, repeated: bool
) -> list[Coverage]:
    """Count the intervals over groups that hold the population's value, of each kind."""
    drawn: dict[str, list[tuple[float, Interval]]] = {}
    for number in range(n_draw):
        data = population.draw(n_group * GROUP_SIZE, _DRAWS, n_group, number)
        result = grouped(*data, **_SETTINGS, seed=number)[MEASURE]
        for name, method in OVER_GROUPS.items():
            found = result.interval(confidence_level=LEVEL, method=method, n_resamples=_RESAMPLES, seed=number)
            drawn.setdefault(name, []).append((result.expected, found.expected))
        if repeated:
            result = grouped(*data, **_SETTINGS, seed=number, repeats=_REPEATS)[MEASURE]
            found = result.interval(confidence_level=LEVEL, method="t")
            drawn.setdefault(REPEATED, []).append((result.expected, found.expected))
    return [_coverage(population, name, n_group, known, each) for name, each in drawn.items()]


def coverages_of_plain(population: Population, n_group: int, n_draw: int, known: Known) -> list[Coverage]:
    """The same for the plain measure on as many classes, with intervals over queries and over classes."""
    drawn: dict[str, list[tuple[float, Interval]]] = {}
    for number in range(n_draw):
        report = evaluate(*population.draw(n_group * GROUP_SIZE, _DRAWS, n_group, number), **_PLAIN_SETTINGS)
        for name, unit in OF_PLAIN.items():
            interval = report.interval(MEASURE, confidence_level=LEVEL, resample=unit, method="normal").expected
            drawn.setdefault(name, []).append((report[MEASURE].expected, interval))
    return [_coverage(population, name, n_group, known, each) for name, each in drawn.items()]


def null_gaps(population: Population, n_class: tuple[int, int], n_draw: int) -> list[tuple[Gap, Gap]]:
    """Gaps, grouped and plain, between two sets of classes of one population, where the true gap is 0."""
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
    """Count; a NaN interval holds nothing."""
    n_hold = sum(interval.low <= known.value <= interval.high for _, interval in drawn)
    mean = math.fsum(value for value, _ in drawn) / len(drawn)
    width = math.fsum(interval.high - interval.low for _, interval in drawn) / len(drawn)
    return Coverage(population.name, method, n_group, len(drawn), n_hold, known, mean, width)


# ---------------------------------------------------------------------------------------------------------------------
# coverage: how many intervals hold the true value

_GROUPS, _REPEATED_AT = (5, 10, 20, 50), 10
_WHY = {
    "z": "with few groups the standard deviation is itself uncertain, which z ignores",
    "Student's t": "the mean of a few skewed values is not normal",
    "bootstrap": "as z with few groups, and it divides by N instead of N - 1",
    REPEATED: "a mean over repeats varies less than a single draw, whose error it is given: too wide",
    "plain, z over queries": "queries of one class are dependent",
    "plain, z over classes": "classes are in each other's gallery, so that they are not fully independent",
}
_NAIVE = "plain, z over queries"
_WHY_RANDOM = f"about {RANDOM.samples - 1} hits are expected in all, for any number of classes: far from normal"


def by_coverage(setting: Setting, extent: Extent, known: Known) -> Outcome:
    coverages: list[Coverage] = []
    for population in (RANDOM, CLUSTERED):
        for n_group in _GROUPS:
            setting.say(f"  coverage: {population.name}, {n_group} groups")
            inside, n_class, n_draw = known, n_group * GROUP_SIZE, extent.plain_draws
            if population is RANDOM:
                inside, plain = (Known(population.chance(n), 0.0) for n in (GROUP_SIZE, n_class))
            else:
                plain = value_of_plain(population, n_class, n_draw)
            repeated = n_group == _REPEATED_AT
            coverages += coverages_over_groups(population, n_group, extent.draws, inside, repeated=repeated)
            coverages += coverages_of_plain(population, n_group, n_draw, plain)
    kinds = dict.fromkeys((each.population, each.method) for each in coverages)
    return Outcome(
        [finding_of([each for each in coverages if (each.population, each.method) == kind]) for kind in kinds],
        [_coverage_picture(coverages)],
        [_coverage_table(coverages)],
        conclusion=_conclusion(coverages),
    )


def _conclusion(coverages: Sequence[Coverage]) -> str:
    over = {name: [each.share for each in coverages if each.method == name] for name in ("Student's t", _NAIVE)}
    ranges = [f"{100 * min(shares):.0f} to {100 * max(shares):.0f} %" for shares in over.values()]
    return (
        f"Of {LEVEL_TEXT} intervals, Student's t over groups holds the value in {ranges[0]} of the draws; z over the "
        f"queries of the plain measure in {ranges[1]}."
    )


def finding_of(coverages: Sequence[Coverage]) -> Finding:
    """Coverages of one population and method; it differs if the level is excluded for any number of groups."""
    around = [each.interval(1 - (1 - LEVEL) / len(coverages)) for each in coverages]
    holds = all(end.low <= LEVEL <= end.high for end in around)
    mark = Mark.by_interval(holds, max((end.high - end.low) / 2 for end in around), 1.0)  # of a share
    population, method, _, n_draw, *_ = coverages[0]
    why = _WHY_RANDOM if population == RANDOM.name and method in OF_PLAIN else _WHY[method]
    shares = ", ".join(f"{each.n_group}: {100 * each.share:.1f}" for each in coverages)
    what = f"{LEVEL_TEXT} intervals that hold, {population}, {method}; by number of groups"
    here = f"{shares} % of {n_draw} draws"
    return Finding(what, here, mark, LEVEL_TEXT, "the intervals' own level", "" if holds else why)


def _coverage_picture(coverages: Sequence[Coverage]) -> Picture:
    figure = style.figure(7.6, 3.6)
    methods = [*OVER_GROUPS, next(iter(OF_PLAIN))]
    both = figure.subplots(1, 2, sharey=True)
    for ax, population in zip(both, (RANDOM, CLUSTERED), strict=True):
        interval_coverage({name: _band(coverages, population.name, name) for name in methods}, level=LEVEL, ax=ax)
        ax.set_xlabel(f"groups of {GROUP_SIZE} classes, {population.name}")
        ax.get_legend().remove()
    both[1].set_ylabel("")
    handles, names = both[0].get_legend_handles_labels()
    look: dict[str, Any] = {"ncols": len(names), "frameon": False, "fontsize": "small", "handlelength": 3.0}
    figure.legend(handles, names, loc="outside upper center", **look)
    caption = (
        f"How many of the {LEVEL_TEXT} intervals for {MEASURE} hold the population's value. Bars: confidence "
        "intervals of this share. The plain measure is of as many classes as the groups have, and for their value."
    )
    return Picture("coverage", caption, figure)


def _band(coverages: Sequence[Coverage], population: str, method: str) -> Band:
    rows = [
        (each.n_group, each.share, *each.interval(LEVEL))
        for each in coverages
        if (each.population, each.method) == (population, method)
    ]
    return Band(*map(np.array, zip(*rows, strict=True)))


def _coverage_table(coverages: Sequence[Coverage]) -> Table:
    columns = ["population", "method", "n_group", "n_draw", "n_hold", "share", "low", "high",
               "population_value", "population_error", "mean_value", "mean_width"]  # fmt: skip
    rows = [
        [*each[:5], each.share, *each.interval(LEVEL), each.known.value, each.known.error, each.mean, each.width]
        for each in coverages
    ]
    caption = (
        f"Intervals that hold the population's value, with the {LEVEL_TEXT} interval of Clopper and Pearson; that "
        "value and its standard error (0: exact); mean value and mean width of the interval over the draws"
    )
    return Table("coverage", caption, columns, rows, percent=columns[5:])
