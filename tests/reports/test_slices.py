"""Slices of reports and comparisons: values by hand, the units of the tests, and what cannot happen for means."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deadheat import Report, TieProfile, compare, evaluate
from deadheat.reports.statistics.intervals import mean_interval
from deadheat.reports.statistics.permutation import holm

# closer, tied: one relevant item in a group of `tied` items
QUERIES = st.lists(st.tuples(st.integers(0, 3), st.integers(1, 3)), min_size=1, max_size=8)
ROWS = [(0, 1), (1, 1), (0, 2), (0, 1), (3, 1), None]
TYPES = ["one hop", "two hops", "two hops", "one hop", "three", "one hop"]


def report(queries: Any, measures: str = "MRR, Hit@1", ids: Any = None, **options: Any) -> Report:
    groups = [[] if query is None else [(query[0], 0, query[1], 1)] for query in queries]
    profile = TieProfile.from_groups(groups, n_ranked=[9] * len(groups))
    if ids is not None:
        fields = ("offsets", "closer", "closer_relevant", "tied", "tied_relevant", "n_ranked", "n_relevant")
        profile = TieProfile(**{name: getattr(profile, name) for name in fields}, query_ids=tuple(ids))
    return evaluate(profile, measures, **options)


def test_values_by_hand() -> None:
    slices = report(ROWS).by_slice(TYPES)
    assert slices.names == ("one hop", "three", "two hops")
    assert slices.sizes == (3, 1, 2)
    one, three, two = (slices[name]["MRR"] for name in slices.names)
    assert (one.lower, one.expected, one.upper, one.n_query) == (1, 1, 1, 2)
    assert (three.expected, two.lower, two.expected, two.upper) == (0.25, 0.5, 0.625, 0.75)
    assert slices.macro["MRR"] == pytest.approx(((1 + 0.25 + 0.5) / 3, (1 + 0.25 + 0.625) / 3, 2 / 3))
    assert slices.whole["MRR"].expected == (1 + 0.5 + 0.75 + 1 + 0.25) / 5
    assert slices.intervals["MRR"][2].lower == two.interval().lower
    assert "one hop, three, two hops: too few units" in slices.cautions()[0]
    rows = slices.tables()[0].rows
    assert [row[0] for row in rows] == ["one hop", "three", "two hops", "mean of slices", "all"]
    content = slices.to_dict()["slices"][2]
    assert (content["slice"], content["n_query"], content["measures"]["MRR"]["lower"]) == ("two hops", 2, 0.5)
    assert slices.to_dict()["measures"]["MRR"]["expected"] == slices.whole["MRR"].expected


def test_the_order_and_the_form_of_the_column_do_not_matter() -> None:
    ids = [*"uvwxyz"]
    by_id = report(ROWS, ids=ids).by_slice(dict(zip(reversed(ids), reversed(TYPES), strict=True)))
    assert by_id.to_dict() == report(ROWS).by_slice(TYPES).to_dict()
    order = [3, 5, 0, 2, 4, 1]
    moved = report([ROWS[i] for i in order]).by_slice([TYPES[i] for i in order])
    assert moved.to_dict() == report(ROWS).by_slice(TYPES).to_dict()
    numbers = report(ROWS).by_slice(np.array([10, 9, 9, 10, 2, 10]))
    assert numbers.names == (2, 9, 10)
    with pytest.raises(ValueError, match="has none for query 'z'"):
        report(ROWS, ids=ids).by_slice(dict.fromkeys("uvwxy", "one"))
    with pytest.raises(ValueError, match="labels must have one entry per"):
        report(ROWS).by_slice(TYPES[:3])


def test_classes_stay_the_units_of_a_slice() -> None:
    rng = np.random.default_rng(0)
    rows = [(int(k), 1) for k in rng.integers(0, 4, 40)]
    labels, column = np.arange(40) // 4, np.arange(40) % 2
    slices = report(rows, "MRR", labels=labels).by_slice(column)
    interval = slices.intervals["MRR"][0]
    assert (interval.unit, interval.n) == ("class", 10)
    kept = report([row for row, each in zip(rows, column, strict=True) if each == 0], "MRR", labels=labels[::2])
    assert interval == kept.interval("MRR")
    hits = report(rows, "MRR").by_slice(column)
    assert hits.intervals["MRR"][0].n == 20
    values = [1 / (k + 1) for k, _ in rows[::2]]
    assert hits.intervals["MRR"][0].lower == mean_interval(values, method="percentile")


def test_slices_of_a_comparison_are_tested_over_the_same_units() -> None:
    rng = np.random.default_rng(1)
    a, b = ([(int(k), int(m)) for k, m in rng.integers((0, 1), (3, 3), (24, 2))] for _ in "ab")
    column = np.repeat(["x", "y"], [10, 14])
    whole = compare(report(a), report(b))
    slices = whole.by_slice(column)
    for name, rows in (("x", slice(10)), ("y", slice(10, 24))):
        alone = compare(report(a[rows]), report(b[rows]))
        for measure in ("MRR", "Hit@1"):
            part, other = slices[name][measure], alone[measure]
            assert (part.lower, part.expected, part.upper) == (other.lower, other.expected, other.upper)
            assert (part.pvalue, part.n_pair, part.tested_interval) == (
                other.pvalue,
                other.n_pair,
                other.tested_interval,
            )
    pvalues = {name: slices[name]["MRR"].pvalue for name in "xy"}
    assert slices.pvalues["MRR"] == holm(pvalues)
    assert slices.whole["MRR"].pvalue == whole["MRR"].pvalue
    assert [len(table.rows) for table in slices.tables()] == [4, 4]
    content = slices.to_dict()
    assert [row["slice"] for row in content["slices"]] == ["x", "y"]
    assert content["slices"][0]["measures"]["MRR"]["pvalue_adjusted"] == slices.pvalues["MRR"]["x"]
    assert content["measures"]["MRR"] == whole["MRR"].to_dict()
    assert slices.columns()["slice"][:4] == ["x", "y", "mean of slices", "all"]
    assert "p of the slices after Holm for 2 slices" in str(slices)


@given(QUERIES, st.data())
def test_nobody_is_ahead_in_every_slice_and_behind_in_all_for_a_mean_over_queries(a: Any, data: Any) -> None:
    n = len(a)
    b = data.draw(st.lists(st.tuples(st.integers(0, 3), st.integers(1, 3)), min_size=n, max_size=n))
    column = data.draw(st.lists(st.sampled_from("xyz"), min_size=n, max_size=n))
    slices = compare(report(a, "MRR"), report(b, "MRR"), n_resamples=9).by_slice(column)
    whole, parts = slices.whole["MRR"], slices.differences["MRR"]
    for end in ("lower", "expected", "upper", "tested"):
        values = [getattr(part, end) for part in parts]
        assert min(values) - 1e-12 <= getattr(whole, end) <= max(values) + 1e-12
        weighted = math.fsum(value * part.n_pair for value, part in zip(values, parts, strict=True)) / n
        assert getattr(whole, end) == pytest.approx(weighted, abs=1e-12)


def test_for_a_mean_over_classes_it_can_happen_and_is_said() -> None:
    """One class has many easy queries: within each slice B is ahead, over all classes it is behind."""
    labels = ["p"] * 4 + ["q"] * 4
    column = ["x"] * 3 + ["y"] + ["x"] + ["y"] * 3
    a = [(0, 1), (0, 1), (0, 1), (3, 1), (0, 1), (3, 1), (3, 1), (3, 1)]
    two = [compare(report(a, "MRR", labels=labels, average=average), report(a, "MRR", labels=labels, average=average))
           .by_slice(column) for average in ("query", "class")]  # fmt: skip
    note = "Means over classes weigh queries differently in each slice"
    assert [any(line.startswith(note) for line in each.notes()) for each in two] == [False, True]
    assert any(line.startswith(note) for line in report(a, labels=labels, average="class").by_slice(column).notes())


def test_a_value_that_no_query_has_is_refused() -> None:
    hit, miss = [(0, 0, 1, 1)], [(1, 0, 1, 1)]
    two = evaluate(TieProfile.from_groups([hit, miss], n_ranked=[9, 9]), "Hit@1")
    for slices in (two.by_slice(["x", "y"]), compare(two, two).by_slice(["x", "y"])):
        assert list(slices["y"]) == ["Hit@1"]
        with pytest.raises(ValueError, match=r"^value must be one of 'x', 'y', but is 'z'$"):
            slices["z"]
