"""Fast tiles of city block and Hamming distances, against NumPy in the same order of summation, and fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from deadheat import _core, exact

SIZES = [(1, 1), (1, 40), (2, 16), (3, 17), (4, 32), (5, 33), (7, 64), (6, 97), (9, 7)]  # blocks are 4 × 4 to 32
DTYPES = [np.float32, np.float64]


def minus_absolute_differences(left, right):
    """The sums with NumPy, one dimension after the other."""
    out = np.zeros((len(left), len(right)), left.dtype)
    for k in range(left.shape[1]):
        out -= np.abs(left[:, k, None] - right[:, k])
    return out


def minus_differing_bits(left, right):
    return -np.bitwise_count(left[:, None] ^ right).sum(axis=-1).astype(np.int64)


def cityblock(left, right):
    out = np.full((len(left), len(right)), np.nan, left.dtype)
    _core.minus_absolute_differences(left, right, out)
    return out


def hamming(left, right):
    out = np.full((len(left), len(right)), 99, np.float32)
    _core.minus_differing_bits(left, right, out)
    return out


def rows(rng, n, dim, dtype):
    """Numbers of very different sizes, zeros among them."""
    values = rng.standard_normal((n, dim)) * 2.0 ** rng.integers(-30, 30, (n, dim))
    return np.where(rng.random((n, dim)) < 0.1, 0.0, values).astype(dtype)


def words(rng, n, width):
    return rng.integers(0, 2**64, (n, width), dtype=np.uint64)


# ---------------------------------------------------------------------------------------------------------------------
# city block


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("dim", [1, 2, 16, 63, 64, 65, 130])
def test_differences_are_summed_in_the_order_of_the_dimensions(dtype, dim):
    rng = np.random.default_rng(dim)
    for n, m in SIZES:
        left, right = rows(rng, n, dim, dtype), rows(rng, m, dim, dtype)
        assert_array_equal(cityblock(left, right), minus_absolute_differences(left, right), strict=True)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("dim", "scale"), [(1, 1.0), (17, 1.0), (60, 1.0), (5, 2.0**-120), (5, 2.0**-1060)])
def test_sums_are_within_the_proven_bound(dtype, dim, scale):
    rng = np.random.default_rng(dim)
    left, right = (rng.uniform(-scale, scale, (n, dim)).astype(dtype) for n in (5, 35))
    scores = cityblock(left, right)
    gamma, underflow = (Fraction(f(dim + 10, dtype)) for f in (exact.gamma, exact.underflow))
    for i, query in enumerate(left):
        a = [Fraction(float(x)) for x in query]
        for j, item in enumerate(right):
            b = [Fraction(float(x)) for x in item]
            distance = sum((abs(x - y) for x, y in zip(a, b, strict=True)), Fraction(0))
            size = sum((abs(x) + abs(y) for x, y in zip(a, b, strict=True)), Fraction(0))
            assert abs(Fraction(float(scores[i, j])) + distance) <= gamma * size + underflow


@pytest.mark.parametrize("dtype", DTYPES)
def test_small_integers_give_exact_sums(dtype):
    rng = np.random.default_rng(3)
    left, right = (rng.integers(-255, 256, (n, 200)) for n in (13, 77))
    expected = -np.abs(left[:, None] - right).sum(axis=-1)
    assert_array_equal(cityblock(left.astype(dtype), right.astype(dtype)), expected)


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_tile_may_be_cut_anywhere(dtype):
    rng = np.random.default_rng(4)
    left, right = rows(rng, 11, 70, dtype), rows(rng, 100, 70, dtype)
    whole = cityblock(left, right)
    for row, column in [(1, 1), (4, 32), (6, 45), (10, 99)]:
        parts = [[cityblock(a, b) for b in (right[:column], right[column:])] for a in (left[:row], left[row:])]
        assert_array_equal(np.block(parts), whole)


@pytest.mark.parametrize("dtype", DTYPES)
def test_equal_rows_score_plus_zero_and_sizes_at_both_ends_survive(dtype):
    tiny, huge = np.finfo(dtype).smallest_subnormal, np.finfo(dtype).max
    left = np.array([[tiny, 0, huge / 4], [-tiny, 0.0, -huge / 4], [0, -0.0, 0]], dtype)
    scores = cityblock(left, left)
    assert_array_equal(scores, minus_absolute_differences(left, left))
    assert not np.signbit(np.diag(scores)).any()
    first = left[:, :1].copy()
    assert_array_equal(cityblock(first, first)[0], [0, -2 * tiny, -tiny])


@pytest.mark.parametrize("dtype", DTYPES)
def test_nothing_outside_the_tile_is_written_and_nothing_outside_the_rows_matters(dtype):
    rng = np.random.default_rng(5)
    for n, m in SIZES:
        buffer = np.full((n + 8, m), 7.0, dtype)
        left, right = np.full((n + 8, 9), np.nan, dtype), np.full((m + 80, 9), np.nan, dtype)
        left[4:-4], right[40:-40] = rows(rng, n, 9, dtype), rows(rng, m, 9, dtype)
        _core.minus_absolute_differences(left[4:-4], right[40:-40], buffer[4:-4])
        assert_array_equal(buffer[4:-4], minus_absolute_differences(left[4:-4], right[40:-40]))
        assert (buffer[:4] == 7).all()
        assert (buffer[-4:] == 7).all()


@pytest.mark.parametrize(("n", "m"), [(0, 5), (5, 0), (0, 0)])
def test_empty_tiles(n, m):
    assert cityblock(np.ones((n, 3)), np.ones((m, 3))).shape == (n, m)
    assert hamming(np.ones((n, 3), np.uint64), np.ones((m, 3), np.uint64)).shape == (n, m)


def test_what_would_be_read_wrongly_is_refused():
    one = np.ones((4, 3))
    for left, out in [
        (np.asfortranarray(one), np.empty((4, 4))),
        (one, np.empty((4, 4), np.float32)),
        (one.tolist(), np.empty((4, 4))),
        (one[0], np.empty((4, 4))),
    ]:
        with pytest.raises(TypeError, match="incompatible function arguments"):
            _core.minus_absolute_differences(left, one, out)


# ---------------------------------------------------------------------------------------------------------------------
# Hamming


@pytest.mark.parametrize("width", [1, 2, 3, 4, 5, 7, 8, 16, 66])
def test_differing_bits_are_counted(width):
    rng = np.random.default_rng(width)
    for n, m in [*SIZES, (3, 511), (3, 512), (2, 513), (1, 1100)]:
        left, right = words(rng, n, width), words(rng, m, width)
        assert_array_equal(hamming(left, right), minus_differing_bits(left, right).astype(np.float32), strict=True)


def test_every_bit_of_every_word_counts():
    bits = np.unpackbits(np.frombuffer(np.eye(384, dtype=np.uint8).tobytes(), np.uint8).reshape(384, 384), axis=1)
    codes = np.packbits(bits[:, 7::8], axis=1).view(np.uint64)
    zeros, ones = np.zeros_like(codes[:1]), ~np.zeros_like(codes[:1])
    assert_array_equal(hamming(zeros, codes), np.full((1, 384), -1.0))
    assert_array_equal(hamming(codes, ones), np.full((384, 1), -383.0))
    assert_array_equal(hamming(codes, codes), 2.0 * np.eye(384) - 2)


@pytest.mark.parametrize(("bits", "n"), [(31, 1), (32, 40), (63, 3), (124, 70)])
def test_all_bits_of_long_codes_may_differ(bits, n):
    zeros, ones = np.zeros((5, bits), np.uint64), ~np.zeros((n, bits), np.uint64)
    assert_array_equal(hamming(zeros, ones), np.full((5, n), -64.0 * bits))
    assert not np.signbit(hamming(zeros, zeros)).any()


# ---------------------------------------------------------------------------------------------------------------------
# squares of cosines


@pytest.mark.parametrize("dtype", DTYPES)
def test_products_are_squared_with_their_sign_and_divided(dtype):
    rng = np.random.default_rng(7)
    for n, m in [(0, 3), (3, 0), *SIZES]:
        products = rng.integers(-500, 500, (n, m + 5)).astype(dtype)[:, :m]  # rows of a wider array
        squares, out = rng.integers(1, 1000, m).astype(np.float64), np.full((n, m), np.nan)
        _core.signed_squares(products, squares, out)
        a = products.astype(np.float64)
        assert_array_equal(out, a * np.abs(a) / squares)
