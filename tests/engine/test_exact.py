"""Exact numbers and how they compare, against fractions; shorter types, against the casts of NumPy and the oracle."""

from __future__ import annotations

import sys
from fractions import Fraction

import numpy as np
import oracles
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from rationals import SignedRoot, absolute_differences, dot, edges, finite

from deadheat import _core
from deadheat.engine import exact
from deadheat.engine.exact import Roots
from deadheat.inputs.source import Array

KINDS = {"inner_product": "product", "cityblock": "difference", "euclidean": "distance", "cosine": "cosine"}


def roots_of(name, left, right, rows, others):
    """The closeness of row rows[p] on the left to row others[p] on the right."""
    left, right, rows, others = map(np.asarray, (left, right, rows, others))
    return Roots(_core.ExactPairs(KINDS[name], Array(left), Array(right)).closeness(rows, others))


def expected(name, left, right, rows, others):
    """The same by fractions, pair by pair."""
    sides = [[list(map(Fraction, row)) for row in np.asarray(side).tolist()] for side in (left, right)]
    squares = [[dot(row, row) for row in side] for side in sides]
    result = []
    for i, j in zip(rows, others, strict=True):
        q, x = sides[0][i], sides[1][j]
        if name == "cityblock":
            result.append(SignedRoot.of(-absolute_differences(q, x)))
        elif name == "euclidean":
            square = squares[0][i] + squares[1][j] - 2 * dot(q, x)
            result.append(SignedRoot(-(square > 0), square.numerator, square.denominator))
        else:
            product = dot(q, x)
            sign = (product > 0) - (product < 0)
            square = product**2 / (squares[0][i] * squares[1][j]) if name == "cosine" and sign else product**2
            result.append(SignedRoot(sign, square.numerator, square.denominator))
    return result


def squares_of(expected_roots):
    return [root.sign * Fraction(root.numerator, root.denominator) for root in expected_roots]


