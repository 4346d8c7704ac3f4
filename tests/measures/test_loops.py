"""The loops of the core against slow ones in Python, bit by bit, on random and on hostile profiles."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import double_double
import numpy as np
import pytest
from graded_queries import profile_of, random_query
from measures import scalar_loops as loops
from numpy.testing import assert_array_equal

from deadheat import _core
from deadheat.engine.profiles.profile import TieProfile
from deadheat.measures import per_query
from deadheat.measures.discounted_gain import discount_table

NO_CUTOFF = 2**62


def large_query(rng: random.Random) -> tuple[list[loops.Group], int, int]:
    """Groups of up to some hundreds of items, often larger than what is summed one by one; far down the ranking."""
    groups, closer, seen = [], rng.choice([0, 0, 1, 64, 10**4]), 0
    for _ in range(rng.choice([0, 1, 2, 9])):
        m = rng.choice([1, 1, 2, 64, 65, 300])
        tied = m + rng.choice([0, 0, 1, 63, 200])
        groups.append((closer, seen, tied, m))
        closer, seen = closer + tied + rng.choice([0, 1, 1000]), seen + m
    return groups, closer + 7, seen + rng.choice([0, 0, 1])


@pytest.fixture(scope="module")
def queries() -> list[tuple[list[loops.Group], int, int]]:
    rng = random.Random(0)
    perfect = [([(i, i, 1, 1) for i in range(n)], n, n) for n in (1, 2, 7, 8, 9, 33, 300)]
    return [*perfect, ([], 0, 0), ([], 3, 1), *(large_query(rng) for _ in range(150))]


@pytest.fixture(scope="module")
def profile(queries) -> TieProfile:
    return TieProfile.from_groups(*map(list, zip(*queries, strict=True)))


@pytest.mark.parametrize("cutoff", [0, 1, 2, 64, 65, 100, 10**4 + 3, NO_CUTOFF])
def test_average_precision(queries, profile, cutoff: int) -> None:
    name = {0: "MAP@R", NO_CUTOFF: "mAP"}.get(cutoff, f"mAP@{cutoff}")
    assert_array_equal(
        np.array(per_query(profile, name)).T, [loops.average_precision(*query, cutoff) for query in queries]
    )


@pytest.mark.parametrize("cutoff", [1, 2, 64, 65, 100, 10**4 + 3, NO_CUTOFF])
def test_discounted_gain(queries, profile, cutoff: int) -> None:
    table = loops.discount_table(2**15)
    found = [
        loops.discounted_gain(*query, cutoff, [group[3:] for group in query[0]], [query[2]], [1.0], table)
        for query in queries
    ]
    name = "nDCG" if cutoff == NO_CUTOFF else f"nDCG@{cutoff}"
    assert_array_equal(np.array(per_query(profile, name)).T, found)


@pytest.mark.parametrize("cutoff", [1, 3, 6, NO_CUTOFF])
def test_discounted_gain_of_several_grades(cutoff: int) -> None:
    rng, grades = random.Random(1), [1, 2, 5]
    profile = profile_of([random_query(rng, grades, most) for most in (3, 8, 30) for _ in range(60)], grades)
    assert profile.tied_by_grade is not None
    assert profile.relevant_by_grade is not None
    rows = np.stack([profile.closer, profile.closer_relevant, profile.tied, profile.tied_relevant], axis=1)
    found, table = [], loops.discount_table(1024)
    for query, (i, j) in enumerate(zip(profile.offsets[:-1], profile.offsets[1:], strict=True)):
        counts = int(profile.n_ranked[query]), int(profile.n_relevant[query])
        by_grade = profile.tied_by_grade[i:j].tolist(), profile.relevant_by_grade[query].tolist()
        found.append(loops.discounted_gain(rows[i:j].tolist(), *counts, cutoff, *by_grade, [1.0, 2.0, 5.0], table))
    name = "nDCG" if cutoff == NO_CUTOFF else f"nDCG@{cutoff}"
    assert_array_equal(np.array(per_query(profile, name)).T, found)


def test_discounts_are_those_of_the_reference_in_one_call_or_in_many() -> None:
    discount, sums = loops.discount_table(2**11)
    assert_array_equal(discount_table(11)[0], discount)
    assert_array_equal(np.array(discount_table(11)[1:]).T[: len(sums)], sums)
    table = tuple(np.full_like(array, np.nan) for array in discount_table(11))
    for array in table:
        array[0] = 0.0
    for first, last in ((0, 64), (64, 64), (64, 1023), (960, 1024), (1024, 2**11 - 1)):
        _core.fill_discounts(first, last, table)
    for array, whole in zip(table, discount_table(11), strict=True):
        assert_array_equal(array[: len(sums)], whole[: len(sums)])


def mixed_groups(count: int) -> list[tuple[int, int, int, int, int]]:
    """closer, closer_relevant, tied, tied_relevant and slots."""
    rng, groups = random.Random(2), []
    for _ in range(count):
        tied = rng.choice([2, 2, 3, 4, 5, 63, 64, 65, 200])
        k = rng.choice([0, 0, 1, 64, 65 * tied, 10**5])
        groups.append((k, rng.randint(0, k), tied, rng.randint(1, tied - 1), rng.choice([tied, rng.randint(1, tied)])))
    return groups


def columns(groups: list[tuple[int, ...]]) -> list[Any]:
    return [np.array(column, dtype=np.int64) for column in zip(*groups, strict=True)]


def test_variances_of_precisions() -> None:
    groups, out = mixed_groups(300), np.empty(300)
    _core.precision_variances(*columns(groups), out)
    assert_array_equal(out, [loops.precision_variance(*group) for group in groups])


def test_spreads_of_discounts() -> None:
    groups, out = mixed_groups(300), np.empty(300)
    k, _, tied, _, slots = columns(groups)
    discount = discount_table(17)[0]
    _core.discount_deviations(k, tied, slots, discount, out)
    table = discount.tolist()
    assert_array_equal(out, [loops.discount_spread(k, size, slots, table) for k, _, size, _, slots in groups])


def uneven_groups(count: int) -> list[tuple[int, int, int, int, int]]:
    """The same, long ones among short ones, with ranks beyond the integers of float64 and slots that do not count."""
    rng, groups = random.Random(3), []
    for _ in range(count):
        tied = rng.choice([1, 2, 2, 7, 90, 3000])
        m = rng.choice([1, 2, rng.randint(1, tied), tied])
        k = rng.choice([0, 1, 2**53 - 1, 2**53 + 1, 2**60 + 129])
        groups.append((k, 0, tied, min(m, tied), rng.choice([0, 1, tied, rng.randint(0, tied)])))
    return groups


@pytest.mark.parametrize("kind", [-1, 0, 1])
@pytest.mark.parametrize("centred", [False, True])
@pytest.mark.parametrize("squared", [False, True])
@pytest.mark.parametrize("groups", [*map(mixed_groups, (0, 1, 7, 300)), uneven_groups(80)])
def test_expectations_of_the_first_or_last_hit(
    groups: list[tuple[int, ...]], kind: int, centred: bool, squared: bool
) -> None:  # fmt: skip
    out = np.empty(len(groups))
    shift = np.random.default_rng(3).random(len(groups)) / 100
    k, _, *others = columns(groups) if groups else np.empty((5, 0), dtype=np.int64)
    _core.slot_expectations((k, *others), (kind, centred, squared), shift, out)
    found = [
        loops.expectation(k, *rest, kind, centred, by, squared)
        for (k, _, *rest), by in zip(groups, shift.tolist(), strict=True)
    ]
    assert_array_equal(out, found)


def test_double_doubles_of_the_reference_has_more_digits_than_a_float() -> None:
    assert double_double.log2(2**40).value == 40.0
    for n in (3, 127, 128, 200, 1000):
        exact, found = sum(Fraction(1, i) for i in range(1, n + 1)), double_double.harmonic(n)
        assert abs(Fraction(found.high) + Fraction(found.low) - exact) < 6e-20
