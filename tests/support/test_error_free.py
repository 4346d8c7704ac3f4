"""Sums and products with their rests, and products in twice the precision, against fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from deadheat.support.error_free import two_product, two_sum
from numba import njit
from numpy.testing import assert_array_equal

from deadheat import _core, exact

SUMS = 32  # side by side


@njit
def sums_and_products(left, right):
    out = np.empty((len(left), 4))
    for i in range(len(left)):
        out[i, 0], out[i, 1] = two_sum(left[i], right[i])
        out[i, 2], out[i, 3] = two_product(left[i], right[i])
    return out


def test_nothing_is_lost():
    rng = np.random.default_rng(0)
    left, right = rng.standard_normal((2, 500)) * 2.0 ** rng.integers(-60, 60, (2, 500))
    right[:20] = -left[:20] * (1 + 2.0**-50)  # nearly all cancels
    lost = 0
    for a, b, row in zip(left.tolist(), right.tolist(), sums_and_products(left, right).tolist(), strict=True):
        total, rest_of_sum, product, rest_of_product = map(Fraction, row)
        assert (float(total), float(product)) == (a + b, a * b)
        assert total + rest_of_sum == Fraction(a) + Fraction(b)
        assert product + rest_of_product == Fraction(a) * Fraction(b)
        lost += (rest_of_sum != 0) + (rest_of_product != 0)
    assert lost > 500


@pytest.mark.parametrize("d", [1, 2, 31, 32, 33, 100])
def test_compensated_products_err_as_if_in_twice_the_precision(d):
    """Where nearly all cancels: the exact product is tiny beside its terms."""
    rng = np.random.default_rng(d)
    left = rng.standard_normal((30, d)) * 10.0 ** rng.integers(-8, 8, (30, d))
    right = rng.standard_normal((30, d)) * 10.0 ** rng.integers(-8, 8, (30, d))
    if d > 1:
        right[:, -1] = -np.einsum("ij,ij->i", left[:, :-1], right[:, :-1]) / left[:, -1]
    each = np.arange(30)
    found = _core.compensated_dots(left, each, right, each)
    gamma = Fraction(exact.gamma(d + 2 * SUMS, np.float64))
    for a, b, value in zip(left.tolist(), right.tolist(), found.tolist(), strict=True):
        terms = [Fraction(x) * Fraction(y) for x, y in zip(a, b, strict=True)]
        bound = Fraction(1, 2**53) * abs(sum(terms)) + gamma**2 * sum(map(abs, terms))
        assert abs(Fraction(value) - sum(terms)) <= bound


def two_parts(a, b):
    """The sum and the product of two numbers, each with its rest."""
    total, product = a + b, a * b
    return (
        total,
        float(Fraction(a) + Fraction(b) - Fraction(total)),
        product,
        float(Fraction(a) * Fraction(b) - Fraction(product)),
    )


def compensated_dot(a, b):
    """The slow twin of the loop: number k in sum k mod SUMS, each with a rest of its own."""
    sums, rests = [0.0] * SUMS, [0.0] * SUMS
    for k, (x, y) in enumerate(zip(a.tolist(), b.tolist(), strict=True)):
        _, _, product, lost = two_parts(x, y)
        sums[k % SUMS], lost_in_sum, _, _ = two_parts(sums[k % SUMS], product)
        rests[k % SUMS] += lost + lost_in_sum
    total, rest = 0.0, 0.0
    for lane, kept in zip(sums, rests, strict=True):
        total, lost_in_sum, _, _ = two_parts(total, lane)
        rest += kept + lost_in_sum
    return total + rest


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("other", [np.float32, np.float64])
@pytest.mark.parametrize("d", [1, 7, 8, 31, 32, 33, 64, 95, 200])
def test_compensated_products_are_those_of_their_twin(d, dtype, other):
    rng = np.random.default_rng(d)
    left = (rng.standard_normal((9, d)) * 2.0 ** rng.integers(-20, 20, (9, d))).astype(dtype)
    right = (rng.standard_normal((11, d)) * 2.0 ** rng.integers(-20, 20, (11, d))).astype(other)
    right[3] = -0.0
    rows, columns = rng.integers(0, 9, 40), rng.integers(0, 11, 40)
    expected = np.array([compensated_dot(left[i], right[j]) for i, j in zip(rows, columns, strict=True)])
    found = _core.compensated_dots(left, rows, right, columns)
    assert_array_equal(found.view(np.int64), expected.view(np.int64))
    assert _core.compensated_dots(left, rows[:0], right, columns[:0]).shape == (0,)
