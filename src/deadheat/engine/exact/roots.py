"""Exact numbers in bulk: the closeness of many pairs of rows, as real numbers that compare without a rounding."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

import deadheat._core as _core
from deadheat.support.arrays import Bool, Float64, Int8, Int64, slices
from deadheat.support.lazy import fractions
from deadheat.support.workers import raise_if_cancelled

_AT_ONCE = 1 << 15  # comparisons, and entries that are sorted, in one call of the core: Python looks up in between

Rows = NDArray[Any]  # float32 or float64


class Roots:
    """An array of exact real numbers of one kind.

    They are made of a *product* or a *difference* (an inner product, or minus a sum of differences, as they are), of a
    *distance* (minus the root of a sum of squares), or a *cosine*. Only numbers of the same kind compare.

    Examples
    --------
    >>> first, rows = np.array([0]), (np.array([[0.1, 0.2]]), np.array([[3.0, 1.0]]))
    >>> a = Roots.of_pairs("product", *rows, first, first)
    >>> a.compare(first, Roots.of_values(np.array([0.5])), first)  # 0.1 and 0.2 are floats a little above themselves
    array([1], dtype=int8)
    """

    def __init__(self, numbers: Any) -> None:
        self.numbers = numbers  # of the core

    def __len__(self) -> int:
        return len(self.numbers)

    # How they are made -----------------------------------------------------------------------------------------------

    @classmethod
    def of_values(cls, values: Float64) -> Roots:
        """Finite floats as they are."""
        roots = cls(_core.Roots(_core.KeyKind.product, 0))
        roots.numbers.add_values(np.ascontiguousarray(values, dtype=np.float64))
        return roots

    @classmethod
    def of_pairs(cls, kind: str, left: Rows, right: Rows, rows: Int64, others: Int64) -> Roots:
        """The closeness of row rows[p] on the left to row others[p] on the right."""
        roots = cls(_core.Roots(_core.KeyKind[kind], len(rows)))
        roots.numbers.put(_core.RootRows(_core.KeyKind[kind], left, right), rows, others, np.arange(len(rows)))
        return roots

    def add(self, others: Roots) -> None:
        """Add other numbers of the same kind."""
        self.numbers.add(others.numbers)

    # How they compare ------------------------------------------------------------------------------------------------

    def compare(self, mine: Int64, others: Roots, yours: Int64) -> Int8:
        """−1, 0 or 1, as number mine[p] is less than, equal to or greater than number yours[p] of the others."""
        return _filled(len(mine), lambda part, out: self.numbers.compare(mine[part], others.numbers, yours[part], out))

    def compare_shifted(self, mine: Int64, others: Roots, yours: Int64, shift: float) -> Int8:
        """Compare number mine[p] with number yours[p] of the others plus a float."""
        return _filled(
            len(mine),
            lambda part, out: self.numbers.compare_shifted(mine[part], others.numbers, yours[part], shift, out),
        )

    def compare_values(self, mine: Int64, values: Float64, sign: int, shift: int) -> Int8:
        """Compare number mine[p] with sign·values[p] + shift, as it is before any rounding; values may be infinite."""
        return _filled(
            len(mine),
            lambda part, out: self.numbers.compare_values(mine[part], values[part], float(sign), float(shift), out),
        )

    def sort(self, sizes: Int64) -> tuple[Int64, Bool]:
        """Sort runs of so many numbers each that follow each other, each run of one query.

        Returns the places of all numbers, run by run and ascending in each, and whether the number at each place in
        this order is greater than the one before; of the first of a run that is not told.
        """
        order, greater = np.empty(len(self), dtype=np.int64), np.empty(len(self), dtype=np.bool_)
        ends = np.cumsum(sizes)
        for part in np.split(np.arange(len(ends)), np.flatnonzero(np.diff(ends // _AT_ONCE)) + 1):
            raise_if_cancelled()
            self.numbers.sort(ends[part] - sizes[part], ends[part], order, greater)
        return order, greater

    def signed_squares(self) -> list[fractions.Fraction]:
        """All numbers squared, with their signs, as fractions: slow, for a look at a few."""
        return [_signed_square(*self.numbers.square(i)) for i in range(len(self))]


def _signed_square(sign: int, numerator: bytes, denominator: bytes, place: int) -> fractions.Fraction:
    above, below = (int.from_bytes(number, "little") for number in (numerator, denominator))
    return fractions.Fraction(sign * above << max(place, 0), below << max(-place, 0))


def _filled(n: int, compare: Callable[[slice, Int8], None]) -> Int8:
    """The results of n comparisons, some at a time."""
    out = np.empty(n, dtype=np.int8)
    for part in slices(n, _AT_ONCE):
        raise_if_cancelled()
        compare(part, out[part])
    return out
