"""Distances whose score is a matrix product."""

from __future__ import annotations

from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import DTypeLike

from deadheat.engine.distances import bounds, scaling
from deadheat.engine.distances.bounds import ScoreErrors
from deadheat.engine.distances.columns import Columns
from deadheat.engine.distances.dense import Dense
from deadheat.engine.distances.levels import Level, cheapest
from deadheat.support.arrays import Float64


class Product(Dense):
    """Distances whose score is a matrix product: q·x, minus an offset that the column brings."""

    form = "product"

    def expecting(self, n_relevant: float, symmetric: bool) -> Self:
        if len(self.levels) == 1:
            return self
        return self.at_levels(cheapest(self.levels, self.dim, n_relevant, symmetric))

    def scale(self, limit: float = 2.0**26) -> float:
        largest = super().scale(limit)
        self.query_norm, self.item_norm = self.for_both(lambda raw: scaling.norms(raw, self.unit))
        self.columns = Columns.of(self.gallery_raw).in_bands(self.item_norm)
        return largest

    def errors(self, level: Level) -> ScoreErrors:
        dtype = level.dtype
        part, tiny = self.relative_error(level.terms(self.dim), dtype), bounds.underflow(self.dim, dtype)
        relative, relative_tiny = np.inf, np.inf
        if self._nonnegative:  # a sum of products of one sign; without underflow it is 0 where it should be
            of_query, of_item = self._least_sizes
            safe = min(of_query * of_item, of_query, of_item) > 4 * float(np.finfo(dtype).tiny)
            relative, relative_tiny = bounds.of_one_sign(part, 0.0 if safe else tiny)
        sizes = self.query_norm, self.item_norm, self.beside(part, dtype)
        return ScoreErrors(*sizes, self.offset, part, tiny, relative, relative_tiny)

    def beside(self, part: float, dtype: DTypeLike) -> Float64:
        """How far scores may be off because of the offsets of items, in a type; products are off by a part."""
        return np.zeros(len(self.item_norm))

    def relative_error(self, terms: int, dtype: DTypeLike) -> float:
        """What part of the sizes of rows a product may be off whose sum has so many roundings in a row."""
        return bounds.of_sum(terms, dtype)

    @cached_property
    def spread(self) -> bool:  # type: ignore[override]
        return not self._nonnegative and all(self.for_both(scaling.mostly_spread))

    @cached_property
    def _least_sizes(self) -> tuple[float, float]:
        """The sizes of the smallest numbers of queries and of items, as they are multiplied, that are not zero."""
        of_queries = self.queries.least_size()
        return of_queries, of_queries if self.items is self.queries else self.items.least_size()
