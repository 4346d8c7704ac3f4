"""Double-double arithmetic in Python's floats: the reference implementation of `measures/double_double.h`."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import NamedTuple


def two_sum(a: float, b: float) -> tuple[float, float]:
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def split_in_half(a: float) -> tuple[float, float]:
    c = 134217729.0 * a
    high = c - (c - a)
    return high, a - high


def two_product(a: float, b: float) -> tuple[float, float]:
    product = a * b
    (a_high, a_low), (b_high, b_low) = split_in_half(a), split_in_half(b)
    return product, ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low


class DoubleDouble(NamedTuple):
    """A number as a float and the rest of it."""

    high: float
    low: float = 0.0

    @property
    def value(self) -> float:
        return self.high + self.low

    def plus(self, other: DoubleDouble) -> DoubleDouble:
        total, rest = two_sum(self.high, other.high)
        return _normalised(total, rest + (self.low + other.low))

    def minus(self, other: DoubleDouble) -> DoubleDouble:
        return self.plus(DoubleDouble(-other.high, -other.low))

    def times(self, other: DoubleDouble) -> DoubleDouble:
        product, rest = two_product(self.high, other.high)
        return _normalised(product, rest + (self.high * other.low + self.low * other.high))

    def over(self, other: DoubleDouble) -> DoubleDouble:
        quotient = self.high / other.high
        product, rest = two_product(quotient, other.high)
        return _normalised(
            quotient, (((self.high - product) - rest) + self.low - quotient * other.low) / other.high
        )  # fmt: skip

    def and_float(self, value: float) -> DoubleDouble:
        """One more float in a sum of many: rests are added up separately."""
        total, rest = two_sum(self.high, value)
        return DoubleDouble(total, self.low + rest)


def _normalised(large: float, small: float) -> DoubleDouble:
    high = large + small
    return DoubleDouble(high, small - (high - large))


def from_integer(i: int) -> DoubleDouble:
    return DoubleDouble(float(i), float(i - int(float(i))))


ONE, UNIT = DoubleDouble(1.0), 1 << 200  # UNIT is that of fixed-point integers


def pair(number: Fraction) -> DoubleDouble:
    """A number as a float and the rest of it, also a float."""
    high = number.numerator / number.denominator
    rest = number - Fraction(high)
    return DoubleDouble(high, rest.numerator / rest.denominator)


def fixed_atanh(numerator: int, denominator: int) -> int:
    """The area tangent of a fraction, times UNIT, from its power series."""
    power, total, odd = UNIT * numerator // denominator, 0, 1
    while power:
        total += power // odd
        power = power * numerator**2 // denominator**2
        odd += 2
    return total


_LN2 = 2 * fixed_atanh(1, 3)
LN2, TWO_OVER_LN2 = pair(Fraction(_LN2, UNIT)), pair(Fraction(2 * UNIT, _LN2))
THIRD, FIFTH = pair(Fraction(1, 3)), pair(Fraction(1, 5))
GAMMA = pair(Fraction("0.57721566490153286060651209008240243104215933593992"))
LOG2 = [pair(Fraction(2 * fixed_atanh(i, 256 + i), _LN2)) for i in range(128)]  # of 1 + i/128
HARMONIC = [pair(sum((Fraction(1, j) for j in range(1, i + 1)), Fraction(0))) for i in range(128)]


def log2(i: int) -> DoubleDouble:
    x, exponent = math.frexp(float(i))
    x *= 2.0
    step = int((x - 1.0) * len(LOG2))
    c = 1.0 + step / len(LOG2)
    high, rest = two_sum(float(exponent - 1), LOG2[step].high)
    whole = DoubleDouble(high, rest + LOG2[step].low)
    if x == c:
        return whole
    s = DoubleDouble(x - c).over(DoubleDouble(x + c))
    z = s.times(s)
    tail = z.high * (1 / 7 + z.high * (1 / 9 + z.high * (1 / 11 + z.high * (1 / 13 + z.high / 15))))
    series = FIFTH.plus(DoubleDouble(tail))
    series = THIRD.plus(series.times(z))
    series = ONE.plus(series.times(z))
    return whole.plus(s.times(TWO_OVER_LN2).times(series))


def harmonic(i: int) -> DoubleDouble:
    if i < len(HARMONIC):
        return HARMONIC[i]
    logarithm = log2(2 * i + 1)
    total = DoubleDouble(logarithm.high - 1.0, logarithm.low).times(LN2).plus(GAMMA)
    z = 1.0 / ((i + 0.5) * (i + 0.5))
    return total.plus(DoubleDouble(z * (1 / 24 - z * (7 / 960 - z * (31 / 8064)))))
