"""Profiles, counted and in the form of the oracle, and compared with it."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import oracles

from deadheat.engine.counting import layout, portions
from deadheat.engine.profiles.profile import TieProfile
from deadheat.engine.task import Task


def profiled(*data: Any, **settings: Any) -> TieProfile:
    """The profile of a new task, for what happens while it is counted."""
    return Task(*data, **settings).profile


def in_many_portions(monkeypatch: Any) -> None:
    """Cut small data into many blocks, tiles and portions."""
    for name, value in {"BLOCK_ROWS": 8, "TILE_COLUMNS": 16}.items():
        monkeypatch.setattr(layout, name, value)
    for name, value in {"COLUMNS": 4, "TIMES_RELEVANT": 1, "QUERIES": 8, "FEW_QUERIES": 8, "PAIRS": 500}.items():
        monkeypatch.setattr(portions, name, value)


def groups_of(profile: TieProfile) -> list[list[tuple[int, ...]]]:
    """The four numbers of each group of each query."""
    table = np.stack([profile.closer, profile.closer_relevant, profile.tied, profile.tied_relevant], axis=1).tolist()
    return [[tuple(group) for group in table[a:b]] for a, b in pairwise(profile.offsets.tolist())]


def counts_of(profile: TieProfile) -> list[dict[str, Any]]:
    """A profile in the form of the oracle of embeddings."""
    of_queries = zip(groups_of(profile), profile.n_ranked.tolist(), profile.n_relevant.tolist(), strict=True)
    return [{"groups": groups, "n_ranked": ranked, "n_relevant": relevant} for groups, ranked, relevant in of_queries]


def queries_of(profile: TieProfile) -> list[dict[str, Any]]:
    """A profile in the form of the oracle of scores."""
    by_grade = profile.tied_relevant[:, None] if profile.tied_by_grade is None else profile.tied_by_grade
    grades, counts = profile.grades.tolist(), iter(by_grade.tolist())
    return [
        query | {"graded": [(k, n, {g: c for g, c in zip(grades, next(counts), strict=True) if c})
                            for k, _, n, _ in query["groups"]]}
        for query in counts_of(profile)
    ]  # fmt: skip


def assert_as_oracle(profile: TieProfile, scores: Any, relevant: Any, **options: Any) -> None:
    assert queries_of(profile) == oracles.profile_scores(scores, relevant, **options)
