"""The core's loops over rows against their reference implementations, bit by bit."""

from __future__ import annotations

import numpy as np
import pytest
from engine.distances import reference_loops
from engine.distances.plain_scores import plain
from numpy.testing import assert_array_equal

from deadheat import _core
from deadheat.engine.distances import bounds
from deadheat.engine.distances.scaling import ScaledRows
from deadheat.inputs.source import Array

DTYPES = [np.float32, np.float64]
DIMS = [1, 2, 7, 8, 15, 16, 17, 31, 32, 33, 64, 95, 130]


def rows(rng, n, dim, dtype):
    """Numbers of very different sizes: zeros of both signs and subnormal numbers among them."""
    values = (rng.standard_normal((n, dim)) * 2.0 ** rng.integers(-30, 30, (n, dim))).astype(dtype)
    some = rng.random((n, dim))
    values[some < 0.2] = 0.0
    values[some < 0.1] = -0.0
    values[some > 0.95] = np.finfo(dtype).smallest_subnormal * 3
    return values


def same_bits(result, expected):
    expected = np.asarray(expected, dtype=result.dtype).reshape(result.shape)
    assert_array_equal(result.view(np.uint8), expected.view(np.uint8))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("directions", [False, True])
def test_hashes(dtype, directions):
    for dim in DIMS:
        raw = rows(np.random.default_rng(dim), 9, dim, dtype)
        raw[3] = 0
        with np.errstate(over="ignore", under="ignore"):
            same_bits(_core.hash_rows(raw, directions), [reference_loops.hash_row(row, directions) for row in raw])
    assert _core.hash_rows(raw[:0], directions).shape == (0,)


@pytest.mark.parametrize("dtype", DTYPES)
def test_hashes_of_equal_rows_and_of_multiples_agree_and_others_differ(dtype):
    rng = np.random.default_rng(1)
    raw = rng.integers(-3, 4, (2000, 40)).astype(dtype)
    raw[:, 0] = rng.integers(1, 4, 2000)
    assert_array_equal(_core.hash_rows(np.where(raw == 0, dtype(-0.0), raw), False), _core.hash_rows(raw, False))
    assert_array_equal(_core.hash_rows(raw * dtype(3), True), _core.hash_rows(raw, True))
    assert len(np.unique(_core.hash_rows(raw, False))) == len(np.unique(raw, axis=0))
    signs = np.where(np.arange(2**12)[:, None] >> np.arange(12) & 1, dtype(1), dtype(-1))
    for codes in (signs, np.repeat(signs, 16, axis=1), np.eye(3000, dtype=dtype)):
        assert len(np.unique(_core.hash_rows(codes, False))) == len(codes)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("dim", [0, 1, 2, 17])
def test_equal_rows_and_multiples(dtype, dim):
    rng = np.random.default_rng(dim)
    one = rows(rng, 60, dim, dtype)
    other = one * rng.choice([1, -1, 2, 3, 0.1], (60, 1)).astype(
        dtype
    )  # times 0.1 is a multiple only where nothing is lost
    nudged = rng.random((60, dim)) < 0.02
    other = np.where(nudged, np.nextafter(other, dtype(9)), other)
    for directions in (False, True):
        expected = [reference_loops.same_row(a, b, directions) for a, b in zip(one, other, strict=True)]
        result = _core.same_rows(one, other, directions)
        assert result.dtype == np.bool_
        assert_array_equal(result, expected)


@pytest.mark.parametrize("dtype", DTYPES)
def test_multiples_at_both_ends_of_the_numbers(dtype):
    kind = np.finfo(dtype)
    tiny, huge, ulp = kind.smallest_subnormal, kind.max, kind.eps
    one = np.array([[tiny, 3 * tiny], [tiny, 0], [huge, -huge], [huge, tiny], [1, 1 + ulp], [0, 0], [0, 1]], dtype)
    for other in (one[::-1].copy(), one, one[:, ::-1].copy(), np.roll(one, 1, axis=0), one / dtype(2)):
        expected = [reference_loops.same_row(a, b, True) for a, b in zip(one, other, strict=True)]
        assert_array_equal(_core.same_rows(one, other, True), expected)
    third = np.array([[3, 9, 0, -3 * ulp]], dtype)
    assert _core.same_rows(third, third / dtype(3) * dtype(2.0**-20), True)[0]
    assert not _core.same_rows(third, -third, True)[0]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("scale", [1.0, 3.7, 1e-300])
