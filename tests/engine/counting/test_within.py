"""The pass inside groups agrees bit for bit with a pass of its own for each group, and touches no other pair."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from engine.kinds import KINDS
from engine.loops import taken
from numpy.typing import NDArray

import deadheat as dh
from deadheat.engine.count import count_within
from deadheat.engine.counting.options import CountingOptions
from deadheat.engine.profiles.profile import TieProfile

KINDS_HERE = ["integer_grid", "decimals", "gaussian", "sparse", "duplicates"]
DISTANCES = ["cosine", "euclidean", "inner_product", "cityblock"]


def one_by_one(
    embeddings: NDArray[np.generic], classes: NDArray[np.int64], groups: list[NDArray[np.int64]], **how: Any
) -> TieProfile:
    return TieProfile.joined([dh.Task(embeddings[group], classes[group], threads=1, **how).profile for group in groups])


@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("kind", KINDS_HERE)
def test_it_is_a_pass_for_each_group(kind: str, distance: str) -> None:
    rng = np.random.default_rng([KINDS_HERE.index(kind), DISTANCES.index(distance)])
    for _ in range(8):
        n, dim = int(rng.integers(6, 50)), int(rng.integers(1, 6))
        embeddings, classes = KINDS[kind](rng, n, dim), rng.integers(0, 4, n)
        groups = np.array_split(rng.permutation(n), int(rng.integers(1, 4)))
        options = CountingOptions.checked(distance=distance, threads=2)
        result = count_within(embeddings, classes, groups, settings=options)
        assert result == one_by_one(embeddings, classes, groups, distance=distance)


@pytest.mark.parametrize(
    ("distance", "ties"), [("cosine", "float16"), ("cosine", dh.Tolerance(0.25)), ("hamming", "exact")]
)
def test_other_ties_go_through_the_counting_pass_and_codes_are_ranked_too(distance: str, ties: Any) -> None:
    rng = np.random.default_rng(5)
    rows = rng.standard_normal((40, 30)) > 0 if distance == "hamming" else rng.standard_normal((40, 3))
    classes, groups = rng.integers(0, 4, 40), np.array_split(rng.permutation(40), 3)
    result = count_within(rows, classes, groups, settings=CountingOptions.checked(distance=distance, ties=ties))
    assert result == one_by_one(rows, classes, groups, distance=distance, ties=ties)
    assert distance != "hamming" or result.ties.mixed_groups > 0


def test_scores_that_leave_something_open_are_not_trusted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Directions that float64 does not distinguish must be compared exactly."""
    rng = np.random.default_rng(8)
    base = rng.standard_normal((1, 6))
    embeddings = np.concatenate([base * (1 + 2.0**-52 * rng.integers(0, 4, (20, 6))), rng.standard_normal((20, 6))])
    classes, groups = rng.integers(0, 3, 40), [np.arange(40)]
    seen = taken(monkeypatch)
    result = count_within(embeddings, classes, groups, settings=CountingOptions.checked())
    assert [name for name, _ in seen] == ["sorted rows", "a counting pass"]
    assert result == one_by_one(embeddings, classes, groups)


def test_only_pairs_inside_groups_are_touched() -> None:
    rng = np.random.default_rng(9)
    embeddings, classes = rng.standard_normal((100, 4)), np.arange(100) // 5
    groups = np.array_split(np.arange(100), 10)
    pairs: list[int] = []
    count_within(embeddings, classes, groups, settings=CountingOptions.checked(), report=pairs.append)
    assert sum(pairs) == 10 * 10**2
