"""Double-double arithmetic (Dekker 1971; Knuth, TAOCP 2, 4.2.2): numbers as pairs of floats, high + low, 32 digits.

In come floats and integers, out go pairs. Every result has the same bits on every machine: only +, -, *, / on float64,
in a fixed order; no call of libm, no fastmath, and nothing that a compiler may contract to fma. It is what keeps the
closed forms accurate: ``tied - (closer + 1) * dH`` loses half of all digits when ``tied`` is small beside ``closer``,
and there are enough to lose.
"""

from __future__ import annotations

import numpy as np

from deadheat.support.compiling import inner
from deadheat.support.error_free import two_product, two_sum


@inner
def add(a_high: float, a_low: float, b_high: float, b_low: float) -> tuple[float, float]:
    s, e = two_sum(a_high, b_high)
    e += a_low + b_low
    high = s + e
    return high, e - (high - s)


@inner
def multiply(a_high: float, a_low: float, b_high: float, b_low: float) -> tuple[float, float]:
    p, e = two_product(a_high, b_high)
    e += a_high * b_low + a_low * b_high
    high = p + e
    return high, e - (high - p)


@inner
def divide(a_high: float, a_low: float, b_high: float, b_low: float) -> tuple[float, float]:
    quotient = a_high / b_high
    p, e = two_product(quotient, b_high)
    correction = (((a_high - p) - e) + a_low - quotient * b_low) / b_high
    high = quotient + correction
    return high, correction - (high - quotient)


@inner
def from_integer(i: int) -> tuple[float, float]:
    """An int64 as a pair: float64 alone holds 53 of its bits."""
    high = float(i)
    return high, float(i - np.int64(high))
