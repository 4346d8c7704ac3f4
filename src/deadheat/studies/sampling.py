"""How many of the 95 % intervals hold the value of the population: queries drawn singly, and classes drawn whole.

In comes a `Setting`; out go the shares, for each way to draw a test set and each kind of interval.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from deadheat.plots import style
from deadheat.reports import Report, evaluate
from deadheat.reports.options import Average
from deadheat.statistics.intervals import Interval, mean_interval
from deadheat.studies.study import Finding, Mark, Outcome, Picture, Setting, Study, Table

_SOURCE = "No publication: a check of Report.interval on a population with known mean."
_ABOUT = (
    "Points are drawn from classes whose centres and spreads are drawn too, and evaluated with leave one out. The mean "
    "over many test sets is the population's value. A 95 % interval from one test set should hold it 95 times in 100. "
    "For comparison, queries are drawn one by one against a gallery that stays."
)

LEVEL = 0.95
DIM, PER_CLASS, SPREAD, N_RESAMPLES = 8, 10, 0.5, 999
KINDS: dict[str, tuple[Average, str]] = {
    "query, percentile": ("query", "percentile"),
    "class, percentile": ("class", "percentile"),
    "class, t": ("class", "t"),
}

Float64 = NDArray[np.float64]


def run(setting: Setting) -> Outcome:
    """Count what the intervals hold, for several numbers of classes."""
    sizes = (10, 20, 40) if setting.quick else (10, 20, 40, 80)
    n_set = 60 if setting.quick else 1000
    rows = []
    for n_class in sizes:
        setting.say(f"{n_set} test sets of {n_class} classes")
        shares = whole_classes(n_class, n_set, setting.threads)
        rows.append([n_class, *(shares[kind] for kind in KINDS), single_queries(n_class, n_set, setting.threads)])
    findings = [
        Finding(f"{kind}; {row[0]} classes drawn whole", _percent(share, n_set), Mark.NEW)
        for row in rows
        for kind, share in zip(KINDS, row[1:-1], strict=True)
    ] + [
        Finding(
            f"query, percentile; queries drawn singly, gallery of {row[0]} classes", _percent(row[-1], n_set), Mark.NEW
        )
        for row in rows
    ]
    columns = ["classes", *KINDS, "queries drawn singly: query, percentile"]
    caption = f"Share of {n_set} intervals at level 0.95 for mAP that hold the population's value."
    table = Table("coverage", caption, columns, rows, percent=columns[1:])
    return Outcome(findings, [Picture("coverage", caption, _figure(rows))], [table], conclusion=_conclusion(rows))


def _conclusion(rows: list[list[Any]]) -> str:
    """Which unit keeps its promise, over all the numbers of classes."""
    shares = {kind: [row[1 + at] for row in rows] for at, kind in enumerate([*KINDS, "singly"])}
    told = {kind: f"{100 * min(each):.0f} to {100 * max(each):.0f} %" for kind, each in shares.items()}
    return (
        f"Where whole classes are drawn, as with leave one out, 95 % intervals over queries hold the value in only "
        f"{told['query, percentile']} of the test sets; over classes in {told['class, t']} (Student's t). Where "
        f"queries are drawn singly against a gallery that stays, intervals over queries hold it in {told['singly']}."
    )


def whole_classes(n_class: int, n_set: int, threads: int | None = None, seed: int = 0) -> dict[str, float]:
    """Shares of the intervals of each kind that hold the population's mAP, where whole classes are drawn.

    The population's value is the mean over all the test sets and as many again.
    """
    rng = np.random.default_rng([seed, n_class])
    reports = [_leave_one_out(rng, n_class, threads) for _ in range(2 * n_set)]
    truth = math.fsum(report["mAP"].expected for report in reports) / len(reports)
    held = dict.fromkeys(KINDS, 0)
    for number, report in enumerate(reports[:n_set]):
        for kind, (unit, method) in KINDS.items():
            interval = report.interval(
                "mAP", confidence_level=LEVEL, resample=unit, method=method, n_resamples=N_RESAMPLES, seed=number
            ).expected
            held[kind] += _holds(interval, truth)
    return {kind: count / n_set for kind, count in held.items()}


def single_queries(n_class: int, n_set: int, threads: int | None = None, seed: int = 0) -> float:
    """The share of the query intervals that hold the population's mAP, where the gallery stays.

    Each test set has as many queries as the gallery has items, each of a class drawn at random. The population's value
    is the mean over the queries of all the sets.
    """
    rng = np.random.default_rng([seed, n_class, 1])
    centres, spreads = _classes(rng, n_class)
    labels = np.repeat(np.arange(n_class), PER_CLASS)
    gallery = _points(rng, centres, spreads, labels)
    drawn = rng.integers(0, n_class, n_set * len(labels))
    queries = _points(rng, centres, spreads, drawn)
    report = evaluate(queries, drawn, gallery, labels, distance="euclidean", measures="mAP", threads=threads)
    truth = report["mAP"].expected
    held = 0
    for number, values in enumerate(report["mAP"].per_query.expected.reshape(n_set, -1)):
        held += _holds(mean_interval(values, method="percentile", n_resamples=N_RESAMPLES, seed=number), truth)
    return held / n_set


def _classes(rng: np.random.Generator, n_class: int) -> tuple[Float64, Float64]:
    """Centres and spreads of classes: some are easy, some hard."""
    return rng.normal(size=(n_class, DIM)), np.exp(SPREAD * rng.normal(size=n_class))


def _points(rng: np.random.Generator, centres: Float64, spreads: Float64, labels: NDArray[np.int64]) -> Float64:
    """A point of the class of each label."""
    return centres[labels] + spreads[labels, None] * rng.normal(size=(len(labels), DIM))


def _leave_one_out(rng: np.random.Generator, n_class: int, threads: int | None) -> Report:
    """The report on a test set of classes that were drawn whole."""
    labels = np.repeat(np.arange(n_class), PER_CLASS)
    points = _points(rng, *_classes(rng, n_class), labels)
    return evaluate(points, labels, distance="euclidean", measures="mAP", threads=threads)


def _holds(interval: Interval, truth: float) -> bool:
    return interval.low <= truth <= interval.high


def _percent(share: float, n: int) -> str:
    """A share of n in per cent, with its standard error."""
    return f"{100 * share:.1f} ± {100 * math.sqrt(share * (1 - share) / n):.1f} %"


def _figure(rows: list[list[Any]]) -> Figure:
    """Shares against the number of classes."""
    figure = style.figure(5.6, 3.8)
    ax = style.quiet(figure.subplots())
    n_class = [row[0] for row in rows]
    names = [*(f"classes drawn whole: {kind}" for kind in KINDS), "queries drawn singly: query, percentile"]
    for i, name in enumerate(names):
        shares = [100 * row[i + 1] for row in rows]
        ax.plot(n_class, shares, **style.marked_line(i), markersize=5, markerfacecolor="white", label=name)
    ax.axhline(100 * LEVEL, color=style.GREY, linewidth=0.9)
    ax.set_xscale("log", base=2)
    ax.set_xticks(n_class, list(map(str, n_class)))
    ax.set(xlabel="classes in the test set", ylabel="intervals that hold the mean (%)", ylim=(40, 100))
    figure.legend(*ax.get_legend_handles_labels(), frameon=False, fontsize="small", loc="outside lower center", ncols=1)
    return figure


STUDY = Study(
    name="sampling",
    question="what intervals hold when queries are drawn, or whole classes",
    title="Intervals: queries or classes as the units that are drawn",
    source=_SOURCE,
    about=_ABOUT,
    docs="docs/statistics.md",
    run=run,
    needs=("scipy",),
)
