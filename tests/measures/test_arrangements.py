"""The measures against every arrangement of every tie group, in exact fractions, and against known values."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import oracles
import pytest
from graded_queries import (
    BIASED_NAMES,
    EARLY_NAMES,
    GAIN_NAMES,
    INTERPOLATED_NAMES,
    NAMES,
    OVER_NAMES,
    SCALED_NAMES,
    STOPPING_NAMES,
    SUM_NAMES,
    assert_agrees,
    close,
    profile_of,
    random_query,
    root_close,
    value,
)
from numpy.testing import assert_array_equal

from deadheat.engine.profiles.profile import TieProfile
from deadheat.errors import InputError
from deadheat.measures import per_query, std


@pytest.mark.parametrize(
    ("name", "grades", "n", "most", "tolerance"),
    [
        *((name, [1], 600, {}, {}) for name in (*NAMES, "nDCG", "nDCG@3")),
        *((name, [1], 600, {}, {"tolerance": 1e-15}) for name in OVER_NAMES),
        *((name, [1, 2, 5], 150, {"most": 6}, {"tolerance": 1e-15}) for name in OVER_NAMES[2::4]),
        *((name, [1], 300, {}, {"tolerance": 4e-15}) for name in BIASED_NAMES),
        *((name, [1], 400, {}, {"tolerance": 8e-16}) for name in EARLY_NAMES),
        *((name, [1], 200, {}, {"tolerance": 4e-15, "absolute": 1e-14}) for name in SCALED_NAMES),
        *((name, [1, 2, 5], 150, {"most": 6}, {"tolerance": 2e-15}) for name in SUM_NAMES),
        *((name, [0.25, 1, 1.5], 100, {"most": 6}, {"tolerance": 2e-15}) for name in SUM_NAMES[1::2]),
        *((name, [1], 400, {}, {"tolerance": 4e-15}) for name in (*INTERPOLATED_NAMES, "11pt_avg")),
        *((name, [1, 2, 5], 150, {"most": 6}, {}) for name in (*GAIN_NAMES, "mAP", "Hit@3", "AUC")),
        *((name, [0.25, 1, 1.5], 150, {"most": 6}, {"tolerance": 8e-16}) for name in (*GAIN_NAMES, "mAP", "Hit@3")),
        *((name, [1, 2, 4], 150, {"most": 6}, {"tolerance": 2e-15}) for name in STOPPING_NAMES),
        *((name, [1], 300, {}, {"tolerance": 2e-15}) for name in STOPPING_NAMES),
        *((name, [0.375, 1, 2.5], 150, {"most": 6}, {"tolerance": 2e-15}) for name in STOPPING_NAMES),
    ],
)
def test_every_arrangement_of_random_queries(
    name: str, grades: list[int], n: int, most: dict[str, int], tolerance: dict[str, float]
) -> None:
    rng = random.Random(name)
    queries = [random_query(rng, grades, **most) for _ in range(n)]
    queries += [([(1, 1, {1: 1}), (3, 9, {1: m})], 14, []) for m in (1, 2, 5, 8)]  # one large group
    assert_agrees(profile_of(queries, grades), queries, name, **tolerance)


def test_the_rank_of_the_first_relevant_item_in_every_arrangement() -> None:
    rng = random.Random(0)
    drawn = (random_query(rng, [1]) for _ in range(500))
    queries = [(groups, n_ranked, []) for groups, n_ranked, _ in drawn if groups]
    assert_agrees(profile_of(queries, [1]), queries, "MnR", tolerance=1e-15)


def test_a_query_that_retrieved_nothing_relevant_has_no_rank() -> None:
    profile = TieProfile.from_groups([[(0, 0, 1, 1)], []], n_ranked=[3, 3], n_relevant=[1, 1])
    with pytest.raises(
        InputError, match="MnR needs a relevant item in every ranking, but 1 of 2 queries retrieved none"
    ):
        per_query(profile, "MnR")
    singleton = TieProfile.from_groups([[(1, 0, 2, 1)], []], n_ranked=[3, 3])
    assert_array_equal(per_query(singleton, "median(MnR)"), [[2, np.nan], [2.5, np.nan], [3, np.nan]])


def test_ranks_under_a_tolerance() -> None:
    """Windows overlap: the second relevant item can be first."""
    profile = TieProfile.from_groups([[(2, 0, 5, 1), (1, 0, 3, 1)]], n_ranked=[9], bounds_only=True, check=False)
    lower, expected, upper = per_query(profile, "MnR")
    assert (lower[0], upper[0]) == (2, 4)
    assert np.isnan(expected[0])


# ---------------------------------------------------------------------------------------------------------------------
# known values


def test_all_zero_embeddings() -> None:
    """1000 samples in 10 classes of 100, leave one out, everything tied."""
    profile = TieProfile.from_groups([[(0, 0, 999, 99)]] * 3, [999] * 3)
    lower, expected, upper = per_query(profile, "mAP")
    assert [f"{100 * x[0]:.4f}" for x in (lower, expected, upper)] == ["5.1773", "10.4953", "100.0000"]
    for values in (lower, expected, upper, std(profile, "mAP")):
        assert len(set(values)) == 1


def test_rank_biased_precision_is_as_accurate_far_down_as_at_the_head() -> None:
    """At rank 60 it is 2^-60, which running sums of the discounts, near 1, would round to 0."""
    profile = TieProfile.from_groups([[(59, 0, 1, 1)], [(59, 0, 3, 1)]], [60, 62])
    lower, expected, upper = per_query(profile, "RBP(p=0.5)")
    assert (lower.tolist(), upper.tolist()) == ([2.0**-60, 2.0**-62], [2.0**-60] * 2)
    assert expected.tolist() == [2.0**-60, (2.0**-60 + 2.0**-61 + 2.0**-62) / 3]


@pytest.mark.parametrize(("p", "k"), [("0.8", 10), ("0.5", 10), ("0.95", 10), ("0.8", None), ("0.95", None)])
def test_rank_biased_precision_of_a_group_larger_than_memory(p: str, k: int | None) -> None:
    """Three relevant items among 10^10: only the ranks that count have a discount in memory."""
    size, q = 10**10, Fraction(p)
    total, squares = 1 - q ** (k or 20_000), (1 - q) ** 2 * (1 - q ** (2 * (k or 20_000))) / (1 - q**2)
    profile = TieProfile.from_groups([[(0, 0, size, 3)]], n_ranked=[size])
    name = f"RBP(p={p})" + ("" if k is None else f"@{k}")
    lower, expected, upper = per_query(profile, name)
    variance = Fraction(3 * (size - 3), size * (size - 1)) * (squares - total**2 / size)
    assert lower[0] == 0
    assert close(expected[0], Fraction(3, size) * total, 1e-14)
    assert close(upper[0], 1 - q**3, 1e-15)
    assert root_close(std(profile, name)[0], variance, 1e-12)


def test_a_maximum_over_a_group_larger_than_memory_has_bounds_only() -> None:
    profile = TieProfile.from_groups([[(0, 0, 10**10, 3)]], n_ranked=[10**10])
    lower, expected, upper = per_query(profile, "IPrec@0.1")
    assert (lower[0], upper[0]) == (3e-10, 1)
    assert np.isnan(expected[0])


def test_a_perfect_ranking_is_exactly_one() -> None:
    groups = [[(a, a, 1, 1) for a in range(m)] for m in (1, 2, 3, 7, 100, 1000)] + [[(0, 0, 5000, 5000)]]
    profile = TieProfile.from_groups(groups, [10**4] * len(groups))
    for name in ("mAP", "MAP@R", "R-Precision", "MRR", "nDCG", "mINP", "AUC", "Hit@1", "P@1"):
        for values in per_query(profile, name):
            assert_array_equal(values, 1.0)


def test_a_perfect_graded_ranking_is_exactly_one() -> None:
    rng = random.Random(5)
    grades = [1, 3, 4]
    for _ in range(50):
        counts = {g: rng.randint(0, 60) for g in grades}
        ranked = sorted((g for g in grades for _ in range(counts[g])), reverse=True) or [1]
        queries = [([(i, 1, {g: 1}) for i, g in enumerate(ranked)], len(ranked), [])]
        for name in GAIN_NAMES:
            assert [x[0] for x in per_query(profile_of(queries, grades), name)] == [1, 1, 1]


def test_a_maximum_over_too_many_orders_has_bounds_only() -> None:
    profile = TieProfile.from_groups([[(0, 0, 900, 90)], [(0, 0, 60, 2)]], [900, 60])
    lower, expected, upper = per_query(profile, "IPrec@0.5")
    assert_array_equal(np.isnan(expected), [True, False])
    assert_array_equal(lower, [90 / 900, 2 / 60])
    assert_array_equal(upper, [1.0, 1.0])
    assert np.isnan(std(profile, "IPrec@0.5")[0])


# ---------------------------------------------------------------------------------------------------------------------
# undefined, missing, windows


@pytest.mark.parametrize("name", [*NAMES, *OVER_NAMES, *GAIN_NAMES])
def test_nothing_relevant_is_undefined_and_nothing_found_is_zero(name: str) -> None:
    for groups, ranked, relevant, expected in (([[], []], [5, 5], [0, 2], [np.nan, 0.0]), ([], [], [], [])):
        profile = TieProfile.from_groups(groups, ranked, relevant)
        for values in (*per_query(profile, name), std(profile, name)):
            assert_array_equal(values, expected)


def test_auc_needs_an_irrelevant_item() -> None:
    profile = TieProfile.from_groups([[(0, 0, 2, 2)], [(0, 0, 3, 2)]], [2, 3])
    assert_array_equal(per_query(profile, "AUC").expected, [np.nan, 0.5])
    assert_array_equal(np.isnan(std(profile, "AUC")), [True, False])


@pytest.mark.parametrize("name", NAMES)
def test_windows_of_a_tolerance(name: str) -> None:
    rng = np.random.default_rng(3)
    for _ in range(12):
        points, labels = rng.integers(0, 9, size=(9, 1)), rng.integers(0, 3, size=9)
        queries = oracles.profile(points, labels, distance="cityblock", ties=("tolerance", 1))
        columns = [[q[key] for q in queries] for key in ("groups", "n_ranked", "n_relevant")]
        profile = TieProfile.from_groups(*columns, bounds_only=True)
        lower, expected, upper = per_query(profile, name)
        assert np.isnan(expected).all()
        assert np.isnan(std(profile, name)).all()
        for i, query in enumerate(queries):
            if query["n_relevant"]:
                worst, best = oracles.bounding_rankings(query["groups"], query["n_ranked"])
                assert close(lower[i], value(name, worst, []))
                assert close(upper[i], value(name, best, []))


def test_grades_too_large_for_an_exponential_gain() -> None:
    queries = [([(0, 2, {1: 1, 600: 1})], 2, [])]
    profile = profile_of(queries, [1, 600])
    assert 0 < per_query(profile, "nDCG").lower[0] < 1
    with pytest.raises(ValueError, match="grades up to 500, but one is 600"):
        per_query(profile, "nDCG(dcg='exp-log2')")
