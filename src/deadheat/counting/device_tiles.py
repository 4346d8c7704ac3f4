"""Tiles of scores on a device: what `Distance.tile` and `Distance.pair_scores` give, in their types."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deadheat.counting.device import Device, Tensor
from deadheat.counting.layout import ColumnRange
from deadheat.distances import Distance

PAIR_NUMBERS = 1 << 22  # numbers of rows that are gathered at a time for single pairs


@dataclass
class Strip:
    """Some columns on the device: their rows, their weights, and what `Distance.device_finish` needs."""

    columns: range
    band: int
    rows: Tensor  # of the type of the last level
    weight: Tensor  # int32
    numbers: Tensor | None  # float64, one a column
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

    def rows(self, raw: NDArray[Any]) -> Tensor:
        """Rows of the last level on the device."""
        return self.distance.device_rows(self.device, raw)

    def strip(self, columns_of: ColumnRange, weight: NDArray[np.int32]) -> Strip:
        """The columns of a range."""
        distance, columns = self.distance, np.arange(columns_of.columns.start, columns_of.columns.stop)
        rows, numbers = self.rows(distance.column_rows(self.last, columns)), distance.device_numbers(columns)
        uploaded = None if numbers is None else self.device.upload(numbers)
        return Strip(columns_of.columns, columns_of.band, rows, self.device.upload(weight[columns]), uploaded)

    def tile(self, number: int, left: Tensor, strip: Strip) -> Tensor:
        """Scores of level `number`, shape (n_row, n_column)."""
        dtype = self.device.dtype(self.distance.levels[number].row_dtype)
        products = self.distance.device_product(self.device, left.to(dtype), strip.rows_as(dtype))
        return self.distance.device_finish(products, strip.numbers)

    def pairs(self, left: Tensor, strip: Strip, rows: Tensor, places: Tensor) -> Tensor:
        """Scores of the last level, in float64, of single pairs of a row and a place in the strip."""
        products = self.device.torch.empty(len(rows), dtype=self.device.torch.float64, device=self.device.where)
        step = max(1, PAIR_NUMBERS // left.shape[1])
        for start in range(0, len(rows), step):
            part = slice(start, start + step)
            queries, columns = left[rows[part]].double(), strip.rows[places[part]].double()
            products[part] = self.distance.device_pairs(queries, columns)
        numbers = None if strip.numbers is None else strip.numbers[places]
        return self.distance.device_finish(products, numbers)
