"""Products in double-double precision against fractions; sums and products with their rests are in tests/core."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from deadheat import _core
from deadheat.engine.distances import bounds

SUMS = 32  # in parallel


@pytest.mark.parametrize("d", [1, 2, 31, 32, 33, 100])
def test_compensated_products_err_as_if_in_double_double(d):
    """Nearly all cancels: the exact product is tiny compared with its terms."""
    rng = np.random.default_rng(d)
    left = rng.standard_normal((30, d)) * 10.0 ** rng.integers(-8, 8, (30, d))
    right = rng.standard_normal((30, d)) * 10.0 ** rng.integers(-8, 8, (30, d))
    if d > 1:
        right[:, -1] = -np.einsum("ij,ij->i", left[:, :-1], right[:, :-1]) / left[:, -1]
    result = _core.compensated_dots(left, right)
    gamma = Fraction(bounds.gamma(d + 2 * SUMS, np.float64))
    for a, b, value in zip(left.tolist(), right.tolist(), result.tolist(), strict=True):
        terms = [Fraction(x) * Fraction(y) for x, y in zip(a, b, strict=True)]
        bound = Fraction(1, 2**53) * abs(sum(terms)) + gamma**2 * sum(map(abs, terms))
        assert abs(Fraction(value) - sum(terms)) <= bound


def two_parts(a, b):
    """The sum and the product of two numbers, each with its rest."""
    total, product, x, y = a + b, a * b, Fraction(a), Fraction(b)
    return total, float(x + y - Fraction(total)), product, float(x * y - Fraction(product))


def compensated_dot(a, b):
    """The reference implementation of the loop: number k in sum k mod SUMS, each with a rest of its own."""
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


@pytest.mark.parametrize("d", [1, 7, 8, 31, 32, 33, 64, 95, 200])
def test_compensated_products_are_those_of_the_reference(d):
    rng = np.random.default_rng(d)
    left, right = rng.standard_normal((2, 20, d)) * 2.0 ** rng.integers(-20, 20, (2, 20, d))
    right[3] = -0.0
    expected = np.array([compensated_dot(*rows) for rows in zip(left, right, strict=True)])
    result = _core.compensated_dots(left, right)
    assert_array_equal(result.view(np.int64), expected.view(np.int64))
    assert _core.compensated_dots(left[:0], right[:0]).shape == (0,)
