"""How often `compare` says p < 0.05 where nothing differs: queries as the units that are swapped, and classes.

In comes a `Setting`; out go the shares, for leave one out and, beside it, for queries against a separate gallery.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from deadheat.analyses.comparison import compare
from deadheat.plots import style
from deadheat.reports import Report, evaluate
from deadheat.reports.options import Average
from deadheat.studies.study import Finding, Mark, Outcome, Picture, Setting, Study, Table

_SOURCE = "No publication: a check of deadheat.compare where the null hypothesis holds by construction."
_ABOUT = (
    "Points are drawn from classes. A sees one half of their dimensions and B the other, and both halves are drawn "
    "from one law, so that neither system is better. A test at 0.05 should say p < 0.05 in 5 of 100 test sets. In "
    "leave one out the points are queries and gallery at once. For comparison, both systems get one gallery, and each "
    "query is drawn by itself."
)

ALPHA = 0.05
DIM, PER_CLASS, SPREAD, N_RESAMPLES = 8, 10, 0.5, 999
MEASURES = ("mAP", "Hit@1")
UNITS: tuple[Average, ...] = ("query", "class")

Float64 = NDArray[np.float64]
Draw = Callable[[np.random.Generator, int, int | None], tuple[Report, Report]]


class Kind(NamedTuple):
    """A column of the table: what the test sets are, what the test swaps, and the measure."""

    gallery: str
    unit: Average
    measure: str

    def __str__(self) -> str:
        return f"{self.gallery}, units {'queries' if self.unit == 'query' else 'classes'}: {self.measure}"


def run(setting: Setting) -> Outcome:
    """Count p-values below 0.05, for several numbers of classes."""
    sizes = (10, 20) if setting.quick else (10, 20, 40)
    n_set = 40 if setting.quick else 1000
    rows = []
    for n_class in sizes:
        shares = false_alarms(n_class, n_set, setting.threads)
        rows.append((n_class, shares))
        told = "; ".join(f"{kind} {_percent(share, n_set)}" for kind, share in shares.items())
        setting.say(f"{n_class} classes of {PER_CLASS}, p < {ALPHA:g} in {told}")
    findings = [
        Finding(f"{kind}; {n_class} classes", _percent(share, n_set), Mark.NEW)
        for n_class, shares in rows
        for kind, share in shares.items()
    ]
    columns = ["classes", *map(str, rows[0][1])]
    caption = f"Share of {n_set} test sets without any difference for which the test says p < {ALPHA:g}."
    table = Table("size", caption, columns, [[n, *shares.values()] for n, shares in rows], percent=columns[1:])
    return Outcome(findings, [Picture("size", caption, _figure(rows))], [table], conclusion=_conclusion(rows))


def _conclusion(rows: list[tuple[int, dict[Kind, float]]]) -> str:
    """How often each unit raises a false alarm, over all measures and numbers of classes."""
    told = []
    for gallery, unit in (("leave one out", "query"), ("leave one out", "class"), ("separate gallery", "query")):
        each = [share for _, shares in rows for kind, share in shares.items() if kind[:2] == (gallery, unit)]
        told.append(f"{100 * min(each):.0f} to {100 * max(each):.0f} %")
    return (
        f"Where nothing differs, p < {ALPHA:g} should come in {100 * ALPHA:.0f} % of the test sets. In leave one out "
        f"a test over queries says it in {told[0]}, one over classes in {told[1]}; with a gallery of its own, a test "
        f"over queries in {told[2]}."
    )


def false_alarms(n_class: int, n_set: int, threads: int | None = None, seed: int = 0) -> dict[Kind, float]:
    """Shares of the test sets for which the test says p < 0.05, by kind."""
    rng = np.random.default_rng([seed, n_class])
    draws: dict[str, tuple[Draw, tuple[Average, ...]]] = {
        "leave one out": (leave_one_out, UNITS), "separate gallery": (separate_gallery, ("query",))
    }  # fmt: skip
    counts: dict[Kind, int] = {}
    for gallery, (draw, units) in draws.items():
        for number in range(n_set):
            a, b = draw(rng, n_class, threads)
            for unit in units:
                found = compare(a, b, resample=unit, n_resamples=N_RESAMPLES, seed=number)
                for name in MEASURES:
                    kind = Kind(gallery, unit, name)
                    counts[kind] = counts.get(kind, 0) + (found[name].pvalue < ALPHA)
    return {kind: count / n_set for kind, count in counts.items()}


def leave_one_out(rng: np.random.Generator, n_class: int, threads: int | None) -> tuple[Report, Report]:
    """A and B on one test set: the halves of the dimensions of points that are queries and gallery at once."""
    labels = np.repeat(np.arange(n_class), PER_CLASS)
    points = _points(rng, rng.normal(size=(n_class, 2 * DIM)), _spreads(rng, n_class), labels)
    return _reports([(half, labels) for half in _halves(points)], threads)


def separate_gallery(rng: np.random.Generator, n_class: int, threads: int | None) -> tuple[Report, Report]:
    """A and B on one test set: both have one gallery, and each query is drawn by itself, class and all."""
    labels = np.repeat(np.arange(n_class), PER_CLASS)
    drawn = rng.integers(0, n_class, len(labels))
    centres, spreads = rng.normal(size=(n_class, DIM)), _spreads(rng, n_class)
    gallery = _points(rng, centres, spreads, labels)
    queries = _points(rng, np.hstack([centres, centres]), spreads, drawn)
    return _reports([(half, drawn, gallery, labels) for half in _halves(queries)], threads)


def _spreads(rng: np.random.Generator, n_class: int) -> Float64:
    """How far the points of a class lie apart: some classes are easy, some hard, and for A and B alike."""
    return np.asarray(np.exp(SPREAD * rng.normal(size=n_class)))


def _points(rng: np.random.Generator, centres: Float64, spreads: Float64, labels: NDArray[np.int64]) -> Float64:
    """A point of the class of each label."""
    return centres[labels] + spreads[labels, None] * rng.normal(size=(len(labels), centres.shape[1]))


def _halves(points: Float64) -> tuple[Float64, Float64]:
    return points[:, :DIM], points[:, DIM:]


def _reports(systems: list[tuple[Any, ...]], threads: int | None) -> tuple[Report, Report]:
    a, b = (evaluate(*system, distance="euclidean", measures=MEASURES, threads=threads) for system in systems)
    return a, b


def _percent(share: float, n: int) -> str:
    """A share of n in per cent, with its standard error."""
    return f"{100 * share:.1f} ± {100 * math.sqrt(share * (1 - share) / n):.1f} %"


def _figure(rows: list[tuple[int, dict[Kind, float]]]) -> Figure:
    """Shares against the number of classes."""
    figure = style.figure(5.6, 4.0)
    ax = style.quiet(figure.subplots())
    n_class = [n for n, _ in rows]
    for i, kind in enumerate(rows[0][1]):
        shares = [100 * of_kind[kind] for _, of_kind in rows]
        ax.plot(n_class, shares, **style.marked_line(i), markersize=5, markerfacecolor="white", label=str(kind))
    ax.axhline(100 * ALPHA, color=style.GREY, linewidth=0.9)
    ax.set_xscale("log", base=2)
    ax.set_xticks(n_class, list(map(str, n_class)))
    ax.set(xlabel="classes in the test set", ylabel=f"test sets with p < {ALPHA:g} (%)", ylim=(0, None))
    figure.legend(*ax.get_legend_handles_labels(), frameon=False, fontsize="small", loc="outside lower center", ncols=1)
    return figure


STUDY = Study(
    name="null",
    question="how often a test says p < 0.05 where nothing differs",
    title="The size of the test: p-values where neither system is better",
    source=_SOURCE,
    about=_ABOUT,
    docs="docs/statistics.md",
    run=run,
)
