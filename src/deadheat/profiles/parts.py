"""A large profile in parts, so that what is computed from it takes no memory of its size."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from deadheat.profiles.compact import CompactGroups
from deadheat.profiles.profile import TieProfile
from deadheat.support import scratch
from deadheat.support.arrays import Int64, pieces

MOST_GROUPS = 1 << 18  # in a part: so many arrays of groups stay in cache from their making to their measuring


def in_parts(profile: TieProfile) -> Iterator[tuple[slice, TieProfile]]:
    """Runs of queries and the profile of each, which is a view and may change once the next is asked for."""
    if profile.compact is not None:
        yield from _written_out(profile, profile.compact)
        return
    if profile.n_group <= MOST_GROUPS:
        yield slice(0, profile.n_query), profile
        return
    for queries in pieces(np.diff(profile.offsets), MOST_GROUPS):
        groups = slice(profile.offsets[queries.start], profile.offsets[queries.stop])
        of_groups = profile.closer, profile.closer_relevant, profile.tied, profile.tied_relevant
        yield queries, _part(profile, queries, [array[groups] for array in of_groups], profile.tied_by_grade)
        scratch.let_go(*of_groups)


def _written_out(profile: TieProfile, compact: CompactGroups) -> Iterator[tuple[slice, TieProfile]]:
    """The parts of compact groups, which take turns in the same memory."""
    parts = pieces(compact.lengths, MOST_GROUPS) or [slice(0, 0)]
    most = max((int(compact.lengths[queries].sum()) for queries in parts), default=0)
    room = np.empty((4, most), dtype=np.int64)
    for queries in parts:
        yield queries, _part(profile, queries, compact.arrays(queries, room), None)
        scratch.let_go(compact.closer)


def _part(profile: TieProfile, queries: slice, of_groups: Iterable[Int64], by_grade: Int64 | None) -> TieProfile:
    """The profile of a run of queries, given the arrays of its groups."""
    offsets, relevant = profile.offsets[queries.start : queries.stop + 1], profile.relevant_by_grade
    closer, closer_relevant, tied, tied_relevant = of_groups
    return TieProfile(
        offsets - offsets[0],
        closer,
        closer_relevant,
        tied,
        tied_relevant,
        profile.n_ranked[queries],
        profile.n_relevant[queries],
        profile.grades,
        None if by_grade is None else by_grade[offsets[0] : offsets[-1]],
        None if relevant is None else relevant[queries],
        profile.bounds_only,
        n_ordered=None if profile.n_ordered is None else profile.n_ordered[queries],
        check=False,
    )
