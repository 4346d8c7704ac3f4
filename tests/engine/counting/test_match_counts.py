"""Rows whose match counts show that they tie: profiles are those without that shortcut."""

from __future__ import annotations

import numpy as np
import pytest

import deadheat as dh
from deadheat.engine.distances import registry as distance_registry
from deadheat.engine.distances.distance import Dense

KINDS = {
    "two values": lambda rng, n, d: rng.choice([-0.1234567, 0.87654321], (n, d)),
    "three values": lambda rng, n, d: rng.choice([0.1, 0.2, 0.7], (n, d)),
    "few and zero": lambda rng, n, d: rng.choice([0, 0, 0.1, 1 / 3], (n, d)),
    "rows of their own": lambda rng, n, d: rng.choice([0, 0.1, 0.3], (n, d)) * rng.choice([1.1, 1.7], (n, 1)),
    "sparse": lambda rng, n, d: rng.standard_normal((n, d)) * (rng.random((n, d)) < 0.15),
    "mixed": lambda rng, n, d: np.where(
        rng.random((n, 1)) < 0.5, rng.choice([0.1, 0.2], (n, d)), rng.standard_normal((n, d))
    ),
}


def small_products(rng, n, d, dtype):
    """Zeros of places, of products that cancel, and of products that are too small for their type."""
    rows = np.zeros((n, d), dtype=dtype)
    rows[np.arange(n)[:, None], rng.integers(0, d, (n, 2))] = rng.standard_normal((n, 2))
    rows[: n // 4, :2] = rng.choice([1, -1], (n // 4, 2))
    rows[n // 4 : n // 3, 0] = 1e-30
    return rows


def same_with_and_without(rows, labels, distance, monkeypatch):
    """The digests of the profile with the shortcut and without it are the same; returns whether there is one."""
    patterns = distance_registry.make(distance, rows, None, True).patterns
    result = dh.Task(rows, labels, distance=distance).profile.digest()
    monkeypatch.setattr(Dense, "patterns", None)
    assert result == dh.Task(rows, labels, distance=distance).profile.digest()
    return patterns is not None


@pytest.mark.parametrize("distance", ["cosine", "euclidean", "inner_product", "cityblock"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", KINDS)
def test_profiles_are_those_without_it(name, dtype, distance, monkeypatch):
    rng = np.random.default_rng(8)
    few, labels = np.zeros((120, 65), dtype=dtype), rng.integers(0, 9, 120)
    few[:, rng.choice(65, 3, replace=False)] = KINDS[name](rng, 120, 3)  # so that many rows meet in the same way
    for rows in (few, KINDS[name](rng, 120, 9).astype(dtype)):
        with monkeypatch.context() as patch:
            used = same_with_and_without(rows, labels, distance, patch)
    # of city block, float64 holds the sums exactly here
    assert used or name not in ("two values", "few and zero") or distance == "cityblock"


@pytest.mark.parametrize("distance", ["cosine", "inner_product"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("dim", [20, 64, 130])
def test_zeros_of_sparse_rows_are_those_of_the_real_numbers(dim, dtype, distance, monkeypatch):
    rng = np.random.default_rng(dim)
    rows, labels = small_products(rng, 150, dim, dtype), rng.integers(0, 9, 150)
    assert same_with_and_without(rows, labels, distance, monkeypatch)
