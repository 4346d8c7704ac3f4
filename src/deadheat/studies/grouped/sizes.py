"""The number of classes: values as classes are added, of drawn populations and of files, and gaps of unlike sets."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deadheat import evaluate, generalization_gap, grouped, plots
from deadheat.analyses.grouped import Gap
from deadheat.inputs import read
from deadheat.plots import Band, style
from deadheat.statistics import intervals
from deadheat.studies import published
from deadheat.studies.grouped import populations
from deadheat.studies.grouped.populations import (
    CLUSTERED,
    DISTANCE,
    FULL,
    GROUP_SIZE,
    GROUPED,
    LEVEL,
    LEVEL_TEXT,
    MEASURE,
    PLAIN,
    RANDOM,
    Extent,
    Known,
    ends,
    percent,
)
from deadheat.studies.study import Finding, Mark, Outcome, Picture, Setting, Table, missing

_CLAIM = "arXiv:2306.13357, abstract and figure 1, which prints no values"
_SEED = 7
_CLASSES = (200, 50)  # of the gap that is none


def by_chance(value: Known) -> Outcome:
    """Random embeddings have the value that counting gives."""
    exact = RANDOM.chance(GROUP_SIZE)
    agrees = abs(value.value - exact) <= 3 * value.error
    mark = Mark.by_interval(agrees, 3 * value.error, exact)
    return Outcome(
        [
            Finding(
                f"random embeddings: {MEASURE} {GROUPED}",
                f"{percent(value.value)} (s.e. {100 * value.error:.2f})",
                mark,
                percent(exact),
                "exact: the share of the right ones among the others",
                "" if agrees else "more than three standard errors away",
            )
        ]
    )


def by_size(setting: Setting, extent: Extent, known: Known) -> Outcome:
    """Plain and grouped values of the first classes of one draw."""
    setting.say(f"  {MEASURE} of {extent.sizes[0]} to {extent.sizes[-1]} classes")
    rows = _values(*CLUSTERED.draw(extent.sizes[-1], _SEED), extent.sizes, DISTANCE, setting.threads)
    plain, inside = (rows[rows["what"] == what] for what in (PLAIN, GROUPED))
    falls = bool(plain["high"][-1] < plain["low"][0])
    holding = int(((inside["low"] <= known.value) & (known.value <= inside["high"])).sum())
    numbers = f"{extent.sizes[0]} and {extent.sizes[-1]:,} classes"
    shown = [f"{percent(each['value'][0], 1)} and {percent(each['value'][-1], 1)}" for each in (plain, inside)]
    made = f"a made population; inside groups its value is {percent(known.value, 1)}"
    return Outcome(
        [
            Finding(
                f"{MEASURE} with {numbers}, plain",
                shown[0],
                Mark.OTHER_DATA if falls else Mark.DIFFERS,
                "depends on the number of classes",
                _CLAIM,
                made if falls else "it does not fall by more than its interval",
            ),
            Finding(
                f"{MEASURE} with {numbers}, {GROUPED}",
                f"{shown[1]}; {holding} of {len(inside)} intervals hold the population's value",
                Mark.OTHER_DATA if holding >= len(inside) - 1 else Mark.DIFFERS,
                "does not depend on the number of classes",
                _CLAIM,
                made,
            ),
        ],
        [_size_picture("classes", "clustered population", rows, known.value)],
        [_size_table("classes", "clustered population", rows)],
        conclusion=f"With {numbers} of one population, plain {MEASURE} goes from {shown[0].replace(' and ', ' to ')}; "
        f"{GROUPED} it is {shown[1]}.",
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
        interval = plain.interval(MEASURE, confidence_level=LEVEL, resample="class", method="auto")
        rows.append((PLAIN, n, plain[MEASURE].expected, *ends(interval)))
        inside = grouped(*part, group_size=GROUP_SIZE, measures=MEASURE, distance=distance, threads=threads)[MEASURE]
        rows.append((GROUPED, n, inside.expected, *ends(inside.interval(confidence_level=LEVEL))))
    columns = [("what", "U32"), ("n_class", int), ("value", float), ("low", float), ("high", float)]
    return np.array(rows, dtype=columns)


def _size_picture(name: str, of: str, rows: NDArray[Any], truth: float | None = None) -> Picture:
    figure = style.figure(5.6, 3.6)
    bands = {}
    for what in (PLAIN, GROUPED):
        chosen = rows[rows["what"] == what]
        bands[what] = Band(chosen["n_class"], chosen["value"], chosen["low"], chosen["high"])
    plots.measure_against_classes(bands, measure=MEASURE, truth=truth, ax=figure.subplots())
    caption = (
        f"{MEASURE} against the number of classes, {of}. Bands: {LEVEL_TEXT} intervals, over classes and over groups."
    )
    return Picture(name, caption, figure)


def _size_table(name: str, of: str, rows: NDArray[Any]) -> Table:
    columns = rows.dtype.names or ()
    about = f"{MEASURE} by the number of classes, {of}"
    return Table(name, about, columns, rows.tolist(), percent=("value", "low", "high"))


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
    findings, rows = _file_sizes(setting, name, *samples["test"])
    gaps = _file_gaps(setting, name, *samples["train"], *samples["test"]) if "train" in samples else []
    title = f"{stem}-classes", f"test set of {name}"
    return Outcome([*findings, *gaps, *absent], [_size_picture(*title, rows)], [_size_table(*title, rows)])


def _file_sizes(setting: Setting, name: str, embeddings: Any, labels: Any) -> tuple[list[Finding], NDArray[Any]]:
    n_class = len(np.unique(labels))
    sizes = [n for n in FULL.sizes if n < n_class] + [n_class]
    rows = _values(embeddings, labels, sizes, "cosine", setting.threads)
    findings = []
    for what in (PLAIN, GROUPED):
        value = rows[rows["what"] == what]["value"]
        here = " and ".join(percent(end, 1) for end in (value[0], value[-1]))
        title = f"{name}, test: {MEASURE} with {sizes[0]} and {sizes[-1]} classes, {what}"
        findings.append(_of_file(title, here, *_printed_values(name, what)))
    return findings, rows


def _printed_values(name: str, *which: str) -> tuple[str, str]:
    """What Table 1 has of a data set, plain and in groups or one of them, and where; CIFAR-100 is not in it."""
    printed = published.TEST_SETS.get(name)
    if printed is None:
        return "", ""
    values = {PLAIN: printed.recall, GROUPED: printed.grouped}
    told = ", ".join(f"{values[what]} % {what}" for what in which or values)
    return f"{told} (all {printed.n_class:,} classes)", published.GROUPED_TABLE_1


def _file_gaps(
    setting: Setting, name: str, train: Any, train_labels: Any, test: Any, test_labels: Any
) -> list[Finding]:
    gap = generalization_gap(
        train, train_labels, test, test_labels, group_size=GROUP_SIZE, measure=MEASURE, threads=setting.threads
    )
    findings = []
    for what, side in ((PLAIN, gap.plain), (GROUPED, gap.grouped)):
        low, high = ends(side.interval(confidence_level=LEVEL))
        bound = f"at most {100 * side.bound(confidence_level=LEVEL):.1f}"
        here = f"{100 * side.expected:.1f} points ({100 * low:.1f} to {100 * high:.1f}), {bound}"
        findings.append(_of_file(f"{name}: gap of train to test, {what}", here, "", ""))
    return findings


def _of_file(what: str, here: str, printed: str, source: str) -> Finding:
    return Finding(what, here, Mark.OTHER_DATA, printed, source, "the embeddings given, not the paper's")


def by_null_gap(setting: Setting, extent: Extent) -> Outcome:
    """The gap between two sets with different numbers of classes, both from one population."""
    setting.say(f"  gaps of {_CLASSES[0]} to {_CLASSES[1]} classes of one population")
    pairs = populations.null_gaps(CLUSTERED, _CLASSES, extent.null_draws)
    sides = {PLAIN: [plain for _, plain in pairs], GROUPED: [inside for inside, _ in pairs]}
    figure = style.figure(5.6, 2.8)
    plots.gap_histogram({name: [gap.expected for gap in gaps] for name, gaps in sides.items()}, ax=figure.subplots())
    caption = (
        f"The gap in {MEASURE} between {_CLASSES[0]} and {_CLASSES[1]} classes of the clustered population, "
        f"{extent.null_draws} draws. There is none to be found."
    )
    columns = ["what", "draw", "gap", "low", "high", "bound"]
    rows = [
        [name, number, gap.expected, *ends(gap.interval(confidence_level=LEVEL)), gap.bound(confidence_level=LEVEL)]
        for name, gaps in sides.items()
        for number, gap in enumerate(gaps)
    ]
    return Outcome(
        [_null_finding(name, gaps) for name, gaps in sides.items()],
        [Picture("gaps", caption, figure)],
        [Table("gaps", "Gaps between two sets of one population", columns, rows, percent=columns[2:])],
        conclusion=f"Between sets of {_CLASSES[0]} and {_CLASSES[1]} classes that differ in nothing else, the gap in "
        f"{MEASURE} is on average {_mean_gap(sides[PLAIN]):.1f} points; {GROUPED} {_mean_gap(sides[GROUPED]):.1f}.",
    )


def _mean_gap(gaps: Sequence[Gap]) -> float:
    """In percentage points."""
    return 100 * math.fsum(gap.expected for gap in gaps) / len(gaps)


def _null_finding(name: str, gaps: Sequence[Gap]) -> Finding:
    values = [gap.expected for gap in gaps]
    mean, error = math.fsum(values) / len(values), intervals.standard_error(values)
    expected = [gap.interval(confidence_level=LEVEL).expected for gap in gaps]
    held = sum(interval.low <= 0 <= interval.high for interval in expected)
    share = populations.binomial(held, len(gaps), LEVEL)
    agrees = abs(mean) <= 3 * error and share.high >= LEVEL
    mark = Mark.by_interval(agrees, max(3 * error, (share.high - share.low) / 2), 1.0)  # of shares and a gap of shares
    return Finding(
        f"gap of {_CLASSES[0]} to {_CLASSES[1]} classes of one population, {name}",
        f"{100 * mean:.2f} points (s.e. {100 * error:.2f}); {held} of {len(gaps)} {LEVEL_TEXT} intervals hold 0",
        mark,
        "0 points",
        "by construction",
        "" if agrees else "the set with more classes has more to be mistaken for",
    )
