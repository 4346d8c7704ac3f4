"""Profiles of lists of different lengths are those of each list by itself."""

from __future__ import annotations

import numpy as np
import pytest

from deadheat import profile_scores
from deadheat.engine.counting import scored
from deadheat.engine.counting.scored import profile_lists
from deadheat.support.arrays import offsets_of


@pytest.mark.parametrize("most_grade", [1, 3])
@pytest.mark.parametrize("entries", [8, 1 << 18])
def test_each_list_is_counted_as_a_matrix_of_one_row(
    most_grade: int, entries: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("deadheat.engine.counting.scored.BLOCK_ENTRIES", entries)
    rng = np.random.default_rng(most_grade)
    lengths = np.concatenate([rng.integers(1, 9, 40), [300, 1, 64, 63]])
    scores = rng.integers(-2, 3, lengths.sum()) / 2
    grades = rng.integers(0, most_grade + 1, len(scores))
    profile = profile_lists(scores, grades, lengths)
    for query, start in enumerate(offsets_of(lengths)[:-1].tolist()):
        items = slice(start, start + lengths[query])
        single = profile_scores(scores[None, items], grades[None, items])
        mine = profile[query]
        for name in ("closer", "closer_relevant", "tied", "tied_relevant", "n_ranked", "n_relevant"):
            np.testing.assert_array_equal(getattr(mine, name), getattr(single, name))
    assert profile.n_query == len(lengths)
    assert (profile.tied_by_grade is None) == (most_grade == 1)


def test_scores_are_compared_in_their_own_type() -> None:
    near = np.array([0.5, np.nextafter(0.5, 1)])
    assert profile_lists(near, np.array([1, 0]), np.array([2])).closer.tolist() == [1]
    ends = np.array([-np.inf, np.inf, -np.inf])
    assert profile_lists(ends, np.array([0, 0, 1]), np.array([3])).tied.tolist() == [2]


def test_padding_is_no_more_than_the_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    """One list of 4096 items among lists of one must not make a matrix of 4096 columns for all of them."""
    largest = []
    counted = scored.count_keys
    monkeypatch.setattr(
        "deadheat.engine.counting.scored.count_keys",
        lambda keys, *more: largest.append(keys.size) or counted(keys, *more),
    )
    lengths = np.array([1] * 1000 + [4096])
    profile_lists(np.zeros(lengths.sum()), np.ones(lengths.sum(), dtype=np.int64), lengths)
    assert sum(largest) <= 2 * lengths.sum()
