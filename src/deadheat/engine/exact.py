"""Exact numbers: real numbers that compare without a rounding, and their rounded values in shorter types.

In come numbers of the core (`Roots`) or float64 values; out go comparisons, the nearest value of a type, and the ends
of the interval that rounds to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

import deadheat._core as _core
from deadheat.support import checks
from deadheat.support.arrays import Bool, Float64, Int8, Int64, slices
from deadheat.support.lazy import fractions
from deadheat.support.progress import raise_if_cancelled

_AT_ONCE = 1 << 15  # comparisons in one call of the core: Python looks up in between


class FloatFormat(NamedTuple):
    """A binary floating-point type by its precision in bits and the exponents of its normal numbers."""

    precision: int
    lowest: int
    highest: int

    @property
    def largest(self) -> float:
        return float((2 - 2.0 ** (1 - self.precision)) * 2.0**self.highest)


FORMATS = {
    "float16": FloatFormat(11, -14, 15),
    "bfloat16": FloatFormat(8, -126, 127),
    "float32": FloatFormat(24, -126, 127),
}
ALIASES = {
    "fp16": "float16", "f16": "float16", "half": "float16", "bf16": "bfloat16",
    "fp32": "float32", "f32": "float32", "single": "float32",
}  # fmt: skip


def named(name: Any, argument: str, *, others: Iterable[str] = ()) -> str:
    """Return the type that a name stands for, or one of the other names; an error names the argument."""
    return checks.choice(name, (*others, *FORMATS), argument, ALIASES)


def round_to(values: Float64, dtype: str) -> Float64:
    """Round float64 values to the nearest value of a shorter type, ties to even, as float64.

    Examples
    --------
    >>> round_to(np.array([1 + 2**-11, 1 + 3 * 2**-11, 70000.0, 2.0**-26]), "float16").tolist()
    [1.0, 1.001953125, inf, 0.0]
    """
    kind = FORMATS[dtype]
    _, exponent = np.frexp(values)
    spacing = np.maximum(exponent - 1, kind.lowest) - kind.precision + 1
    with np.errstate(over="ignore", invalid="ignore"):
        rounded = np.ldexp(np.rint(np.ldexp(values, -spacing)), spacing)
        finite = np.where(np.abs(rounded) > kind.largest, np.copysign(np.inf, values), rounded)
    return np.where(np.isfinite(values), finite, values) + 0.0


def cells(values: Float64, dtype: str) -> tuple[Float64, Float64, Bool]:
    """Return the interval that rounds to each value of a shorter type: lower end, upper end, and whether ends belong.

    The ends are midpoints between neighbours, which float64 holds exactly; ±inf where there is none.
    """
    kind = FORMATS[dtype]
    size = np.abs(values)
    size = np.minimum(size, np.ldexp(1.0, kind.highest + 1))  # infinity takes the place after the largest number
    _, exponent = np.frexp(size)
    exponent = np.where(size > 0, np.maximum(exponent - 1, kind.lowest), kind.lowest)
    step = np.ldexp(1.0, exponent - kind.precision + 1)
    at_power = (size == np.ldexp(1.0, exponent)) & (exponent > kind.lowest)
    inner = size - np.where(at_power, step / 4, step / 2)
    outer = np.where(size > kind.largest, np.inf, size + step / 2)
    closed = np.where(size > kind.largest, True, np.remainder(size / step, 2) == 0)
    negative = values < 0
    return np.where(negative, -outer, inner), np.where(negative, -inner, outer), closed


def ordinals(values: Float64, dtype: str) -> Int64:
    """Enumerate the values of a shorter type in ascending order; zero is 0 and the next number up is 1."""
    sizes = np.abs(values).astype(np.float16 if dtype == "float16" else np.float32)
    bits = sizes.view(np.uint16 if dtype == "float16" else np.uint32).astype(np.int64)
    return np.where(values < 0, -1, 1) * (bits >> 16 if dtype == "bfloat16" else bits)


def from_ordinals(numbers: Int64, dtype: str) -> Float64:
    """Return the values of a shorter type that have these numbers."""
    sizes = np.abs(numbers)
    if dtype == "float16":
        values = sizes.astype(np.uint16).view(np.float16)
    else:
        values = (sizes << 16 if dtype == "bfloat16" else sizes).astype(np.uint32).view(np.float32)
    return np.where(numbers < 0, -1.0, 1.0) * values


class Roots:
    """An array of exact real numbers of one kind.

    They are made of a *product* or a *difference* (an inner product, or minus a sum of differences, as they are), of a
    *distance* (minus the root of a sum of squares), or a *cosine*. Only numbers of the same kind compare.

    Examples
    --------
    >>> tenths, first = Roots.of_values(np.array([0.1, 0.3])), np.array([0])
    >>> tenths.compare_shifted(first + 1, tenths, first, 0.2)  # as real numbers: 0.3 is less than 0.1 + 0.2
    array([-1], dtype=int8)
    """

    def __init__(self, numbers: Any) -> None:
        self.numbers = numbers  # of the core

    def __len__(self) -> int:
        return len(self.numbers)

    @classmethod
    def of_values(cls, values: Float64) -> Roots:
        return cls(_core.Roots(np.ascontiguousarray(values, dtype=np.float64)))

    @classmethod
    def of_fractions(cls, numerators: Float64, denominators: Float64) -> Roots:
        """Return fractions of whole numbers, which compare as cosines do; denominators are positive."""
        return cls(_core.Roots(numerators, denominators))

    def add(self, others: Roots) -> None:
        """Add other numbers of the same kind."""
        self.numbers.add(others.numbers)

    def compare(self, mine: Int64, others: Roots, yours: Int64) -> Int8:
        """Return −1, 0 or 1, as number mine[p] is less than, equal to or greater than number yours[p] of the others."""
        return _in_parts(self.numbers.compare, mine, others.numbers, yours)

    def compare_shifted(self, mine: Int64, others: Roots, yours: Int64, shift: float) -> Int8:
        """Compare number mine[p] with number yours[p] of the others plus a float."""
        return _in_parts(self.numbers.compare_shifted, mine, others.numbers, yours, shift)

    def compare_values(self, mine: Int64, values: Float64, sign: int, shift: int) -> Int8:
        """Compare number mine[p] with sign·values[p] + shift before any rounding; values may be infinite."""
        return _in_parts(self.numbers.compare_values, mine, values, float(sign), float(shift))

    def signed_squares(self) -> list[fractions.Fraction]:
        """Return all numbers squared, with their signs, as fractions: slow, for a look at a few."""
        squares = []
        for sign, numerator, denominator, exponent in map(self.numbers.square, range(len(self))):
            above, below = (int.from_bytes(number, "little") for number in (numerator, denominator))
            squares.append(fractions.Fraction(sign * above << max(exponent, 0), below << max(-exponent, 0)))
        return squares


def round_down(numbers: Roots, low: Float64, high: Float64) -> Float64:
    """Return the largest float64 that is not above each number, which lies between `low` and `high`; by bisection."""
    ends = by_size(np.stack([np.nextafter(low, -np.inf), high]))
    first, last = ends  # the number is at least the float of the first
    while True:
        which = np.flatnonzero(first < last)
        if not len(which):
            return _of_size(first)
        middle = first[which] + (last[which] - first[which] + 1) // 2
        above = numbers.compare_values(which, _of_size(middle), 1, 0) >= 0
        first[which] = np.where(above, middle, first[which])
        last[which] = np.where(above, last[which], middle - 1)


def by_size(values: Float64) -> Int64:
    """Enumerate the float64 values in ascending order, neighbours by neighbouring integers; both zeros are 0."""
    bits = np.ascontiguousarray(values + 0.0).view(np.int64)
    return np.where(bits < 0, np.iinfo(np.int64).min - bits, bits)


def _of_size(numbers: Int64) -> Float64:
    return np.where(numbers < 0, np.iinfo(np.int64).min - numbers, numbers).view(np.float64) + 0.0


def _in_parts(compare: Callable[..., None], mine: Int64, *others: Any) -> Int8:
    out = np.empty(len(mine), dtype=np.int8)
    for part in slices(len(mine), _AT_ONCE):
        raise_if_cancelled()
        compare(mine[part], *(each[part] if isinstance(each, np.ndarray) else each for each in others), out[part])
    return out
