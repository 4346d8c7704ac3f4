"""Intervals that hold a real number, from `low` to `high`, arrays of the same shape: wide enough after every step."""

from __future__ import annotations

import numpy as np

from deadheat.exact import Float64


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
