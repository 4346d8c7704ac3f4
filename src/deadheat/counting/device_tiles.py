"""Tiles of scores on a device: what `Distance.tile` and `Distance.pair_scores` give, in their types."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deadheat.counting.device import Device, Tensor
from deadheat.counting.layout import ColumnRange
from deadheat.distances import Cosine, Distance, Hamming

PAIR_NUMBERS = 1 << 22  # numbers of rows that are gathered at a time for single pairs


@dataclass
class Strip:
    """Some columns on the device: their rows, their weights, and what `finish` needs."""

    columns: range
    band: int
    rows: Tensor  # of the type of the last level
    weight: Tensor  # int32
    offset: Tensor | None = None  # float64, what is subtracted from products
    squares: Tensor | None = None  # float64, what signed squares of products are divided by
    shorter: dict[Any, Tensor] = field(default_factory=dict)

    def rows_as(self, dtype: Any) -> Tensor:
        """The rows in another type."""
        if dtype not in self.shorter:
            self.shorter[dtype] = self.rows.to(dtype)
        return self.shorter[dtype]


class DeviceScorer:
    """The scores of a distance, on a device: what `Distance.tile` and `Distance.pair_scores` give, in their types."""

    def __init__(self, device: Device, distance: Distance) -> None:
        self.device, self.distance = device, distance
        self.last = len(distance.levels) - 1
        special: dict[str, Callable[..., Tensor]] = {"cityblock": self._cityblock, "hamming": self._hamming}
        self._tile = special.get(distance.name, self._product)

    def rows(self, raw: NDArray[Any]) -> Tensor:
        """Rows of the last level on the device; bits become numbers, 0 and 1."""
        if not isinstance(self.distance, Hamming):
            return self.device.upload(raw)
        torch, dtype = self.device.torch, self.distance.levels[self.last].dtype
        packed = self.device.upload(raw.view(np.uint8))
        places = torch.arange(8, dtype=torch.uint8, device=self.device.where)
        return ((packed[:, :, None] >> places) & 1).flatten(1).to(self.device.dtype(dtype))

    def strip(self, columns_of: ColumnRange, weight: NDArray[np.int32]) -> Strip:
        """The columns of a range."""
        distance, columns = self.distance, np.arange(columns_of.columns.start, columns_of.columns.stop)
        strip = Strip(
            columns_of.columns,
            columns_of.band,
            self.rows(distance.right(self.last, columns)),
            self.device.upload(weight[columns]),
        )
        items = distance.columns.representative[columns]
        if isinstance(distance, Cosine) and distance.squares is not None:
            strip.squares = self.device.upload(distance.squares[items])
        if getattr(distance, "offset", None) is not None:
            strip.offset = self.device.upload(distance.offset[items])  # type: ignore[attr-defined]
        return strip

    def tile(self, number: int, left: Tensor, strip: Strip) -> Tensor:
        """Scores of level `number`, shape (n_row, n_column)."""
        one = self.distance.levels[number]
        dtype = self.device.dtype(one.rows or one.dtype)
        return self._tile(left.to(dtype), strip.rows_as(dtype), strip)

    def pairs(self, left: Tensor, strip: Strip, rows: Tensor, places: Tensor) -> Tensor:
        """Scores of the last level, in float64, of single pairs of a row and a place in the strip."""
        torch = self.device.torch
        scores = torch.empty(len(rows), dtype=torch.float64, device=self.device.where)
        step = max(1, PAIR_NUMBERS // left.shape[1])
        for start in range(0, len(rows), step):
            part = slice(start, start + step)
            one, other = left[rows[part]].double(), strip.rows[places[part]].double()
            if self.distance.name == "cityblock":
                scores[part] = -(one - other).abs().sum(dim=1)
            else:
                scores[part] = (one * other).sum(dim=1)
        return scores if strip.offset is None else scores - strip.offset[places]

    def _product(self, left: Tensor, right: Tensor, strip: Strip) -> Tensor:
        products = self.device.product(left, right)
        if strip.squares is not None:
            products = products.double()
            return products * products.abs() / strip.squares
        return products if strip.offset is None else products.sub_(strip.offset.to(products.dtype))

    def _cityblock(self, left: Tensor, right: Tensor, strip: Strip) -> Tensor:
        return self.device.torch.cdist(left, right, p=1.0).neg_()

    def _hamming(self, left: Tensor, right: Tensor, strip: Strip) -> Tensor:
        """−Σ(q − x)² = (q·x − Σq) + (q·x − Σx) for numbers 0 and 1, every part an integer below 2^24."""
        products = self.device.product(left, right)
        return (products - left.sum(dim=1)[:, None]) + (products - right.sum(dim=1))
