"""Parts of a profile: runs of queries, to save memory, and the items of grades from a level on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from deadheat.engine.profiles.profile import OF_EACH_QUERY, OF_GROUPS, TieProfile
from deadheat.support import scratch
from deadheat.support.arrays import offsets_of, pieces

MOST_GROUPS = 1 << 18  # in a part: so many arrays of groups stay in cache from their making to their measuring


def in_parts(profile: TieProfile) -> Iterator[tuple[slice, TieProfile]]:
    """Yield runs of queries and the profile of each, which is a view and may change once the next is asked for."""
    compact = profile.compact
    if compact is None and profile.n_group <= MOST_GROUPS:
        yield slice(0, profile.n_query), profile
        return
    lengths = np.diff(profile.offsets)
    parts = pieces(lengths, MOST_GROUPS) or [slice(0, 0)]
    if compact is not None:  # parts take turns in the same memory
        memory = np.empty((4, max(int(lengths[queries].sum()) for queries in parts)), dtype=np.int64)
    for queries in parts:
        offsets = profile.offsets[queries.start : queries.stop + 1]
        groups = slice(offsets[0], offsets[-1])
        if compact is None:
            written = [getattr(profile, name) for name in OF_GROUPS]
            of_groups = [array[groups] for array in written]
        else:
            written, of_groups = [compact.closer], list(compact.arrays(queries, memory))
        changed: dict[str, Any] = dict(zip(OF_GROUPS, of_groups, strict=True)) | profile.taken(OF_EACH_QUERY, queries)
        changed |= profile.taken(("tied_by_grade",), groups)
        yield queries, replace(profile, offsets=offsets - offsets[0], **changed, query_ids=None, check=False)
        scratch.let_go(*written)


def relevant_first(profile: TieProfile) -> TieProfile:
    """Return the profile in which all relevant items that are ranked come first, those of the highest grade before all.

    Examples
    --------
    >>> best = relevant_first(TieProfile.from_groups([[(2, 0, 3, 1), (7, 1, 1, 1)], []], n_ranked=[9, 9]))
    >>> best.closer, best.tied, best.n_ranked
    (array([0]), array([2]), array([9, 9]))
    """
    by_grade, of_queries = profile.counts_by_grade
    found = np.zeros_like(of_queries)
    np.add.at(found, profile.query_of_group, by_grade)
    some = np.flatnonzero(found.any(axis=1))
    zero = np.zeros(len(some), dtype=np.int64)
    unordered = replace(
        profile, offsets=np.searchsorted(some, np.arange(profile.n_query + 1)), closer=zero, closer_relevant=zero,
        tied=profile.n_ranked[some], tied_relevant=found[some].sum(axis=1), bounds_only=False, check=False,
        tied_by_grade=None if profile.tied_by_grade is None else found[some], n_ordered=np.zeros_like(profile.n_ranked),
    )  # fmt: skip
    return unordered.best_completed()


def at_level(profile: TieProfile, rel: float | None) -> TieProfile:
    """Return the profile in which items of gains below `rel` are irrelevant; ranks and ties do not change.

    Examples
    --------
    >>> from deadheat import Task
    >>> profile = at_level(Task.from_scores([[3, 2, 2, 1]], [[1, 2, 0, 3]]).profile, 2)
    >>> profile.closer, profile.tied, profile.tied_relevant, profile.n_relevant
    (array([1, 3]), array([2, 1]), array([1, 1]), array([2]))
    """
    if rel is None or _has_all(profile, rel):
        return profile
    counted = profile.gain_table >= rel
    grades = np.flatnonzero(counted.any(axis=0))
    of_groups, of_queries = (counts[:, grades] for counts in profile.counts_by_grade)
    counted = counted[:, grades]
    of_groups, of_queries = of_groups * counted[profile.query_of_group], of_queries * counted
    tied_relevant = of_groups.sum(axis=1)
    kept = np.flatnonzero(tied_relevant)
    running = offsets_of(tied_relevant)
    before = running[:-1] - running[profile.offsets[profile.query_of_group]]
    some, real = len(grades) > 0, profile.gains is not None
    graded = len(grades) > real  # a single real gain has the grade 1
    return replace(
        profile,
        offsets=offsets_of(np.bincount(profile.query_of_group[kept], minlength=profile.n_query)),
        closer=profile.closer[kept],
        closer_relevant=before[kept],
        tied=profile.tied[kept],
        tied_relevant=tied_relevant[kept],
        n_relevant=of_queries.sum(axis=1),
        grades=np.arange(1, 1 + max(1, len(grades))) if real or not some else profile.grades[grades],
        tied_by_grade=of_groups[kept] if graded else None,
        relevant_by_grade=of_queries if graded else None,
        gains=profile.gain_table[:, grades] * counted if real and some else None,
        check=False,
    )


def _has_all(profile: TieProfile, rel: float) -> bool:
    """Return whether every relevant item is of this gain at least."""
    return bool(np.all((profile.gain_table >= rel) | (profile.counts_by_grade[1] == 0)))


def judged_at_level(profile: TieProfile, rel: float | None) -> TieProfile:
    """Return `at_level` of a profile in which all judged items are ranked but relevant ones that were not retrieved.

    Those of them below the level are irrelevant, and ranked behind all others.

    Examples
    --------
    >>> profile = at_level(TieProfile.from_groups([[(0, 0, 1, 1)]], n_ranked=[3], n_relevant=[2]), 1)
    >>> judged_at_level(profile, 1).n_ranked, judged_at_level(profile, 2).n_ranked
    (array([3]), array([4]))
    """
    if rel is None or _has_all(profile, rel):
        return profile
    lower = at_level(profile, rel)
    found, still = (
        np.bincount(each.query_of_group, each.tied_relevant, each.n_query).astype(np.int64) for each in (profile, lower)
    )
    missing = (profile.n_relevant - lower.n_relevant) - (found - still)
    return replace(lower, n_ranked=profile.n_ranked + missing)
