"""Error bounds and exact arithmetic. Nothing in here knows of retrieval.

Three tools of the exact predicate: how far a floating-point sum of products can be from the real number it stands
for, numbers of the form ±√(p/q) that can be compared without a rounding, and the rounding of a real number to a
shorter floating-point type.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from deadheat.exact import kernels

Float64 = NDArray[np.float64]


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
        raise ValueError(f"rows of {n} numbers are too long for an error bound in {np.dtype(dtype)}")
    return nu / (1 - nu)


def underflow(n: int, dtype: DTypeLike) -> float:
    """What underflow may add to a sum of n products of numbers in [−1, 1], flushed to zero or not."""
    return 8.0 * (n + 1) * float(np.finfo(dtype).tiny)


class SignedRoot(NamedTuple):
    """The real number sign·√(numerator / denominator), with integers of any size; denominator > 0.

    Examples
    --------
    >>> SignedRoot(1, 2, 1).compare(SignedRoot(1, 8, 4)), SignedRoot(-1, 2, 1).compare(SignedRoot(-1, 1, 1))
    (0, -1)
    """

    sign: int
    numerator: int
    denominator: int

    @classmethod
    def of(cls, value: Fraction) -> SignedRoot:
        """A rational number as a surd."""
        return cls((value > 0) - (value < 0), value.numerator**2, value.denominator**2)

    @classmethod
    def ratio(cls, sign: int, numerator: int, denominator: int, place: int) -> SignedRoot:
        """sign·√(numerator·2^place / denominator)."""
        return cls(sign, numerator << max(place, 0), denominator << max(-place, 0))

    def compare(self, other: SignedRoot) -> int:
        """−1, 0 or 1, as this number is less than, equal to or greater than the other."""
        if self.sign != other.sign or self.sign == 0:
            return (self.sign > other.sign) - (self.sign < other.sign)
        mine, yours = self.numerator, other.numerator
        if self.denominator != other.denominator:
            mine, yours = mine * other.denominator, yours * self.denominator
        return self.sign * ((mine > yours) - (mine < yours))

    def compare_shifted(self, other: SignedRoot, shift: Fraction) -> int:
        """Compare this number with other + shift.

        Examples
        --------
        >>> SignedRoot(1, 9, 1).compare_shifted(SignedRoot(1, 4, 1), Fraction(1))
        0
        """
        mine, yours = self._signed_square(), other._signed_square()
        return _sign_of_sum([(1, mine), (-1, yours), (-1, shift * abs(shift))])

    def _signed_square(self) -> Fraction:
        return Fraction(self.sign * self.numerator, self.denominator)


def _sign_of_sum(terms: list[tuple[int, Fraction]]) -> int:
    """The sign of ±√|a| ± √|b| ± √|c|, each term a sign and a signed square, by squaring twice."""
    squares = [sign * value for sign, value in terms]
    plus = [s for s in squares if s > 0]
    minus = [-s for s in squares if s < 0]
    if len(plus) < len(minus):
        return -_sign_of_two_against_one(minus, plus)
    return _sign_of_two_against_one(plus, minus)


def _sign_of_two_against_one(plus: list[Fraction], minus: list[Fraction]) -> int:
    """The sign of Σ√plus − Σ√minus, with at most three terms in all and no more minuses than pluses."""
    if not minus:
        return int(bool(plus))
    if len(plus) == 1:
        return (plus[0] > minus[0]) - (plus[0] < minus[0])
    # √a + √b against √c: 2√(ab) against c − a − b
    rest = minus[0] - plus[0] - plus[1]
    if rest <= 0:
        return 1  # a and b are positive
    product = 4 * plus[0] * plus[1]
    return (product > rest * rest) - (product < rest * rest)


class Format(NamedTuple):
    """A binary floating-point type by its precision in bits and the exponents of its normal numbers."""

    precision: int
    lowest: int
    highest: int


FORMATS = {"float16": Format(11, -14, 15), "bfloat16": Format(8, -126, 127), "float32": Format(24, -126, 127)}


def round_to(values: Float64, name: str) -> Float64:
    """Round float64 values to the nearest value of a shorter type, ties to even, as float64.

    Examples
    --------
    >>> round_to(np.array([1 + 2**-11, 1 + 3 * 2**-11, 70000.0, 2.0**-26]), "float16").tolist()
    [1.0, 1.001953125, inf, 0.0]
    """
    kind = FORMATS[name]
    _, exponent = np.frexp(values)
    spacing = np.maximum(exponent - 1, kind.lowest) - kind.precision + 1
    with np.errstate(over="ignore", invalid="ignore"):
        rounded = np.ldexp(np.rint(np.ldexp(values, -spacing)), spacing)
        largest = (2 - 2.0 ** (1 - kind.precision)) * 2.0**kind.highest
        finite = np.where(np.abs(rounded) > largest, np.copysign(np.inf, values), rounded)
    return np.where(np.isfinite(values), finite, values) + 0.0


def cells(values: Float64, name: str) -> tuple[Float64, Float64, NDArray[np.bool_]]:
    """The real numbers that round to each value of a shorter type: lower end, upper end, and whether the ends belong.

    The ends are midpoints between neighbours, which float64 holds exactly; ±inf where there is none.

    Examples
    --------
    >>> low, high, closed = cells(np.array([1.0]), "bfloat16")
    >>> float(low[0]), float(high[0]), bool(closed[0])
    (0.998046875, 1.00390625, True)
    """
    kind = FORMATS[name]
    size = np.abs(values)
    largest = (2 - 2.0 ** (1 - kind.precision)) * 2.0**kind.highest
    size = np.minimum(size, np.ldexp(1.0, kind.highest + 1))  # infinity takes the place after the largest number
    _, exponent = np.frexp(size)
    exponent = np.where(size > 0, np.maximum(exponent - 1, kind.lowest), kind.lowest)
    step = np.ldexp(1.0, exponent - kind.precision + 1)
    at_power = (size == np.ldexp(1.0, exponent)) & (exponent > kind.lowest)
    inner = size - np.where(at_power, step / 4, step / 2)
    outer = np.where(size > largest, np.inf, size + step / 2)
    closed = np.where(size > largest, True, np.remainder(size / step, 2) == 0)
    negative = values < 0
    return np.where(negative, -outer, inner), np.where(negative, -inner, outer), closed


def ordinals(values: Float64, name: str) -> NDArray[np.int64]:
    """Number the values of a shorter type in ascending order; zero is 0 and the next number up is 1.

    Examples
    --------
    >>> ordinals(np.array([-(2.0**-24), 0.0, 1.0]), "float16").tolist()
    [-1, 0, 15360]
    """
    sizes = np.abs(values).astype(np.float16 if name == "float16" else np.float32)
    bits = sizes.view(np.uint16 if name == "float16" else np.uint32).astype(np.int64)
    return np.where(values < 0, -1, 1) * (bits >> 16 if name == "bfloat16" else bits)


def from_ordinal(number: int, name: str) -> float:
    """The value of a shorter type that has this number.

    Examples
    --------
    >>> from_ordinal(15360, "float16")
    1.0
    """
    if name == "float16":
        size = float(np.array(abs(number), dtype=np.uint16).view(np.float16))
    else:
        bits = abs(number) << 16 if name == "bfloat16" else abs(number)
        size = float(np.array(bits, dtype=np.uint32).view(np.float32))
    return math.copysign(size, number)


def scaled_dots(left: NDArray[Any], right: NDArray[Any]) -> tuple[list[int], int]:
    """Row-wise dot products as exact integers that are as short as can be, in units of 2^(place − 2148), and place."""
    limbs = kernels.exact_dots(left, right)
    used = np.flatnonzero(limbs.any(axis=0))
    low = int(used[0]) if len(used) else 0
    return _integers(limbs[:, low:]), 32 * low


def exact_absolute_differences(left: NDArray[Any], right: NDArray[Any]) -> list[int]:
    """Row-wise sums of |left − right| of float64 rows as exact integers in units of 2^-2148."""
    return _integers(kernels.exact_absolute_differences(left, right))


def _integers(limbs: NDArray[np.uint32]) -> list[int]:
    """Two's complement numbers, least significant 32 bits first."""
    filled = limbs != limbs[:, -1:]  # what is above the last that is not is sign
    top = min(int(np.flatnonzero(filled.any(axis=0))[-1]) + 2, limbs.shape[1]) if filled.any() else 1
    data = np.ascontiguousarray(limbs[:, :top], dtype="<u4").tobytes()
    return [int.from_bytes(data[k : k + 4 * top], "little", signed=True) for k in range(0, len(data), 4 * top)]
