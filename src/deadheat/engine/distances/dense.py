"""Base classes of distances between rows of numbers, and of those whose score is a matrix product."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
from numpy.typing import DTypeLike

import deadheat._core as _core
from deadheat._core import ScoreErrors
from deadheat.engine.distances import bounds, scaling
from deadheat.engine.distances.columns import Columns
from deadheat.engine.distances.distance import CHUNKS, Distance, Level
from deadheat.engine.distances.patterns import Patterns
from deadheat.engine.distances.scaling import ScaledRows
from deadheat.inputs.source import Source
from deadheat.support.arrays import Float64
from deadheat.support.caching import cached_property

_Result = TypeVar("_Result")


class Dense(Distance):
    """Distances between rows of numbers: the rows as given, and the same scaled so that they stay small."""

    takes = "numbers"
    zero_if_disjoint = False  # whether the score of rows with disjoint support is 0
    differences = False  # whether the distance depends on the differences of numbers alone
    key_kind: ClassVar[str]
    queries: ScaledRows
    items: ScaledRows

    def __init__(self, query: Source, gallery: Source) -> None:
        self.query_raw, self.gallery_raw = query, gallery
        self._given = query, gallery
        self.n_query, self.dim = query.shape

    @cached_property
    def patterns(self) -> Patterns | None:  # type: ignore[override]
        rows = self.query_raw, self.gallery_raw
        return None if self.levels[-1].exact else Patterns.of(*rows, self.zero_if_disjoint, self.differences)

    @cached_property
    def _nonnegative(self) -> bool:
        return all(self.for_both(lambda raw: bool((raw.extremes[:, 0] >= 0).all())))

    def for_both(self, work: Callable[[Source], _Result]) -> tuple[_Result, _Result]:
        """Apply a function to the queries and to the gallery; once if they are the same."""
        of_query = work(self.query_raw)
        return of_query, of_query if self.gallery_raw is self.query_raw else work(self.gallery_raw)

    def take_off_centre(self) -> None:
        """Subtract the common centre from all rows, exactly, if it makes them small."""
        centre = scaling.common_centre(self.query_raw, self.gallery_raw)
        if centre is not None:
            self.query_raw, self.gallery_raw = self.for_both(lambda source: scaling.less(source, centre))

    def scale(self, limit: float) -> float:
        """Divide all rows by one number, `unit`: to integers up to `limit` if possible, else by a power of two.

        Returns the largest of the integers, infinity if there are none.
        """
        self.unit, largest = scaling.common_unit(self.query_raw, self.gallery_raw, limit)
        if largest == np.inf:
            self.unit = scaling.power_of_two(self.query_raw, self.gallery_raw)
        self.queries, self.items = self.for_both(lambda raw: ScaledRows.over(raw, np.array([self.unit])))
        return largest

    def take_off_usual(self, sizes: Float64, *, squares: bool) -> None:
        """Set the offsets to half of the squared norms, or sums, of items less a `usual` one of these."""
        self.usual = scaling.usual(sizes)
        left, self._offset_error = scaling.sums_less(self.items, self.usual, squares=squares)
        self.offset = left / 2
        if self.usual and self._nonnegative:  # what is left of the sizes is what errors are relative to
            self.columns = self.columns.in_bands(np.maximum(np.abs(self.offset), bounds.LEAST_NORM))

    def offset_errors(self, dtype: DTypeLike) -> Float64:
        """Bound the errors of scores of a type that are due to the offsets of items."""
        if not len(self.offset):
            return np.zeros(len(self.columns.column_of_item))
        return bounds.of_offset(self.offset, self._offset_error, self.dim, dtype)

    @cached_property
    def exact(self) -> Any:
        return _core.ExactPairs(self.key_kind, self.query_raw, self.gallery_raw)


class Product(Dense):
    """Distances whose score is a matrix product: q·x, minus an offset of the column."""

    form = "product"

    def expecting(self, n_relevant: float, symmetric: bool) -> Self:
        """Choose the levels that take the least time: float32, in long or short chunks of dimensions, or float64 alone.

        Measured in ns per item: a product costs 0.02 per dimension, 0.04 in float64, each chunk another 0.03, and an
        exact decision on an open item 60 and 0.15 per dimension. The share of open items is estimated as for random
        directions: those within the bound of one of the thresholds.
        """
        if len(self.levels) == 1:
            return self
        dim, products, (first, last) = self.dim, 0.5 if symmetric else 1.0, self.levels

        def cost(level: Level) -> float:
            bound = bounds.gamma(level.terms(dim) + bounds.ROUNDINGS, np.float32)
            share = min(1.0, n_relevant * 2 * bound * 0.28 * math.sqrt(dim))
            return products * (0.02 * dim + 0.03 * dim / (level.chunk or dim)) + share * (60 + 0.15 * dim)

        best = min((first._replace(chunk=chunk) for chunk in CHUNKS), key=cost)
        return self.having(levels=(last,) if cost(best) > products * 0.04 * dim + 1 else (best, last))

    def scale(self, limit: float = 2.0**26) -> float:
        largest = super().scale(limit)
        self.query_norm, self.item_norm = self.for_both(lambda raw: scaling.norms(raw, self.unit))
        self.columns = Columns.of(self.gallery_raw).in_bands(self.item_norm)
        return largest

    def errors(self, level: Level, **of_squares: Any) -> ScoreErrors:
        dtype = level.dtype
        part, tiny = self.relative_error(level.terms(self.dim), dtype), bounds.underflow(self.dim, dtype)
        relative, relative_tiny = np.inf, np.inf
        if self._nonnegative:  # a sum of products of one sign; without underflow it is 0 where it should be
            of_query, of_item = self._least_sizes
            safe = min(of_query * of_item, of_query, of_item) > bounds.SAFE_SIZE * float(np.finfo(dtype).tiny)
            relative, relative_tiny = bounds.of_one_sign(part, 0.0 if safe else tiny)
        return ScoreErrors(
            of_query=self.query_norm, of_item=self.item_norm, part=part, tiny=tiny,
            offset_error=self.offset_errors(dtype), offset=self.offset,
            relative=relative, relative_tiny=relative_tiny, **of_squares,
        )  # fmt: skip

    def relative_error(self, terms: int, dtype: DTypeLike) -> float:
        """Bound the error of a product relative to the sizes of its rows, for `terms` successive roundings."""
        return bounds.of_sum(terms, dtype)

    @cached_property
    def spread(self) -> bool:  # type: ignore[override]
        return not self._nonnegative and all(self.for_both(scaling.mostly_of_wide_range))

    @cached_property
    def _least_sizes(self) -> tuple[float, float]:
        """Return the sizes of the smallest nonzero numbers of queries and of items, as they are multiplied."""
        of_queries = self.queries.least_size()
        return of_queries, of_queries if self.items is self.queries else self.items.least_size()
