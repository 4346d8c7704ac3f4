"""mAP by the trapezoid rule: the loop of compute_ap.cpp in fractions, in every order of every layout of few items."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import oracles
import pytest
from graded_queries import close, profile_of
from numpy.testing import assert_array_equal
from test_over_hits import layouts, within

import deadheat as dh
from deadheat.engine.profiles.profile import TieProfile
from deadheat.measures import per_query, std
from deadheat.measures.names import parse

NAME = "mAP(interpolation='trapezoid')"


def compute_ap(ranking: Sequence[int], missing: Sequence[int], k: int | None = None) -> Fraction:
    """The loop of compute_ap.cpp: old_recall 0 and old_precision 1, and the precision behind every item."""
    old_recall, old_precision, ap = Fraction(0), Fraction(1), Fraction(0)
    found, n = 0, sum(ranking) + len(missing)
    for j, relevant in enumerate(ranking[:k]):
        found += relevant
        recall, precision = Fraction(found, n), Fraction(found, j + 1)
        ap += (recall - old_recall) * (old_precision + precision) / 2
        old_recall, old_precision = recall, precision
    return ap


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, pytest.param(6, marks=pytest.mark.slow)])
def test_every_order_of_every_layout(n: int) -> None:
    queries = [(groups, n, missing) for groups in layouts(n) for missing in ([], [1])]
    profile = profile_of(queries, [1])
    for k in (None, *range(1, n + 2)):
        name = NAME if k is None else f"{NAME}@{k}"
        lower, expected, upper = per_query(profile, name)
        deviation = std(profile, name)
        for i, (groups, n_ranked, missing) in enumerate(queries):
            if not groups and not missing:
                assert np.isnan([lower[i], expected[i], upper[i], deviation[i]]).all()
                continue
            low, mean, high, _ = oracles.arrangement_values_graded(
                groups, n_ranked, lambda ranking, missing=missing, k=k: compute_ap(ranking, missing, k)
            )
            assert close(lower[i], low, 1e-15), (k, queries[i])
            assert close(expected[i], mean, 1e-15), (k, queries[i])
            assert close(upper[i], high, 1e-15), (k, queries[i])
            assert np.isnan(deviation[i]) if low < high else deviation[i] == 0


def test_windows_of_a_tolerance_in_every_order() -> None:
    rng, narrow = np.random.default_rng(5), 0
    for _ in range(8):
        points, labels = rng.integers(0, 7, 7), rng.integers(0, 2, 7)
        profile = dh.Task(points[:, None], labels, distance="cityblock", ties=dh.Tolerance(1)).profile
        for k in (None, 1, 3):
            bounds = per_query(profile, NAME if k is None else f"{NAME}@{k}")
            for query in np.flatnonzero(profile.n_relevant)[:3].tolist():
                others = [i for i in range(7) if i != query]
                distances = [abs(int(points[i] - points[query])) for i in others]
                rankings = within(distances, [bool(labels[i] == labels[query]) for i in others], 1)
                values = [compute_ap(ranking, [], k) for ranking in rankings]
                lower, expected, upper = (each[query] for each in bounds)
                assert close(lower, min(values), 1e-15)
                assert close(upper, max(values), 1e-15)
                assert np.isnan(expected)
                narrow += lower < upper
    assert narrow > 20


def test_large_groups_keep_their_digits() -> None:
    """One relevant item among a million adds the mean of 1/r, over 2, and 1/2 more where it comes first."""
    profile = TieProfile.from_groups([[(0, 0, 10**6, 1)], [(0, 0, 10**6, 10**6 - 1)]], n_ranked=[10**6] * 2)
    lower, expected, upper = per_query(profile, NAME)
    assert close(lower[0], Fraction(1, 2 * 10**6))
    harmonic = sum((Fraction(1, r) for r in range(1, 1000)), Fraction(0))  # H(999), and H(10^6) - H(999) by Euler
    rest = sum(np.float64(1) / np.arange(1000, 10**6 + 1, dtype=np.float64)[::-1])
    assert expected[0] == pytest.approx((1 + float(harmonic) + rest) / 2 / 10**6, rel=1e-13)
    assert_array_equal(upper, 1.0)
    assert lower[1] < expected[1] < 1


def test_bits_are_equal_without_ties_of_both_kinds() -> None:
    profile = TieProfile.from_groups([[(0, 0, 3, 3), (5, 3, 2, 2), (9, 5, 1, 1)], [(2, 0, 1, 1)]], n_ranked=[10, 3])
    lower, expected, upper = per_query(profile, NAME)
    assert_array_equal(lower, expected)
    assert_array_equal(lower, upper)
    assert lower[1] == 1 / 3 / 2


@pytest.mark.parametrize(
    "name", ["trapezoid AP", "AP(interpolation=trapezoid)", "oxford_mAP", 'mAP(interpolation="trapezoid")']
)
def test_spellings(name: str) -> None:
    assert parse(name).name == NAME
    assert parse(f"{name}@10").name == f"{NAME}@10"


def test_it_has_no_sum_to_search_and_takes_no_other_divisor() -> None:
    with pytest.raises(
        ValueError, match="measure must be a sum over the relevant items, each by its rank, such as mAP, but"
    ):
        dh.exploit(dh.Task(np.zeros((4, 1)), [0, 0, 1, 1]), measure=NAME)
    with pytest.raises(ValueError, match=r"mAP takes over='relevant', .*interpolation='trapezoid', and rel=2"):
        parse("mAP(over='hits',interpolation='trapezoid')@5")
    assert parse("AP(interpolation='trapezoid',rel=2)").rel == 2
