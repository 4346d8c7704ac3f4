"""Grouped measures: number of classes, coverage of intervals, gaps where there are none, models, cost.

Input: synthetic populations and, where given, files of embeddings. Output: pictures, tables and findings.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deadheat.analyses.gaps import generalization_gap
from deadheat.analyses.grouped import grouped
from deadheat.engine.literals import DistanceName
from deadheat.engine.task import Task
from deadheat.inputs.samples import read
from deadheat.plots import style
from deadheat.reports.evaluating import evaluate
from deadheat.reports.statistics import intervals
from deadheat.support.lazy import require
from reproduce import by_z
from reproduce import grouped_populations as populations
from reproduce.grouped_populations import (
    CLUSTERED,
    DISTANCE,
    FULL,
    GROUP_SIZE,
    GROUPED,
    LEVEL_TEXT,
    MEASURE,
    PLAIN,
    QUICK,
    RANDOM,
    Coverage,
    Extent,
    Known,
    by_claims,
    by_models,
    by_table,
    ends,
    percent,
)
from reproduce.plots import Band, gap_histogram, interval_coverage, measure_against_classes, processor_time
from reproduce.study import LEVEL, WIDE, Finding, Mark, Outcome, Picture, Setting, Table, joined, missing

TITLE = "Grouped Recall@K: the number of classes, intervals, and cost"
SOURCE = populations.PAPER
ABOUT = (
    "Hit@1, which metric learning calls Recall@1, falls as classes are added, so that sets with different numbers of "
    "classes cannot be compared by it. The grouped measure averages it over groups of 10 classes: it does not depend "
    "on the number of classes, costs less, and comes with an interval. The paper's data sets are read from files; all "
    "other data is drawn from populations whose value is known."
)
NEEDS = ("scipy",)
_CLAIM = "arXiv:2306.13357, abstract and figure 1, which prints no values"
_CLASSES = (200, 50)  # of the gap that should be 0
_SAMPLES, _DIM, _MOST_PLAIN = 10, 64, 64_000
_SEED = 7
_GROUPS, _REPEATED_AT = (5, 10, 20, 50), 10
_NAIVE = "plain, z over queries"
_WHY = {
    "z": "with few groups the standard deviation is itself uncertain, which z ignores",
    "Student's t": "the mean of a few skewed values is not normal",
    "bootstrap": "as z with few groups, and it divides by N instead of N - 1",
    populations.REPEATED: "a mean over repeats varies less than a single draw, whose error it is given: too wide",
    _NAIVE: "queries of one class are dependent",
    "plain, z over classes": "classes are in each other's gallery, so that they are not fully independent",
}
_WHY_RANDOM = f"about {RANDOM.samples - 1} hits are expected in all, for any number of classes: far from normal"


def run(setting: Setting) -> Outcome:
    extent = QUICK if setting.quick else FULL
    setting.say(f"  the populations' values, from {extent.large} groups each")
    known = populations.value_in_groups(CLUSTERED, extent.large)
    parts = [
        by_chance(populations.value_in_groups(RANDOM, extent.large)),
        by_size(setting, extent, known),
        by_table(setting, extent),
        by_coverage(setting, extent, known),
        by_null_gap(setting, extent),
        by_models(setting, extent),
        by_claims(setting, extent),
        by_cost(setting, extent),
        *(by_file(setting, name, stem) for name, stem in populations.IMAGE_SETS.items()),
    ]
    return joined(parts, _text(known, extent))  # each part has its conclusion


def _text(known: Known, extent: Extent) -> list[str]:
    m = CLUSTERED.samples
    return [
        f"Synthetic populations have {m} samples per class in {CLUSTERED.dim} dimensions; distances are Euclidean. "
        f"Random: labels are meaningless, so that the expected {MEASURE} inside a group is ({m} - 1) / ({GROUP_SIZE} x "
        f"{m} - 1). Clustered: classes are clouds of different sizes around normally distributed centres. Its value "
        f"inside a group was computed once from {extent.large:,} groups: {percent(known.value)}, with a standard error "
        f"of {100 * known.error:.2f} points.",
        "The paper's data sets are not part of deadheat. Next to its Table 1 are synthetic sets with as many classes, "
        "which show the same effect with other values. By its section 3.2 the mean of N groups is normal with variance "
        "σ²/N, so that its bound must be the value + z σ/√N, and the bound on the difference of two halves twice as "
        "far from 0 as that bound is from the value.",
    ]


# ---------------------------------------------------------------------------------------------------------------------
# the number of classes


def by_chance(value: Known) -> Outcome:
    exact = RANDOM.chance(GROUP_SIZE)
    agrees = abs(value.value - exact) <= 3 * value.error
    finding = Finding(
        f"random embeddings: {MEASURE} {GROUPED}", f"{percent(value.value)} (s.e. {100 * value.error:.2f})",
        Mark.by_interval(agrees, 3 * value.error, exact), percent(exact),
        "exact: the share of relevant items among the others",
        "" if agrees else "more than three standard errors away",
    )  # fmt: skip
    return Outcome([finding])


def by_size(setting: Setting, extent: Extent, known: Known) -> Outcome:
    setting.say(f"  {MEASURE} of {extent.sizes[0]} to {extent.sizes[-1]} classes")
    rows = _values(*CLUSTERED.draw(extent.sizes[-1], _SEED), extent.sizes, DISTANCE, setting.threads)
    plain, inside = (rows[rows["what"] == what] for what in (PLAIN, GROUPED))
    falls = bool(plain["high"][-1] < plain["low"][0])
    holding = int(((inside["low"] <= known.value) & (known.value <= inside["high"])).sum())
    numbers = f"{extent.sizes[0]} and {extent.sizes[-1]:,} classes"
    shown = [f"{percent(each['value'][0], 1)} and {percent(each['value'][-1], 1)}" for each in (plain, inside)]
    made = f"a synthetic population; inside groups its value is {percent(known.value, 1)}"
    return Outcome(
        [
            Finding(f"{MEASURE} with {numbers}, plain", shown[0], Mark.OTHER_DATA if falls else Mark.DIFFERS,
                    "depends on the number of classes", _CLAIM,
                    made if falls else "it falls by less than its interval"),
            Finding(f"{MEASURE} with {numbers}, {GROUPED}",
                    f"{shown[1]}; {holding} of {len(inside)} intervals hold the population's value",
                    Mark.OTHER_DATA if holding >= len(inside) - 1 else Mark.DIFFERS,
                    "does not depend on the number of classes", _CLAIM, made),
        ],
        *_shown("classes", "clustered population", rows, known.value),
        conclusion=f"With {numbers} of one population, plain {MEASURE} goes from {shown[0].replace(' and ', ' to ')}; "
        f"{GROUPED} it is {shown[1]}.",
    )  # fmt: skip


def _values(
    embeddings: NDArray[Any], labels: NDArray[Any], sizes: Sequence[int], distance: DistanceName, threads: int | None
) -> NDArray[Any]:
    """Plain and grouped values of the first classes of a random order, with intervals that hold under any "
    "tie-breaking."""
    names, codes = np.unique(labels, return_inverse=True)
    at = np.random.default_rng(_SEED).permutation(len(names))[codes]
    rows = []
    for n in sizes:
        task = Task(embeddings[at < n], labels[at < n], distance=distance, threads=threads)
        plain = evaluate(task, MEASURE)
        interval = by_z.of_report(plain, MEASURE, "class", LEVEL)
        rows.append((PLAIN, n, plain[MEASURE].expected, *ends(interval)))
        inside = grouped(task, group_size=GROUP_SIZE, measures=MEASURE)[MEASURE]
        rows.append((GROUPED, n, inside.expected, *ends(by_z.interval(inside, LEVEL))))
    columns = [("what", "U32"), ("n_class", int), ("value", float), ("low", float), ("high", float)]
    return np.array(rows, dtype=columns)


