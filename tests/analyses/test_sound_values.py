"""Means of precisions where one query has no expectation, behind a cut, and of long groups; thresholds that accept."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import deadheat as dh
from deadheat import TieProfile
from deadheat.analyses.precision_recall import expected_reciprocals
from deadheat.measures.first_last_hit import reciprocal_moments

RNG = np.random.default_rng(0)
PAIRS = dh.Task(np.zeros((4, 1)), [0, 0, 1, 1])


def test_a_query_without_an_expectation_leaves_the_mean_without_one() -> None:
    profile = TieProfile.from_groups([[(0, 0, 1, 1)], [(0, 0, 4000, 1000)]], n_ranked=[5000, 5000])
    result = dh.precision_recall(profile, levels=3, interpolate=True)
    assert np.isnan(result.expected).all()
    assert not np.isnan(result.lower).any()
    assert "interpolate=False" in str(result)
    known = dh.precision_recall(profile, levels=3)
    assert (known.lower <= known.expected).all()
    assert (known.expected <= known.upper).all()


def test_what_was_not_returned_has_bounds_and_no_expectation() -> None:
    profile = dh.from_neighbors([["d7", "d2"]], [[0.9, 0.4]], relevant=[{"d7", "d5"}], n_gallery=1000).profile
    result = dh.precision_recall(profile, levels=3)
    assert result.lower.tolist() == [1, 1, 2 / 1000]
    assert result.upper.tolist() == [1, 1, 1]
    assert result.expected[:2].tolist() == [1, 1]
    assert math.isnan(result.expected[2])
    assert math.isnan(dh.precision_recall(profile, 0).expected[1])


@pytest.mark.parametrize(("k", "tied", "m", "a"), [(0, 5, 2, 1), (3, 9, 4, 4), (7, 12, 1, 1), (2, 300, 40, 17)])
def test_the_mean_of_one_over_the_rank_of_each_item(k: int, tied: int, m: int, a: int) -> None:
    chances = [math.comb(i - 1, a - 1) * math.comb(tied - i, m - a) for i in range(a, tied - m + a + 1)]
    total = sum(Fraction(chance, k + i) for i, chance in enumerate(chances, a))
    (mean,) = expected_reciprocals(*np.array([[k], [tied], [m], [a]]))
    assert mean == pytest.approx(float(total / math.comb(tied, m)), rel=1e-14)


def test_groups_have_the_same_means_together_as_alone() -> None:
    m = RNG.integers(1, 30, 101)
    tied, a, k = m + RNG.choice([0, 1, 50, 3000], 101), RNG.integers(1, m + 1), RNG.choice([0, 1, 1000], 101)
    groups = np.array([k, tied, m, a])
    alone = [expected_reciprocals(*group[:, None]) for group in groups.T]
    np.testing.assert_array_equal(expected_reciprocals(*groups), np.concatenate(alone))


@pytest.mark.parametrize(("k", "size", "slots"), [(0, 20_000, 20_000), (3, 300, 250), (10**6, 20_000, 19_000)])
def test_moments_of_one_over_the_rank_are_exact(k: int, size: int, slots: int) -> None:
    ranks = range(k + 1, k + slots + 1)
    scale = 1 << 200  # sums of fractions of 200 digits, far more than float64 has
    first, second = (Fraction(sum(scale // rank**power for rank in ranks), scale * size) for power in (1, 2))
    mean, variance = reciprocal_moments(*np.array([[k], [size], [slots]]))[:, 0]
    assert mean == pytest.approx(float(first), rel=2e-16)
    assert variance == pytest.approx(float(second - first**2), rel=1e-15)


def test_long_groups_take_the_closed_form_and_short_ones_agree() -> None:
    long = dh.from_ranks([1], [10**12], 10**12).profile
    triple = dh.measures.per_query(long, "MRR")
    assert triple.expected[0] == pytest.approx((math.log(10**12) + 0.5772156649015329) / 10**12, rel=1e-11)
    assert dh.measures.std(long, "MRR")[0] == pytest.approx(math.sqrt(math.pi**2 / 6 / 10**12), rel=1e-9)
    with pytest.raises(ValueError, match=r"^nDCG needs a table of 8 bytes for each of up to \d+ ranks"):
        dh.evaluate(long, "nDCG")
    assert dh.evaluate(long, "nDCG@10")["nDCG@10"].upper == 1
    for n in (2**14 - 1, 2**14, 2**14 + 1):  # a loop below, a closed form from there on
        result = dh.measures.per_query(dh.from_ranks([6], [5 + n], 2 * n).profile, "MRR").expected[0]
        assert result == math.fsum(1 / rank for rank in range(6, 6 + n)) / n


@pytest.mark.parametrize("distance", ["cosine", "euclidean", "inner_product", "cityblock"])
def test_thresholds_of_pairs_are_the_exact_closeness_rounded_down(distance: str) -> None:
    rows = RNG.normal(size=(40, 3))
    rows[20:] = rows[:20] + RNG.choice([0, 1e-9], (20, 1))
    pairs = np.column_stack([np.arange(20), np.arange(20, 40)])
    positive = np.arange(20) % 2 == 0
    result = dh.pair_classification(rows, pairs, positive, distance=distance)
    for level in result._levels:
        assert -math.inf < level <= (1 if distance == "cosine" else math.inf)
    if distance == "cityblock":
        exact = [
            -sum(abs(Fraction(a) - Fraction(b)) for a, b in zip(*rows[pair].tolist(), strict=True)) for pair in pairs
        ]
        for level in result._levels.tolist():
            assert any(level <= value < Fraction(np.nextafter(level, np.inf)) for value in exact)
    same = dh.pair_classification([[0.1, 0.2], [0.1, 0.2], [1, 0.0]], [[0, 1], [0, 2]], [1, 0], distance=distance)
    expected = {"cosine": 1, "euclidean": 0, "cityblock": 0}.get(distance)
    assert expected is None or same["best F1"].threshold == expected


def test_an_integer_threshold_is_kept_where_floats_have_none() -> None:
    assert dh.classification([2**53 + 1, 2**53], [1, 0])["best accuracy"].threshold == 2**53 + 1
    assert isinstance(dh.classification([3, 2], [1, 0])["best accuracy"].threshold, float)


@pytest.mark.parametrize("weights", [[1e306] * 2, [1e308] * 2, [5e-324] * 2])
def test_weights_of_any_size(weights: list[float]) -> None:
    profile = dh.from_ranks([1, 2], [2, 4], [3000, 3000]).profile
    plain, weighted = dh.link_prediction(profile), dh.link_prediction(profile, weights=weights)
    for name in plain:
        assert weighted[name] == pytest.approx(plain[name], rel=1e-15)
    per_relation = dh.link_prediction(profile, weights=[5e-324, 1e308], relations=["a", "b"])
    assert per_relation["MR"] == pytest.approx(plain["MR"])


def test_the_set_of_a_range_search_is_what_was_returned() -> None:
    run, qrels = {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}, {"q": {"a": 1, "z": 1}}
    result = [["a", "b", "c"]], [[3.0, 2.0, 1.0]]
    cut = dh.from_neighbors(*result, relevant=[{"a", "z"}], n_gallery=50, cut_ties=False)
    for name in ("SetP", "SetR", "SetF", "SetAP", "SetRelP"):
        ours, theirs = (dh.evaluate(task, name)[name] for task in (cut, dh.from_run(run, qrels)))
        assert (ours.lower, ours.expected, ours.upper) == (theirs.lower, theirs.expected, theirs.upper)
