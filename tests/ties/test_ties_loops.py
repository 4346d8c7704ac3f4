"""The loops of `src/core/ties`, bit by bit against their twins."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from ties import twins

from deadheat import _core

SHAPES = [(0, 1), (1, 1), (3, 2), (5, 17), (2, 40)]
HOSTILE = np.array([-np.inf, -1.0, -0.0, 0.0, 5e-324, 1.0, np.nextafter(1, 2), 1e308])


def entries(rng, shape, bounds=(0.0, 1e-3, 0.2)):
    """Columns, count, irrelevant, score and bound, padded as the pass pads them."""
    n_entry = rng.integers(0, shape[1] + 1, shape[0])
    valid = np.arange(shape[1]) < n_entry[:, None]
    columns, irrelevant = rng.integers(0, 99, (2, *shape))
    score = np.where(valid, rng.integers(-8, 8, shape) / 8 + rng.choice([0, 1e-3], shape), np.nan)
    bound = np.where(valid, rng.choice(bounds, shape), 0.0)
    return [columns, np.where(valid, rng.integers(1, 4, shape), 0), irrelevant, score, bound]


def copies(arrays):
    return [array.copy() for array in arrays]


def same(ours, theirs):
    for mine, other in zip(ours, theirs, strict=True):
        assert_array_equal(mine, other, strict=True)


@pytest.mark.parametrize("shape", SHAPES)
def test_sorting_runs_and_numbers(shape):
    rng = np.random.default_rng(shape[1])
    for _ in range(20):
        ours = entries(rng, shape)
        order = np.argsort(ours[3], axis=1)
        theirs, starts = copies(ours), np.ones(shape, np.bool_)
        _core.sort_rows(order, *ours, starts)
        expected = twins.sort_rows(order, *theirs)
        same([*ours, starts], [*theirs, expected])
        runs = np.empty((3, starts.size // 2 + 1), np.int64)
        runs = np.ascontiguousarray(runs[:, : _core.unsure_runs(starts, ours[1], ours[4], runs)])
        assert_array_equal(runs, twins.unsure_runs(starts, ours[1], ours[4]))
        n = int((runs[2] - runs[1]).sum())
        better, error = rng.integers(-8, 8, n) / 8, rng.choice([0.0, 1e-3], n)
        _core.sort_runs(runs, better, error, *ours, starts)
        twins.sort_runs(runs, better, error, *theirs, expected)
        same([*ours, starts], [*theirs, expected])
        numbers = [np.full(shape, -1), np.full(shape, -1), np.zeros(shape, np.int32)]
        others = copies(numbers)
        _core.number_groups(starts, ours[1], *numbers)
        twins.number_groups(starts, ours[1], *others)
        same(numbers, others)


@pytest.mark.parametrize("shape", SHAPES)
def test_cuts(shape):
    rng = np.random.default_rng(shape[1])
    for _ in range(20):
        score = np.sort(np.where(rng.random(shape) < 0.5, rng.choice(HOSTILE[1:], shape), rng.standard_normal(shape)))
        bound, n_group = rng.choice([0.0, 1e-9, 1e-320, 3.0], shape), rng.integers(0, shape[1] + 1, shape[0])
        ours, theirs = np.empty((2, *shape)), np.empty((2, *shape))
        _core.exact_cuts(score, bound, n_group, *ours)
        twins.exact_cuts(score, bound, n_group, *theirs)
        assert_array_equal(ours, theirs)
        _core.exact_cuts(score, bound[:, :1], n_group, *ours)
        twins.exact_cuts(score, np.broadcast_to(bound[:, :1], shape), n_group, *theirs)
        assert_array_equal(ours, theirs)
        _core.make_ascending(*ours)
        twins.make_ascending(*theirs)
        assert_array_equal(ours, theirs)


@pytest.mark.parametrize("shape", SHAPES)
def test_single_items(shape):
    rng = np.random.default_rng(shape[1])
    found = set()
    for most in (1, 1, 1, 2, 3):
        for beside in (0, 0, 2):
            columns, count, irrelevant, score, bound = entries(rng, shape)
            count, irrelevant = np.minimum(count, most), np.minimum(irrelevant, beside)
            ours = np.empty(shape[0], np.int64), np.empty(shape[0]), np.empty(shape[0], np.bool_)
            single = _core.single_items(columns, count, irrelevant, score, bound, *ours)
            expected, *theirs = twins.single_items(count, irrelevant, score, bound)
            assert single == expected
            same(ours, theirs)
            found.add(single)
    assert found == ({True, False} if shape[0] else {True})


def test_apart():
    score, n_entry = np.array([[0.0, 1.0, np.nan], [0.0, 0.5, 1.0]]), np.array([2, 3])
    for reach in ([0.49, 0.2], [0.5, 0.2], [0.4, 0.25], [0.0, np.nextafter(0.25, 0)]):
        assert _core.all_apart(score, np.array(reach), n_entry) == twins.all_apart(score, reach, n_entry)
    assert {_core.all_apart(score, np.array([0.4, r]), n_entry) for r in (0.2, 0.25)} == {True, False}
