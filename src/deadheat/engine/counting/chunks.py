"""Tie profiles of rows with several labels each, from one counting pass for each chunk of queries.

The relevant pairs of a chunk are listed, and counted as judgements are; they are never listed for all queries at once.

    labels ──chunks of queries──> pairs (query, item, shared labels) ──a pass each──> profiles ──joined──> profile
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from deadheat.engine.counting.candidates import Judged
from deadheat.engine.counting.histograms import occurring_grades
from deadheat.engine.counting.options import CountingOptions
from deadheat.engine.counting.ranking import pair_groups
from deadheat.engine.counting.work import Work
from deadheat.engine.distances.distance import Distance
from deadheat.engine.profiles.gains import with_grades
from deadheat.engine.profiles.profile import TieProfile
from deadheat.errors import InvalidValueError
from deadheat.support.arrays import Int64
from deadheat.support.progress import Reporting

PAIRS = 1 << 19  # relevant pairs of a counting pass: 50 MB with all that it makes of them
CELLS = 1 << 21  # pairs of a query and an item whose labels are compared at once


def of_label_sets(work: Work, count: Callable[[Distance, Judged, CountingOptions], TieProfile]) -> TieProfile:
    """Count the queries chunk by chunk; grades are the numbers of shared labels if relevance is "count"."""
    settings, counted, n_query = work.settings, work.settings.relevance == "count", len(work.labels)
    if counted and settings.rule.bounds_only:
        raise InvalidValueError("ties", "must have tie groups where relevance is graded, but a tolerance has none")
    grades = np.arange(1, 1 + (max(1, int(work.labels.sizes().max(initial=1))) if counted else 1))
    profiles: list[TieProfile] = []
    with Reporting(settings.progress, n_query) as report:
        for queries, query, item, grade in _chunks(work, counted):
            n_relevant = np.zeros((n_query, len(grades)), dtype=np.int64)
            np.add.at(n_relevant, (query, grade - 1), 1)
            judged = Judged.of(query, item, work.candidates._replace(symmetric=False))
            profile = count(work.distance, judged, replace(settings, progress=False))
            if len(grades) > 1:
                group = pair_groups(work.distance, query, item, settings.rule)
                profile = with_grades(profile, query, group, grade - 1, grades, n_relevant)
            profiles.append(profile[queries])
            report(len(range(n_query)[queries]))
    profile = TieProfile.joined(profiles)
    return occurring_grades(profile) if counted else profile


def _chunks(work: Work, counted: bool) -> Iterator[tuple[slice, Int64, Int64, Int64]]:
    """Yield chunks of queries, and their relevant pairs: query, item and number of shared labels."""
    labels, candidates = work.labels, work.candidates
    gallery_labels = labels if work.gallery_labels is None else work.gallery_labels
    n_query, step = len(labels), max(1, CELLS // len(gallery_labels))
    begin, pairs = 0, [np.empty((3, 0), dtype=np.int64)]
    for start in range(0, n_query, step):
        some = slice(start, min(start + step, n_query))
        common = labels.shared(gallery_labels, some) if counted else labels.shares(gallery_labels, some)
        common[:, ~candidates.ranked] = 0
        common[candidates.excluded_pairs(np.arange(n_query)[some])] = 0
        row, item = np.nonzero(common)
        pairs.append(np.stack([row + some.start, item, common[row, item].astype(np.int64)]))
        if sum(array.shape[1] for array in pairs) >= PAIRS or some.stop == n_query:
            yield slice(begin, some.stop), *np.concatenate(pairs, axis=1)
            begin, pairs = some.stop, [np.empty((3, 0), dtype=np.int64)]
