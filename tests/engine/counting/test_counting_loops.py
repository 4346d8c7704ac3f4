"""The loops of `src/core/counting` that Python calls, bit by bit against their reference implementations."""

from __future__ import annotations

import numpy as np
from engine.counting import reference_loops
from numpy.testing import assert_array_equal

from deadheat import _core


def test_rankings_are_written_out():
    rng = np.random.default_rng(3)
    for n_column in (1, 2, 9):
        sizes = rng.integers(1, 4, n_column)
        starts = np.concatenate([[0], np.cumsum(sizes)])
        by_column = rng.permutation(starts[-1])
        columns = np.argsort(rng.random((5, n_column)), axis=1)
        group = np.sort(rng.integers(-1, 4, (5, n_column)), axis=1)[:, ::-1].copy()
        junk = rng.random((5, starts[-1])) < 0.3
        first, excluded = np.concatenate([[0], np.cumsum(junk.sum(axis=1))]), np.ascontiguousarray(np.nonzero(junk)[1])
        ours, theirs = np.full((2, 2, 5, starts[-1]), -1)
        _core.expand(columns, group, by_column, starts, first, excluded, *ours)
        reference_loops.expand(columns, group, by_column, starts, first, excluded, *theirs)
        assert_array_equal(ours, theirs)


def test_groups_are_written_out_in_full():
    """Groups of one item, one of them relevant, are only their `closer`; the others bring the rest."""
    rng = np.random.default_rng(3)
    starts, lengths = np.arange(7) * 6, rng.integers(0, 6, 7)
    closer, tied = rng.integers(0, 50, 42).astype(np.int32), rng.integers(1, 3, (2, 42))
    tied.sort(axis=0)  # relevant items, and all of them
    other = np.flatnonzero((tied != 1).any(axis=0))
    others = np.stack([other, tied[1, other], tied[0, other]])
    for some in (np.arange(7), np.array([2, 5]), np.empty(0, np.int64)):
        places = [np.arange(start, start + n) for start, n in zip(starts[some], lengths[some], strict=True)]
        wanted = np.zeros((4, sum(map(len, places))), np.int64)
        wanted[0] = closer[np.concatenate([*places, []]).astype(int)]
        wanted[1] = np.concatenate([np.cumsum([0, *tied[0, at]])[: len(at)] if len(at) else at for at in places] + [[]])
        wanted[2:] = tied[::-1, np.concatenate([*places, []]).astype(int)]
        found = np.zeros_like(wanted)
        _core.expand_groups(starts[some], lengths[some], closer, others, *found)
        assert_array_equal(found, wanted)


def test_a_small_group_is_ranked():
    rng = np.random.default_rng(5)
    undecided = 0
    for n in [1, 2, 3, 8, 20] * 6:
        columns, classes = rng.integers(0, max(1, n - n // 4), n), rng.integers(0, 3, n)
        scores = rng.integers(-9, 9, (n, n)) + rng.random(n)[columns] * rng.choice([0, 1])
        bounds = np.full((n, n), rng.choice([0.0, 1e-9]))
        n_group, arrays = np.empty(n, np.int64), np.empty((4, n * max(1, n - 1)), np.int64)
        total, expected = (
            _core.rank_group(scores, bounds, columns, classes, n_group, arrays),
            reference_loops.rank_group(scores, bounds, columns, classes),
        )
        undecided += total < 0
        assert (expected is None) == (total < 0)
        if expected is not None:
            assert_array_equal(arrays[:, :total], expected[0])
            assert_array_equal(n_group, expected[1])
    assert 0 < undecided < 30


def test_given_scores_are_counted():
    rng = np.random.default_rng(6)
    for n, spread in [(1, 3), (40, 5), (300, 2**62), (300, 40)]:
        keys = rng.integers(-spread, spread, (4, n))
        keys[0, 0], keys[-1, -1] = np.iinfo(np.int64).min, np.iinfo(np.int64).max
        grades = rng.choice([-1, 0, 0, 1, 3], (4, n))
        n_group, n_ranked = np.empty((2, 4), np.int64)
        groups, by_grade = np.zeros((4 * n, 4), np.int64), np.zeros((4 * n, 2), np.int64)
        total = _core.count_groups(keys, grades, np.array([1, 3]), n_group, n_ranked, groups, by_grade)
        expected = reference_loops.count_groups(keys, grades, [1, 3])
        assert_array_equal(groups[:total], np.reshape(expected[0], (-1, 4)))
        assert_array_equal(by_grade[:total], np.reshape(expected[1], (-1, 2)))
        assert_array_equal(n_group, expected[2])
        assert_array_equal(n_ranked, expected[3])
