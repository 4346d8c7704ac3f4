"""Double-double arithmetic (Dekker 1971; Knuth, TAOCP 2, 4.2.2): numbers as pairs of floats, high + low, 32 digits.

In come floats and integers, out go pairs: sums, products, quotients, logarithms and harmonic numbers of integers.
Every result has the same bits on every machine: only +, -, *, / on float64, in a fixed order; no fastmath, nothing that
a compiler may contract to fma, and no call of libm, whose log2 differs between systems in the last bit. The constants
come from integer arithmetic. It is what keeps the closed forms accurate: ``tied - (closer + 1) * dH`` loses half of all
digits when ``tied`` is small beside ``closer``, and there are enough to lose.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deadheat.support.compiling import inner
from deadheat.support.error_free import two_product, two_sum

Array = NDArray[Any]

_BITS = 200  # of the fixed-point integers that constants are computed in
_ONE = 1 << _BITS


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


def _pair(value: Fraction) -> tuple[float, float]:
    """Split a number into a float and the rest of it, also a float."""
    high = value.numerator / value.denominator
    rest = value - Fraction(high)
    return high, rest.numerator / rest.denominator


def _pairs(values: list[Fraction]) -> tuple[Array, Array]:
    """Split numbers into two arrays, high and low."""
    high, low = np.array([_pair(value) for value in values]).T
    return np.ascontiguousarray(high), np.ascontiguousarray(low)


def _fixed_atanh(numerator: int, denominator: int) -> int:
    """The area tangent of a fraction, times 2^_BITS, from its power series."""
    power, total, odd = _ONE * numerator // denominator, 0, 1
    while power:
        total += power // odd
        power = power * numerator**2 // denominator**2
        odd += 2
    return total


_FIXED_LN2 = 2 * _fixed_atanh(1, 3)
_STEPS = 128  # log2 is tabulated at 1 + i/_STEPS
_LOG2_HIGH, _LOG2_LOW = _pairs([Fraction(2 * _fixed_atanh(i, 2 * _STEPS + i), _FIXED_LN2) for i in range(_STEPS)])
_LN2_HIGH, _LN2_LOW = _pair(Fraction(_FIXED_LN2, _ONE))
_TWO_OVER_LN2_HIGH, _TWO_OVER_LN2_LOW = _pair(Fraction(2 * _ONE, _FIXED_LN2))
_THIRD_LOW = _pair(Fraction(1, 3))[1]
_FIFTH_LOW = _pair(Fraction(1, 5))[1]

# Euler's constant, and the first harmonic numbers; beyond them `harmonic` uses an asymptotic series.
_GAMMA_HIGH, _GAMMA_LOW = _pair(Fraction("0.57721566490153286060651209008240243104215933593992"))
_N_HARMONIC = 128
_HARMONIC_HIGH, _HARMONIC_LOW = _pairs(
    [sum((Fraction(1, j) for j in range(1, i + 1)), Fraction(0)) for i in range(_N_HARMONIC)]
)


@inner
def log2(i: int) -> tuple[float, float]:
    """log2 of a positive integer, as a pair; exact for powers of two.

    i = 2^e * x with 1 <= x < 2; with c the tabulated point below x, log2(x/c) = 2/ln(2) * atanh((x - c)/(x + c)).
    """
    x, exponent = math.frexp(float(i))
    x *= 2.0
    step = int((x - 1.0) * _STEPS)
    c = 1.0 + step / _STEPS
    high, low = two_sum(float(exponent - 1), _LOG2_HIGH[step])
    low += _LOG2_LOW[step]
    if x == c:
        return high, low
    s_high, s_low = divide(x - c, 0.0, x + c, 0.0)  # below 1/256
    z_high, z_low = multiply(s_high, s_low, s_high, s_low)
    tail = z_high * (1 / 7 + z_high * (1 / 9 + z_high * (1 / 11 + z_high * (1 / 13 + z_high / 15))))
    t_high, t_low = add(1 / 5, _FIFTH_LOW, tail, 0.0)
    t_high, t_low = multiply(t_high, t_low, z_high, z_low)
    t_high, t_low = add(1 / 3, _THIRD_LOW, t_high, t_low)
    t_high, t_low = multiply(t_high, t_low, z_high, z_low)
    t_high, t_low = add(1.0, 0.0, t_high, t_low)
    s_high, s_low = multiply(s_high, s_low, _TWO_OVER_LN2_HIGH, _TWO_OVER_LN2_LOW)
    t_high, t_low = multiply(s_high, s_low, t_high, t_low)
    return add(high, low, t_high, t_low)


@inner
def harmonic(i: int) -> tuple[float, float]:
    """The harmonic number 1 + 1/2 + ... + 1/i, as a pair.

    From 128 on ln(x) + gamma + 1/24 x^-2 - 7/960 x^-4 + 31/8064 x^-6 - ... with x = i + 1/2. The first term left out
    is below 6e-20 and falls with the eighth power of i, much faster than the precision that `_precisions` needs.
    """
    if i < _N_HARMONIC:
        return _HARMONIC_HIGH[i], _HARMONIC_LOW[i]
    high, low = log2(2 * i + 1)
    high, low = multiply(high - 1.0, low, _LN2_HIGH, _LN2_LOW)
    high, low = add(high, low, _GAMMA_HIGH, _GAMMA_LOW)
    z = 1.0 / ((i + 0.5) * (i + 0.5))
    return add(high, low, z * (1 / 24 - z * (7 / 960 - z * (31 / 8064))), 0.0)
