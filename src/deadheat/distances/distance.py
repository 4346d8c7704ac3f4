"""One class a distance: fast scores with a proven error bound, and the exact number behind them.

In come checked embeddings; out go *scores*, where higher means closer. A score is any increasing function of the
closeness that is quick to compute: for Euclidean distance q·x − ‖x‖²/2, for the others the similarity or the
negated distance, all in units that keep the numbers small. Gallery rows that must tie with each other for every
query (equal rows; under cosine also positive multiples) share one *column*, so data full of duplicates is small data.

Each distance computes its scores in *levels*, the fastest first. A level has a floating-point type and a bound on its
error; a bound of zero means that scores compare as the real numbers do. What the last level leaves open is settled by
`exact_closeness`, the exact closeness of single pairs:

    float32 product ──undecided──> float64, and twice its precision ──undecided──> exact integers

A tile of scores is made in two steps, because leave one out is symmetric: the `product` of some queries and some
columns is, transposed, also that of these columns as queries; `finish` turns either into scores.

Embeddings that are small integers times a common number (pixels, ±1 codes, int8, one-hot) need only one pass, and
it is exact.
"""

from __future__ import annotations

import math
import os
from abc import ABC, abstractmethod
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

from deadheat import exact, inputs
from deadheat.distances import tile_kernels
from deadheat.exact import Float64, SignedRoot, kernels
from deadheat.inputs.sources import Array, Source, fingerprint, open_rows
from deadheat.support import checks

Int64 = NDArray[np.int64]
Index = Int64

Exact = tuple[list[int], int]  # integers, and the power of two that they are to be multiplied by

_Result = TypeVar("_Result")

_CHUNK = 1 << 18  # elements gathered at once when pairs are scored one by one
_PADDING = 24  # columns more than are used: rows that lie a power of two apart would share lines of the cache


class Workspace:
    """Memory for tiles that is used again for each tile: one for each thread."""

    def __init__(self) -> None:
        self.buffers: dict[tuple[str, str], NDArray[Any]] = {}

    def get(self, name: str, shape: tuple[int, int], dtype: DTypeLike) -> NDArray[Any]:
        """An uninitialised matrix, valid until the same name and type are asked for again."""
        key = name, np.dtype(dtype).str
        known = self.buffers.get(key)
        if known is None or known.shape[0] < shape[0] or known.shape[1] < shape[1] + _PADDING:
            known = self.buffers[key] = np.empty((shape[0], shape[1] + _PADDING), dtype)
        return known[: shape[0], : shape[1]]


