"""Tie profiles of relevant pairs that are never listed for all queries at once: a counting pass for each chunk of them.

Pairs are those of rows with several labels each, or are given, perhaps by a rule. They are counted as judgements are.
What a rule leaves out is counted as if it were relevant, and then taken out of its tie groups.

    labels, or `Pairs` ──chunks of queries──> pairs (query, item, grade) ──a pass each──> profiles ──joined──> profile
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from deadheat.engine.counting.candidates import Candidates, Judged
from deadheat.engine.counting.histograms import occurring_grades
from deadheat.engine.counting.options import CountingOptions
from deadheat.engine.counting.ranking import pair_groups
from deadheat.engine.counting.work import Work
from deadheat.engine.distances.distance import Distance
from deadheat.engine.profiles.gains import leveled, with_grades, without_pairs
from deadheat.engine.profiles.packed import PackedGroups
from deadheat.engine.profiles.profile import TieProfile
from deadheat.errors import InvalidValueError
from deadheat.inputs.relevance import Pairs
from deadheat.support.arrays import Int64, pieces
from deadheat.support.progress import Reporting

PAIRS = 1 << 19  # relevant pairs of a counting pass: 50 MB with all that it makes of them
LISTED = 1 << 18  # given pairs of a counting pass, and pairs that are compared with a radius at once: 30 MB
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


def of_pairs(work: Work, count: Callable[[Distance, Judged, CountingOptions], TieProfile]) -> TieProfile:
    """Count the queries of a task whose relevant pairs are given, chunk by chunk."""
    settings, relevant = replace(work.settings, progress=False), work.settings.relevant
    n_query, rule = relevant.shape[0], settings.junk if isinstance(settings.junk, Pairs) else None
    settings = replace(settings, junk=None if rule is not None else settings.junk)
    candidates = settings.candidates(*relevant.shape, leave_one_out=work.pair.gallery is None)._replace(symmetric=False)
    grade, gains = _grades_of_pairs(relevant, rule, candidates)
    grades = np.ones(1, dtype=np.int64) if grade is None else np.unique(grade[grade > 0])
    if settings.rule.bounds_only and (grade is not None or rule is not None):
        reason = "relevance is graded" if rule is None else "exclude is a rule"
        raise InvalidValueError("ties", f"must have tie groups where {reason}, but a tolerance has none")

    def profile_of(queries: Int64, query: Int64, item: Int64, entry: Int64, out: tuple[Int64, Int64]) -> TieProfile:
        """Return the profile of some queries with their pairs, of which those in `out` are not ranked."""
        n_out, level = len(out[0]), np.zeros(len(query), dtype=np.int64)
        if grade is not None:
            level = np.searchsorted(grades, grade[entry])
        n_relevant = np.zeros((n_query, len(grades)), dtype=np.int64)
        np.add.at(n_relevant, (query, level), 1)
        asked = (n_relevant.sum(axis=1) > 0)[out[0]]  # all others have no groups
        rows, items = (np.concatenate(each) for each in ((query, out[0][asked]), (item, out[1][asked])))
        profile = count(work.distance, Judged.of(rows, items, candidates), settings)
        if n_out or grade is not None:
            group = pair_groups(work.distance, rows, items, settings.rule)
        if n_out:
            profile, group = without_pairs(profile, rows, group, np.arange(len(rows)) >= len(query))
            n_ranked = profile.n_ranked - np.bincount(out[0][~asked], minlength=n_query)
            profile = replace(profile, n_ranked=n_ranked, check=False)
        if grade is not None:
            profile = with_grades(profile, query, group[: len(query)], level, grades, n_relevant)
        return profile[queries]

    parts: list[Any] = []
    with Reporting(work.settings.progress, n_query) as report:
        for queries, pairs, out in _chunks_of_pairs(relevant, rule, candidates):
            profile = profile_of(queries, *pairs, out)
            parts.append(profile if grade is not None else (_packed(profile, relevant.shape[1]), profile.n_ranked))
            report(len(queries))
    if grade is None:
        groups, n_ranked = zip(*parts, strict=True)
        return TieProfile.of_packed(PackedGroups.joined(groups), np.concatenate(n_ranked), settings.rule.bounds_only)
    profile = TieProfile.joined(parts)
    return profile if gains is None else replace(profile, gains=gains, check=False)


def _packed(profile: TieProfile, n_item: int) -> PackedGroups:
    n_group = np.diff(profile.offsets)
    groups = PackedGroups.with_room(n_group, n_item, profile.bounds_only)
    groups.pack(np.arange(len(n_group)), n_group, profile.closer, profile.tied, profile.tied_relevant)
    return groups


def _grades_of_pairs(relevant: Pairs, rule: Pairs | None, candidates: Candidates) -> tuple[Any, Any]:
    """Return the grade of each listed pair that is ranked, and the gains of grades: `leveled`; None for binary ones."""
    if relevant.gains is None:
        return None, None
    grade, kept = np.zeros(len(relevant.gains), dtype=np.int64), np.zeros(len(relevant.gains), dtype=np.bool_)
    for _, (_, _, entry), _ in _chunks_of_pairs(relevant, rule, candidates):
        kept[entry] = True
    row = np.repeat(np.arange(relevant.shape[0]), relevant.most())
    grade[kept], gains = leveled(row[kept], relevant.gains[kept], relevant.shape[0])
    return (None, None) if gains is None and (grade[kept] == 1).all() else (grade, gains)


def _chunks_of_pairs(
    relevant: Pairs, rule: Pairs | None, candidates: Candidates
) -> Iterator[tuple[Int64, tuple[Int64, Int64, Int64], tuple[Int64, Int64]]]:
    """Yield chunks of queries with their ranked relevant pairs, and the pairs that the rule takes out."""
    most = relevant.most() + (0 if rule is None else rule.most())
    begin, pairs, out = 0, [], []
    for some in pieces(most, LISTED):
        queries = np.arange(some.start, some.stop)
        query, item, entry = relevant.of(queries)
        query += some.start
        ranked = ~candidates.left_out(query, item)
        if rule is not None:
            left = rule.of(queries)
            left_query = left[0] + some.start
            ranked &= ~np.isin(query * relevant.shape[1] + item, left_query * relevant.shape[1] + left[1])
            there = ~candidates.left_out(left_query, left[1])
            out.append(np.stack([left_query[there], left[1][there]]))
        pairs.append(np.stack([query[ranked], item[ranked], entry[ranked]]))
        if sum(each.shape[1] for each in pairs + out) >= LISTED or some.stop == len(most):
            taken = np.concatenate(out, axis=1) if out else np.empty((2, 0), dtype=np.int64)
            yield np.arange(begin, some.stop), tuple(np.concatenate(pairs, axis=1)), tuple(taken)
            begin, pairs, out = some.stop, [], []


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
