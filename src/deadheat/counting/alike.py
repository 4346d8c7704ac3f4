"""Open items of a tile that surely tie with the group of their slot, told by where the numbers in their rows are."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deadheat import _core
from deadheat.distances import Distance
from deadheat.distances.patterns import Patterns, Placed, Places
from deadheat.support.arrays import Float64, Int32, Int64
from deadheat.ties import Cuts, Member


class Alike:
    """How the queries of a block meet a member of each of their groups, and so which items surely tie with it."""

    def __init__(self, patterns: Patterns, distance: Distance, queries: Int64, cuts: Cuts, members: Member) -> None:
        self.patterns, self.columns = patterns, distance.columns
        self.left = patterns.query.take(queries)
        rows, groups = map(np.ascontiguousarray, np.nonzero(np.isfinite(cuts.low)))
        items = self.columns.item_of_column[members(rows, groups)]
        found, kind = np.empty((len(rows), _core.MEETINGS), dtype=np.uint16), np.empty(len(rows), dtype=np.int32)
        _core.count_meetings(self._placed(patterns.item), rows, items, found, kind)
        self.of_groups = np.zeros((*cuts.low.shape, _core.MEETINGS), dtype=np.uint16)
        self.kind_of_groups = np.full(cuts.low.shape, -1, dtype=np.int32)
        self.of_groups[rows, groups], self.kind_of_groups[rows, groups] = found, kind

    @cached_property
    def zero_slot(self) -> Int32:
        """The slot of the group of each query whose members have no place in common with it, −1 where there is none."""
        apart = self.kind_of_groups == _core.APART
        return np.where(apart.any(axis=1), 2 * apart.argmax(axis=1) + 1, -1).astype(np.int32)

    def places(self, columns: range) -> tuple[Places, Places]:
        """The places of the queries, (n_query, words), and of some columns, (words, n_column)."""
        items = self.columns.item_of_column[columns.start : columns.stop]
        return self.left.places, np.ascontiguousarray(self.patterns.item.places[items].T)

    def settle(
        self, opened: NDArray[np.int32], scores: Float64 | None, columns: range, weight: Int32, counts: Int32
    ) -> int:
        """Count the open items that surely tie; returns how many are left, at the beginning of the lists."""
        scores = np.empty(0) if scores is None else scores
        right = self.patterns.item.take(self.columns.item_of_column[columns.start : columns.stop])
        groups = self.of_groups.reshape(len(self.left.masks), -1), self.kind_of_groups
        n_left: int = _core.settle_alike(opened, scores, self._placed(right), groups, weight, counts)
        return n_left

    def _placed(self, right: Placed) -> Any:
        """The rows of the block and of some columns, as the loops take them."""
        left, patterns = self.left, self.patterns
        rows = left.masks, right.masks, left.table, right.table, right.kind
        return *rows, patterns.differences, patterns.zeros, patterns.levels
