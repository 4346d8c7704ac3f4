"""All pairs tested together: adjusted p-values against every flip in plain Python, and the ranks that follow."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from deadheat.reports.statistics import joint, permutation
from deadheat.reports.statistics.joint import adjusted_pvalues, inseparable_blocks, rank_intervals

GRID = st.lists(st.lists(st.integers(0, 3), min_size=4, max_size=4), min_size=2, max_size=4)


def by_enumeration(values: list[list[int]]) -> dict[tuple[int, int], Fraction]:
    """Return the adjusted p-value of each ordered pair that differs, by the definition of step-down max-T.

    A squared statistic has the sign of the sum, so that all comparisons are of fractions.
    """
    pairs = [pair for pair in itertools.permutations(range(len(values)), 2) if values[pair[0]] != values[pair[1]]]
    differences = {pair: [a - b for a, b in zip(values[pair[0]], values[pair[1]], strict=True)] for pair in pairs}

    def statistic(pair: tuple[int, int], signs: tuple[int, ...]) -> Fraction:
        total = sum(sign * d for sign, d in zip(signs, differences[pair], strict=True))
        return Fraction(total * abs(total), sum(d * d for d in differences[pair]))

    flips = list(itertools.product((1, -1), repeat=len(values[0])))
    observed = {pair: statistic(pair, flips[0]) for pair in pairs}
    adjusted: dict[tuple[int, int], Fraction] = {}
    largest, left = Fraction(0), set(pairs)
    for pair in sorted(pairs, key=lambda pair: -observed[pair]):
        at_least = sum(max(statistic(other, signs) for other in left) >= observed[pair] for signs in flips)
        largest = max(largest, Fraction(at_least, len(flips)))
        adjusted[pair] = largest
        left.remove(pair)
    return adjusted


@given(GRID)
def test_adjusted_p_values_are_those_of_every_flip(values: list[list[int]]) -> None:
    adjusted = adjusted_pvalues(np.array(values, dtype=np.float64), 9999, 0)
    expected = by_enumeration(values)
    observed = np.array(values).sum(axis=1)
    for i, j in itertools.permutations(range(len(values)), 2):
        if observed[i] > observed[j]:  # the others are not rejected at any level that anybody uses
            ties = [pair for pair in expected if expected[pair] == expected[i, j]]
            assert adjusted[i, j] == expected[i, j] or len(ties) > 1
        else:
            assert adjusted[i, j] == 1 or observed[i] == observed[j]


def test_of_two_systems_it_is_the_two_sided_sign_flip_test() -> None:
    rng = np.random.default_rng(5)
    values = rng.integers(0, 4, (2, 9)) / 4
    difference = values[0] - values[1]
    tail = permutation.tails(difference[None], float(values.max(axis=0).sum()), 9999, 0)[0]
    expected = permutation.pvalue(tail, tail, "two-sided")
    better, worse = (0, 1) if difference.sum() > 0 else (1, 0)
    assert adjusted_pvalues(values, 9999, 0)[better, worse] == expected


def test_no_number_of_systems_makes_letters_impossible() -> None:
    rng = np.random.default_rng(1)
    values = rng.normal(size=200) + 0.3 * rng.normal(size=(50, 200)) + np.repeat([0.0, 0.5], 25)[:, None]
    significant = adjusted_pvalues(values, 999, 0) < 0.05
    assert significant[25:, :25].all()
    assert not significant[:25].any()


def test_results_do_not_depend_on_the_order_of_units_the_pieces_or_a_shift(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(2)
    values = rng.integers(0, 8, (5, 40)) / 8
    expected = adjusted_pvalues(values, 999, 3)
    assert_array_equal(adjusted_pvalues(values[:, rng.permutation(40)], 999, 3), expected)
    assert_array_equal(adjusted_pvalues(4 * values, 999, 3), expected)
    assert (adjusted_pvalues(values, 999, 4) != expected).any()
    monkeypatch.setattr(joint, "_AT_ONCE", 64)
    assert_array_equal(adjusted_pvalues(values, 999, 3), expected)


def test_differences_that_only_rounding_makes_are_equal() -> None:
    thirds = np.array([[1 / 3, 1 / 3, 1 / 3, 0.0], [0.0, 0.0, 0.0, 1 / 3 + 1 / 3 + 1 / 3]])
    assert adjusted_pvalues(thirds, 9999, 0)[0, 1] == adjusted_pvalues(np.rint(3 * thirds), 9999, 0)[0, 1] == 1


@pytest.mark.parametrize("values", [np.zeros((3, 5)), np.zeros((2, 0)), np.full((2, 3), 0.25)])
def test_systems_that_do_not_differ_are_not_separated(values: np.ndarray) -> None:
    assert (adjusted_pvalues(values, 99, 0) == 1).all()


@given(st.lists(st.lists(st.booleans(), min_size=5, max_size=5), min_size=5, max_size=5))
def test_ranks_and_blocks_are_those_of_the_definition(ahead: list[list[bool]]) -> None:
    p = np.where(np.triu(ahead, 1), 0.01, 1.0)
    significant = p < 0.05
    for system, (best, worst) in enumerate(rank_intervals(p, 0.05)):
        assert best == 1 + sum(significant[:, system])
        assert worst == 5 - sum(significant[system])
    runs = [
        (i, j) for i, j in itertools.combinations(range(5), 2)
        if not any(significant[a, b] for a, b in itertools.combinations(range(i, j + 1), 2))
    ]  # fmt: skip
    longest = [run for run in runs if not any(o != run and o[0] <= run[0] and run[1] <= o[1] for o in runs)]
    assert inseparable_blocks(p, 0.05) == longest


def test_the_family_wise_error_is_at_most_the_level() -> None:
    rng = np.random.default_rng(7)
    shift = np.repeat([0.0, 0.8], 3)[:, None]
    wrong = {0: 0, 1: 0}
    for seed in range(200):
        for planted in wrong:
            values = (rng.normal(size=40) + 0.5 * rng.normal(size=(6, 40)) + planted * shift > 0.8).astype(float)
            significant = adjusted_pvalues(values, 199, seed) < 0.05
            wrong[planted] += bool((significant & ~(planted * shift > planted * shift.T)).any())
    assert max(wrong.values()) <= 200 * 0.05 + 3 * math.sqrt(200 * 0.05 * 0.95)
