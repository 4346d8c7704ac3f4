"""Parts of a profile: runs of queries, to save memory, and the items of grades from a level on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from threading import local
from typing import Any

import numpy as np

from deadheat.engine.profiles.profile import (
    OF_EACH_GROUP,
    OF_EACH_QUERY,
    OF_GROUPS,
    TieProfile,
    before_groups,
    by_query,
)
from deadheat.support import scratch
from deadheat.support.arrays import Int64, offsets_of, pieces
from deadheat.support.progress import Workers

MOST_GROUPS = 1 << 18  # in a part: their arrays stay in cache until they are measured
LEAST_GROUPS = 1 << 15  # in one of several parts, so that the interpreter's time for a part is small in comparison


def in_parts(profile: TieProfile) -> Iterator[tuple[slice, TieProfile]]:
    """Yield runs of queries and the profile of each, which is a view and may change once the next is asked for."""
    runs = _runs(profile, MOST_GROUPS)
    memory = _memory(profile, runs)  # in which parts take turns
    for queries in runs:
        yield queries, _part(profile, queries, memory)
        _let_go(profile, queries)


def each_part(profile: TieProfile, work: Callable[[slice, TieProfile, int], object], threads: int) -> None:
    """Do some work for runs of queries, given the profile of each and the number of threads for it alone."""
    runs = _runs(profile, max(LEAST_GROUPS, min(MOST_GROUPS, profile.n_group // (4 * threads))))
    if len(runs) == 1:
        work(runs[0], _part(profile, runs[0], _memory(profile, runs)), threads)
        return
    own = local()  # the memory of a thread

    def work_on(queries: slice) -> None:
        if not hasattr(own, "memory"):
            own.memory = _memory(profile, runs)
        work(queries, _part(profile, queries, own.memory), 1)
        _let_go(profile, queries)

    with Workers(threads) as workers:
        workers.each(work_on, runs)


def _runs(profile: TieProfile, most: int) -> list[slice]:
    if profile.n_group <= most:
        return [slice(0, profile.n_query)]
    return pieces(np.diff(profile.offsets), most)


def _memory(profile: TieProfile, runs: list[slice]) -> Int64 | None:
    """Return room for the groups of any of the runs, if they have to be written out."""
    if profile.packed is None:
        return None
    return np.empty((4, max(int(np.subtract(*profile.offsets[[run.stop, run.start]])) for run in runs)), dtype=np.int64)


def _part(profile: TieProfile, queries: slice, memory: Int64 | None) -> TieProfile:
    if profile.packed is None and queries == slice(0, profile.n_query):
        return profile
    offsets = profile.offsets[queries.start : queries.stop + 1]
    groups = slice(offsets[0], offsets[-1])
    if profile.packed is None:
        of_groups = [getattr(profile, name)[groups] for name in OF_GROUPS]
    else:
        of_groups = list(profile.packed.arrays(queries, memory))
    changed: dict[str, Any] = dict(zip(OF_GROUPS, of_groups, strict=True)) | profile.taken(OF_EACH_QUERY, queries)
    changed |= profile.taken(OF_EACH_GROUP, groups)
    return replace(profile, offsets=offsets - offsets[0], **changed, query_ids=None, check=False)


def _let_go(profile: TieProfile, queries: slice) -> None:
    """Free the memory of the groups of some queries that are on disk."""
    if profile.packed is not None:
        profile.packed.let_go(queries)
        return
    groups = slice(profile.offsets[queries.start], profile.offsets[queries.stop])
    scratch.let_go(*(getattr(profile, name)[groups] for name in OF_GROUPS))


def relevant_first(profile: TieProfile) -> TieProfile:
    """Return the profile in which all relevant items that are ranked come first, by descending grade."""
    ranked = by_query(profile.counts_by_grade[0], profile.query_of_group, profile.n_query)
    n_returned, _ = profile.returned_set
    best = np.diff(np.minimum(np.cumsum(ranked[:, ::-1], axis=1), n_returned[:, None]), axis=1, prepend=0)[:, ::-1]
    some = np.flatnonzero(ranked.any(axis=1))
    zero = np.zeros(len(some), dtype=np.int64)
    unordered = replace(
        profile, offsets=np.searchsorted(some, np.arange(profile.n_query + 1)), closer=zero, closer_relevant=zero,
        tied=profile.n_ranked[some], tied_relevant=ranked[some].sum(axis=1), bounds_only=False, check=False,
        tied_by_grade=None if profile.tied_by_grade is None else ranked[some],
        n_ordered=np.zeros_like(profile.n_ranked), returned=np.column_stack([n_returned, best]),
    )  # fmt: skip
    return unordered.best_completed()


def at_level(profile: TieProfile, rel: float | None) -> TieProfile:
    """Return the profile in which items of gains below `rel` are irrelevant; ranks and ties do not change.

    Examples
    --------
    >>> from deadheat import from_scores
    >>> profile = at_level(from_scores([[3, 2, 2, 1]], [[1, 2, 0, 3]]).profile, 2)
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
    unjudged, n_unjudged = profile.unjudged, profile.n_unjudged
    if unjudged is not None and n_unjudged is not None and profile.unjudged_gain is not None:
        may_count = profile.unjudged_gain >= rel
        unjudged, n_unjudged = unjudged * may_count[profile.query_of_group], n_unjudged * may_count
    kept = np.flatnonzero(tied_relevant if unjudged is None else tied_relevant + unjudged)
    some, real = len(grades) > 0, profile.gains is not None
    returned = profile.returned
    if returned is not None:
        of_level = returned[:, 1 + grades] * counted if some else np.zeros_like(returned[:, :1])
        returned = np.column_stack([returned[:, 0], of_level])
    graded = len(grades) > real  # a single real gain has the grade 1
    return replace(
        profile,
        offsets=offsets_of(np.bincount(profile.query_of_group[kept], minlength=profile.n_query)),
        closer=profile.closer[kept],
        closer_relevant=before_groups(tied_relevant, profile.offsets)[kept],
        tied=profile.tied[kept],
        tied_relevant=tied_relevant[kept],
        n_relevant=of_queries.sum(axis=1),
        grades=np.arange(1, 1 + max(1, len(grades))) if real or not some else profile.grades[grades],
        tied_by_grade=of_groups[kept] if graded else None,
        relevant_by_grade=of_queries if graded else None,
        gains=profile.gain_table[:, grades] * counted if real and some else None,
        returned=returned,
        unjudged=None if unjudged is None else unjudged[kept],
        n_unjudged=n_unjudged,
        check=False,
    )


def _has_all(profile: TieProfile, rel: float) -> bool:
    """Return whether every item that is or may be relevant is of this gain at least."""
    unjudged = profile.unjudged_gain is None or (profile.unjudged_gain >= rel).all()
    return bool(unjudged and np.all((profile.gain_table >= rel) | (profile.counts_by_grade[1] == 0)))


def judged_at_level(profile: TieProfile, rel: float | None) -> TieProfile:
    """Return `at_level` of a profile in which all judged items are ranked but relevant ones that were not retrieved.

    Those of them below the level are irrelevant, and ranked behind all others.
    """
    if rel is None or _has_all(profile, rel):
        return profile
    lower = at_level(profile, rel)
    before, after = (
        np.bincount(each.query_of_group, each.tied_relevant, each.n_query).astype(np.int64) for each in (profile, lower)
    )
    missing = (profile.n_relevant - lower.n_relevant) - (before - after)
    return replace(lower, n_ranked=profile.n_ranked + missing)
