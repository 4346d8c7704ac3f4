"""Every result is text, Markdown, LaTeX, HTML, JSON and a data frame of the same numbers."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import deadheat as dh
from deadheat import confidence
from deadheat.analyses.public_board import PublicBoard, lower_bounds
from deadheat.reports.answer import Answer
from deadheat.reports.tables import SCHEMA, program
from deadheat.support.triple import Triple

pandas = pytest.importorskip("pandas")
RNG = np.random.default_rng(0)
POINTS, LABELS = RNG.integers(0, 4, (24, 2)), np.arange(24) % 6
HITS = Triple(np.array([0.0, 0, 1, 1, np.nan]), np.array([0.0, 0.5, 1, 1, np.nan]), np.array([0.0, 1, 1, 1, np.nan]))
SURE = np.array([0.1, 0.5, 0.5, 0.9, 1.0])

TASK, REVERSED = (dh.Task(points, LABELS, distance="euclidean") for points in (POINTS, POINTS[::-1]))
REPORTS = {f"{dim} of 2": dh.evaluate(POINTS[:, :dim], LABELS, measures="mAP, Hit@1") for dim in (1, 2)}

RESULTS: dict[str, Callable[[], Answer]] = {
    "grouped": lambda: dh.grouped(TASK, group_size=2, measures=["Hit@1", "mAP"]),
    "gap": lambda: dh.generalization_gap(TASK, REVERSED, group_size=2),
    "halves": lambda: dh.split_half(TASK, group_size=2, draws=3),
    "comparison": lambda: dh.compare(*REPORTS.values(), names=REPORTS, n_resamples=99),
    "leaderboard": lambda: dh.leaderboard(REPORTS, n_resamples=99),
    "collisions": lambda: dh.collisions(TASK.replace(distance="cityblock")),
    "table": lambda: dh.collisions(TASK, distances=["euclidean", "cityblock"]),
    "quantization": lambda: dh.compare_formats(dh.Task(POINTS, LABELS), measures="mAP, P@2", formats="int8, 1 bit"),
    "reject": lambda: confidence.error_reject_curve(HITS, SURE),
    "accuracy": lambda: confidence.confidence_accuracy(HITS.lower, SURE),
    "open accuracy": lambda: confidence.confidence_accuracy(HITS, SURE),
    "calibration": lambda: confidence.calibration(HITS, SURE, bins=4),
    "correlation": lambda: confidence.rank_correlation(SURE, SURE[::-1] ** 2),
    "density": lambda: confidence.highest_density_interval([0, 1, 2], 0.75, density=[0, 1, 0]),
    "confidence": lambda: confidence.confidence_report(REPORTS["1 of 2"], np.arange(24) % 5, np.arange(24) % 7),
    "exploit": lambda: dh.exploit(TASK, draws=2, searches=1),
    "random baseline": lambda: dh.random_baseline(LABELS, draws=2, dim=2),
    "hash lookup": lambda: dh.hash_lookup(dh.Task(POINTS > 1, LABELS, distance="hamming")),
    "public board": lambda: PublicBoard.of({name: lower_bounds(each) for name, each in REPORTS.items()}, {"x": "late"}),
    "truth": lambda: dh.index_recall_of_truth([[0, 2], [1, 0]], [[0, 1, 2]] * 2, [[0.0, 1.0, 1.0]] * 2, 2),
    "credible": lambda: confidence.credible_recall([[9, 7, 1]], [[8, 7, 5, 2]], [[1, 1, 0]], masses=[0.5]),
    "p-values": lambda: dh.p_values(TASK, n_resamples=99),
    "pooled": lambda: dh.classification(np.arange(24) % 5, LABELS == 0),
    "curve": lambda: dh.precision_recall(REPORTS["1 of 2"]),
    "links": lambda: dh.link_prediction(dh.from_ranks([1, 2], [1, 4], 9)),
    "index": lambda: dh.index_recall({"a": LABELS[:, None]}, POINTS, POINTS, 1, distance="l2"),
}


@pytest.mark.parametrize("name", RESULTS)
def test_every_form_has_all_cells(name: str) -> None:
    result = RESULTS[name]()
    text, markdown, latex, page = str(result), result.to_markdown(), result.to_latex(), result._repr_html_()
    for table in result.tables():
        for row in table.rows:
            assert len(row) == len(table.header)
            for cell in map(str.strip, row):
                assert cell in text
                assert cell in markdown
                assert cell.replace("'", "&#x27;") in page
                assert cell.replace("_", r"\_").replace("%", r"\%").replace("~", r"\textasciitilde{}") in latex
    for note in result.notes():
        assert note in text
        assert note in markdown
    assert markdown.count("|:--") == page.count("<table>") == latex.count(r"\toprule") == len(result.tables())
    assert json.loads(result.to_json()) == {"deadheat": program(), "schema": SCHEMA, **result.to_dict()}


@pytest.mark.parametrize("name", RESULTS)
def test_frames_hold_the_columns(name: str) -> None:
    pyarrow, polars = pytest.importorskip("pyarrow"), pytest.importorskip("polars")
    result = RESULTS[name]()
    columns = {key: list(values) for key, values in result.columns().items()}
    table, frame = result.to_arrow(), result.to_pandas()
    assert table.column_names == result.to_polars().columns == list(frame.columns) == list(columns)
    for key, values in columns.items():
        assert len(values) > 0
        for outcome in (table[key].to_pylist(), result.to_polars()[key].to_list(), frame[key].to_numpy()):
            np.testing.assert_array_equal(outcome, values)
    assert pyarrow.table(result).equals(table) or any(value != value for values in columns.values() for value in values)
    assert polars.DataFrame(result).equals(result.to_polars())


def column(name: str, key: str) -> list[Any]:
    return list(RESULTS[name]().columns()[key])


def test_columns_are_the_values_as_fractions() -> None:
    report, gap, counts = RESULTS["grouped"](), RESULTS["gap"](), RESULTS["table"]()["cityblock"]
    curve, by_format, formats = RESULTS["reject"](), RESULTS["quantization"](), ["float32", "int8", "1 bit"]
    sides, measures = (gap.grouped, gap.plain), [report[name] for name in ("Hit@1", "mAP")]
    for name, key, some, values in (
        ("grouped", "lower", slice(None), [each.lower for each in measures]),
        ("grouped", "standard_error", slice(None), [each.errors.expected for each in measures]),
        ("gap", "set", slice(None), ["train", "test", "gap"] * 2),
        ("gap", "upper", slice(2, None, 3), [side.upper for side in sides]),
        ("gap", "standard_error", slice(2, None, 3),
         [math.hypot(side.train_errors.expected, side.test_errors.expected) for side in sides]),
        ("table", "distance", slice(None), ["euclidean"] * 4 + ["cityblock"] * 4),
        ("table", "groups", slice(4, None),
         [getattr(counts, kind).groups for kind in ("relevant", "irrelevant", "mixed", "together")]),
        ("collisions", "items", slice(None), column("table", "items")[4:]),
        ("quantization", "format", slice(None), formats * 2),
        ("quantization", "expected", slice(None), [by_format[f][m].expected for m in ("mAP", "P@2") for f in formats]),
        ("reject", "n_kept", slice(None), [1, 2, 3, 4]),
        ("reject", "upper", slice(None), curve.upper.tolist()),
        ("calibration", "count", slice(None), [1, 2, 0, 1]),
        ("correlation", "p", slice(None), [RESULTS["correlation"]().spearman_p, RESULTS["correlation"]().kendall_p]),
    ):  # fmt: skip
        assert column(name, key)[some] == values
    assert curve.to_dict()["area"]["lower"] == curve.area.lower
    assert curve.to_dict()["optimal_area"]["expected"] is None


def test_what_is_undefined_is_shown_as_such_and_values_as_people_read_them() -> None:
    open_hits = RESULTS["open accuracy"]()
    assert open_hits.to_dict()["auroc"] is None
    assert ["AUROC", "-", "-", "-"] in [list(row) for row in open_hits.tables()[0].rows]
    assert open_hits.notes() == ["4 queries, and 1 without a value, left out. Distance ties decide 1 value."]
    none_right = confidence.confidence_accuracy([0.0, 0.0], [1, 2])
    assert math.isinf(none_right.best_threshold)
    assert none_right.to_dict()["best_threshold"] is None
    assert none_right.notes()[0] == "The best guess takes no query for right."
    table = dh.collisions(dh.Task(POINTS, LABELS, ties="float16"), distances=["cosine", "euclidean"])
    assert [each.header[0] for each in table.tables()] == ["cosine, float16 similarity", "euclidean, float16 distance"]
    assert str(confidence.error_reject_curve([1, 0, 1], [0.9, 0.5, 0.5])).splitlines() == [
        "error (%)             lower  expected  upper",
        "area under the curve  11.11     19.44  27.78",
        "in the perfect order  11.11     11.11  11.11",
        "excess over that       0.00      8.33  16.67",
        "in a random order     33.33     33.33  33.33",
        "",
        "3 queries. The confidences of 2 tie.",
    ]
