"""Sums of float64 numbers and of products of two, as exact integers.

Every finite float64 number is an integer times 2^-1074. The loops add such integers up in *limbs* of 32 bits; Python's
integers take over from there.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from deadheat.support.arrays import Array
from deadheat.support.compiling import inner, kernel

LIMBS = 140  # 32 bits each: products of float64 numbers span 2^-2148 to 2^2048, and a sum has room for 2^31 of them
LOWEST = 1074  # every finite float64 number is an integer times 2^-1074


def scaled_dots(left: NDArray[Any], right: NDArray[Any]) -> tuple[list[int], int]:
    """Row-wise dot products as exact integers that are as short as can be, in units of 2^(place − 2148), and place."""
    limbs = _dot_limbs(left, right)
    used = np.flatnonzero(limbs.any(axis=0))
    low = int(used[0]) if len(used) else 0
    return _integers(limbs[:, low:]), 32 * low


def exact_absolute_differences(left: NDArray[Any], right: NDArray[Any]) -> list[int]:
    """Row-wise sums of |left − right| of float64 rows as exact integers in units of 2^-2148."""
    return _integers(_absolute_difference_limbs(left, right))


def _integers(limbs: NDArray[np.uint32]) -> list[int]:
    """Two's complement numbers, least significant 32 bits first."""
    filled = limbs != limbs[:, -1:]  # what is above the last that is not is sign
    top = min(int(np.flatnonzero(filled.any(axis=0))[-1]) + 2, limbs.shape[1]) if filled.any() else 1
    data = np.ascontiguousarray(limbs[:, :top], dtype="<u4").tobytes()
    return [int.from_bytes(data[k : k + 4 * top], "little", signed=True) for k in range(0, len(data), 4 * top)]


@inner
def split(bits: int) -> tuple[int, int]:
    """From the bits of a float64 number, an integer and a place with number = integer·2^(place − 1074)."""
    exponent = (bits >> 52) & 0x7FF
    whole = bits & 0xFFFFFFFFFFFFF
    if exponent > 0:
        whole |= 1 << 52
        exponent -= 1
    return (-whole if bits < 0 else whole), exponent


@inner
def _add(limbs: Array, value: int, place: int) -> None:
    """Add value·2^place, |value| < 2^61, to the sum."""
    limb, shift = place >> 5, place & 31
    low = (value & 0x7FFFFFFF) << shift
    high = (value >> 31) << shift
    limbs[limb] += (low & 0xFFFFFFFF) + ((high & 1) << 31)
    limbs[limb + 1] += (low >> 32) + ((high >> 1) & 0xFFFFFFFF)
    limbs[limb + 2] += high >> 33


@inner
def add_product(limbs: Array, a: int, b: int, place: int) -> None:
    """Add a·b·2^place, each of a and b below 2^53 in size, to the sum."""
    a_high, a_low = a >> 27, a & 0x7FFFFFF  # a = high·2^27 + low, so that every partial product is below 2^55
    b_high, b_low = b >> 27, b & 0x7FFFFFF
    _add(limbs, a_low * b_low, place)
    _add(limbs, a_high * b_low + a_low * b_high, place + 27)
    _add(limbs, a_high * b_high, place + 54)


@inner
def spread_carries(limbs: Array, out: Array) -> None:
    """Spread the carries; `out` is the two's complement of the sum, least significant limb first."""
    carry = np.int64(0)
    for k in range(LIMBS):
        total = limbs[k] + carry
        out[k] = np.uint32(total & 0xFFFFFFFF)
        carry = total >> 32


@kernel
def _dot_limbs(left: Array, right: Array) -> Array:
    """The limbs of row-wise dot products, float64, in units of 2^-2148."""
    out = np.empty((left.shape[0], LIMBS), np.uint32)
    limbs = np.empty(LIMBS, np.int64)
    for i in range(left.shape[0]):
        limbs[:] = 0
        a_bits, b_bits = left[i].view(np.int64), right[i].view(np.int64)
        for j in range(left.shape[1]):
            a, place_a = split(a_bits[j])
            b, place_b = split(b_bits[j])
            if a != 0 and b != 0:
                add_product(limbs, a, b, place_a + place_b)
        spread_carries(limbs, out[i])
    return out


@kernel
def _absolute_difference_limbs(left: Array, right: Array) -> Array:
    """The limbs of row-wise sums of |left − right|, float64, in units of 2^-2148."""
    out = np.empty((left.shape[0], LIMBS), np.uint32)
    limbs = np.empty(LIMBS, np.int64)
    for i in range(left.shape[0]):
        limbs[:] = 0
        a_bits, b_bits = left[i].view(np.int64), right[i].view(np.int64)
        for j in range(left.shape[1]):
            sign = 1 if left[i, j] >= right[i, j] else -1
            a, place_a = split(a_bits[j])
            b, place_b = split(b_bits[j])
            _add(limbs, sign * a, place_a + LOWEST)
            _add(limbs, -sign * b, place_b + LOWEST)
        spread_carries(limbs, out[i])
    return out
