"""Bounds on the errors of scores: pair by pair as in the twin, and what is taken off scores against fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from distances import twins
from numpy.testing import assert_array_equal

from deadheat import _core, distances
from deadheat.distances import scaling
from deadheat.distances.errors import ScoreErrors
from deadheat.distances.scaling import Rows
from deadheat.inputs.sources import Array


@pytest.mark.parametrize("relative", [np.inf, 1e-3])
@pytest.mark.parametrize("with_offsets", [False, True])
@pytest.mark.parametrize("told", [False, True])
def test_bounds_of_pairs_are_those_of_the_twin(relative, with_offsets, told):
    rng = np.random.default_rng(1)
    of_query, of_item = (rng.choice([0.0, 1e-200, 0.5, 3.0], n) for n in (7, 9))
    offset = rng.standard_normal(9) if with_offsets else np.empty(0)
    errors = ScoreErrors(of_query, of_item, rng.random(9), offset, 1e-2, 1e-9, relative, 1e-8)
    queries, items = rng.integers(0, 7, 50), rng.integers(0, 9, 50)
    scores = rng.standard_normal(50) * rng.choice([0, 1e-6, 1], 50) if told else np.empty(0)
    found, wanted = np.empty(50), twins.pair_errors(errors, queries, items, scores)
    _core.pair_errors(errors, queries, items, scores, found)
    assert_array_equal(found, wanted)
    assert_array_equal(errors.of_pairs(queries, items, scores if told else None), wanted)
    assert (errors.of_band(queries, items) >= wanted).all()
    rows, columns = np.indices((7, 9))
    scores = rng.standard_normal((7, 9)) if told else None
    whole = errors.of_pairs(np.arange(7)[:, None], np.arange(9)[None, :], scores)
    assert_array_equal(whole, errors.of_pairs(rows, columns, scores))
    grid = errors.of_pairs(rows, columns, None)
    assert_array_equal(grid, np.minimum(grid, errors.of_band(np.arange(7), np.arange(9))[:, None]))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("dim", [1, 5, 70])
def test_overlaps_are_summed_in_the_order_of_the_dimensions(dtype, dim):
    rng = np.random.default_rng(dim)
    for n, m in [(1, 1), (4, 32), (5, 33), (9, 70)]:
        left, right = (np.abs(rng.standard_normal((k, dim))).astype(dtype) for k in (n, m))
        wanted, out = np.zeros((n, m), dtype), np.full((n, m), np.nan, dtype)
        for k in range(dim):
            wanted += np.minimum(left[:, k, None], right[:, k])
        _core.overlaps(left, right, out)
        assert_array_equal(out, wanted)


@pytest.mark.parametrize("spread", [0, 8, 40])
def test_what_is_left_of_squares_and_sums_is_as_exact_as_it_says(spread):
    """Rows with one number of 1 and the others far smaller, so that nearly nothing is left of their squares less 1."""
    rng = np.random.default_rng(spread)
    rows = rng.random((40, 6)) * 10.0 ** -(spread * rng.random((40, 1)))
    rows[:, 0] = 1
    for make, power in ((scaling.squares_less, 2), (scaling.sums_less, 1)):
        left, error = make(Rows(Array(rows), np.ones(40)), 1.0)
        for row, value, off in zip(rows.tolist(), left.tolist(), error.tolist(), strict=True):
            real = sum(Fraction(x) ** power for x in row) - 1
            assert abs(Fraction(value) - real) <= Fraction(off) + abs(real) * Fraction(2) ** -52
            assert Fraction(off) <= abs(real) * Fraction(2) ** -30 or off == 0


def test_the_usual_number_is_where_most_are():
    assert scaling.usual(np.array([1.0, 1.0, 1.0, 1.25, 0.9, 1e-3])) == 1.0
    assert scaling.usual(np.ldexp(1.0, np.arange(-60, 60))) == 0.0
    assert scaling.usual(np.array([3.0])) == 3.0


def test_products_of_sizes_bound_rows_of_numbers_that_lie_far_apart():
    """Scores far below the norms are known to a part of themselves, and no number that is not 0 becomes 0."""
    rng = np.random.default_rng(2)
    rows = np.ldexp(rng.standard_normal((30, 12)), rng.integers(-900, 900, (30, 12)).astype(np.int32))
    distance = distances.make("cosine", rows, None, True)
    queries, columns = (index.ravel() for index in np.indices((30, 30)))
    scores = distance.pair_scores(queries, columns)
    bound = distance.pair_bound(queries, columns, scores)
    assert np.median(bound / distance.pair_bound(queries, columns)) < 1e-30
    lengths = [sum(Fraction(x) ** 2 for x in row.tolist()) for row in rows]
    for i, j, score, off in zip(queries, columns, scores.tolist(), bound.tolist(), strict=True):
        dot = sum(
            (Fraction(x) * Fraction(y) for x, y in zip(rows[i].tolist(), rows[j].tolist(), strict=True)), Fraction(0)
        )
        square = dot * abs(dot) / (lengths[i] * lengths[j])
        low, high = Fraction(score) - Fraction(off), Fraction(score) + Fraction(off)
        assert low * abs(low) <= square <= high * abs(high)


@pytest.mark.parametrize("name", ["cosine", "inner_product"])
def test_a_score_of_tiny_numbers_is_not_taken_for_zero(name):
    rows = np.array([[2.0**500, 2.0**-600], [0.0, 1.0], [1.0, 0.0]])
    distance = distances.make(name, rows, None, True)
    assert not any(distance.zeros_exact(level) for level in range(len(distance.levels)))


def test_a_distance_is_known_to_a_part_of_itself_or_of_the_query_whatever_the_norms_of_the_items():
    rng = np.random.default_rng(3)
    rows = np.ldexp(rng.standard_normal((200, 12)), rng.integers(-60, 60, (200, 1)).astype(np.int32))
    distance, queries = distances.make("euclidean", rows, None, True), np.arange(200)
    last = len(distance.levels) - 1
    band = distance.columns.bands[0]
    relative, beside = distance.relative_bound(last, queries, band)
    assert relative.max() < 1e-13
    assert (beside[1:] / distance.query_norm[1:] ** 2).max() < 1e-13
    assert np.median(beside / distance.bound(last, queries, band)) < 1e-20
