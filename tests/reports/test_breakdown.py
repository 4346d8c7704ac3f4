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


def test_classes_worst_first() -> None:
    assert str(REPORT.per_class()).splitlines() == [
        "class  queries                mAP (%)              Hit@1 (%)",
        "a            2                  41.67                   0.00",
        "b            2  87.50 [75.00, 100.00]  75.00 [50.00, 100.00]",
        "c            1                      -                      -",
        "",
        "3 of 3 classes, worst mAP first; 1 without a value at the end.",
    ]


def test_queries_worst_first() -> None:
    assert str(REPORT.worst(3, measures="Hit@1, mAP")).splitlines() == [
        "query  label  relevant             Hit@1 (%)                mAP (%)",
        "2          a         1                  0.00                  50.00",
        "3          a         1                  0.00                  33.33",
        "0          b         1  50.00 [0.00, 100.00]  75.00 [50.00, 100.00]",
        "",
        "3 of 5 queries, worst Hit@1 first; 1 without a value left out.",
    ]
    assert REPORT.worst(2).rows["query"] == [3, 2]
    assert REPORT.worst().rows["query"] == [3, 2, 0, 1]


@pytest.mark.parametrize("kind", [np.int64, np.str_, object, np.bytes_])
def test_class_means_are_those_of_a_loop(kind: type) -> None:
    rng = np.random.default_rng(2)
    names = rng.integers(0, 9, 80)
    labels = names.astype(kind)
    report = evaluate(rng.integers(0, 3, (80, 2)), labels, distance="euclidean", measures="mAP, P@5")
    table = report.per_class(measures="P@5, mAP")
    assert list(table.per_row) == ["P@5", "mAP"]
    assert sorted(map(int, table.rows["class"])) == sorted(set(names.tolist()))
    for measured, triple in table.per_row.items():
        for bound, values in triple._asdict().items():
            per_query = getattr(report[measured].per_query, bound)
            expected = [exact_mean(per_query[names == int(label)]) for label in table.rows["class"]]
            assert_array_equal(values, expected)
    assert (np.diff(table.per_row["P@5"].expected) >= 0).all()
    assert table.rows["queries"] == [int((names == int(label)).sum()) for label in table.rows["class"]]


def test_classes_do_not_depend_on_the_order_of_the_samples() -> None:
    rng = np.random.default_rng(4)
    rows, labels = rng.integers(0, 3, (60, 2)), rng.integers(0, 12, 60).astype(object)
    order = rng.permutation(60)
    one, other = (
        evaluate(rows[i], labels[i], distance="euclidean").per_class().to_dict() for i in (np.arange(60), order)
    )
    assert one == other


def test_singletons_that_count_are_listed() -> None:
    report = measure(PROFILE, "mAP", labels=LABELS, singletons="zero")
    assert report.worst(1).rows["query"] == [4]
    assert report.per_class(1).rows["class"] == ["c"]


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
    assert json.loads(table.to_json())["rows"][0] == {
        "class": "a",
        "queries": 2,
        "measures": {
            "mAP": dict.fromkeys(("lower", "expected", "upper"), (1 / 2 + 1 / 3) / 2),
            "Hit@1": dict.fromkeys(("lower", "expected", "upper"), 0.0),
        },
    }
    assert json.loads(table.to_json())["rows"][2]["measures"]["mAP"]["lower"] is None
    assert list(table.columns()) == ["class", "queries"] + [
        f"{name}_{bound}" for name in ("mAP", "Hit@1") for bound in ("lower", "expected", "upper")
    ]
    assert "41.6667" in table.to_markdown(digits=4)
    assert "87.50 [75.00, 100.00]" in table.to_latex()
    frame = table.to_pandas()
    assert list(frame["class"]) == ["a", "b", "c"]
    assert frame["mAP_upper"][1] == 1


def test_every_query_in_order() -> None:
    table = REPORT.per_query()
    columns = table.columns()
    assert list(columns)[:3] == ["query", "label", "relevant"]
    assert columns["query"] == list(range(REPORT.n_query))
    assert columns["label"] == list(REPORT.labels)
    for name in REPORT.measures:
        for bound in ("lower", "expected", "upper"):
            np.testing.assert_array_equal(columns[f"{name}_{bound}"], getattr(REPORT[name].per_query, bound))
    frame = table.to_pandas()
    np.testing.assert_array_equal(frame["mAP_lower"], REPORT["mAP"].per_query.lower)
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
    assert rows[1] == ["0", "b", "0.5", "0.75", "1.0"]
    assert rows[5] == ["4", "c", "", "", ""]