EXTREME = [5e-324, -5e-324, 1e308, -1e308, 1.0, -0.0, 2.0**-1022, 0.1]
MADE = {  # from random numbers: data full of ties, or of exponents that differ widely
    "random": lambda rng, rows: rows,
    "decimals": lambda rng, rows: np.round(rows, 1),
    "integers": lambda rng, rows: rng.integers(-2, 3, rows.shape).astype(np.float64),
    "two values": lambda rng, rows: np.where(rows > 0, 0.7, 0.3),
    "permuted": lambda rng, rows: np.stack([rng.permutation(rows[0]) for _ in rows]),
    "neighbours": lambda rng, rows: np.repeat(rows[: -(-len(rows) // 3)], 3, axis=0)[: len(rows)],
    "sparse": lambda rng, rows: np.round(rows, 2) * (rng.random(rows.shape) < 0.2),
    "spread": lambda rng, rows: rows * 10.0 ** rng.integers(-30, 30, rows.shape),
    "scaled rows": lambda rng, rows: np.round(rows, 1) * 2.0 ** rng.integers(-900, 900, (len(rows), 1)),
    "extreme": lambda rng, rows: rng.choice(EXTREME, rows.shape),
    "some extreme": lambda rng, rows: np.round(rows, 1),
    "subnormal": lambda rng, rows: np.round(rows * 8) * 5e-324,
    # cosines that differ behind hundreds of bits, or more than a thousand
    "far digits": lambda rng, rows: rng.integers(1, 1 << 40, rows.shape) * 2.0 ** -rng.integers(100, 540, rows.shape),
}


def rows_of(kind, rng, n, d):
    rows = MADE[kind](rng, rng.standard_normal((n, d)))
    if kind == "neighbours":  # that differ by one ulp
        rows[1::3, 0], rows[2::3, -1] = np.nextafter(rows[1::3, 0], 9), np.nextafter(rows[2::3, -1], -9)
    elif kind == "some extreme":
        rows[::2, 0] = rng.choice([5e-324, 1e308, 1e-200], len(rows[::2]))
    elif kind == "far digits":
        rows[:, 0] = 1
        rows[n // 2] = 3 * rows[n // 2 - 1]  # the same cosine, of other numbers
    rows[0] = 0
    if n > 5:
        rows[5] = rows[4]
    return rows


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", MADE)
@pytest.mark.parametrize("name", list(KINDS))
def test_numbers_and_all_comparisons(name, kind, dtype):
    """All pairs of a few rows of many lengths, and each with each."""
    for seed, d in enumerate((1, 3, 8, 17, 40)):
        rng = np.random.default_rng(seed)
        with np.errstate(over="ignore", under="ignore"):
            left, right = (np.nan_to_num(rows_of(kind, rng, n, d).astype(dtype)) for n in (3, 8))
        right[2] = left[1]
        rows, others = np.repeat(np.arange(3), 8), np.tile(np.arange(8), 3)
        roots, wanted = roots_of(name, left, right, rows, others), expected(name, left, right, rows, others)
        assert roots.signed_squares() == squares_of(wanted)
        mine, yours = (index.ravel() for index in np.indices((24, 24)))
        compared = [wanted[i].compare(wanted[j]) for i, j in zip(mine, yours, strict=True)]
        assert_array_equal(roots.compare(mine, roots, yours), compared)


@pytest.mark.parametrize("kind", MADE)
@pytest.mark.parametrize("name", list(KINDS))
def test_comparisons_with_floats_and_shifted_ones(name, kind):
    rng = np.random.default_rng(1)
    left, right = (rows_of(kind, rng, n, 5) for n in (2, 6))
    right[1] = left[1]
    rows, others = np.repeat(np.arange(2), 6), np.tile(np.arange(6), 2)
    roots, wanted = roots_of(name, left, right, rows, others), expected(name, left, right, rows, others)
    near = [np.sign(s) * abs(float(min(abs(s), Fraction(2) ** 1000))) ** 0.5 for s in roots.signed_squares()]
    values = np.array([*near, *np.nextafter(near, 1), *np.nextafter(near, -1), 0.0, 1.0, -1.0, 5e-324, 1e308, 0.25])
    mine, which = (index.ravel() for index in np.indices((12, len(values))))
    for sign, shift in ((1, 0), (-1, 0), (-1, 1)):
        numbers = [SignedRoot.of(sign * Fraction(value) + shift) for value in values.tolist()]
        compared = [wanted[i].compare(numbers[k]) for i, k in zip(mine, which, strict=True)]
        assert_array_equal(roots.compare_values(mine, values[which], sign, shift), compared)
        infinite = np.array([np.inf, -np.inf])
        assert roots.compare_values(np.array([0, 0]), infinite, sign, shift).tolist() == [-sign, sign]
    mine, yours = (index.ravel() for index in np.indices((12, 12)))
    for shift in (0.0, 0.1, 0.5, -0.5, 1.0, 1e-9, 5e-324, -1e300, *np.diff(near).tolist()):
        compared = [wanted[i].compare(wanted[j], Fraction(shift)) for i, j in zip(mine, yours, strict=True)]
        assert_array_equal(roots.compare_shifted(mine, roots, yours, shift), compared)


@given(st.lists(finite | edges, min_size=1, max_size=8), finite | edges)
@settings(deadline=None)
def test_floats_are_what_they_are(values, shift):
    roots, mine = Roots.of_values(np.array(values)), np.arange(len(values))
    numbers = list(map(Fraction, values))
    assert roots.signed_squares() == [x * abs(x) for x in numbers]
    gaps = [a - b - Fraction(shift) for a, b in zip(numbers, numbers[::-1], strict=True)]
    wanted = [(gap > 0) - (gap < 0) for gap in gaps]
    assert roots.compare_shifted(mine, roots, mine[::-1].copy(), shift).tolist() == wanted


@pytest.mark.parametrize("kind", ["decimals", "spread", "extreme"])
def test_ties_at_a_shift(kind):
    """Equal rows, and rows moved by the shift along one axis: distances that differ by the shift exactly."""
    steps = np.arange(6) * 0.25
    row = np.abs(rows_of(kind, np.random.default_rng(2), 2, 4)[1])
    right = np.zeros((6, 5))
    right[:, :4], right[:, 4] = row, steps
    left = np.append(row, 0.0)[None]
    mine, yours = (index.ravel() for index in np.indices((6, 6)))
    for name in ("euclidean", "cityblock"):
        roots = roots_of(name, left, right, np.zeros(6, dtype=np.int64), np.arange(6))
        for shift in (0.25, -0.5, 0.0):
            gap = steps[yours] - steps[mine] - shift
            assert_array_equal(roots.compare_shifted(mine, roots, yours, shift), np.sign(gap))


def test_numbers_of_several_origins_are_put_together():
    rng = np.random.default_rng(4)
    parts = [rows_of(kind, rng, 6, 9) for kind in ("decimals", "spread", "extreme", "integers")]
    pairs = np.arange(6), np.arange(6)[::-1].copy()
    for name in KINDS:
        together, wanted = roots_of(name, parts[0], parts[-1], *pairs), expected(name, parts[0], parts[-1], *pairs)
        for left, right in zip(parts[1:], parts[-2::-1], strict=True):
            together.add(roots_of(name, left, right, *pairs))
            wanted += expected(name, left, right, *pairs)
        assert len(together) == 24
        assert together.signed_squares() == squares_of(wanted)
        mine, yours = (index.ravel() for index in np.indices((24, 24)))
        compared = [wanted[i].compare(wanted[j]) for i, j in zip(mine, yours, strict=True)]
        assert_array_equal(together.compare(mine, together, yours), compared)


@pytest.mark.parametrize("n", [4096, 100_003])
def test_long_rows_of_extreme_numbers_do_not_overflow(n):
    for value in (1.7976931348623157e308, 5e-324, 1.9999999, 0.1):
        row, both = np.full((1, n), value), [0]
        assert roots_of("inner_product", row, -row, both, both).signed_squares() == [-((n * Fraction(value) ** 2) ** 2)]
        assert roots_of("cityblock", row, -row, both, both).signed_squares() == [-((2 * n * Fraction(value)) ** 2)]
        assert roots_of("cosine", row, -row, both, both).signed_squares() == [-1]


def test_nothing_is_nothing():
    nothing = np.empty(0, dtype=np.int64)
    for name in KINDS:
        roots = roots_of(name, np.ones((0, 3)), np.ones((2, 3)), nothing, nothing)
        assert len(roots) == 0
        assert roots.compare(nothing, roots, nothing).tolist() == []


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
    for value, result in zip(tests.tolist(), exact.round_to(tests, name).tolist(), strict=True):
        pattern = oracles.round_to(oracles.Surd(Fraction(value), 0, Fraction(0)), name)
        assert result == oracles.pattern_to_float(pattern, name)


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
