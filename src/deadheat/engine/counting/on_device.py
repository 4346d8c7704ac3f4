"""The counting pass on a PyTorch device: products and counting there, exact decisions on open items here.

A device must guarantee three things: single operations in float32 and float64 round as IEEE 754 says, except for
underflow; a product of float32 matrices is as precise as PyTorch's settings say (`Precision`), which can be TF32 or
bfloat16; and a product of float64 matrices is computed in float64. PyTorch is imported when a device is opened.

Blocks, cuts and counters are those of `passes`. Only the way to count a strip of columns for a block is new:

    rows, float64 ──> product ──> slots among edges ──> counts ─────────────────────────────────> added to the block's
                                        └──open──> float64 ──> slots ──> counts ────────────────> counters, integers all
                                                                └──open──> exact arithmetic ────>

The result is that of the NumPy path, by the same proof: no slot counts as decided unless the score is further from the
edges than the bound on its error, and the bounds hold for any order of summation, with or without fused multiply-add.
Counts are integers, so their order does not matter.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from threading import BoundedSemaphore, Lock
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from deadheat.engine.counting.layout import ColumnRange
from deadheat.engine.counting.passes import Assembly, CountingPass, Polling, Section, Shard
from deadheat.engine.distances.bounds import gamma
from deadheat.engine.distances.distance import Distance, Level
from deadheat.errors import InvalidTypeError, InvalidValueError
from deadheat.support import checks
from deadheat.support.arrays import Int32, Int64, slices
from deadheat.support.lazy import require
from deadheat.support.progress import Workers, raise_if_cancelled

Tensor = Any  # torch.Tensor

CELLS = {"cpu": 1 << 20, "cuda": 1 << 25}  # scores that are on the device at a time, at about 40 bytes each
_CELL_BYTES = 128  # free memory that a score has to have on a GPU
PAIR_NUMBERS = 1 << 22  # numbers of rows that are gathered at a time for single pairs
MANY_OPEN = 1 / 64  # share of a tile beyond which a float64 product is cheaper than single pairs
_ROW_BYTES = 1 << 27  # columns that are on the device at a time, for each of
_STRIPS = 2  # strips: one that is counted, and one that is made ready

# What the environment can make of a product behind PyTorch's back, with errors that nobody states
_UNSTATED = {
    "cpu": ("ONEDNN_DEFAULT_FPMATH_MODE", "DNNL_DEFAULT_FPMATH_MODE"),
    "cuda": ("CUBLAS_EMULATE_SINGLE_PRECISION", "CUBLAS_EMULATE_DOUBLE_PRECISION"),
}


class Precision(NamedTuple):
    """Precision of the factors and sums of a float32 product.

    The relative error of a factor is 0, 2^-10 for the 10 explicit bits of TF32, or 2^-7 for the 7 of bfloat16; these
    hold for truncation as for rounding.
    """

    name: str
    input_error: float

    def roundings(self, dim: int) -> int:
        """Return the number of float32 roundings with the relative error of a product of `dim` terms.

        Products of such short numbers are exact. Tensor cores add several at a time: aligned to the largest and cut
        off below its 23rd bit, and the sum cut off again (Fasi, Higham, Mikaitis and Pranesh 2021, Numerical behavior
        of NVIDIA tensor cores). K terms and a sum so far lose at most K + 2 times 2^-23 of the sum of all sizes; for
        K ≥ 2 that is 2^-22 a term. So (1 + ε)²·(1 + γ) − 1 bounds the error, with γ for a unit roundoff of 2^-22.

        Examples
        --------
        >>> IEEE.roundings(128), TF32.roundings(128) * 2.0**-24 < 0.0021
        (0, True)
        """
        if not self.input_error:
            return 0
        relative = (1 + self.input_error) ** 2 * (1 + gamma(4 * (dim + 10), np.float32)) - 1
        return math.ceil(relative * 2**24) + 1


IEEE, TF32, BFLOAT16 = Precision("float32", 0.0), Precision("TF32", 2.0**-10), Precision("bfloat16", 2.0**-7)

_SETTINGS = {"highest": IEEE, "ieee": IEEE, "none": IEEE, "high": TF32, "tf32": TF32}  # what else there is: bfloat16


class Device:
    """A PyTorch device, and the precision of its products while it is used.

    The setting belongs to the whole process, so it is not changed: bounds are made to fit it.
    """

    def __init__(self, torch: Any, where: Any) -> None:
        self.torch, self.where = torch, where
        self.precision = self.current_precision()

    def current_precision(self) -> Precision:
        """Return the lowest precision that any PyTorch setting allows for a product of float32 matrices."""
        backends = self.torch.backends
        backend = backends.cuda if self.where.type == "cuda" else getattr(backends, "mkldnn", None)
        allowed = [IEEE]
        for read in (
            self.torch.get_float32_matmul_precision,
            lambda: backend.matmul.fp32_precision,  # type: ignore[union-attr]  # and what it inherits
            lambda: "tf32" if backends.cuda.matmul.allow_tf32 and self.where.type == "cuda" else "ieee",
        ):
            with suppress(AttributeError, RuntimeError):  # older, or: the other way of setting it is in use
                allowed.append(_SETTINGS.get(read(), BFLOAT16))
        if self.where.type == "cuda" and os.environ.get("NVIDIA_TF32_OVERRIDE", "0") != "0":
            allowed.append(TF32)
        return max(allowed, key=lambda precision: precision.input_error)

    @contextmanager
    def plain(self) -> Iterator[None]:
        """Disable gradients and automatic casts to shorter types."""
        with self.torch.no_grad(), self.torch.autocast(self.where.type, dtype=self.torch.bfloat16, enabled=False):
            yield

    def upload(self, array: NDArray[Any]) -> Tensor:
        """Return a copy of an array on the device; on the CPU the array itself."""
        return self.torch.from_numpy(array).to(self.where)

    def product(self, left: Tensor, right: Tensor) -> Tensor:
        """Return left·rightᵀ, as precise as `precision` says."""
        products = left @ right.T
        now = self.current_precision()
        if now != self.precision:  # the bounds were made for
            raise RuntimeError(
                "PyTorch's precision of float32 products must stay as it is while deadheat works, "
                f"but went from {self.precision.name} to {now.name}"
            )
        return products

    def dtype(self, dtype: Any) -> Any:
        return self.torch.float64 if np.dtype(dtype) == np.float64 else self.torch.float32

    def cells(self) -> int:
        most = CELLS[self.where.type]
        if self.where.type == "cuda":
            free, _ = self.torch.cuda.mem_get_info(self.where)
            most = min(most, free // _CELL_BYTES)
        return most

    def levels(self, distance: Distance) -> tuple[Level, ...]:
        """Return the levels of a distance, with bounds for this device.

        If float32 products are computed with shorter factors, integers are multiplied in float64, to stay exact.
        """
        first = distance.levels[0]._replace(chunk=None)
        if self.precision != IEEE and distance.form in ("product", "bits"):
            if first.exact:
                first = first._replace(dtype=np.float64, rows=None)
            else:
                first = first._replace(roundings=self.precision.roundings(distance.dim))
        return first, *distance.levels[1:]


def open_device(device: Any) -> Device:
    """Return the device for an argument: "cpu", "cuda", "cuda:1", or a `torch.device` of these kinds."""
    torch: Any = require("torch", "torch", f"device {checks.shown(device)}")
    if not isinstance(device, (str, torch.device)):
        raise InvalidTypeError("device", f"must be None, a string or a torch.device, but is {checks.shown(device)}")
    try:
        where = torch.device(device)
    except RuntimeError:
        where = None
    if where is None or where.type not in CELLS:
        raise InvalidValueError("device", f"must be cpu or cuda (or cuda:1 ...), but is {str(device)!r}")
    if where.type == "cuda":
        count = torch.cuda.device_count() if torch.cuda.is_available() else 0
        if (where.index or 0) >= count:
            built = torch.version.cuda or torch.version.hip
            found = f"{count or 'no'} CUDA device{'' if count == 1 else 's'}"
            came = f"PyTorch finds {found}" if built else "this PyTorch is built without CUDA"
            raise InvalidValueError("device", f"must be one that PyTorch can use, but is {str(device)!r}, and {came}")
    for name in _UNSTATED[where.type]:
        if os.environ.get(name, "0").upper() not in ("", "0", "STRICT"):
            raise InvalidValueError(
                f"device {where.type!r}",
                f"must have products whose error is known, but the environment has {name}={os.environ[name]}",
            )
    if where.type == "cpu":
        where = torch.device("cpu")
    elif where.index is None:  # threads have each a current device of their own
        where = torch.device("cuda", torch.cuda.current_device())
    return Device(torch, where)


class Form(NamedTuple):
    """Functions for the products behind scores: of all pairs of rows of two matrices, and of row i with row i."""

    all_pairs: Callable[[Device, Tensor, Tensor], Tensor]
    pairs: Callable[[Tensor, Tensor], Tensor]


def _overlap(device: Device, queries: Tensor, columns: Tensor) -> Tensor:
    sums = device.torch.minimum(queries[:, :1], columns[:, 0])
    for k in range(1, queries.shape[1]):
        sums += device.torch.minimum(queries[:, k : k + 1], columns[:, k])
    return sums


def _bits(device: Device, queries: Tensor, columns: Tensor) -> Tensor:
    """Return −Σ(q − x)² = (q·x − Σq) + (q·x − Σx) for numbers 0 and 1, every part an integer below 2^24."""
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
    """Some columns on the device: rows, weights, and the numbers that are subtracted from, or divide, products."""

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
        """Return the scores of level `number`, shape (n_row, n_column)."""
        dtype = self.device.dtype(self.distance.levels[number].row_dtype)
        return self._finish(self.form.all_pairs(self.device, left.to(dtype), strip.rows_as(dtype)), strip.numbers)

    def pairs(self, left: Tensor, strip: Strip, rows: Tensor, places: Tensor) -> Tensor:
        """Return scores of the last level, in float64, of single pairs of a row and a place in the strip."""
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
        """Return scores from products, which may be overwritten."""
        if numbers is None:
            return products
        if len(self.distance.squares):
            products = products.double()
            return products * products.abs() / numbers
        return products.sub_(numbers.to(products.dtype))


class _Block(NamedTuple):
    core: Any
    uploaded: dict[Any, Any]


class DeviceCountingPass(CountingPass):
    """A counting pass whose tiles are on a device: in strips of columns, each counted for one block after another.

    Blocks and shards are those of the NumPy path, so each can resume from the other's checkpoint.
    """

    def __init__(self, device: Device, distance: Distance, *args: Any, **options: Any) -> None:
        super().__init__(distance, *args, **options)
        self.distance = self.distance.having(levels=device.levels(self.distance))
        self.device, self.scorer = device, DeviceScorer(device, self.distance)
        self.lock, self.turn = Lock(), BoundedSemaphore(_STRIPS)
        self.level = 0  # at which tiles are best computed
        self._seen = self._open = 0

    @cached_property
    def cut_up(self) -> tuple[list[Int64], list[ColumnRange]]:
        blocks, _ = self.layout.cut()
        if not blocks:
            return blocks, []
        with self.device.plain():
            row = self.scorer.queries(blocks[0][:1])
        most = min(
            self.device.cells() // max(map(len, blocks)), _ROW_BYTES // (row.element_size() * max(1, row.shape[1]))
        )
        return blocks, self.layout.column_ranges(max(64, most))

    def large(self, blocks: list[Int64]) -> set[int]:
        return set()  # what is counted here is in tiles

    def streams(self, n_shard: int) -> bool:
        return False

    def count_shards(
        self, shards: list[Shard], assembly: Assembly, threads: int, report: Callable[[int], None], *,
        outside_tiles: bool = True,
    ) -> None:  # fmt: skip
        for queries, sections in shards:
            self._count_shard(queries, sections, assembly, threads, report, outside_tiles)

    def _count_shard(
        self, queries: dict[int, Int64], sections: list[Section], assembly: Assembly, threads: int,
        report: Callable[[int], None], outside_tiles: bool,
    ) -> None:  # fmt: skip
        with Polling(self.core, assembly, report) as poll:
            made = self.core.make(queries, threads, poll)
        blocks = [_Block(block, {}) for block in made]
        ranges = [columns for section in sections for columns in section.ranges]
        with Workers(threads) as workers:
            workers.each(lambda columns: self._count_range(columns, blocks, report), ranges)
        assembly.add(made.collect(outside_tiles, assembly.room))

    def _count_range(self, columns: ColumnRange, blocks: list[_Block], report: Callable[[int], None]) -> None:
        with self.turn, self.device.plain():
            strip = self.scorer.strip(columns, self.problem.weight)
            for block in blocks:
                raise_if_cancelled()
                self._count_block(block, strip)
                report(len(block.core.queries) * len(strip.columns))

    def _count_block(self, block: _Block, strip: Strip) -> None:
        """Count a strip for a block: on the device, one tile at a time, and then the items left open."""
        with self.lock:
            left, level = self.scorer.queries(block.core.queries), self.level
            tile = self.scorer.tile(level, left, strip)
            self._leave_out(tile, block, strip)
            counted = [self._count(block, k, level, tile, left, strip) for k in range(block.core.n_counter)]
        for counter, (counts, (rows, columns, scores, guess)) in enumerate(counted):
            block.core.add(counter, counts)
            if len(rows):
                weights = self.problem.weight[columns].astype(np.int64)
                block.core.place(counter, rows, columns, scores, guess, weights)

    def _leave_out(self, tile: Tensor, block: _Block, strip: Strip) -> None:
        if "excluded" not in block.uploaded:
            block.uploaded["excluded"] = self.device.upload(block.core.excluded)
        columns, start, stop = block.uploaded["excluded"], strip.columns.start, strip.columns.stop
        rows, entries = self.device.torch.nonzero((columns >= start) & (columns < stop), as_tuple=True)
        tile[rows, (columns[rows, entries] - start).long()] = -math.inf
        junk = self.problem.relevance.candidates.junk
        if junk is not None:
            left_out = np.zeros(tuple(tile.shape), dtype=np.float32)
            items, starts = self.problem.items_of_columns
            here = items[starts[start] : starts[stop]]
            row, place = np.nonzero(junk[np.ix_(block.core.queries, here)])
            left_out[row, self.problem.distance.columns.column_of_item[here[place]] - start] = -np.inf
            tile += self.device.upload(left_out).to(tile.dtype)

    def _count(
        self, block: _Block, counter: int, level: int, tile: Tensor, left: Tensor, strip: Strip
    ) -> tuple[Any, list[Any]]:
        """Return the counts of a tile of a level for a counter, and the open items that are left to `Counter.place`."""
        torch, n_row, n_slot = self.device.torch, len(block.core.queries), block.core.n_slot(counter)
        counts = torch.zeros(n_row * n_slot, dtype=torch.int32, device=self.device.where)
        edges, closed = self._edges(block, counter, level, strip.band)
        slots = torch.searchsorted(edges, tile, right=True)
        is_open = torch.zeros_like(slots, dtype=torch.bool) if closed else (slots & 1).bool()
        first = torch.arange(0, n_row * n_slot, n_slot, device=self.device.where)
        counts.scatter_add_(0, (slots + first[:, None]).flatten(), torch.where(is_open, 0, strip.weight).flatten())
        rows, places = torch.nonzero(is_open, as_tuple=True)
        if level == self.scorer.last:
            scores, guess = tile[rows, places].double(), slots[rows, places] >> 1
        else:
            del slots, is_open  # memory that a float64 tile may need
            self._seen, self._open = self._seen + tile.numel(), self._open + len(rows)
            if self._open > MANY_OPEN * self._seen:  # from now on it begins with the last level
                self.level = self.scorer.last
            if len(rows) > MANY_OPEN * tile.numel():
                scores = self.scorer.tile(self.scorer.last, left, strip)[rows, places]
            else:
                scores = self.scorer.pairs(left, strip, rows, places)
            edges, closed = self._edges(block, counter, self.scorer.last, strip.band)
            slots = self._slots_of_pairs(edges, rows, scores)
            is_open = torch.zeros_like(slots, dtype=torch.bool) if closed else (slots & 1).bool()
            counts.scatter_add_(0, rows * n_slot + slots, torch.where(is_open, 0, strip.weight[places]))
            rows, places, scores, guess = rows[is_open], places[is_open], scores[is_open], slots[is_open] >> 1
        still_open = (rows, places + strip.columns.start, scores, guess)
        return counts.view(n_row, n_slot).cpu().numpy(), [part.cpu().numpy() for part in still_open]

    def _slots_of_pairs(self, edges: Tensor, rows: Tensor, scores: Tensor) -> Tensor:
        """Return the slots of single scores among the edges of their rows, which ascend; scores fill a matrix."""
        torch = self.device.torch
        if not len(rows):
            return rows
        lengths = torch.bincount(rows, minlength=len(edges))
        within = torch.arange(len(rows), device=self.device.where) - (lengths.cumsum(0) - lengths)[rows]
        shape = len(edges), int(lengths.max())
        matrix = torch.full(shape, -math.inf, dtype=torch.float64, device=self.device.where)
        matrix[rows, within] = scores
        return torch.searchsorted(edges, matrix, right=True)[rows, within]

    def _edges(self, block: _Block, counter: int, level: int, band: int) -> tuple[Tensor, bool]:
        """Return the edges of a counter for scores of a level in a band, and whether slots between them are closed."""
        of_counter = block.uploaded.setdefault(counter, {})
        if (level, band) not in of_counter:
            if len(of_counter) > 3:  # bands that have been passed
                of_counter.clear()
            wide = np.dtype(self.distance.levels[level].dtype) == np.float64
            edges, closed = block.core.edges(counter, level, band, wide)
            of_counter[level, band] = self.device.upload(edges), closed
        found: tuple[Tensor, bool] = of_counter[level, band]
        return found
