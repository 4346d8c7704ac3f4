"""Scores within their bounds, shifted ones, rows less their centre, and the exact closeness, against fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import oracles
import pytest
from engine.distances.true_scores import fractions, true_score
from hypothesis import given, settings
from hypothesis import strategies as st
from rationals import SignedRoot, dot, pairs_of_rows, root

import deadheat as dh
from deadheat.engine.distances import bounds, scaling
from deadheat.engine.distances import registry as distance_registry
from deadheat.inputs.source import Array


@given(pairs_of_rows, st.sampled_from(["cosine", "euclidean", "inner_product", "cityblock"]))
@settings(max_examples=200)
def test_the_closeness_of_a_pair_is_the_real_number(pairs, name):
    """Squared, with its sign, against the oracle's distance as a real number a + b√square."""
    left, right = (np.array([row], dtype=np.float64) for row in zip(*pairs, strict=True))
    closeness = distance_registry.make(name, left, right, True).exact_closeness(np.array([0]), np.array([0]))
    key = oracles.exact_key(left[0], right[0], name)
    real = {"cosine": key + 1, "euclidean": key, "inner_product": key * abs(key), "cityblock": -key * key}
    assert closeness.signed_squares() == [real[name]]


EMBEDDINGS = {
    "gaussian": lambda rng, rows: rows,
    "saturated": lambda rng, rows: 1 + 1e-3 * rows,
    "cancelling": lambda rng, rows: (
        rows + 1e4 * rng.choice([-1, 1], (len(rows), 1)) * np.where(np.arange(rows.shape[1]) % 2, 1, -1)
    ),
    "mixed": lambda rng, rows: rows * 10.0 ** rng.integers(-30, 30, (len(rows), 1)),
    "octaves": lambda rng, rows: rows * 2.0 ** rng.integers(-20, 20, (len(rows), 1)),
    "mixed in a row": lambda rng, rows: rows * 10.0 ** rng.integers(-12, 12, rows.shape),
    "probabilities": lambda rng, rows: np.exp(30 * rows) / np.exp(30 * rows).sum(axis=1, keepdims=True),
    "tiny": lambda rng, rows: np.round(rows * 8) * 5e-324,
    "huge": lambda rng, rows: rows * 1e307,
}


def embeddings_of(kind, rng, n, d):
    return EMBEDDINGS[kind](rng, rng.standard_normal((n, d)))


@pytest.mark.parametrize(
    ("kind", "dtype"),
    [
        *((kind, np.float64) for kind in EMBEDDINGS if kind != "octaves"),
        *((kind, np.float32) for kind in EMBEDDINGS if kind not in ("mixed", "tiny", "huge")),
    ],
)
@pytest.mark.parametrize("name", ["cosine", "euclidean", "inner_product", "cityblock"])
def test_scores_of_every_level_stay_within_their_bound(name, kind, dtype):
    """Tiles and single pairs of each distance against the real number that their score stands for."""
    rng = np.random.default_rng(6)
    rows = embeddings_of(kind, rng, 14, 9).astype(dtype)
    rows[3] = 0
    metric = distance_registry.make(name, rows, None, exact_only=False)
    everything = np.arange(14)
    real = real_scores(metric, rows)
    for number, level in enumerate(metric.levels):
        for position, band in enumerate(metric.columns.bands):
            columns = np.arange(*band)
            result = metric.scores.tile(number, everything, columns)
            absolute, relative, tiny = metric.scores.errors(number, everything, position).T[:, :, None]
            assert result.dtype == level.dtype
            wanted = [[real[i][j] for j in columns] for i in everything]
            check(result, np.broadcast_to(absolute, result.shape), wanted)
            sizes = np.abs(np.array(wanted, dtype=float).reshape(result.shape)) * (1 + 2.0**-40)
            check(result, np.minimum(relative, 1e200) * sizes + np.minimum(tiny, 1e200), wanted)
    rows_of, columns_of = (x.ravel() for x in np.indices((14, len(metric.columns))))
    scores = metric.scores.pair_scores(rows_of, columns_of)
    bound = metric.scores.pair_bounds(rows_of, columns_of, scores).reshape(14, -1)
    check(scores.reshape(14, -1), bound, real)
    assert name in ("euclidean", "cityblock") or not bound[3].any()  # of zeros, products are known


