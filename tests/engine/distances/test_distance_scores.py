"""Scores of all distances within their bounds, and the exact closeness, against fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import oracles
import pytest
from engine.distances.true_scores import true_score
from hypothesis import given, settings
from hypothesis import strategies as st
from rationals import pairs_of_rows

from deadheat.engine.distances import registry as distance_registry


@given(pairs_of_rows, st.sampled_from(["cosine", "euclidean", "inner_product", "cityblock"]))
@settings(max_examples=200)
def test_the_closeness_of_a_pair_is_the_real_number(pairs, name):
    """Squared, with its sign, against the oracle's distance as a real number a + b√square."""
    left, right = (np.array([row], dtype=np.float64) for row in zip(*pairs, strict=True))
    closeness = distance_registry.make(name, left, right, True).exact_closeness(np.array([0]), np.array([0]))
    (found,) = closeness.signed_squares()
    key = oracles.exact_key(left[0], right[0], name)
    assert (
        found == {"cosine": key + 1, "euclidean": key, "inner_product": key * abs(key), "cityblock": -key * key}[name]
    )


def embeddings_of(kind, rng, n, d):
    rows = rng.standard_normal((n, d))
    if kind == "saturated":
        rows = 1 + 1e-3 * rows
    elif kind == "cancelling":
        rows = rows + 1e4 * rng.choice([-1, 1], (n, 1)) * np.where(np.arange(d) % 2, 1, -1)
    elif kind == "mixed":
        rows = rows * 10.0 ** rng.integers(-30, 30, (n, 1))
    elif kind == "octaves":
        rows = rows * 2.0 ** rng.integers(-20, 20, (n, 1))
    elif kind == "mixed in a row":
        rows = rows * 10.0 ** rng.integers(-12, 12, (n, d))
    elif kind == "probabilities":
        rows = np.exp(30 * rows)
        rows /= rows.sum(axis=1, keepdims=True)
    elif kind == "tiny":
        rows = np.round(rows * 8) * 5e-324
    elif kind == "huge":
        rows = rows * 1e307
    return rows


@pytest.mark.parametrize(
    ("kind", "dtype"),
    [
        (kind, np.float64)
        for kind in ("gaussian", "saturated", "cancelling", "mixed", "mixed in a row", "probabilities", "tiny", "huge")
    ]
    + [
        (kind, np.float32)
        for kind in ("gaussian", "saturated", "cancelling", "octaves", "mixed in a row", "probabilities")
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
        for place, band in enumerate(metric.columns.bands):
            columns = np.arange(*band)
            found = metric.scores.tile(number, everything, columns)
            absolute, relative, tiny = metric.scores.reach(number, everything, place).T[:, :, None]
            assert found.dtype == level.dtype
            wanted = [[real[i][j] for j in columns] for i in everything]
            check(found, np.broadcast_to(absolute, found.shape), wanted)
            sizes = np.abs(np.array(wanted, dtype=float).reshape(found.shape)) * (1 + 2.0**-40)
            check(found, np.minimum(relative, 1e200) * sizes + np.minimum(tiny, 1e200), wanted)
    rows_of, columns_of = (x.ravel() for x in np.indices((14, len(metric.columns))))
    scores = metric.scores.pair_scores(rows_of, columns_of)
    check(scores.reshape(14, -1), metric.scores.pair_bounds(rows_of, columns_of, scores).reshape(14, -1), real)


def real_scores(metric, rows):
    """The score of every query and column as a fraction, of rows less their centre if they have one."""
    rows = rows if metric.name == "cosine" else metric.query_raw.read(0, len(rows))
    return [[true_score(metric, query, rows[i]) for i in metric.columns.item_of_column] for query in rows]


def check(found, bound, real):
    for i, row in enumerate(found.tolist()):
        for j, value in enumerate(row):
            assert abs(Fraction(value) - real[i][j]) <= Fraction(float(bound[i][j])) + Fraction(1, 2**190)


@pytest.mark.parametrize("name", ["cosine", "euclidean", "inner_product", "cityblock"])
@pytest.mark.parametrize("kind", ["gaussian", "saturated", "cancelling", "mixed in a row", "tiny", "huge"])
def test_scores_turn_into_closeness_and_back_within_their_intervals(name, kind):
    """What `closeness` and `score` return contains the real number, also next to the ends of float64's range."""
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
    for place in pairs.tolist():
        if np.isfinite(again_low[place]):
            assert Fraction(float(again_low[place])) <= real[place] + Fraction(1, 2**190)
        if np.isfinite(again_high[place]):
            assert Fraction(float(again_high[place])) >= real[place] - Fraction(1, 2**190)