def _shown(name: str, who: str, rows: NDArray[Any], truth: float | None = None) -> tuple[list[Picture], list[Table]]:
    figure = style.figure(5.6, 3.6)
    bands = {}
    for what in (PLAIN, GROUPED):
        chosen = rows[rows["what"] == what]
        bands[what] = Band(chosen["n_class"], chosen["value"], chosen["low"], chosen["high"])
    measure_against_classes(bands, measure=MEASURE, truth=truth, ax=figure.subplots())
    caption = (
        f"{MEASURE} against the number of classes, {who}. Bands: {LEVEL_TEXT} intervals, over classes and over groups."
    )
    about, columns = f"{MEASURE} by the number of classes, {who}", rows.dtype.names or ()
    table = Table(name, about, columns, rows.tolist(), percent=("value", "low", "high"))
    return [Picture(name, caption, figure)], [table]


def by_file(setting: Setting, name: str, stem: str) -> Outcome:
    """The same for embeddings of one of the paper's data sets: values by the number of classes, and the gap."""
    paths = {part: setting.file(f"{stem}-{part}.npz") for part in ("test", "train")}
    absent = [
        missing(f"{name}: {about}", f"{stem}-{part}.npz", published=printed, source=source)
        for part, about, (printed, source) in (
            ("test", f"{MEASURE} by the number of classes", _printed_values(name)),
            ("train", "gap of train to test", ("a picture, no values", "arXiv:2306.13357, figure 3")),
        )
        if paths[part] is None
    ]
    samples = {part: read(path) for part, path in paths.items() if path is not None}
    if "test" not in samples:
        return Outcome(absent)
    setting.say(f"  {name}, from files")
    n_class = len(np.unique(samples["test"][1]))
    sizes = [n for n in FULL.sizes if n < n_class] + [n_class]
    rows = _values(*samples["test"], sizes, "cosine", setting.threads)
    why, findings = "embeddings from files, not the paper's", []
    for what in (PLAIN, GROUPED):
        value = rows[rows["what"] == what]["value"]
        here = " and ".join(percent(end, 1) for end in (value[0], value[-1]))
        title = f"{name}, test: {MEASURE} with {sizes[0]} and {sizes[-1]} classes, {what}"
        findings.append(Finding(title, here, Mark.OTHER_DATA, *_printed_values(name, what), why))
    if "train" in samples:
        train, test = (Task(*samples[part], threads=setting.threads) for part in ("train", "test"))
        gap = generalization_gap(train, test, group_size=GROUP_SIZE, measure=MEASURE)
        for what, side in ((PLAIN, gap.plain), (GROUPED, gap.grouped)):
            low, high = ends(by_z.interval(side, LEVEL))
            bound = f"at most {100 * by_z.bound(side, LEVEL):.1f}"
            here = f"{100 * side.expected:.1f} points ({100 * low:.1f} to {100 * high:.1f}), {bound}"
            findings.append(Finding(f"{name}: gap of train to test, {what}", here, Mark.OTHER_DATA, why=why))
    return Outcome([*findings, *absent], *_shown(f"{stem}-classes", f"test set of {name}", rows))


