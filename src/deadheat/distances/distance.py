"""What a distance is: fast scores with a proven error bound, and the exact number behind them.

In come checked embeddings; out go *scores*, where higher means closer. A score is any increasing function of the
closeness that is quick to compute: for Euclidean distance q·x − ‖x‖²/2, for the others the similarity or the
negated distance, all in units that keep the numbers small. Gallery rows that must tie with each other for every
query (equal rows; under cosine also positive multiples) share one *column*, so data full of duplicates is small data.

Each distance computes its scores in *levels*, the fastest first. A level has a floating-point type and a bound on its
error; a bound of zero means that scores compare as the real numbers do. What the last level leaves open is settled by
`exact_closeness`, the exact closeness of the pairs left:

    float32 product ──undecided──> float64, and twice its precision ──undecided──> exact integers

A tile of scores is made in two steps, because leave one out is symmetric: the `product` of some queries and some
columns is, transposed, also that of these columns as queries; `finish` turns either into scores. On a device of
PyTorch's, `device_product` and `device_finish` do the same with tensors.

Embeddings that are small integers times a common number (pixels, ±1 codes, int8, one-hot) need only one level, and
it is exact.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from copy import copy
from threading import local
from typing import Any, ClassVar, Literal, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import DTypeLike, NDArray

from deadheat.distances.columns import Columns
from deadheat.distances.keys import Bulk, BulkWork, Integers, Twofold
from deadheat.distances.levels import Level
from deadheat.distances.patterns import Patterns
from deadheat.exact import Roots
from deadheat.support.arrays import Float64, Int64

Tensor = Any  # torch.Tensor

_PADDING = 24  # columns more than are used: rows that lie a power of two apart would share lines of the cache


class Workspace(local):
    """Memory for tiles that is used again for each tile; every thread has its own."""

    def __init__(self) -> None:
        self.buffers: dict[tuple[str, str], NDArray[Any]] = {}

    def get(self, name: str, shape: tuple[int, int], dtype: DTypeLike) -> NDArray[Any]:
        """An uninitialised matrix, valid until the same name and type are asked for again."""
        key = name, np.dtype(dtype).str
        buffer = self.buffers.get(key)
        if buffer is None or buffer.shape[0] < shape[0] or buffer.shape[1] < shape[1] + _PADDING:
            buffer = self.buffers[key] = np.empty((shape[0], shape[1] + _PADDING), dtype)
        return buffer[: shape[0], : shape[1]]


class Target(NamedTuple):
    """A value that can be rounded instead of the closeness, where closeness = sign·value + shift."""

    sign: int
    shift: int


class TensorDevice(Protocol):
    """What a distance asks of a device of PyTorch's."""

    torch: Any
    where: Any

    def upload(self, array: NDArray[Any]) -> Tensor:
        """A copy of an array on the device."""

    def dtype(self, dtype: DTypeLike) -> Any:
        """PyTorch's name of a floating-point type."""

    def product(self, left: Tensor, right: Tensor) -> Tensor:
        """left·rightᵀ."""


