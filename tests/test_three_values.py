"""Whatever has three values has them in order: lower, expected, upper; of every public result, on data full of ties."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import pytest

import deadheat as dh
from deadheat import confidence as dc

N = 60
RNG = np.random.default_rng(1)
GRID = RNG.integers(0, 2, (N, 4)).astype(np.float32)  # at most sixteen different rows
LABELS = RNG.integers(0, 6, N)
SCORES = RNG.integers(0, 3, (N, 25))
MARKS = RNG.random((N, 25)) < 0.2
GRADES = np.where(MARKS, RNG.integers(1, 4, MARKS.shape), 0)
RUN = {f"q{i}": {f"d{j}": float(score) for j, score in enumerate(row[:15])} for i, row in enumerate(SCORES)}
FINE = {query: {doc: score + j / 100 for j, (doc, score) in enumerate(row.items())} for query, row in RUN.items()}
QRELS = {f"q{i}": {f"d{j}": int(grade) for j, grade in enumerate(row)} for i, row in enumerate(GRADES)}
FOUND = np.argsort(RNG.random((N, 20)), axis=1)[:, :5]
LINKS = dh.from_ranks(*np.sort(RNG.integers(1, 30, (2, N)), axis=0), np.full(N, 40)).profile
NAMES = ["mAP", "MAP@R", "R-Precision", "P@5", "Recall@5", "Hit@5", "All@5", "MRR", "nDCG@5", "F1@5", "RBP", "AUC",
         "mINP", "bpref", "IPrec@0.5", "11pt_avg", "mAP(over='hits')@5", "mAP(over='possible')@5",
         "mAP(interpolation='trapezoid')@5",
         "Recall(over='possible')@5"]  # fmt: skip

HIDDEN = RNG.random(GRID.shape) < 0.1
OTHER = np.where(HIDDEN, 1 - GRID, GRID).astype(np.float32)
TASK, OTHER_TASK = dh.Task(GRID, LABELS), dh.Task(OTHER, LABELS)


def neighbors() -> dh.TieProfile:
    """The best ten of each row, as an index returns them: the first row finds what it looks for, most others do not."""
    order = np.argsort(-SCORES, axis=1, kind="stable")[:, :10]
    best = np.take_along_axis(SCORES, order, axis=1)
    best[0] = range(10, 0, -1)
    missed = [set(range(25)) - set(row) for row in order.tolist()]
    return dh.from_neighbors(
        order, best, relevant=[{int(order[0, 0])}, {int(order[1, -1])}, *missed[2:]], n_gallery=25
    ).profile


def reports() -> dict[str, dh.Report]:
    return {name: dh.evaluate(rows, LABELS, measures=NAMES) for name, rows in (("a", GRID), ("b", OTHER))}


RESULTS: dict[str, Callable[[], Any]] = {
    "audit": lambda: dh.audit(TASK),
    "audit_run": lambda: dh.audit_run(RUN, QRELS),
    "classification": lambda: dh.classification(SCORES.ravel(), MARKS.ravel()),
    "classification in groups": lambda: dh.classification(SCORES.ravel(), MARKS.ravel(), np.arange(N * 25) % 4),
    "compare": lambda: dh.compare(*reports().values(), n_resamples=50),
    "compare_formats": lambda: dh.compare_formats(TASK, n_resamples=50),
    "confidence_report": lambda: dc.confidence_report(reports()["a"], RNG.integers(0, 3, N)),
    "credible_recall": lambda: dc.credible_recall(SCORES[:, :9], SCORES[:, 9:], MARKS[:, :9]),
    "error_reject_curve": lambda: dc.error_reject_curve(reports()["a"]["mAP"].per_query, RNG.integers(0, 3, N)),
    "evaluate": lambda: dh.evaluate(TASK, NAMES),
    "evaluate by class": lambda: dh.evaluate(TASK.replace(ties="float16"), NAMES, average="class"),
    "evaluate of a run": lambda: dh.evaluate(dh.from_run(RUN, QRELS), [*NAMES, "SetP", "SetF1", "P(rel=2)@5"]),
    "exploit": lambda: dh.exploit(TASK),
    "generalization_gap": lambda: dh.generalization_gap(TASK, OTHER_TASK, group_size=3),
    "grouped": lambda: dh.grouped(TASK, group_size=3, measures=NAMES),
    "index_recall": lambda: dh.index_recall(
        np.argsort(RNG.random((N, 20)), axis=1)[:, :5], GRID, GRID[:25], 5, distance="l2"
    ),
    "leaderboard": lambda: dh.leaderboard(reports(), n_resamples=50),
    "link_prediction": lambda: dh.link_prediction(LINKS),
    "link_prediction by relation": lambda: dh.link_prediction(LINKS, relations=LABELS),
    "compare runs": lambda: dh.compare(*(dh.evaluate(dh.from_run(run, QRELS), NAMES) for run in (FINE, RUN))),
    "evaluate graded scores": lambda: dh.evaluate(dh.from_scores(SCORES, GRADES).profile, NAMES),
    "evaluate a cut list": lambda: dh.evaluate(neighbors(), NAMES),
    "p_values": lambda: dh.p_values(TASK, n_resamples=500),
    "pair_classification": lambda: dh.pair_classification(GRID, RNG.integers(0, N, (200, 2)), RNG.integers(0, 2, 200)),
    "precision_recall": lambda: dh.precision_recall(dh.from_scores(SCORES, GRADES).profile, interpolate=True),
    "precision_recall as it is": lambda: dh.precision_recall(dh.from_scores(SCORES, GRADES).profile),
    "precision_recall of a cut list": lambda: dh.precision_recall(neighbors()),
    "split_half": lambda: dh.split_half(TASK, group_size=3, draws=3),
}


def triples(result: Any) -> Iterator[tuple[str, Any, Any, Any]]:
    """Wherever lower, expected and upper are in a result: where, and the three."""

    def walk(where: str, value: Any) -> Iterator[tuple[str, Any, Any, Any]]:
        if isinstance(value, Mapping):
            for key in [key for key in value if str(key).endswith("lower")]:
                stem = str(key).removesuffix("lower")
                yield where + stem, *(value.get(stem + end) for end in ("lower", "expected", "upper"))
            for key, inner in value.items():
                if key not in ("interval", "units"):  # an interval of the lower bound may end above the upper bound's
                    yield from walk(f"{where}.{key}", inner)
        elif isinstance(value, (list, tuple)):
            if hasattr(value, "_fields") and {"lower", "expected", "upper"} <= {*value._fields}:
                yield where, value.lower, value.expected, value.upper
            for i, inner in enumerate(value):
                yield from walk(f"{where}[{i}]", inner)
        elif all(hasattr(value, end) for end in ("lower", "expected", "upper")):
            yield where, value.lower, value.expected, value.upper
        elif hasattr(value, "to_dict"):  # a result in a result
            yield from walk(where, value.to_dict())

    yield from walk("", vars(result))
    for name in ("to_dict", "columns"):
        if hasattr(result, name):
            yield from walk(name, getattr(result, name)())
    for name in dir(type(result)):
        if isinstance(getattr(type(result), name), property) and not name.startswith("_"):
            yield from walk(name, getattr(result, name))


@pytest.mark.parametrize("name", RESULTS)
def test_lower_expected_and_upper_are_in_order(name: str) -> None:
    result = RESULTS[name]()
    n = 0
    for where, *three in triples(result):
        if any(each is None for each in three):
            continue
        lower, expected, upper = (np.asarray(each, dtype=np.float64) for each in three)
        known = ~np.isnan(expected)
        assert np.all((lower <= upper) | np.isnan(lower)), where
        assert np.all((lower <= expected)[known] & (expected <= upper)[known]), (where, lower, expected, upper)
        n += int(np.count_nonzero(lower < upper))
    assert n, "no ties, so that nothing was tried"
