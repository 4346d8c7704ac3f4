"""Sums and products with their rests, against fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numba import njit

from deadheat.support.error_free import two_product, two_sum


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