class Distance(ABC):
    """What counting and ties need of a distance. Queries and columns, distinct gallery rows, come by their numbers."""

    name: ClassVar[str]  # what users call it
    takes: ClassVar[Literal["numbers", "bits"]]  # made from sources of rows, or from matrices of bits in uint64 words
    targets: ClassVar[Mapping[str, Target]]  # what can be rounded, "similarity" or "distance", the usual one first
    multiplies: ClassVar[bool] = True  # whether a device multiplies matrices for it, perhaps in shorter numbers
    rechecks = False  # whether what the first level leaves open is worth a product of its own, from the same rows
    n_query: int
    dim: int  # numbers or bits in a row
    columns: Columns
    levels: tuple[Level, ...]

    @abstractmethod
    def __init__(self, query: Any, gallery: Any) -> None:
        """The distance between checked embeddings, which are one object where queries are ranked with each other."""

    @classmethod
    def between(cls, query: Any, gallery: Any, exact_only: bool) -> Self:
        """The distance between checked embeddings.

        `exact_only` says that scores will only be compared with each other, so any increasing function will do.
        """
        return cls(query, gallery)

    @property
    def n_gallery(self) -> int:
        """How many gallery items there are."""
        return len(self.columns.column_of_item)

    @abstractmethod
    def fingerprint(self, of_query: bool) -> str:
        """A digest of the embeddings of the queries, or of the gallery."""

    # Variants --------------------------------------------------------------------------------------------------------

    def arranged(self, columns: Columns) -> Self:
        """The same distance with its columns in another order; this one stays as it is."""
        variant = copy(self)
        variant.columns = columns
        return variant

    def at_levels(self, levels: tuple[Level, ...]) -> Self:
        """The same distance with other levels; this one stays as it is."""
        variant = copy(self)
        variant.levels = levels
        return variant

    def expecting(self, n_relevant: float, symmetric: bool) -> Self:
        """The same distance at the levels that suit so many relevant items a query, and half of the products or all."""
        return self

    def measuring(self) -> Distance:
        """The same distance with scores that stand for the closeness, and not just for the order of it."""
        return self

    # Tiles -----------------------------------------------------------------------------------------------------------

    @abstractmethod
    def query_rows(self, level: int, queries: Int64) -> NDArray[Any]:
        """Queries made ready for `tile` at a level, given by its index."""

    @abstractmethod
    def column_rows(self, level: int, columns: Int64) -> NDArray[Any]:
        """Columns made ready for `product` at a level; what `query_rows` gives where they are the queries."""

    @abstractmethod
    def product(
        self, level: int, queries: NDArray[Any], columns: NDArray[Any], space: Workspace | None = None
    ) -> NDArray[Any]:
        """What scores of a level are made from rows, (len(queries), len(columns)); its transpose is valid as well."""

    def panels(self, level: int, rows: NDArray[Any]) -> Any:
        """Rows packed for products by the core, if scores of a level are such, less `offsets`; else None.

        The core then counts while it multiplies, and nobody asks for `product` and `finish`.
        """
        return None

    def finish(self, products: NDArray[Any], columns: Int64, space: Workspace | None = None) -> NDArray[Any]:
        """Scores of any queries for these columns from the products, which may be overwritten."""
        return products

    def tile(self, level: int, queries: NDArray[Any], columns: Int64, space: Workspace | None = None) -> NDArray[Any]:
        """Scores of a level, shape (len(queries), len(columns)), from rows of queries."""
        return self.finish(self.product(level, queries, self.column_rows(level, columns), space), columns, space)

    @abstractmethod
    def bound(self, level: int, queries: Int64, band: tuple[int, int]) -> Float64:
        """How far scores of a level may be off, for each query and any column of a band; shape (len(queries),)."""

    def relative_bound(self, level: int, queries: Int64, band: tuple[int, int]) -> tuple[Float64, Float64] | None:
        """What part of itself a score of a level may be off, and what beside it, (len(queries),); None if not known."""
        return None

    def zeros_exact(self, level: int) -> bool:
        """Whether a score of a level is 0 where, and only where, the real one is."""
        return False

    @property
    def patterns(self) -> Patterns | None:
        """Where the numbers in the rows are, if that tells which items surely tie."""
        return None

    def offsets(self, columns: Int64) -> Float64:
        """What is taken off a product to make a score, or nothing; only where products are what scores are made of."""
        return np.empty(0)

    def recheck_bound(self, queries: Int64, band: tuple[int, int]) -> Float64:
        """How far products in float64 of float32 rows may be off, for each query and any column of a band."""
        return np.zeros(len(queries))

    # Tiles on a device -----------------------------------------------------------------------------------------------

    def device_rows(self, device: TensorDevice, rows: NDArray[Any]) -> Tensor:
        """Rows of the last level, of queries or of columns, as numbers on a device."""
        return device.upload(rows)

    def device_numbers(self, columns: Int64) -> Float64 | None:
        """One number a column that `device_finish` needs; None where it needs none."""
        return None

    @abstractmethod
    def device_product(self, device: TensorDevice, queries: Tensor, columns: Tensor) -> Tensor:
        """What `product` gives, from rows on a device and in their type."""

    @abstractmethod
    def device_pairs(self, queries: Tensor, columns: Tensor) -> Tensor:
        """What `product` gives, pair by pair, from two matrices of float64 rows on a device."""

    def device_finish(self, products: Tensor, numbers: Tensor | None) -> Tensor:
        """Scores from products, which may be overwritten, and the numbers of their columns, as `finish` makes them."""
        return products

    # Pairs -----------------------------------------------------------------------------------------------------------

    @abstractmethod
    def pair_bound(self, queries: Int64, columns: Int64, scores: Float64 | None = None) -> Float64:
        """How far scores of the last level may be off, pair by pair; closer if the scores are told."""

    @abstractmethod
    def pair_scores(self, queries: Int64, columns: Int64) -> Float64:
        """Scores of the last level, pair by pair."""

    def compensated_scores(self, queries: Int64, columns: Int64) -> tuple[Float64, Float64] | None:
        """Scores, pair by pair, that err less than those of the last level, and how much; None where there are none."""
        return None

    @abstractmethod
    def exact_closeness(self, queries: Int64, columns: Int64) -> Roots:
        """The exact closeness, pair by pair: the similarity, or minus the distance."""

    @property
    def twofold(self) -> Twofold | None:
        """What tells the closeness for a query in about twice the precision of float64; None where nothing does."""
        return None

    @property
    def integers(self) -> Integers | None:
        """What makes integers that compare as the exact closeness does for a query; None where nothing does."""
        return None

    def with_rows(self, bulk: Bulk, queries: Int64, columns: Int64, work: BulkWork) -> None:
        """Do some work on pairs with their rows made ready for one of these, on many pairs at a time."""
        raise NotImplementedError

    # Scores and closeness --------------------------------------------------------------------------------------------

    def closeness(self, queries: Int64, low: Float64, high: Float64) -> tuple[Float64, Float64]:
        """Turn intervals of scores into intervals of closeness, pair by pair."""
        return low, high

    def score(self, queries: Int64, low: Float64, high: Float64) -> tuple[Float64, Float64]:
        """Turn intervals of closeness into intervals of scores, pair by pair."""
        return low, high

    def least_scores(self, queries: Int64, scores: Float64, shift: float, above: bool) -> Float64 | None:
        """The least scores of the last level whose closeness is at least, or above, that of some scores plus a shift.

        Only where scores are exact; None where it is not known.
        """
        return None

    def exact_values(self, scores: Float64) -> Float64 | None:
        """The closeness that belongs to scores of the last level, if it is known that float64 holds it exactly."""
        return None
