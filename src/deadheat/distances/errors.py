"""How far the scores of a level may be off: for any pair, and for all pairs of a query with a band of columns.

A score is s = p − o, the product p of a query and an item less an offset o of the item (or a sum of differences, with
p = s). Its error is at most

    min(part·query·item + tiny, relative·(s + o) + relative_tiny) + beside

where `query` and `item` are sizes of the rows, 0 for rows whose product is 0 without a rounding, `relative` is what
part of itself a product may be off whose terms have one sign (infinity where they may have either), and `beside` is
what belongs to the item alone, its offset's error. The difference rounds as well: by less than u·|p| + u·|o|, of which
the first belongs to the error of the product, the second to `beside`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from deadheat import _core
from deadheat.support.arrays import Float64, Int64


class ScoreErrors(NamedTuple):
    """What bounds the error of any score of a level; sizes are one a query, the others one an item."""

    of_query: Float64
    of_item: Float64
    beside: Float64
    offset: Float64
    part: float
    tiny: float
    relative: float = np.inf
    relative_tiny: float = np.inf

    @classmethod
    def none(cls, of_query: Float64, of_item: Float64) -> ScoreErrors:
        """Those of exact scores."""
        return cls(of_query, of_item, np.zeros(len(of_item)), np.empty(0), 0.0, 0.0)

    def of_pairs(self, queries: Int64, items: Int64, scores: Float64 | None) -> Float64:
        """A bound for each pair; closer if the scores are told."""
        if queries.ndim == 2 and queries.shape[1] == items.shape[0] == 1:
            return self._of_grid(queries[:, 0], items[0], scores)
        queries, items = np.broadcast_arrays(queries, items)
        out = np.empty(queries.shape)
        numbers = np.empty(0) if scores is None else np.ascontiguousarray(scores, dtype=np.float64).ravel()
        left, right = np.ascontiguousarray(queries).ravel(), np.ascontiguousarray(items).ravel()
        _core.pair_errors(self, left.astype(np.int64, copy=False), right, numbers, out.ravel())
        return out

    def _of_grid(self, queries: Int64, items: Int64, scores: Float64 | None) -> Float64:
        """The same for every query with every item."""
        of_query, of_item = self.of_query[queries], self.of_item[items]
        out: Float64 = np.multiply.outer(self.part * of_query, of_item)
        out += self.tiny
        out[of_query == 0] = 0
        out[:, of_item == 0] = 0
        if scores is not None and self.relative < np.inf:
            products = np.abs(scores + self.offset[items] if len(self.offset) else scores)
            np.minimum(out, self.relative * products + self.relative_tiny, out=out)
        beside = self.beside[items]
        if beside.any():
            out += beside
        return out

    def of_sizes(self, sizes: Float64, items: Int64) -> Float64:
        """A bound from the products of sizes, Σ|q_k x_k|, as they are computed."""
        return np.asarray(self.part * (1 + 8 * self.part) * sizes + (2 * self.tiny + self.beside[items]))

    def of_band(self, queries: Int64, items: Int64) -> Float64:
        """A bound for each query and any of the items."""
        size = self.of_item[items].max()
        product = np.where(
            (self.of_query[queries] > 0) & (size > 0), self.part * self.of_query[queries] * size + self.tiny, 0
        )
        return np.asarray(product + self.beside[items].max())

    def relative_of_band(self, items: Int64) -> tuple[float, float] | None:
        """What part of itself a score of any of the items may be off, and what beside it; None if that is not known."""
        if self.relative == np.inf:
            return None
        offset = float(np.abs(self.offset[items]).max()) if len(self.offset) else 0.0
        beside = float(self.beside[items].max()) + self.relative * offset + self.relative_tiny
        return self.relative, beside * (1 + 2.0**-40)
