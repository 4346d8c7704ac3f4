"""Products in twice the precision, against fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from deadheat import exact
from deadheat.exact import compensated


@pytest.mark.parametrize("d", [1, 2, 31, 32, 33, 100])
def test_compensated_products_err_as_if_in_twice_the_precision(d):
    """Where nearly all cancels: the exact product is tiny beside its terms."""
    rng = np.random.default_rng(d)
    left = rng.standard_normal((30, d)) * 10.0 ** rng.integers(-8, 8, (30, d))
    right = rng.standard_normal((30, d)) * 10.0 ** rng.integers(-8, 8, (30, d))
    if d > 1:
        right[:, -1] = -np.einsum("ij,ij->i", left[:, :-1], right[:, :-1]) / left[:, -1]
    each = np.arange(30)
    found = compensated.compensated_dots(left, each, right, each)
    gamma = Fraction(exact.gamma(d + 2 * compensated.SUMS, np.float64))
    for a, b, value in zip(left.tolist(), right.tolist(), found.tolist(), strict=True):
        terms = [Fraction(x) * Fraction(y) for x, y in zip(a, b, strict=True)]
        bound = Fraction(1, 2**53) * abs(sum(terms)) + gamma**2 * sum(map(abs, terms))
        assert abs(Fraction(value) - sum(terms)) <= bound
