"""The counting pass inside groups of items: many small leave-one-out passes, with all that they share done once.

Only pairs inside a group are touched, so that the cost is that of Σ n², not of (Σ n)².

A small group is ranked whole by its scores in float64, as far as their error bounds decide; a group that these leave
open, and one that is large, goes through the counting pass like any other set.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deadheat import _core, distances
from deadheat.counting import profiling
from deadheat.counting.options import CountingOptions
from deadheat.distances import Workspace
from deadheat.inputs.sources import EmbeddingsLike, Source
from deadheat.profiles import TieProfile
from deadheat.support.arrays import Int64, offsets_of
from deadheat.support.floats import plain_floats
from deadheat.support.workers import Workers
from deadheat.ties import Exact, Ties

SMALL_GROUP = 512  # items of a group up to which it is ranked whole


@plain_floats
def profile_within(
    embeddings: EmbeddingsLike,
    classes: Int64,
    groups: Sequence[Int64],
    *,
    distance: str = "cosine",
    ties: str | Ties = "exact",
    threads: int | None = None,
    report: Callable[[int], None] = lambda pairs: None,
) -> TieProfile:
    """Rank every item of every group against the others of its group.

    Embeddings and options are as in `deadheat.profile`, `classes` equal where labels are. An item can be in several
    groups. The profile has one query for each item of each group, in the order of `groups`. `report` is told how many
    pairs have been done, from any thread.

    Examples
    --------
    >>> profile = profile_within(
    ...     [[0], [1], [9], [10]], np.array([0, 1, 0, 0]), [np.array([0, 1]), np.array([1, 2, 3])], distance="euclidean"
    ... )
    >>> profile.n_ranked, profile.n_relevant
    (array([1, 1, 2, 2, 2]), array([0, 0, 0, 1, 1]))
    """
    options = CountingOptions.checked(distance=distance, ties=ties, threads=threads)
    work = _Groups(distances.opened(embeddings, distance, "embeddings"), classes, options)

    def profile_of_group(items: Int64) -> TieProfile:
        profile = work.profile(items)
        report(len(items) ** 2)
        return profile

    with Workers(options.threads) as workers:
        return TieProfile.joined(workers.each(profile_of_group, groups))


class _Groups:
    """What the passes inside all groups share."""

    def __init__(self, rows: Source | NDArray[Any], classes: Int64, options: CountingOptions) -> None:
        self.rows, self.classes, self.options = rows, classes, replace(options, threads=1)
        self.distance = options.open(rows)
        self.space = Workspace()

    def profile(self, items: Int64) -> TieProfile:
        """The profile of one group."""
        if len(items) <= SMALL_GROUP and isinstance(self.options.rule, Exact):
            profile = self._ranked_whole(items)
            if profile is not None:
                return profile
        rows = self.rows[items] if isinstance(self.rows, np.ndarray) else self.rows.take(items)
        return profiling.profile_of(self.options.open(rows), self.classes[items], None, self.options)

    def _ranked_whole(self, items: Int64) -> TieProfile | None:
        """The profile of a small group, from scores alone; None if they leave anything open."""
        distance, last, n = self.distance, len(self.distance.levels) - 1, len(items)
        columns = distance.columns.column_of_item[items]
        scores = distance.tile(last, distance.query_rows(last, items), columns, self.space).astype(np.float64)
        bounds = distance.pair_bound(np.repeat(items, n), np.tile(columns, n), scores.ravel()).reshape(n, n)
        n_group, arrays = np.empty(n, dtype=np.int64), np.empty((4, n * max(1, n - 1)), dtype=np.int64)
        classes = self.classes[items]
        total = _core.rank_group(scores, bounds, columns, classes, n_group, arrays)
        if total < 0:
            return None
        offsets = offsets_of(n_group)
        _, number, size = np.unique(classes, return_inverse=True, return_counts=True)
        closer, closer_relevant, tied, tied_relevant = arrays[:, :total].copy()
        return TieProfile(
            offsets, closer, closer_relevant, tied, tied_relevant, np.full(n, n - 1), size[number] - 1, check=False
        )
