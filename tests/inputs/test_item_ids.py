"""Rows of the gallery that queries are, by rows or ids; and the ids of neighbours, in rows of any lengths."""

from __future__ import annotations

import numpy as np
import pytest
from inputs.written import refusal
from numpy.testing import assert_array_equal

from deadheat.errors import InvalidTypeError, InvalidValueError
from deadheat.inputs.item_ids import filled, id_rows, own_rows, require_distinct, score_rows

TWO_IDS = [f"img-{i}" for i in range(4)]


@pytest.mark.parametrize("rows", [[3, -1, 0], (3, -1, 0), np.array([3, -1, 0], dtype=np.int8), np.uint64([3, 0, 0])])
def test_rows_come_as_they_are(rows):
    result = own_rows(rows, 3, 4)
    assert_array_equal(result, np.asarray(rows).astype(int))
    assert result.dtype == np.int64


@pytest.mark.parametrize(
    ("query_ids", "gallery_ids"),
    [
        (["img-2", "other", "img-0"], TWO_IDS),
        (np.array(["img-2", "other", "img-0"]), np.array(TWO_IDS)),
        ([2**63 + 2, 5, 2**63], [2**63, 2**63 + 1, 2**63 + 2, 2**63 + 3]),  # not through floats
    ],
)
def test_equal_ids_are_one_item(query_ids, gallery_ids):
    for pair in ((query_ids, gallery_ids), [query_ids, gallery_ids]):
        assert_array_equal(own_rows(pair, 3, 4), [2, -1, 0])
    assert_array_equal(own_rows((["b", "b"], ["a", "b"]), 2, 2), [1, 1])  # queries may share an id


@pytest.mark.parametrize(
    ("exclude", "kind", "message"),
    [
        ([0, 4, 1], InvalidValueError, r"rows of the gallery, 0 to 3, or -1 for none, but holds 4 for query 1$"),
        ([0, -2, 1], InvalidValueError, r"but holds -2 for query 1$"),
        ([0, 1], InvalidValueError, r"a pair: the ids of the queries and of the gallery, but has shape \(2,\) for 3 q"),
        (np.zeros((3, 4), dtype=int), InvalidValueError, r"but has shape \(3, 4\) for 3 queries$"),
        ([0.0, 1.0, 2.0], InvalidTypeError, "but has dtype float64$"),
        ([True, False, True], InvalidTypeError, "but has dtype bool$"),
        (np.ma.masked_array([0, 1, 2], mask=[1, 0, 0]), InvalidTypeError, "-1 stands for no row$"),
        (
            (["a", "b", "c"], ["a", "b", "a", "c"]),
            InvalidValueError,
            r"each row of the gallery, but rows 0 and 2 have 'a'$",
        ),
        ((["a", "b"], TWO_IDS), InvalidValueError, "per row of embeddings, but got 2 labels for 3 rows$"),
        (([1, 2, 3], TWO_IDS), InvalidTypeError, "^exclude must have ids of one kind, but they have dtypes"),
    ],
)
def test_what_is_wrong_is_one_line(exclude, kind, message):
    with pytest.raises(kind, match=message) as caught:
        own_rows(exclude, 3, 4)
    assert caught.value.argument == "exclude"
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("ids", "values", "lengths"),
    [
        (np.array([["b", "a"]], dtype=np.dtypes.StringDType()), ["b", "a"], [2]),
        ([["b"], np.array(["a", "c"], dtype=object)], ["b", "a", "c"], [1, 2]),
        (np.array([[2**63, 1]], dtype=np.uint64), [2**63, 1], [2]),
        ([[2**70], []], [2**70], [1, 0]),
    ],
)
def test_ids_stay_what_they_are(ids, values, lengths):
    rows = id_rows(ids, "ids")
    assert rows.values.tolist() == values
    assert rows.values.dtype.kind in "UuO"
    assert rows.lengths.tolist() == lengths


def test_rows_are_flat_in_their_order():
    rows = id_rows([[3, -1], [4, 5, 6]], "ids")
    assert (rows.row.tolist(), rows.place.tolist()) == ([0, 0, 1, 1, 1], [0, 1, 0, 1, 2])
    there = filled(rows, [2, 1])
    assert there.tolist() == [True, False, True, False, False]
    assert rows.take(there).lengths.tolist() == [1, 1]
    assert rows.matrix(rows.values * 2, 0).tolist() == [[6, -2, 0], [8, 10, 12]]
    assert score_rows([[0.5, 0.25], [3, 2, 1]], "scores", rows).tolist() == [0.5, 0.25, 3, 2, 1]


def test_an_id_that_comes_twice_is_named_with_its_query():
    rows = id_rows([[1, 2], [4, 2, 3, 4]], "ids")
    said = refusal(InvalidValueError, require_distinct, rows, "ids", rows.values)
    assert said == "ids must be distinct in a row, but query 1 has 4 twice"
    rows = id_rows([[1, 2], [2, 1]], "ids")
    require_distinct(rows, "ids", rows.values)
