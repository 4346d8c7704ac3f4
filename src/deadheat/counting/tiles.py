"""A tile of the counting pass: the rows that it is made from, ready to be multiplied, and how to see more of it."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deadheat.distances import Distance, Workspace
from deadheat.support.arrays import Float64, Int, Int64


class Ready:
    """Rows of a level made ready for products: packed, where the core counts while it multiplies, or as they are.

    Packed rows are taken anew where somebody asks for the `rows` themselves, unless these are kept beside them.
    """

    def __init__(self, distance: Distance, level: int, numbers: Int64, of_query: bool, keep: bool = True) -> None:
        self._take = distance.query_rows if of_query else distance.column_rows
        self.level, self.numbers = level, numbers
        rows = self._take(level, numbers)
        self.panels = distance.panels(level, rows)
        self._rows = rows if keep or self.panels is None else None

    @property
    def rows(self) -> NDArray[Any]:
        """The rows as they are."""
        return self._take(self.level, self.numbers) if self._rows is None else self._rows


class Tile:
    """Some queries and a run of columns, at a level; it may be the tile of another one's columns and queries."""

    def __init__(
        self, distance: Distance, level: int, queries: Int64, columns: range, ready: tuple[Ready, Ready],
        space: Workspace, turned: Tile | None = None,
    ) -> None:  # fmt: skip
        self.distance, self.level, self.queries, self.columns = distance, level, queries, columns
        self.ready, self.space, self._turned = ready, space, turned
        self.size = len(queries) * len(columns)

    @property
    def at_last(self) -> bool:
        """Whether no level is finer."""
        return self.level == len(self.distance.levels) - 1

    @cached_property
    def rows(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """The rows of the queries and of the columns, of its level."""
        if self._turned is not None:
            return self._turned.rows[::-1]
        return self.ready[0].rows, self.ready[1].rows

    def last_scores(self, rows: Int, places: Int) -> Float64:
        """Scores of the last level of single items."""
        products = self._last_products[rows, places].astype(np.float64, copy=False)
        return np.asarray(self.distance.finish(products[None], places + self.columns.start)[0])

    @cached_property
    def _last_products(self) -> NDArray[Any]:
        """The products of the last level, until the next of that level are computed in the same space."""
        if self._turned is not None:
            return self._turned._last_products.T
        last = len(self.distance.levels) - 1
        columns = np.arange(self.columns.start, self.columns.stop)
        rows = self.distance.query_rows(last, self.queries), self.distance.column_rows(last, columns)
        return self.distance.product(last, *rows, self.space)
