"""Closeness in twice the precision of float64, and the counting between thresholds, against fractions."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from test_keys import KINDS, ROWS, hostile, thresholds_of
from test_roots import expected

from deadheat.distances.keys import Twofold
from deadheat.inputs.sources import Array

NAMES = [name for name in KINDS if name != "cityblock"]
LOST = Fraction(2) ** -980


def rows_of_both(name, kind, dtype, seed, d, n_left=3, n_right=12):
    rng = np.random.default_rng(seed)
    with np.errstate(over="ignore", under="ignore"):
        left, right = (np.nan_to_num(hostile(kind, rng, n, d).astype(dtype)) for n in (n_left, n_right))
    right[2], right[7:9] = left[1], left[2]
    size = Twofold.of(KINDS[name], Array(left), Array(right))
    return left, right, size, size.rows(left, right)


def fractions(rows):
    return [list(map(Fraction, row)) for row in rows.tolist()]


def unit_of(row):
    return Fraction(2) ** int(np.frexp(float(max(map(abs, row), default=0)))[1])


def dot(a, b):
    return sum((x * y for x, y in zip(a, b, strict=True)), Fraction(0))


def is_between(low, high, number, square):
    """Whether number/√square is, for a square that is not 0."""
    signed = [end * abs(end) * square for end in (low, high)]
    return signed[0] <= number * abs(number) <= signed[1]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", ROWS)
@pytest.mark.parametrize("name", NAMES)
def test_closeness_is_within_its_error_and_that_is_small(name, kind, dtype):
    for seed, d in enumerate((1, 17, 64)):
        left, right, size, pairs = rows_of_both(name, kind, dtype, seed, d)
        row, item = (index.ravel() for index in np.indices((len(left), len(right))))
        found, unit = pairs.closeness(row, item), Fraction(2) ** size.exponent
        queries, items = fractions(left), fractions(right)
        for i, j, (value, rest, error) in zip(row, item, found.tolist(), strict=True):
            q, x = queries[i], items[j]
            terms = dot(map(abs, q), map(abs, x)) if q else Fraction(0)
            low, high = (Fraction(value) + Fraction(rest) + side * Fraction(error) for side in (-1, 1))
            if name == "inner_product":
                number, square, scale = dot(q, x), Fraction(1), unit_of(q) * unit
            elif name == "euclidean":
                number, square, scale = 2 * dot(q, x) - dot(x, x), Fraction(1), unit * unit
                terms = 2 * terms + dot(x, x)
            else:
                number, square, scale = dot(q, x), dot(x, x) or Fraction(1), unit_of(q)
            if scale == 0:
                continue
            assert is_between(low, high, number / scale, square)
            length = (
                Fraction(math.isqrt(int(square / unit_of(x) ** 2 * 2**200)), 2**100) * unit_of(x)
                if name == "cosine"
                else 1
            )
            assert Fraction(error) <= (d + 64) ** 2 * Fraction(2) ** -102 * terms / scale / (length or 1) + LOST * 2
            assert abs(rest) <= abs(value) * 2.0**-52 + 5e-324


@pytest.mark.parametrize("kind", ROWS)
@pytest.mark.parametrize("name", NAMES)
def test_what_is_told_is_counted_rightly_and_what_is_not_comes_closer(name, kind):
    n_left, n_right, n_told = 3, 12, 0
    for seed, d in enumerate((1, 8, 64)):
        left, right, size, pairs = rows_of_both(name, kind, np.float64, seed, d)
        closeness = expected(name, left, right, *(index.ravel() for index in np.indices((n_left, n_right))))
        groups = [thresholds_of(closeness[i * n_right :][:n_right], range(0, n_right, 3)) for i in range(n_left)]
        most = max(map(len, groups))
        thresholds, counts = size.thresholds((n_left, most)), np.zeros((n_left, 2 * most + 1), dtype=np.int32)
        row, item = (index.ravel() for index in np.indices((n_left, n_right)))
        low, high = np.zeros_like(row), np.array([len(groups[i]) for i in row])
        asked = thresholds.unknown(row, low, high)
        assert thresholds.unknown(row, low, high).shape == (2, 0)
        thresholds.add(pairs, asked[0], np.array([groups[i][g] for i, g in asked.T.tolist()]), *asked)
        weights, told = np.arange(1, len(row) + 1, dtype=np.int32), np.empty(len(row), dtype=np.bool_)
        thresholds.count(pairs, row, item, row, low, high, weights, counts, told)
        slow = np.zeros_like(counts)
        for p, (i, j) in enumerate(zip(row.tolist(), item.tolist(), strict=True)):
            steps = [closeness[i * n_right + j].compare(closeness[i * n_right + t]) for t in groups[i]]
            below, ties = steps.count(1), steps.count(0)
            assert low[p] <= below <= high[p] - ties
            assert not (told[p] and ties)
            slow[i, 2 * below] += weights[p] * told[p]
        assert_array_equal(counts, slow)
        assert_array_equal(told, low == high)
        n_told += int(told.sum())
    too_far_apart = kind == "some extreme" and name != "cosine"  # for one power of two under all products
    assert n_told > 0 or kind == "zeros" or too_far_apart


def test_it_tells_apart_what_float64_does_not():
    """Probabilities of a classifier: cosines that differ in digit 24, and distances from norms that do."""
    rows = np.array([[1.0, 1e-12, 0.0], [1.0, 2e-12, 1e-12], [1.0, 3e-12, 0.0]])
    for name in ("cosine", "euclidean"):
        size = Twofold.of(KINDS[name], Array(rows[:1]), Array(rows))
        found = size.rows(rows[:1], rows).closeness(np.zeros(3, dtype=np.int64), np.arange(3))
        assert len(set(found[:, 0].tolist())) == 1
        values = [Fraction(value) + Fraction(rest) for value, rest, _ in found.tolist()]
        assert values[0] - values[1] > 2 * Fraction(found[:, 2].max()) < values[1] - values[2]
