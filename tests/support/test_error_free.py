"""Sums and products with their rests, and products in twice the precision, against fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from numba import njit

from deadheat import exact
from deadheat.support.error_free import SUMS, compensated_dots, two_product, two_sum


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
    found = compensated_dots(left, each, right, each)
    gamma = Fraction(exact.gamma(d + 2 * SUMS, np.float64))
    for a, b, value in zip(left.tolist(), right.tolist(), found.tolist(), strict=True):
        terms = [Fraction(x) * Fraction(y) for x, y in zip(a, b, strict=True)]
        bound = Fraction(1, 2**53) * abs(sum(terms)) + gamma**2 * sum(map(abs, terms))
        assert abs(Fraction(value) - sum(terms)) <= bound