def _printed_values(name: str, *which: str) -> tuple[str, str]:
    """The values of Table 1 for a data set, and their source; empty for CIFAR-100, which is not in it."""
    printed = populations.TEST_SETS.get(name)
    if printed is None:
        return "", ""
    values = {PLAIN: printed.recall, GROUPED: printed.grouped}
    shown = ", ".join(f"{values[what]} % {what}" for what in which or values)
    return f"{shown} (all {printed.n_class:,} classes)", populations.TABLE_1


def by_null_gap(setting: Setting, extent: Extent) -> Outcome:
    setting.say(f"  gaps of {_CLASSES[0]} to {_CLASSES[1]} classes of one population")
    pairs = populations.null_gaps(CLUSTERED, _CLASSES, extent.null_draws)
    sides = {PLAIN: [plain for _, plain in pairs], GROUPED: [inside for inside, _ in pairs]}
    values = {name: [gap.expected for gap in gaps] for name, gaps in sides.items()}
    means = {name: math.fsum(each) / len(each) for name, each in values.items()}
    figure = style.figure(5.6, 2.8)
    gap_histogram(values, ax=figure.subplots())
    caption = (
        f"The gap in {MEASURE} between {_CLASSES[0]} and {_CLASSES[1]} classes of the clustered population, "
        f"{extent.null_draws} draws. The true gap is 0."
    )
    columns = ["what", "draw", "gap", "low", "high", "bound"]
    findings, rows = [], []
    for name, gaps in sides.items():
        error = intervals.standard_error(values[name])
        expected = [by_z.interval(gap, LEVEL).expected for gap in gaps]
        held = sum(interval.low <= 0 <= interval.high for interval in expected)
        share = populations.binomial(held, len(gaps), LEVEL)
        agrees = abs(means[name]) <= 3 * error and share.high >= LEVEL
        half_width = max(3 * error, (share.high - share.low) / 2)  # of a gap of shares, and of a share
        findings.append(Finding(
            f"gap of {_CLASSES[0]} to {_CLASSES[1]} classes of one population, {name}",
            f"{100 * means[name]:.2f} points (s.e. {100 * error:.2f}); {held} of {len(gaps)} {LEVEL_TEXT} intervals "
            "hold 0",
            Mark.by_interval(agrees, half_width, 1.0), "0 points", "by construction",
            "" if agrees else "with more classes there are more wrong neighbours",
        ))  # fmt: skip
        rows += [
            [name, number, gap.expected, *ends(by_z.interval(gap, LEVEL)), by_z.bound(gap, LEVEL)]
            for number, gap in enumerate(gaps)
        ]
    return Outcome(
        findings,
        [Picture("gaps", caption, figure)],
        [Table("gaps", "Gaps between two sets of one population", columns, rows, percent=columns[2:])],
        conclusion=f"Between sets of {_CLASSES[0]} and {_CLASSES[1]} classes that differ in nothing else, the mean "
        f"gap in {MEASURE} is {100 * means[PLAIN]:.1f} points, and {GROUPED} {100 * means[GROUPED]:.1f}.",
    )


