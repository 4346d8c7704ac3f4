"""Shorter floating-point types, against the casts of NumPy and the oracle."""

from __future__ import annotations

import sys
from fractions import Fraction

import numpy as np
import oracles
import pytest

from deadheat.engine import exact

NUMPY = {"float16": np.float16, "float32": np.float32}
LARGEST = {"float16": 65504.0, "bfloat16": (2 - 2.0**-7) * 2.0**127, "float32": float(np.finfo(np.float32).max)}


def all_float16():
    values = np.arange(2**16, dtype=np.uint16).view(np.float16).astype(np.float64)
    return values[np.isfinite(values)]


def cast(values, name):
    with np.errstate(over="ignore", under="ignore"):
        return values.astype(NUMPY[name]).astype(np.float64)


def some_values(name):
    """Values of a type over its whole range: sizes, ends, and random bits."""
    if name == "float16":
        return all_float16()
    bits = np.random.default_rng(2).integers(0, 2**31, 5000, dtype=np.int64).astype(np.uint32)
    bits = np.concatenate(
        [bits, np.arange(300), np.uint32(0x00800000) + np.arange(-9, 9), np.uint32(0x7F800000) - np.arange(1, 9)]
    )
    values = (bits.astype(np.uint32) & np.uint32(0xFFFF0000 if name == "bfloat16" else 0xFFFFFFFF)).view(np.float32)
    values = values[np.isfinite(values)].astype(np.float64)
    return np.concatenate([values, -values])


@pytest.mark.parametrize("name", ["float16", "float32"])
def test_rounding_is_the_cast_of_numpy(name):
    rng = np.random.default_rng(3)
    values = some_values(name)
    middles = np.unique(values)
    middles = middles[:-1] / 2 + middles[1:] / 2
    tests = np.concatenate([
        values, middles, np.nextafter(middles, np.inf), np.nextafter(middles, -np.inf),
        values * (1 + rng.random(len(values)) * 2.0**-9),
        rng.standard_normal(2000) * 10.0 ** rng.integers(-50, 50, 2000),
        [0.0, -0.0, 5e-324, -5e-324, sys.float_info.max, -sys.float_info.max, np.inf, -np.inf],
    ])  # fmt: skip
    np.testing.assert_array_equal(exact.round_to(tests, name), cast(tests, name))


@pytest.mark.parametrize("name", ["float16", "bfloat16", "float32"])
def test_rounding_is_that_of_the_oracle(name):
    rng = np.random.default_rng(4)
    values = rng.permutation(some_values(name))[:150]
    tests = np.concatenate([values * (1 + 2.0**-9), values * (1 + 2.0**-8), rng.standard_normal(50) * 1e-39,
                            [LARGEST[name], LARGEST[name] * (1 + 2.0**-20), -LARGEST[name] * 2]])  # fmt: skip
    for value, found in zip(tests.tolist(), exact.round_to(tests, name).tolist(), strict=True):
        pattern = oracles.round_to(oracles.Surd(Fraction(value), 0, Fraction(0)), name)
        assert found == oracles.pattern_to_float(pattern, name)


@pytest.mark.parametrize("name", ["float16", "bfloat16", "float32"])
def test_a_cell_holds_what_rounds_to_its_value(name):
    """Its ends belong to it where the value is even; a step outside, another value is nearer."""
    values = np.unique(some_values(name) + 0.0)
    low, high, closed = exact.cells(values, name)
    np.testing.assert_array_equal(exact.round_to(low, name) == values, closed)
    np.testing.assert_array_equal(exact.round_to(high, name) == values, closed)
    np.testing.assert_array_equal(exact.round_to(np.nextafter(low, np.inf), name), values)
    np.testing.assert_array_equal(exact.round_to(np.nextafter(high, -np.inf), name), values)
    assert (exact.round_to(np.nextafter(low, -np.inf), name) < values).all()
    assert (exact.round_to(np.nextafter(high, np.inf), name) > values).all()


def test_the_cells_of_all_float16_values_fill_the_line():
    values = np.unique(all_float16() + 0.0)
    low, high, closed = exact.cells(values, "float16")
    np.testing.assert_array_equal(high[:-1], low[1:])
    np.testing.assert_array_equal(closed[:-1], ~closed[1:])
    assert (high[-1], closed[-1]) == (65520.0, False)


@pytest.mark.parametrize("name", ["float16", "bfloat16", "float32"])
def test_the_cells_of_infinity_begin_where_overflow_does(name):
    low, high, closed = exact.cells(np.array([np.inf, -np.inf]), name)
    assert (high[0], low[1], closed.tolist()) == (np.inf, -np.inf, [True, True])
    assert low[0] == -high[1] == exact.cells(np.array([LARGEST[name]]), name)[1][0]
    assert exact.round_to(low[:1], name)[0] == np.inf
    assert exact.round_to(np.nextafter(low[:1], 0), name)[0] == LARGEST[name]


@pytest.mark.parametrize("name", ["float16", "bfloat16", "float32"])
def test_ordinals_count_the_values(name):
    values = np.unique(some_values(name) + 0.0)
    numbers = exact.ordinals(values, name)
    assert (np.diff(numbers) > 0).all()
    assert exact.from_ordinals(numbers, name).tolist() == values.tolist()
    assert exact.ordinals(np.array([0.0, -0.0, np.inf, LARGEST[name]]), name).tolist()[:2] == [0, 0]
    infinity, largest = exact.ordinals(np.array([np.inf, LARGEST[name]]), name).tolist()
    assert infinity == largest + 1
    if name == "float16":
        assert (np.diff(numbers) == 1).all()
