"""Integers that compare as the closeness does for one query, and the counting between thresholds, against fractions."""

from __future__ import annotations

from fractions import Fraction
from functools import cmp_to_key

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from test_roots import expected, rows_of

from deadheat import _core
from deadheat.distances.keys import Integers
from deadheat.inputs.sources import Array

KINDS = {"inner_product": "product", "cityblock": "difference", "euclidean": "distance", "cosine": "cosine"}
ROWS = ["random", "decimals", "integers", "two values", "permuted", "neighbours", "sparse", "sparse and wide",
        "narrow and wide", "spread", "scaled rows", "extreme", "some extreme", "subnormal", "zeros"]  # fmt: skip


def hostile(kind, rng, n, d):
    if kind == "zeros":
        return np.zeros((n, d))
    if kind == "sparse and wide":
        return rows_of("random", rng, n, d) * (rng.random((n, d)) < 0.1) * 2.0 ** rng.integers(-70, 1, (n, d))
    if kind == "narrow and wide":  # saturated units: 0 and 1 but for a few
        few = rng.random((n, d)) < 0.05
        return np.where(few, 2.0 ** -rng.integers(1, 120, (n, d)) * rng.random((n, d)), rng.integers(0, 2, (n, d)))
    return rows_of(kind, rng, n, d)


def thresholds_of(closeness, members):
    """Members with different closeness, ascending."""
    order = sorted(members, key=cmp_to_key(lambda i, j: closeness[i].compare(closeness[j])))
    return [j for k, j in enumerate(order) if k == 0 or closeness[j].compare(closeness[order[k - 1]]) > 0]


@pytest.mark.parametrize("dtypes", [(np.float32, np.float32), (np.float64, np.float64), (np.float32, np.float64)])
@pytest.mark.parametrize("kind", [*ROWS, "far digits"])
@pytest.mark.parametrize("name", list(KINDS))
def test_items_are_counted_between_thresholds_and_on_them(name, kind, dtypes):
    n_left, n_right = 3, 24
    for seed, d in enumerate((1, 3, 8, 17, 64, 130)):
        rng = np.random.default_rng(seed)
        with np.errstate(over="ignore", under="ignore"):
            left, right = (
                np.nan_to_num(hostile(kind, rng, n, d).astype(dtype))
                for n, dtype in zip((n_left, n_right), dtypes, strict=True)
            )
        right[2], right[7:9] = left[1], left[2]
        integers = Integers.of(KINDS[name], Array(left), Array(right))
        pairs = integers.rows(left, right)
        closeness = expected(name, left, right, *(index.ravel() for index in np.indices((n_left, n_right))))
        groups = [thresholds_of(closeness[i * n_right :][:n_right], range(0, n_right, 3)) for i in range(n_left)]
        most = max(map(len, groups))
        thresholds = integers.thresholds((n_left, most))
        counts = np.zeros((n_left, 2 * most + 1), dtype=np.int32)
        row, item = (index.ravel() for index in np.indices((n_left, n_right)))
        low, high = np.zeros_like(row), np.array([len(groups[i]) for i in row])
        asked = thresholds.unknown(row, low, high)
        wanted = [(i, g) for i in range(n_left) for g in range(len(groups[i]))]
        assert sorted(map(tuple, asked.T.tolist())) == wanted
        assert thresholds.unknown(row, low, high).shape == (2, 0)
        members = np.array([groups[i][g] for i, g in asked.T.tolist()])
        thresholds.add(pairs, asked[0], members, *asked)
        weights = np.arange(1, len(row) + 1, dtype=np.int32)
        thresholds.count(pairs, row, item, row, low, high, weights, counts)
        slow = np.zeros_like(counts)
        for p, (i, j) in enumerate(zip(row.tolist(), item.tolist(), strict=True)):
            steps = [closeness[i * n_right + j].compare(closeness[i * n_right + t]) for t in groups[i]]
            slow[i, 2 * steps.count(1) + steps.count(0)] += weights[p]
        assert_array_equal(counts, slow)


def test_bits_of_rows():
    rows = np.array([[0.75, 8.0, 0.0], [0.0, -0.0, 0.0], [5e-324, 0.0, 1.0], [-3.0, 3.0, 3.0]])
    low, high = _core.bit_ranges(rows).T.tolist()
    assert [low[0], low[2], low[3]] == [-2, -1074, 0]
    assert [high[0], high[2], high[3]] == [4, 1, 2]
    assert low[1] > high[1]
    assert Fraction(3, 4) % Fraction(2) ** low[0] == 0
