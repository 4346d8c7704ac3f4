"""Several rules in one pass give the profiles that each has in a pass of its own, bit for bit."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from engine.kinds import KINDS
from engine.loops import taken

import deadheat as dh
from deadheat.engine.count import count_each
from deadheat.engine.ties.rounded import Rounded, rule_of

RULES = [*map(rule_of, ("float32", "float16", "bfloat16")), dh.Tolerance(1e-7), dh.Tolerance(0.25)]


def together(task: dh.Task, **settings: Any) -> list[dh.TieProfile]:
    return count_each(task.pair, replace(task.options, **settings), RULES)


def each(task: dh.Task) -> list[str]:
    return [task.replace(ties=rule).profile.digest() for rule in RULES]


@pytest.mark.parametrize("distance", ["cosine", "euclidean", "inner_product", "cityblock", "hamming"])
@pytest.mark.parametrize("kind", KINDS)
def test_each_rule_has_the_profile_of_its_own_pass(kind: str, distance: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("deadheat.engine.counting.layout.BLOCK_ROWS", 30)
    rng = np.random.default_rng([list(KINDS).index(kind), len(distance)])
    rows, labels = KINDS[kind](rng, 90, 5), rng.integers(0, 12, 90)
    rows = rows > 0 if distance == "hamming" else rows
    junk = rng.random(90) < 0.2
    for task in (
        dh.Task(rows, labels, distance=distance, threads=2),
        dh.Task(rows[:40], labels[:40], rows[40:], labels[40:], distance=distance, junk=junk[40:]),
    ):
        assert [profile.digest() for profile in together(task)] == each(task)


def test_it_is_one_pass_and_of_wide_data_too(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    labels = rng.permutation(np.arange(3000) // 3)
    task = dh.Task(rng.standard_normal((1000, 24), dtype=np.float32)[labels] + np.float32(0.3) *
                   rng.standard_normal((3000, 24), dtype=np.float32), labels, threads=2)  # fmt: skip
    seen: list[int] = []
    profiles = together(task, progress=lambda done, total: seen.append(total))
    assert set(seen) == {3000 * 3000}
    assert [profile.digest() for profile in profiles] == each(task)
    assert [profile.bounds_only for profile in profiles] == [False] * 3 + [True] * 2


def test_rules_that_no_pass_counts_have_their_own_loops(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    rows, sets = rng.standard_normal((60, 5)), rng.random((60, 4)) < 0.3
    seen = taken(monkeypatch)
    with ThreadPoolExecutor(1) as pool:
        for task in (dh.Task(rows, sets), dh.Task(rows, np.arange(60) % 20, executor=pool)):
            result = [profile.digest() for profile in together(task)]
            assert result == each(task)
    assert {name for name, _ in seen} == {"tiles", "chunks", "portions"}


def test_nothing_relevant_and_no_queries() -> None:
    for n in (0, 1, 4):
        task = dh.Task(np.zeros((4, 2)), np.arange(4))
        for profile in count_each(task.pair, task.options, RULES[:n]):
            assert profile.n_group == 0
            assert profile.n_query == 4
    assert Rounded("float32") in RULES
