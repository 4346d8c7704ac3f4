"""mAP over the hits: every layout of few items in every order, windows of a tolerance, and how long large ties take."""

from __future__ import annotations

import time
from collections.abc import Iterator
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from graded_queries import assert_agrees, close, profile_of, value
from numpy.testing import assert_array_equal

import deadheat as dh
from deadheat.engine.profiles.profile import TieProfile
from deadheat.measures import per_query, std
from deadheat.measures.names import parse

Layout = list[tuple[int, int, dict[int, int]]]


def layouts(n: int, closer: int = 0) -> Iterator[Layout]:
    """Every way to divide n items into tie groups, each with any number of relevant items."""
    if n == 0:
        yield []
    for tied in range(1, n + 1):
        for rest in layouts(n - tied, closer + tied):
            yield from ([*([(closer, tied, {1: m})] if m else []), *rest] for m in range(tied + 1))


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, pytest.param(6, marks=pytest.mark.slow)])
def test_every_order_of_every_layout_at_every_cutoff(n: int) -> None:
    queries = [(groups, n, missing) for groups in layouts(n) for missing in ([], [1])]
    profile = profile_of(queries, [1])
    for k in range(1, n + 2):
        for name in (f"mAP(over='hits')@{k}", f"mAP(over='possible')@{k}", f"Recall(over='possible')@{k}"):
            assert_agrees(profile, queries, name, 1e-15)


def test_one_hit_less_can_raise_it() -> None:
    """Rank 1 is relevant, and one of two items at ranks 11 and 12: at k = 11 it is found, or is not."""
    profile = TieProfile.from_groups([[(0, 0, 1, 1), (10, 1, 2, 1)]], n_ranked=[12])
    lower, expected, upper = per_query(profile, "mAP(over='hits')@11")
    found = (1 + Fraction(2, 11)) / 2
    assert close(lower[0], found)
    assert close(expected[0], (1 + found) / 2)
    assert upper[0] == 1
    assert close(std(profile, "mAP(over='hits')@11")[0], (1 - found) / 2, 1e-15)


def test_without_a_cutoff_it_is_over_the_relevant_items_that_are_ranked() -> None:
    profile = TieProfile.from_groups([[(0, 0, 3, 1), (3, 1, 1, 1)], [(1, 0, 1, 1)]], [5, 5], [2, 4])
    whole = TieProfile.from_groups([[(0, 0, 3, 1), (3, 1, 1, 1)], [(1, 0, 1, 1)]], [5, 5])
    for got, there in zip(per_query(profile, "mAP(over='hits')"), per_query(whole, "mAP"), strict=True):
        assert_array_equal(got, there)
    assert_array_equal(per_query(profile, "mAP(over='possible')"), per_query(profile, "mAP"))


def test_the_expectation_is_unknown_where_the_rest_of_a_list_can_lower_it() -> None:
    """The best order of the rest has the lower bound, since no hit is better than one at rank 11."""
    arrays = {name: np.array(values) for name, values in {
        "offsets": [0, 2], "closer": [0, 10], "closer_relevant": [0, 1], "tied": [1, 2], "tied_relevant": [1, 1],
        "n_ranked": [12], "n_relevant": [2], "n_ordered": [10]}.items()}  # fmt: skip
    profile = TieProfile(**arrays)
    lower, expected, upper = per_query(profile, "mAP(over='hits')@11")
    assert lower < upper
    assert np.isnan([expected, std(profile, "mAP(over='hits')@11")]).all()
    assert_array_equal(per_query(profile, "mAP(over='hits')@10"), 1.0)


def within(points: list[int], relevant: list[bool], eps: int) -> set[tuple[int, ...]]:
    """The rankings in which a relevant and an irrelevant item change places only if they are at most eps apart."""
    found = set()
    for order in permutations(range(len(points))):
        place = {item: rank for rank, item in enumerate(order)}
        if all(
            place[i] < place[j]
            for i in order
            for j in order
            if relevant[i] != relevant[j] and points[j] - points[i] > eps
        ):
            found.add(tuple(int(relevant[item]) for item in order))
    return found


def test_windows_of_a_tolerance_in_every_order() -> None:
    rng, narrow = np.random.default_rng(4), 0
    for _ in range(12):
        points, labels = rng.integers(0, 7, 7), rng.integers(0, 2, 7)
        profile = dh.Task(points[:, None], labels, distance="cityblock", ties=dh.Tolerance(1)).profile
        names = [f"mAP(over='hits')@{k}" for k in (1, 2, 3, 5, 6)]
        bounds = {name: per_query(profile, name) for name in names}
        for query in np.flatnonzero(profile.n_relevant)[:3].tolist():
            others = [i for i in range(7) if i != query]
            distances = [abs(int(points[i] - points[query])) for i in others]
            rankings = within(distances, [bool(labels[i] == labels[query]) for i in others], 1)
            for name in names:
                values = [value(name, ranking, []) for ranking in rankings]
                lower, expected, upper = (each[query] for each in bounds[name])
                assert close(lower, min(values), 1e-15)
                assert close(upper, max(values), 1e-15)
                assert np.isnan(expected)
                narrow += lower < upper
    assert narrow > 30


