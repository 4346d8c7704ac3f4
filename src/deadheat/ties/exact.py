"""Tied is what is equally far as a real number: sorted by score, and exactly where bounds on scores leave it open."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from deadheat import _core
from deadheat.distances import Distance
from deadheat.exact import Roots
from deadheat.support.arrays import Bool, Int32, Int64, spread
from deadheat.support.workers import go_on
from deadheat.ties.bulk import BulkThresholds
from deadheat.ties.rule import Cuts, Groups, Member, Relevant, Ties


class Exact(Ties):
    """Tied is what is equally far as a real number."""

    exact_only = True

    def describe(self, distance: str) -> str:
        return "exact"

    def group(self, distance: Distance, relevant: Relevant) -> Groups:
        return group_by_score(distance, relevant)

    def cuts(self, distance: Distance, groups: Groups, member: Member) -> list[Cuts]:
        low, high = np.empty((2, *groups.score.shape))
        one_bound = groups.bound.strides[1] == 0  # for all groups of a row
        bound = np.ascontiguousarray(groups.bound[:, :1] if one_bound else groups.bound)
        _core.exact_cuts(groups.score, bound, groups.n_group, low, high)
        thresholds = Thresholds(distance, groups, member)

        def above(rows: Int64, cuts: Int64, closeness: Roots, which: Int64) -> Bool:
            return closeness.compare(which, *thresholds.of(rows, cuts // 2)) >= cuts % 2

        return [Cuts(low, high, 2, above, member, direct=BulkThresholds(distance, groups, member).count)]


def group_by_score(distance: Distance, relevant: Relevant) -> Groups:
    """Sort by the exact closeness: by score, and by exact arithmetic where the bounds of scores overlap."""
    groups = relevant.apart()
    if groups is not None:
        return groups
    starts = relevant.sort()
    for step in (_sort_compensated, _sort_exactly):
        for runs in _batches(_unsure(relevant, starts)):
            step(distance, relevant, starts, runs)
    return relevant.groups(starts)


def _unsure(relevant: Relevant, starts: Bool) -> Int64:
    """The runs of entries whose bounds overlap: their rows, and where in these they begin and end; (3, n_run)."""
    runs = np.empty((3, starts.size // 2 + 1), dtype=np.int64)
    return runs[:, : _core.unsure_runs(starts, relevant.count, relevant.bound, runs)].copy()


def _batches(runs: Int64, most: int = 1 << 15) -> Iterator[Int64]:
    """Runs a few at a time, of about so many entries together."""
    sizes = runs[2] - runs[1]
    batch = np.cumsum(sizes) // most
    for part in np.split(np.arange(len(sizes)), np.flatnonzero(np.diff(batch)) + 1):
        go_on()
        if len(part):
            yield np.ascontiguousarray(runs[:, part])


def _entries(relevant: Relevant, runs: Int64) -> tuple[Int64, Int64]:
    """The queries and columns of all entries of some runs."""
    rows, begins, ends = runs
    sizes = ends - begins
    row = np.repeat(rows, sizes)
    return relevant.rows[row], relevant.columns[row, spread(begins, sizes)]


def _sort_compensated(distance: Distance, relevant: Relevant, starts: Bool, runs: Int64) -> None:
    """Sort every run of entries by scores that err less, if there are any."""
    compensated = distance.compensated_scores(*_entries(relevant, runs))
    if compensated is not None:
        _core.sort_runs(runs, *compensated, *relevant.matrices(), starts)  # type: ignore[arg-type]


def _sort_exactly(distance: Distance, relevant: Relevant, starts: Bool, runs: Int64) -> None:
    """Sort exactly every run of entries."""
    rows, begins, ends = runs
    sizes = ends - begins
    order, greater = distance.exact_closeness(*_entries(relevant, runs)).sort(sizes)
    row, entry = np.repeat(rows, sizes), spread(begins, sizes)
    for matrix in relevant.matrices():
        matrix[row, entry] = matrix[row, entry[order]]
    later = np.ones(len(row), dtype=np.bool_)
    later[np.cumsum(sizes) - sizes] = False
    starts[row[later], entry[later]] = greater[later]


class Thresholds:
    """The exact closeness of a member of each group, computed when asked for."""

    def __init__(self, distance: Distance, groups: Groups, member: Member) -> None:
        self._distance, self._queries, self._member = distance, groups.rows, member
        self._places: Int32 = np.zeros(groups.score.shape, dtype=np.int32)  # and 1; memory is taken where it is written
        self._closeness: Roots | None = None

    def of(self, rows: Int64, groups: Int64) -> tuple[Roots, Int64]:
        """The closeness of many groups, and which of it is that of each of these."""
        unknown = self._places[rows, groups] == 0
        if self._closeness is None or unknown.any():
            width = self._places.shape[1]
            row, group = np.divmod(np.unique(rows[unknown] * width + groups[unknown]), width)
            closeness = self._distance.exact_closeness(self._queries[row], self._member(row, group))
            known = 0 if self._closeness is None else len(self._closeness)
            self._places[row, group] = known + 1 + np.arange(len(row))
            if self._closeness is None:
                self._closeness = closeness
            else:
                self._closeness.add(closeness)
        return self._closeness, self._places[rows, groups].astype(np.int64) - 1
