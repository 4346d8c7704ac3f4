"""Rows on a card, and tiles of their scores in float64: `src/core/pass/scores.h` in PyTorch."""

from __future__ import annotations

from typing import Any

import numpy as np

from deadheat.engine.counting.card.device import Card, Tensor
from deadheat.engine.distances.distance import Distance
from deadheat.support.arrays import Int64


class Rows:
    """Scaled rows, or words of bits: kept on the card, or uploaded when they are asked for."""

    def __init__(self, card: Card, rows: Any) -> None:
        self.card, self.rows, self.words = card, rows, isinstance(rows, np.ndarray)
        self._kept = card.upload(rows.view(np.int64)) if self.words else card.kept(rows.source)

    def take(self, numbers: Int64, dtype: Any) -> Tensor:
        """Return some rows, scaled in float64, or bits."""
        kept, upload, torch = self._kept, self.card.upload, self.card.torch
        raw = upload(self.rows.source.take(numbers)) if kept is None else kept[upload(numbers)]
        if self.words:
            return ((raw[:, :, None] >> torch.arange(64, device=raw.device)) & 1).flatten(1).to(dtype)
        factor = upload(self.rows.factor if len(self.rows.factor) == 1 else self.rows.factor[numbers])[:, None]
        return (raw.double() / factor if self.rows.divide else raw.double() * factor).to(dtype)


def _overlap(card: Card, queries: Tensor, columns: Tensor) -> Tensor:
    sums = card.torch.minimum(queries[:, :1], columns[:, 0])
    for k in range(1, queries.shape[1]):
        sums += card.torch.minimum(queries[:, k : k + 1], columns[:, k])
    return sums


def _bits(card: Card, queries: Tensor, columns: Tensor) -> Tensor:
    """Return −Σ(q − x)² = 2q·x − Σq − Σx: PyTorch counts no ones in words, and products of 0 and 1 are exact."""
    return (queries @ columns.T).mul_(2).sub_(queries.sum(dim=1)[:, None]).sub_(columns.sum(dim=1))


FORMS = {
    "product": lambda card, queries, columns: queries @ columns.T,
    "difference": lambda card, queries, columns: card.torch.cdist(queries, columns, p=1.0).neg_(),
    "overlap": _overlap,
    "bits": _bits,
}


class CardScores:
    """Scores of a distance on a card: of float64 products, and before them of float32, if those are much faster."""

    def __init__(self, card: Card, distance: Distance) -> None:
        first, last = distance.levels[0]._replace(chunk=None), distance.levels[-1]
        short = not card.wide and np.dtype(first.dtype) == np.float32
        last = last._replace(dtype=np.float64, rows=None, chunk=None)
        self.card, self.distance = card, distance.having(levels=(first, last) if short else (last,))
        self.types = [card.torch.float32, card.torch.float64][0 if short else 1 :]
        self.queries = Rows(card, distance.queries)
        self.items = self.queries if distance.items is distance.queries else Rows(card, distance.items)
        self._strip: tuple[Any, Tensor] = (None, None)  # columns of a tile, for the next one

    def tile(self, level: int, queries: Int64, columns: range) -> Tensor:
        """Return the scores of a level, (n_query, n_column)."""
        items = self.distance.columns.item_of_column[columns.start : columns.stop]
        if self._strip[0] != (level, columns):
            self.let_go()
            self._strip = (level, columns), self.items.take(items, self.types[level])
        products = FORMS[self.distance.form](self.card, self.queries.take(queries, self.types[level]), self._strip[1])
        if len(self.distance.squares):
            return (products.abs() * products).div_(self.card.upload(self.distance.squares[items]))
        if len(self.distance.offset):
            products.sub_(self.card.upload(self.distance.offset[items]).to(products.dtype))
        return products.double()

    def let_go(self) -> None:
        """Free the memory of the columns that were used last."""
        self._strip = (None, None)
