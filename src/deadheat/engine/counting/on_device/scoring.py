"""The scores of a distance on a device of PyTorch's, by their form: what the core computes, with tensors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from deadheat.engine.counting.layout import ColumnRange
from deadheat.engine.counting.on_device.device import Device, Tensor
from deadheat.engine.distances.distance import Distance
from deadheat.support.arrays import Int32, Int64, slices

PAIR_NUMBERS = 1 << 22  # numbers of rows that are gathered at a time for single pairs


class Form(NamedTuple):
    """What scores are made from: for all pairs of two matrices of rows, and for the pairs of their rows in turn."""

    all_pairs: Callable[[Device, Tensor, Tensor], Tensor]
    pairs: Callable[[Tensor, Tensor], Tensor]


def _overlap(device: Device, queries: Tensor, columns: Tensor) -> Tensor:
    sums = device.torch.minimum(queries[:, :1], columns[:, 0])
    for k in range(1, queries.shape[1]):
        sums += device.torch.minimum(queries[:, k : k + 1], columns[:, k])
    return sums


def _bits(device: Device, queries: Tensor, columns: Tensor) -> Tensor:
    """−Σ(q − x)² = (q·x − Σq) + (q·x − Σx) for numbers 0 and 1, every part an integer below 2^24."""
    products = device.product(queries, columns)
    return (products - queries.sum(dim=1)[:, None]) + (products - columns.sum(dim=1))


FORMS = {
    "product": Form(
        lambda device, queries, columns: device.product(queries, columns),
        lambda queries, columns: (queries * columns).sum(dim=1),
    ),
    "difference": Form(
        lambda device, queries, columns: device.torch.cdist(queries, columns, p=1.0).neg_(),
        lambda queries, columns: -(queries - columns).abs().sum(dim=1),
    ),
    "overlap": Form(_overlap, lambda queries, columns: queries.minimum(columns).sum(dim=1)),
    "bits": Form(_bits, lambda queries, columns: -(queries - columns).abs().sum(dim=1)),
}


@dataclass
class Strip:
    """Some columns on the device: their rows, their weights, and what is taken off or divides their products."""

    columns: range
    band: int
    rows: Tensor  # of the type of the last level
    weight: Tensor  # int32
    numbers: Tensor | None  # float64, one a column
    shorter: dict[Any, Tensor] = field(default_factory=dict)

    def rows_as(self, dtype: Any) -> Tensor:
        if dtype not in self.shorter:
            self.shorter[dtype] = self.rows.to(dtype)
        return self.shorter[dtype]


class DeviceScorer:
    def __init__(self, device: Device, distance: Distance) -> None:
        self.device, self.distance = device, distance
        self.last, self.form = len(distance.levels) - 1, FORMS[distance.form]

    def queries(self, queries: Int64) -> Tensor:
        return self._rows(self.distance.queries, queries)

    def strip(self, columns_of: ColumnRange, weight: Int32) -> Strip:
        columns = np.arange(columns_of.columns.start, columns_of.columns.stop)
        items = self.distance.columns.item_of_column[columns]
        numbers = next((each[items] for each in (self.distance.squares, self.distance.offset) if len(each)), None)
        uploaded = None if numbers is None else self.device.upload(numbers)
        rows = self._rows(self.distance.items, items)
        return Strip(columns_of.columns, columns_of.band, rows, self.device.upload(weight[columns]), uploaded)

    def tile(self, number: int, left: Tensor, strip: Strip) -> Tensor:
        """Scores of level `number`, shape (n_row, n_column)."""
        dtype = self.device.dtype(self.distance.levels[number].row_dtype)
        return self._finish(self.form.all_pairs(self.device, left.to(dtype), strip.rows_as(dtype)), strip.numbers)

    def pairs(self, left: Tensor, strip: Strip, rows: Tensor, places: Tensor) -> Tensor:
        """Scores of the last level, in float64, of single pairs of a row and a place in the strip."""
        products = self.device.torch.empty(len(rows), dtype=self.device.torch.float64, device=self.device.where)
        for part in slices(len(rows), max(1, PAIR_NUMBERS // left.shape[1])):
            products[part] = self.form.pairs(left[rows[part]].double(), strip.rows[places[part]].double())
        return self._finish(products, None if strip.numbers is None else strip.numbers[places])

    def _rows(self, rows: Any, numbers: Int64) -> Tensor:
        if self.distance.form == "bits":
            packed = self.device.upload(rows[numbers].view(np.uint8))
            places = self.device.torch.arange(8, dtype=self.device.torch.uint8, device=self.device.where)
            ones: Tensor = ((packed[:, :, None] >> places) & 1).flatten(1)
            return ones.to(self.device.dtype(self.distance.levels[-1].dtype))
        return self.device.upload(rows.take(numbers, self.distance.levels[-1].row_dtype))

    def _finish(self, products: Tensor, numbers: Tensor | None) -> Tensor:
        """Scores from products, which may be overwritten."""
        if numbers is None:
            return products
        if len(self.distance.squares):
            products = products.double()
            return products * products.abs() / numbers
        return products.sub_(numbers.to(products.dtype))
