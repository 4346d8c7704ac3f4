"""A large profile in parts, so that what is computed from it takes no memory of its size."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from deadheat.profiles.profile import TieProfile
from deadheat.support import scratch
from deadheat.support.arrays import pieces

MOST_GROUPS = 1 << 20  # in a part


def in_parts(profile: TieProfile) -> Iterator[tuple[slice, TieProfile]]:
    """Runs of queries and the profile of each, which is a view and may leave memory once the next is asked for."""
    if profile.n_group <= MOST_GROUPS:
        yield slice(0, profile.n_query), profile
        return
    for queries in pieces(np.diff(profile.offsets), MOST_GROUPS):
        offsets = profile.offsets[queries.start : queries.stop + 1]
        groups = slice(offsets[0], offsets[-1])
        by_grade, relevant = profile.tied_by_grade, profile.relevant_by_grade
        yield (
            queries,
            replace(
                profile,
                offsets=offsets - offsets[0],
                closer=profile.closer[groups],
                closer_relevant=profile.closer_relevant[groups],
                tied=profile.tied[groups],
                tied_relevant=profile.tied_relevant[groups],
                n_ranked=profile.n_ranked[queries],
                n_relevant=profile.n_relevant[queries],
                tied_by_grade=None if by_grade is None else by_grade[groups],
                relevant_by_grade=None if relevant is None else relevant[queries],
                n_ordered=None if profile.n_ordered is None else profile.n_ordered[queries],
                query_ids=None,
                check=False,
            ),
        )
        scratch.let_go(profile.closer, profile.closer_relevant, profile.tied, profile.tied_relevant)
