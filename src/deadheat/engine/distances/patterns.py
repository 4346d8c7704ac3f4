"""Places of the numbers in rows of few different numbers or many zeros, by which two items are seen to tie.

Codes of two values, small counts, one-hot rows: two items whose rows hold the same numbers, each as often, are equally
far from a query if each of its numbers meets each of theirs as often; `core/counting/same_pattern.h` has the rules.
Sparse rows: products of rows with disjoint support are 0. Both are found by counting bits, without a product.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import deadheat._core as _core
from deadheat.inputs.source import Source
from deadheat.support.arrays import Bool, Float64, Int32, slices
from deadheat.support.caching import cached_property

_SAMPLE = 256  # rows that show whether it is worth looking at all of them
_ELEMENTS = 1 << 22  # examined in one call
_MOST_DIM = 1 << 16  # places are counted in 16 bits

Masks = NDArray[np.uint64]


class Placed(NamedTuple):
    """The places of the numbers in some rows: masks (n, LEVELS · words), and codes for rows with the same numbers.

    Rows of one `table` hold the same numbers, rows of one `kind` also hold each as often; both are −1 for rows of more
    than a few numbers.
    """

    masks: Masks
    table: Int32
    kind: Int32


@dataclass(frozen=True)
class Patterns:
    """The places of the numbers in the rows of queries and of items.

    `zeros` says whether all rows with disjoint support have one score, `differences` whether a distance depends on the
    differences of numbers alone.
    """

    query: Placed
    item: Placed
    zeros: bool
    differences: bool

    @cached_property
    def levels(self) -> int:
        """Most different numbers that a row has; 1 if all rows have more than a few."""
        words = self.item.masks.shape[1] // _core.LEVELS
        used = [
            k for k in range(1, _core.LEVELS) for rows in (self.query, self.item) if rows.masks[:, k * words :].any()
        ]
        return max(used, default=0) + 1

    def in_core(self) -> Any:
        """Return the patterns as the core reads them."""
        return _core.Patterns(
            query=self.query.masks, item=self.item.masks, query_table=self.query.table, item_table=self.item.table,
            item_kind=self.item.kind, zeros=self.zeros, differences=self.differences, levels=self.levels,
        )  # fmt: skip

    @classmethod
    def of(cls, query: Source, gallery: Source, zeros: bool, differences: bool) -> Patterns | None:
        """Return the patterns of all rows, or None if they are unlikely to decide any ties."""
        if query.shape[1] >= _MOST_DIM or not _promising(gallery, zeros):
            return None
        if gallery is query:
            placed = _placed(*_looked_at(query, len(query)))
            return cls(placed, placed, zeros, differences)
        parts = _looked_at(query, len(query)), _looked_at(gallery, len(gallery))
        both = _placed(*(np.concatenate(pair) for pair in zip(*parts, strict=True)))
        of_query, of_item = (
            Placed(both.masks[rows], both.table[rows], both.kind[rows]) for rows in np.s_[: len(query), len(query) :]
        )
        return cls(of_query, of_item, zeros, differences)


def _promising(source: Source, zeros: bool) -> bool:
    """Return whether half of the first rows have few numbers, or one pair in fifty has disjoint support."""
    masks, values = _looked_at(source, min(_SAMPLE, len(source)))
    if np.isnan(values[:, 0]).mean() <= 0.5:
        return True
    if not zeros:
        return False
    places = np.bitwise_or.reduce(masks.reshape(len(masks), _core.LEVELS, -1), axis=1)  # of all numbers, (n, words)
    disjoint = ~(places[:, None, :] & places[None, :, :]).any(axis=2)
    return bool(disjoint.mean() > 0.02)


def _looked_at(source: Source, n: int) -> tuple[Masks, Float64]:
    words = -(-source.shape[1] // 64)
    masks, values = np.empty((n, _core.LEVELS * words), dtype=np.uint64), np.empty((n, _core.LEVELS))
    for part in slices(n, max(1, _ELEMENTS // source.shape[1])):
        _core.level_masks(source.read(part.start, min(part.stop, n)), masks[part], values[part])
    return masks, values


def _placed(masks: Masks, values: Float64) -> Placed:
    counts = np.bitwise_count(masks).reshape(len(masks), _core.LEVELS, -1).sum(axis=2, dtype=np.float64)
    few = ~np.isnan(values[:, 0])
    table, kind = _numbered(values, few), _numbered(np.concatenate([values, counts], axis=1), few)
    return Placed(masks, table, kind)


def _numbered(rows: Float64, chosen: Bool) -> Int32:
    """Assign one number to all chosen rows that are equal; −1 to the others."""
    number = np.full(len(rows), -1, dtype=np.int32)
    if chosen.any():
        number[chosen] = np.unique(rows[chosen], axis=0, return_inverse=True)[1].ravel()
    return number
