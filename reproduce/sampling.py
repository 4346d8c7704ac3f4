"""Coverage of 95 % intervals for the value of a population, with queries or whole classes drawn.

Input: a `Setting`. Output: the coverage for each way to draw a test set and each kind of interval.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from deadheat.plots import style
from deadheat.reports.averaging import Average
from deadheat.reports.evaluating import evaluate
from deadheat.reports.statistics.intervals import mean_interval
from reproduce.study import LEVEL, Finding, Outcome, Picture, Setting, Table

TITLE = "Intervals: queries or classes as sampling units"
SOURCE = "No publication: a check of Report.interval on a population with known mean."
ABOUT = (
    "Points are drawn from classes with random centres and spreads, and evaluated with leave one out. The mean over "
    "many test sets is the population's value. A 95 % interval from one test set should hold it 95 times in 100. For "
    "comparison, queries are drawn one by one against a fixed gallery."
)
NEEDS = ("scipy",)

DIM, PER_CLASS, N_RESAMPLES = 8, 10, 999
_DEVIATION = 0.5
KINDS: dict[str, tuple[Average, str]] = {
    "query, percentile": ("query", "percentile"),
    "class, percentile": ("class", "percentile"),
    "class, t": ("class", "t"),
}
SINGLY = "queries drawn singly: query, percentile"

Float64 = NDArray[np.float64]


def run(setting: Setting) -> Outcome:
    sizes, n_set = ((10, 20), 20) if setting.quick else ((10, 20, 40, 80), 1000)
    names, rows = [*KINDS, SINGLY], []
    for n_class in sizes:
        setting.say(f"{n_set} test sets of {n_class} classes")
        shares = whole_classes(n_class, n_set, setting.threads)
        rows.append([*shares.values(), single_queries(n_class, n_set, setting.threads)])
    held = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    findings = [
        Finding(f"{name}; {n_class} classes {'in the gallery' if name == SINGLY else 'drawn whole'}",
                percent_of(share, n_set))
        for name, shares in held.items() for n_class, share in zip(sizes, shares, strict=True)
    ]  # fmt: skip
    caption = f"Share of {n_set} intervals at level 0.95 for mAP that hold the population's value."
    lines = [[n_class, *row] for n_class, row in zip(sizes, rows, strict=True)]
    table = Table("coverage", caption, ["classes", *names], lines, percent=names)
    curves = {f"{name}, classes drawn whole" if name in KINDS else name: shares for name, shares in held.items()}
    figure = shares_figure(sizes, curves, LEVEL, "intervals that hold the mean (%)")
    figure.axes[0].set_ylim(40, 100)
    conclusion = (
        f"Where whole classes are drawn, as with leave one out, 95 % intervals over queries hold the value in only "
        f"{range_of(held['query, percentile'])} of the test sets; over classes in {range_of(held['class, t'])} "
        "(Student's t). Where queries are drawn singly against a fixed gallery, intervals over queries hold it in "
        f"{range_of(held[SINGLY])}."
    )
    return Outcome(findings, [Picture("coverage", caption, figure)], [table], conclusion=conclusion)


def whole_classes(n_class: int, n_set: int, threads: int | None = None, seed: int = 0) -> dict[str, float]:
    """Shares of the intervals of each kind that hold the population's mAP, where whole classes are drawn.

    The population's value is the mean over all the test sets and equally many others.
    """
    rng, labels = np.random.default_rng([seed, n_class]), np.repeat(np.arange(n_class), PER_CLASS)
    reports = []
    for _ in range(2 * n_set):
        points = points_of(rng, rng.normal(size=(n_class, DIM)), deviations(rng, n_class), labels)
        reports.append(evaluate(points, labels, distance="euclidean", measures="mAP", threads=threads))
    truth = math.fsum(report["mAP"].expected for report in reports) / len(reports)
    held = dict.fromkeys(KINDS, 0)
    for number, report in enumerate(reports[:n_set]):
        for kind, (unit, method) in KINDS.items():
            how: dict[str, Any] = {"resample": unit, "method": method, "n_resamples": N_RESAMPLES, "seed": number}
            low, high = report.interval("mAP", confidence_level=LEVEL, **how).expected
            held[kind] += low <= truth <= high
    return {kind: count / n_set for kind, count in held.items()}


def single_queries(n_class: int, n_set: int, threads: int | None = None, seed: int = 0) -> float:
    """The share of the query intervals that hold the population's mAP, where the gallery is fixed.

    Each test set has as many queries as the gallery has items, each of a class drawn at random. The population's value
    is the mean over the queries of all the sets.
    """
    rng = np.random.default_rng([seed, n_class, 1])
    centres, sizes = rng.normal(size=(n_class, DIM)), deviations(rng, n_class)
    labels = np.repeat(np.arange(n_class), PER_CLASS)
    gallery = points_of(rng, centres, sizes, labels)
    drawn = rng.integers(0, n_class, n_set * len(labels))
    queries = points_of(rng, centres, sizes, drawn)
    result = evaluate(queries, drawn, gallery, labels, distance="euclidean", measures="mAP", threads=threads)["mAP"]
    held = 0
    for number, values in enumerate(result.per_query.expected.reshape(n_set, -1)):
        low, high = mean_interval(values, method="percentile", n_resamples=N_RESAMPLES, seed=number)
        held += low <= result.expected <= high
    return held / n_set


# ---------------------------------------------------------------------------------------------------------------------
# shared with the study of the null hypothesis


def deviations(rng: np.random.Generator, n_class: int) -> Float64:
    """The standard deviation of the points of each class: some classes are easy, some hard."""
    return np.asarray(np.exp(_DEVIATION * rng.normal(size=n_class)))


def points_of(rng: np.random.Generator, centres: Float64, sizes: Float64, labels: NDArray[np.int64]) -> Float64:
    return centres[labels] + sizes[labels, None] * rng.normal(size=(len(labels), centres.shape[1]))


def percent_of(share: float, n: int) -> str:
    """A share of n in per cent, with its standard error."""
    return f"{100 * share:.1f} ± {100 * math.sqrt(share * (1 - share) / n):.1f} %"


def range_of(shares: Sequence[float]) -> str:
    return f"{100 * min(shares):.0f} to {100 * max(shares):.0f} %"


def shares_figure(n_class: Sequence[int], curves: dict[str, list[float]], level: float, ylabel: str) -> Figure:
    figure = style.figure(5.6, 4.0)
    ax = style.quiet(figure.subplots())
    for number, (name, shares) in enumerate(curves.items()):
        values = [100 * share for share in shares]
        ax.plot(n_class, values, **style.marked_line(number), markersize=5, markerfacecolor="white", label=name)
    ax.axhline(100 * level, color=style.GREY, linewidth=0.9)
    ax.set_xscale("log", base=2)
    ax.set_xticks(n_class, list(map(str, n_class)))
    ax.set(xlabel="classes in the test set", ylabel=ylabel)
    figure.legend(*ax.get_legend_handles_labels(), frameon=False, fontsize="small", loc="outside lower center", ncols=1)
    return figure
