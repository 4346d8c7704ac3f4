"""Tie profiles of short binary codes, from a histogram of the distances of each query.

A distance of codes is one of few integers. The core counts, for each query, the items at each distance by the number of
labels that they share with the query (0 or 1 where a row has one label). Groups are read off the bins.

    codes, bits of labels ──core──> histogram of each query ──> groups
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

import deadheat._core as _core
from deadheat.engine.counting.options import Work
from deadheat.engine.profiles.profile import TieProfile
from deadheat.inputs.labels import label_codes
from deadheat.support.arrays import Int64, offsets_of, slices
from deadheat.support.progress import Reporting, Workers

BINS = 1 << 22  # of the histograms of a block of queries


def of_classes(work: Work) -> TieProfile:
    """Count codes with one label a row."""
    query, item = (codes.astype(np.uint64)[:, None] for codes in label_codes(work.labels, work.gallery_labels))
    return _counted(work, query, item, n_level=2, one_label=True)


def of_label_sets(work: Work) -> TieProfile:
    """Count codes with several labels a row; grades are the numbers of shared labels if relevance is "count"."""
    labels, gallery_labels = work.labels, work.labels if work.gallery_labels is None else work.gallery_labels
    counted = work.settings.relevance == "count"
    n_level = 1 + (max(1, int(labels.sizes().max(initial=1))) if counted else 1)
    profile = _counted(work, labels.words, gallery_labels.words, n_level)
    return occurring_grades(profile) if counted else profile


def _counted(
    work: Work, labels: NDArray[np.uint64], gallery_labels: NDArray[np.uint64], n_level: int, one_label: bool = False
) -> TieProfile:
    """Return the profile of codes; labels are bits, or one class a row, 2^64 − 1 for one that the gallery lacks."""
    distance: Any = work.distance
    candidates, settings = work.candidates, work.settings
    n_bin = distance.dim + 1
    ranked = slice(None) if candidates.ranked.all() else np.flatnonzero(candidates.ranked)
    items = _core.LabelledItems(distance.items[ranked], gallery_labels[ranked], one_label)

    def profile_of(queries: slice) -> TieProfile:
        rows = np.arange(distance.n_query)[queries]
        bins = np.zeros((len(rows), n_level * n_bin), dtype=np.int32)
        items.histograms(distance.queries[queries], labels[queries], n_level, bins)
        row, item = candidates.excluded_pairs(rows)  # which are among the items
        mine, theirs = labels[rows[row]], gallery_labels[item]
        common = (mine == theirs)[:, 0].astype(np.int64) if one_label else _ones(mine & theirs)
        bits = _ones(distance.queries[rows[row]] ^ distance.items[item])
        np.subtract.at(bins, (row, np.minimum(common, n_level - 1) * n_bin + bits), 1)
        report(len(rows))
        return _of_bins(bins.reshape(len(rows), n_level, n_bin))

    per_thread = -(-distance.n_query // (4 * settings.threads))
    blocks = slices(distance.n_query, max(1, min(BINS // (n_bin * n_level), per_thread)))
    with Reporting(settings.progress, distance.n_query) as report, Workers(settings.threads) as workers:
        return TieProfile.joined(workers.each(profile_of, blocks))


def _ones(words: NDArray[np.uint64]) -> Int64:
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
