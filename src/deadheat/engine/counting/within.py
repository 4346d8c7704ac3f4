"""The counting pass inside groups of items: many small passes, with their common work done once.

Only pairs inside a group are counted, so the cost is that of Σ n², not of (Σ n)².

A small group that is ranked against itself is ranked whole by its scores in float64, if their error bounds decide every
comparison; other groups (undecided, large, or with a gallery or junk) go through the counting pass.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import deadheat._core as _core
from deadheat.engine.counting import profiling
from deadheat.engine.counting.candidates import places_of
from deadheat.engine.counting.options import CountingOptions
from deadheat.engine.distances import registry as distance_registry
from deadheat.engine.distances.distance import Distance
from deadheat.engine.profiles.profile import TieProfile
from deadheat.engine.ties.rule import Exact
from deadheat.inputs import labels as input_labels
from deadheat.inputs.samples import EmbeddingsLike, Pair
from deadheat.support.arrays import Int64, offsets_of
from deadheat.support.floats import plain_floats
from deadheat.support.progress import Reporting, Workers

SMALL_GROUP = 512  # items of a group up to which it is ranked whole
CELLS = 1 << 26  # of a mask of junk that is written by rules, at once in each thread


class Gallery(NamedTuple):
    """The gallery of queries inside groups: rows, their classes (equal where labels are), and the items of each group.

    The items of a group ascend; `itself` is the row that each query is, (n_query,), −1 for none.
    """

    embeddings: EmbeddingsLike
    classes: Int64
    groups: Sequence[Int64]
    itself: Int64 | None = None


@plain_floats
def profile_within(
    embeddings: EmbeddingsLike,
    classes: Int64,
    groups: Sequence[Int64],
    gallery: Gallery | None = None,
    *,
    options: CountingOptions,
    report: Callable[[int], None] = lambda pairs: None,
) -> TieProfile:
    """Rank every item of every group against the others of its group, or against those of a gallery in the group.

    Embeddings are those of `deadheat.Task`, `classes` equal where labels are. Of the options, junk is a mask, or
    None. An item can be in several groups. The profile has one query for each item of each group, in the order of
    `groups`. `report` is called with the number of pairs that have been done, from any thread.

    Examples
    --------
    >>> options = CountingOptions.checked(distance="euclidean")
    >>> groups = [np.array([0, 1]), np.array([1, 2, 3])]
    >>> profile = profile_within([[0], [1], [9], [10]], np.array([0, 1, 0, 0]), groups, options=options)
    >>> profile.n_ranked, profile.n_relevant
    (array([1, 1, 2, 2, 2]), array([0, 0, 0, 1, 1]))
    """
    alone = replace(options, threads=1, progress=False, checkpoint=None, device=None)  # the last two are for one pass
    junk = options.junk
    rows = distance_registry.opened(embeddings, options.distance, "embeddings")
    if gallery is not None:
        gallery = gallery._replace(embeddings=distance_registry.opened(gallery.embeddings, options.distance, "gallery"))
    opened = options.open(rows, None if gallery is None else gallery.embeddings)
    whole = gallery is None and junk is None and isinstance(options.rule, Exact)

    def pass_over(items: Int64, others: Int64) -> TieProfile:
        """Return the profile of a group, from a counting pass of its own."""
        mask = junk if junk is None else junk[others] if junk.ndim == 1 else junk[np.ix_(items, others)]
        itself = None if gallery is None or gallery.itself is None else places_of(gallery.itself[items], others)
        own, of_items = replace(alone, junk=mask, exclude=itself), classes[items]
        if gallery is None:
            return profiling.profile_of(own.open(_taken(rows, items)), of_items, None, own)
        distance = own.open(_taken(rows, items), _taken(gallery.embeddings, others))
        return profiling.profile_of(distance, of_items, gallery.classes[others], own)

    def profile_of_group(number: int) -> TieProfile:
        items = groups[number]
        others = items if gallery is None else gallery.groups[number]
        if not len(items) or not len(others):  # no query, or nothing that is ranked
            profile: TieProfile | None = TieProfile.from_groups([[]] * len(items), [0] * len(items))
        else:
            profile = _ranked_whole(opened, items, classes[items]) if whole and len(items) <= SMALL_GROUP else None
        if profile is None:
            profile = pass_over(items, others)
        report(len(items) * len(others))
        return profile

    with Workers(options.threads) as workers:
        return TieProfile.joined(workers.each(profile_of_group, range(len(groups))))


def profile_by_rules(pair: Pair, options: CountingOptions) -> TieProfile:
    """Return the profile of leave one out with junk by rules, of which a part is written at a time."""
    rows, n = pair.query.embeddings, len(pair.query.labels)
    most = max(1, min(CELLS // n, -(-n // (2 * options.threads))))
    queries, items = zip(*options.junk.parts(most), strict=True)
    classes = input_labels.label_codes(pair.query.labels)[0]
    gallery = Gallery(rows, classes, items, np.arange(n))
    with Reporting(options.progress, sum(map(operator.mul, map(len, queries), map(len, items)))) as report:
        profile = profile_within(rows, classes, queries, gallery, options=options, report=report)
    return profile[np.argsort(np.concatenate(queries))]


def _ranked_whole(distance: Distance, items: Int64, classes: Int64) -> TieProfile | None:
    """Return the profile of a small group, from scores alone; None if they leave any comparison open."""
    last, n, columns = len(distance.levels) - 1, len(items), distance.columns.column_of_item[items]
    scores = distance.scores.tile(last, items, columns).astype(np.float64)
    bounds = distance.scores.pair_bounds(np.repeat(items, n), np.tile(columns, n), scores.ravel()).reshape(n, n)
    n_group, arrays = np.empty(n, dtype=np.int64), np.empty((4, n * max(1, n - 1)), dtype=np.int64)
    total = _core.rank_group(scores, bounds, columns, classes, n_group, arrays)
    if total < 0:
        return None
    _, number, size = np.unique(classes, return_inverse=True, return_counts=True)
    closer, closer_relevant, tied, tied_relevant = arrays[:, :total].copy()
    of_queries = np.full(n, n - 1), size[number] - 1
    return TieProfile(offsets_of(n_group), closer, closer_relevant, tied, tied_relevant, *of_queries, check=False)


def _taken(rows: Any, items: Int64) -> NDArray[Any]:
    taken: NDArray[Any] = rows[items] if isinstance(rows, np.ndarray) else rows.take(items)
    return taken
