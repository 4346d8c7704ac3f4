"""What surely ties by the places of numbers ties as the real numbers do, and is found."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import deadheat as dh
from deadheat import _core
from deadheat.counting import alike, counters
from deadheat.distances.patterns import Patterns
from deadheat.inputs.source import Array

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


def twin(query, item, differences, zeros):
    """What two rows have that decides their distance, from the rows themselves; None where that is not known."""
    if zeros and not ((query != 0) & (item != 0)).any():
        return "apart"
    if len(set(query) - {0}) > 3 or len(set(item) - {0}) > 3:
        return None
    pairs = sorted(zip(query.tolist(), item.tolist(), strict=True))
    if differences and set(query) - {0} == set(item) - {0}:
        return "sides", tuple(sorted(tuple(sorted(pair)) for pair in pairs if pair[0] != pair[1]))
    met = tuple(pair for pair in pairs if 0 not in pair)
    return "kind", tuple(sorted(value for value in item.tolist() if value)), met


@pytest.mark.parametrize(("differences", "zeros"), list(product([False, True], repeat=2)))
@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("d", [3, 64, 65, 130])
def test_meetings_are_equal_where_the_rows_meet_in_the_same_way(name, d, differences, zeros):
    rng = np.random.default_rng([13, d])  # a seed with which `Patterns.of` takes every kind
    d_used = min(d, 6)  # so that many rows meet alike; the other features are 0
    rows = np.zeros((40, d))
    rows[:, rng.choice(d, d_used, replace=False)] = KINDS[name](rng, 40, d_used)
    source = Array(rows)
    patterns = Patterns.of(source, source, zeros, differences)
    assert patterns is not None
    query, item = (np.repeat(np.arange(40), 40), np.tile(np.arange(40), 40))
    found, kind = np.empty((1600, _core.MEETINGS), np.uint16), np.empty(1600, np.int32)
    rows_of = patterns.query.masks, patterns.item.masks, patterns.query.table, patterns.item.table, patterns.item.kind
    placed = (*rows_of, differences, zeros, patterns.levels)
    _core.count_meetings(placed, query, item, found, kind)
    for q in range(40):
        mine = slice(40 * q, 40 * q + 40)
        expected = [twin(rows[q], rows[x], differences, zeros) for x in range(40)]
        marks = list(zip(kind[mine].tolist(), found[mine].tolist(), strict=True))
        for x, y in product(range(40), repeat=2):
            if expected[x] is None:
                assert marks[x][0] == -1
            else:
                assert (marks[x] == marks[y]) == (expected[x] == expected[y])


@pytest.mark.parametrize("distance", ["cosine", "euclidean", "inner_product", "cityblock"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", KINDS)
def test_profiles_are_those_without_it(name, dtype, distance, monkeypatch):
    rng = np.random.default_rng(8)
    rows, labels = KINDS[name](rng, 120, 9).astype(dtype), rng.integers(0, 9, 120)
    settled = 0
    settle = alike.Alike.settle

    def counted(self, opened, *arguments):
        nonlocal settled
        n_left = settle(self, opened, *arguments)
        settled += opened.shape[1] - n_left
        return n_left

    monkeypatch.setattr(alike.Alike, "settle", counted)
    with_it = dh.profile(rows, labels, distance=distance)
    monkeypatch.setattr(counters.Counter, "alike", None)
    assert dh.profile(rows, labels, distance=distance).digest() == with_it.digest()
    if name in ("two values", "few and zero") and distance != "cityblock":  # whose sums float64 holds exactly here
        assert settled > 100


@pytest.mark.parametrize("distance", ["cosine", "inner_product"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("dim", [20, 64, 130])
def test_zeros_of_sparse_rows_are_counted_before_they_are_listed(dim, dtype, distance, monkeypatch):
    """Also where some zeros are none of places, but of products that cancel, or too small for their type."""
    rng = np.random.default_rng(dim)
    rows, labels = np.zeros((150, dim), dtype=dtype), rng.integers(0, 9, 150)
    there = rng.integers(0, dim, (150, 2))
    rows[np.arange(150)[:, None], there] = rng.standard_normal((150, 2))
    rows[:40, :2] = rng.choice([1, -1], (40, 2))
    rows[40:60, 0] = 1e-30
    listed = []
    settle = alike.Alike.settle

    def counted(self, opened, *arguments):
        listed.append(opened.shape[1])
        return settle(self, opened, *arguments)

    monkeypatch.setattr(alike.Alike, "settle", counted)
    with_it, few = dh.profile(rows, labels, distance=distance), sum(listed)
    monkeypatch.setattr(counters.Counter, "apart", None)
    listed.clear()
    assert dh.profile(rows, labels, distance=distance).digest() == with_it.digest()
    assert 2 * few < sum(listed)
    monkeypatch.setattr(counters.Counter, "alike", None)
    assert dh.profile(rows, labels, distance=distance).digest() == with_it.digest()
