"""Classes and queries of a report, worst first, against plain loops and by hand."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from deadheat import profile_run
from deadheat.engine.profiles.profile import TieProfile
from deadheat.errors import InvalidTypeError, InvalidValueError
from deadheat.reports import export
from deadheat.reports.evaluating import evaluate, measure
from deadheat.support.means import exact_mean

# AP is 1/2 or 1; 1; 1/2; 1/3; undefined
GROUPS = [[(0, 0, 2, 1)], [(0, 0, 1, 1)], [(1, 0, 1, 1)], [(2, 0, 1, 1)], []]
PROFILE = TieProfile.from_groups(GROUPS, n_ranked=[3] * 5)
LABELS = np.array(["b", "b", "a", "a", "c"])
REPORT = measure(PROFILE, "mAP, Hit@1", labels=LABELS)


def test_queries_worst_first() -> None:
    assert str(REPORT.worst(3, measures="Hit@1, mAP")).splitlines()[-3:] == [
        "0          b         1  50.00 [0.00, 100.00]  75.00 [50.00, 100.00]",
        "",
        "3 of 5 queries, worst Hit@1 first; 1 without a value left out.",
    ]
    found = (REPORT.worst(3, measures="Hit@1, mAP"), REPORT.worst(2), REPORT.worst())
    assert [each.rows["query"] for each in found] == [[2, 3, 0], [3, 2], [3, 2, 0, 1]]


@pytest.mark.parametrize("kind", [np.int64, np.str_, object, np.bytes_])
def test_class_means_are_those_of_a_loop(kind: type) -> None:
    rng = np.random.default_rng(2)
    names = rng.integers(0, 9, 80)
    labels = names.astype(kind)
    report = evaluate(rng.integers(0, 3, (80, 2)), labels, distance="euclidean", measures="mAP, P@5")
    table = report.per_class(measures="P@5, mAP")
    assert list(table.per_row) == ["P@5", "mAP"]
    members = [names == int(label) for label in table.rows["class"]]
    assert sorted(map(int, table.rows["class"])) == sorted(set(names.tolist()))
    for measured, triple in table.per_row.items():
        for values, per_query in zip(triple, report[measured].per_query, strict=True):
            assert_array_equal(values, [exact_mean(per_query[own]) for own in members])
    assert (np.diff(table.per_row["P@5"].expected) >= 0).all()
    assert table.rows["queries"] == [own.sum() for own in members]


def test_classes_do_not_depend_on_the_order_of_the_samples() -> None:
    rng = np.random.default_rng(4)
    rows, labels = rng.integers(0, 3, (60, 2)), rng.integers(0, 12, 60).astype(object)
    one, other = (evaluate(rows[i], labels[i], distance="euclidean") for i in (np.arange(60), rng.permutation(60)))
    assert one.per_class().to_dict() == other.per_class().to_dict()


def test_singletons_that_count_are_listed() -> None:
    report = measure(PROFILE, "mAP", labels=LABELS, singletons="zero")
    assert (report.worst(1).rows["query"], report.per_class(1).rows["class"]) == ([4], ["c"])


def test_a_tolerance_orders_by_the_lower_bound() -> None:
    windows = replace(TieProfile.from_groups([[(0, 0, 2, 1)], [(1, 0, 1, 1)]], n_ranked=[2, 2]), bounds_only=True)
    assert "0             1  [50.00, 100.00]" in str(measure(windows, "mAP").worst())
    assert measure(windows, "mAP").worst().rows["query"] == [1, 0]


def test_ids_of_a_run_and_no_labels() -> None:
    run = {"q-7": {"a": 2.0, "b": 1.0}, "q-8": {"a": 2.0, "b": 1.0}}
    profile = profile_run(run, {"q-7": {"b": 1}, "q-8": {"a": 1}})
    table = measure(profile, "mAP").worst()
    assert table.rows == {"query": ["q-7", "q-8"], "relevant": [1, 1]}
    with pytest.raises(InvalidValueError, match=r"^per_class needs the labels of the queries: "):
        measure(profile).per_class()


def test_every_form() -> None:
    table = REPORT.per_class()
    first, _, last = json.loads(table.to_json())["rows"]
    values = {"mAP": (1 / 2 + 1 / 3) / 2, "Hit@1": 0.0}
    measures = {name: dict.fromkeys(("lower", "expected", "upper"), each) for name, each in values.items()}
    assert first == {"class": "a", "queries": 2, "measures": measures}
    assert last["measures"]["mAP"]["lower"] is None
    bounds = [f"{name}_{bound}" for name in values for bound in ("lower", "expected", "upper")]
    assert list(table.columns()) == ["class", "queries", *bounds]
    assert "41.6667" in table.to_markdown(digits=4)
    assert "87.50 [75.00, 100.00]" in table.to_latex()
    frame = table.to_pandas()
    assert (list(frame["class"]), frame["mAP_upper"][1]) == (["a", "b", "c"], 1)


def test_every_query_in_order() -> None:
    table = REPORT.per_query()
    columns = table.columns()
    assert [*columns][:3] == ["query", "label", "relevant"]
    assert [columns["query"], columns["label"]] == [list(range(REPORT.n_query)), list(REPORT.labels)]
    for name, result in REPORT.items():
        for bound, values in result.per_query._asdict().items():
            assert_array_equal(columns[f"{name}_{bound}"], values)
    assert_array_equal(table.to_pandas()["mAP_lower"], REPORT["mAP"].per_query.lower)
    assert table.to_arrow().num_rows == REPORT.n_query
    assert list(REPORT.per_query(measures="P@1").per_row) == ["P@1"]
    assert "without a value of mAP" in str(table)


@pytest.mark.parametrize("n", [0, -1, 2.5, "3"])
def test_how_many_is_checked(n: object) -> None:
    for ask in (REPORT.per_class, REPORT.worst):
        with pytest.raises((InvalidValueError, InvalidTypeError), match=r"^n must be "):
            ask(n)  # type: ignore[arg-type]


def test_values_of_each_query_as_a_file() -> None:
    file = io.BytesIO()
    export.write(measure(PROFILE, "mAP", labels=LABELS.astype(np.bytes_)), file, Path("values.TSV"))
    rows = [line.split("\t") for line in file.getvalue().decode().splitlines()]
    assert rows[0] == ["query", "label", "mAP_lower", "mAP_expected", "mAP_upper"]
    assert (rows[1], rows[5]) == (["0", "b", "0.5", "0.75", "1.0"], ["4", "c", "", "", ""])
