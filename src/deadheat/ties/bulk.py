"""Items that scores leave open: thresholds of groups as numbers told in bulk, and the counting of items between."""

from __future__ import annotations

from typing import Any

import numpy as np

from deadheat.distances import Distance
from deadheat.distances.keys import Bulk, Selection, Twofold
from deadheat.support.arrays import Bool, Int32, Int64
from deadheat.ties.rule import Groups, Items, Member

_SAMPLE = 1 << 10  # items that tell whether twice the precision of float64 tells enough
_ENOUGH = 1 / 6  # of the items: it takes a tenth of the time of integers


class BulkThresholds:
    """The thresholds of groups, computed when asked for.

    They are numbers in twice the precision of float64 as long as these tell enough, and then integers. Integers come
    first where rows are sparse: theirs take as little time.
    """

    def __init__(self, distance: Distance, groups: Groups, member: Member) -> None:
        self._distance, self._queries, self._member, self._shape = distance, groups.rows, member, groups.score.shape
        self._thresholds: dict[Bulk, Any] = {}
        self._tried = self._told = 0  # in twice the precision

    def count(self, items: Items, counts: Int32) -> Int64:
        """Count items; returns which could not be counted, whose intervals may have come closer."""
        left = np.arange(len(items.rows))
        twofold, integers = self._distance.twofold, self._distance.integers
        if twofold is not None and not (integers is not None and integers.sparse):
            left = np.flatnonzero(~self._count_twofold(twofold, items, counts))
        if integers is None or not len(left):
            return left
        if len(left) < len(items.rows):
            items = items.take(left)
        thresholds = self._known(integers, items)

        def work(pairs: Any, left: Int64, right: Int64, some: Selection) -> None:
            rows, _, low, high, weights = items.take(some)
            thresholds.count(pairs, left, right, rows, low, high, weights, counts)

        self._distance.with_rows(integers, self._queries[items.rows], items.columns, work)
        return left[:0]

    def _count_twofold(self, twofold: Twofold, items: Items, counts: Int32) -> Bool:
        """Count a few items, and the others if enough of all before could be told; returns which are counted."""
        told = np.zeros(len(items.rows), dtype=np.bool_)
        for part in (slice(0, _SAMPLE), slice(_SAMPLE, None)):
            if self._told >= _ENOUGH * self._tried:
                self._count_some(twofold, items.take(part), counts, told[part])
                self._tried += len(told[part])
                self._told += int(np.count_nonzero(told[part]))
        return told

    def _count_some(self, twofold: Twofold, items: Items, counts: Int32, told: Bool) -> None:
        """Count what can be told of items, and say of which."""
        thresholds = self._known(twofold, items)

        def work(pairs: Any, left: Int64, right: Int64, some: Selection) -> None:
            rows, _, low, high, weights = items.take(some)
            found = np.empty(len(rows), dtype=np.bool_)
            thresholds.count(pairs, left, right, rows, low, high, weights, counts, found)
            told[some], items.low[some], items.high[some] = found, low, high

        self._distance.with_rows(twofold, self._queries[items.rows], items.columns, work)

    def _known(self, bulk: Bulk, items: Items) -> Any:
        """The thresholds, with all between which items lie among them."""
        if bulk not in self._thresholds:
            self._thresholds[bulk] = bulk.thresholds(self._shape)
        thresholds = self._thresholds[bulk]
        row, group = thresholds.unknown(items.rows, items.low, items.high)
        if len(row):
            self._distance.with_rows(
                bulk,
                self._queries[row],
                self._member(row, group),
                lambda pairs, left, right, some: thresholds.add(pairs, left, right, row[some], group[some]),
            )
        return thresholds
