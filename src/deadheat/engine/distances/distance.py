"""Base classes of distances: fast scores with a proven error bound, and the exact closeness behind them.

All are a `Distance`; those between rows of numbers are `Dense`, and those by a product of matrices a `Product`.

In come checked embeddings; out go *scores*, where higher means closer. A score is any increasing function of the
closeness that is quick to compute: for Euclidean distance q·x − ‖x‖²/2, for the others the similarity or the
negated distance, all in units that keep the numbers small. Gallery rows that must tie with each other for every
query (equal rows; under cosine also positive multiples) share one *column*, so data full of duplicates is small data.

A distance describes its scores: their `form` (a product of rows, an overlap, a sum of differences, a count of bits or
their share), the rows that they are made from, the offset of each item, and bounds on their errors. The core computes
them (`src/core/pass/scores.h`) in *levels*, the fastest first. A level has a floating-point type and a bound on its
error; a bound of zero means that scores compare as the real numbers do. Pairs that the last level leaves open are
decided by their exact closeness:

    float32 ──undecided──> float64 ──undecided──> exact integers

Embeddings that are small integers times a common number (pixels, ±1 codes, int8, one-hot) need only one level, and
it is exact.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from copy import copy
from typing import Any, ClassVar, Literal, NamedTuple, Self, TypeVar

import numpy as np
from numpy.typing import DTypeLike

import deadheat._core as _core
from deadheat._core import ScoreErrors
from deadheat.engine.distances import bounds, scaling
from deadheat.engine.distances.columns import Columns
from deadheat.engine.distances.patterns import Patterns
from deadheat.engine.distances.scaling import ScaledRows
from deadheat.engine.exact import Roots
from deadheat.inputs.source import Source
from deadheat.support.arrays import Float64, Int64, slices
from deadheat.support.caching import cached_property
from deadheat.support.lazy import fractions

_Result = TypeVar("_Result")
Form = Literal["product", "overlap", "difference", "bits", "share"]

CHUNK = 128  # dimensions whose products are added up before their sum is added to the others,
CHUNKS = (CHUNK, 64, 32, 16)  # or fewer, where many items would stay undecided

_AT_ONCE = 1 << 15  # pairs that are multiplied exactly in one call


class Level(NamedTuple):
    """One way to compute scores: the type of its tiles, and whether its scores are exact.

    With a `chunk`, products are sums of sums over `chunk` dimensions each; without, sums in any order.
    """

    dtype: DTypeLike
    exact: bool
    chunk: int | None = None
    rows: DTypeLike | None = None  # the type of the rows that are multiplied, if not that of the scores

    @property
    def row_dtype(self) -> DTypeLike:
        """The type of the rows that scores are computed from."""
        return self.rows or self.dtype

    def terms(self, dim: int) -> int:
        """Return the most successive roundings in a sum of `dim` products."""
        return dim if self.chunk is None else _core.product_roundings(dim, self.chunk)


def levels_for(largest_sum: float) -> tuple[Level, ...]:
    """Return one exact level in float32 if sums of integers stay below 2^24; else two, the last exact below 2^53."""
    if largest_sum < bounds.largest_whole(np.float32):
        return (Level(np.float32, exact=True),)
    return (
        Level(np.float32, exact=False),
        Level(np.float64, exact=bool(largest_sum < bounds.largest_whole(np.float64))),
    )


class Target(NamedTuple):
    """A value that can be rounded instead of the closeness, where closeness = sign·value + shift."""

    sign: int
    shift: int


class Distance(ABC):
    """Interface of a distance for counting and ties. Queries, and columns (distinct gallery rows), are numbered."""

    name: ClassVar[str]  # what users call it
    takes: ClassVar[Literal["numbers", "bits"]]  # made from sources of rows, or from matrices of bits in uint64 words
    targets: ClassVar[Mapping[str, Target]]  # what can be rounded, "similarity" or "distance", the usual one first
    form: ClassVar[Form]  # what scores are made from
    n_query: int
    dim: int  # numbers or bits in a row
    columns: Columns
    levels: tuple[Level, ...]
    queries: Any  # what is multiplied: `scaling.ScaledRows`, or matrices of words
    items: Any
    offset: Float64 = np.empty(0)  # of each item, taken off its products; or none
    squares: Float64 = np.empty(0)  # of each item: a score is a·|a| / square for the product a; or none
    patterns: Patterns | None = None  # where the numbers in the rows are, if that shows which items tie
    n_terms: int | None = None  # most terms that are not 0 of a product of sparse rows; None for others
    mostly_one_term: bool = False  # whether products are mostly one of their terms

    @abstractmethod
    def __init__(self, query: Any, gallery: Any) -> None:
        """Open the distance between checked embeddings, which are one object if queries are ranked with each other."""

    @classmethod
    def between(cls, query: Any, gallery: Any, exact_only: bool) -> Self:
        """Return the distance between checked embeddings.

        `exact_only` says that scores will only be compared with each other, so any increasing function will do.
        """
        return cls(query, gallery)

    @property
    def n_gallery(self) -> int:
        return len(self.columns.column_of_item)

    # Variants --------------------------------------------------------------------------------------------------------

    def having(self, **attributes: Any) -> Self:
        """Return the same distance with other `levels`, or its `columns` in another order; this one is not changed."""
        variant = copy(self)
        vars(variant).pop("scores", None)
        vars(variant).update(attributes)
        return variant

    def expecting(self, n_relevant: float, symmetric: bool) -> Self:
        """Return the same distance at levels that suit `n_relevant` items per query, and half or all products."""
        return self

    def measuring(self) -> Distance:
        """Return the same distance with scores that determine the closeness, and not just its order."""
        return self

    # Scores ----------------------------------------------------------------------------------------------------------

    @abstractmethod
    def errors(self, level: Level) -> ScoreErrors:
        """Return the error bounds for the scores of a level that is not exact."""

    @cached_property
    def scores(self) -> Any:
        """Scores as the core computes them: `tile`, `pair_scores` and `pair_bounds` by queries and columns."""
        errors = [ScoreErrors() if level.exact else self.errors(level) for level in self.levels]
        levels = [
            _core.ScoreLevel(
                wide=np.dtype(level.dtype) == np.float64, wide_rows=np.dtype(level.row_dtype) == np.float64,
                exact=level.exact, chunk=level.chunk or CHUNK, errors=of_level,
            )
            for level, of_level in zip(self.levels, errors, strict=True)
        ]  # fmt: skip
        bands = []
        for start, stop in self.columns.bands:
            items = self.columns.item_of_column[start:stop]
            bands.append(
                _core.Band(start=start, stop=stop, of_level=[bounds.of_band(of_level, items) for of_level in errors])
            )
        return _core.Scores(
            form=self.form, query=self.queries, item=self.items, offset=self.offset, squares=self.squares,
            item_of_column=self.columns.item_of_column,
            bound_by_terms=not self.levels[-1].exact and self.mostly_one_term, levels=levels, bands=bands,
        )  # fmt: skip

    @cached_property
    def exact(self) -> Any:
        """Exact closeness of pairs as the core computes it; None if scores of the last level are exact."""
        return None

    def exact_closeness(self, queries: Int64, columns: Int64) -> Roots:
        """Return the exact closeness, pair by pair: the similarity, or minus the distance."""
        items = self.columns.item_of_column[columns]
        first, *rest = (
            Roots(self.exact.closeness(queries[part], items[part])) for part in slices(max(1, len(items)), _AT_ONCE)
        )
        for part in rest:
            first.add(part)
        return first

    # Scores and closeness --------------------------------------------------------------------------------------------

    def closeness(self, queries: Int64, low: Float64, high: Float64) -> tuple[Float64, Float64]:
        """Return intervals of closeness from intervals of scores, pair by pair."""
        return low, high

    def score(self, queries: Int64, low: Float64, high: Float64) -> tuple[Float64, Float64]:
        """Return intervals of scores from intervals of closeness, pair by pair."""
        return low, high

    @property
    def step(self) -> fractions.Fraction | None:
        """Factor from scores of the last level to the closeness, if they are integers; None if not."""
        return None

    def least_scores(self, queries: Int64, scores: Float64, shift: float, above: bool) -> Float64 | None:
        """Return the least scores of the last level with a closeness at least, or above, that of `scores` plus `shift`.

        Only if scores are exact; None if it is not known.
        """
        if self.step is None:
            return None
        steps = fractions.Fraction(shift) / self.step
        whole = math.floor(steps) + 1 if above else math.ceil(steps)
        return scores + float(max(-(2**60), min(2**60, whole)))  # far outside of all scores, one is as far

    def exact_values(self, scores: Float64) -> Float64 | None:
        """Return the closeness of scores of the last level, if float64 is known to hold it exactly; else None."""
        if (step := self.step) is None:
            return None
        largest, odd = int(np.abs(scores).max(initial=0)), step.numerator // (step.numerator & -step.numerator)
        fits = largest * odd <= 2**53 and max(largest, 1) * step <= np.finfo(np.float64).max
        return scores * float(step) if fits and fractions.Fraction(float(step)) == step else None


class Dense(Distance):
    """Distances between rows of numbers: the rows as given, and the same scaled so that they stay small."""

    takes = "numbers"
    zero_if_disjoint = False  # whether the score of rows with disjoint support is 0
    differences = False  # whether the distance depends on the differences of numbers alone
    key_kind: ClassVar[str]
    queries: ScaledRows
    items: ScaledRows

    def __init__(self, query: Source, gallery: Source) -> None:
        self.query_raw, self.gallery_raw = query, gallery
        self._given = query, gallery
        self.n_query, self.dim = query.shape

    @cached_property
    def patterns(self) -> Patterns | None:  # type: ignore[override]
        rows = self.query_raw, self.gallery_raw
        zeros = self.zero_if_disjoint and self.n_terms is None  # else the pass itself finds disjoint support
        return None if self.levels[-1].exact else Patterns.of(*rows, zeros, self.differences)

    @cached_property
    def _nonnegative(self) -> bool:
        return all(self.for_both(lambda raw: bool((raw.extremes[:, 0] >= 0).all())))

    def for_both(self, work: Callable[[Source], _Result]) -> tuple[_Result, _Result]:
        """Apply a function to the queries and to the gallery; once if they are the same."""
        of_query = work(self.query_raw)
        return of_query, of_query if self.gallery_raw is self.query_raw else work(self.gallery_raw)

    def take_off_centre(self) -> None:
        """Subtract the common centre from all rows, exactly, if it makes them small."""
        centre = scaling.common_centre(self.query_raw, self.gallery_raw)
        if centre is not None:
            self.query_raw, self.gallery_raw = self.for_both(lambda source: scaling.less(source, centre))

    def scale(self, limit: float) -> float:
        """Divide all rows by one number, `unit`: to integers up to `limit` if possible, else by a power of two.

        Returns the largest of the integers, infinity if there are none.
        """
        self.unit, largest = scaling.common_unit(self.query_raw, self.gallery_raw, limit)
        if largest == np.inf:
            self.unit = scaling.power_of_two(self.query_raw, self.gallery_raw)
        self.queries, self.items = self.for_both(lambda raw: ScaledRows.over(raw, np.array([self.unit])))
        return largest

    def subtract_common_offset(self, sizes: Float64, *, squares: bool) -> None:
        """Set the offsets to half of the squared norms, or sums, of items less a common one of these."""
        self.common_offset = scaling.common_size(sizes)
        left, self._offset_error = scaling.sums_less(self.items, self.common_offset, squares=squares)
        self.offset = left / 2
        if self.common_offset and self._nonnegative:  # what is left of the sizes is what errors are relative to
            self.columns = self.columns.in_bands(np.maximum(np.abs(self.offset), bounds.LEAST_NORM))

    def offset_errors(self, dtype: DTypeLike) -> Float64:
        """Bound the errors of scores of a type that are due to the offsets of items."""
        if not len(self.offset):
            return np.zeros(len(self.columns.column_of_item))
        return bounds.of_offset(self.offset, self._offset_error, self.dim, dtype)

    @cached_property
    def exact(self) -> Any:
        return _core.ExactPairs(self.key_kind, self.query_raw, self.gallery_raw)


class Product(Dense):
    """Distances whose score is a matrix product: q·x, minus an offset of the column."""

    form = "product"

    def expecting(self, n_relevant: float, symmetric: bool) -> Self:
        """Choose the levels that take the least time: float32, in long or short chunks of dimensions, or float64 alone.

        Measured in ns per item: a product costs 0.02 per dimension, 0.04 in float64, each chunk another 0.03, and an
        exact decision on an undecided item 60 and 0.15 per dimension. The share of undecided items is estimated as for
        random directions: those within the bound of one of the thresholds.
        """
        if len(self.levels) == 1 or self.n_terms is not None:
            return self
        dim, products, (first, last) = self.dim, 0.5 if symmetric else 1.0, self.levels

        def cost(level: Level) -> float:
            bound = bounds.gamma(level.terms(dim) + bounds.ROUNDINGS, np.float32)
            share = min(1.0, n_relevant * 2 * bound * 0.28 * math.sqrt(dim))
            return products * (0.02 * dim + 0.03 * dim / (level.chunk or dim)) + share * (60 + 0.15 * dim)

        best = min((first._replace(chunk=chunk) for chunk in CHUNKS), key=cost)
        return self.having(levels=(last,) if cost(best) > products * 0.04 * dim + 1 else (best, last))

    def scale(self, limit: float = 2.0**26) -> float:
        largest = super().scale(limit)
        self.query_norm, self.item_norm = self.for_both(lambda raw: scaling.norms(raw, self.unit))
        self.columns = Columns.of(self.gallery_raw).in_bands(self.item_norm)
        return largest

    def errors(self, level: Level, **of_squares: Any) -> ScoreErrors:
        dtype, terms = level.dtype, level.terms(self.dim) if self.n_terms is None else self.n_terms
        part, tiny = self.relative_error(terms, dtype), bounds.underflow(self.dim, dtype)
        relative, relative_tiny = np.inf, np.inf
        if self._nonnegative:  # a sum of products of one sign; without underflow it is 0 where it should be
            of_query, of_item = self._least_sizes
            safe = min(of_query * of_item, of_query, of_item) > bounds.SAFE_SIZE * float(np.finfo(dtype).tiny)
            relative, relative_tiny = bounds.of_one_sign(part, 0.0 if safe else tiny)
        return ScoreErrors(
            of_query=self.query_norm, of_item=self.item_norm, part=part, tiny=tiny,
            offset_error=self.offset_errors(dtype), offset=self.offset,
            relative=relative, relative_tiny=relative_tiny, **of_squares,
        )  # fmt: skip

    def relative_error(self, terms: int, dtype: DTypeLike) -> float:
        """Bound the error of a product relative to the sizes of its rows, for `terms` successive roundings."""
        return bounds.of_sum(terms, dtype)

    @cached_property
    def n_terms(self) -> int | None:  # type: ignore[override]
        sources = self.queries.source, self.items.source
        if any(source.compressed is None for source in sources):
            return None
        return max(1, min(int(np.diff(source.compressed[0]).max()) for source in sources if source.compressed))

    @cached_property
    def mostly_one_term(self) -> bool:  # type: ignore[override]
        return not self._nonnegative and all(self.for_both(scaling.mostly_of_wide_range))

    @cached_property
    def _least_sizes(self) -> tuple[float, float]:
        """Return the sizes of the smallest nonzero numbers of queries and of items, as they are multiplied."""
        of_queries = self.queries.least_size()
        return of_queries, of_queries if self.items is self.queries else self.items.least_size()
