"""Error bounds against fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from rationals import dot

from deadheat import exact


def test_gamma_is_rounded_no_lower_than_it_may_be():
    for dtype, u in ((np.float32, Fraction(1, 2**24)), (np.float64, Fraction(1, 2**53))):
        assert Fraction(exact.unit_roundoff(dtype)) == u
        for n in (1, 7, 128, 10_000):
            true = n * u / (1 - n * u)
            assert abs(Fraction(exact.gamma(n, dtype)) - true) <= true * Fraction(1, 2**51)
    with pytest.raises(ValueError, match="too long"):
        exact.gamma(2**23, np.float32)


def adversarial(rng, d):
    """Rows of one sign whose running sum just misses every term, rows that cancel, and random ones."""
    step = 1 + 2.0**-12 * rng.random(d)
    yield step, step
    yield np.concatenate([[1.0], np.full(d - 1, 2.0**-13 * 0.999)]), np.concatenate([[1.0], np.full(d - 1, 2.0**-12)])
    signs = rng.choice([-1.0, 1.0], d)
    yield step * signs, step
    for _ in range(4):
        yield rng.standard_normal(d), rng.standard_normal(d) * 10.0 ** rng.integers(-6, 1, d)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("d", [1, 2, 3, 64, 500])
def test_products_in_any_order_stay_within_gamma(d, dtype):
    """|fl(q·x) − q·x| ≤ γ_d Σ|q_i x_i|: by BLAS, by einsum, one after the other, backwards, and in pairs."""
    rng = np.random.default_rng(d)
    for left, right in adversarial(rng, d):
        left, right = left.astype(dtype), right.astype(dtype)
        true = dot(left.tolist(), right.tolist())
        size = dot(np.abs(left).tolist(), np.abs(right).tolist())
        bound = Fraction(exact.gamma(d, dtype)) * size + Fraction(exact.underflow(d, dtype))
        products = left * right
        sums = [left @ right, (left[None] @ right[:, None])[0, 0], np.einsum("i,i", left, right), products.sum()]
        sums += [np.cumsum(order, dtype=dtype)[-1] for order in (products, products[::-1], np.sort(products))]
        assert {x.dtype for x in sums} == {np.dtype(dtype)}
        assert max(abs(Fraction(float(x)) - true) for x in sums) <= bound