def real_scores(metric, rows):
    """The score of every query and column as a fraction, of rows less their centre if they have one."""
    rows = rows if metric.name == "cosine" else metric.query_raw.read(0, len(rows))
    return [[true_score(metric, query, rows[i]) for i in metric.columns.item_of_column] for query in rows]


def check(scores, bound, real):
    for i, row in enumerate(scores.tolist()):
        for j, value in enumerate(row):
            assert abs(Fraction(value) - real[i][j]) <= Fraction(float(bound[i][j])) + Fraction(1, 2**190)


@pytest.mark.parametrize("name", ["cosine", "euclidean", "inner_product", "cityblock"])
@pytest.mark.parametrize("kind", ["gaussian", "saturated", "cancelling", "mixed in a row", "tiny", "huge"])
def test_scores_turn_into_closeness_and_back_within_their_intervals(name, kind):
    """The intervals of `closeness` and `score` contain the real number, also next to the ends of float64's range."""
    rows = embeddings_of(kind, np.random.default_rng(7), 8, 5)
    metric = distance_registry.make(name, rows, None, False)
    grid = np.repeat(np.arange(8), len(metric.columns)), np.tile(np.arange(len(metric.columns)), 8)
    scores = metric.scores.pair_scores(*grid)
    bound = metric.scores.pair_bounds(*grid, scores)
    low, high = metric.closeness(grid[0], scores - bound, scores + bound)
    again_low, again_high = metric.score(grid[0], low, high)
    real = [score for line in real_scores(metric, rows) for score in line]
    closeness, pairs = metric.exact_closeness(*grid), np.arange(len(low))
    assert (closeness.compare_values(pairs, low, 1, 0) >= 0).all()
    assert (closeness.compare_values(pairs, high, 1, 0) <= 0).all()
    for position in pairs.tolist():
        if np.isfinite(again_low[position]):
            assert Fraction(float(again_low[position])) <= real[position] + Fraction(1, 2**190)
        if np.isfinite(again_high[position]):
            assert Fraction(float(again_high[position])) >= real[position] - Fraction(1, 2**190)
    if name in ("euclidean", "cityblock"):  # equal rows are at 0
        own = np.arange(8) * len(metric.columns) + metric.columns.column_of_item
        low, high = metric.score(np.arange(8), np.zeros(8), np.zeros(8))
        assert all(low[i] <= float(real[position]) <= high[i] for i, position in enumerate(own.tolist()))


def source(rows):
    return Array(np.ascontiguousarray(rows))


def near_one_point(rng, n=40, d=7, dtype=np.float64, radius=1e-6):
    return (rng.standard_normal(d) + radius * rng.standard_normal((n, d))).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("radius", [1e-6, 1e-3, 1e-12])
def test_nothing_is_lost_when_the_centre_is_taken_off(dtype, radius):
    rows = source(near_one_point(np.random.default_rng(1), dtype=dtype, radius=radius))
    centre = scaling.common_centre(rows, rows)
    assert centre is not None
    left = scaling.less(rows, centre).read(0, len(rows))
    assert left.dtype == dtype
    for row, rest in zip(rows.array, left, strict=True):
        assert [x - c for x, c in zip(fractions(row), fractions(centre), strict=True)] == fractions(rest)


@pytest.mark.parametrize("exponent", [-900, -560, 500, 900])
def test_rows_near_one_point_may_be_of_any_size(exponent):
    """Squares of such rows may overflow, or underflow."""
    rows, labels = near_one_point(np.random.default_rng(2)), np.arange(40) % 5
    assert dh.Task(np.ldexp(rows, exponent), labels).profile.digest() == dh.Task(rows, labels).profile.digest()


def test_rows_without_a_common_direction_have_no_centre():
    rng = np.random.default_rng(2)
    for rows in (rng.standard_normal((30, 5)), rng.random((30, 5)), np.zeros((3, 4)), np.array([[1e308], [-1e308]])):
        assert scaling.common_centre(source(rows), source(rows)) is None


def test_a_feature_that_changes_its_sign_keeps_its_numbers():
    rng = np.random.default_rng(3)
    rows = rng.standard_normal((30, 3))
    rows[:, 0] += 1e6
    centre = scaling.common_centre(source(rows), source(rows))
    assert centre is not None
    assert centre[0] > 9e5
    assert centre[1:].tolist() == [0, 0]


