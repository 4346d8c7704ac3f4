"""One class a distance: fast scores with a proven error bound, and the exact number behind them.

In come checked embeddings; out go *scores*, where higher means closer. A score is any increasing function of the
closeness that is quick to compute: for Euclidean distance q·x − ‖x‖²/2, for the others the similarity or the
negated distance, all in units that keep the numbers small. Gallery rows that must tie with each other for every
query (equal rows; under cosine also positive multiples) share one *column*, so data full of duplicates is small data.

Each distance computes its scores in *passes*, the fastest first. A pass has a floating-point type and a bound on its
error; a bound of zero means that scores compare as the real numbers do. What the last pass leaves open is settled by
`surds`, the exact closeness of single pairs:

    float32 product ──undecided──> float64 product ──undecided──> exact integers

Embeddings that are small integers times a common number (pixels, ±1 codes, int8, one-hot) need only one pass, and
it is exact.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

from deadheat import exact, inputs
from deadheat.exact import Float64, Surd

Int64 = NDArray[np.int64]
Index = Int64

_Result = TypeVar("_Result")

_CHUNK = 1 << 18  # elements gathered at once when pairs are scored one by one


@dataclass(frozen=True)
class Pass:
    """One way to compute scores: the type of its tiles, and whether its scores are exact."""

    dtype: DTypeLike
    exact: bool


@dataclass(frozen=True)
class Columns:
    """The distinct rows of a gallery.

    Parameters
    ----------
    representative : (n_column,) int64
        A gallery item that has this row.
    of_item : (n_gallery,) int64
        The column of each gallery item.
    bands : list of (start, stop)
        Runs of columns whose sizes lie within a factor of two, so that one error bound fits them all.
    """

    representative: Index
    of_item: Index
    bands: list[tuple[int, int]]

    def __len__(self) -> int:
        return len(self.representative)

    @classmethod
    def of(cls, raw: NDArray[Any], directions: bool = False) -> Columns:
        """Find equal rows, or rows of equal direction, by hash, and check each against the first of its kind."""
        from deadheat import _kernels

        _, first, group = np.unique(_kernels.hash_rows(raw, directions), return_index=True, return_inverse=True)
        if len(first) == len(raw):
            return cls(np.arange(len(raw)), np.arange(len(raw)), [(0, len(raw))])
        leader = first[group]
        alone = ~_kernels.same_rows(raw, leader, directions)
        leader[alone] = np.flatnonzero(alone)
        representative, of_item = np.unique(leader, return_inverse=True)
        return cls(representative, of_item.astype(np.int64), [(0, len(representative))])

    def in_bands(self, sizes: Float64) -> Columns:
        """The same columns, largest first in bands of a factor of two; `sizes` has one entry a gallery item."""
        _, octave = np.frexp(sizes[self.representative])
        octave = np.maximum(octave, octave.max() - 64)
        order = np.argsort(-octave, kind="stable")
        ends = np.flatnonzero(np.diff(octave[order])) + 1
        cuts = [0, *ends.tolist(), len(order)]
        position = np.empty_like(order)
        position[order] = np.arange(len(order))
        return Columns(self.representative[order], position[self.of_item], list(pairwise(cuts)))


@dataclass(frozen=True)
class Rows:
    """A matrix and what each of its rows is multiplied by before use."""

    raw: NDArray[Any]
    factor: Float64

    def take(self, index: Index, dtype: DTypeLike) -> NDArray[Any]:
        """Some of the rows, multiplied, in the given type."""
        from deadheat import _kernels

        out = np.empty((len(index), self.raw.shape[1]), dtype=dtype)
        _kernels.take_rows(self.raw, index, self.factor, out)
        return out

    @classmethod
    def over(cls, raw: NDArray[Any], unit: Float64) -> Rows:
        """Rows divided by a number of which they are multiples, or by a power of two: exact either way."""
        mantissa, _ = np.frexp(unit)
        if (mantissa == 0.5).all() and unit.min() >= np.finfo(np.float64).tiny:
            return cls(raw, np.broadcast_to(1 / unit, len(raw)).copy())
        return cls((raw / unit.reshape(-1, 1)).astype(raw.dtype), np.ones(len(raw)))


class Distance(ABC):
    """What the counting pass needs of a distance. Rows are queries, columns are distinct gallery rows."""

    name: ClassVar[str]
    similarity: ClassVar[bool]  # whether closeness is the similarity of that name, or a negated distance
    n_query: int
    columns: Columns
    passes: tuple[Pass, ...]

    @property
    def n_gallery(self) -> int:
        """How many gallery items there are."""
        return len(self.columns.of_item)

    @abstractmethod
    def left(self, number: int, rows: Index) -> NDArray[Any]:
        """Queries made ready for `tile` in pass `number`."""

    @abstractmethod
    def tile(self, number: int, left: NDArray[Any], columns: Index, out: NDArray[Any] | None = None) -> NDArray[Any]:
        """Scores of pass `number`, shape (len(left), len(columns)), written to `out` if it fits."""

    @abstractmethod
    def bound(self, number: int, rows: Index, band: tuple[int, int]) -> Float64:
        """How far scores of pass `number` may be off, for each row and any column of a band; shape (len(rows),)."""

    @abstractmethod
    def pair_bound(self, rows: Index, columns: Index) -> Float64:
        """How far scores of the last pass may be off, pair by pair."""

    @abstractmethod
    def pair_scores(self, rows: Index, columns: Index) -> Float64:
        """Scores of the last pass, pair by pair."""

    @abstractmethod
    def surds(self, rows: Index, columns: Index) -> list[Surd]:
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

    def __init__(self, query: NDArray[Any], gallery: NDArray[Any]) -> None:
        self.query_raw, self.gallery_raw = query, gallery
        self.n_query, self.dim = query.shape

    def left(self, number: int, rows: Index) -> NDArray[Any]:
        return self.queries.take(rows, self.passes[number].dtype)

    def _for_both(self, work: Callable[[NDArray[Any]], _Result]) -> tuple[_Result, _Result]:
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
        return self.query_raw[rows].astype(np.float64), self.gallery_raw[items].astype(np.float64)


class _Product(_Dense):
    """Distances whose score is a matrix product: q·x, minus an offset that the column brings."""

    similarity = True
    offset: Float64 | None = None  # one a gallery item

    def tile(self, number: int, left: NDArray[Any], columns: Index, out: NDArray[Any] | None = None) -> NDArray[Any]:
        items = self.columns.representative[columns]
        right = self.items.take(items, left.dtype)
        scores = np.matmul(left, right.T, out=out)
        if self.offset is not None:
            scores -= self.offset[items].astype(left.dtype)
        return scores

    def pair_scores(self, rows: Index, columns: Index) -> Float64:
        from deadheat import _kernels

        left, right, items = self.queries, self.items, self.columns.representative[columns]
        scores = _kernels.pair_dots(left.raw, left.factor, rows, right.raw, right.factor, items)
        if self.offset is not None:
            scores -= self.offset[items]
        return np.asarray(scores)

    def _scale(self, limit: float = 2.0**26) -> float:
        largest = super()._scale(limit)
        self.query_norm, self.item_norm = self._for_both(lambda raw: _norms(raw, self.unit))
        self.columns = Columns.of(self.gallery_raw).in_bands(self.item_norm)
        return largest

    def _size(self, query_norm: Float64, item_norm: Float64) -> Float64:
        """What the error of a score is proportional to."""
        return query_norm * item_norm

    def bound(self, number: int, rows: Index, band: tuple[int, int]) -> Float64:
        largest = self.item_norm[self.columns.representative[slice(*band)]].max()
        return self._bound(self.passes[number], self.query_norm[rows], largest)

    def pair_bound(self, rows: Index, columns: Index) -> Float64:
        norms = self.item_norm[self.columns.representative[columns]]
        return self._bound(self.passes[-1], self.query_norm[rows], norms)

    def _bound(self, one: Pass, query_norm: Float64, item_norm: Float64) -> Float64:
        if one.exact:
            return np.zeros_like(query_norm)
        size = self._size(query_norm, item_norm)
        bound = exact.gamma(self.dim + 10, one.dtype) * size + exact.underflow(self.dim, one.dtype)
        zero = (item_norm == 0) | ((query_norm == 0) & (self.offset is None))
        return np.where(zero, 0.0, bound)


class Cosine(_Product):
    """q·x / (‖q‖‖x‖); a zero vector has similarity 0 to everything.

    Rows are divided by their norms in float64, then multiplied. Rows that are small integers times a number of
    their own are handled exactly instead: cosines compare as the fractions a·|a| / ‖x‖² of integers, which float64
    keeps apart as long as ‖q‖²‖x‖⁴ stays below 2^51.
    """

    name = "cosine"

    def __init__(self, query: NDArray[Any], gallery: NDArray[Any], exact_only: bool = True) -> None:
        super().__init__(query, gallery)
        self.columns = Columns.of(gallery, directions=True)
        self.squares: Float64 | None = None
        if exact_only and self._set_integers():
            return
        (self.queries, self.query_nonzero), (self.items, self.item_nonzero) = self._for_both(_normalised)
        self.passes = (Pass(np.float32, exact=False), Pass(np.float64, exact=False))

    def _set_integers(self) -> bool:
        """Use exact fractions if all rows are small integers times a number of their own."""
        of_query, of_item = self._for_both(_integer_rows)
        if of_query is None or of_item is None:
            return False
        (queries, query_squares), (items, item_squares) = of_query, of_item
        largest_query, largest_item = query_squares.max(), item_squares.max()
        if largest_query * largest_item**2 > 2.0**51 or largest_query * largest_item > 2.0**48:
            return False
        self.queries, self.items = queries, items
        self.squares = np.maximum(item_squares, 1.0)
        self.passes = (Pass(np.float64, exact=True),)
        return True

    def left(self, number: int, rows: Index) -> NDArray[Any]:
        return self.queries.take(rows, np.float32 if self.squares is not None else self.passes[number].dtype)

    def tile(self, number: int, left: NDArray[Any], columns: Index, out: NDArray[Any] | None = None) -> NDArray[Any]:
        if self.squares is None:
            return super().tile(number, left, columns, out)
        from deadheat import _kernels

        products = super().tile(number, left, columns)
        scores = np.empty(products.shape) if out is None else out
        _kernels.signed_squares(products, self.squares[self.columns.representative[columns]], scores)
        return scores

    def pair_scores(self, rows: Index, columns: Index) -> Float64:
        products = super().pair_scores(rows, columns)
        if self.squares is None:
            return products
        return products * np.abs(products) / self.squares[self.columns.representative[columns]]

    def bound(self, number: int, rows: Index, band: tuple[int, int]) -> Float64:
        if self.squares is not None:
            return np.zeros(len(rows))
        return np.where(self.query_nonzero[rows], self._factor(self.passes[number].dtype), 0.0)

    def pair_bound(self, rows: Index, columns: Index) -> Float64:
        if self.squares is not None:
            return np.zeros(len(rows))
        nonzero = self.query_nonzero[rows] & self.item_nonzero[self.columns.representative[columns]]
        return np.where(nonzero, self._factor(self.passes[-1].dtype), 0.0)

    def _factor(self, dtype: DTypeLike) -> float:
        """The error of the product of two normalised rows, and of their norms."""
        product = exact.gamma(self.dim + 10, dtype) + exact.gamma(self.dim + 10, np.float64)
        return product * (1 + 2.0**-10) + exact.underflow(self.dim, dtype)

    def surds(self, rows: Index, columns: Index) -> list[Surd]:
        left, right = self._exact_pairs(rows, columns)
        products = exact.exact_dots(left, right)
        squares = zip(exact.exact_dots(left, left), exact.exact_dots(right, right), strict=True)
        return [
            Surd((p > 0) - (p < 0), p * p, q * x) if p else Surd(0, 0, 1)
            for p, (q, x) in zip(products, squares, strict=True)
        ]


class InnerProduct(_Product):
    """q·x."""

    name = "inner_product"

    def __init__(self, query: NDArray[Any], gallery: NDArray[Any]) -> None:
        super().__init__(query, gallery)
        self.passes = _passes(self._scale() ** 2 * self.dim)

    def closeness(self, rows: Index, low: Float64, high: Float64) -> tuple[Float64, Float64]:
        return _multiplied(*_multiplied(low, high, self.unit), self.unit)

    def score(self, rows: Index, low: Float64, high: Float64) -> tuple[Float64, Float64]:
        return _divided(*_divided(low, high, self.unit), self.unit)

    def surds(self, rows: Index, columns: Index) -> list[Surd]:
        left, right = self._exact_pairs(rows, columns)
        return [Surd((p > 0) - (p < 0), p * p, 1 << 4296) for p in exact.exact_dots(left, right)]


class Euclidean(_Product):
    """‖q − x‖, ranked by q·x − ‖x‖²/2."""

    name = "euclidean"
    similarity = False

    def __init__(self, query: NDArray[Any], gallery: NDArray[Any]) -> None:
        super().__init__(query, gallery)
        self.passes = _passes(3 * self._scale() ** 2 * self.dim)
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

    def surds(self, rows: Index, columns: Index) -> list[Surd]:
        left, right = self._exact_pairs(rows, columns)
        products = zip(
            exact.exact_dots(left, left), exact.exact_dots(right, right), exact.exact_dots(left, right), strict=True
        )
        squares = [q + x - 2 * p for q, x, p in products]
        return [Surd(-(square > 0), square, 1 << 2148) for square in squares]


class Cityblock(_Dense):
    """Σ |q − x|."""

    name = "cityblock"
    similarity = False

    def __init__(self, query: NDArray[Any], gallery: NDArray[Any]) -> None:
        super().__init__(query, gallery)
        self.passes = _passes(2 * self._scale(limit=2.0**51) * self.dim)
        self.query_size, self.item_size = self._for_both(lambda raw: _absolute_sums(raw, self.unit))
        self.columns = Columns.of(gallery).in_bands(self.item_size)

    def tile(self, number: int, left: NDArray[Any], columns: Index, out: NDArray[Any] | None = None) -> NDArray[Any]:
        from deadheat import _kernels

        right = self.items.take(self.columns.representative[columns], left.dtype)
        scores = np.empty((len(left), len(right)), dtype=left.dtype) if out is None else out
        _kernels.minus_absolute_differences(left, np.ascontiguousarray(right.T), scores)
        return scores

    def bound(self, number: int, rows: Index, band: tuple[int, int]) -> Float64:
        largest = self.item_size[self.columns.representative[slice(*band)]].max()
        return self._bound(self.passes[number], self.query_size[rows] + largest)

    def pair_bound(self, rows: Index, columns: Index) -> Float64:
        sizes = self.item_size[self.columns.representative[columns]]
        return self._bound(self.passes[-1], self.query_size[rows] + sizes)

    def _bound(self, one: Pass, size: Float64) -> Float64:
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

    def surds(self, rows: Index, columns: Index) -> list[Surd]:
        left, right = self._exact_pairs(rows, columns)
        return [Surd(-(s > 0), s * s, 1 << 4296) for s in exact.exact_absolute_differences(left, right)]


class Hamming(Distance):
    """The number of bits in which two codes differ."""

    name = "hamming"
    similarity = False
    passes = (Pass(np.float32, exact=True),)

    def __init__(self, query: NDArray[np.uint64], gallery: NDArray[np.uint64]) -> None:
        if query.shape[1] * 64 >= 2**24:
            raise ValueError(f"codes must be shorter than 2^24 bits, but have {query.shape[1] * 64}")
        self.query_words, self.gallery_words = query, gallery
        self.n_query = len(query)
        self.columns = Columns.of(gallery.view(np.uint32).astype(np.float64))

    def left(self, number: int, rows: Index) -> NDArray[Any]:
        return self.query_words[rows]

    def tile(self, number: int, left: NDArray[Any], columns: Index, out: NDArray[Any] | None = None) -> NDArray[Any]:
        from deadheat import _kernels

        right = self.gallery_words[self.columns.representative[columns]]
        scores = np.empty((len(left), len(right)), dtype=np.float32) if out is None else out
        _kernels.minus_differing_bits(left, right, scores)
        return scores

    def bound(self, number: int, rows: Index, band: tuple[int, int]) -> Float64:
        return np.zeros(len(rows))

    def pair_bound(self, rows: Index, columns: Index) -> Float64:
        return np.zeros(len(rows))

    def pair_scores(self, rows: Index, columns: Index) -> Float64:
        differing = self.query_words[rows] ^ self.gallery_words[self.columns.representative[columns]]
        counts: Float64 = np.bitwise_count(differing).sum(axis=1).astype(np.float64)
        return -counts

    def surds(self, rows: Index, columns: Index) -> list[Surd]:
        counts = (-self.pair_scores(rows, columns)).astype(np.int64).tolist()
        return [Surd(-(count > 0), count * count, 1) for count in counts]


DISTANCES = ("cosine", "euclidean", "inner_product", "cityblock", "hamming")


def make(name: str, query: Any, gallery: Any | None, exact_only: bool) -> Distance:
    """Check embeddings and make the distance between them; without a gallery, from the queries to themselves.

    `exact_only` says that scores will only be compared with each other, so any increasing function will do.
    """
    inputs.choice(name, DISTANCES, "distance")
    check = inputs.bits if name == "hamming" else inputs.embeddings
    left = check(query, "query")
    right = left if gallery is None else check(gallery, "gallery")
    if gallery is not None:
        inputs.require_same_dim(query, gallery, codes=name == "hamming")
    if left.dtype != right.dtype:
        left, right = left.astype(np.float64), right.astype(np.float64)
    if name == "cosine":
        return Cosine(left, right, exact_only)
    kinds: dict[str, Any] = {
        "euclidean": Euclidean,
        "inner_product": InnerProduct,
        "cityblock": Cityblock,
        "hamming": Hamming,
    }
    distance: Distance = kinds[name](left, right)
    return distance


def _passes(largest_sum: float) -> tuple[Pass, ...]:
    """One exact pass in float32 where sums of integers stay below 2^24; else two, the last exact below 2^53."""
    if largest_sum < 2.0**24:
        return (Pass(np.float32, exact=True),)
    return (Pass(np.float32, exact=False), Pass(np.float64, exact=bool(largest_sum < 2.0**53)))


# Scaling ---------------------------------------------------------------------------------------------------------


def _common_unit(query: NDArray[Any], gallery: NDArray[Any], limit: float) -> tuple[float, float]:
    """A number of which every element is a small integer multiple, and the largest multiple (infinity: none)."""
    units, largest = np.empty(2), np.empty(2)
    for i, raw in enumerate((query, gallery)):
        if i and raw is query:
            return units[0], largest[0]
        unit = np.empty(1)
        largest[i], units[i] = _integer_units(raw, unit, limit), unit[0]
        if largest[i] == np.inf:
            return 1.0, np.inf
    both = np.empty(1)
    top = _integer_units(np.array([[*units, *(units * largest)]]), both, limit)
    return float(both[0]), top


def _integer_units(raw: NDArray[Any], units: Float64, limit: float) -> float:
    """Fill in the units and return the largest multiple, infinity if it exceeds the limit, as it mostly does."""
    if _largest_multiple(raw[0, :32].tolist()) > limit:
        return np.inf
    from deadheat import _kernels

    return float(_kernels.integer_units(raw, units, limit))


def _largest_multiple(values: list[float]) -> int:
    """The largest of some numbers in units of their greatest common divisor."""
    ratios = [value.as_integer_ratio() for value in values]
    shared = math.lcm(*(denominator for _, denominator in ratios))
    multiples = [abs(numerator) * (shared // denominator) for numerator, denominator in ratios]
    return max(multiples) // (math.gcd(*multiples) or 1)


def _integer_rows(raw: NDArray[Any]) -> tuple[Rows, Float64] | None:
    """The rows, each divided by a number of which it is a small multiple, and their squares; None if one has none."""
    units = np.empty(len(raw))
    if _integer_units(raw, units, limit=2.0**9) == np.inf:
        return None
    rows = Rows.over(raw, units)
    return rows, _integer_squares(rows)


def _power_of_two(*matrices: NDArray[Any]) -> float:
    """A power of two that no element exceeds in size (but a finite one)."""
    largest = max(float(_largest(matrix).max()) for matrix in matrices)
    exponent = min(int(np.frexp(largest)[1]), 1023)
    return float(np.ldexp(1.0, max(exponent, -1022))) if largest else 1.0


def _largest(raw: NDArray[Any]) -> Float64:
    """The size of the largest element of each row."""
    return np.asarray(np.maximum(raw.max(axis=1), -raw.min(axis=1)), dtype=np.float64)


def _norms(raw: NDArray[Any], scale: float) -> Float64:
    """Euclidean norms of the rows divided by `scale`, rounded up."""
    from deadheat import _kernels

    squares, absolutes = _kernels.row_sums(raw, scale)
    norms = np.where(squares > 2.0**-900, np.sqrt(squares), absolutes)  # tiny squares may have lost their bits
    norms *= 1 + (raw.shape[1] + 16) * 2.0**-52
    return np.where(_largest(raw) > 0, np.maximum(norms, 2.0**-1000), 0.0)


def _absolute_sums(raw: NDArray[Any], scale: float) -> Float64:
    """Sums of absolute values of the rows divided by `scale`, rounded up."""
    from deadheat import _kernels

    _, sums = _kernels.row_sums(raw, scale)
    return np.asarray(sums * (1 + (raw.shape[1] + 16) * 2.0**-52))


def _integer_squares(rows: Rows) -> Float64:
    """Squared norms of the divided rows: exact where these are small integers."""
    squares = np.empty(len(rows.raw))
    step = max(1, _CHUNK // rows.raw.shape[1])
    for start in range(0, len(squares), step):
        part = rows.take(np.arange(start, min(start + step, len(squares))), np.float64)
        squares[start : start + step] = np.einsum("ij,ij->i", part, part)
    return squares


def _normalised(raw: NDArray[Any]) -> tuple[Rows, NDArray[np.bool_]]:
    """The rows to be divided by their norms, and which of them are not zero."""
    largest = _largest(raw)
    _, exponent = np.frexp(largest)
    if raw.dtype == np.float64 and (np.abs(exponent[largest > 0]) > 400).any():
        raw = np.ldexp(raw, -exponent[:, None])  # the direction is what counts, and squares must not overflow
    from deadheat import _kernels

    squares, _ = _kernels.row_sums(raw, 1.0)
    return Rows(raw, 1 / np.where(squares > 0, np.sqrt(squares), 1.0)), largest > 0


def _widened(low: Float64, high: Float64) -> tuple[Float64, Float64]:
    """Intervals made wide enough for a few roundings of their ends, underflow included."""
    return (
        low * np.where(low < 0, 1 + 2.0**-50, 1 - 2.0**-50) - 2.0**-960,
        high * np.where(high < 0, 1 - 2.0**-50, 1 + 2.0**-50) + 2.0**-960,
    )


def _divided(low: Float64, high: Float64, divisor: float) -> tuple[Float64, Float64]:
    """Intervals divided by a positive number; an end that overflows stays outside."""
    with np.errstate(over="ignore", under="ignore"):
        return _outward(*_widened(low / divisor, high / divisor))


def _multiplied(low: Float64, high: Float64, factor: float) -> tuple[Float64, Float64]:
    """Intervals multiplied by a positive number; an end that overflows stays outside."""
    with np.errstate(over="ignore", under="ignore"):
        return _outward(*_widened(low * factor, high * factor))


def _outward(low: Float64, high: Float64) -> tuple[Float64, Float64]:
    """Intervals of real numbers: what overflowed upwards is above the largest float, what did downwards below."""
    largest = np.finfo(np.float64).max
    return np.minimum(low, largest), np.maximum(high, -largest)
