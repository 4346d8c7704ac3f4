"""Tiles and pairs of every form of scores: against NumPy in the same order of summation, and against fractions."""

from __future__ import annotations

import os
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from engine.distances.plain_scores import pairs, plain, tile
from numpy.testing import assert_array_equal

from deadheat import _core
from deadheat.engine.distances.scaling import ScaledRows
from deadheat.inputs.source import Array

TYPES = [np.float32, np.float64]
SHAPES = [(1, 1), (3, 50), (13, 5), (9, 49), (97, 17), (0, 3), (3, 0)]
DIMS = [1, 2, 15, 16, 17, 127, 128, 129, 300, 1000]


# Products -------------------------------------------------------------------------------------------------------------


MADE = {
    "gaussian": lambda rng, rows, info: rows,
    # a sum in one go loses each number after the first
    "swallowed": lambda rng, rows, info: np.where(np.arange(rows.shape[1]) == 0, 1, info.eps / 2 * 0.999 + 0 * rows),
    "cancelling": lambda rng, rows, info: (
        rows * 1e-6 + rng.choice([-1, 1], (len(rows), 1)) * np.where(np.arange(rows.shape[1]) % 2, 1e3, -1e3)
    ),
    "huge": lambda rng, rows, info: rows * np.sqrt(info.max) / 100 / rows.shape[1],
    "tiny": lambda rng, rows, info: rows * np.sqrt(info.smallest_subnormal),
    "subnormal": lambda rng, rows, info: np.where(
        np.arange(len(rows))[:, None] % 2, np.round(rows * 8) * info.smallest_subnormal, rows
    ),
    "mixed in a row": lambda rng, rows, info: rows * 2.0 ** rng.integers(-40, 40, rows.shape),
    "sparse": lambda rng, rows, info: rows * (rng.random(rows.shape) < 0.1),
}


def rows_of(kind, rng, n, dim, dtype):
    return MADE[kind](rng, rng.standard_normal((n, dim)), np.finfo(dtype)).astype(dtype)


def integers(rows):
    """Rows as integers, in units of 2^-1074."""
    return [[int(Fraction(x) * 2**1074) for x in row] for row in rows.tolist()]


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("kind", MADE)
def test_a_product_is_within_its_bound(kind, dtype):
    rng, info = np.random.default_rng(1), np.finfo(dtype)
    for dim, chunk in [(1, 128), (127, 128), (129, 128), (300, 64), (1000, 128), (1000, 32), (64, 7)]:
        left = rows_of(kind, rng, 3, dim, dtype)
        right = np.ones((2, dim), dtype) if kind == "swallowed" else rows_of(kind, rng, 4, dim, dtype)
        result = tile("product", left, right, chunk=chunk)
        terms = _core.product_roundings(dim, chunk) * Fraction(float(info.eps)) / 2
        gamma, largest = terms / (1 - terms), Fraction(float(max(np.abs(left).max(), np.abs(right).max())))
        lost = 2 * dim * (1 + largest) * Fraction(float(info.tiny))  # subnormal numbers count as zero
        whole_right = integers(right)
        for i, query in enumerate(integers(left)):
            for j, item in enumerate(whole_right):
                products = [q * x for q, x in zip(query, item, strict=True)]
                real, size = Fraction(sum(products), 2**2148), Fraction(sum(map(abs, products)), 2**2148)
                assert abs(Fraction(float(result[i, j])) - real) <= gamma * size + lost


@pytest.mark.parametrize("dtype", TYPES)
def test_products_of_small_integers_are_exact_whatever_the_shape(dtype):
    rng = np.random.default_rng(2)
    for n, m in SHAPES:
        for dim in DIMS:
            left, right = (rng.integers(-9, 10, (k, dim)) for k in (n, m))
            for chunk in (1, 7, 128, 5000):
                assert_array_equal(
                    tile("product", left.astype(dtype), right.astype(dtype), chunk=chunk), left @ right.T
                )
            assert_array_equal(pairs("product", left.astype(dtype), right.astype(dtype)), left @ right.T)


@pytest.mark.parametrize("dtype", TYPES)
def test_rows_without_a_common_number_have_a_product_of_zero(dtype):
    rng = np.random.default_rng(3)
    for dim in DIMS:
        here = rng.random((20, dim)) < 0.5
        left = np.where(here, rng.choice([1, -1, 1e30, -1e-30], (20, dim)), -0.0).astype(dtype)
        right = np.where(here, rng.choice([0.0, -0.0], (20, dim)), rng.standard_normal((20, dim))).astype(dtype)
        assert (np.diagonal(tile("product", left, right)) == 0).all()
        assert (np.diagonal(pairs("product", left, right)) == 0).all()


