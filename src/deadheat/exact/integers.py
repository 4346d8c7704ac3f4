"""Sums of float64 numbers and of products of two, as exact integers.

Every finite float64 number is an integer times 2^-1074. The loops add such integers up in *limbs* of 32 bits; Python's
integers take over from there.
"""

from __future__ import annotations

import numpy as np

from deadheat.support.arrays import Array
from deadheat.support.compiling import inner

LIMBS = 140  # 32 bits each: products of float64 numbers span 2^-2148 to 2^2048, and a sum has room for 2^31 of them
LOWEST = 1074  # every finite float64 number is an integer times 2^-1074


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
