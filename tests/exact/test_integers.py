"""Exact sums against fractions."""

from __future__ import annotations

import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from rationals import absolute_differences, dot, pairs_of_rows

from deadheat import exact

UNIT = Fraction(1, 2**2148)  # of the integers that stand for sums of products


def exact_dots(left, right):
    products, place = exact.scaled_dots(left, right)
    return [product << place for product in products]


@given(pairs_of_rows)
@settings(deadline=None, max_examples=300)
def test_exact_sums_over_the_whole_range(pairs):
    left, right = (np.array([row], dtype=np.float64) for row in zip(*pairs, strict=True))
    assert exact_dots(left, right)[0] * UNIT == dot(left[0].tolist(), right[0].tolist())
    found = exact.exact_absolute_differences(left, right)[0] * UNIT
    assert found == absolute_differences(left[0].tolist(), right[0].tolist())


def test_exact_sums_row_by_row_and_where_all_cancels():
    rng = np.random.default_rng(1)
    left = rng.standard_normal((50, 33)) * 10.0 ** rng.integers(-300, 300, (50, 33))
    right = rng.standard_normal((50, 33)) * 10.0 ** rng.integers(-300, 300, (50, 33))
    left[:, 32], right[:, 32] = -left[:, 0], right[:, 0]  # the first product is taken back
    for i, (found, apart) in enumerate(
        zip(exact_dots(left, right), exact.exact_absolute_differences(left, right), strict=True)
    ):
        assert (
            found * UNIT
            == dot(left[i].tolist(), right[i].tolist())
            == dot(left[i, 1:32].tolist(), right[i, 1:32].tolist())
        )
        assert apart * UNIT == absolute_differences(left[i].tolist(), right[i].tolist())
    assert exact_dots(left, np.zeros_like(left)) == [0] * 50
    assert exact.exact_absolute_differences(left, left) == [0] * 50


@pytest.mark.parametrize("value", [sys.float_info.max, -sys.float_info.max, 5e-324])
def test_long_rows_of_extreme_numbers_do_not_overflow(value):
    row = np.full((1, 4096), value)
    assert exact_dots(row, row)[0] * UNIT == 4096 * Fraction(value) ** 2
    assert exact_dots(row, -row)[0] * UNIT == -4096 * Fraction(value) ** 2
    assert exact.exact_absolute_differences(row, -row)[0] * UNIT == 4096 * 2 * abs(Fraction(value))
