"""mAP over the hits, over min(k, R) and by the trapezoid rule, in every order of every layout of few items.

The first is not monotone: one hit more can lower it. The last has no deviation in closed form.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from fractions import Fraction
from itertools import permutations
from math import comb

import numpy as np
import pytest
from graded_queries import assert_agrees, close, profile_of, value
from numpy.testing import assert_array_equal

import deadheat as dh
from deadheat.engine.profiles.profile import TieProfile
from deadheat.measures import per_query, std
from deadheat.measures.names import parse

HITS, TRAPEZOID = "mAP(over='hits')", "mAP(interpolation='trapezoid')"
NAMES = [HITS, "mAP(over='possible')", "Recall(over='possible')", TRAPEZOID]
Layout = list[tuple[int, int, dict[int, int]]]


def layouts(n: int, closer: int = 0) -> Iterator[Layout]:
    """Yield every way to divide n items into tie groups, each with any number of relevant items."""
    if n == 0:
        yield []
    for tied in range(1, n + 1):
        for rest in layouts(n - tied, closer + tied):
            yield from ([*([(closer, tied, {1: m})] if m else []), *rest] for m in range(tied + 1))


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, pytest.param(6, marks=pytest.mark.slow)])
def test_every_order_of_every_layout_at_every_cutoff(n: int) -> None:
    queries = [(groups, n, missing) for groups in layouts(n) for missing in ([], [1])]
    profile = profile_of(queries, [1])
    for name in (TRAPEZOID, *(f"{name}@{k}" for name in NAMES for k in range(1, n + 2))):
        assert_agrees(profile, queries, name, 1e-15)


def rankings_within(points: list[int], relevant: list[bool], eps: int) -> set[tuple[int, ...]]:
    """Return the rankings in which items of unequal relevance swap ranks only if they are at most eps apart."""
    rankings = set()
    n = range(len(points))
    far = [(i, j) for i in n for j in n if relevant[i] != relevant[j] and points[j] - points[i] > eps]
    for order in permutations(n):
        rank = {item: rank for rank, item in enumerate(order)}
        if all(rank[i] < rank[j] for i, j in far):
            rankings.add(tuple(int(relevant[item]) for item in order))
    return rankings


@pytest.mark.parametrize("names", [[f"{HITS}@{k}" for k in (1, 2, 3, 5, 6)], [TRAPEZOID, f"{TRAPEZOID}@1",
                                                                              f"{TRAPEZOID}@3"]])  # fmt: skip
def test_windows_of_a_tolerance_in_every_order(names: list[str]) -> None:
    rng, wide = np.random.default_rng(4), 0
    for _ in range(12):
        points, labels = rng.integers(0, 7, 7), rng.integers(0, 2, 7)
        profile = dh.Task(points[:, None], labels, distance="cityblock", ties=dh.Tolerance(1)).profile
        bounds = {name: per_query(profile, name) for name in names}
        for query in np.flatnonzero(profile.n_relevant)[:3].tolist():
            others = [i for i in range(7) if i != query]
            distances = [abs(int(points[i] - points[query])) for i in others]
            rankings = rankings_within(distances, [bool(labels[i] == labels[query]) for i in others], 1)
            for name in names:
                values = [value(name, ranking, []) for ranking in rankings]
                lower, expected, upper = (array[query] for array in bounds[name])
                assert close(lower, min(values), 1e-15)
                assert close(upper, max(values), 1e-15)
                assert np.isnan(expected)
                wide += lower < upper
    assert wide > 30


# ---------------------------------------------------------------------------------------------------------------------
# over the hits


def test_one_hit_less_can_raise_it() -> None:
    """Rank 1 is relevant, and one of two items at ranks 11 and 12: at k = 11 it is a hit or not."""
    profile = TieProfile.from_groups([[(0, 0, 1, 1), (10, 1, 2, 1)]], n_ranked=[12])
    lower, expected, upper = per_query(profile, f"{HITS}@11")
    with_hit = (1 + Fraction(2, 11)) / 2
    assert close(lower[0], with_hit)
    assert close(expected[0], (1 + with_hit) / 2)
    assert upper[0] == 1
    assert close(std(profile, f"{HITS}@11")[0], (1 - with_hit) / 2, 1e-15)


def test_without_a_cutoff_it_is_over_the_relevant_items_that_are_ranked() -> None:
    profile = TieProfile.from_groups([[(0, 0, 3, 1), (3, 1, 1, 1)], [(1, 0, 1, 1)]], [5, 5], [2, 4])
    whole = TieProfile.from_groups([[(0, 0, 3, 1), (3, 1, 1, 1)], [(1, 0, 1, 1)]], [5, 5])
    assert_array_equal(per_query(profile, HITS), per_query(whole, "mAP"))
    assert_array_equal(per_query(profile, "mAP(over='possible')"), per_query(profile, "mAP"))


def test_the_expectation_is_unknown_where_the_rest_of_a_list_can_lower_it() -> None:
    """The best order of the rest has the lower bound, since no hit is better than one at rank 11."""
    arrays = {name: np.array(values) for name, values in {
        "offsets": [0, 2], "closer": [0, 10], "closer_relevant": [0, 1], "tied": [1, 2], "tied_relevant": [1, 1],
        "n_ranked": [12], "n_relevant": [2], "n_ordered": [10]}.items()}  # fmt: skip
    profile = TieProfile(**arrays)
    lower, expected, upper = per_query(profile, f"{HITS}@11")
    assert lower < upper
    assert np.isnan([expected, std(profile, f"{HITS}@11")]).all()
    assert_array_equal(per_query(profile, f"{HITS}@10"), 1.0)


def test_bounds_of_large_groups_are_the_extremes_over_every_number_of_hits() -> None:
    """With sums of the core for every number of hits, where only those near a bound are computed otherwise."""
    rng = np.random.default_rng(0)
    for _ in range(60):
        k = int(rng.integers(1, 300))
        n = int(rng.integers(0, k + 1))
        before = [(0, 0, k, n)] if n else []
        tied = int(rng.integers(2, 900))
        m, slots = int(rng.integers(1, tied)), int(rng.integers(1, tied))
        profile = TieProfile.from_groups([[*before, (k, n, tied, m)]], [k + tied])
        lower, _, upper = per_query(profile, f"{HITS}@{k + slots}")
        hits = [h for h in range(max(0, slots - tied + m), min(slots, m) + 1) if n + h]
        sums = [[*before, *([(k, n, slots, h)] if h else [])] for h in hits]
        of_hits = per_query(TieProfile.from_groups(sums, [k + slots] * len(hits)), "mAP")
        nothing = [0.0] if slots <= tied - m and not n else []
        assert lower[0] == pytest.approx(min([*of_hits.lower, *nothing]), rel=1e-15)
        assert upper[0] == pytest.approx(max([*of_hits.upper, *nothing]), rel=1e-15)


def expected_sum(k: int, n: int, tied: int, m: int) -> Fraction:
    """Return the expected sum of the precisions of a group, slot by slot."""
    others = Fraction(m - 1, max(tied - 1, 1))
    return sum((Fraction(m, tied) * (n + 1 + i * others) / (k + i + 1) for i in range(tied)), Fraction(0))


def test_the_expectation_of_a_large_group() -> None:
    """Added up in fractions over the hits, each with its hypergeometric chance."""
    k, n, tied, m, slots = 40, 9, 150, 30, 60
    total = sum(
        Fraction(comb(m, h) * comb(tied - m, slots - h), comb(tied, slots))
        * (expected_sum(0, 0, 40, 9) + expected_sum(k, n, slots, h)) / (n + h)
        for h in range(m + 1)
    )  # fmt: skip
    profile = TieProfile.from_groups([[(0, 0, 40, 9), (k, n, tied, m)]], [k + tied])
    assert close(per_query(profile, f"{HITS}@{k + slots}").expected[0], total, 2e-15)


def test_a_thousand_queries_at_5000_take_no_time() -> None:
    rng = np.random.default_rng(0)
    closer, tied = rng.integers(1000, 4000, 1000), rng.integers(5000, 9000, 1000)
    n, m = closer // 2, tied // 5
    second = np.stack([closer, n, tied, m], axis=1).tolist()
    groups = [[(0, 0, c, before), (c, before, t, r)] for c, before, t, r in second]
    profile = TieProfile.from_groups(groups, (closer + tied).tolist())
    start = time.perf_counter()
    lower, expected, upper = per_query(profile, f"{HITS}@5000")
    assert time.perf_counter() - start < 5  # a fraction of a second; a loop over items takes minutes
    assert ((lower < expected) & (expected < upper)).all()


def test_exploit_takes_what_is_a_sum_over_the_relevant_items() -> None:
    task = dh.Task(np.zeros((6, 1)), [0, 0, 0, 1, 1, 1])
    result = dh.exploit(task, measure="mAP(over='possible')@2", draws=2)
    assert result.bounds == pytest.approx(tuple(v.mean() for v in per_query(task.profile, "apk@2")))
    assert dh.exploit(task, measure="R_cap@1", draws=2).bounds.upper == 1
    for name in ("mAP over hits@2", TRAPEZOID):
        with pytest.raises(ValueError, match=r"^measure must be a sum over the relevant items, each by its rank, such"):
            dh.exploit(task, measure=name)


def test_levels_of_relevance() -> None:
    name = "mAP(over='hits',rel=2)@2"
    result = dh.evaluate(dh.from_scores([[3, 2, 2, 1]], [[1, 2, 0, 3]]), name)[name]
    assert (result.lower, result.upper) == (0, 0.5)
    assert parse(name).rel == parse("AP(interpolation='trapezoid',rel=2)").rel == 2


# ---------------------------------------------------------------------------------------------------------------------
# by the trapezoid rule


def test_large_groups_keep_their_digits() -> None:
    """One relevant item among a million adds the mean of 1/r, over 2, and 1/2 more where it comes first."""
    profile = TieProfile.from_groups([[(0, 0, 10**6, 1)], [(0, 0, 10**6, 10**6 - 1)]], n_ranked=[10**6] * 2)
    lower, expected, upper = per_query(profile, TRAPEZOID)
    assert close(lower[0], Fraction(1, 2 * 10**6))
    harmonic = sum(1 / np.arange(1.0, 10**6 + 1)[::-1])  # from the smallest on
    assert expected[0] == pytest.approx((1 + harmonic) / 2 / 10**6, rel=1e-13)
    assert_array_equal(upper, 1.0)
    assert lower[1] < expected[1] < 1


def test_bits_are_equal_without_ties_of_both_kinds() -> None:
    profile = TieProfile.from_groups([[(0, 0, 3, 3), (5, 3, 2, 2), (9, 5, 1, 1)], [(2, 0, 1, 1)]], n_ranked=[10, 3])
    lower, expected, upper = per_query(profile, TRAPEZOID)
    assert_array_equal(lower, expected)
    assert_array_equal(lower, upper)
    assert lower[1] == 1 / 3 / 2
