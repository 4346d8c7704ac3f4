"""The share of p < 0.05 by `compare` where nothing differs, with queries or classes as the units that are swapped.

Input: a `Setting`. Output: the shares, for leave one out and, for comparison, for queries against a separate gallery.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from deadheat.analyses.comparison import compare
from deadheat.reports.averaging import Average
from deadheat.reports.evaluating import evaluate
from deadheat.reports.report import Report
from reproduce import sampling
from reproduce.sampling import DIM, PER_CLASS, deviations, percent_of, points_of, range_of
from reproduce.study import Finding, Outcome, Picture, Setting, Table

TITLE = "The size of the test: p-values where neither system is better"
SOURCE = "No publication: a check of deadheat.compare where the null hypothesis holds by construction."
ABOUT = (
    "Points are drawn from classes. System A uses one half of their dimensions and B the other, and both halves have "
    "the same distribution, so that neither system is better. A test at level 0.05 should give p < 0.05 in 5 of 100 "
    "test sets. In leave one out the points are both queries and gallery. For comparison, both systems have the same "
    "gallery, and the queries are drawn independently."
)

ALPHA = 0.05
MEASURES = ("mAP", "Hit@1")


class Kind(NamedTuple):
    """A column of the table: what the test sets are, what the test swaps, and the measure."""

    gallery: str
    unit: Average
    measure: str

    def __str__(self) -> str:
        return f"{self.gallery}, units {'queries' if self.unit == 'query' else 'classes'}: {self.measure}"


def run(setting: Setting) -> Outcome:
    sizes, n_set = ((10, 20), 10) if setting.quick else ((10, 20, 40), 1000)
    curves: dict[Kind, list[float]] = {}
    for n_class in sizes:
        result = false_alarms(n_class, n_set, setting.threads)
        shown = "; ".join(f"{kind} {percent_of(share, n_set)}" for kind, share in result.items())
        setting.say(f"{n_class} classes of {PER_CLASS}, p < {ALPHA:g} in {shown}")
        for kind, share in result.items():
            curves.setdefault(kind, []).append(share)
    findings = [
        Finding(f"{kind}; {n_class} classes", percent_of(shares[at], n_set))
        for at, n_class in enumerate(sizes)
        for kind, shares in curves.items()
    ]
    columns = ["classes", *map(str, curves)]
    caption = f"Share of {n_set} test sets without any difference for which the test gives p < {ALPHA:g}."
    named = {str(kind): shares for kind, shares in curves.items()}
    figure = sampling.shares_figure(sizes, named, ALPHA, f"test sets with p < {ALPHA:g} (%)")
    figure.axes[0].set_ylim(0, None)
    table = Table("size", caption, columns, list(zip(sizes, *curves.values(), strict=True)), percent=columns[1:])
    alone, in_classes, separate = (
        range_of([share for kind, shares in curves.items() if kind[:2] == chosen for share in shares])
        for chosen in (("leave one out", "query"), ("leave one out", "class"), ("separate gallery", "query"))
    )
    conclusion = (
        f"Where nothing differs, p < {ALPHA:g} should occur in {100 * ALPHA:.0f} % of the test sets. In leave one out "
        f"a test over queries gives it in {alone}, one over classes in {in_classes}; with a separate gallery, a test "
        f"over queries in {separate}."
    )
    return Outcome(findings, [Picture("size", caption, figure)], [table], conclusion=conclusion)


def false_alarms(n_class: int, n_set: int, threads: int | None = None, seed: int = 0) -> dict[Kind, float]:
    rng = np.random.default_rng([seed, n_class])
    units: dict[str, tuple[Average, ...]] = {"leave one out": ("query", "class"), "separate gallery": ("query",)}
    counts = {Kind(gallery, unit, name): 0 for gallery in units for unit in units[gallery] for name in MEASURES}
    for gallery in units:
        for number in range(n_set):
            a, b = (leave_one_out if gallery == "leave one out" else separate_gallery)(rng, n_class, threads)
            for unit in units[gallery]:
                result = compare(a, b, resample=unit, n_resamples=sampling.N_RESAMPLES, seed=number)
                for name in MEASURES:
                    counts[Kind(gallery, unit, name)] += result[name].pvalue < ALPHA
    return {kind: count / n_set for kind, count in counts.items()}


def leave_one_out(rng: np.random.Generator, n_class: int, threads: int | None) -> tuple[Report, Report]:
    """A and B on one test set: the halves of the dimensions of points that are both queries and gallery."""
    labels = np.repeat(np.arange(n_class), PER_CLASS)
    points = points_of(rng, rng.normal(size=(n_class, 2 * DIM)), deviations(rng, n_class), labels)
    return _reports(points, (labels,), threads)


def separate_gallery(rng: np.random.Generator, n_class: int, threads: int | None) -> tuple[Report, Report]:
    """A and B on one test set: both have the same gallery; each query, with its class, is drawn independently."""
    labels = np.repeat(np.arange(n_class), PER_CLASS)
    drawn = rng.integers(0, n_class, len(labels))
    centres, sizes = rng.normal(size=(n_class, DIM)), deviations(rng, n_class)
    gallery = points_of(rng, centres, sizes, labels)
    queries = points_of(rng, np.hstack([centres, centres]), sizes, drawn)
    return _reports(queries, (drawn, gallery, labels), threads)


def _reports(points: NDArray[np.float64], others: tuple[Any, ...], threads: int | None) -> tuple[Report, Report]:
    a, b = (
        evaluate(half, *others, distance="euclidean", measures=MEASURES, threads=threads)
        for half in (points[:, :DIM], points[:, DIM:])
    )
    return a, b
