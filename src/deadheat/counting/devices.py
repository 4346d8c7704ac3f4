"""The counting pass on a device of PyTorch's: the products and the counting there, what they leave open decided here.

Blocks, cuts and counters are those of `counting`. What is new is how a strip of columns is counted for a block:

    rows, float64 ──> product ──> slots among edges ──> counts ─────────────────────────────────> added to the block's
                                        └──open──> float64 ──> slots ──> counts ────────────────> counters, integers all
                                                                └──open──> exact arithmetic ────>

The result is that of the NumPy path, by the same proof: no slot is taken for sure unless the score is further from the
edges than the bound on its error, and the bounds hold for any order of summation, with or without fused multiply-add.
Three things are asked of the device, and nothing else: that single operations in float32 and float64 round as IEEE 754
says, underflow apart; that a product of float32 matrices is as fine as PyTorch's settings say (`Precision`), which can
be TF32 or bfloat16; and that a product of float64 matrices is one. Counts are integers, so their order is all the same.

PyTorch is imported when a device is opened. Tests run this on the device "cpu"; it has not been run on a GPU yet.
"""

from __future__ import annotations

import importlib
import math
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from threading import BoundedSemaphore, Event, Lock
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from deadheat import exact
from deadheat.counting import passes
from deadheat.counting.blocks import Block, edges_of
from deadheat.distances import Distance, Level

Int64 = NDArray[np.int64]
Float64 = NDArray[np.float64]
Tensor = Any  # torch.Tensor

_CELLS = {"cpu": 1 << 20, "cuda": 1 << 25}  # scores that are on the device at a time, at about 40 bytes each
_CELL_BYTES = 128  # free memory that a score has to have on a GPU
_ROW_BYTES = 1 << 27  # columns that are on the device at a time, for each of
_STRIPS = 2  # strips: one that is counted, and one that is made ready
_PAIR_NUMBERS = 1 << 22  # numbers of rows that are gathered at a time for single pairs
_MANY_OPEN = 1 / 64  # share of a tile beyond which a float64 product is cheaper than single pairs

# What the environment can make of a product behind PyTorch's back, with errors that nobody states
_UNSTATED = {
    "cpu": ("ONEDNN_DEFAULT_FPMATH_MODE", "DNNL_DEFAULT_FPMATH_MODE"),
    "cuda": ("CUBLAS_EMULATE_SINGLE_PRECISION", "CUBLAS_EMULATE_DOUBLE_PRECISION"),
}


# How fine a product is --------------------------------------------------------------------------------------------


