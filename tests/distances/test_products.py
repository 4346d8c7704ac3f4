"""Matrix products within the bound that their header states, against sums of integers; for each instruction set."""

from __future__ import annotations

import os
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest

from deadheat import _core

TYPES = [np.float32, np.float64]
SHAPES = [(1, 1), (3, 50), (13, 5), (9, 49), (97, 17), (0, 3), (3, 0)]
DIMS = [1, 2, 15, 16, 17, 127, 128, 129, 300, 1000]


def product(left, right, chunk=128):
    """The product, in a matrix that is longer than what is used of it, from rows and from panels of them."""
    whole = np.full((len(left) + 1, len(right) + 3), 7, left.dtype)
    out = whole[:-1, :-3]
    panels = _core.Panels32 if left.dtype == np.float32 else _core.Panels64
    _core.product(panels(left), panels(right), chunk, out)
    packed = out.copy()
    _core.product(left, right, chunk, out)
    np.testing.assert_array_equal(out, packed)
    assert (whole[-1] == 7).all()
    assert (whole[:, -3:] == 7).all()
    return packed


def rows_of(kind, rng, n, dim, dtype):
    info = np.finfo(dtype)
    rows = rng.standard_normal((n, dim))
    if kind == "swallowed":  # a sum in one go loses each number after the first
        rows = np.where(np.arange(dim) == 0, 1, info.eps / 2 * 0.999)[None].repeat(n, axis=0)
    elif kind == "cancelling":
        rows = rows * 1e-6 + rng.choice([-1, 1], (n, 1)) * np.where(np.arange(dim) % 2, 1e3, -1e3)
    elif kind == "huge":
        rows = rows * np.sqrt(info.max) / 100 / dim
    elif kind == "tiny":
        rows = rows * np.sqrt(info.smallest_subnormal)
    elif kind == "subnormal":
        rows = np.round(rows * 8) * info.smallest_subnormal * (np.arange(n)[:, None] % 2) + rows * (
            np.arange(n)[:, None] % 2 == 0
        )
    elif kind == "mixed in a row":
        rows = rows * 2.0 ** rng.integers(-40, 40, (n, dim))
    elif kind == "sparse":
        rows = rows * (rng.random((n, dim)) < 0.1)
    return rows.astype(dtype)


def integers(rows):
    """Rows as integers, in units of 2^-1074."""
    return [[int(Fraction(x) * 2**1074) for x in row] for row in rows.tolist()]


def check(left, right, chunk):
    dim = left.shape[1]
    found, info = product(left, right, chunk), np.finfo(left.dtype)
    terms = _core.product_roundings(dim, chunk) * Fraction(float(info.eps)) / 2
    gamma, largest = terms / (1 - terms), Fraction(float(max(np.abs(left).max(), np.abs(right).max())))
    lost = 2 * dim * (1 + largest) * Fraction(float(info.tiny))  # subnormal numbers count as zero
    whole_left, whole_right = integers(left), integers(right)
    for i, query in enumerate(whole_left):
        for j, item in enumerate(whole_right):
            products = [q * x for q, x in zip(query, item, strict=True)]
            real, size = Fraction(sum(products), 2**2148), Fraction(sum(map(abs, products)), 2**2148)
            assert abs(Fraction(float(found[i, j])) - real) <= gamma * size + lost


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize(
    "kind",
    ["gaussian", "swallowed", "cancelling", "huge", "tiny", "subnormal", "mixed in a row", "sparse"],
)
def test_a_product_is_within_its_bound(kind, dtype):
    rng = np.random.default_rng(1)
    for dim, chunk in [(1, 128), (127, 128), (128, 128), (129, 128), (300, 64), (1000, 128), (1000, 32), (64, 7)]:
        left = rows_of(kind, rng, 3, dim, dtype)
        right = np.ones((2, dim), dtype) if kind == "swallowed" else rows_of(kind, rng, 4, dim, dtype)
        check(left, right, chunk)


@pytest.mark.parametrize("dtype", TYPES)
def test_products_of_small_integers_are_exact_whatever_the_shape(dtype):
    rng = np.random.default_rng(2)
    for n, m in SHAPES:
        for dim in DIMS:
            left, right = (rng.integers(-9, 10, (k, dim)) for k in (n, m))
            for chunk in (1, 7, 128, 5000):
                found = product(left.astype(dtype), right.astype(dtype), chunk)
                np.testing.assert_array_equal(found, left @ right.T)


@pytest.mark.parametrize("dtype", TYPES)
def test_rows_without_a_common_number_have_a_product_of_zero(dtype):
    rng = np.random.default_rng(3)
    for dim in DIMS:
        here = rng.random((20, dim)) < 0.5
        left = np.where(here, rng.choice([1, -1, 1e30, -1e-30], (20, dim)), -0.0).astype(dtype)
        right = np.where(here, rng.choice([0.0, -0.0], (20, dim)), rng.standard_normal((20, dim))).astype(dtype)
        assert (np.diagonal(product(left, right)) == 0).all()


def test_rows_may_have_a_stride_and_be_the_same_on_both_sides():
    rows = np.random.default_rng(4).integers(-9, 10, (60, 40)).astype(np.float32)
    part = rows[::2, 3:30]
    np.testing.assert_array_equal(product(part, part), part @ part.T)
    np.testing.assert_array_equal(product(part, part[:7]), part @ part[:7].T)


def test_what_does_not_fit_is_refused():
    rows = np.ones((3, 4), np.float32)
    for left, right, out in [
        (rows, np.ones((3, 5), np.float32), np.empty((3, 3), np.float32)),
        (rows, rows, np.empty((3, 4), np.float32)),
        (rows, rows, np.empty((4, 3), np.float32)),
    ]:
        with pytest.raises(ValueError, match="fit"):
            _core.product(left, right, 128, out)
    with pytest.raises(ValueError, match="fit"):
        _core.product(rows, rows, 0, np.empty((3, 3), np.float32))


@pytest.mark.parametrize("dim", [1, 127, 128, 129, 1000])
def test_roundings_are_those_of_a_chunk_and_of_the_sums_of_chunks(dim):
    for chunk in (1, 32, 128):
        assert _core.product_roundings(dim, chunk) == (min(dim, chunk) + -(-dim // chunk) - 1)


@pytest.mark.parametrize("name", ["baseline", "avx2", "avx512"])
def test_every_instruction_set_passes(name):
    if os.environ.get("DEADHEAT_INSTRUCTION_SET"):
        pytest.skip("one has been chosen")
    environment = {**os.environ, "DEADHEAT_INSTRUCTION_SET": name}
    asked = subprocess.run([sys.executable, "-c", "import deadheat._core"], env=environment, capture_output=True)
    if asked.returncode:
        pytest.skip(f"no {name} here")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", __file__]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
