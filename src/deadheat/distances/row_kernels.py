"""Loops over rows that Numba compiles: hashes, equal rows, norms, common units, products of single pairs."""

from __future__ import annotations

from typing import Any

import numpy as np

from deadheat.exact.integers import LIMBS, LOWEST, add_product, split, spread_carries
from deadheat.support.arrays import Array
from deadheat.support.compiling import inner, kernel
from deadheat.support.vector import LANES, products

SUMS = 32  # sums that run side by side, in vector instructions


@inner
def _pivot(row: Array) -> float:
    """The size of the first element that is not zero, or 1 where all are."""
    for value in row:
        if value != 0:
            return abs(np.float64(value))
    return 1.0


@kernel
def hash_rows(raw: Array, directions: bool) -> Array:
    """A 64-bit hash of every row; with `directions`, the same for rows that are positive multiples of each other."""
    n_row, dim = raw.shape
    out = np.empty(n_row, np.uint64)
    numbers = np.zeros(-(-dim // SUMS) * SUMS, raw.dtype)
    words = numbers.view(np.uint32)
    lanes = np.empty(SUMS, np.uint64)
    for i in range(n_row):
        pivot = raw.dtype.type(_pivot(raw[i]) if directions else 1.0)
        for j in range(dim):
            numbers[j] = raw[i, j] / pivot + raw.dtype.type(0)  # equal for multiples; and no negative zero
        lanes[:] = np.uint64(0xCBF29CE484222325)
        for begin in range(0, len(words), SUMS):
            for k in range(SUMS):
                lanes[k] = (lanes[k] ^ np.uint64(words[begin + k])) * np.uint64(0x9E3779B97F4A7C15)
                lanes[k] ^= lanes[k] >> np.uint64(29)
        state = np.uint64(0)
        for k in range(SUMS):
            state = (state ^ lanes[k]) * np.uint64(0x9E3779B97F4A7C15)
            state ^= state >> np.uint64(29)
        out[i] = state
    return out


@inner
def _same_row(a: Array, b: Array) -> bool:
    """Whether two rows are equal, element by element."""
    for j in range(len(a)):  # noqa: SIM110
        if a[j] != b[j]:
            return False
    return True


@inner
def _same_direction(a: Array, b: Array, limbs: Array, out: Array) -> bool:
    """Whether a·pivot(b) = b·pivot(a) exactly, element by element."""
    if _same_row(a, b):
        return True
    pair = np.empty(2, np.float64)
    bits = pair.view(np.int64)
    pair[0], pair[1] = _pivot(a), _pivot(b)
    pivot_a, place_pivot_a = split(bits[0])
    pivot_b, place_pivot_b = split(bits[1])
    for j in range(len(a)):
        if np.float64(a[j]) / pair[0] != np.float64(b[j]) / pair[1]:
            return False
    for j in range(len(a)):
        limbs[:] = 0
        words = np.array([np.float64(a[j]), np.float64(b[j])]).view(np.int64)
        whole_a, place_a = split(words[0])
        whole_b, place_b = split(words[1])
        add_product(limbs, whole_a, pivot_b, place_a + place_pivot_b)
        add_product(limbs, -whole_b, pivot_a, place_b + place_pivot_a)
        spread_carries(limbs, out)
        if out.any():
            return False
    return True


@kernel
def same_rows(raw: Array, other: Array, directions: bool) -> Array:
    """Whether row i of one equals row i of the other exactly, or is a positive multiple of it."""
    result = np.empty(raw.shape[0], np.bool_)
    limbs, out = np.empty(LIMBS, np.int64), np.empty(LIMBS, np.uint32)
    for i in range(raw.shape[0]):
        if directions:
            result[i] = _same_direction(raw[i], other[i], limbs, out)
        else:
            result[i] = _same_row(raw[i], other[i])
    return result


@kernel
def row_sums(raw: Array, scale: float) -> Array:
    """Sums of squares and of absolute values of the rows divided by `scale`; each quotient is rounded up to twice."""
    n_row, dim = raw.shape
    by = 1 / scale if 1e-290 < scale < 1e290 else 0.0
    out = np.empty((n_row, 2))
    squares, sizes = np.empty(SUMS), np.empty(SUMS)
    parts = np.zeros(-(-dim // SUMS) * SUMS)
    for i in range(n_row):
        for j in range(dim):
            size = abs(np.float64(raw[i, j]))
            parts[j] = size * by if by > 0 else size / scale
        squares[:] = 0
        sizes[:] = 0
        for begin in range(0, len(parts), SUMS):
            for k in range(SUMS):
                squares[k] += parts[begin + k] * parts[begin + k]
                sizes[k] += parts[begin + k]
        out[i, 0], out[i, 1] = _fold(squares), _fold(sizes)
    return out


@inner
def _fold(lanes: Array) -> Any:
    """The sum of the lanes, by halves."""
    n = len(lanes)
    while n > 1:
        n >>= 1
        for k in range(n):
            lanes[k] += lanes[k + n]
    return lanes[0]


@kernel
def take_rows(raw: Array, index: Array, factor: Array, divide: bool, out: Array) -> None:
    """out[i] = raw[index[i]] times factor[index[i]], or divided by it, in float64, rounded to the type of `out`."""
    for i in range(len(index)):
        row, by, target = raw[index[i]], factor[index[i]], out[i]
        if divide:
            for j in range(raw.shape[1]):
                target[j] = np.float64(row[j]) / by
        else:
            for j in range(raw.shape[1]):
                target[j] = np.float64(row[j]) * by


@inner
def product_of_rows(a: Array, b: Array) -> float:
    """The product of two rows in float64, whatever their type."""
    whole = len(a) - len(a) % (2 * LANES)
    total: float = products(a, b, whole)
    for j in range(whole, len(a)):
        total += np.float64(a[j]) * np.float64(b[j])
    return total


@kernel
def pair_dots(
    left: Array, left_factor: Array, left_divides: bool, rows: Array,
    right: Array, right_factor: Array, right_divides: bool, columns: Array,
) -> Array:  # fmt: skip
    """Dot products in float64 of row rows[p] on the left with row columns[p] on the right, as `take_rows` has them."""
    out = np.empty(len(rows))
    dim = left.shape[1]
    whole = dim - dim % SUMS
    lanes = np.empty(SUMS)
    first, second = np.empty(dim), np.empty(dim)
    narrow = left.itemsize == 4 and right.itemsize == 4  # products of these, and their sums, cannot overflow
    for p in range(len(rows)):
        a, by_a = left[rows[p]], left_factor[rows[p]]
        b, by_b = right[columns[p]], right_factor[columns[p]]
        if narrow and not (left_divides or right_divides):
            out[p] = product_of_rows(a, b) * by_a * by_b
            continue
        lanes[:] = 0
        if left_divides or right_divides:
            for j in range(dim):
                first[j] = a[j] / by_a if left_divides else a[j] * by_a
                second[j] = b[j] / by_b if right_divides else b[j] * by_b
            for j in range(dim):
                lanes[j % SUMS] += first[j] * second[j]
        else:
            for begin in range(0, whole, SUMS):
                for k in range(SUMS):
                    lanes[k] += (a[begin + k] * by_a) * (b[begin + k] * by_b)
            for j in range(whole, dim):
                lanes[j - whole] += (a[j] * by_a) * (b[j] * by_b)
        out[p] = _fold(lanes)
    return out


@inner
def _gcd(a: int, b: int) -> int:
    """The greatest common divisor."""
    while b:
        a, b = b, a % b
    return a


@kernel
def integer_units(raw: Array, units: Array, limit: float) -> float:
    """Find numbers of which every element is a small integer multiple: one for all (len 1) or one a row.

    Fills `units` and returns the largest multiple, or infinity as soon as one exceeds `limit`.
    """
    largest_of_all = 0.0
    size = np.empty(1, np.float64)
    word = size.view(np.int64)
    odd, place, largest = 0, 0, 0.0
    for i in range(raw.shape[0]):
        if len(units) > 1:
            odd, place, largest = 0, 0, 0.0
        for j in range(raw.shape[1]):
            if raw[i, j] == 0:
                continue
            size[0] = abs(np.float64(raw[i, j]))
            largest = max(largest, size[0])
            whole, low = split(word[0])
            while whole & 1 == 0:
                whole >>= 1
                low += 1
            place = low if odd == 0 else min(place, low)
            if odd != 1:
                odd = _gcd(whole, odd)
        unit: float = np.float64(odd)
        for _ in range(abs(place - LOWEST)):
            unit = unit * 2.0 if place > LOWEST else unit / 2.0
        if odd == 0:
            unit = 1.0
        if largest / unit > limit:
            return np.inf
        largest_of_all = largest / unit if len(units) == 1 else max(largest_of_all, largest / unit)
        units[i if len(units) > 1 else 0] = unit
    return largest_of_all
