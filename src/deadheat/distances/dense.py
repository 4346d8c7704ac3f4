"""What distances between rows of numbers share, and those of them whose score is a matrix product."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

from deadheat import _core, exact
from deadheat.distances import centring, scaling
from deadheat.distances.columns import Columns
from deadheat.distances.distance import Distance, Tensor, TensorDevice, Workspace
from deadheat.distances.errors import ScoreErrors
from deadheat.distances.keys import Bulk, BulkWork, KeySize, Twofold
from deadheat.distances.levels import CHUNK, Level, cheapest
from deadheat.distances.patterns import Patterns
from deadheat.distances.scaling import Rows, by_piece
from deadheat.inputs.sources import Source, fingerprint
from deadheat.support.arrays import Float64, Int64, distinct, slices

_Result = TypeVar("_Result")

_NUMBERS = 1 << 21  # of the rows that are held at a time for exact arithmetic
_MULTIPLIED = 1 << 24  # numbers of rows that are multiplied exactly in one call


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
        self._known_errors: dict[Level, ScoreErrors] = {}
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
    def key_size(self) -> KeySize | None:
        return KeySize.of(self.key_kind, self.query_raw, self.gallery_raw)

    def with_rows(self, bulk: Bulk, queries: Int64, columns: Int64, work: BulkWork) -> None:
        if not len(queries):
            return
        if bulk not in self._kept:
            self._kept[bulk] = bulk.kept(self.query_raw, self.gallery_raw)
        if (kept := self._kept[bulk]) is not None:
            for pairs in slices(len(queries), max(1, _MULTIPLIED // self.dim)):
                items = self.columns.item_of_column[columns[pairs]]
                work(kept, queries[pairs], items, pairs)
            return
        for square in self._squares(queries, columns):
            done = 0
            for left, right, query_place, column_place in self.exact_rows(queries[square], columns[square]):
                rows = bulk.rows(left, right)
                for some in slices(len(query_place), max(1, _MULTIPLIED // self.dim)):
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


class Product(Dense):
    """Distances whose score is a matrix product: q·x, minus an offset that the column brings."""

    offset: Float64 | None = None  # one a gallery item

    @property
    def rechecks(self) -> bool:  # type: ignore[override]
        return len(self.levels) > 1

    def product(
        self, level: int, queries: NDArray[Any], columns: NDArray[Any], space: Workspace | None = None
    ) -> NDArray[Any]:
        out = (space or Workspace()).get("product", (len(queries), len(columns)), queries.dtype)
        _core.product(queries, columns, self.levels[level].chunk or CHUNK, out)
        return out

    def panels(self, level: int, rows: NDArray[Any]) -> Any:
        return (_core.Panels32 if rows.dtype == np.float32 else _core.Panels64)(rows)

    def finish(self, products: NDArray[Any], columns: Int64, space: Workspace | None = None) -> NDArray[Any]:
        if self.offset is not None:
            products -= self.offset[self.columns.item_of_column[columns]].astype(products.dtype)
        return products

    def expecting(self, n_relevant: float, symmetric: bool) -> Self:
        if len(self.levels) == 1:
            return self
        return self.at_levels(cheapest(self.levels, self.dim, n_relevant, symmetric))

    def offsets(self, columns: Int64) -> Float64:
        return np.empty(0) if self.offset is None else self.offset[self.columns.item_of_column[columns]]

    def device_numbers(self, columns: Int64) -> Float64 | None:
        return None if self.offset is None else self.offsets(columns)

    def device_product(self, device: TensorDevice, queries: Tensor, columns: Tensor) -> Tensor:
        return device.product(queries, columns)

    def device_pairs(self, queries: Tensor, columns: Tensor) -> Tensor:
        return (queries * columns).sum(dim=1)

    def device_finish(self, products: Tensor, numbers: Tensor | None) -> Tensor:
        return products if numbers is None else products.sub_(numbers.to(products.dtype))

    def recheck_bound(self, queries: Int64, band: tuple[int, int]) -> Float64:
        return self._errors(4, np.float32, np.float64).of_band(queries, self._items_of(band))

    def pair_scores(self, queries: Int64, columns: Int64) -> Float64:
        items = self.columns.item_of_column[columns]
        of_queries, query_places = self.queries.gather(queries)
        of_items, item_places = self.items.gather(items)
        scores = _core.pair_dots(*of_queries, query_places, *of_items, item_places)
        if self.offset is not None:
            scores -= self.offset[items]
        return np.asarray(scores)

    def compensated_scores(self, queries: Int64, columns: Int64) -> tuple[Float64, Float64] | None:
        if not self._moderate:
            return None
        items = self.columns.item_of_column[columns]
        dots = self._compensated_dots(queries, items)
        tiny = exact.gamma(self.dim + 100, np.float64) ** 2
        return self.score_of_dots(*dots, tiny, queries, items)

    def _compensated_dots(self, queries: Int64, items: Int64) -> tuple[Float64, Float64, Float64]:
        """q·x, q·q and x·x as they came, in about twice the precision of float64, rounded."""
        query, query_place, item, item_place = self._distinct(queries, items)
        of_query, of_item = (
            _core.compensated_dots(raw, np.arange(len(raw)), raw, np.arange(len(raw))) for raw in (query, item)
        )
        return _core.compensated_dots(query, query_place, item, item_place), of_query[query_place], of_item[item_place]

    @cached_property
    def _moderate(self) -> bool:
        """Whether the sizes of all rows are such that nothing in a compensated product over- or underflows."""
        largest = np.concatenate(self.for_both(lambda source: by_piece(source, scaling.largest_sizes)))
        nonzero = largest[largest > 0]
        return bool(len(nonzero)) and bool(nonzero.min() > 2.0**-200 and nonzero.max() < 2.0**200)

    @abstractmethod
    def score_of_dots(
        self, dots: Float64, of_query: Float64, of_item: Float64, tiny: float, queries: Int64, items: Int64
    ) -> tuple[Float64, Float64]:
        """Scores from q·x, q·q and x·x, each off by u times itself and `tiny` times the norms; how much they err."""

    def scale(self, limit: float = 2.0**26) -> float:
        largest = super().scale(limit)
        self.query_norm, self.item_norm = self.for_both(lambda raw: scaling.norms(raw, self.unit))
        self.columns = Columns.of(self.gallery_raw).in_bands(self.item_norm)
        return largest

    def errors(self, level: Level) -> ScoreErrors:
        """What bounds the errors of the scores of a level."""
        if level not in self._known_errors:
            roundings = level.terms(self.dim) + 10
            exactly = ScoreErrors.none(self.query_norm, self.item_norm)
            self._known_errors[level] = exactly if level.exact else self._errors(roundings, level.dtype, level.dtype)
        return self._known_errors[level]

    def _errors(self, roundings: int, dtype: DTypeLike, of_offsets: DTypeLike) -> ScoreErrors:
        """The same for products with so many roundings in a row, and offsets in a type."""
        part, tiny = self.relative_error(roundings, dtype), exact.underflow(self.dim, dtype)
        relative, relative_tiny = np.inf, np.inf
        if self._nonnegative:  # a sum of products of one sign; without underflow it is 0 where it should be
            of_query, of_item = self._least_sizes
            safe = min(of_query * of_item, of_query, of_item) > 4 * float(np.finfo(dtype).tiny)
            relative, relative_tiny = part * (1 + 8 * part), 0.0 if safe else 2 * tiny
        sizes = self.query_norm, self.item_norm, self.beside(part, of_offsets)
        offset = np.empty(0) if self.offset is None else self.offset
        return ScoreErrors(*sizes, offset, part, tiny, relative, relative_tiny)

    def beside(self, part: float, dtype: DTypeLike) -> Float64:
        """How far scores may be off because of the offsets of items, in a type; products are off by a part."""
        return np.zeros(len(self.item_norm))

    def _items_of(self, band: tuple[int, int]) -> Int64:
        return self.columns.item_of_column[slice(*band)]

    def bound(self, level: int, queries: Int64, band: tuple[int, int]) -> Float64:
        return self.errors(self.levels[level]).of_band(queries, self._items_of(band))

    def pair_bound(self, queries: Int64, columns: Int64, scores: Float64 | None = None) -> Float64:
        return self.errors(self.levels[-1]).of_pairs(queries, self.columns.item_of_column[columns], scores)

    def relative_bound(self, level: int, queries: Int64, band: tuple[int, int]) -> tuple[Float64, Float64] | None:
        found = self.errors(self.levels[level]).relative_of_band(self._items_of(band))
        return None if found is None else (np.full(len(queries), found[0]), np.full(len(queries), found[1]))

    def zeros_exact(self, level: int) -> bool:
        return self.offset is None and self.errors(self.levels[level]).relative_tiny == 0

    def relative_error(self, roundings: int, dtype: DTypeLike) -> float:
        """What part of itself a product may be off that has so many roundings in a row."""
        return exact.gamma(roundings, dtype)

    @cached_property
    def _nonnegative(self) -> bool:
        """Whether no number of any row is negative."""
        return all(self.for_both(lambda raw: all(bool(rows.min() >= 0) for _, rows in raw.pieces())))

    @cached_property
    def _least_sizes(self) -> tuple[float, float]:
        """The sizes of the smallest numbers of queries and of items, as they are multiplied, that are not zero."""
        of_queries = self.queries.least_size()
        return of_queries, of_queries if self.items is self.queries else self.items.least_size()
