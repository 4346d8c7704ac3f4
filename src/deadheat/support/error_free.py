"""Error-free transformations.

A sum or a product of two float64 numbers comes as the nearest float and the exact rest. That holds for rounding to
nearest where nothing overflows or underflows (Ogita, Rump and Oishi 2005, Accurate sum and dot product).
"""

from __future__ import annotations

from deadheat.support.compiling import inner


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
