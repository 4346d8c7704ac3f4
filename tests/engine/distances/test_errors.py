"""Bounds on the errors of scores: pair by pair as in the reference, and what is taken off scores against fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from engine.distances import reference_loops
from engine.distances.plain_scores import Plain
from engine.distances.true_scores import true_score
from numpy.testing import assert_array_equal
from rationals import dot

from deadheat._core import ScoreErrors
from deadheat.engine.distances import registry as distance_registry
from deadheat.engine.distances import scaling
from deadheat.engine.distances.distance import Level
from deadheat.engine.distances.scaling import ScaledRows
from deadheat.inputs.source import Array


@pytest.mark.parametrize("relative", [np.inf, 1e-3])
@pytest.mark.parametrize("with_offsets", [False, True])
def test_bounds_of_pairs_are_those_of_the_reference_and_no_larger_than_those_of_bands(relative, with_offsets):
    rng = np.random.default_rng(1)
    of_query, of_item = (rng.choice([0.0, 1e-200, 0.5, 3.0], n) for n in (7, 9))
    offset = rng.standard_normal(9) if with_offsets else np.empty(0)
    errors = ScoreErrors(
        of_query=of_query, of_item=of_item, offset_error=rng.random(9), offset=offset, part=1e-2, tiny=1e-9,
        relative=relative, relative_tiny=1e-8,
    )  # fmt: skip
    level = Level(np.float64, exact=False)
    scores_of = Plain("product", rng.random((7, 2)), rng.random((9, 2)), level, errors, offset=offset).scores
    queries, items = rng.integers(0, 7, 50), rng.integers(0, 9, 50)
    scores = rng.standard_normal(50) * rng.choice([0, 1e-6, 1], 50)
    result = scores_of.pair_bounds(queries, items, scores)
    assert_array_equal(result, reference_loops.pair_errors(errors, queries, items, scores))
    absolute, part, tiny = scores_of.errors(0, queries, 0).T
    assert (result <= absolute).all()
    assert (part == relative).all()
    if relative < np.inf:
        assert (result <= (part * np.abs(scores) + tiny) * (1 + 2.0**-30)).all()


@pytest.mark.parametrize("decades", [0, 8, 40])
def test_what_is_left_of_squares_and_sums_is_as_exact_as_it_says(decades):
    """Rows with one number of 1 and the others far smaller, so that nearly nothing is left of their squares less 1."""
    rng = np.random.default_rng(decades)
    rows = rng.random((40, 6)) * 10.0 ** -(decades * rng.random((40, 1)))
    rows[:, 0] = 1
    for squares, power in ((True, 2), (False, 1)):
        left, error = scaling.sums_less(ScaledRows(Array(rows), np.ones(40)), 1.0, squares=squares)
        for row, value, off in zip(rows.tolist(), left.tolist(), error.tolist(), strict=True):
            real = sum(Fraction(x) ** power for x in row) - 1
            assert abs(Fraction(value) - real) <= Fraction(off) + abs(real) * Fraction(2) ** -52
            assert Fraction(off) <= abs(real) * Fraction(2) ** -30 or off == 0


def test_the_common_offset_is_where_most_are():
    assert scaling.common_size(np.array([1.0, 1.0, 1.0, 1.25, 0.9, 1e-3])) == 1.0
    assert scaling.common_size(np.ldexp(1.0, np.arange(-60, 60))) == 0.0
    assert scaling.common_size(np.array([3.0])) == 3.0


def test_products_of_sizes_bound_rows_of_numbers_of_very_different_sizes():
    """Scores far below the norms are known to a part of themselves, and no number that is not 0 becomes 0."""
    rng = np.random.default_rng(2)
    rows = np.ldexp(rng.standard_normal((30, 12)), rng.integers(-900, 900, (30, 12)).astype(np.int32))
    distance = distance_registry.make("cosine", rows, None, True)
    queries, columns = (index.ravel() for index in np.indices((30, 30)))
    scores = distance.scores.pair_scores(queries, columns)
    bound = distance.scores.pair_bounds(queries, columns, scores)
    last, of_band = len(distance.levels) - 1, np.empty((30, 30))
    for position, band in enumerate(distance.columns.bands):
        of_band[:, slice(*band)] = distance.scores.errors(last, np.arange(30), position)[:, :1]
    assert np.median(bound / of_band[queries, columns]) < 1e-30
    lengths = [sum(Fraction(x) ** 2 for x in row.tolist()) for row in rows]
    for i, j, score, off in zip(queries, columns, scores.tolist(), bound.tolist(), strict=True):
        product = dot(rows[i].tolist(), rows[j].tolist())
        square = product * abs(product) / (lengths[i] * lengths[j])
        low, high = Fraction(score) - Fraction(off), Fraction(score) + Fraction(off)
        assert low * abs(low) <= square <= high * abs(high)


def test_no_bound_rests_on_squares_that_underflow():
    rng = np.random.default_rng(4)
    query, rows = rng.standard_normal((1, 4)), rng.standard_normal((50, 4))
    rows -= rows @ query.T * query / (query @ query.T)  # so that products are far smaller than their terms
    items = np.concatenate([np.ldexp(rows, -540), rng.standard_normal((3, 4))])
    distance = distance_registry.make("euclidean", query, items, True)
    columns, zeros = distance.columns.column_of_item[:50], np.zeros(50, np.int64)
    band = int(distance.columns.band_of(np.array([0]))[0])
    ((_, relative, tiny),) = distance.scores.errors(1, zeros[:1], band).tolist()
    for score, row in zip(distance.scores.pair_scores(zeros, columns).tolist(), items[:50], strict=True):
        real = true_score(distance, query[0], row)
        assert abs(Fraction(score) - real) <= min(relative, 1e300) * abs(float(real)) + tiny


def test_a_distance_is_known_to_a_part_of_itself_or_of_the_query_whatever_the_norms_of_the_items():
    rng = np.random.default_rng(3)
    rows = np.ldexp(rng.standard_normal((200, 12)), rng.integers(-60, 60, (200, 1)).astype(np.int32))
    distance, queries = distance_registry.make("euclidean", rows, None, True), np.arange(200)
    absolute, relative, tiny = distance.scores.errors(len(distance.levels) - 1, queries, 0).T
    assert relative.max() < 1e-13
    assert (tiny[1:] / distance.query_norm[1:] ** 2).max() < 1e-13
    assert np.median(tiny / absolute) < 1e-20
