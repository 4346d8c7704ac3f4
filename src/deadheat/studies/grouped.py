"""The study of grouped measures: the number of classes, the coverage of intervals, the gap where there is none, cost.

In come made populations and, where they are given, files of embeddings; out go pictures, tables and findings. The
draws behind the coverage are in `_coverage`.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray

from deadheat.analyses.grouped import Gap, generalization_gap, grouped
from deadheat.inputs.files import read
from deadheat.plots import grouped as plots
from deadheat.plots.grouped import Band
from deadheat.reports import evaluate
from deadheat.statistics import intervals
from deadheat.statistics.intervals import Intervals
from deadheat.studies import _coverage
from deadheat.studies._coverage import CLUSTERED, DISTANCE, GROUP_SIZE, LEVEL, MEASURE, RANDOM, Coverage, Known
from deadheat.studies.study import Finding, Mark, Outcome, Picture, Setting, Table, missing

TITLE = "Grouped Recall@K: the number of classes, intervals, and cost"
SOURCE = "M. Zhdanov, I. Karpukhin, Catching Image Retrieval Generalization, 2023, arXiv:2306.13357"
ABOUT = (
    "Hit@1, which metric learning calls Recall@1, falls as classes are added, so that it does not compare between sets "
    "with different numbers of them. Grouped, it is taken inside groups of 10 classes and averaged: it stays where it "
    "is, costs less, and comes with an interval. The paper's data sets are taken as files; everything else is drawn "
    "here, from populations whose value is known."
)

DATA_SETS = {"CARS196": "cars196", "CUB200": "cub200", "InShop": "inshop", "SOP": "sop", "CIFAR-100": "cifar100"}
PLAIN, GROUPED = "plain", f"in groups of {GROUP_SIZE}"

_CLAIM, _NOT_AT_HAND = "arXiv:2306.13357, abstract and section 1", "not at hand"
_GROUPS, _REPEATED_AT = (5, 10, 20, 50), 10
_NULL_CLASSES = (200, 50)
_COST_SAMPLES, _COST_DIM, _MOST_PLAIN = 10, 64, 64_000
_SEED = 7
_LEVEL = f"{100 * LEVEL:.0f} %"


class _Extent(NamedTuple):
    """How much is computed."""

    sizes: tuple[int, ...]  # classes
    large: int  # groups that a population's value is taken from
    draws: int
    plain_draws: int
    null_draws: int
    cost: tuple[int, ...]  # classes
    times: int  # of which the shortest counts


_FULL = _Extent((50, 100, 200, 500, 1000, 2000, 5000), 20_000, 1000, 400, 300, (800, 1600, 3200, 6400, 12_800), 2)
_QUICK = _Extent((50, 100, 200, 500), 300, 20, 10, 10, (100, 200, 400), 1)


def run(setting: Setting) -> Outcome:
    """Run the parts one after another and put what they find together."""
    extent = _QUICK if setting.quick else _FULL
    setting.say(f"  the populations' values, from {extent.large} groups each")
    known = _coverage.value_in_groups(CLUSTERED, extent.large)
    parts = [
        _chance(_coverage.value_in_groups(RANDOM, extent.large)),
        _by_size(setting, extent, known),
        _by_coverage(setting, extent, known),
        _by_null_gap(setting, extent),
        _by_cost(setting, extent),
        *(_by_file(setting, name, stem) for name, stem in DATA_SETS.items()),
    ]
    return Outcome(
        findings=[finding for part in parts for finding in part.findings],
        pictures=[picture for part in parts for picture in part.pictures],
        tables=[table for part in parts for table in part.tables],
        text=_text(known, extent),
    )


def _text(known: Known, extent: _Extent) -> list[str]:
    m = CLUSTERED.samples
    return [
        f"Made populations have {m} samples a class in {CLUSTERED.dim} dimensions and Euclidean distance. Random: "
        f"labels mean nothing, so that the expected {MEASURE} inside a group is ({m} - 1) / ({GROUP_SIZE} x {m} - 1). "
        "Clustered: classes are clouds of different sizes round normally distributed centres. Its value inside a group "
        f"was taken once from {extent.large:,} groups: {_percent(known.value)}, with a standard error of "
        f"{100 * known.error:.2f} points.",
        "The paper's abstract and first section were at hand, its tables and figures were not, so that no value is put "
        "beside them. What it claims is that Recall@K depends on the number of classes, and the grouped measure does "
        "not.",
    ]


# The number of classes -----------------------------------------------------------------------------------------------


def _chance(found: Known) -> Outcome:
    """Random embeddings have the value that counting gives."""
    exact = RANDOM.chance(GROUP_SIZE)
    agrees = abs(found.value - exact) <= 3 * found.error
    return Outcome(
        [
            Finding(
                f"random embeddings: {MEASURE} {GROUPED}",
                f"{_percent(found.value)} (s.e. {100 * found.error:.2f})",
                Mark.AGREES if agrees else Mark.DIFFERS,
                _percent(exact),
                "exact: the share of the right ones among the others",
                "" if agrees else "more than three standard errors away",
            )
        ]
    )


def _by_size(setting: Setting, extent: _Extent, known: Known) -> Outcome:
    """Plain and grouped values of the first classes of one draw."""
    setting.say(f"  {MEASURE} of {extent.sizes[0]} to {extent.sizes[-1]} classes")
    rows = _values(*CLUSTERED.draw(extent.sizes[-1], _SEED), extent.sizes, DISTANCE, setting.threads)
    plain, inside = (rows[rows["what"] == what] for what in (PLAIN, GROUPED))
    falls = bool(plain["high"][-1] < plain["low"][0])
    holding = int(((inside["low"] <= known.value) & (known.value <= inside["high"])).sum())
    ends = f"{extent.sizes[0]} and {extent.sizes[-1]:,} classes"
    shown = [f"{_percent(each['value'][0], 1)} and {_percent(each['value'][-1], 1)}" for each in (plain, inside)]
    made = f"a made population; inside groups its value is {_percent(known.value, 1)}"
    return Outcome(
        [
            Finding(
                f"{MEASURE} with {ends}, plain",
                shown[0],
                Mark.STAND_IN if falls else Mark.DIFFERS,
                "depends on the number of classes",
                _CLAIM,
                made if falls else "it does not fall by more than its interval",
            ),
            Finding(
                f"{MEASURE} with {ends}, {GROUPED}",
                f"{shown[1]}; {holding} of {len(inside)} intervals hold the population's value",
                Mark.STAND_IN if holding >= len(inside) - 1 else Mark.DIFFERS,
                "does not depend on the number of classes",
                _CLAIM,
                made,
            ),
        ],
        [_size_picture("classes", "clustered population", rows, known.value)],
        [_size_table("classes", "clustered population", rows)],
    )


def _values(
    embeddings: NDArray[Any], labels: NDArray[Any], sizes: Sequence[int], distance: str, threads: int | None
) -> NDArray[Any]:
    """Plain and grouped values of some of the classes, with intervals that ties cannot leave; a record each.

    The classes are put in a random order, and the first of them taken.
    """
    names, codes = np.unique(labels, return_inverse=True)
    place = np.random.default_rng(_SEED).permutation(len(names))[codes]
    rows = []
    for n in sizes:
        part = embeddings[place < n], labels[place < n]
        plain = evaluate(*part, measures=MEASURE, distance=distance, threads=threads)
        found = plain.interval(MEASURE, confidence_level=LEVEL, resample="class", method="auto")
        rows.append((PLAIN, n, plain[MEASURE].expected, *_ends(found)))
        inside = grouped(*part, group_size=GROUP_SIZE, measures=MEASURE, distance=distance, threads=threads)[MEASURE]
        rows.append((GROUPED, n, inside.expected, *_ends(inside.interval(confidence_level=LEVEL))))
    columns = [("what", "U32"), ("n_class", int), ("value", float), ("low", float), ("high", float)]
    return np.array(rows, dtype=columns)


def _size_picture(name: str, of: str, rows: NDArray[Any], truth: float | None = None) -> Picture:
    figure = Figure(figsize=(5.6, 3.6), layout="constrained")
    bands = {}
    for what in (PLAIN, GROUPED):
        chosen = rows[rows["what"] == what]
        bands[what] = Band(chosen["n_class"], chosen["value"], chosen["low"], chosen["high"])
    plots.against_classes(bands, measure=MEASURE, truth=truth, ax=figure.subplots())
    caption = f"{MEASURE} against the number of classes, {of}. Bands: {_LEVEL} intervals, over classes and over groups."
    return Picture(name, caption, figure)


def _size_table(name: str, of: str, rows: NDArray[Any]) -> Table:
    return Table(name, f"{MEASURE} by the number of classes, {of}", rows.dtype.names or (), rows.tolist())


# Coverage ------------------------------------------------------------------------------------------------------------

_WHY = {
    "z": "of few groups the standard deviation is itself uncertain, which z does not allow for",
    "Student's t": "the mean of a few skewed values is not normal",
    "bootstrap": "it has the fault of z for few groups, and takes N for N - 1",
    _coverage.REPEATED: "a mean over repeats scatters less than that of one draw, whose error it is given: too wide",
    "plain, z over queries": "queries of one class rise and fall together",
    "plain, z over classes": "classes are in each other's gallery, so that they are not quite independent",
}
_WHY_RANDOM = f"about {RANDOM.samples - 1} hits are expected in all, however many classes there are: far from normal"


def _by_coverage(setting: Setting, extent: _Extent, known: Known) -> Outcome:
    """How many intervals hold the value, for each population, method and number of groups."""
    found: list[Coverage] = []
    for population in (RANDOM, CLUSTERED):
        exact = population is RANDOM
        for n_group in _GROUPS:
            setting.say(f"  coverage: {population.name}, {n_group} groups")
            value = Known(population.chance(GROUP_SIZE), 0.0) if exact else known
            repeated = n_group == _REPEATED_AT
            found += _coverage.coverages(population, n_group, extent.draws, value, repeated=repeated)
            n_class = n_group * GROUP_SIZE
            value = (
                Known(population.chance(n_class), 0.0)
                if exact
                else _coverage.value_of_plain(population, n_class, extent.plain_draws)
            )
            found += _coverage.plain_coverages(population, n_group, extent.plain_draws, value)
    return Outcome(_coverage_findings(found), [_coverage_picture(found)], [_coverage_table(found)])


def _coverage_findings(found: Sequence[Coverage]) -> list[Finding]:
    """One for each population and method; it agrees where no number of groups rules the level out."""
    kinds = dict.fromkeys((each.population, each.method) for each in found)
    return [_coverage_finding([each for each in found if (each.population, each.method) == kind]) for kind in kinds]


def _coverage_finding(some: Sequence[Coverage]) -> Finding:
    ends = [each.interval(1 - (1 - LEVEL) / len(some)) for each in some]
    agrees = all(end.low <= LEVEL <= end.high for end in ends)
    why = (
        _WHY_RANDOM if some[0][:2] in [(RANDOM.name, method) for method in _coverage.OF_PLAIN] else _WHY[some[0].method]
    )
    shares = ", ".join(f"{each.n_group}: {100 * each.share:.1f}" for each in some)
    return Finding(
        f"{_LEVEL} intervals that hold, {some[0].population}, {some[0].method}; by number of groups",
        f"{shares} % of {some[0].n_draw} draws",
        Mark.AGREES if agrees else Mark.DIFFERS,
        _LEVEL,
        "the intervals' own level",
        "" if agrees else why,
    )


def _coverage_picture(found: Sequence[Coverage]) -> Picture:
    figure = Figure(figsize=(7.6, 3.6), layout="constrained")
    methods = [*_coverage.OVER_GROUPS, next(iter(_coverage.OF_PLAIN))]
    both = figure.subplots(1, 2, sharey=True)
    for ax, population in zip(both, (RANDOM, CLUSTERED), strict=True):
        plots.coverage({name: _coverage_band(found, population.name, name) for name in methods}, level=LEVEL, ax=ax)
        ax.set_xlabel(f"groups of {GROUP_SIZE} classes, {population.name}")
        ax.get_legend().remove()
    both[1].set_ylabel("")
    handles, names = both[0].get_legend_handles_labels()
    figure.legend(
        handles, names, loc="outside upper center", ncols=len(names), frameon=False, fontsize="small", handlelength=3.0
    )
    caption = (
        f"How many of the {_LEVEL} intervals for {MEASURE} hold the population's value. Bars: what the number of "
        "draws leaves open. The plain measure is of as many classes as the groups have, for the value of so many."
    )
    return Picture("coverage", caption, figure)


def _coverage_band(found: Sequence[Coverage], population: str, method: str) -> Band:
    rows = [
        (each.n_group, each.share, *each.interval(LEVEL))
        for each in found
        if (each.population, each.method) == (population, method)
    ]
    return Band(*map(np.array, zip(*rows, strict=True)))


def _coverage_table(found: Sequence[Coverage]) -> Table:
    columns = ["population", "method", "n_group", "n_draw", "n_hold", "share", "low", "high"]
    rows = [
        [*each[:5], each.share, *each.interval(LEVEL), each.known.value, each.known.error, each.mean, each.width]
        for each in found
    ]
    return Table(
        "coverage",
        f"Intervals that hold the population's value, with the {_LEVEL} interval of Clopper and Pearson; that value "
        "and its standard error (0: exact); mean value and mean width of the interval over the draws",
        [*columns, "population_value", "population_error", "mean_value", "mean_width"],
        rows,
    )


# A gap that is none --------------------------------------------------------------------------------------------------


def _by_null_gap(setting: Setting, extent: _Extent) -> Outcome:
    """The gap between two sets with different numbers of classes, both from one population."""
    setting.say(f"  gaps of {_NULL_CLASSES[0]} to {_NULL_CLASSES[1]} classes of one population")
    pairs = _coverage.null_gaps(CLUSTERED, _NULL_CLASSES, extent.null_draws)
    sides = {PLAIN: [plain for _, plain in pairs], GROUPED: [inside for inside, _ in pairs]}
    figure = Figure(figsize=(5.6, 2.8), layout="constrained")
    plots.gaps({name: [gap.expected for gap in gaps] for name, gaps in sides.items()}, ax=figure.subplots())
    caption = (
        f"The gap in {MEASURE} between {_NULL_CLASSES[0]} and {_NULL_CLASSES[1]} classes of the clustered population, "
        f"{extent.null_draws} draws. There is none to be found."
    )
    columns = ["what", "draw", "gap", "low", "high", "bound"]
    rows = [
        [name, number, gap.expected, *_ends(gap.interval(confidence_level=LEVEL)), gap.bound(confidence_level=LEVEL)]
        for name, gaps in sides.items()
        for number, gap in enumerate(gaps)
    ]
    return Outcome(
        [_null_finding(name, gaps) for name, gaps in sides.items()],
        [Picture("gaps", caption, figure)],
        [Table("gaps", "Gaps between two sets of one population", columns, rows)],
    )


def _null_finding(name: str, gaps: Sequence[Gap]) -> Finding:
    values = [gap.expected for gap in gaps]
    mean, error = math.fsum(values) / len(values), intervals.standard_error(values)
    expected = [gap.interval(confidence_level=LEVEL).expected for gap in gaps]
    held = sum(interval.low <= 0 <= interval.high for interval in expected)
    agrees = abs(mean) <= 3 * error and _coverage.binomial(held, len(gaps), LEVEL).high >= LEVEL
    return Finding(
        f"gap of {_NULL_CLASSES[0]} to {_NULL_CLASSES[1]} classes of one population, {name}",
        f"{100 * mean:.2f} points (s.e. {100 * error:.2f}); {held} of {len(gaps)} {_LEVEL} intervals hold 0",
        Mark.AGREES if agrees else Mark.DIFFERS,
        "0 points",
        "by construction",
        "" if agrees else "the set with more classes has more to be mistaken for",
    )


# Cost ----------------------------------------------------------------------------------------------------------------


def _by_cost(setting: Setting, extent: _Extent) -> Outcome:
    """Processor time against samples, on one thread, grouped and plain."""
    rows = []
    for n_class in extent.cost:
        embeddings, labels = _white_noise(n_class)
        setting.say(f"  cost: {len(labels)} samples")
        settings = {"measures": MEASURE, "distance": DISTANCE, "threads": 1}
        ways: dict[str, Callable[..., Any]] = {GROUPED: partial(grouped, group_size=GROUP_SIZE)}
        if len(labels) <= _MOST_PLAIN:
            ways[PLAIN] = evaluate
        for what, way in ways.items():
            report, seconds = _timed(partial(way, embeddings, labels, **settings), extent.times)
            rows.append((what, len(labels), int(report.profile.n_ranked.sum()), seconds))
    table = np.array(rows, dtype=[("what", "U32"), ("samples", int), ("pairs", int), ("seconds", float)])
    figure = Figure(figsize=(5.6, 3.6), layout="constrained")
    sides = {what: table[table["what"] == what] for what in (PLAIN, GROUPED)}
    plots.cost({what: (side["samples"], side["seconds"]) for what, side in sides.items()}, ax=figure.subplots())
    caption = f"Processor time for {MEASURE} on one thread, {_COST_SAMPLES} samples a class in {_COST_DIM} dimensions."
    return Outcome(
        _cost_findings(table),
        [Picture("cost", caption, figure)],
        [Table("cost", "Pairs ranked, and processor seconds on one thread", table.dtype.names or (), table.tolist())],
    )


def _white_noise(n_class: int) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    labels = np.repeat(np.arange(n_class), _COST_SAMPLES)
    rng = np.random.default_rng(_SEED)
    return rng.standard_normal((len(labels), _COST_DIM), dtype=np.float32), labels


def _timed(work: Callable[[], Any], times: int) -> tuple[Any, float]:
    """What some work gives, and the least processor time that it took: others on the machine do not count."""
    result, shortest = None, math.inf
    for _ in range(times):
        begin = time.process_time()
        result = work()
        shortest = min(shortest, time.process_time() - begin)
    return result, shortest


def _cost_findings(table: NDArray[Any]) -> list[Finding]:
    findings = []
    for what, power, published in ((GROUPED, 1, "n at a fixed group size: n²/r for r groups"), (PLAIN, 2, "n²")):
        rows = table[table["what"] == what]
        pairs, _ = _slope(rows["samples"], rows["pairs"])
        slope, error = _slope(rows["samples"], rows["seconds"])
        agrees = abs(slope - power) <= 0.15 and abs(pairs - power) <= 0.01
        findings.append(
            Finding(
                f"{MEASURE} {what}: growth with n samples",
                f"pairs as n^{pairs:.3f}, time as n^{slope:.2f} (s.e. {error:.2f})",
                Mark.AGREES if agrees else Mark.DIFFERS,
                published,
                "by its definition",
                "" if agrees else "work that is not done pair by pair counts too, most at few samples",
            )
        )
    return findings


def _slope(n: ArrayLike, values: ArrayLike) -> tuple[float, float]:
    """The slope of a straight line through logarithms, by least squares, and its standard error."""
    x, y = np.log(np.asarray(n, dtype=np.float64)), np.log(np.asarray(values, dtype=np.float64))
    x, y = x - x.mean(), y - y.mean()
    slope = float(x @ y / (x @ x))
    left = float(np.square(y - slope * x).sum())
    return slope, math.sqrt(left / (len(x) - 2) / float(x @ x)) if len(x) > 2 else math.nan


# Data given as files -------------------------------------------------------------------------------------------------


def _by_file(setting: Setting, name: str, stem: str) -> Outcome:
    """The same for embeddings of one of the paper's data sets: values by the number of classes, and the gap."""
    paths = {part: setting.file(f"{stem}-{part}.npz") for part in ("test", "train")}
    absent = [
        missing(f"{name}: {about}", f"{stem}-{part}.npz", published=_NOT_AT_HAND, source="arXiv:2306.13357")
        for part, about in (("test", f"{MEASURE} by the number of classes"), ("train", "gap of train to test"))
        if paths[part] is None
    ]
    samples = {part: read(path) for part, path in paths.items() if path is not None}
    if "test" not in samples:
        return Outcome(absent)
    setting.say(f"  {name}, from files")
    found, rows = _file_sizes(setting, name, *samples["test"])
    gaps = _file_gaps(setting, name, *samples["train"], *samples["test"]) if "train" in samples else []
    title = f"{stem}-classes", f"test set of {name}"
    return Outcome([*found, *gaps, *absent], [_size_picture(*title, rows)], [_size_table(*title, rows)])