class Precision(NamedTuple):
    """What becomes of a float32 number before it is multiplied, and of sums.

    Attributes
    ----------
    name : str
    input_error : float
        The relative error of each number: 0, 2^-10 for the 10 explicit bits of TF32, 2^-7 for the 7 of bfloat16, which
        hold for truncation as for rounding.
    """

    name: str
    input_error: float

    def roundings(self, dim: int) -> int:
        """To how many roundings of float32 the relative error of a product of so many terms is equal.

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
        relative = (1 + self.input_error) ** 2 * (1 + exact.gamma(4 * (dim + 10), np.float32)) - 1
        return math.ceil(relative * 2**24) + 1


IEEE, TF32, BFLOAT16 = Precision("float32", 0.0), Precision("TF32", 2.0**-10), Precision("bfloat16", 2.0**-7)

_SETTINGS = {"highest": IEEE, "ieee": IEEE, "none": IEEE, "high": TF32, "tf32": TF32}  # what else there is: bfloat16


# Devices ----------------------------------------------------------------------------------------------------------


class Device:
    """A device of PyTorch's, and how fine its products are while it is used.

    The setting is not changed, as it is that of the whole process: bounds are made to fit it.
    """

    def __init__(self, torch: Any, where: Any) -> None:
        self.torch, self.where = torch, where
        self.precision = self.current_precision()

    def current_precision(self) -> Precision:
        """The coarsest that any setting of PyTorch's allows a product of float32 matrices to be."""
        backends = self.torch.backends
        backend = backends.cuda if self.where.type == "cuda" else getattr(backends, "mkldnn", None)
        found = [IEEE]
        for read in (
            self.torch.get_float32_matmul_precision,
            lambda: backend.matmul.fp32_precision,  # type: ignore[union-attr]  # and what it inherits
            lambda: "tf32" if backends.cuda.matmul.allow_tf32 and self.where.type == "cuda" else "ieee",
        ):
            with suppress(AttributeError, RuntimeError):  # older, or: the other way of setting it is in use
                found.append(_SETTINGS.get(read(), BFLOAT16))
        if self.where.type == "cuda" and os.environ.get("NVIDIA_TF32_OVERRIDE", "0") != "0":
            found.append(TF32)
        return max(found, key=lambda precision: precision.input_error)

    def require_unchanged(self) -> None:
        """Refuse products that are no longer what the bounds were made for."""
        now = self.current_precision()
        if now != self.precision:
            raise RuntimeError(
                "PyTorch's precision of float32 products must stay as it is while deadheat works, "
                f"but went from {self.precision.name} to {now.name}"
            )

    @contextmanager
    def plain(self) -> Iterator[None]:
        """No gradients, and no automatic casts to shorter types."""
        with self.torch.no_grad(), self.torch.autocast(self.where.type, dtype=self.torch.bfloat16, enabled=False):
            yield

    def upload(self, array: NDArray[Any]) -> Tensor:
        """A copy of an array on the device; on the CPU the array itself."""
        return self.torch.from_numpy(array).to(self.where)

    def product(self, left: Tensor, right: Tensor) -> Tensor:
        """left·rightᵀ, as fine as `precision` says."""
        products = left @ right.T
        self.require_unchanged()
        return products

    def dtype(self, dtype: Any) -> Any:
        """PyTorch's name of a floating-point type."""
        return self.torch.float64 if np.dtype(dtype) == np.float64 else self.torch.float32

    def cells(self) -> int:
        """How many scores may be on the device at a time."""
        most = _CELLS[self.where.type]
        if self.where.type == "cuda":
            free, _ = self.torch.cuda.mem_get_info(self.where)
            most = min(most, free // _CELL_BYTES)
        return most

    def levels(self, distance: Distance) -> tuple[Level, ...]:
        """The levels of a distance, with bounds for this device.

        Where float32 products are not float32 products, integers are multiplied in float64, to stay exact.
        """
        first = replace(distance.levels[0], chunk=None)
        if self.precision != IEEE and distance.multiplies:
            if first.exact:
                first = replace(first, dtype=np.float64, rows=None)
            else:
                first = replace(first, roundings=self.precision.roundings(distance.dim))
        return first, *distance.levels[1:]


def open_device(device: Any) -> Device:
    """The device that an argument asks for: "cpu", "cuda", "cuda:1", or a `torch.device` of these kinds.

    Raises
    ------
    ModuleNotFoundError
        If PyTorch is not installed.
    TypeError, ValueError
        If the argument is no such thing, or the device is not there.
    """
    try:
        torch: Any = importlib.import_module("torch")
    except ModuleNotFoundError:
        raise ModuleNotFoundError(f"device {str(device)!r} needs PyTorch: pip install 'deadheat[torch]'") from None
    if not isinstance(device, (str, torch.device)):
        raise TypeError(f"device must be None, a string or a torch.device, but is {device!r}")
    try:
        where = torch.device(device)
    except RuntimeError:
        where = None
    if where is None or where.type not in _CELLS:
        raise ValueError(f"device must be cpu or cuda (or cuda:1 ...), but is {str(device)!r}")
    if where.type == "cuda":
        count = torch.cuda.device_count() if torch.cuda.is_available() else 0
        if (where.index or 0) >= count:
            raise ValueError(f"device must be there, but is {str(device)!r} and PyTorch finds {count} CUDA devices")
    for name in _UNSTATED[where.type]:
        if os.environ.get(name, "0").upper() not in ("", "0", "STRICT"):
            raise ValueError(
                f"device {where.type!r} must have products whose error is known, but the environment has "
                f"{name}={os.environ[name]}"
            )
    if where.type == "cpu":
        where = torch.device("cpu")
    elif where.index is None:  # threads have each a current device of their own
        where = torch.device("cuda", torch.cuda.current_device())
    return Device(torch, where)


# Scores -----------------------------------------------------------------------------------------------------------


@dataclass
class _Strip:
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


class _Scorer:
    """The scores of a distance, on a device: what `Distance.tile` and `Distance.pair_scores` give, in their types."""

    def __init__(self, device: Device, distance: Distance) -> None:
        self.device, self.distance = device, distance
        self.last = len(distance.levels) - 1

    def rows(self, raw: NDArray[Any]) -> Tensor:
        """Rows of the last level on the device."""
        return self.distance.device_rows(self.device, raw)

    def strip(self, run: passes.ColumnRange, weight: NDArray[np.int32]) -> _Strip:
        """The columns of a run."""
        distance, columns = self.distance, np.arange(run.columns.start, run.columns.stop)
        rows, numbers = self.rows(distance.column_rows(self.last, columns)), distance.device_numbers(columns)
        uploaded = None if numbers is None else self.device.upload(numbers)
        return _Strip(run.columns, run.band, rows, self.device.upload(weight[columns]), uploaded)

    def tile(self, number: int, left: Tensor, strip: _Strip) -> Tensor:
        """Scores of level `number`, shape (n_row, n_column)."""
        dtype = self.device.dtype(self.distance.levels[number].row_dtype)
        products = self.distance.device_product(self.device, left.to(dtype), strip.rows_as(dtype))
        return self.distance.device_finish(products, strip.numbers)

    def pairs(self, left: Tensor, strip: _Strip, rows: Tensor, places: Tensor) -> Tensor:
        """Scores of the last level, in float64, of single pairs of a row and a place in the strip."""
        products = self.device.torch.empty(len(rows), dtype=self.device.torch.float64, device=self.device.where)
        step = max(1, _PAIR_NUMBERS // left.shape[1])
        for start in range(0, len(rows), step):
            part = slice(start, start + step)
            queries, columns = left[rows[part]].double(), strip.rows[places[part]].double()
            products[part] = self.distance.device_pairs(queries, columns)
        numbers = None if strip.numbers is None else strip.numbers[places]
        return self.distance.device_finish(products, numbers)


# Counting ---------------------------------------------------------------------------------------------------------


class _Open(NamedTuple):
    """What is left to exact arithmetic: row of the block, column, score of the last level, and an interval near it."""

    rows: Int64
    columns: Int64
    scores: Float64
    guess: Int64


class DeviceCountingPass(passes.CountingPass):
    """A counting pass whose tiles are on a device: in strips of columns, each counted for one block after another.

    Blocks and shards are those of the NumPy path, so that either goes on from the other's checkpoint.
    """

    def __init__(self, device: Device, distance: Distance, *args: Any, **options: Any) -> None:
        super().__init__(distance, *args, **options)
        self.distance = self.problem.distance = self.distance.at_levels(device.levels(self.distance))
        self.device, self.scorer = device, _Scorer(device, self.distance)
        self.lock, self.turn = Lock(), BoundedSemaphore(_STRIPS)
        self.number = 0  # the level at which tiles are best computed
        self._seen = self._open = 0
        self._prepared: WeakKeyDictionary[Any, dict[Any, Any]] = WeakKeyDictionary()

    def _layout(self, threads: int) -> tuple[list[Int64], list[passes.ColumnRange]]:
        blocks, _ = super()._layout(threads)
        if not blocks:
            return blocks, []
        row = self.scorer.rows(self.distance.query_rows(self.scorer.last, blocks[0][:1]))
        most = min(
            self.device.cells() // max(map(len, blocks)), _ROW_BYTES // (row.element_size() * max(1, row.shape[1]))
        )
        bands = enumerate(self.distance.columns.bands)
        parts = ((band, part) for band, ends in bands for part in passes._parts(*ends, max(64, most)))
        return blocks, [passes.ColumnRange(part, band, -1) for band, part in parts]

    def _kept_rows(self, *args: Any) -> dict[int, NDArray[Any]]:
        return {}

    def _count_run(
        self, run: passes.ColumnRange, blocks: dict[int, Block], kept: Any, stop: Event, report: Callable[[int], None]
    ) -> None:
        """Count a run of columns for all blocks."""
        with self.turn, self.device.plain():
            strip = self.scorer.strip(run, self.problem.weight)
            for block in blocks.values():
                if stop.is_set():
                    return
                self._count_block(block, strip)
                report(len(block.queries) * len(strip.columns))

    def _count_block(self, block: Block, strip: _Strip) -> None:
        """Count a strip for a block: on the device, one tile at a time, and then what that leaves open."""
        rows = self.distance.query_rows(self.scorer.last, block.queries)
        with self.lock:
            left, number = self.scorer.rows(rows), self.number
            tile = self.scorer.tile(number, left, strip)
            self._hide(tile, block, strip)
            found = [self._count(counter, number, tile, left, strip) for counter in block.counters]
        with block.lock:
            for counter, (counts, rest) in zip(block.counters, found, strict=True):
                counter.counts += counts
                if len(rest.rows):
                    counter.place(*rest)

    def _hide(self, tile: Tensor, block: Block, strip: _Strip) -> None:
        """Set the scores of hidden columns to minus infinity."""
        known = self._prepared.setdefault(block, {})
        if "hidden" not in known:
            known["hidden"] = self.device.upload(block.hidden)
        columns, start, stop = known["hidden"], strip.columns.start, strip.columns.stop
        rows, entries = self.device.torch.nonzero((columns >= start) & (columns < stop), as_tuple=True)
        tile[rows, (columns[rows, entries] - start).long()] = -math.inf

    def _count(self, counter: Any, number: int, tile: Tensor, left: Tensor, strip: _Strip) -> tuple[Any, _Open]:
        """What a tile of level `number` adds to the counts of a counter, and what it leaves open."""
        torch, (n_row, n_slot) = self.device.torch, counter.counts.shape
        counts = torch.zeros(n_row * n_slot, dtype=torch.int32, device=self.device.where)
        edges, closed = self._edges(counter, number, strip.band)
        slots = torch.searchsorted(edges, tile, right=True)
        is_open = torch.zeros_like(slots, dtype=torch.bool) if closed else (slots & 1).bool()
        first = torch.arange(0, n_row * n_slot, n_slot, device=self.device.where)
        counts.scatter_add_(0, (slots + first[:, None]).flatten(), torch.where(is_open, 0, strip.weight).flatten())
        rows, places = torch.nonzero(is_open, as_tuple=True)
        if number == self.scorer.last:
            scores, guess = tile[rows, places].double(), slots[rows, places] >> 1
        else:
            self._learn(tile.numel(), len(rows))
            del slots, is_open  # memory that a float64 tile may need
            rows, places, scores, guess = self._look(counter, tile, left, strip, counts, rows, places)
        rest = (rows, places + strip.columns.start, scores, guess)
        return counts.view(n_row, n_slot).cpu().numpy(), _Open(*(part.cpu().numpy() for part in rest))

    def _look(
        self, counter: Any, tile: Tensor, left: Tensor, strip: _Strip, counts: Tensor, rows: Tensor, places: Tensor
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Count open items, in ascending order of rows, by scores of the last level; returns what stays open."""
        torch, last, n_slot = self.device.torch, self.scorer.last, counter.counts.shape[1]
        if len(rows) > _MANY_OPEN * tile.numel():
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

    def _edges(self, counter: Any, number: int, band: int) -> tuple[Tensor, bool]:
        """The edges of a counter for the scores of a pass in a band, and whether slots between them are closed."""
        known = self._prepared.setdefault(counter, {})
        if (number, band) not in known:
            if len(known) > 3:  # bands that have been passed
                known.clear()
            known[number, band] = self._new_edges(counter, number, band)
        edges: tuple[Tensor, bool] = known[number, band]
        return edges

    def _new_edges(self, counter: Any, number: int, band: int) -> tuple[Tensor, bool]:
        edges, n_edge, closed, _ = edges_of(self.distance, counter.cuts, counter.queries, number, band)
        return self.device.upload(np.ascontiguousarray(edges[:, : max(1, n_edge)])), closed

    def _learn(self, seen: int, n_open: int) -> None:
        """Begin with the last level from now on if the first has left much open."""
        self._seen, self._open = self._seen + seen, self._open + n_open
        if self._open > _MANY_OPEN * self._seen:
            self.number = self.scorer.last
