"""Draws within strata: every draw of small strata enumerated in fractions, and coverage by simulation."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from deadheat.reports.statistics.intervals import Interval
from deadheat.reports.statistics.stratified import Stratum, _drawn_means, stratified_intervals

SETTINGS = {"confidence_level": 0.95, "n_resamples": 999, "seed": 0}


def every_mean(values: list[Fraction], sizes: list[int]) -> list[Fraction]:
    """The ratio of sums of each draw of n − 1 of n units with replacement."""
    draws = itertools.product(range(len(values)), repeat=len(values) - 1)
    return [Fraction(sum(values[i] for i in draw), sum(sizes[i] for i in draw)) for draw in draws]


@pytest.mark.parametrize(("eighths", "sizes"), [([0, 8], [1, 1]), ([1, 4, 6], [1, 1, 1]), ([1, 8, 9, 4], [1, 2, 3, 1])])
def test_n_less_one_units_are_drawn_and_have_the_variance_of_the_mean(eighths: list[int], sizes: list[int]) -> None:
    values = [Fraction(value, 8) for value in eighths]
    stratum = Stratum(np.array([list(map(float, values))] * 2), np.array(sizes, dtype=float), 1.0)
    means = every_mean(values, sizes)
    n_draw = 20_000
    drawn = _drawn_means(stratum, n_draw, np.random.default_rng(0))
    assert drawn.shape == (n_draw, 2)
    np.testing.assert_array_equal(drawn[:, 0], drawn[:, 1])
    counts, observed = Counter(map(float, means)), Counter(drawn[:, 0].tolist())
    assert observed.keys() == counts.keys()
    for value, times in counts.items():
        share = times / len(means)
        assert abs(observed[value] / n_draw - share) < 4 * math.sqrt(share / n_draw)
    if sizes == [1] * len(sizes):  # the ratio is then a mean, whose variance the draws have without bias
        centre = sum(means) / len(means)
        variance = sum((mean - centre) ** 2 for mean in means) / len(means)
        n, total = len(values), sum(values)
        assert variance == sum((value - total / n) ** 2 for value in values) / (n - 1) / n
        assert stratum.variances[0] == pytest.approx(float(variance), rel=1e-14)
    assert stratum.means[0] == float(sum(values) / sum(sizes))


def test_nothing_depends_on_the_order_of_units_or_on_other_systems() -> None:
    rng = np.random.default_rng(0)
    strata = [Stratum(rng.random((4, n)), np.ones(n), 1 / 3) for n in (2, 5, 30)]
    intervals = stratified_intervals(strata, **SETTINGS)
    mixed = [Stratum(s.sums[:, rng.permutation(len(s.sizes))], s.sizes, s.weight) for s in strata]
    assert stratified_intervals(mixed, **SETTINGS) == intervals
    assert len(set(intervals)) == 4


def covered(strata: list[Stratum], truth: float) -> float:
    """The share of intervals that hold the true value; each system is a sample of its own."""
    ends = np.array(stratified_intervals(strata, **SETTINGS))
    assert (ends[:, 0] < ends[:, 1]).all()
    return float(((ends[:, 0] <= truth) & (truth <= ends[:, 1])).mean())


@pytest.mark.parametrize("sizes", [[2] * 20, [6, 6, 30, 100], [40] * 5, [3] * 6])
def test_the_interval_of_queries_within_tasks_holds_its_level(sizes: list[int]) -> None:
    rng = np.random.default_rng(1)
    strata = [Stratum(rng.beta(1 + h % 3, 2, (2000, n)), np.ones(n), 1 / len(sizes)) for h, n in enumerate(sizes)]
    truth = float(np.mean([(1 + h % 3) / (3 + h % 3) for h in range(len(sizes))]))
    assert 0.935 < covered(strata, truth) < 0.975


def test_plain_draws_would_not() -> None:
    """As many draws as units have half the variance with two units: what the weights here undo, and n − 1 draws do."""
    rng = np.random.default_rng(1)
    strata = [Stratum(rng.beta(1, 2, (500, 2)), np.ones(2), 1 / 20) for _ in range(20)]
    means = sum(s.weight * s.sums[:, rng.integers(0, 2, (999, 2))].mean(axis=2) for s in strata)
    low, high = np.quantile(means, (0.025, 0.975), axis=1)
    assert ((low <= 1 / 3) & (high >= 1 / 3)).mean() < 0.87


@pytest.mark.parametrize("n_task", [12, 40])
def test_the_interval_of_tasks_holds_its_level_with_the_noise_of_queries(n_task: int) -> None:
    rng = np.random.default_rng(2)
    true_means = np.clip(rng.normal(0.5, 0.1, (2000, n_task)), 0, 1)
    observed = rng.binomial(25, true_means) / 25
    assert 0.935 < covered([Stratum(observed, np.ones(n_task), 1.0)], 0.5) < 0.97


def test_one_unit_has_no_variance_and_a_constant_sample_no_zero_width() -> None:
    one, two = Stratum(np.array([[0.25]]), np.ones(1), 0.5), Stratum(np.array([[0.25, 0.75]]), np.ones(2), 0.5)
    assert all(math.isnan(end) for end in stratified_intervals([one, one], **SETTINGS)[0])
    assert stratified_intervals([one, two], **SETTINGS) == [Interval(0.25, 0.5)]
    same = [Stratum(np.ones((1, n)), np.ones(n), 0.5) for n in (10, 40)]
    low, high = stratified_intervals(same, **SETTINGS)[0]
    # others that make up p of the task of 10 are missed with (1 − p)^10 and lower the mean by p / 2
    p = 1 - 0.025**0.1
    assert (1 - p / 2 >= low, high) == (True, 1.0)
    assert low == pytest.approx(1 - (1 - 0.025 ** (1 / 20)))
