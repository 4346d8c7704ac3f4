"""What distances between rows of numbers share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from deadheat import exact
from deadheat.distances import scaling
from deadheat.distances.distance import Distance
from deadheat.distances.rows import Rows
from deadheat.exact import Float64
from deadheat.inputs.sources import Source, fingerprint

Int64 = NDArray[np.int64]

Exact = tuple[list[int], int]  # integers, and the power of two that they are to be multiplied by

_Result = TypeVar("_Result")


class Dense(Distance):
    """Distances between rows of numbers: the rows as they came, and the same multiplied so that they stay small."""

    takes = "numbers"
    queries: Rows
    items: Rows

    def __init__(self, query: Source, gallery: Source) -> None:
        self.query_raw, self.gallery_raw = query, gallery
        self.n_query, self.dim = query.shape

    def fingerprint(self, of_query: bool) -> str:
        return fingerprint(self.query_raw if of_query else self.gallery_raw).hex()

    def query_rows(self, level: int, queries: Int64) -> NDArray[Any]:
        return self.queries.take(queries, self.levels[level].row_dtype)

    def column_rows(self, level: int, columns: Int64) -> NDArray[Any]:
        return self.items.take(self.columns.item_of_column[columns], self.levels[level].row_dtype)

    def for_both(self, work: Callable[[Source], _Result]) -> tuple[_Result, _Result]:
        """What some work makes of the queries and of the gallery; done once where they are the same."""
        of_query = work(self.query_raw)
        return of_query, of_query if self.gallery_raw is self.query_raw else work(self.gallery_raw)

    def scale(self, limit: float) -> float:
        """Divide everything by one number, `unit`: such that integers up to `limit` are left, else a power of two.

        Returns the largest of the integers, infinity where there are none.
        """
        self.unit, largest = scaling.common_unit(self.query_raw, self.gallery_raw, limit)
        if largest == np.inf:
            self.unit = scaling.power_of_two(self.query_raw, self.gallery_raw)
        self.queries, self.items = self.for_both(lambda raw: Rows.over(raw, np.array([self.unit])))
        return largest

    def exact_pairs(self, queries: Int64, columns: Int64) -> tuple[Float64, Float64]:
        """The rows of queries and of columns as they came, pair by pair, in float64."""
        items = self.columns.item_of_column[columns]
        return self.query_raw.take(queries).astype(np.float64), self.gallery_raw.take(items).astype(np.float64)

    def exact_products(self, queries: Int64, columns: Int64) -> tuple[Exact, Exact, Exact]:
        """The exact products of queries with columns, and of both with themselves, pair by pair."""
        query, query_place, item, item_place = self._distinct(queries, self.columns.item_of_column[columns])
        query, item = query.astype(np.float64), item.astype(np.float64)
        (of_query, low), (of_item, least) = exact.scaled_dots(query, query), exact.scaled_dots(item, item)
        return (
            exact.scaled_dots(query[query_place], item[item_place]),
            ([of_query[k] for k in query_place.tolist()], low),
            ([of_item[k] for k in item_place.tolist()], least),
        )

    def _distinct(self, queries: Int64, items: Int64) -> tuple[NDArray[Any], Int64, NDArray[Any], Int64]:
        """The rows of some queries and items as they came, each once, and where among them those of each pair are."""
        queries, query_place = np.unique(queries, return_inverse=True)
        items, item_place = np.unique(items, return_inverse=True)
        return self.query_raw.take(queries), query_place, self.gallery_raw.take(items), item_place
