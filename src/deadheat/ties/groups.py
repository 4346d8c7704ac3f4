"""The relevant items of a block of queries, and the groups that they tie in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deadheat.exact import Float64
from deadheat.ties import kernels

Int64 = NDArray[np.int64]


@dataclass
class Relevant:
    """The relevant columns of a block of queries, as matrices of shape (n_row, width).

    Parameters
    ----------
    rows : (n_row,) int64
        The queries.
    columns, count, irrelevant : int64
        The columns, and how many items in each are relevant and how many are not. Entries with a `count` of 0 are
        padding.
    score, bound : float64
        Scores of the last level, NaN in padding, and how much they may be off.
    """

    rows: Int64
    columns: Int64
    count: Int64
    irrelevant: Int64
    score: Float64
    bound: Float64

    def matrices(self) -> tuple[Int64, Int64, Int64, Float64, Float64]:
        """What is put into a new order together: columns, count, irrelevant, score, bound."""
        return self.columns, self.count, self.irrelevant, self.score, self.bound

    def sort(self) -> NDArray[np.bool_]:
        """Sort the entries of every row by score; returns where a score is surely above all before it."""
        order = np.argsort(self.score, axis=1)
        starts = kernels.sort_rows(order, *self.matrices())
        return np.asarray(starts)

    def apart(self) -> Groups | None:
        """Groups of one item each, if scores alone show that all are, and no entry has irrelevant ones beside it."""
        if (self.count > 1).any() or self.irrelevant.any():
            return None
        n_group, reach = (self.count > 0).sum(axis=1), self.bound.max(axis=1)
        score = np.sort(self.score, axis=1)
        if not kernels.all_apart(score, reach, n_group):
            return None
        score = np.ascontiguousarray(score[:, : max(1, n_group.max())])
        total = (np.arange(score.shape[1]) < n_group[:, None]).astype(np.int32)
        return Groups(self.rows, n_group, score, np.broadcast_to(reach[:, None], score.shape), total, None, None)

    def groups(self, starts: NDArray[np.bool_]) -> Groups:
        """The groups of sorted entries, given where each of them starts."""
        n_group = starts.sum(axis=1)
        shape = (len(starts), max(1, int(n_group.max(initial=0))))
        group, first, total = np.full(starts.shape, -1), np.full(shape, -1), np.zeros(shape, dtype=np.int32)
        kernels.number_groups(starts, self.count, group, first, total)

        def of_first(values: NDArray[Any], fill: float) -> NDArray[Any]:
            return np.where(first >= 0, np.take_along_axis(values, np.maximum(first, 0), axis=1), fill)

        score, bound = of_first(self.score, np.nan), of_first(self.bound, 0.0)
        return Groups(self.rows, n_group, score, bound, total, of_first(self.columns, 0).astype(np.int32), group)


@dataclass
class Groups:
    """The tie groups of a block of queries, farthest first, as matrices of shape (n_row, largest n_group).

    Parameters
    ----------
    rows : (n_row,) int64
        The queries.
    n_group : (n_row,) int64
    score, bound : float64
        The score of a member of each group, NaN in padding, and how much it may be off.
    total : int32
        Relevant items in each group.
    columns : int32, optional
        The column of that member; None where groups are the relevant columns by ascending score.
    of_entry : (n_row, width) int64, optional
        The group of each relevant entry in the order of its row, −1 in padding; None where groups are one
        relevant item each.
    """

    rows: Int64
    n_group: Int64
    score: Float64
    bound: Float64
    total: NDArray[np.int32]
    columns: NDArray[np.int32] | None
    of_entry: Int64 | None

    @property
    def padding(self) -> NDArray[np.bool_]:
        """Where there is no group."""
        return np.arange(self.score.shape[1]) >= self.n_group[:, None]