@pytest.mark.parametrize("dim", [1, 127, 128, 129, 1000])
def test_roundings_are_those_of_a_chunk_and_of_the_sums_of_chunks(dim):
    for chunk in (1, 32, 128):
        assert _core.product_roundings(dim, chunk) == (min(dim, chunk) + -(-dim // chunk) - 1)


@pytest.mark.parametrize("dtype", TYPES)
def test_products_are_squared_with_their_sign_and_divided(dtype):
    rng = np.random.default_rng(7)
    for n, m in [shape for shape in SHAPES if all(shape)]:
        left, right = (rng.integers(-9, 10, (k, 5)).astype(dtype) for k in (n, m))
        squares, products = rng.integers(1, 1000, m).astype(np.float64), (left @ right.T).astype(np.float64)
        wanted = products * np.abs(products) / squares
        assert_array_equal(pairs("product", left, right, squares=squares), wanted)
        if dtype == np.float64:
            assert_array_equal(tile("product", left, right, squares=squares), wanted)


def test_columns_come_in_any_order_and_rows_wherever_they_are():
    """Chosen queries and columns, repeated; rows that are read by a source, and offsets of single items."""
    rng = np.random.default_rng(8)
    left, right = rng.integers(-9, 10, (30, 7)).astype(np.float32), rng.integers(-9, 10, (40, 7)).astype(np.float32)
    queries, columns = rng.integers(0, 30, 90), rng.integers(0, 40, 70)
    for offset in (np.empty(0), rng.integers(0, 9, 40).astype(np.float64)):
        wanted = (left[queries] @ right[columns].T) - (offset[columns] if len(offset) else 0)
        for kind in (np.float32, np.int16):  # the latter converted, and so read by Python
            distance = plain("product", left, right, offset=offset)
            distance.queries, distance.items = (
                ScaledRows(Array(rows.astype(kind)), np.ones(40)) for rows in (left, right)
            )
            assert_array_equal(distance.scores.tile(0, queries, columns), wanted)
            row, position = (index.ravel() for index in np.indices(wanted.shape))
            assert_array_equal(distance.scores.pair_scores(queries[row], columns[position]), wanted.ravel())


@pytest.mark.slow
@pytest.mark.parametrize("name", ["baseline", "avx2", "avx512"])
def test_every_instruction_set_passes(name):
    if os.environ.get("DEADHEAT_INSTRUCTION_SET"):
        pytest.skip("one has been chosen")
    environment = {**os.environ, "DEADHEAT_INSTRUCTION_SET": name}
    asked = subprocess.run([sys.executable, "-c", "import deadheat._core"], env=environment, capture_output=True)
    if asked.returncode:
        pytest.skip(f"no {name} here")
    int8 = Path(__file__).parents[1] / "counting" / "test_int8_filter.py"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", __file__, str(int8)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


# Sums of differences and of minima ------------------------------------------------------------------------------------

TERMS = {"difference": lambda a, b: -np.abs(a - b), "overlap": np.minimum}


def hostile(rng, n, dim, dtype):
    """Numbers of very different sizes, zeros among them."""
    values = rng.standard_normal((n, dim)) * 2.0 ** rng.integers(-30, 30, (n, dim))
    return np.where(rng.random((n, dim)) < 0.1, 0.0, values).astype(dtype)


def in_order(form, left, right):
    """The sums with NumPy, one dimension after the other."""
    out = np.zeros((len(left), len(right)), left.dtype)
    for k in range(left.shape[1]):
        out += TERMS[form](left[:, k, None], right[:, k])
    return out


@pytest.mark.parametrize("form", TERMS)
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("dim", [1, 2, 16, 63, 64, 65, 130])
def test_sums_are_made_in_the_order_of_the_dimensions(dim, dtype, form):
    rng = np.random.default_rng(dim)
    for n, m in [(1, 1), (1, 40), (2, 16), (3, 17), (4, 32), (5, 33), (7, 64), (6, 97), (9, 7)]:
        left, right = hostile(rng, n, dim, dtype), hostile(rng, m, dim, dtype)
        if form == "overlap":
            left, right = np.abs(left), np.abs(right)
        assert_array_equal(tile(form, left, right), in_order(form, left, right), strict=True)


@pytest.mark.parametrize("form", TERMS)
@pytest.mark.parametrize("dtype", TYPES)
def test_sums_over_small_integers_are_exact(dtype, form):
    rng = np.random.default_rng(3)
    left, right = (rng.integers(0 if form == "overlap" else -255, 256, (n, 200)) for n in (13, 77))
    wanted = TERMS[form](left[:, None], right).sum(axis=-1)
    for scores in (tile, pairs):
        assert_array_equal(scores(form, left.astype(dtype), right.astype(dtype)), wanted)


@pytest.mark.parametrize("dtype", TYPES)
def test_equal_rows_score_plus_zero_and_sizes_at_both_ends_survive(dtype):
    tiny, huge = np.finfo(dtype).smallest_subnormal, np.finfo(dtype).max
    left = np.array([[tiny, 0, huge / 4], [-tiny, 0.0, -huge / 4], [0, -0.0, 0]], dtype)
    scores = tile("difference", left, left)
    assert_array_equal(scores, in_order("difference", left, left))
    assert not np.signbit(np.diag(scores)).any()
    first = left[:, :1].copy()
    assert_array_equal(tile("difference", first, first)[0], [0, -2 * tiny, -tiny])


# Bits -----------------------------------------------------------------------------------------------------------------


def differing(left, right):
    return -np.bitwise_count(left[:, None] ^ right).sum(axis=-1).astype(np.float64)


@pytest.mark.parametrize("width", [1, 2, 3, 4, 5, 7, 8, 16, 66])
def test_differing_bits_are_counted(width):
    rng = np.random.default_rng(width)
    for n, m in [(0, 5), (5, 0), (1, 1), (2, 16), (5, 33), (9, 7), (3, 511), (3, 512), (2, 513), (1, 1100)]:
        left, right = (rng.integers(0, 2**64, (k, width), dtype=np.uint64) for k in (n, m))
        assert_array_equal(tile("bits", left, right), differing(left, right).astype(np.float32), strict=True)
        assert_array_equal(pairs("bits", left, right), differing(left, right), strict=True)


@pytest.mark.parametrize(("width", "n"), [(31, 1), (32, 40), (63, 3), (124, 70)])
def test_all_bits_of_long_codes_may_differ(width, n):
    zeros, ones = np.zeros((5, width), np.uint64), ~np.zeros((n, width), np.uint64)
    assert_array_equal(tile("bits", zeros, ones), np.full((5, n), -64.0 * width))
    assert not np.signbit(tile("bits", zeros, zeros)).any()
