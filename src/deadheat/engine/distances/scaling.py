"""Rows as they are multiplied: the given rows, less a common centre, each times a factor of its own.

The factors are units that make numbers small integers, powers of two that keep them small, or norms; norms and sums
come rounded up. Rows that lie close together far from zero have their centre subtracted, if that is exact: distances do
not change, but error bounds grow with the norms of the rows, so they become as small as the differences.

    features near 1e6, time stamps, an embedding at one point   ──less their centre──>   their differences
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

import deadheat._core as _core
from deadheat.engine.distances import bounds
from deadheat.inputs.source import Array, Index, Source
from deadheat.inputs.source import Rows as Matrix
from deadheat.support.arrays import Bool, Float64, Int64, slices

CHUNK = 1 << 18  # numbers that are made at once
HELD_BYTES = 64 << 20  # up to which rows made from others are held, and not made again for each use

_LEAST = float(np.finfo(np.float64).tiny)  # that is not subnormal
_WIDE_RATIO = 2.0**-30  # of the smallest to the largest number of a row
_GAIN = 16.0  # by which squared norms have to shrink
_FIRST = 64  # rows that mostly show already that there is no common centre


class Derived(Source):
    def __init__(
        self, source: Source, change: Callable[[NDArray[Any]], NDArray[Any]], dtype: np.dtype[np.floating]
    ) -> None:
        self.shape, self.dtype, self.stored = source.shape, dtype, dtype
        self._source, self._change = source, change

    @classmethod
    def of(cls, source: Source, change: Callable[[NDArray[Any]], NDArray[Any]], dtype: np.dtype[np.floating]) -> Source:
        """Return the changed rows; held in memory if they are few and the source is in memory too."""
        derived = cls(source, change, dtype)
        if not source.in_memory or source.shape[0] * source.shape[1] * dtype.itemsize > HELD_BYTES:
            return derived
        held = np.empty(source.shape, dtype)
        for some in slices(len(source), max(1, CHUNK // source.shape[1])):
            derived._read_into(some.start, held[some])
        return Array(held)

    def _read_into(self, start: int, out: NDArray[Any]) -> None:
        out[:] = self._change(self._source.read(start, start + len(out)))

    def _take_into(self, index: Index, out: NDArray[Any]) -> None:
        out[:] = self._change(self._source.take(index))


class ScaledRows(NamedTuple):
    """A matrix, and the factor of each of its rows, which multiplies or divides it before use."""

    source: Source
    factor: Float64
    divide: bool = False

    def take(self, index: Int64, dtype: DTypeLike) -> NDArray[Any]:
        """Return some of the rows, scaled, in the given type."""
        out = np.empty((len(index), self.source.shape[1]), dtype=dtype)
        (raw, factor, divide), position = self.gather(index)
        _core.take_rows(raw, position, factor, divide, out)
        return out

    def gather(self, index: Int64) -> tuple[tuple[NDArray[Any], Float64, bool], Int64]:
        """Return an array, the factors of its rows, whether these divide, and the position in it of each row."""
        if isinstance(self.source, Array) and self.source.in_memory:
            return (self.source.array, self.factor, self.divide), index
        distinct, position = np.unique(index, return_inverse=True)
        return (self.source.take(distinct), self.factor[distinct], self.divide), position

    def least_size(self) -> float:
        """Return the size of the smallest scaled number that is not zero, not rounded up; infinity if all are."""
        sizes = smallest_sizes(self.source)
        with np.errstate(under="ignore", over="ignore"):
            return float((sizes / self.factor if self.divide else sizes * self.factor).min()) * bounds.LEAST_SIZE

    @classmethod
    def over(cls, source: Source, unit: Float64) -> ScaledRows:
        """Return rows divided by a number of which they are multiples, or by a power of two: exact either way."""
        mantissa, _ = np.frexp(unit)
        multiply = bool((mantissa == 0.5).all() and unit.min() >= np.finfo(np.float64).tiny)
        return cls(source, np.broadcast_to(1 / unit if multiply else unit, source.shape[0]).copy(), not multiply)


def by_piece(source: Source, work: Callable[[NDArray[Any]], NDArray[Any]]) -> NDArray[Any]:
    """Apply a function to the rows, piece by piece; its result has one entry per row."""
    return np.concatenate([work(rows) for _, rows in source.pieces()])


def common_unit(query: Source, gallery: Source, limit: float) -> tuple[float, float]:
    """Find a number of which every element is a small integer multiple, and the largest multiple (infinity: none)."""
    extremes: list[float] = []  # the unit of each piece, and its largest element
    for source in (query,) if gallery is query else (query, gallery):
        for _, rows in source.pieces():
            unit = np.empty(1)
            largest = _core.integer_units(rows, unit, limit)
            if largest == np.inf:
                return 1.0, np.inf
            if largest:
                extremes += [unit[0], unit[0] * largest]
    if not extremes:
        return 1.0, 0.0
    common = np.empty(1)
    largest = _core.integer_units(np.array([extremes]), common, limit)
    return float(common[0]), float(largest)


def integer_rows(source: Source) -> tuple[ScaledRows, Float64] | None:
    """Return the rows, each divided by a number of which it is a small multiple, and their squares; else None."""
    units = np.empty(source.shape[0])
    for start, rows in source.pieces():
        if _core.integer_units(rows, units[start : start + len(rows)], 2.0**9) == np.inf:
            return None
    whole = ScaledRows.over(source, units)
    return whole, integer_squares(whole)


def power_of_two(*sources: Source) -> float:
    """Return a finite power of two that no element exceeds in size, or the largest there is."""
    largest = max(float(largest_sizes(source).max()) for source in sources)
    exponent = min(int(np.frexp(largest)[1]), 1023)
    return float(np.ldexp(1.0, max(exponent, -1022))) if largest else 1.0


def largest_sizes(source: Source) -> Float64:
    least, greatest, _ = source.extremes.T
    return np.asarray(np.maximum(greatest, -least), dtype=np.float64)


def smallest_sizes(source: Source) -> Float64:
    """Return the size of the smallest nonzero element of each row, infinity where all are zero."""
    return np.asarray(source.extremes[:, 2], dtype=np.float64)


def mostly_of_wide_range(source: Source) -> bool:
    """Return whether the sizes of the numbers of most rows differ so much that one term dominates a product."""
    largest, smallest = largest_sizes(source), smallest_sizes(source)
    return bool(np.mean(largest * _WIDE_RATIO > smallest) > 0.5)


def norms(source: Source, scale: float) -> Float64:
    """Return Euclidean norms of the rows divided by `scale`, rounded up."""
    squares, absolutes = by_piece(source, lambda rows: _core.row_sums(rows, scale, source.threads)).T
    lengths = np.maximum(bounds.norms(squares, absolutes, source.shape[1]), bounds.LEAST_NORM)
    return np.where(largest_sizes(source) > 0, lengths, 0.0)


def absolute_sums(source: Source, scale: float) -> Float64:
    """Return sums of absolute values of the rows divided by `scale`, rounded up."""
    return bounds.sums(
        by_piece(source, lambda rows: _core.row_sums(rows, scale, source.threads)[:, 1]), source.shape[1]
    )


def integer_squares(rows: ScaledRows) -> Float64:
    """Return squared norms of the divided rows: exact if these are small integers."""
    squares = np.empty(rows.source.shape[0])
    step = max(1, CHUNK // rows.source.shape[1])
    for start in range(0, len(squares), step):
        part = rows.take(np.arange(start, min(start + step, len(squares))), np.float64)
        squares[start : start + step] = np.einsum("ij,ij->i", part, part)
    return squares


def sums_less(rows: ScaledRows, number: float, *, squares: bool) -> tuple[Float64, Float64]:
    """Return rounded sums of the divided rows, or squared norms, less a number, and the error beyond a rounding or two.

    They come from Dot2, the number as one more product, and from exact sums if Dot2 leaves too few correct digits.
    """
    n, dim = rows.source.shape
    left, error, step = np.empty(n), np.empty(n), max(1, CHUNK // dim)
    for some in (np.arange(start, min(start + step, n)) for start in range(0, n, step)):
        part = rows.take(some, np.float64)
        numbers, ones = np.full((len(part), 1), -number), np.ones((len(part), 1))
        one, two = np.hstack([part, numbers]), np.hstack([part if squares else np.ones_like(part), ones])
        left[some] = _core.compensated_dots(one, two)
        error[some] = bounds.of_compensated(dim + 1) * (np.abs(one) * np.abs(two)).sum(axis=1)
        nothing = np.flatnonzero(np.abs(left[some]) < 2.0**32 * error[some])
        for k, terms in zip(some[nothing].tolist(), _exact_terms(one[nothing], two[nothing]).tolist(), strict=True):
            left[k], error[k] = math.fsum(terms), 0.0
    return left, error


def _exact_terms(left: Float64, right: Float64) -> Float64:
    """Return numbers with the same sum as the products of two matrices, row by row, if nothing underflows (Dekker)."""

    def halves(numbers: Float64) -> tuple[Float64, Float64]:
        high = 134217729.0 * numbers
        high -= high - numbers
        return high, numbers - high

    product, (a, b), (c, d) = left * right, halves(left), halves(right)
    return np.hstack([product, ((a * c - product) + a * d + b * c) + b * d])


def common_size(numbers: Float64) -> float:
    """Return the number around which an eighth of them lie closest, if most are closer to it than to 0; else 0."""
    ascending, few = np.sort(numbers), min(len(numbers) - 1, max(1, len(numbers) // 8))
    closest = int(np.argmin(ascending[few:] - ascending[: len(ascending) - few]))
    middle = float(ascending[closest + few // 2])
    return middle if np.median(np.abs(numbers - middle)) < middle / 2 else 0.0


def normalised(source: Source) -> tuple[ScaledRows, Float64]:
    """Return the rows with the reciprocals of their norms as factors; and 1 for each row, but 0 for rows of zeros."""
    largest = largest_sizes(source)
    _, exponent = np.frexp(largest)
    if source.dtype == np.float64 and (np.abs(exponent[largest > 0]) > 400).any():
        # the direction is what counts, and squares must not overflow
        rows = source.read(0, source.shape[0])
        scaled = np.ldexp(rows, -exponent[:, None])
        lost = (rows != 0) & (np.abs(scaled) < _LEAST)  # which is slow, and must not become 0
        source = Array(np.where(lost, np.copysign(_LEAST, rows), scaled))
    squares = by_piece(source, lambda rows: _core.row_sums(rows, 1.0, source.threads)[:, 0])
    return ScaledRows(source, 1 / np.where(squares > 0, np.sqrt(squares), 1.0)), np.asarray(largest > 0, np.float64)


def common_centre(query: Source, gallery: Source) -> NDArray[np.floating] | None:
    """Find a row that can be subtracted exactly from all rows, and makes squared norms much smaller; else None.

    Differences of numbers within a factor of two of each other are exact (Sterbenz), so features of such numbers have
    their middle subtracted, and the others nothing.
    """
    dtype = max(query.dtype, gallery.dtype, key=lambda dtype: dtype.itemsize)
    some = query.read(0, min(_FIRST, len(query))).astype(np.float64)
    if not _within_a_factor_of_two(some.min(axis=0), some.max(axis=0)).any():
        return None  # whatever the other rows are
    low, high = _column_extremes(query, gallery)
    farthest, close = np.maximum(np.abs(low), np.abs(high)), _within_a_factor_of_two(low, high)
    scale = 1 / power_of_two(query, gallery)  # so that squares neither over- nor underflow
    centre = np.where(close, np.clip((low / 2 + high / 2).astype(dtype), low, high), 0.0)
    left = np.subtract(high, low, where=close, out=farthest.copy()) * scale
    if np.square(centre * scale).sum() <= _GAIN * np.square(left).sum():
        return None
    return centre.astype(dtype)


def _within_a_factor_of_two(low: NDArray[Any], high: NDArray[Any]) -> Bool:
    """Mark the features whose numbers have one sign and lie within a factor of two of each other."""
    nearest, farthest = np.minimum(np.abs(low), np.abs(high)), np.maximum(np.abs(low), np.abs(high))
    return np.asarray((np.sign(low) == np.sign(high)) & (farthest / 2 <= nearest))


def less(source: Source, centre: NDArray[np.floating]) -> Source:
    """Return the rows less the centre, exactly."""
    return Derived.of(source, lambda rows: np.asarray(rows - centre), centre.dtype)


def tangents(source: Source, centre: NDArray[np.floating]) -> tuple[Source, Float64]:
    """Return x/‖x‖ − c/‖c‖ for each row x and centre c, off by `bounds.of_tangent` times its size; and the sizes."""
    whole = centre.astype(np.float64)

    def change(rows: Matrix) -> tuple[Matrix, Float64]:
        out, ranges = np.empty(rows.shape), np.empty(len(rows))
        _core.tangents(rows, whole, out, ranges)
        return out, ranges

    ranges = [change(rows)[1] for _, rows in source.pieces(max(1, CHUNK // source.shape[1]))]
    sizes = bounds.tangent_sizes(np.concatenate(ranges))
    return Derived.of(source, lambda rows: change(rows)[0], np.dtype(np.float64)), sizes


def _column_extremes(query: Source, gallery: Source) -> tuple[Float64, Float64]:
    low, high = np.full(query.shape[1], np.inf), np.full(query.shape[1], -np.inf)
    for source in (query,) if gallery is query else (query, gallery):
        for _, rows in source.pieces():
            low, high = np.minimum(low, rows.min(axis=0)), np.maximum(high, rows.max(axis=0))
    return low, high
