"""Tied is what is equally far as a real number: sorted by score, and exactly where bounds on scores leave it open."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cmp_to_key
from itertools import islice, pairwise

import numpy as np

from deadheat import _core  # type: ignore[attr-defined]
from deadheat.distances import Distance
from deadheat.exact import SignedRoot
from deadheat.support.arrays import Bool, Int64, spread
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
        _core.exact_cuts(groups.score, np.ascontiguousarray(groups.bound), groups.n_group, low, high)
        threshold = closeness_cache(distance, groups.rows, member)

        def above(row: int, cut: int, closeness: SignedRoot) -> bool:
            return closeness.compare(threshold(row, cut // 2)) >= cut % 2

        return [Cuts(low, high, 2, above)]


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


def _batches(runs: Int64, most: int = 4096) -> Iterator[Int64]:
    """Runs a few at a time, of about so many entries together."""
    sizes = runs[2] - runs[1]
    batch = np.cumsum(sizes) // most
    for part in np.split(np.arange(len(sizes)), np.flatnonzero(np.diff(batch)) + 1):
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
        _core.sort_runs(runs, *compensated, *relevant.matrices(), starts)


def _sort_exactly(distance: Distance, relevant: Relevant, starts: Bool, runs: Int64) -> None:
    """Sort exactly every run of entries."""
    exact_closeness = iter(distance.exact_closeness(*_entries(relevant, runs)))
    for row, begin, end in runs.T.tolist():
        of_run = list(islice(exact_closeness, end - begin))
        order = _exact_order(of_run)
        for matrix in relevant.matrices():
            matrix[row, begin:end] = matrix[row, begin:end][order]
        for place, (lower, upper) in enumerate(pairwise(order)):
            starts[row, begin + place + 1] = of_run[lower].compare(of_run[upper]) != 0


def _exact_order(exact_closeness: list[SignedRoot]) -> list[int]:
    """The places of the numbers in ascending order."""
    key = cmp_to_key(SignedRoot.compare)
    return sorted(range(len(exact_closeness)), key=lambda place: key(exact_closeness[place]))


def closeness_cache(distance: Distance, rows: Int64, member: Member) -> Callable[[int, int], SignedRoot]:
    """The exact closeness of a member of each group, computed when asked for."""
    thresholds: dict[tuple[int, int], SignedRoot] = {}

    def threshold(row: int, group: int) -> SignedRoot:
        if (row, group) not in thresholds:
            (thresholds[row, group],) = distance.exact_closeness(rows[row : row + 1], np.array([member(row, group)]))
        return thresholds[row, group]

    return threshold
