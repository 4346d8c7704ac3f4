"""Distances whose score is a matrix product."""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import DTypeLike, NDArray

from deadheat import _core, exact
from deadheat.distances import scaling
from deadheat.distances.bounded import Bounded
from deadheat.distances.columns import Columns
from deadheat.distances.distance import Tensor, TensorDevice, Workspace
from deadheat.distances.errors import ScoreErrors
from deadheat.distances.levels import CHUNK, ROUNDINGS, Level, cheapest
from deadheat.distances.scaling import Rows, by_piece
from deadheat.support.arrays import Float64, Int64


class Product(Bounded):
    """Distances whose score is a matrix product: q·x, minus an offset that the column brings."""

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

    def expecting(self, n_relevant: float, symmetric: bool) -> Self:
        if len(self.levels) == 1:
            return self
        return self.at_levels(cheapest(self.levels, self.dim, n_relevant, symmetric))

    def device_product(self, device: TensorDevice, queries: Tensor, columns: Tensor) -> Tensor:
        return device.product(queries, columns)

    def device_pairs(self, queries: Tensor, columns: Tensor) -> Tensor:
        return (queries * columns).sum(dim=1)

    def recheck_bound(self, queries: Int64, band: tuple[int, int]) -> Float64:
        return self._errors(4, np.float32, np.float64).of_band(queries, self._items_of(band))

    def pair_scores(self, queries: Int64, columns: Int64) -> Float64:
        items = self.columns.item_of_column[columns]
        scores = _dots(self.queries, self.items, queries, items)
        if len(self.offset):
            scores -= self.offset[items]
        return scores

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

    def errors_of(self, level: Level) -> ScoreErrors:
        if level.exact:
            return ScoreErrors.none(self.query_norm, self.item_norm)
        return self._errors(level.terms(self.dim) + ROUNDINGS, level.dtype, level.dtype)

    def _errors(self, roundings: int, dtype: DTypeLike, of_offsets: DTypeLike) -> ScoreErrors:
        """What bounds the errors where products have so many roundings in a row, and offsets are of a type."""
        part, tiny = self.relative_error(roundings, dtype), exact.underflow(self.dim, dtype)
        relative, relative_tiny = np.inf, np.inf
        if self._nonnegative:  # a sum of products of one sign; without underflow it is 0 where it should be
            of_query, of_item = self._least_sizes
            safe = min(of_query * of_item, of_query, of_item) > 4 * float(np.finfo(dtype).tiny)
            relative, relative_tiny = part * (1 + 8 * part), 0.0 if safe else 2 * tiny
        sizes = self.query_norm, self.item_norm, self.beside(part, of_offsets)
        return ScoreErrors(*sizes, self.offset, part, tiny, relative, relative_tiny)

    def beside(self, part: float, dtype: DTypeLike) -> Float64:
        """How far scores may be off because of the offsets of items, in a type; products are off by a part."""
        return np.zeros(len(self.item_norm))

    def pair_bound(self, queries: Int64, columns: Int64, scores: Float64 | None = None) -> Float64:
        bound = super().pair_bound(queries, columns, scores)
        if scores is None or self.levels[-1].exact or self._sizes is None:
            return bound
        queries, items = np.broadcast_arrays(queries, self.columns.item_of_column[columns])
        sizes = _dots(*self._sizes, queries.ravel(), items.ravel()).reshape(bound.shape)
        smaller: Float64 = np.minimum(bound, self.errors(self.levels[-1]).of_sizes(sizes, items))
        return smaller

    def zeros_exact(self, level: int) -> bool:
        return not len(self.offset) and self.errors(self.levels[level]).relative_tiny == 0

    def relative_error(self, roundings: int, dtype: DTypeLike) -> float:
        """What part of itself a product may be off that has so many roundings in a row."""
        return exact.gamma(roundings, dtype)

    @cached_property
    def _sizes(self) -> tuple[Rows, Rows] | None:
        """The rows with the sizes of their numbers, if these are so different in most that their products tell more."""
        if self._nonnegative or not all(self.for_both(scaling.mostly_spread)):
            return None
        queries = scaling.sizes(self.queries)
        return queries, queries if self.items is self.queries else scaling.sizes(self.items)

    @cached_property
    def _least_sizes(self) -> tuple[float, float]:
        """The sizes of the smallest numbers of queries and of items, as they are multiplied, that are not zero."""
        of_queries = self.queries.least_size()
        return of_queries, of_queries if self.items is self.queries else self.items.least_size()


def _dots(left: Rows, right: Rows, rows: Int64, others: Int64) -> Float64:
    """The products of pairs of rows in float64."""
    of_left, left_places = left.gather(rows)
    of_right, right_places = right.gather(others)
    return np.asarray(_core.pair_dots(*of_left, left_places, *of_right, right_places))
