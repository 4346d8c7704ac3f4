"""Drops against a margin: closed forms, sizes at the edge of each hypothesis, and the drop that a sample can show."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

from deadheat.reports.statistics.margins import (
    Drops,
    detectable_drop,
    larger_pvalue,
    passing_margin,
    smaller_pvalue,
    tango_statistic,
)

ALPHA, N, N_SET = 0.05, 200, 1500


def drops(values: np.ndarray) -> Drops:
    return Drops(np.asarray(values, dtype=np.float64), np.ones(len(values)))


@pytest.mark.parametrize(("lost", "won", "n", "margin"), [(1, 0, 44, 0.1), (6, 2, 90, 0.05), (0, 0, 60, 0.2)])
def test_tango_is_the_score_test_at_the_restricted_maximum_of_the_likelihood(
    lost: int, won: int, n: int, margin: float
) -> None:
    rates = np.linspace(1e-9, (1 - margin) / 2 - 1e-9, 400_001)  # of the wins, where the losses have the margin more
    log = lost * np.log(rates + margin) + won * np.log(rates) + (n - lost - won) * np.log1p(-2 * rates - margin)
    rate = rates[np.argmax(log)]
    expected = (lost - won - n * margin) / math.sqrt(n * (2 * rate + margin - margin**2))
    assert tango_statistic(lost, won, n, margin) == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize(("n", "margin"), [(30, 0.03), (30, 0.1), (60, 0.05), (100, 0.01), (200, 0.03)])
def test_as_good_holds_its_level_for_hits_exactly(n: int, margin: float) -> None:
    """By the trinomial law of lost and won queries at the edge, one-sided sparse losses included."""
    lost, won = (each.ravel() for each in np.indices((n + 1, n + 1)))
    lost, won = lost[lost + won <= n], won[lost + won <= n]
    passes = [tango_statistic(*pair, n, margin, 0.5) < stats.norm.ppf(ALPHA) for pair in zip(lost, won, strict=True)]
    same = drops(np.repeat([1.0, -1.0, 0.0], [lost[7], won[7], n - lost[7] - won[7]]))
    assert (smaller_pvalue(same, margin) < ALPHA) == passes[7]
    for rate in (0.0, 0.005, 0.02, 0.1, 0.2):
        law = [rate + margin, rate, 1 - 2 * rate - margin]
        chance = stats.multinomial.pmf(np.stack([lost, won, n - lost - won], axis=1), n, law)
        assert chance[passes].sum() <= ALPHA


def test_student_has_one_more_unit_of_the_worst_value() -> None:
    values = np.array([0.25, -0.125, 0.5, 0.0, 0.125])
    larger = stats.ttest_1samp([*values, -1.0], 0.1, alternative="greater").pvalue
    smaller = stats.ttest_1samp([*values, 1.0], 0.1, alternative="less").pvalue
    assert larger_pvalue(drops(values), 0.1, n_resamples=99, seed=0) == pytest.approx(larger)
    assert smaller_pvalue(drops(values), 0.1) == pytest.approx(smaller)
    sums, sizes = values * [1, 2, 3, 2, 1], np.array([1.0, 2, 3, 2, 1])
    rest = [*(sums - 0.1 * sizes), 0.9 * 1.8]
    by_class = stats.ttest_1samp(rest, 0, alternative="less").pvalue
    assert smaller_pvalue(Drops(sums, sizes), 0.1) == pytest.approx(by_class)


def test_a_margin_of_nothing_is_the_sign_flip_test() -> None:
    assert larger_pvalue(drops(np.array([1, 1, 1, 0, 0])), 0.0, n_resamples=99, seed=0) == 1 / 8


def lost_hits(rng: np.random.Generator, drop: float) -> np.ndarray:
    return (rng.random(N) < drop).astype(float)


def hits(rng: np.random.Generator, drop: float) -> np.ndarray:
    u = rng.random(N)
    return np.where(u < 0.05 + drop, 1.0, np.where(u > 0.95, -1.0, 0.0))


def few_large(rng: np.random.Generator, drop: float) -> np.ndarray:
    return (rng.random(N) < 2 * drop) * rng.random(N)


def dense(rng: np.random.Generator, drop: float) -> np.ndarray:
    return drop + 0.2 * rng.normal(size=N)


@pytest.mark.slow
@pytest.mark.parametrize("draw", [lost_hits, hits, few_large, dense])
def test_each_gate_errs_at_most_at_its_level(draw: Callable[..., np.ndarray]) -> None:
    rng, margin = np.random.default_rng(3), 0.02
    samples = [drops(draw(rng, margin)) for _ in range(N_SET)]
    worse = np.mean([larger_pvalue(each, margin, n_resamples=99, seed=0) < ALPHA for each in samples])
    as_good = np.mean([smaller_pvalue(each, margin) < ALPHA for each in samples])
    most = ALPHA + 3 * math.sqrt(ALPHA * (1 - ALPHA) / N_SET)
    assert worse <= most
    assert as_good <= most


@pytest.mark.slow
@pytest.mark.parametrize("draw", [hits, dense])
def test_the_printed_drop_and_margin_have_their_power(draw: Callable[..., np.ndarray]) -> None:
    rng = np.random.default_rng(4)
    noise = [drops(draw(rng, 0.0)) for _ in range(100)]
    drop, margin = (np.mean([of(each, ALPHA) for each in noise]) for of in (detectable_drop, passing_margin))
    power = np.mean([
        larger_pvalue(drops(draw(rng, drop)), 0.0, n_resamples=499, seed=seed) < ALPHA for seed in range(600)
    ])  # fmt: skip
    passed = np.mean([smaller_pvalue(drops(draw(rng, 0.0)), margin) < ALPHA for _ in range(600)])
    assert 0.75 <= power <= 0.85
    assert 0.75 <= passed <= 0.85


def test_equal_systems_pass_at_the_printed_margin() -> None:
    for n in (20, 100, 500, 3000):
        for same in (drops(np.zeros(n)), Drops(np.zeros(n), np.full(n, 2.0))):
            margin = passing_margin(same, ALPHA)
            assert smaller_pvalue(same, margin) < ALPHA <= smaller_pvalue(same, 0.999 * margin)


def test_what_no_sample_shows() -> None:
    same = drops(np.zeros(40))
    assert detectable_drop(same, ALPHA) > 3 / 40
    assert detectable_drop(Drops(np.zeros(40), np.full(40, 10.0)), ALPHA) > 3 / 40  # whole classes
    assert passing_margin(same, ALPHA) > 2 / 40
    one = drops(np.zeros(1))
    assert math.isnan(detectable_drop(one, ALPHA))
    assert math.isnan(passing_margin(one, ALPHA))
    assert detectable_drop(drops(np.array([0.0, 1.0])), ALPHA) == 1
    assert smaller_pvalue(drops(np.zeros(40)), 1.0) < ALPHA
