"""Tie profiles of relevant pairs that are never listed for all queries at once: a counting pass for each chunk of them.

Pairs are those of rows with several labels each, or are given, perhaps by a rule. They are counted as judgements are.
What a rule leaves out is counted with all other items, and then taken from the counts of each query.

    labels, or `Pairs` ──chunks of queries──> pairs (query, item, grade) ──a pass each──> profiles ──joined──> profile
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from deadheat.engine.counting.candidates import Candidates, Judged
from deadheat.engine.counting.histograms import occurring_grades
from deadheat.engine.counting.options import CountingOptions, Work
from deadheat.engine.counting.ranking import pair_groups
from deadheat.engine.distances.distance import Distance
from deadheat.engine.profiles.gains import leveled, with_grades
from deadheat.engine.profiles.packed import PackedGroups
from deadheat.engine.profiles.profile import TieProfile, before_groups
from deadheat.engine.ties.rule import Ties, require_ungraded
from deadheat.inputs.relevance import Pairs
from deadheat.support.arrays import Int64, pieces
from deadheat.support.progress import Reporting

PAIRS = 1 << 19  # pairs with a common label of a counting pass: 50 MB with all that it makes of them
LISTED = 1 << 18  # given pairs of a counting pass, and pairs that are compared with a radius at once: 30 MB
CELLS = 1 << 21  # pairs of a query and an item whose labels are compared at once


class SharedLabels(Pairs):
    """Pairs that share a label; with `counted`, gains by the number of labels that a pair shares, (most + 1,)."""

    def __init__(self, work: Work, counted: bool) -> None:
        self._labels, self._others = work.labels, work.labels if work.pair.gallery is None else work.gallery_labels
        self.shape, self._counted = (len(self._labels), len(self._others)), counted
        self.gains = np.arange(1 + max(1, int(self._labels.sizes().max(initial=1)))) if counted else None

    def most(self) -> Int64:
        return np.full(*self.shape)

    def of(self, queries: Int64) -> tuple[Int64, Int64, Int64]:
        common = (self._labels.shared if self._counted else self._labels.shares)(self._others, queries)
        position, item = np.nonzero(common)
        return position, item, common[position, item].astype(np.int64)


def of_pairs(work: Work, count: Callable[[Distance, Judged, CountingOptions], TieProfile]) -> TieProfile:
    """Count the queries of a task whose relevant pairs are given, or share labels, chunk by chunk."""
    settings, n_query, rule = replace(work.settings, progress=False), len(work.labels), None
    relevant: Pairs = settings.relevant or SharedLabels(work, settings.relevance == "count")
    listed = settings.relevant is not None and not settings.rule.bounds_only  # windows overlap, so they need the mask
    if listed and isinstance(settings.junk, Pairs):
        rule, settings = settings.junk, replace(settings, junk=None)
    candidates = settings.candidates(*relevant.shape, leave_one_out=work.pair.gallery is None)._replace(symmetric=False)
    grade, gains = _grades_of_pairs(relevant, rule, candidates)
    grades = np.ones(1, dtype=np.int64) if grade is None else np.unique(grade[grade > 0])
    require_ungraded(settings.rule, grade is not None)

    def profile_of(queries: Int64, query: Int64, item: Int64, entry: Int64) -> TieProfile:
        profile = count(work.distance, Judged.of(query, item, candidates), settings)
        if rule is not None:
            profile = _without(profile, work.distance, settings.rule, rule, candidates, queries, query, item)
        if grade is not None:
            level, n_relevant = np.searchsorted(grades, grade[entry]), np.zeros((n_query, len(grades)), dtype=np.int64)
            np.add.at(n_relevant, (query, level), 1)
            group = pair_groups(work.distance, query, item, settings.rule)
            profile = with_grades(profile, query, group, level, grades, n_relevant)
        return profile[queries]

    parts: list[Any] = []
    with Reporting(work.settings.progress, n_query) as report:
        for queries, *pairs in _chunks(relevant, rule, candidates):
            profile = profile_of(queries, *pairs)
            parts.append(profile if grade is not None else (_packed(profile, relevant.shape[1]), profile.n_ranked))
            report(len(queries))
    if grade is None:
        groups, n_ranked = zip(*parts, strict=True)
        return TieProfile.of_packed(PackedGroups.joined(groups), np.concatenate(n_ranked), settings.rule.bounds_only)
    profile = TieProfile.joined(parts)
    return occurring_grades(profile) if gains is None else replace(profile, gains=gains, check=False)


def _packed(profile: TieProfile, n_item: int) -> PackedGroups:
    n_group = np.diff(profile.offsets)
    groups = PackedGroups.with_room(n_group, n_item, profile.bounds_only)
    groups.pack(np.arange(len(n_group)), n_group, profile.closer, profile.tied, profile.tied_relevant)
    return groups


def _grades_of_pairs(relevant: Pairs, rule: Pairs | None, candidates: Candidates) -> tuple[Any, Any]:
    """Return the grade of each listed pair that is ranked, and the gains of grades: `leveled`; None for binary ones."""
    if relevant.gains is None or isinstance(relevant, SharedLabels):
        return (None if relevant.gains is None or len(relevant.gains) == 2 else relevant.gains), None
    grade, kept = np.zeros(len(relevant.gains), dtype=np.int64), np.zeros(len(relevant.gains), dtype=np.bool_)
    for *_, entry in _chunks(relevant, rule, candidates):
        kept[entry] = True
    row = np.repeat(np.arange(relevant.shape[0]), relevant.most())
    grade[kept], gains = leveled(row[kept], relevant.gains[kept], relevant.shape[0])
    return (None, None) if gains is None and (grade[kept] == 1).all() else (grade, gains)


def _chunks(relevant: Pairs, rule: Pairs | None, candidates: Candidates) -> Iterator[tuple[Int64, ...]]:
    """Yield chunks of queries, and their ranked relevant pairs: query, item, and position in the gains."""
    most, n_item = relevant.most() + (0 if rule is None else rule.most()), relevant.shape[1]
    begin, pairs = 0, []
    at_once, listed = (CELLS, PAIRS) if isinstance(relevant, SharedLabels) else (LISTED, LISTED)
    for some in pieces(most, at_once):
        queries = np.arange(some.start, some.stop)
        position, item, entry = relevant.of(queries)
        ranked = ~candidates.left_out(queries[position], item)
        if rule is not None:
            out = rule.of(queries)
            ranked &= ~np.isin(position * n_item + item, out[0] * n_item + out[1])
        pairs.append(np.stack([queries[position], item, entry])[:, ranked])
        if sum(each.shape[1] for each in pairs) >= listed or some.stop == len(most):
            yield np.arange(begin, some.stop), *np.concatenate(pairs, axis=1)
            begin, pairs = some.stop, []


def _without(
    profile: TieProfile, distance: Distance, ties: Ties, rule: Pairs, candidates: Candidates, queries: Int64,
    query: Int64, item: Int64,
) -> TieProfile:  # fmt: skip
    """Take what a rule leaves out from the counts of queries whose relevant pairs are given, by query.

    These items are put in groups with the relevant ones, whose groups are those of the profile.
    """
    n_item, n_ranked, n_tied = rule.shape[1], profile.n_ranked.copy(), np.zeros(profile.n_group + 1, dtype=np.int64)
    n_ahead = np.zeros_like(n_tied)  # between a group and the one before it
    for some in pieces(rule.most()[queries], LISTED):
        part = queries[some]
        position, items, _ = rule.of(part)
        ranked = ~candidates.left_out(part[position], items)
        rows, items = part[position[ranked]], items[ranked]
        n_ranked -= np.bincount(rows, minlength=profile.n_query)
        rows, items = (each[profile.n_relevant[rows] > 0] for each in (rows, items))
        mine = slice(*np.searchsorted(query, [part[0], part[-1] + 1]).tolist())
        both = np.concatenate([query[mine], rows]), np.concatenate([item[mine], items])
        keys = both[0] * n_item + pair_groups(distance, *both, ties)
        groups, out = np.unique(keys[: len(keys) - len(rows)]), keys[len(keys) - len(rows) :]
        nearest = np.searchsorted(groups, out)
        of_query = np.append(groups, -1)[nearest] // n_item == rows  # else it is behind all relevant items
        number, tied = (profile.offsets[part[0]] + nearest)[of_query], (np.append(groups, -1)[nearest] == out)[of_query]
        n_tied += np.bincount(number[tied], minlength=len(n_tied))
        n_ahead += np.bincount(number[~tied], minlength=len(n_tied))
    n_ahead, n_tied = n_ahead[:-1], n_tied[:-1]  # behind all groups, nothing counts
    before = before_groups(n_ahead + n_tied, profile.offsets) + n_ahead
    return TieProfile(
        profile.offsets, profile.closer - before, profile.closer_relevant, profile.tied - n_tied,
        profile.tied_relevant, n_ranked, profile.n_relevant, check=False,
    )  # fmt: skip