def _file_sizes(setting: Setting, name: str, embeddings: Any, labels: Any) -> tuple[list[Finding], NDArray[Any]]:
    n_class = len(np.unique(labels))
    sizes = [n for n in _FULL.sizes if n < n_class] + [n_class]
    rows = _values(embeddings, labels, sizes, "cosine", setting.threads)
    findings = []
    for what in (PLAIN, GROUPED):
        value = rows[rows["what"] == what]["value"]
        here = " and ".join(_percent(one, 1) for one in (value[0], value[-1]))
        title = f"{name}, test: {MEASURE} with {sizes[0]} and {sizes[-1]} classes, {what}"
        findings.append(_of_file(title, here))
    return findings, rows


def _file_gaps(
    setting: Setting, name: str, train: Any, train_labels: Any, test: Any, test_labels: Any
) -> list[Finding]:
    gap = generalization_gap(
        train, train_labels, test, test_labels, group_size=GROUP_SIZE, measure=MEASURE, threads=setting.threads
    )
    findings = []
    for what, side in ((PLAIN, gap.plain), (GROUPED, gap.grouped)):
        low, high = _ends(side.interval(confidence_level=LEVEL))
        bound = f"at most {100 * side.bound(confidence_level=LEVEL):.1f}"
        here = f"{100 * side.expected:.1f} points ({100 * low:.1f} to {100 * high:.1f}), {bound}"
        findings.append(_of_file(f"{name}: gap of train to test, {what}", here))
    return findings


def _of_file(what: str, here: str) -> Finding:
    return Finding(what, here, Mark.STAND_IN, _NOT_AT_HAND, "arXiv:2306.13357", "the embeddings given, not the paper's")


# Pieces --------------------------------------------------------------------------------------------------------------


def _ends(found: Intervals) -> tuple[float, float]:
    """The ends that neither ties nor sampling leave."""
    return found.lower.low, found.upper.high


def _percent(value: float, digits: int = 2) -> str:
    return f"{100 * value:.{digits}f} %"
