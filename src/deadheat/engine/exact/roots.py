"""Exact numbers in bulk: the closeness of many pairs of rows, as real numbers that compare without a rounding."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import deadheat._core as _core
from deadheat.support.arrays import Float64, Int8, Int64, slices
from deadheat.support.lazy import fractions
from deadheat.support.progress import raise_if_cancelled

_AT_ONCE = 1 << 15  # comparisons in one call of the core: Python looks up in between


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

    def add(self, others: Roots) -> None:
        """Add other numbers of the same kind."""
        self.numbers.add(others.numbers)

    def compare(self, mine: Int64, others: Roots, yours: Int64) -> Int8:
        """−1, 0 or 1, as number mine[p] is less than, equal to or greater than number yours[p] of the others."""
        return _in_parts(self.numbers.compare, mine, others.numbers, yours)

    def compare_shifted(self, mine: Int64, others: Roots, yours: Int64, shift: float) -> Int8:
        """Compare number mine[p] with number yours[p] of the others plus a float."""
        return _in_parts(self.numbers.compare_shifted, mine, others.numbers, yours, shift)

    def compare_values(self, mine: Int64, values: Float64, sign: int, shift: int) -> Int8:
        """Compare number mine[p] with sign·values[p] + shift, as it is before any rounding; values may be infinite."""
        return _in_parts(self.numbers.compare_values, mine, values, float(sign), float(shift))

    def signed_squares(self) -> list[fractions.Fraction]:
        """All numbers squared, with their signs, as fractions: slow, for a look at a few."""
        found = []
        for sign, numerator, denominator, place in map(self.numbers.square, range(len(self))):
            above, below = (int.from_bytes(number, "little") for number in (numerator, denominator))
            found.append(fractions.Fraction(sign * above << max(place, 0), below << max(-place, 0)))
        return found


def _in_parts(compare: Callable[..., None], mine: Int64, *others: Any) -> Int8:
    out = np.empty(len(mine), dtype=np.int8)
    for part in slices(len(mine), _AT_ONCE):
        raise_if_cancelled()
        compare(mine[part], *(each[part] if isinstance(each, np.ndarray) else each for each in others), out[part])
    return out