def test_bounds_of_large_groups_are_the_extremes_over_every_number_of_hits() -> None:
    """With sums of the core for every number of hits, where only those near a bound are computed otherwise."""
    rng = np.random.default_rng(0)
    for _ in range(60):
        k, before = int(rng.integers(1, 300)), []
        n = int(rng.integers(0, k + 1))
        if n:
            before = [(0, 0, k, n)]
        tied = int(rng.integers(2, 900))
        m, slots = int(rng.integers(1, tied)), int(rng.integers(1, tied))
        profile = TieProfile.from_groups([[*before, (k, n, tied, m)]], [k + tied])
        lower, _, upper = per_query(profile, f"mAP(over='hits')@{k + slots}")
        hits = [h for h in range(max(0, slots - tied + m), min(slots, m) + 1) if n + h]
        sums = [[*before, *([(k, n, slots, h)] if h else [])] for h in hits]
        each = per_query(TieProfile.from_groups(sums, [k + slots] * len(hits)), "mAP")
        nothing = [0.0] if slots <= tied - m and not n else []
        assert lower[0] == pytest.approx(min([*each.lower, *nothing]), rel=1e-15)
        assert upper[0] == pytest.approx(max([*each.upper, *nothing]), rel=1e-15)


def test_the_expectation_of_a_large_group() -> None:
    """Added up in fractions over the hits, each with its hypergeometric chance."""
    k, n, tied, m, slots = 40, 9, 150, 30, 60
    groups = [(0, 0, 40, 9), (k, n, tied, m)]
    before = expected_sum(0, 0, 40, 9)
    total = sum(
        Fraction(ways(m, h) * ways(tied - m, slots - h), ways(tied, slots))
        * (before + expected_sum(k, n, slots, h)) / (n + h)
        for h in range(m + 1)
    )  # fmt: skip
    profile = TieProfile.from_groups([groups], [k + tied])
    assert close(per_query(profile, f"mAP(over='hits')@{k + slots}").expected[0], total, 2e-15)


def ways(n: int, k: int) -> int:
    return int(np.prod([Fraction(n - i, i + 1) for i in range(k)], initial=Fraction(1))) if 0 <= k <= n else 0


def expected_sum(k: int, n: int, tied: int, m: int) -> Fraction:
    """The expected sum of the precisions of a group, slot by slot."""
    others = Fraction(m - 1, max(tied - 1, 1))
    return sum((Fraction(m, tied) * (n + 1 + i * others) / (k + i + 1) for i in range(tied)), Fraction(0))


def test_a_thousand_queries_at_5000_take_no_time() -> None:
    rng = np.random.default_rng(0)
    closer, tied = rng.integers(1000, 4000, 1000), rng.integers(5000, 9000, 1000)
    relevant, m = closer // 2, tied // 5
    groups = [[(0, 0, int(c), int(n)), (int(c), int(n), int(t), int(r))]
              for c, t, n, r in zip(closer, tied, relevant, m, strict=True)]  # fmt: skip
    profile = TieProfile.from_groups(groups, (closer + tied).tolist())
    start = time.perf_counter()
    lower, expected, upper = per_query(profile, "mAP(over='hits')@5000")
    assert time.perf_counter() - start < 5  # a fraction of a second; a loop over items takes minutes
    assert ((lower < expected) & (expected < upper)).all()


def test_exploit_takes_what_is_a_sum_over_the_relevant_items() -> None:
    task = dh.Task(np.zeros((6, 1)), [0, 0, 0, 1, 1, 1])
    found = dh.exploit(task, measure="mAP(over='possible')@2", draws=2)
    assert found.bounds == pytest.approx(tuple(v.mean() for v in per_query(task.profile, "apk@2")))
    assert dh.exploit(task, measure="R_cap@1", draws=2).bounds.upper == 1
    with pytest.raises(
        ValueError, match=r"^measure must be a sum over the relevant items.*but is mAP\(over='hits'\)@2$"
    ):
        dh.exploit(task, measure="mAP over hits@2")


def test_levels_of_relevance() -> None:
    task = dh.Task.from_scores([[3, 2, 2, 1]], [[1, 2, 0, 3]])
    report = dh.evaluate(task, "mAP(over='hits',rel=2)@2")
    assert report["mAP(over='hits',rel=2)@2"].lower == 0
    assert report["mAP(over='hits',rel=2)@2"].upper == 0.5
    assert parse("mAP(over='hits',rel=2)@2").rel == 2
