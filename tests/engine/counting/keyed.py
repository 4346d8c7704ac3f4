"""Profiles in the form of the oracle, and compared with it."""

from __future__ import annotations

from typing import Any

import numpy as np
import oracles

from deadheat.engine.profiles.profile import TieProfile


def queries_of(profile: TieProfile) -> list[dict[str, Any]]:
    """A profile in the form of the oracle."""
    table = np.stack([profile.closer, profile.closer_relevant, profile.tied, profile.tied_relevant], axis=1)
    by_grade = profile.tied_relevant[:, None] if profile.tied_by_grade is None else profile.tied_by_grade
    graded = [
        (row[0], row[2], {g: c for g, c in zip(profile.grades.tolist(), counts, strict=True) if c})
        for row, counts in zip(table.tolist(), by_grade.tolist(), strict=True)
    ]
    return [
        {
            "groups": [tuple(row) for row in table[a:b].tolist()],
            "graded": graded[a:b],
            "n_ranked": ranked,
            "n_relevant": relevant,
        }
        for a, b, ranked, relevant in zip(
            profile.offsets[:-1].tolist(),
            profile.offsets[1:].tolist(),
            profile.n_ranked.tolist(),
            profile.n_relevant.tolist(),
            strict=True,
        )
    ]


def assert_as_oracle(profile: TieProfile, scores: Any, relevant: Any, **options: Any) -> None:
    assert queries_of(profile) == oracles.profile_scores(scores, relevant, **options)
