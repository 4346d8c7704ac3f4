"""The step-down test against its definition: subsets of hypotheses, every swap, plain loops."""

from __future__ import annotations

from itertools import product

import numpy as np

from deadheat.reports.statistics.permutation import pvalue, step_down, tails

RNG = np.random.default_rng(5)


def by_definition(rows: np.ndarray) -> list[float]:
    """Each test against the largest statistic of itself and of all that are no more significant (algorithm 4.1)."""
    squares = [sum(int(x) ** 2 for x in row) for row in rows]  # integers: statistics are exact fractions squared

    def statistics(signs: tuple[int, ...]) -> list[float]:
        sums = (sum(sign * int(x) for sign, x in zip(signs, row, strict=True)) for row in rows)
        return [total**2 / size if size else 0.0 for total, size in zip(sums, squares, strict=True)]

    observed = statistics((1,) * rows.shape[1])
    drawn = [statistics(signs) for signs in product((1, -1), repeat=rows.shape[1])]
    adjusted, worst = [0.0] * len(rows), 0.0
    for test in sorted(range(len(rows)), key=lambda i: -observed[i]):
        others = [i for i in range(len(rows)) if observed[i] <= observed[test]]
        share = sum(max(each[i] for i in others) >= observed[test] * (1 - 1e-12) for each in drawn) / len(drawn)
        adjusted[test] = worst = max(worst, share)
    return adjusted


def test_every_swap_as_defined() -> None:
    for _ in range(30):
        rows = RNG.integers(-2, 3, (6, 7)).astype(float)
        np.testing.assert_array_equal(step_down(rows, 9999, 0), by_definition(rows))


def test_one_test_is_the_paired_permutation_test() -> None:
    for n, tolerance in ((8, 1e-12), (40, 0.02)):
        row = RNG.normal(0.3, 1, (1, n))
        tail = tails(row, float(np.abs(row).sum()), 9999, 0)[0]
        assert abs(step_down(row, 9999, 0)[0] - pvalue(tail, tail, "two-sided")) < tolerance


def test_the_swap_that_was_observed_counts_among_random_ones() -> None:
    assert tails(np.ones((1, 40)), 40.0, 99, 0) == [(1.0, 1 / 100)]


def test_neither_the_scale_nor_the_order_of_tests_matters() -> None:
    rows = RNG.normal(0.2, 1, (9, 20))
    whole = step_down(rows, 999, 3)
    order = RNG.permutation(9)
    np.testing.assert_array_equal(step_down(rows[order] * 2.0 ** np.arange(9)[:, None], 999, 3), whole[order])
    assert (whole[np.argsort(-np.abs(rows.sum(1)) / np.sqrt((rows**2).sum(1)))] >= 1 / 1000).all()
