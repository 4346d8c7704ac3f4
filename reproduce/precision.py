"""The same embeddings, and the same scores, in fewer and fewer bits.

Input: PHOCNet's embeddings of George Washington's letters, images of digits, and synthetic clusters. Output: bounds and
ties by type.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from deadheat.analyses.quantization import compare_formats
from deadheat.analyses.rounding import FORMATS, quantized
from deadheat.cli import demo
from deadheat.engine.task import Task
from deadheat.engine.ties.rounded import Rounded
from deadheat.plots import style
from deadheat.plots.precisions import format_changes
from deadheat.reports.evaluating import evaluate
from deadheat.reports.report import Report
from reproduce import study
from reproduce.plots import mixed_queries
from reproduce.study import Finding, Mark, Outcome, Picture, Setting, Table, compared, joined, missing

TITLE = "The same embeddings in fewer bits"
SOURCE = (
    "A. Nicolaou et al., Non-deterministic Behavior of Ranking-based Metrics when Evaluating Embeddings, 2018, "
    "arXiv:1806.07171 (ties come from quantized distances); data of github.com/anguelos/embedding_map"
)
ABOUT = (
    "Embeddings are stored and compared in shorter and shorter types. Each number of an embedding is rounded to a "
    "type, and distances are then compared exactly, so that every change is due to rounding. For comparison the scores "
    "are rounded instead, as in a system that serves them in a short type. Cosine distance, leave one out."
)
NEEDS = ("sklearn",)

MEASURES = ("mAP", "Hit@1")
_FORMATS = ("float64", "float32", "bfloat16", "float16", "int8", "1 bit")
_SCORE_TYPES = ("float32", "bfloat16", "float16")
_RANGE = "{} to {} %".format(*study.WASHINGTON_RANGE)
_BY_CDIST = "not published: SciPy's cdist in float64 and a sort, the query excluded by its index"
_TEXT = (
    "float64, float32, bfloat16 and float16: each number is rounded to the nearest of the type. int8: x / max|x| · "
    "127, rounded to an integer, one scale for all. 1 bit: whether a number is at least 0; where none is negative, "
    "also whether it is at least half of the largest possible value.",
    "Where similarity or distance is rounded, the embeddings are unchanged, and the exact value of the cosine, or of "
    "1 − cosine, is rounded.",
)


class Data(NamedTuple):
    name: str
    title: str
    embeddings: NDArray[Any]
    labels: NDArray[Any]
    split: float | None  # the threshold for one bit where that is not 0


def run(setting: Setting) -> Outcome:
    parts = []
    if setting.file(study.GEORGE_WASHINGTON) is None:
        what = "George Washington, mAP"
        parts.append(Outcome([missing(what, study.GEORGE_WASHINGTON, published=_RANGE, source=study.TIES)]))
    for data in _data(setting):
        setting.say(f"  {data.title}")
        reports = rounded(data, setting.threads)
        findings = []
        if data.name == "washington":
            findings += _exact_values(data, reports["float64"], setting.threads)
            for dtype in study.WASHINGTON_ROUNDED:
                findings += _rounded_distances(dtype, reports[f"distance in {dtype}"])
        for name, report in reports.items():
            if name.startswith(("int8", "1 bit")):
                here = f"{100 * report['mAP'].lower:.2f} to {100 * report['mAP'].upper:.2f} %"
                ties = f"{report.ties.mixed_groups} mixed tie groups"
                findings.append(Finding(f"{data.title}: mAP in {name}, lower to upper", here, why=ties))
        pictures, tables = [_picture(data, reports)], [_table(data, reports)]
        parts.append(Outcome(findings, pictures, tables, conclusion=_conclusion(data, reports)))
    return joined(parts, _TEXT)


def _data(setting: Setting) -> list[Data]:
    file = setting.file(study.GEORGE_WASHINGTON)
    letters = [] if file is None else [washington_letters(*study.george_washington(file))]
    images, labels = demo.digits()
    kept = slice(300 if setting.quick else None)
    title = "scikit-learn's digits, 64 grey levels from 0 to 16"
    return [*letters, Data("digits", title, images[kept], labels[kept], 8.0), clusters(20 if setting.quick else 100)]


def washington_letters(features: NDArray[Any], labels: NDArray[Any]) -> Data:
    return Data("washington", "George Washington, PHOCNet, 504 attributes from 0 to 1", features, labels, 0.5)


def clusters(n_class: int, size: int = 10, dim: int = 32) -> Data:
    """Clusters of normal points around normal centres, both with standard deviation 1, in float64."""
    random = np.random.default_rng(6)
    labels = np.repeat(np.arange(n_class), size)
    points = random.normal(size=(n_class, dim))[labels] + random.normal(size=(len(labels), dim))
    return Data("clusters", f"{n_class} synthetic clusters of {size}, {dim} normal numbers each", points, labels, None)


def rounded(data: Data, threads: int | None) -> dict[str, Report]:
    task = Task(data.embeddings, data.labels, threads=threads)
    reports = dict(compare_formats(task, formats=_FORMATS, measures=MEASURES).reports)
    if data.split is not None:
        halves = quantized(data.embeddings, "1 bit", threshold=data.split)
        reports[f"1 bit, split at {data.split:g}"] = evaluate(halves, data.labels, measures=MEASURES, threads=threads)
    for part in ("similarity", "distance"):
        for dtype in _SCORE_TYPES:
            reports[f"{part} in {dtype}"] = evaluate(task.replace(ties=Rounded(dtype, of=part)), MEASURES)
    return reports


def _exact_values(data: Data, cosine: Report, threads: int | None) -> list[Finding]:
    value, (low, high) = 100 * cosine["mAP"].expected, study.WASHINGTON_RANGE
    why = "their code takes the first item of a ranking for the query itself, and counts a miss at rank 1: docs/ties.md"
    mark = Mark.of(low <= value <= high)
    findings = [Finding("George Washington, mAP, cosine", f"{value:.4f} %", mark, _RANGE, study.TIES, why)]
    for distance, known in study.WASHINGTON_MAP.items():
        report = evaluate(data.embeddings, data.labels, measures="mAP", distance=distance, threads=threads)
        title, value = f"George Washington, mAP, exact, {distance}", 100 * report["mAP"].expected
        findings.append(compared(title, value, known, digits=4, source=_BY_CDIST))
    return findings


def _rounded_distances(dtype: str, report: Report) -> list[Finding]:
    groups, lower, upper, decimals = study.WASHINGTON_ROUNDED[dtype]
    title = f"George Washington, cosine distance in {dtype}"
    result, mixed = report["mAP"], report.ties.mixed_groups
    return [
        compared(f"{title}: mixed tie groups", mixed, groups, unit="", digits=0, source=_BY_CDIST),
        compared(f"{title}: mAP, lower", 100 * result.lower, lower, digits=decimals, source=_BY_CDIST),
        compared(f"{title}: mAP, upper", 100 * result.upper, upper, digits=decimals, source=_BY_CDIST),
    ]


def _conclusion(data: Data, reports: Mapping[str, Report]) -> str:
    whole = 100 * reports["float64"]["mAP"].expected
    changes = []
    for name in ("int8", "1 bit" if data.split is None else f"1 bit, split at {data.split:g}"):
        result = reports[name]["mAP"]
        lower, expected, upper = (100 * value - whole for value in (result.lower, result.expected, result.upper))
        changes.append(f"{name} changes mAP by {expected:+.2f} points [{lower:+.2f}, {upper:+.2f}]")
    return f"{data.title}: {whole:.2f} % in float64; {', '.join(changes)}."


def _table(data: Data, reports: Mapping[str, Report]) -> Table:
    columns = ["rounded to", "bits per number", "measure", "lower", "expected", "upper", "upper - lower",
               "mixed tie groups", "queries with one", "largest"]  # fmt: skip
    rows: list[Sequence[Any]] = []
    for measure in MEASURES:
        for name, report in reports.items():
            result, ties, form = report[measure], report.ties, FORMATS.get(name.split(",")[0])
            bits = "" if form is None else form.bits  # empty where the score is rounded
            values = result.lower, result.expected, result.upper, result.upper - result.lower
            rows.append([name, bits, measure, *values, ties.mixed_groups, ties.queries, ties.largest])
    caption = f"{data.title}: {len(data.labels)} items. The last rows of each measure round the score"
    return Table(f"precision-{data.name}", caption, columns, rows, percent=columns[3:7])


def _picture(data: Data, reports: Mapping[str, Report]) -> Picture:
    figure = style.figure(8.6, 1.1 + 0.27 * len(reports))
    left, right = figure.subplots(1, 2, width_ratios=(3, 2))
    format_changes(reports, ax=left)
    mixed_queries(reports, ax=right).set_title("")  # a title would stand over the left one's column
    right.set_yticklabels([])
    for ax in (left, right):
        ax.axhline(len(reports) - 2 * len(_SCORE_TYPES) - 0.5, color=style.INK, linewidth=0.8, linestyle=":")
    caption = (
        f"{data.title}. Left: mAP against that of float64, lower, expected and upper. Right: queries with a mixed tie "
        "group, the number of such groups, and the size of the largest. Above the dotted line embeddings are rounded, "
        "below it scores."
    )
    return Picture(f"precision-{data.name}", caption, figure)
