"""The counting pass on a device of PyTorch's: the products and the counting there, what they leave open decided here.

Blocks, cuts and counters are those of `passes`. What is new is how a strip of columns is counted for a block:

    rows, float64 ──> product ──> slots among edges ──> counts ─────────────────────────────────> added to the block's
                                        └──open──> float64 ──> slots ──> counts ────────────────> counters, integers all
                                                                └──open──> exact arithmetic ────>

The result is that of the NumPy path, by the same proof: no slot is taken for sure unless the score is further from the
edges than the bound on its error, and the bounds hold for any order of summation, with or without fused multiply-add.
Counts are integers, so their order is all the same.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import BoundedSemaphore, Event, Lock
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from deadheat.counting.blocks import Block
from deadheat.counting.counters import Counter, edges_of
from deadheat.counting.device import Device, Tensor
from deadheat.counting.layout import ColumnRange
from deadheat.counting.passes import CountingPass
from deadheat.counting.relevant import leave_out_junk
from deadheat.counting.tiles import Ready
from deadheat.distances import Distance
from deadheat.support.arrays import Int32, Int64, slices

PAIR_NUMBERS = 1 << 22  # numbers of rows that are gathered at a time for single pairs
MANY_OPEN = 1 / 64  # share of a tile beyond which a float64 product is cheaper than single pairs
_ROW_BYTES = 1 << 27  # columns that are on the device at a time, for each of
_STRIPS = 2  # strips: one that is counted, and one that is made ready


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

    def strip(self, columns_of: ColumnRange, weight: Int32) -> Strip:
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
        for part in slices(len(rows), step):
            queries, columns = left[rows[part]].double(), strip.rows[places[part]].double()
            products[part] = self.distance.device_pairs(queries, columns)
        numbers = None if strip.numbers is None else strip.numbers[places]
        return self.distance.device_finish(products, numbers)


class DeviceCountingPass(CountingPass):
    """A counting pass whose tiles are on a device: in strips of columns, each counted for one block after another.

    Blocks and shards are those of the NumPy path, so that either goes on from the other's checkpoint.
    """

    def __init__(self, device: Device, distance: Distance, *args: Any, **options: Any) -> None:
        super().__init__(distance, *args, **options)
        self.problem = self.problem.at(self.problem.distance.at_levels(device.levels(self.problem.distance)))
        self.device, self.scorer = device, DeviceScorer(device, self.problem.distance)
        self.lock, self.turn = Lock(), BoundedSemaphore(_STRIPS)
        self.level = 0  # at which tiles are best computed
        self._seen = self._open = 0
        self._prepared: WeakKeyDictionary[Any, dict[Any, Any]] = WeakKeyDictionary()

    def cut(self) -> tuple[list[Int64], list[ColumnRange]]:
        blocks, _ = super().cut()
        if not blocks:
            return blocks, []
        row = self.scorer.rows(self.problem.distance.query_rows(self.scorer.last, blocks[0][:1]))
        most = min(
            self.device.cells() // max(map(len, blocks)), _ROW_BYTES // (row.element_size() * max(1, row.shape[1]))
        )
        return blocks, self.layout.column_ranges(max(64, most))

    def columns_made_ready(self, *args: Any) -> dict[ColumnRange, Ready]:
        return {}

    def rows_made_ready(self, *args: Any) -> dict[int, Ready]:
        return {}

    def count_range(
        self, columns: ColumnRange, blocks: dict[int, Block], ready: Any, stop: Event, report: Callable[[int], None],
        mirror: Block | None = None, of_first: Any = None,
    ) -> None:  # fmt: skip
        """Count a range of columns for all blocks."""
        with self.turn, self.device.plain():
            strip = self.scorer.strip(columns, self.problem.weight)
            for block in blocks.values():
                if stop.is_set():
                    return
                self._count_block(block, strip)
                report(len(block.queries) * len(strip.columns))

    def _count_block(self, block: Block, strip: Strip) -> None:
        """Count a strip for a block: on the device, one tile at a time, and then what that leaves open."""
        rows = self.problem.distance.query_rows(self.scorer.last, block.queries)
        with self.lock:
            left, level = self.scorer.rows(rows), self.level
            tile = self.scorer.tile(level, left, strip)
            self._leave_out(tile, block, strip)
            counted = [self._count(counter, level, tile, left, strip) for counter in block.counters]
        with block.counting, block.lock:
            for counter, (counts, still_open) in zip(block.counters, counted, strict=True):
                counter.counts += counts
                if len(still_open[0]):
                    counter.place(*still_open)

    def _leave_out(self, tile: Tensor, block: Block, strip: Strip) -> None:
        """Set the scores of excluded columns to minus infinity."""
        of_block = self._prepared.setdefault(block, {})
        if "excluded_columns" not in of_block:
            of_block["excluded_columns"] = self.device.upload(block.excluded_columns)
        columns, start, stop = of_block["excluded_columns"], strip.columns.start, strip.columns.stop
        rows, entries = self.device.torch.nonzero((columns >= start) & (columns < stop), as_tuple=True)
        tile[rows, (columns[rows, entries] - start).long()] = -math.inf
        if self.problem.relevance.candidates.junk is not None:
            of_junk = np.zeros(tile.shape, dtype=np.float32)
            leave_out_junk(self.problem, block.queries, strip.columns, of_junk)
            tile += self.device.upload(of_junk).to(tile.dtype)

    def _count(self, counter: Counter, level: int, tile: Tensor, left: Tensor, strip: Strip) -> tuple[Any, list[Any]]:
        """What a tile of a level adds to the counts of a counter, and what it leaves to `Counter.place`."""
        torch, (n_row, n_slot) = self.device.torch, counter.counts.shape
        counts = torch.zeros(n_row * n_slot, dtype=torch.int32, device=self.device.where)
        edges, closed = self._edges(counter, level, strip.band)
        slots = torch.searchsorted(edges, tile, right=True)
        is_open = torch.zeros_like(slots, dtype=torch.bool) if closed else (slots & 1).bool()
        first = torch.arange(0, n_row * n_slot, n_slot, device=self.device.where)
        counts.scatter_add_(0, (slots + first[:, None]).flatten(), torch.where(is_open, 0, strip.weight).flatten())
        rows, places = torch.nonzero(is_open, as_tuple=True)
        if level == self.scorer.last:
            scores, guess = tile[rows, places].double(), slots[rows, places] >> 1
        else:
            self._learn(tile.numel(), len(rows))
            del slots, is_open  # memory that a float64 tile may need
            rows, places, scores, guess = self._look_closer(counter, tile, left, strip, counts, rows, places)
        still_open = (rows, places + strip.columns.start, scores, guess)
        return counts.view(n_row, n_slot).cpu().numpy(), [part.cpu().numpy() for part in still_open]

    def _look_closer(
        self, counter: Counter, tile: Tensor, left: Tensor, strip: Strip, counts: Tensor, rows: Tensor, places: Tensor
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Count open items, in ascending order of rows, by scores of the last level; returns what stays open."""
        torch, last, n_slot = self.device.torch, self.scorer.last, counter.counts.shape[1]
        if len(rows) > MANY_OPEN * tile.numel():
            scores = self.scorer.tile(last, left, strip)[rows, places]
        else:
            scores = self.scorer.pairs(left, strip, rows, places)
        edges, closed = self._edges(counter, last, strip.band)
        slots = self._slots_of_pairs(edges, rows, scores)
        is_open = torch.zeros_like(slots, dtype=torch.bool) if closed else (slots & 1).bool()
        counts.scatter_add_(0, rows * n_slot + slots, torch.where(is_open, 0, strip.weight[places]))
        return rows[is_open], places[is_open], scores[is_open], slots[is_open] >> 1

    def _slots_of_pairs(self, edges: Tensor, rows: Tensor, scores: Tensor) -> Tensor:
        """The slots of single scores among the edges of their rows, rows ascending: row after row, filled up."""
        torch = self.device.torch
        if not len(rows):
            return rows
        lengths = torch.bincount(rows, minlength=len(edges))
        within = torch.arange(len(rows), device=self.device.where) - (lengths.cumsum(0) - lengths)[rows]
        shape = len(edges), int(lengths.max())
        matrix = torch.full(shape, -math.inf, dtype=torch.float64, device=self.device.where)
        matrix[rows, within] = scores
        return torch.searchsorted(edges, matrix, right=True)[rows, within]

    def _edges(self, counter: Counter, level: int, band: int) -> tuple[Tensor, bool]:
        """The edges of a counter for the scores of a level in a band, and whether slots between them are closed."""
        of_counter = self._prepared.setdefault(counter, {})
        if (level, band) not in of_counter:
            if len(of_counter) > 3:  # bands that have been passed
                of_counter.clear()
            edges, n_edge, closed = edges_of(self.problem.distance, counter.cuts, counter.queries, level, band)
            of_counter[level, band] = self.device.upload(np.ascontiguousarray(edges[:, : max(1, n_edge)])), closed
        found: tuple[Tensor, bool] = of_counter[level, band]
        return found

    def _learn(self, seen: int, n_open: int) -> None:
        """Begin with the last level from now on if the first has left much open."""
        self._seen, self._open = self._seen + seen, self._open + n_open
        if self._open > MANY_OPEN * self._seen:
            self.level = self.scorer.last
