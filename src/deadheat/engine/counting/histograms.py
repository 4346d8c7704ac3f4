"""Tie profiles of short binary codes, from a histogram of the distances of each query.

A distance of codes is one of few integers. The core counts, for each query, the items at each distance by the number of
labels that they share with the query (0 or 1 where a row has one label). Groups are read off the bins.

    codes, bits of labels ──core──> histogram of each query ──> groups, or what a question makes of it
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

import deadheat._core as _core
from deadheat.engine.counting.options import Work
from deadheat.engine.profiles.profile import TieProfile
from deadheat.inputs.label_sets import LabelSets
from deadheat.inputs.labels import label_codes
from deadheat.support.arrays import Array, Int32, Int64, offsets_of, slices
from deadheat.support.progress import Reporting, Workers

_Made = TypeVar("_Made")

CELLS = 1 << 22  # of the bins of a block of queries, and of its mask of junk
PAIRS = 1 << 31  # of a block's queries and all items, about half a second, which an interrupt waits for


def profile_of(work: Work) -> TieProfile:
    """Count codes; grades are the numbers of shared labels if relevance is "count"."""
    graded = work.settings.relevance == "count"
    n_level = 1 + (max(1, int(work.labels.sizes().max(initial=1))) if graded else 1)
    profile = TieProfile.joined(each_block(work, lambda queries, bins: _of_bins(bins), n_level))
    return occurring_grades(profile) if graded else profile


def each_block(work: Work, make: Callable[[slice, Int32], _Made], n_level: int = 2) -> list[_Made]:
    """Return what `make` makes of each block of queries and of its histograms, (n, n_level, n_bin).

    There is a bin for each distance, and a level for each number of shared labels; the last one has those with more.
    """
    distance: Any = work.distance
    candidates, settings, n_bin = work.candidates, work.settings, distance.dim + 1
    one_label = not isinstance(work.labels, LabelSets)
    if one_label:  # 2^64 − 1 where the gallery lacks it
        labels, gallery_labels = (c.astype(np.uint64)[:, None] for c in label_codes(work.labels, work.gallery_labels))
    else:
        labels, gallery_labels = (sets.words for sets in (work.labels, (work.pair.gallery or work.pair.query).labels))
    ranked = slice(None) if candidates.ranked.all() else np.flatnonzero(candidates.ranked)
    items = _core.LabelledItems(distance.items[ranked], gallery_labels[ranked], one_label)

    def made_of(queries: slice) -> _Made:
        rows = np.arange(distance.n_query)[queries]
        bins = np.zeros((len(rows), n_level * n_bin), dtype=np.int32)
        items.histograms(distance.queries[queries], labels[queries], n_level, bins)
        row, item = candidates.excluded_pairs(rows)  # which are among the items
        mine, theirs = labels[rows[row]], gallery_labels[item]
        common = (mine == theirs)[:, 0].astype(np.int64) if one_label else _ones(mine & theirs)
        bits = _ones(distance.queries[rows[row]] ^ distance.items[item])
        np.subtract.at(bins, (row, np.minimum(common, n_level - 1) * n_bin + bits), 1)
        report(len(rows))
        return make(queries, bins.reshape(len(rows), n_level, n_bin))

    per_thread = -(-distance.n_query // (4 * settings.threads))
    cells = n_bin * n_level + (0 if candidates.junk is None else distance.n_gallery)
    most = max(1, min(CELLS // cells, PAIRS // distance.n_gallery, per_thread))
    with Reporting(settings.progress, distance.n_query) as report, Workers(settings.threads) as workers:
        return workers.each(made_of, slices(distance.n_query, most))


def _ones(words: Array) -> Int64:
    return np.asarray(np.bitwise_count(words).sum(axis=-1, dtype=np.int64))


def _of_bins(bins: Any) -> TieProfile:
    """Return the profile of histograms, (n_query, n_level, n_bin): groups are the bins with something relevant."""
    by_level = bins[:, 1:]
    tied, relevant = bins.sum(axis=1), by_level.sum(axis=1)
    query, bin_of = np.nonzero(relevant)
    closer, before = np.cumsum(tied, axis=1) - tied, np.cumsum(relevant, axis=1) - relevant
    graded = by_level.shape[1] > 1
    return TieProfile(
        offsets_of(np.bincount(query, minlength=len(bins))), closer[query, bin_of], before[query, bin_of],
        tied[query, bin_of], relevant[query, bin_of], tied.sum(axis=1), relevant.sum(axis=1),
        np.arange(1, bins.shape[1]), tied_by_grade=by_level[query, :, bin_of].astype(np.int64) if graded else None,
        relevant_by_grade=by_level.sum(axis=2) if graded else None, check=False,
    )  # fmt: skip


def occurring_grades(profile: TieProfile) -> TieProfile:
    """Return the profile without the grades that no pair has; without any if all relevant pairs have grade 1."""
    if profile.relevant_by_grade is None:
        return profile
    occurring = np.flatnonzero(profile.relevant_by_grade.any(axis=0))
    grades = profile.grades[occurring] if len(occurring) else np.ones(1, dtype=np.int64)
    binary = grades.tolist() == [1]
    tied, relevant = (None if binary else counts[:, occurring] for counts in profile.counts_by_grade)
    return replace(profile, grades=grades, tied_by_grade=tied, relevant_by_grade=relevant, check=False)
