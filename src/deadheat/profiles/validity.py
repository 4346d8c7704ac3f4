"""Whether arrays can be a tie profile: their lengths, and what the counts of any ranking obey."""

from __future__ import annotations

from typing import Any

import numpy as np

from deadheat.errors import InvalidValueError
from deadheat.support.arrays import Int64, offsets_of

_TITLE = "not a tie profile:"


def check_lengths(
    offsets: Int64, of_groups: dict[str, Int64], of_queries: dict[str, Any], n_group: int, n_query: int
) -> None:
    """Refuse offsets that are none, and arrays without one entry per group, or per query."""
    _require(n_query >= 0 and offsets[0] == 0, "offsets must begin with 0")
    _require(np.all(np.diff(offsets) >= 0), "offsets must not decrease")
    _require(offsets[-1] == n_group, f"offsets must end with the number of groups, {n_group}")
    for what, n, arrays in (("group", n_group, of_groups), ("query", n_query, of_queries)):
        for name, array in arrays.items():
            _require(len(array) == n, f"{name} must have one entry per {what}, {n}, but has {len(array)}")


def check_groups(
    offsets: Int64, closer: Int64, closer_relevant: Int64, tied: Int64, tied_relevant: Int64, n_ranked: Int64,
    n_relevant: Int64, bounds_only: bool,
) -> None:  # fmt: skip
    """Refuse counts that no ranking has."""
    query = np.repeat(np.arange(len(n_ranked)), np.diff(offsets))
    _require(np.all(tied_relevant >= 1), "tied_relevant must be at least 1 in every group")
    _require(np.all(tied >= tied_relevant), "tied must not be less than tied_relevant")
    _require(np.all(closer_relevant >= 0), "closer_relevant must not be negative")
    _require(np.all(closer >= closer_relevant), "closer must not be less than closer_relevant")
    running = offsets_of(tied_relevant)
    _require(
        np.array_equal(closer_relevant, running[:-1] - running[offsets[query]]),
        "closer_relevant must be the sum of tied_relevant over the groups before",
    )
    in_groups = np.diff(running[offsets])
    _require(np.all(in_groups <= n_relevant), "the groups hold more relevant items than n_relevant")
    ends = closer + tied
    _require(np.all(ends <= n_ranked[query]), "closer + tied must not be more than n_ranked")
    if not bounds_only:
        follows = np.diff(query) == 0
        gap = closer[1:] - ends[:-1]
        _require(np.all(gap[follows] >= 0), "closer must not be less than closer + tied of the group before")


def check_grades(
    grades: Int64, tied_relevant: Int64, n_relevant: Int64, tied: Int64 | None, relevant: Int64 | None
) -> None:
    """Refuse counts by grade that contradict the others."""
    _require(np.all(np.diff(grades, prepend=0) > 0), "grades must be positive and ascending")
    if tied is None and relevant is None:
        return
    if tied is None or relevant is None:
        raise InvalidValueError(_TITLE, "tied_by_grade and relevant_by_grade must be given together")
    _require(tied.shape == (len(tied_relevant), len(grades)), "tied_by_grade must be (n_group, n_grade)")
    _require(relevant.shape == (len(n_relevant), len(grades)), "relevant_by_grade must be (n_query, n_grade)")
    _require(np.array_equal(tied.sum(axis=1), tied_relevant), "tied_by_grade must add up to tied_relevant")
    _require(np.array_equal(relevant.sum(axis=1), n_relevant), "relevant_by_grade must add up to n_relevant")


def _require(holds: Any, rule: str) -> None:
    if not holds:
        raise InvalidValueError(_TITLE, rule)