def test_sums(dtype, scale):
    for dim in DIMS:
        raw = rows(np.random.default_rng(dim), 9, dim, dtype) * dtype(1e-20 if scale < 1 else 1)
        raw = np.where(np.abs(raw) < 1, raw, dtype(0)) if scale < 1 else raw
        with np.errstate(over="ignore", under="ignore"):
            expected = [reference_loops.row_sums(row, scale) for row in raw]
        same_bits(_core.row_sums(raw, scale), expected)
    assert _core.row_sums(raw[:0], scale).shape == (0, 2)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("out_dtype", DTYPES)
@pytest.mark.parametrize("divide", [False, True])
def test_rows_taken_and_multiplied(dtype, out_dtype, divide):
    rng = np.random.default_rng(2)
    for dim in DIMS:
        raw, factor, index = rows(rng, 12, dim, dtype), rng.uniform(0.1, 9, 12), rng.integers(0, 12, 20)
        raw.flags.writeable = False
        out = np.full((20, dim), np.nan, out_dtype)
        _core.take_rows(raw, index, factor, divide, out)
        with np.errstate(under="ignore"):
            same_bits(out, [reference_loops.scaled(raw[i], factor[i], divide).astype(out_dtype) for i in index])
    _core.take_rows(raw, index[:0], factor, divide, out[:0])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("other", DTYPES)
@pytest.mark.parametrize("divides", [(False, False), (False, True), (True, False), (True, True)])
def test_products_of_pairs(dtype, other, divides):
    rng = np.random.default_rng(3)
    for dim in DIMS:
        left, right = rows(rng, 9, dim, dtype), rows(rng, 11, dim, other)
        by_left, by_right = rng.uniform(0.1, 9, 9), rng.uniform(0.1, 9, 11)
        places, columns = rng.integers(0, 9, 20), rng.integers(0, 11, 20)
        distance = plain("product", left, right)
        distance.queries = ScaledRows(Array(left), by_left, divides[0])
        distance.items = ScaledRows(Array(right), by_right, divides[1])
        result = distance.scores.pair_scores(places, columns)
        with np.errstate(under="ignore"):
            wanted = np.array(
                [
                    reference_loops.pair_dot(left[i], by_left[i], divides[0], right[j], by_right[j], divides[1])
                    for i, j in zip(places, columns, strict=True)
                ]
            )
        tiny = np.abs(wanted) < 2.0**-900  # and may lose as many of the smallest normal numbers as bounds have room for
        same_bits(result[~tiny], wanted[~tiny])
        assert (np.abs(result - wanted)[tiny] <= bounds.underflow(dim, np.float64)).all()


@pytest.mark.parametrize("dtype", DTYPES)
def test_units(dtype):
    rng = np.random.default_rng(4)
    for scale in (1.0, 0.75, 2.0**-140, 10.0):
        raw = (rng.integers(-40, 41, (15, 6)) * rng.choice([1, 3, 8], (15, 1)) * scale).astype(dtype)
        raw[4] = 0
        part, one = np.full(15, np.nan), np.full(1, np.nan)
        largest = _core.integer_units(raw, part, 2.0**20), _core.integer_units(raw, one, 2.0**20)
        result = [reference_loops.unit(row) for row in raw]
        same_bits(part, [unit for unit, _ in result])
        same_bits(one, [reference_loops.unit(raw.ravel())[0]])
        assert largest == (max(most for _, most in result), reference_loops.unit(raw.ravel())[1])
        assert _core.integer_units(raw, one, largest[1]) == largest[1]
        assert _core.integer_units(raw, one, np.nextafter(largest[1], 0)) == np.inf
    ends = np.array([[np.finfo(dtype).smallest_subnormal, np.finfo(dtype).max]], dtype)
    assert _core.integer_units(ends, one, 2.0**53) == np.inf
    assert _core.integer_units(ends[:, :1], one, 2.0**53) == 1
    assert one[0] == ends[0, 0]
