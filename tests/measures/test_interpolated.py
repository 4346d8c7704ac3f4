"""Interpolated precision: queries that are too large are known without work, and a long expectation says so first."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from deadheat.engine.profiles.profile import TieProfile
from deadheat.engine.task import Task
from deadheat.errors import LongRunWarning
from deadheat.measures import interpolated
from deadheat.measures.values import per_query


def tied(seed: int) -> TieProfile:
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 3, (60, 3))
    return Task(rows, rng.integers(0, 5, 60), distance="cityblock").profile


@pytest.mark.parametrize("most", [0, 100, 5_000, 60_000, 2**24])
def test_queries_that_are_too_large_are_those_that_would_come_out_as_nan(most: int, monkeypatch) -> None:
    monkeypatch.setattr(interpolated, "_MOST_STEPS", most)
    interpolated.moments.cache_clear()
    values = [per_query(tied(seed), "11pt_avg").expected for seed in range(3)]
    decided = np.concatenate([interpolated._too_large(tied(seed), np.ones(60, int))[0] for seed in range(3)])
    monkeypatch.setattr(interpolated, "_too_large", lambda profile, first: np.zeros((2, profile.n_query)))
    assert_array_equal(values, [per_query(tied(seed), "11pt_avg").expected for seed in range(3)])
    assert decided.any() == (most < 60_000)
    interpolated.moments.cache_clear()


def test_a_long_expectation_says_so_before_it_begins(monkeypatch) -> None:
    monkeypatch.setattr(interpolated, "_STEPS_A_SECOND", 1)
    with pytest.warns(LongRunWarning, match=r"the expectation of 11pt_avg, .* of 60 queries, may take \d+ min"):
        per_query(tied(0), "11pt_avg")
