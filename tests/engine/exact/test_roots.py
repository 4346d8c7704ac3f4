"""Exact numbers of the core, and how they compare, against fractions."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from rationals import SignedRoot, absolute_differences, dot, edges, finite

from deadheat import _core
from deadheat.engine.exact.roots import Roots
from deadheat.inputs.source import Array

KINDS = {"inner_product": "product", "cityblock": "difference", "euclidean": "distance", "cosine": "cosine"}


def roots_of(name, left, right, rows, others):
    """The closeness of row rows[p] on the left to row others[p] on the right."""
    left, right, rows, others = map(np.asarray, (left, right, rows, others))
    return Roots(_core.ExactPairs(KINDS[name], Array(left), Array(right)).closeness(rows, others))


def in_order(roots, sizes):
    """The places of runs of numbers, ascending in each, and which are greater than the one before."""
    order, greater, ends = np.empty(len(roots), dtype=np.int64), np.empty(len(roots), dtype=bool), np.cumsum(sizes)
    roots.numbers.sort(ends - sizes, ends, order, greater)
    return order, greater


def expected(name, left, right, rows, others):
    """The same by fractions, pair by pair."""
    sides = [[list(map(Fraction, row)) for row in np.asarray(side).tolist()] for side in (left, right)]
    squares = [[dot(row, row) for row in side] for side in sides]
    found = []
    for i, j in zip(rows, others, strict=True):
        q, x = sides[0][i], sides[1][j]
        if name == "cityblock":
            found.append(SignedRoot.of(-absolute_differences(q, x)))
        elif name == "euclidean":
            square = squares[0][i] + squares[1][j] - 2 * dot(q, x)
            found.append(SignedRoot(-(square > 0), square.numerator, square.denominator))
        else:
            product = dot(q, x)
            sign = (product > 0) - (product < 0)
            square = product**2 / (squares[0][i] * squares[1][j]) if name == "cosine" and sign else product**2
            found.append(SignedRoot(sign, square.numerator, square.denominator))
    return found


def squares_of(expected_roots):
    return [root.sign * Fraction(root.numerator, root.denominator) for root in expected_roots]


def rows_of(kind, rng, n, d):
    """Data that is full of ties, of neighbours that differ by one ulp, or of exponents that differ widely."""
    rows = rng.standard_normal((n, d))
    if kind == "decimals":
        rows = np.round(rows, 1)
    elif kind == "integers":
        rows = rng.integers(-2, 3, (n, d)).astype(np.float64)
    elif kind == "two values":
        rows = np.where(rows > 0, 0.7, 0.3)
    elif kind == "permuted":
        rows = np.stack([rng.permutation(rows[0]) for _ in range(n)])
    elif kind == "neighbours":
        rows = np.repeat(rows[: -(-n // 3)], 3, axis=0)[:n]
        rows[1::3, 0], rows[2::3, -1] = np.nextafter(rows[1::3, 0], 9), np.nextafter(rows[2::3, -1], -9)
    elif kind == "sparse":
        rows = np.round(rows, 2) * (rng.random((n, d)) < 0.2)
    elif kind == "spread":
        rows *= 10.0 ** rng.integers(-30, 30, (n, d))
    elif kind == "scaled rows":
        rows = np.round(rows, 1) * 2.0 ** rng.integers(-900, 900, (n, 1))
    elif kind == "extreme":
        rows = rng.choice([5e-324, -5e-324, 1e308, -1e308, 1.0, -0.0, 2.0**-1022, 0.1], (n, d))
    elif kind == "some extreme":
        rows = np.round(rows, 1)
        rows[::2, 0] = rng.choice([5e-324, 1e308, 1e-200], len(rows[::2]))
    elif kind == "subnormal":
        rows = np.round(rows * 8) * 5e-324
    elif kind == "far digits":  # cosines that differ behind hundreds of bits, or more than a thousand
        rows = rng.integers(1, 1 << 40, (n, d)) * 2.0 ** -rng.integers(100, 540, (n, d))
        rows[:, 0] = 1
        rows[n // 2] = 3 * rows[n // 2 - 1]  # the same cosine, of other numbers
    rows[0] = 0
    if n > 5:
        rows[5] = rows[4]
    return rows


ROWS = ["random", "decimals", "integers", "two values", "permuted", "neighbours", "sparse", "spread", "scaled rows",
        "extreme", "some extreme", "subnormal", "far digits"]  # fmt: skip


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", ROWS)
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
        order, greater = in_order(roots, np.array([8, 0, 8, 8]))
        for run in range(3):
            places = order[8 * run : 8 * run + 8]
            assert sorted(places.tolist()) == list(range(8 * run, 8 * run + 8))
            steps = [wanted[j].compare(wanted[i]) for i, j in pairwise(places)]
            assert min(steps) >= 0
            assert_array_equal(greater[8 * run + 1 : 8 * run + 8], np.array(steps) > 0)
            ties = [(i, j) for i, j, step in zip(places[:-1], places[1:], steps, strict=True) if not step]
            assert all(i < j for i, j in ties)  # what ties stays in its order


@pytest.mark.parametrize("kind", ROWS)
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
        assert [part.tolist() for part in in_order(roots, nothing)] == [[], []]