@dataclass(frozen=True)
class Level:
    """One way to compute scores: the type of its tiles, and whether its scores are exact.

    With a `chunk`, products are sums over so many dimensions at a time, which takes longer and errs less.
    """

    dtype: DTypeLike
    exact: bool
    chunk: int | None = None
    rows: DTypeLike | None = None  # the type of the rows that are multiplied, if not that of the scores
    roundings: int = 0  # that a product errs by beyond those of its sum, where a device multiplies shorter numbers

    def terms(self, dim: int) -> int:
        """How many roundings can follow each other in a sum of `dim` products."""
        return self.roundings + (dim if self.chunk is None else self.chunk + -(-dim // self.chunk))


@dataclass(frozen=True)
class Columns:
    """The distinct rows of a gallery.

    Parameters
    ----------
    representative : (n_column,) int64
        A gallery item that has this row.
    column_of_item : (n_gallery,) int64
        The column of each gallery item.
    bands : list of (start, stop)
        Runs of columns whose sizes lie within a factor of two, so that one error bound fits them all.
    """

    representative: Index
    column_of_item: Index
    bands: list[tuple[int, int]]

    def __len__(self) -> int:
        return len(self.representative)

    @classmethod
    def of(cls, source: Source, directions: bool = False) -> Columns:
        """Find equal rows, or rows of equal direction, by hash, and check each against the first of its kind."""
        hashes = _by_piece(source, lambda rows: kernels.hash_rows(rows, directions))
        ascending = np.sort(hashes)
        if (ascending[1:] != ascending[:-1]).all():
            return cls(np.arange(len(hashes)), np.arange(len(hashes)), [(0, len(hashes))])
        _, first, group = np.unique(hashes, return_index=True, return_inverse=True)
        leader = first[group]
        followers = np.flatnonzero(leader != np.arange(len(leader)))
        step = max(1, _CHUNK // source.shape[1])
        for start in range(0, len(followers), step):
            part = followers[start : start + step]
            same = kernels.same_rows(source.take(part), source.take(leader[part]), directions)
            leader[part[~same]] = part[~same]
        representative, of_item = np.unique(leader, return_inverse=True)
        return cls(representative, of_item.astype(np.int64), [(0, len(representative))])

    def as_items(self, order: Index) -> Columns:
        """One column for each item, in an order that keeps the bands, with equal rows counted at the first of them."""
        position = np.empty_like(order)
        position[order] = np.arange(len(order))
        ends = np.searchsorted(self.band_of(order), np.arange(len(self.bands) + 1)).tolist()
        return Columns(order, position[self.representative[self.column_of_item]], list(pairwise(ends)))

    def band_of(self, items: Index) -> Index:
        """The number of the band that each item's column is in."""
        return np.searchsorted([stop for _, stop in self.bands], self.column_of_item[items], side="right")

    def in_bands(self, sizes: Float64) -> Columns:
        """The same columns, largest first in bands of a factor of two; `sizes` has one entry a gallery item."""
        _, octave = np.frexp(sizes[self.representative])
        octave = np.maximum(octave, octave.max() - 64)
        order = np.argsort(-octave, kind="stable")
        ends = np.flatnonzero(np.diff(octave[order])) + 1
        cuts = [0, *ends.tolist(), len(order)]
        position = np.empty_like(order)
        position[order] = np.arange(len(order))
        return Columns(self.representative[order], position[self.column_of_item], list(pairwise(cuts)))


@dataclass(frozen=True)
class Rows:
    """A matrix and what each of its rows is multiplied by before use, or divided by."""

    source: Source
    factor: Float64
    divide: bool = False

    def take(self, index: Index, dtype: DTypeLike) -> NDArray[Any]:
        """Some of the rows, multiplied, in the given type."""
        out = np.empty((len(index), self.source.shape[1]), dtype=dtype)
        (raw, factor, divide), place = self.gather(index)
        kernels.take_rows(raw, place, factor, divide, out)
        return out

    def gather(self, index: Index) -> tuple[tuple[NDArray[Any], Float64, bool], Index]:
        """An array, factors of its rows, whether these divide, and where in the array each indexed row is."""
        if isinstance(self.source, Array) and self.source.in_memory:
            return (self.source.array, self.factor, self.divide), index
        distinct, place = np.unique(index, return_inverse=True)
        return (self.source.take(distinct), self.factor[distinct], self.divide), place

    @classmethod
    def over(cls, source: Source, unit: Float64) -> Rows:
        """Rows divided by a number of which they are multiples, or by a power of two: exact either way."""
        mantissa, _ = np.frexp(unit)
        multiply = bool((mantissa == 0.5).all() and unit.min() >= np.finfo(np.float64).tiny)
        return cls(source, np.broadcast_to(1 / unit if multiply else unit, source.shape[0]).copy(), not multiply)


class Distance(ABC):
    """What the counting pass needs of a distance. Rows are queries, columns are distinct gallery rows."""

    name: ClassVar[str]
    similarity: ClassVar[bool]  # whether closeness is the similarity of that name, or a negated distance
    n_query: int
    columns: Columns
    levels: tuple[Level, ...]
    rechecks = False  # whether what the first level leaves open is worth a product of its own, from the same rows

    @property
    def n_gallery(self) -> int:
        """How many gallery items there are."""
        return len(self.columns.column_of_item)

    @abstractmethod
    def fingerprint(self, of_query: bool) -> str:
        """A digest of the embeddings of the queries, or of the gallery."""

    @abstractmethod
    def left(self, number: int, rows: Index) -> NDArray[Any]:
        """Queries made ready for `tile` at level `number`."""

    @abstractmethod
    def right(self, number: int, columns: Index) -> NDArray[Any]:
        """Columns made ready for `product` at level `number`; what `left` gives where they are the queries."""

    @abstractmethod
    def product(
        self, number: int, left: NDArray[Any], right: NDArray[Any], space: Workspace | None = None
    ) -> NDArray[Any]:
        """What scores of level `number` are made from, (len(left), len(right)); its transpose is valid as well."""

    def finish(self, products: NDArray[Any], columns: Index, space: Workspace | None = None) -> NDArray[Any]:
        """Scores of any queries for these columns from the products, which may be overwritten."""
        return products

    def tile(self, number: int, left: NDArray[Any], columns: Index, space: Workspace | None = None) -> NDArray[Any]:
        """Scores of level `number`, shape (len(left), len(columns))."""
        return self.finish(self.product(number, left, self.right(number, columns), space), columns, space)

    def arranged(self, columns: Columns) -> Self:
        """The same distance with its columns in another order; this one stays as it is."""
        other = copy(self)
        other.columns = columns
        return other

    def at_levels(self, levels: tuple[Level, ...]) -> Self:
        """The same distance with other levels; this one stays as it is."""
        other = copy(self)
        other.levels = levels
        return other

    def expecting(self, n_relevant: float, symmetric: bool) -> Self:
        """The same distance at the levels that suit so many relevant items a query, and half of the products or all."""
        return self

    @abstractmethod
    def bound(self, number: int, rows: Index, band: tuple[int, int]) -> Float64:
        """How far scores of level `number` may be off, for each row and any column of a band; shape (len(rows),)."""

    @abstractmethod
    def pair_bound(self, rows: Index, columns: Index) -> Float64:
        """How far scores of the last level may be off, pair by pair."""

    @abstractmethod
    def pair_scores(self, rows: Index, columns: Index) -> Float64:
        """Scores of the last level, pair by pair."""

    def offsets(self, columns: Index) -> Float64:
        """What is taken off a product to make a score, or nothing; only where the distance `looks`."""
        return np.empty(0)

    def recheck_bound(self, rows: Index, band: tuple[int, int]) -> Float64:
        """How far products in float64 of float32 rows may be off, for each query and any column of a band."""
        return np.zeros(len(rows))

    def compensated_scores(self, rows: Index, columns: Index) -> tuple[Float64, Float64] | None:
        """Scores, pair by pair, that err less than those of the last level, and how much; None where there are none."""
        return None

    @abstractmethod
    def exact_closeness(self, rows: Index, columns: Index) -> list[SignedRoot]:
        """The exact closeness, pair by pair: the similarity, or minus the distance."""

    def closeness(self, rows: Index, low: Float64, high: Float64) -> tuple[Float64, Float64]:
        """Turn intervals of scores into intervals of closeness, pair by pair."""
        return low, high

    def score(self, rows: Index, low: Float64, high: Float64) -> tuple[Float64, Float64]:
        """Turn intervals of closeness into intervals of scores, pair by pair."""
        return low, high


class _Dense(Distance):
    """Distances between rows of numbers: the rows as they came, and the same multiplied so that they stay small."""

    queries: Rows
    items: Rows

    def __init__(self, query: Source, gallery: Source) -> None:
        self.query_raw, self.gallery_raw = query, gallery
        self.n_query, self.dim = query.shape

    def fingerprint(self, of_query: bool) -> str:
        return fingerprint(self.query_raw if of_query else self.gallery_raw).hex()

    def left(self, number: int, rows: Index) -> NDArray[Any]:
        return self.queries.take(rows, self.levels[number].rows or self.levels[number].dtype)

    def right(self, number: int, columns: Index) -> NDArray[Any]:
        one = self.levels[number]
        return self.items.take(self.columns.representative[columns], one.rows or one.dtype)

    def _for_both(self, work: Callable[[Source], _Result]) -> tuple[_Result, _Result]:
        """What some work makes of the queries and of the gallery; done once where they are the same."""
        of_query = work(self.query_raw)
        return of_query, of_query if self.gallery_raw is self.query_raw else work(self.gallery_raw)

    def _scale(self, limit: float) -> float:
        """Divide everything by one number, `unit`: such that integers up to `limit` are left, else a power of two.

        Returns the largest of the integers, infinity where there are none.
        """
        self.unit, largest = _common_unit(self.query_raw, self.gallery_raw, limit)
        if largest == np.inf:
            self.unit = _power_of_two(self.query_raw, self.gallery_raw)
        self.queries, self.items = self._for_both(lambda raw: Rows.over(raw, np.array([self.unit])))
        return largest

    def _exact_pairs(self, rows: Index, columns: Index) -> tuple[Float64, Float64]:
        """The rows of queries and of columns as they came, pair by pair, in float64."""
        items = self.columns.representative[columns]
        return self.query_raw.take(rows).astype(np.float64), self.gallery_raw.take(items).astype(np.float64)

    def _exact_products(self, rows: Index, columns: Index) -> tuple[Exact, Exact, Exact]:
        """The exact products of queries with columns, and of both with themselves, pair by pair."""
        left, row, right, place = self._distinct(rows, self.columns.representative[columns])
        left, right = left.astype(np.float64), right.astype(np.float64)
        (of_query, low), (of_item, least) = exact.scaled_dots(left, left), exact.scaled_dots(right, right)
        return (
            exact.scaled_dots(left[row], right[place]),
            ([of_query[k] for k in row.tolist()], low),
            ([of_item[k] for k in place.tolist()], least),
        )

    def _distinct(self, rows: Index, items: Index) -> tuple[NDArray[Any], Index, NDArray[Any], Index]:
        """The rows of some queries and items as they came, each once, and where among them those of each pair are."""
        queries, row = np.unique(rows, return_inverse=True)
        distinct, place = np.unique(items, return_inverse=True)
        return self.query_raw.take(queries), row, self.gallery_raw.take(distinct), place


class _Product(_Dense):
    """Distances whose score is a matrix product: q·x, minus an offset that the column brings."""

    similarity = True
    offset: Float64 | None = None  # one a gallery item

    @property
    def rechecks(self) -> bool:  # type: ignore[override]
        return len(self.levels) > 1

    def product(
        self, number: int, left: NDArray[Any], right: NDArray[Any], space: Workspace | None = None
    ) -> NDArray[Any]:
        space, shape, chunk = space or Workspace(), (len(left), len(right)), self.levels[number].chunk
        out = space.get("product", shape, left.dtype)
        if chunk is None:
            return np.matmul(left, right.T, out=out)
        part = space.get("part", shape, left.dtype)
        for start in range(0, self.dim, chunk):
            some = slice(start, start + chunk)
            np.matmul(left[:, some], right[:, some].T, out=part if start else out)
            if start:
                out += part
        return out

    def finish(self, products: NDArray[Any], columns: Index, space: Workspace | None = None) -> NDArray[Any]:
        if self.offset is not None:
            products -= self.offset[self.columns.representative[columns]].astype(products.dtype)
        return products

    def expecting(self, n_relevant: float, symmetric: bool) -> Self:
        if len(self.levels) == 1:
            return self
        return self.at_levels(_cheapest(self.levels, self.dim, n_relevant, symmetric))

    def offsets(self, columns: Index) -> Float64:
        return np.empty(0) if self.offset is None else self.offset[self.columns.representative[columns]]

    def recheck_bound(self, rows: Index, band: tuple[int, int]) -> Float64:
        return self._bound(4, np.float32, self.query_norm[rows], self._largest_norm(band))

    def pair_scores(self, rows: Index, columns: Index) -> Float64:
        items = self.columns.representative[columns]
        left, left_rows = self.queries.gather(rows)
        right, right_rows = self.items.gather(items)
        scores = kernels.pair_dots(*left, left_rows, *right, right_rows)
        if self.offset is not None:
            scores -= self.offset[items]
        return np.asarray(scores)

    def compensated_scores(self, rows: Index, columns: Index) -> tuple[Float64, Float64] | None:
        items = self.columns.representative[columns]
        if not self._moderate:
            return None
        dots = self._compensated_dots(rows, items)
        tiny = exact.gamma(self.dim + 100, np.float64) ** 2
        return self._score_of_dots(*dots, tiny, rows, items)

    def _compensated_dots(self, rows: Index, items: Index) -> tuple[Float64, Float64, Float64]:
        """q·x, q·q and x·x as they came, in about twice the precision of float64, rounded."""
        left, row, right, place = self._distinct(rows, items)
        of_query, of_item = (
            kernels.compensated_dots(raw, np.arange(len(raw)), raw, np.arange(len(raw))) for raw in (left, right)
        )
        return kernels.compensated_dots(left, row, right, place), of_query[row], of_item[place]

    @cached_property
    def _moderate(self) -> bool:
        """Whether the sizes of all rows are such that nothing in a compensated product over- or underflows."""
        largest = np.concatenate(self._for_both(lambda source: _by_piece(source, _largest)))
        some = largest[largest > 0]
        return bool(len(some)) and bool(some.min() > 2.0**-200 and some.max() < 2.0**200)

    @abstractmethod
    def _score_of_dots(
        self, dots: Float64, of_query: Float64, of_item: Float64, tiny: float, rows: Index, items: Index
    ) -> tuple[Float64, Float64]:
        """Scores from q·x, q·q and x·x, each off by u times itself and `tiny` times the norms; how much they err."""

    def _scale(self, limit: float = 2.0**26) -> float:
        largest = super()._scale(limit)
        self.query_norm, self.item_norm = self._for_both(lambda raw: _norms(raw, self.unit))
        self.columns = Columns.of(self.gallery_raw).in_bands(self.item_norm)
        return largest

    def _size(self, query_norm: Float64, item_norm: Float64) -> Float64:
        """What the error of a score is proportional to."""
        return query_norm * item_norm

    def bound(self, number: int, rows: Index, band: tuple[int, int]) -> Float64:
        return self._level_bound(self.levels[number], self.query_norm[rows], self._largest_norm(band))

    def _largest_norm(self, band: tuple[int, int]) -> Float64:
        return np.asarray(self.item_norm[self.columns.representative[slice(*band)]].max())

    def pair_bound(self, rows: Index, columns: Index) -> Float64:
        norms = self.item_norm[self.columns.representative[columns]]
        return self._level_bound(self.levels[-1], self.query_norm[rows], norms)

    def _level_bound(self, one: Level, query_norm: Float64, item_norm: Float64) -> Float64:
        if one.exact:
            return np.zeros_like(query_norm)
        return self._bound(one.terms(self.dim) + 10, one.dtype, query_norm, item_norm)

    def _bound(self, roundings: int, dtype: DTypeLike, query_norm: Float64, item_norm: Float64) -> Float64:
        """The error of a score with so many roundings in a row."""
        bound = exact.gamma(roundings, dtype) * self._size(query_norm, item_norm) + exact.underflow(self.dim, dtype)
        return np.where((item_norm == 0) | ((query_norm == 0) & (self.offset is None)), 0.0, bound)


class Cosine(_Product):
    """q·x / (‖q‖‖x‖); a zero vector has similarity 0 to everything.

    Rows are divided by their norms in float64, then multiplied. Rows that are small integers times a number of
    their own are handled exactly instead: cosines compare as the fractions a·|a| / ‖x‖² of integers, which float64
    keeps apart as long as ‖q‖²‖x‖⁴ stays below 2^51.
    """

    name = "cosine"

    def __init__(self, query: Source, gallery: Source, exact_only: bool = True) -> None:
        super().__init__(query, gallery)
        self.columns = Columns.of(gallery, directions=True)
        self.squares: Float64 | None = None
        if exact_only and self._set_integers():
            return
        (self.queries, self.query_norm), (self.items, self.item_norm) = self._for_both(_normalised)
        self.levels = (Level(np.float32, exact=False), Level(np.float64, exact=False))

    def _set_integers(self) -> bool:
        """Use exact fractions if all rows are small integers times a number of their own."""
        of_query, of_item = self._for_both(_integer_rows)
        if of_query is None or of_item is None:
            return False
        (self.queries, query_squares), (self.items, item_squares) = of_query, of_item
        largest_query, largest_item = query_squares.max(), item_squares.max()
        if largest_query * largest_item**2 > 2.0**51 or largest_query * largest_item > 2.0**48:
            return False
        self.query_norm, self.item_norm = np.sqrt(query_squares), np.sqrt(item_squares)
        if (item_squares == largest_item).all():
            self.levels = (Level(np.float32, exact=True),)
        else:
            self.squares = np.maximum(item_squares, 1.0)
            self.levels = (Level(np.float64, exact=True, rows=np.float32),)
        return True

    def finish(self, products: NDArray[Any], columns: Index, space: Workspace | None = None) -> NDArray[Any]:
        if self.squares is None:
            return products
        scores = (space or Workspace()).get("finish", products.shape, np.float64)
        kernels.signed_squares(products, self.squares[self.columns.representative[columns]], scores)
        return scores

    def pair_scores(self, rows: Index, columns: Index) -> Float64:
        products = super().pair_scores(rows, columns)
        if self.squares is None:
            return products
        return products * np.abs(products) / self.squares[self.columns.representative[columns]]

    def _bound(self, roundings: int, dtype: DTypeLike, query_norm: Float64, item_norm: Float64) -> Float64:
        product = exact.gamma(roundings, dtype) + exact.gamma(self.dim + 10, np.float64)
        error = product * (1 + 2.0**-10) + exact.underflow(self.dim, dtype)
        return np.where((query_norm > 0) & (item_norm > 0), error, 0.0)

    def _score_of_dots(
        self, dots: Float64, of_query: Float64, of_item: Float64, tiny: float, rows: Index, items: Index
    ) -> tuple[Float64, Float64]:
        norms = np.sqrt(of_query) * np.sqrt(of_item)
        nonzero = norms > 0
        scores = np.where(nonzero, dots / np.where(nonzero, norms, 1.0), 0.0)
        return scores, np.where(nonzero, 10 * exact.unit_roundoff(np.float64) * np.abs(scores) + 4 * tiny, 0.0)

    def exact_closeness(self, rows: Index, columns: Index) -> list[SignedRoot]:
        (products, place), (of_query, low), (of_item, least) = self._exact_products(rows, columns)
        return [
            SignedRoot.ratio((p > 0) - (p < 0), p * p, q * x, 2 * place - low - least) if p else SignedRoot(0, 0, 1)
            for p, q, x in zip(products, of_query, of_item, strict=True)
        ]


class InnerProduct(_Product):
    """q·x."""

    name = "inner_product"

    def __init__(self, query: Source, gallery: Source) -> None:
        super().__init__(query, gallery)
        self.levels = _levels(self._scale() ** 2 * self.dim)

    def closeness(self, rows: Index, low: Float64, high: Float64) -> tuple[Float64, Float64]:
        return _multiplied(*_multiplied(low, high, self.unit), self.unit)

    def score(self, rows: Index, low: Float64, high: Float64) -> tuple[Float64, Float64]:
        return _divided(*_divided(low, high, self.unit), self.unit)

    def _score_of_dots(
        self, dots: Float64, of_query: Float64, of_item: Float64, tiny: float, rows: Index, items: Index
    ) -> tuple[Float64, Float64]:
        scores = dots / self.unit / self.unit
        bound = 10 * exact.unit_roundoff(np.float64) * np.abs(scores)
        return scores, bound + 4 * tiny * self.query_norm[rows] * self.item_norm[items]

    def exact_closeness(self, rows: Index, columns: Index) -> list[SignedRoot]:
        products, place = exact.scaled_dots(*self._exact_pairs(rows, columns))
        return [SignedRoot.ratio((p > 0) - (p < 0), p * p, 1, 2 * place - 4296) for p in products]


class Euclidean(_Product):
    """‖q − x‖, ranked by q·x − ‖x‖²/2."""

    name = "euclidean"
    similarity = False

    def __init__(self, query: Source, gallery: Source) -> None:
        super().__init__(query, gallery)
        self.levels = _levels(3 * self._scale() ** 2 * self.dim)
        self.query_square = _integer_squares(self.queries)
        self.offset = (self.query_square if self.items is self.queries else _integer_squares(self.items)) / 2

    def _size(self, query_norm: Float64, item_norm: Float64) -> Float64:
        return query_norm * item_norm + np.square(item_norm) / 2

    def closeness(self, rows: Index, low: Float64, high: Float64) -> tuple[Float64, Float64]:
        square_low, square_high = self._square_interval(rows)
        near, far = _widened(square_low - 2 * high, square_high - 2 * low)
        near, far = np.sqrt(np.maximum(near, 0.0)), np.sqrt(np.maximum(far, 0.0))
        low, high = _multiplied(-far, -near, self.unit)
        return low, np.minimum(high, 0.0)

    def score(self, rows: Index, low: Float64, high: Float64) -> tuple[Float64, Float64]:
        square_low, square_high = self._square_interval(rows)
        far, near = _divided(low, high, self.unit)
        near = np.minimum(near, 0.0)
        with np.errstate(over="ignore", under="ignore"):
            near_square, far_square = _widened(near * near, far * far)
        low_score, high_score = _widened((square_low - far_square) / 2, (square_high - near_square) / 2)
        return np.where(low > 0, np.inf, low_score), np.where(low > 0, np.inf, high_score)  # nothing is that close

    def _square_interval(self, rows: Index) -> tuple[Float64, Float64]:
        """‖q‖² in the units of the scores, between two numbers."""
        error = self.query_square[rows] * exact.gamma(self.dim + 10, np.float64) + exact.underflow(self.dim, np.float64)
        return self.query_square[rows] - error, self.query_square[rows] + error

    def _score_of_dots(
        self, dots: Float64, of_query: Float64, of_item: Float64, tiny: float, rows: Index, items: Index
    ) -> tuple[Float64, Float64]:
        dots, of_item = dots / self.unit / self.unit, of_item / self.unit / self.unit
        bound = 10 * exact.unit_roundoff(np.float64) * (np.abs(dots) + of_item)
        return dots - of_item / 2, bound + 4 * tiny * self._size(self.query_norm[rows], self.item_norm[items])

    def exact_closeness(self, rows: Index, columns: Index) -> list[SignedRoot]:
        parts = self._exact_products(rows, columns)
        least = min(place for _, place in parts)
        products, of_query, of_item = ([x << place - least for x in numbers] for numbers, place in parts)
        squares = [q + x - 2 * p for p, q, x in zip(products, of_query, of_item, strict=True)]
        return [SignedRoot.ratio(-(square > 0), square, 1, least - 2148) for square in squares]


class Cityblock(_Dense):
    """Σ |q − x|."""

    name = "cityblock"
    similarity = False

    def __init__(self, query: Source, gallery: Source) -> None:
        super().__init__(query, gallery)
        self.levels = _levels(2 * self._scale(limit=2.0**51) * self.dim)
        self.query_size, self.item_size = self._for_both(lambda raw: _absolute_sums(raw, self.unit))
        self.columns = Columns.of(gallery).in_bands(self.item_size)

    def product(
        self, number: int, left: NDArray[Any], right: NDArray[Any], space: Workspace | None = None
    ) -> NDArray[Any]:
        scores = np.empty((len(left), len(right)), left.dtype)
        tile_kernels.minus_absolute_differences(left, right, scores)
        return scores

    def bound(self, number: int, rows: Index, band: tuple[int, int]) -> Float64:
        largest = self.item_size[self.columns.representative[slice(*band)]].max()
        return self._bound(self.levels[number], self.query_size[rows] + largest)

    def pair_bound(self, rows: Index, columns: Index) -> Float64:
        sizes = self.item_size[self.columns.representative[columns]]
        return self._bound(self.levels[-1], self.query_size[rows] + sizes)

    def _bound(self, one: Level, size: Float64) -> Float64:
        if one.exact:
            return np.zeros_like(size)
        return exact.gamma(self.dim + 10, one.dtype) * size + exact.underflow(self.dim, one.dtype)

    def pair_scores(self, rows: Index, columns: Index) -> Float64:
        scores = np.empty(len(rows))
        step = max(1, _CHUNK // self.dim)
        for start in range(0, len(rows), step):
            part = slice(start, start + step)
            left = self.queries.take(rows[part], np.float64)
            left -= self.items.take(self.columns.representative[columns[part]], np.float64)
            scores[part] = -np.abs(left).sum(axis=1)
        return scores

    def closeness(self, rows: Index, low: Float64, high: Float64) -> tuple[Float64, Float64]:
        return _multiplied(low, high, self.unit)

    def score(self, rows: Index, low: Float64, high: Float64) -> tuple[Float64, Float64]:
        return _divided(low, high, self.unit)

    def exact_closeness(self, rows: Index, columns: Index) -> list[SignedRoot]:
        left, right = self._exact_pairs(rows, columns)
        return [SignedRoot(-(s > 0), s * s, 1 << 4296) for s in exact.exact_absolute_differences(left, right)]


class Hamming(Distance):
    """The number of bits in which two codes differ."""

    name = "hamming"
    similarity = False
    levels = (Level(np.float32, exact=True),)

    def __init__(self, query: NDArray[np.uint64], gallery: NDArray[np.uint64]) -> None:
        if query.shape[1] * 64 >= 2**24:
            raise ValueError(f"codes must be shorter than 2^24 bits, but have {query.shape[1] * 64}")
        self.query_words, self.gallery_words = query, gallery
        self.n_query = len(query)
        self.columns = Columns.of(Array(gallery.view(np.uint32).astype(np.float64)))

    def fingerprint(self, of_query: bool) -> str:
        return fingerprint(Array((self.query_words if of_query else self.gallery_words).view(np.uint32))).hex()

    def left(self, number: int, rows: Index) -> NDArray[Any]:
        return self.query_words[rows]

    def right(self, number: int, columns: Index) -> NDArray[Any]:
        return self.gallery_words[self.columns.representative[columns]]

    def product(
        self, number: int, left: NDArray[Any], right: NDArray[Any], space: Workspace | None = None
    ) -> NDArray[Any]:
        scores = (space or Workspace()).get("product", (len(left), len(right)), np.float32)
        tile_kernels.minus_differing_bits(left, right, scores)
        return scores

    def bound(self, number: int, rows: Index, band: tuple[int, int]) -> Float64:
        return np.zeros(len(rows))

    def pair_bound(self, rows: Index, columns: Index) -> Float64:
        return np.zeros(len(rows))

    def pair_scores(self, rows: Index, columns: Index) -> Float64:
        differing = self.query_words[rows] ^ self.gallery_words[self.columns.representative[columns]]
        counts: Float64 = np.bitwise_count(differing).sum(axis=1).astype(np.float64)
        return -counts

    def exact_closeness(self, rows: Index, columns: Index) -> list[SignedRoot]:
        counts = (-self.pair_scores(rows, columns)).astype(np.int64).tolist()
        return [SignedRoot(-(count > 0), count * count, 1) for count in counts]


DISTANCES = ("cosine", "euclidean", "inner_product", "cityblock", "hamming")


def make(name: str, query: Any, gallery: Any | None, exact_only: bool) -> Distance:
    """Check embeddings and make the distance between them; without a gallery, from the queries to themselves.

    `exact_only` says that scores will only be compared with each other, so any increasing function will do.
    """
    checks.choice(name, DISTANCES, "distance")
    if name == "hamming":
        query, gallery = _codes(query, "embeddings"), None if gallery is None else _codes(gallery, "gallery")
        codes = inputs.bits(query, "embeddings")
        others = codes if gallery is None else inputs.bits(gallery, "gallery")
        if gallery is not None:
            inputs.require_same_dim(query, gallery, codes=True)
        return Hamming(codes, others)
    left = open_rows(query, "embeddings")
    right = left if gallery is None else open_rows(gallery, "gallery")
    if gallery is not None:
        inputs.require_same_dim(left, right)
    if name == "cosine":
        return Cosine(left, right, exact_only)
    kinds: dict[str, Any] = {"euclidean": Euclidean, "inner_product": InnerProduct, "cityblock": Cityblock}
    distance: Distance = kinds[name](left, right)
    return distance


def opened(embeddings: Any, distance: str, name: str) -> Any:
    """Checked embeddings, to be used more than once: those on disk stay there, but binary codes come as a whole."""
    checks.choice(distance, DISTANCES, "distance")
    source = open_rows(embeddings, name)
    if distance != "hamming":
        return source
    codes = source.whole()
    inputs.bits(codes[:1], name)
    return codes


def _codes(value: Any, name: str) -> Any:
    """Codes on disk are read as a whole, in the type that they have there: 256 bits are 32 bytes."""
    first = value[0] if isinstance(value, (list, tuple)) and value else value
    if not isinstance(first, (str, os.PathLike, Source)):
        return value
    source = open_rows(value, name)
    return source.whole()


def _levels(largest_sum: float) -> tuple[Level, ...]:
    """One exact pass in float32 where sums of integers stay below 2^24; else two, the last exact below 2^53."""
    if largest_sum < 2.0**24:
        return (Level(np.float32, exact=True),)
    return (Level(np.float32, exact=False), Level(np.float64, exact=bool(largest_sum < 2.0**53)))


def _cheapest(levels: tuple[Level, ...], dim: int, n_relevant: float, symmetric: bool) -> tuple[Level, ...]:
    """The levels that take the least time: float32, perhaps in chunks of dimensions, or float64 at once.

    Measured in ns an item: a product costs 0.014 a dimension, 0.033 in float64, a chunk more 0.9, and a closer look at
    an open item 20 and 0.15 a dimension. Open are about as many as for random directions: the share of items
    within the bound of one of the thresholds.
    """
    products = 0.5 if symmetric else 1.0

    def cost(chunk: int) -> float:
        n_chunk = -(-dim // chunk)
        bound = exact.gamma(min(dim, chunk + n_chunk) + 10, np.float32)
        share = min(1.0, n_relevant * 2 * bound * 0.28 * math.sqrt(dim))
        return products * (0.014 * dim + 0.9 * (n_chunk - 1)) + share * (20 + 0.15 * dim)

    first, last = levels
    best = min((chunk for chunk in (dim, 512, 256, 128, 64) if chunk <= dim), key=cost)
    if cost(best) > products * 0.033 * dim + 1:
        return (last,)
    return (replace(first, chunk=None if best == dim else best), last)


def _by_piece(source: Source, work: Callable[[NDArray[Any]], NDArray[Any]]) -> NDArray[Any]:
    """What some work makes of the rows, one entry a row."""
    return np.concatenate([work(rows) for _, rows in source.pieces()])


# Scaling ---------------------------------------------------------------------------------------------------------


def _common_unit(query: Source, gallery: Source, limit: float) -> tuple[float, float]:
    """A number of which every element is a small integer multiple, and the largest multiple (infinity: none)."""
    found: list[float] = []
    for source in (query,) if gallery is query else (query, gallery):
        for _, rows in source.pieces():
            unit = np.empty(1)
            largest = _integer_units(rows, unit, limit)
            if largest == np.inf:
                return 1.0, np.inf
            if largest:
                found += [unit[0], unit[0] * largest]
    if not found:
        return 1.0, 0.0
    both = np.empty(1)
    top = _integer_units(np.array([found]), both, limit)
    return float(both[0]), top


def _integer_units(raw: NDArray[Any], units: Float64, limit: float) -> float:
    """Fill in the units and return the largest multiple, infinity if it exceeds the limit, as it mostly does."""
    if _largest_multiple(raw[0, :32].tolist()) > limit:
        return np.inf
    return float(kernels.integer_units(raw, units, limit))


def _largest_multiple(values: list[float]) -> int:
    """The largest of some numbers in units of their greatest common divisor."""
    ratios = [value.as_integer_ratio() for value in values]
    shared = math.lcm(*(denominator for _, denominator in ratios))
    multiples = [abs(numerator) * (shared // denominator) for numerator, denominator in ratios]
    return max(multiples) // (math.gcd(*multiples) or 1)


def _integer_rows(source: Source) -> tuple[Rows, Float64] | None:
    """The rows, each divided by a number of which it is a small multiple, and their squares; None if one has none."""
    units = np.empty(source.shape[0])
    for start, rows in source.pieces():
        if _integer_units(rows, units[start : start + len(rows)], limit=2.0**9) == np.inf:
            return None
    whole = Rows.over(source, units)
    return whole, _integer_squares(whole)


def _power_of_two(*sources: Source) -> float:
    """A power of two that no element exceeds in size (but a finite one)."""
    largest = max(float(_by_piece(source, _largest).max()) for source in sources)
    exponent = min(int(np.frexp(largest)[1]), 1023)
    return float(np.ldexp(1.0, max(exponent, -1022))) if largest else 1.0


def _largest(raw: NDArray[Any]) -> Float64:
    """The size of the largest element of each row."""
    return np.asarray(np.maximum(raw.max(axis=1), -raw.min(axis=1)), dtype=np.float64)


def _norms(source: Source, scale: float) -> Float64:
    """Euclidean norms of the rows divided by `scale`, rounded up."""
    squares, absolutes = _by_piece(source, lambda rows: kernels.row_sums(rows, scale)).T
    norms = np.where(squares > 2.0**-900, np.sqrt(squares), absolutes)  # tiny squares may have lost their bits
    norms *= 1 + (source.shape[1] + 16) * 2.0**-52
    return np.where(_by_piece(source, _largest) > 0, np.maximum(norms, 2.0**-1000), 0.0)


def _absolute_sums(source: Source, scale: float) -> Float64:
    """Sums of absolute values of the rows divided by `scale`, rounded up."""
    sums = _by_piece(source, lambda rows: kernels.row_sums(rows, scale)[:, 1])
    return np.asarray(sums * (1 + (source.shape[1] + 16) * 2.0**-52))


def _integer_squares(rows: Rows) -> Float64:
    """Squared norms of the divided rows: exact where these are small integers."""
    squares = np.empty(rows.source.shape[0])
    step = max(1, _CHUNK // rows.source.shape[1])
    for start in range(0, len(squares), step):
        part = rows.take(np.arange(start, min(start + step, len(squares))), np.float64)
        squares[start : start + step] = np.einsum("ij,ij->i", part, part)
    return squares


def _normalised(source: Source) -> tuple[Rows, Float64]:
    """The rows to be divided by their norms; and 1 for each, but 0 for rows of zeros."""
    largest = _by_piece(source, _largest)
    _, exponent = np.frexp(largest)
    if source.dtype == np.float64 and (np.abs(exponent[largest > 0]) > 400).any():
        # the direction is what counts, and squares must not overflow
        source = Array(np.ldexp(source.read(0, source.shape[0]), -exponent[:, None]))
    squares = _by_piece(source, lambda rows: kernels.row_sums(rows, 1.0)[:, 0])
    return Rows(source, 1 / np.where(squares > 0, np.sqrt(squares), 1.0)), np.asarray(largest > 0, np.float64)


def _widened(low: Float64, high: Float64) -> tuple[Float64, Float64]:
    """Intervals made wide enough for a few roundings of their ends, underflow included."""
    return (
        low * np.where(low < 0, 1 + 2.0**-50, 1 - 2.0**-50) - 2.0**-960,
        high * np.where(high < 0, 1 - 2.0**-50, 1 + 2.0**-50) + 2.0**-960,
    )


def _divided(low: Float64, high: Float64, divisor: float) -> tuple[Float64, Float64]:
    """Intervals divided by a positive number; an end that overflows stays outside."""
    with np.errstate(over="ignore", under="ignore"):
        return outward(*_widened(low / divisor, high / divisor))


def _multiplied(low: Float64, high: Float64, factor: float) -> tuple[Float64, Float64]:
    """Intervals multiplied by a positive number; an end that overflows stays outside."""
    with np.errstate(over="ignore", under="ignore"):
        return outward(*_widened(low * factor, high * factor))


def outward(low: Float64, high: Float64) -> tuple[Float64, Float64]:
    """Intervals of real numbers: what overflowed upwards is above the largest float, what did downwards below."""
    largest = np.finfo(np.float64).max
    return np.minimum(low, largest), np.maximum(high, -largest)
