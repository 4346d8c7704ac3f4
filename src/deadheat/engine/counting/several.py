"""Tie profiles of rows with several labels each: an item is relevant if it shares a label with the query.

Relevant pairs are never listed as a whole. Codes under Hamming distance become histograms, distance by shared labels,
from which groups are read off. Under any other distance the row of each query is sorted, and the core looks at the
labels of each pair. Graded relevance, and rules that round, take counting passes for each chunk of queries.

    codes, bits of labels ──core──> histogram of each query ──> groups
    rows, bits of labels ──core──> sorted row of each query ──> groups
                         ──chunks of queries──> pairs ──one pass each──> profiles ──joined──> profile
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

import deadheat._core as _core
from deadheat.engine.counting.candidates import Candidates, Judged, Sharing
from deadheat.engine.counting.label_relevance import LabelRelevance
from deadheat.engine.counting.options import CountingOptions
from deadheat.engine.counting.ranking import pair_groups
from deadheat.engine.distances.distance import Distance
from deadheat.engine.distances.hamming import Hamming
from deadheat.engine.profiles.parts import with_grades
from deadheat.engine.profiles.profile import TieProfile
from deadheat.engine.ties.rule import Exact
from deadheat.errors import InvalidValueError
from deadheat.inputs.label_sets import LabelSets
from deadheat.support.arrays import Int64, offsets_of, slices
from deadheat.support.floats import plain_floats
from deadheat.support.progress import Reporting, Workers

PAIRS = 1 << 19  # relevant pairs of a counting pass: 50 MB with all that it makes of them
CELLS = 1 << 21  # pairs of a query and an item whose labels are compared at once
BINS = 1 << 22  # of the histograms of a block of queries


@plain_floats
def profile_of_sets(
    distance: Distance, labels: LabelSets, gallery_labels: LabelSets, options: CountingOptions, leave_one_out: bool
) -> TieProfile:
    """Return the profile of queries and a gallery with several labels a row.

    Relevance is a shared label or, with ``options.relevance == "count"``, graded by the number of them.
    """
    candidates = options.candidates(distance.n_query, distance.n_gallery, leave_one_out=leave_one_out)
    candidates = candidates._replace(symmetric=False)  # which pairs are relevant is said of each query by itself
    counted = options.relevance == "count"
    if counted and options.rule.bounds_only:
        raise InvalidValueError("ties", "must have tie groups where relevance is graded, but a tolerance has none")
    if isinstance(distance, Hamming) and distance.is_short and isinstance(options.rule, Exact):
        n_level = 1 + (max(1, int(labels.sizes().max(initial=1))) if counted else 1)
        words = labels.words, gallery_labels.words
        return _with_grades(_by_histograms(distance, *words, candidates, options, n_level), counted)
    if isinstance(options.rule, Exact) and not counted and options.device is None:
        n_sharing = LabelRelevance(labels, gallery_labels).n_relevant()
        relevance = Sharing.of(labels.words, gallery_labels.words, n_sharing, candidates)
        return options.counting_pass(distance, relevance).run(options.threads, options.progress)
    return _by_passes(distance, labels, gallery_labels, candidates, options, counted)


def profile_of_codes(
    distance: Hamming, query_class: Int64, gallery_class: Int64, candidates: Candidates, options: CountingOptions
) -> TieProfile:
    """Return the profile of codes with one label a row; −1 is the class of a query that the gallery does not have."""
    query, item = (each.astype(np.uint64)[:, None] for each in (query_class, gallery_class))
    return _by_histograms(distance, query, item, candidates, options, 2, one=True)


def _by_histograms(
    distance: Hamming,
    labels: NDArray[np.uint64],
    gallery_labels: NDArray[np.uint64],
    candidates: Candidates,
    options: CountingOptions,
    n_level: int,
    one: bool = False,
) -> TieProfile:
    """Return the profile of codes, from the bins of each query; labels are bits, or `one` class a row."""
    n_bin = distance.dim + 1
    ranked = slice(None) if candidates.ranked.all() else np.flatnonzero(candidates.ranked)
    items = _core.LabelledItems(distance.items[ranked], gallery_labels[ranked], one)

    def profile_of(queries: slice) -> TieProfile:
        rows = np.arange(distance.n_query)[queries]
        bins = np.zeros((len(rows), n_level * n_bin), dtype=np.int32)
        items.histograms(distance.queries[queries], labels[queries], n_level, bins)
        for place, item in _left_out(rows, candidates):
            mine, theirs = labels[rows[place]], gallery_labels[item]
            common = (mine == theirs)[:, 0].astype(np.int64) if one else _ones(mine & theirs)
            apart = _ones(distance.queries[rows[place]] ^ distance.items[item])
            np.subtract.at(bins, (place, np.minimum(common, n_level - 1) * n_bin + apart), 1)
        report(len(rows))
        return _of_bins(bins.reshape(len(rows), n_level, n_bin))

    of_thread = -(-distance.n_query // (4 * options.threads))
    blocks = slices(distance.n_query, max(1, min(BINS // (n_bin * n_level), of_thread)))
    with Reporting(options.progress, distance.n_query) as report, Workers(options.threads) as workers:
        return TieProfile.joined(workers.each(profile_of, blocks))


def _ones(words: NDArray[np.uint64]) -> Int64:
    """Return the number of ones in each row of words."""
    return np.asarray(np.bitwise_count(words).sum(axis=-1, dtype=np.int64))


def _left_out(rows: Int64, candidates: Candidates) -> Iterator[tuple[Int64, Int64]]:
    """Yield pairs of a query's place and a ranked item that does not count for it."""
    starts, items = candidates.excluded(rows)
    yield np.repeat(np.arange(len(rows)), np.diff(starts)), items


