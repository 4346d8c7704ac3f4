"""What distances between rows of numbers share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from deadheat.distances import centring, scaling
from deadheat.distances.distance import Distance
from deadheat.distances.keys import Bulk, BulkWork, Integers, Twofold
from deadheat.distances.patterns import Patterns
from deadheat.distances.scaling import Rows
from deadheat.exact import Roots
from deadheat.inputs.sources import Source, fingerprint
from deadheat.support.arrays import Int64, distinct, slices
from deadheat.support.workers import go_on

_Result = TypeVar("_Result")

_NUMBERS = 1 << 21  # of the rows that are held at a time for exact arithmetic
_MULTIPLIED = 1 << 24  # numbers that are multiplied exactly in one call: a tenth of a second


class Dense(Distance):
    """Distances between rows of numbers: the rows as they came, and the same multiplied so that they stay small."""

    takes = "numbers"
    zero_if_apart = False  # whether the score of rows without a common place is 0
    differences = False  # whether the distance depends on the differences of numbers alone
    key_kind: ClassVar[str]
    queries: Rows
    items: Rows

    def __init__(self, query: Source, gallery: Source) -> None:
        self.query_raw, self.gallery_raw = query, gallery
        self._given = query, gallery
        self._kept: dict[Bulk, Any] = {}  # all rows made ready, or None where they are too many
        self.n_query, self.dim = query.shape

    def fingerprint(self, of_query: bool) -> str:
        return fingerprint(self._given[0 if of_query else 1]).hex()

    def query_rows(self, level: int, queries: Int64) -> NDArray[Any]:
        return self.queries.take(queries, self.levels[level].row_dtype)

    def column_rows(self, level: int, columns: Int64) -> NDArray[Any]:
        return self.items.take(self.columns.item_of_column[columns], self.levels[level].row_dtype)

    @cached_property
    def patterns(self) -> Patterns | None:
        rows = self.query_raw, self.gallery_raw
        return None if self.levels[-1].exact else Patterns.of(*rows, self.zero_if_apart, self.differences)

    @cached_property
    def _nonnegative(self) -> bool:
        """Whether no number of any row is negative."""
        return all(self.for_both(lambda raw: all(bool(rows.min() >= 0) for _, rows in raw.pieces())))

    def for_both(self, work: Callable[[Source], _Result]) -> tuple[_Result, _Result]:
        """What some work makes of the queries and of the gallery; done once where they are the same."""
        of_query = work(self.query_raw)
        return of_query, of_query if self.gallery_raw is self.query_raw else work(self.gallery_raw)

    def take_off_centre(self) -> None:
        """Take off all rows what they have in common: exactly, and only if it makes them small."""
        centre = centring.common_centre(self.query_raw, self.gallery_raw)
        if centre is not None:
            self.query_raw, self.gallery_raw = self.for_both(lambda source: centring.less(source, centre))

    def scale(self, limit: float) -> float:
        """Divide everything by one number, `unit`: such that integers up to `limit` are left, else a power of two.

        Returns the largest of the integers, infinity where there are none.
        """
        self.unit, largest = scaling.common_unit(self.query_raw, self.gallery_raw, limit)
        if largest == np.inf:
            self.unit = scaling.power_of_two(self.query_raw, self.gallery_raw)
        self.queries, self.items = self.for_both(lambda raw: Rows.over(raw, np.array([self.unit])))
        return largest

    def exact_rows(self, queries: Int64, columns: Int64) -> Iterator[tuple[NDArray[Any], NDArray[Any], Int64, Int64]]:
        """The rows of queries and of columns as they came, each once, and where among them those of each pair are.

        That is for so many pairs at a time that the rows take little memory.
        """
        if not len(queries):
            return
        (query, query_place), (column, column_place) = distinct(queries), distinct(columns)
        if (len(query) + len(column)) * self.dim > _NUMBERS and len(queries) > 1:
            middle = len(queries) // 2
            yield from self.exact_rows(queries[:middle], columns[:middle])
            yield from self.exact_rows(queries[middle:], columns[middle:])
        else:
            items = self.columns.item_of_column[column]
            yield self.query_raw.take(query), self.gallery_raw.take(items), query_place, column_place

    @cached_property
    def twofold(self) -> Twofold | None:
        return Twofold.of(self.key_kind, self.query_raw, self.gallery_raw)

    @cached_property
    def integers(self) -> Integers:
        return Integers.of(self.key_kind, self.query_raw, self.gallery_raw)

    def exact_closeness(self, queries: Int64, columns: Int64) -> Roots:
        roots = Roots(self.key_kind, len(queries))
        self.with_rows(self.integers, queries, columns, roots.put)
        return roots

    def with_rows(self, bulk: Bulk, queries: Int64, columns: Int64, work: BulkWork) -> None:
        if not len(queries):
            return
        if bulk not in self._kept:
            self._kept[bulk] = bulk.kept(self.query_raw, self.gallery_raw)
        at_once = max(1, _MULTIPLIED // bulk.work_of_pair(self.dim))
        if (kept := self._kept[bulk]) is not None:
            for pairs in slices(len(queries), at_once):
                go_on()
                items = self.columns.item_of_column[columns[pairs]]
                work(kept, queries[pairs], items, pairs)
            return
        for square in self._squares(queries, columns):
            done = 0
            for left, right, query_place, column_place in self.exact_rows(queries[square], columns[square]):
                rows = bulk.rows(left, right)
                for some in slices(len(query_place), at_once):
                    go_on()
                    work(rows, query_place[some], column_place[some], square[done : done + len(query_place)][some])
                done += len(query_place)

    def _squares(self, queries: Int64, columns: Int64) -> Iterator[Int64]:
        """Pairs by runs of rows of both sides that `exact_rows` holds at a time."""
        step = max(1, _NUMBERS // (2 * self.dim))
        across = len(self.columns) // step + 1
        square = queries // step * across + columns // step
        order = np.argsort(square, kind="stable")
        yield from np.split(order, np.flatnonzero(np.diff(square[order])) + 1)

    def _distinct(self, queries: Int64, items: Int64) -> tuple[NDArray[Any], Int64, NDArray[Any], Int64]:
        """The rows of some queries and items as they came, each once, and where among them those of each pair are."""
        (queries, query_place), (items, item_place) = distinct(queries), distinct(items)
        return self.query_raw.take(queries), query_place, self.gallery_raw.take(items), item_place
