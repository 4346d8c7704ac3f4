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
from deadheat.engine.profiles.packed import PackedGroups
from deadheat.engine.profiles.profile import TieProfile
from deadheat.inputs.label_sets import LabelSets
from deadheat.inputs.labels import label_codes
from deadheat.inputs.relevance import SomePairs
from deadheat.inputs.samples import EmbeddingsLike, Pair, Samples
from deadheat.support.arrays import Int64, offsets_of, pieces, slices
from deadheat.support.progress import Reporting, Workers

WIDE = 512  # items a query that a rule leaves out: a listed one takes as long as many cells of a mask
AT_ONCE = 1 << 21  # pairs inside groups that are ranked in one call
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
    together: bool = False,
) -> TieProfile:
    """Join the profiles of all groups, counted by `count`, several `together` or one: `engine.count.count_within`."""
    alone = replace(settings, threads=1, progress=False, checkpoint=None, device=None)  # the last two are for one pass
    junk, rows = settings.junk, distance_registry.opened(embeddings, settings.distance, "embeddings")
    others = None if gallery is None else distance_registry.opened(gallery.embeddings, settings.distance, "gallery")
    opened = settings.open(rows, others)

    def work_on(some: Sequence[Int64], ranked: Int64) -> Work:
        items = np.concatenate(some)
        mask = junk if junk is None else junk[ranked] if junk.ndim == 1 else junk[np.ix_(items, ranked)]
        if gallery is None:
            own = alone if mask is None else replace(alone, junk=mask)
            return Work(Pair(Samples(rows, classes[items]), None), own, opened, groups=some)
        itself = None if gallery.itself is None else places_of(gallery.itself[items], ranked)
        query: Any = Samples(taken(rows, items), classes[items])
        of_gallery: Any = Samples(taken(others, ranked), gallery.classes[ranked])
        relevant = None if settings.relevant is None else SomePairs(settings.relevant, items)
        return Work(Pair(query, of_gallery), replace(alone, junk=mask, exclude=itself, relevant=relevant))

    ranked = groups if gallery is None else gallery.groups
    pairs = np.array([len(items) * len(against) for items, against in zip(groups, ranked, strict=True)])

    def profile_of(some: slice) -> TieProfile:
        if pairs[some].all():
            profile = count(work_on(groups[some], ranked[some.start]))
        else:  # no query, or nothing that is ranked
            profile = TieProfile.from_groups([[]] * len(groups[some.start]), [0] * len(groups[some.start]))
        report(int(pairs[some].sum()))
        return profile

    most = min(AT_ONCE, int(pairs.sum()) // (4 * settings.threads) + 1)
    parts = pieces(pairs, most) if together and pairs.all() else slices(len(groups), 1)
    with Workers(settings.threads) as workers:
        return TieProfile.joined(workers.each(profile_of, parts))


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


def ranked_whole(work: Work, count: Callable[[Work], TieProfile]) -> TieProfile | None:
    """Return the profile of small groups from scores, of undecided ones by `count`; None if that is the only one."""
    distance, items, classes = work.opened, np.concatenate(work.groups), work.labels
    assert distance is not None
    size = np.array([len(group) for group in work.groups])
    starts = offsets_of(size)
    _, number, n_relevant = np.unique(
        np.repeat(np.arange(len(size)), size) * (classes.max() + 1) + classes, return_inverse=True, return_counts=True
    )
    groups = PackedGroups.with_room(n_relevant[number] - 1, int(size.max()))
    undecided = _core.rank_groups(
        scores=distance.scores, items=items, columns=distance.columns.column_of_item[items], classes=classes,
        starts=starts, into=groups,
    )  # fmt: skip
    if len(undecided) and len(size) == 1:
        return None
    for group in undecided.tolist():
        queries = np.arange(starts[group], starts[group + 1])
        alone = Pair(Samples(work.pair.query.embeddings, classes[queries]), None)
        own = count(replace(work, pair=alone, groups=[work.groups[group]]))
        groups.pack(queries, np.diff(own.offsets), own.closer, own.tied, own.tied_relevant)
    return TieProfile.of_packed(groups, np.repeat(size - 1, size), False)
