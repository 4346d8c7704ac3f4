"""Groups of items: the small groups of a grouped evaluation, and the parts of a run with junk by rules.

Only pairs inside a group are counted, so the cost is that of Σ n², not of (Σ n)². Each group goes through the table of
`engine/count.py`: a small one is ranked as a whole by its scores in float64, if their error bounds decide every
comparison; any other group has a counting pass of its own.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

import deadheat._core as _core
from deadheat.engine.counting.candidates import places_of
from deadheat.engine.counting.options import CountingOptions, Work, taken
from deadheat.engine.distances import registry as distance_registry
from deadheat.engine.profiles.profile import TieProfile
from deadheat.inputs.label_sets import LabelSets
from deadheat.inputs.labels import label_codes
from deadheat.inputs.relevance import SomePairs
from deadheat.inputs.samples import EmbeddingsLike, Pair, Samples
from deadheat.support.arrays import Int64, offsets_of
from deadheat.support.progress import Reporting, Workers

WIDE = 512  # items a query that a rule leaves out: a listed one takes as long as many cells of a mask
CELLS = 1 << 26  # of a mask of junk that is written by rules, at once in each thread


class Gallery(NamedTuple):
    """The gallery of queries inside groups: rows, their classes (equal where labels are), and the items of each group.

    The items of a group ascend; `itself` is the row that each query is, (n_query,), −1 for none.
    """

    embeddings: EmbeddingsLike
    classes: Int64
    groups: Sequence[Int64]
    itself: Int64 | None = None


def profile_groups(
    embeddings: EmbeddingsLike,
    classes: Int64,
    groups: Sequence[Int64],
    gallery: Gallery | None,
    settings: CountingOptions,
    report: Callable[[int], None],
    count: Callable[[Work], TieProfile],
) -> TieProfile:
    """Join the profiles of all groups, each counted by `count`: `deadheat.engine.count.count_within`."""
    alone = replace(settings, threads=1, progress=False, checkpoint=None, device=None)  # the last two are for one pass
    junk, rows = settings.junk, distance_registry.opened(embeddings, settings.distance, "embeddings")
    others = None if gallery is None else distance_registry.opened(gallery.embeddings, settings.distance, "gallery")
    opened = settings.open(rows, others)

    def work_on(items: Int64, ranked: Int64) -> Work:
        mask = junk if junk is None else junk[ranked] if junk.ndim == 1 else junk[np.ix_(items, ranked)]
        if gallery is None:
            own = alone if mask is None else replace(alone, junk=mask)
            return Work(Pair(Samples(rows, classes[items]), None), own, opened, group=items)
        itself = None if gallery.itself is None else places_of(gallery.itself[items], ranked)
        query: Any = Samples(taken(rows, items), classes[items])
        of_gallery: Any = Samples(taken(others, ranked), gallery.classes[ranked])
        relevant = None if settings.relevant is None else SomePairs(settings.relevant, items)
        return Work(Pair(query, of_gallery), replace(alone, junk=mask, exclude=itself, relevant=relevant))

    def profile_of(number: int) -> TieProfile:
        items = groups[number]
        ranked = items if gallery is None else gallery.groups[number]
        if len(items) and len(ranked):
            profile = count(work_on(items, ranked))
        else:  # no query, or nothing that is ranked
            profile = TieProfile.from_groups([[]] * len(items), [0] * len(items))
        report(len(items) * len(ranked))
        return profile

    with Workers(settings.threads) as workers:
        return TieProfile.joined(workers.each(profile_of, range(len(groups))))


def is_wide(settings: CountingOptions) -> bool:
    """Return whether a rule leaves out so much, or ties are such, that a mask is better than a list; not for grades."""
    if settings.relevant is None or settings.relevant.gains is not None:
        return settings.relevant is None
    return settings.rule.bounds_only or float(settings.junk.most().mean()) > WIDE


def by_rules(work: Work, count: Callable[[Work], TieProfile]) -> TieProfile:
    """Count with junk by rules, of which a part is written at a time."""
    settings, (query, others), (n_query, n_gallery) = work.settings, work.pair[:2], work.settings.junk.shape
    most = max(1, min(CELLS // n_gallery, -(-n_query // (2 * settings.threads))))
    queries, items = zip(*settings.junk.parts(most), strict=True)
    if settings.relevant is not None:
        classes: Any = tuple(np.zeros(n, dtype=np.int64) for n in (n_query, n_gallery))  # which nobody reads
    elif isinstance(query.labels, LabelSets):
        classes = query.labels, (others or query).labels
    else:
        classes = label_codes(work.labels, work.gallery_labels)
    itself = np.arange(n_query) if others is None else settings.exclude
    rows, gallery = query.embeddings, Gallery((others or query).embeddings, classes[1], items, itself)
    with Reporting(settings.progress, sum(map(operator.mul, map(len, queries), map(len, items)))) as report:
        profile = profile_groups(rows, classes[0], queries, gallery, settings, report, count)
    return profile[np.argsort(np.concatenate(queries))]


def ranked_whole(work: Work) -> TieProfile | None:
    """Return the profile of a small group, from scores alone; None if they leave any comparison undecided."""
    distance, items, classes = work.opened, work.group, work.labels
    assert distance is not None
    assert items is not None
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
