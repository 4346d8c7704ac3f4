"""Profiles of the neighbours that an index returned, against every complete ranking that begins with them."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cache
from itertools import chain, groupby, permutations, product
from statistics import mean
from typing import Any

import graded_queries
import numpy as np
import pytest
from numpy.testing import assert_array_equal

import deadheat as dh
from deadheat.counting.neighbors import profile_neighbors
from deadheat.measures import per_query, std

NAMES = [*("mAP", "mAP@2", "MAP@R", "P@1", "P@3", "Recall@2", "Hit@2", "MRR", "F1@3", "R-Precision", "AUC", "mINP")]
GAINS = ["nDCG", "nDCG@2", "nDCG(dcg='exp-log2')@3"]


@cache
def value(name: str, ranking: tuple[int, ...]) -> Any:
    return graded_queries.value(name, ranking, [])


def nearest(scores: Sequence[int], k: int, rng: random.Random) -> list[int]:
    """The k best items, ties broken at random."""
    return sorted(range(len(scores)), key=lambda item: (-scores[item], rng.random()))[:k]


def heads(items: list[int], scores: Sequence[int]) -> Iterator[list[int]]:
    """All orders of some items in which no score rises."""
    ranked = sorted(items, key=lambda item: -scores[item])
    groups = [list(group) for _, group in groupby(ranked, key=lambda item: scores[item])]
    for orders in product(*map(permutations, groups)):
        yield list(chain(*orders))


def oracle(
    returned: list[int], scores: Sequence[int], grades: Sequence[int], name: str, cut_ties: bool
) -> tuple[Any, Any, Any]:
    """Least, expected and largest value over all complete rankings; expected is None if the rest's order matters."""
    missing = [item for item in range(len(scores)) if item not in returned]
    last = min((scores[item] for item in returned), default=None)
    tail = [*missing, *(i for i in returned if scores[i] == last and missing and cut_ties)]
    head = [item for item in returned if item not in tail]
    means, values = set(), []
    for end in permutations(tail):
        of_end = [value(name, tuple(grades[i] for i in (*start, *end))) for start in heads(head, scores)]
        values += of_end
        means.add(mean(of_end))
    return min(values), means.pop() if len(means) == 1 else None, max(values)


@pytest.mark.parametrize("graded", [False, True])
@pytest.mark.parametrize("cut_ties", [True, False])
def test_bounds_are_those_of_all_complete_rankings(graded: bool, cut_ties: bool) -> None:
    rng = random.Random(2 * graded + cut_ties)
    names = GAINS if graded else NAMES + GAINS[:1]
    unknown = known = 0
    for _ in range(50):
        n = rng.randint(1, 5)
        scores = [rng.randint(0, 3) for _ in range(n)]
        grades = [rng.choice((0, 0, 1, 2) if graded else (0, 1)) for _ in range(n)]
        if not any(grades):
            continue
        returned = nearest(scores, rng.randint(1, n), rng)
        relevant = {item: grade for item, grade in enumerate(grades) if grade}
        profile = profile_neighbors(
            [returned], [[scores[i] for i in returned]], relevant=[relevant], n_gallery=n, cut_ties=cut_ties
        )
        whole = dh.profile_scores([scores], [grades])
        for name in names:
            least, expected, most = oracle(returned, scores, grades, name, cut_ties)
            lower, mean_value, upper = (values[0] for values in per_query(profile, name))
            assert graded_queries.close(lower, least, 1e-15), (name, returned, scores, grades)
            assert graded_queries.close(upper, most, 1e-15), (name, returned, scores, grades)
            if least == least:
                if expected is None:
                    assert np.isnan(mean_value)
                    assert np.isnan(std(profile, name)[0])
                    unknown += 1
                else:
                    assert graded_queries.close(mean_value, Fraction(expected), 1e-15), (name, returned, scores, grades)
                    known += 1
            if cut_ties:  # the truth is one of these rankings
                truth = [values[0] for values in per_query(whole, name)]
                assert not lower > truth[0]
                assert not upper < truth[2]
    assert unknown > 10
    assert known > 40


def test_all_returned_is_the_profile_of_the_scores() -> None:
    rng = np.random.default_rng(0)
    scores, relevant = rng.integers(0, 5, (20, 30)), rng.integers(0, 3, (20, 30))
    order = np.argsort(-scores, axis=1, kind="stable")
    given = [dict(enumerate(row.tolist())) for row in relevant]
    profile = profile_neighbors(order, np.take_along_axis(scores, order, 1), relevant=given, n_gallery=30)
    assert profile == dh.profile_scores(scores, relevant)
    assert profile.n_ordered is None


@pytest.mark.parametrize("k", [1, 3, 10, 29])
@pytest.mark.parametrize("leave_one_out", [False, True])
def test_labels(k: int, leave_one_out: bool) -> None:
    rng = np.random.default_rng(k)
    rows, labels = rng.integers(0, 3, (30, 2)), rng.integers(0, 6, 30)
    distances = np.abs(rows[:, None] - rows[None]).sum(axis=2)
    order = np.argsort(distances, axis=1, kind="stable")[:, : k + leave_one_out]
    profile = profile_neighbors(
        order, np.take_along_axis(distances, order, 1), labels, labels, order="ascending",
        exclude=np.arange(30) if leave_one_out else None,
    )  # fmt: skip
    gallery = () if leave_one_out else (rows, labels)
    with np.errstate(all="ignore"):
        truth = dh.profile(rows, labels, *gallery, distance="cityblock")
    assert_array_equal(profile.n_ranked, truth.n_ranked)
    assert_array_equal(profile.n_relevant, truth.n_relevant)
    for name in ("mAP", "P@3", "nDCG@5", "mINP"):
        low, mid, high = per_query(profile, name)
        true_low, true_mid, true_high = per_query(truth, name)
        defined = ~np.isnan(true_low)
        assert (low[defined] <= true_low[defined]).all()
        assert (high[defined] >= true_high[defined]).all()
        known = ~np.isnan(mid)
        assert_array_equal(mid[known], true_mid[known])