# ---------------------------------------------------------------------------------------------------------------------
# coverage: how many intervals hold the true value


def by_coverage(setting: Setting, extent: Extent, known: Known) -> Outcome:
    coverages: list[Coverage] = []
    for population in (RANDOM, CLUSTERED):
        for n_group in _GROUPS:
            setting.say(f"  coverage: {population.name}, {n_group} groups")
            inside, n_class, n_draw = known, n_group * GROUP_SIZE, extent.plain_draws
            if population is RANDOM:
                inside, plain = (Known(population.chance(n), 0.0) for n in (GROUP_SIZE, n_class))
            else:
                plain = populations.value_of_plain(population, n_class, n_draw)
            how = {"repeated": n_group == _REPEATED_AT}
            coverages += populations.coverages_over_groups(population, n_group, extent.draws, inside, **how)
            coverages += populations.coverages_of_plain(population, n_group, n_draw, plain)
    kinds: dict[tuple[str, str], list[Coverage]] = {}
    for one in coverages:
        kinds.setdefault((one.population, one.method), []).append(one)
    columns = ["population", "method", "n_group", "n_draw", "n_hold", "share", "low", "high",
               "population_value", "population_error", "mean_value", "mean_width"]  # fmt: skip
    rows = [
        [*one[:5], one.share, *one.interval(LEVEL), one.known.value, one.known.error, one.mean, one.width]
        for one in coverages
    ]
    caption = (
        f"Intervals that hold the population's value, with the {LEVEL_TEXT} interval of Clopper and Pearson; that "
        "value and its standard error (0: exact); mean value and mean width of the interval over the draws"
    )
    over = ([one.share for one in coverages if one.method == name] for name in ("Student's t", _NAIVE))
    ranges = [f"{100 * min(shares):.0f} to {100 * max(shares):.0f} %" for shares in over]
    return Outcome(
        [finding_of(one) for one in kinds.values()],
        [_coverage_picture(kinds)],
        [Table("coverage", caption, columns, rows, percent=columns[5:])],
        conclusion=f"Of {LEVEL_TEXT} intervals, Student's t over groups holds the value in {ranges[0]} of the draws; "
        f"z over the queries of the plain measure in {ranges[1]}.",
    )


def finding_of(coverages: Sequence[Coverage]) -> Finding:
    """Coverages of one population and method; it differs if the level is excluded for any number of groups."""
    around = [each.interval(1 - (1 - LEVEL) / len(coverages)) for each in coverages]
    holds = all(end.low <= LEVEL <= end.high for end in around)
    mark = Mark.by_interval(holds, max((end.high - end.low) / 2 for end in around), 1.0)  # of a share
    population, method, _, n_draw, *_ = coverages[0]
    why = _WHY_RANDOM if population == RANDOM.name and method in populations.OF_PLAIN else _WHY[method]
    shares = ", ".join(f"{each.n_group}: {100 * each.share:.1f}" for each in coverages)
    what = f"{LEVEL_TEXT} intervals that hold, {population}, {method}; by number of groups"
    here = f"{shares} % of {n_draw} draws"
    return Finding(what, here, mark, LEVEL_TEXT, "the intervals' own level", "" if holds else why)