def _of_bins(bins: Any) -> TieProfile:
    """Return the profile of histograms, (n_query, n_level, n_bin): groups are the bins with something relevant."""
    by_level = bins[:, 1:]
    tied, relevant = bins.sum(axis=1), by_level.sum(axis=1)
    query, place = np.nonzero(relevant)
    closer, before = np.cumsum(tied, axis=1) - tied, np.cumsum(relevant, axis=1) - relevant
    graded = by_level.shape[1] > 1
    return TieProfile(
        offsets_of(np.bincount(query, minlength=len(bins))), closer[query, place], before[query, place],
        tied[query, place], relevant[query, place], tied.sum(axis=1), relevant.sum(axis=1),
        np.arange(1, bins.shape[1]), tied_by_grade=by_level[query, :, place].astype(np.int64) if graded else None,
        relevant_by_grade=by_level.sum(axis=2) if graded else None, check=False,
    )  # fmt: skip


def _by_passes(
    distance: Distance,
    labels: LabelSets,
    gallery_labels: LabelSets,
    candidates: Candidates,
    options: CountingOptions,
    counted: bool,
) -> TieProfile:
    """Return the profile of graded relevance, or under a rule that rounds, from passes over chunks of queries."""
    grades = np.arange(1, 1 + (max(1, int(labels.sizes().max(initial=1))) if counted else 1))
    profiles: list[TieProfile] = []

    def profile_of(query: Int64, item: Int64) -> TieProfile:
        relevance = Judged.of(query, item, candidates)
        return options.counting_pass(distance, relevance).run(options.threads, False)

    with Reporting(options.progress, distance.n_query) as report:
        for queries, query, item, grade in _chunks(labels, gallery_labels, candidates, counted):
            n_relevant = np.zeros((distance.n_query, len(grades)), dtype=np.int64)
            np.add.at(n_relevant, (query, grade - 1), 1)
            whole = profile_of(query, item)
            if len(grades) > 1:
                group = pair_groups(distance, query, item, options.rule)
                whole = with_grades(whole, query, group, grade - 1, grades, n_relevant)
            profiles.append(whole[queries])
            report(len(range(distance.n_query)[queries]))
    return _with_grades(TieProfile.joined(profiles), counted)


def _chunks(
    labels: LabelSets, gallery_labels: LabelSets, candidates: Candidates, counted: bool
) -> Iterator[tuple[slice, Int64, Int64, Int64]]:
    """Yield chunks of queries, and their relevant pairs: query, item and grade."""
    n_query, step = len(labels), max(1, CELLS // len(gallery_labels))
    begin, pairs = 0, [np.empty((3, 0), dtype=np.int64)]
    for start in range(0, n_query, step):
        some = slice(start, min(start + step, n_query))
        common = labels.shared(gallery_labels, some) if counted else labels.shares(gallery_labels, some)
        common[:, ~candidates.ranked] = 0
        for place, item in _left_out(np.arange(n_query)[some], candidates):
            common[place, item] = 0
        row, item = np.nonzero(common)
        pairs.append(np.stack([row + some.start, item, common[row, item].astype(np.int64)]))
        if sum(each.shape[1] for each in pairs) >= PAIRS or some.stop == n_query:
            yield slice(begin, some.stop), *np.concatenate(pairs, axis=1)
            begin, pairs = some.stop, [np.empty((3, 0), dtype=np.int64)]


def _with_grades(profile: TieProfile, counted: bool) -> TieProfile:
    """Return the profile with the grades that occur, as one of scores has them."""
    if not counted or profile.relevant_by_grade is None:
        return profile
    there = np.flatnonzero(profile.relevant_by_grade.any(axis=0))
    grades = profile.grades[there] if len(there) else np.ones(1, dtype=np.int64)
    plain = grades.tolist() == [1]
    by_grade = [None if plain else counts[:, there] for counts in profile.counts_by_grade]
    return replace(profile, grades=grades, tied_by_grade=by_grade[0], relevant_by_grade=by_grade[1], check=False)
