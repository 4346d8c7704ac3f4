"""Which row of the gallery each query is, as a caller says it: rows, or the ids of both."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from deadheat.errors import InvalidTypeError, InvalidValueError
from deadheat.inputs import own_rows

TWO_IDS = [f"img-{i}" for i in range(4)]


@pytest.mark.parametrize("rows", [[3, -1, 0], (3, -1, 0), np.array([3, -1, 0], dtype=np.int8)])
def test_rows_come_as_they_are(rows):
    found = own_rows(rows, 3, 4)
    assert_array_equal(found, [3, -1, 0])
    assert found.dtype == np.int64


def test_two_queries_may_be_one_item():
    assert_array_equal(own_rows([1, 1], 2, 2), [1, 1])
    assert_array_equal(own_rows((["b", "b"], ["a", "b"]), 2, 2), [1, 1])


def test_rows_of_no_sign():
    assert_array_equal(own_rows(np.array([3, 0], dtype=np.uint64), 2, 4), [3, 0])


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
