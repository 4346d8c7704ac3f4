"""How far a computed number can be from the real number that it stands for: bounds, and intervals that hold it."""

from __future__ import annotations

import numpy as np
from numpy.typing import DTypeLike

from deadheat.errors import InvalidValueError
from deadheat.support.arrays import Float64


def unit_roundoff(dtype: DTypeLike) -> float:
    """The largest relative error of one rounding to nearest: 2^-24 for float32, 2^-53 for float64."""
    return float(np.finfo(dtype).eps) / 2


def gamma(n: int, dtype: DTypeLike) -> float:
    """γ_n = n·u / (1 − n·u): n roundings in a row change a value by at most this factor of it (Higham 2002, 3.1).

    It bounds a sum of n products in any order of summation, with or without fused multiply-add.

    Examples
    --------
    >>> gamma(128, np.float32) < 7.7e-6
    True
    """
    nu = n * unit_roundoff(dtype)
    if nu >= 0.5:
        raise InvalidValueError(f"rows of {n} numbers", f"are too long for an error bound in {np.dtype(dtype)}")
    return nu / (1 - nu)


def underflow(n: int, dtype: DTypeLike) -> float:
    """What underflow may add to a sum of n products of numbers in [−1, 1], flushed to zero or not."""
    return 8.0 * (n + 1) * float(np.finfo(dtype).tiny)


def widened(low: Float64, high: Float64) -> tuple[Float64, Float64]:
    """Intervals made wide enough for a few roundings of their ends, underflow included."""
    return (
        low * np.where(low < 0, 1 + 2.0**-50, 1 - 2.0**-50) - 2.0**-960,
        high * np.where(high < 0, 1 - 2.0**-50, 1 + 2.0**-50) + 2.0**-960,
    )


def divided(low: Float64, high: Float64, divisor: float) -> tuple[Float64, Float64]:
    """Intervals divided by a positive number; an end that overflows stays outside."""
    with np.errstate(over="ignore", under="ignore"):
        return outward(*widened(low / divisor, high / divisor))


def multiplied(low: Float64, high: Float64, factor: float) -> tuple[Float64, Float64]:
    """Intervals multiplied by a positive number; an end that overflows stays outside."""
    with np.errstate(over="ignore", under="ignore"):
        return outward(*widened(low * factor, high * factor))


def outward(low: Float64, high: Float64) -> tuple[Float64, Float64]:
    """Intervals of real numbers: what overflowed upwards is above the largest float, what did downwards below."""
    largest = np.finfo(np.float64).max
    return np.minimum(low, largest), np.maximum(high, -largest)


def nudged(low: Float64, high: Float64) -> tuple[Float64, Float64]:
    """Intervals made wide enough for one rounding of their ends."""
    return np.nextafter(low, -np.inf), np.nextafter(high, np.inf)