def _coverage_picture(kinds: Mapping[tuple[str, str], Sequence[Coverage]]) -> Picture:
    figure = style.figure(7.6, 3.6)
    both = figure.subplots(1, 2, sharey=True)
    for ax, population in zip(both, (RANDOM, CLUSTERED), strict=True):
        bands = {}
        for name in (*populations.OVER_GROUPS, _NAIVE):
            rows = [(each.n_group, each.share, *each.interval(LEVEL)) for each in kinds[population.name, name]]
            bands[name] = Band(*map(np.array, zip(*rows, strict=True)))
        interval_coverage(bands, level=LEVEL, ax=ax)
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


# ---------------------------------------------------------------------------------------------------------------------
# cost: processor time against the number of samples


def by_cost(setting: Setting, extent: Extent) -> Outcome:
    rows = []
    for n_class in extent.cost:
        labels = np.repeat(np.arange(n_class), _SAMPLES)
        embeddings = np.random.default_rng(_SEED).standard_normal((len(labels), _DIM), dtype=np.float32)
        setting.say(f"  cost: {len(labels)} samples")
        ways: dict[str, Callable[[Task], Any]] = {GROUPED: partial(grouped, group_size=GROUP_SIZE, measures=MEASURE)}
        if len(labels) <= _MOST_PLAIN:
            ways[PLAIN] = partial(evaluate, measures=MEASURE)
        for what, way in ways.items():
            report, seconds = _timed(partial(_opened, way, embeddings, labels), extent.times)
            rows.append((what, len(labels), int(report.profile.n_ranked.sum()), seconds))
    table = np.array(rows, dtype=[("what", "U32"), ("samples", int), ("pairs", int), ("seconds", float)])
    figure = style.figure(5.6, 3.6)
    sides = {what: table[table["what"] == what] for what in (PLAIN, GROUPED)}
    processor_time({what: (side["samples"], side["seconds"]) for what, side in sides.items()}, ax=figure.subplots())
    caption = f"Processor time for {MEASURE} on one thread, {_SAMPLES} samples a class in {_DIM} dimensions."
    about = "Pairs ranked, and processor seconds on one thread"
    of_pairs = Table("cost", about, table.dtype.names or (), table.tolist())
    return Outcome(_cost_findings(table), [Picture("cost", caption, figure)], [of_pairs])


def _opened(way: Callable[[Task], Any], embeddings: NDArray[Any], labels: NDArray[Any]) -> Any:
    """The answer for a task made anew, as a task keeps its counts."""
    return way(Task(embeddings, labels, distance=DISTANCE, threads=1))


def _timed(work: Callable[[], Any], times: int) -> tuple[Any, float]:
    """The result, and the least processor time of several runs, in which other processes do not count."""
    result, shortest = None, math.inf
    for _ in range(times):
        begin = time.process_time()
        result = work()
        shortest = min(shortest, time.process_time() - begin)
    return result, shortest


def _cost_findings(table: NDArray[Any]) -> list[Finding]:
    findings = []
    for what, power, printed in ((GROUPED, 1, "n at a fixed group size: n²/r for r groups"), (PLAIN, 2, "n²")):
        rows = table[table["what"] == what]
        pairs, _ = slope_of(rows["samples"], rows["pairs"])
        slope, error = slope_of(rows["samples"], rows["seconds"])
        agrees = abs(slope - power) <= WIDE * power and abs(pairs - power) <= 0.01
        here = f"pairs as n^{pairs:.3f}, time as n^{slope:.2f} (s.e. {error:.2f})"
        mark = Mark.by_interval(agrees, 2 * error, power)
        why = "" if agrees else "work outside the pairs counts too, most at few samples"
        title = f"{MEASURE} {what}: growth with n samples"
        findings.append(Finding(title, here, mark, printed, "by its definition", why))
    return findings


def slope_of(n: ArrayLike, values: ArrayLike) -> tuple[float, float]:
    """The least-squares slope of the logarithms, and its standard error."""
    line = require("scipy.stats", "stats", "a slope").linregress(np.log(n), np.log(values))
    return float(line.slope), float(line.stderr)
