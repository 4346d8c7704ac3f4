"""Error-free transformations, and dot products in about twice the precision of float64 that are made of them.

A sum or a product of two float64 numbers comes as the nearest float and the exact rest. That holds for rounding to
nearest where nothing overflows or underflows (Ogita, Rump and Oishi 2005, Accurate sum and dot product).
"""

from __future__ import annotations

import numpy as np

from deadheat.support.arrays import Array
from deadheat.support.compiling import inner, kernel

SUMS = 32  # sums that run side by side, in vector instructions


@inner
def two_sum(a: float, b: float) -> tuple[float, float]:
    """The float nearest to a + b, and the rest, exactly (Knuth)."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


@inner
def split_in_half(a: float) -> tuple[float, float]:
    """A number as the sum of two of 26 bits at most (Veltkamp); its size is below 2^990."""
    c = 134217729.0 * a
    high = c - (c - a)
    return high, a - high


@inner
def two_product(a: float, b: float) -> tuple[float, float]:
    """The float nearest to a·b, and the rest, exactly (Dekker)."""
    product = a * b
    a_high, a_low = split_in_half(a)
    b_high, b_low = split_in_half(b)
    return product, ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low


@kernel
def compensated_dots(left: Array, rows: Array, right: Array, columns: Array) -> Array:
    """Dot products of row rows[p] on the left with row columns[p] on the right, as if summed in twice the precision.

    Dot2 of Ogita, Rump and Oishi (Accurate sum and dot product, 2005), as SUMS sums side by side: off by at most
    u·|product| + γ² Σ|a·b|, with γ for dim + 2 · SUMS roundings, where nothing overflows or underflows.
    """
    out = np.empty(len(rows))
    dim = left.shape[1]
    sums, rests = np.empty(SUMS), np.empty(SUMS)
    for p in range(len(rows)):
        first, second = left[rows[p]], right[columns[p]]
        sums[:] = 0
        rests[:] = 0
        for begin in range(0, dim, SUMS):
            for k in range(min(SUMS, dim - begin)):
                product, lost = two_product(np.float64(first[begin + k]), np.float64(second[begin + k]))
                sums[k], lost_in_sum = two_sum(sums[k], product)
                rests[k] += lost + lost_in_sum
        total, rest = 0.0, 0.0
        for k in range(SUMS):
            total, lost_in_sum = two_sum(total, sums[k])
            rest += rests[k] + lost_in_sum
        out[p] = total + rest
    return out