@pytest.mark.parametrize("kind", ["collapsed", "along", "one feature", "float32"])
def test_tangents_err_by_a_part_of_their_size(kind):
    rng = np.random.default_rng(4)
    rows = near_one_point(rng, n=12)
    if kind == "along":  # multiples of one row, but for little
        rows = rows[:1] * (1 + 0.01 * rng.random((12, 1))) * (1 + 1e-13 * rng.standard_normal((12, 7)))
    elif kind == "one feature":  # a time stamp
        rows = np.concatenate([rng.standard_normal((12, 6)), 1.7e9 + 3e7 * rng.random((12, 1))], axis=1)
    elif kind == "float32":
        rows = rows.astype(np.float32)
    centre = scaling.common_centre(source(rows), source(rows))
    assert centre is not None
    tangents, radius = scaling.tangents(source(rows), centre)
    bound, c = Fraction(bounds.of_tangent(rows.shape[1])), fractions(centre)
    for row, result, s in zip(rows, tangents.read(0, 12), map(Fraction, radius.tolist()), strict=True):
        x = fractions(row)
        norm, norm_of_centre = root(dot(x, x)), root(dot(c, c))
        true = [a / norm - b / norm_of_centre for a, b in zip(x, c, strict=True)]
        off = [a - b for a, b in zip(true, fractions(result), strict=True)]
        assert root(dot(off, off)) <= bound * s
        assert root(dot(true, true)) <= s


SHIFTS = [0.0, 1.0, -1.0, 0.25, -0.25, 1e-9, -1e-9, 2.0, -3.0, 0.1, -0.1, 5e-324, -5e-324, 1e300, -1e300, 17.5]


def closeness(name, q, x):
    """As signed roots."""
    if name == "hamming":
        return SignedRoot.of(Fraction(-sum((int(a) ^ int(b)).bit_count() for a, b in zip(q, x, strict=True))))
    q, x = (list(map(Fraction, row.tolist())) for row in (q, x))
    differences = [a - b for a, b in zip(q, x, strict=True)]
    if name == "euclidean":
        square = dot(differences, differences)
        return SignedRoot(-(square > 0), square.numerator, square.denominator)
    return SignedRoot.of(dot(q, x) if name == "inner_product" else -sum(map(abs, differences)))


@pytest.mark.parametrize("unit", [1.0, 0.5, 0.1])
@pytest.mark.parametrize("name", ["euclidean", "inner_product", "cityblock", "hamming"])
def test_least_scores_separate_what_is_above_a_shifted_threshold_from_what_is_below(name, unit):
    rng = np.random.default_rng(3)
    if name == "hamming":
        rows = rng.integers(0, 256, (9, 1), dtype=np.uint64)
    else:
        rows = np.concatenate([rng.integers(-2, 3, (8, 3)), [[4, 0, 0]]]) * unit
    source = rows if name == "hamming" else distance_registry.opened(rows, name, "embeddings")
    distance = distance_registry.find(name).between(source, source, False)
    assert distance.levels[-1].exact
    query, column = (index.ravel() for index in np.indices((9, len(distance.columns))))
    scores = distance.scores.pair_scores(query, column)
    items = distance.columns.item_of_column[column]
    known = [closeness(name, rows[i], rows[j]) for i, j in zip(query, items, strict=True)]
    for shift in SHIFTS:
        for above in (False, True):
            least = distance.least_scores(query, scores, shift, above)
            for p in range(0, len(query), 4):
                for other in np.flatnonzero(query == query[p]):
                    side = known[other].compare(known[p], Fraction(shift))
                    assert (scores[other] >= least[p]) == (side > 0 or (side == 0 and not above)), (shift, above)


def test_least_scores_are_unknown_where_scores_are_not_exact():
    rows = np.random.default_rng(0).standard_normal((5, 3))
    for name in ("cosine", "euclidean", "inner_product", "cityblock"):
        source = distance_registry.opened(rows, name, "embeddings")
        distance = distance_registry.find(name).between(source, source, False)
        assert distance.least_scores(np.arange(5), np.zeros(5), 0.5, False) is None
