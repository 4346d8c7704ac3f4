"""Exact numbers in bulk: the closeness of many pairs of rows, as real numbers that compare without a rounding."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from deadheat import _core
from deadheat.support.arrays import Bool, Float64, Int8, Int64, slices
from deadheat.support.lazy import fractions
from deadheat.support.workers import go_on

_AT_ONCE = 1 << 15  # comparisons, and entries that are sorted, in one call of the core: Python looks up in between
_NUMBERS = 1 << 24  # of rows that are multiplied in one call

Rows = NDArray[Any]  # float32 or float64


class Roots:
    """An array of exact real numbers of one kind.

    They are *linear* (an inner product, or minus a distance that is a sum), a *root* (minus a Euclidean distance), or a
    *ratio* (a cosine). Only numbers of the same kind compare.

    Examples
    --------
    >>> a, first = Roots("linear"), np.array([0])
    >>> a.add_products(np.array([[0.1, 0.2]]), np.array([[3.0, 1.0]]), first, first)
    >>> a.compare(first, Roots.of_values(np.array([0.5])), first)  # 0.1 and 0.2 are floats a little above themselves
    array([1], dtype=int8)
    """

    def __init__(self, kind: Literal["linear", "root", "ratio"]) -> None:
        self.numbers: Any = _core.Roots(_core.RootKind[kind])

    def __len__(self) -> int:
        return len(self.numbers)

    # How they are made -----------------------------------------------------------------------------------------------

    @classmethod
    def of_values(cls, values: Float64) -> Roots:
        """Finite floats as they are, linear."""
        roots = cls("linear")
        roots.numbers.add_values(np.ascontiguousarray(values, dtype=np.float64))
        return roots

    def add_products(self, left: Rows, right: Rows, rows: Int64, others: Int64) -> None:
        """Add the products of row rows[p] on the left with row others[p] on the right; their cosines to ratios."""
        with_squares = self.numbers.kind == _core.RootKind.ratio
        sides = _core.ExactRows(left, with_squares), _core.ExactRows(right, with_squares)
        for part in _parts(rows, left):
            go_on()
            self.numbers.add_products(*sides, rows[part], others[part])

    def add_minus_distances(self, left: Rows, right: Rows, rows: Int64, others: Int64) -> None:
        """Add minus the Euclidean distances of pairs of rows, to roots."""
        sides = _core.ExactRows(left, True), _core.ExactRows(right, True)
        for part in _parts(rows, left):
            go_on()
            self.numbers.add_minus_distances(*sides, rows[part], others[part])

    def add_minus_differences(self, left: Rows, right: Rows, rows: Int64, others: Int64) -> None:
        """Add minus the sums of absolute differences of pairs of rows, linear."""
        (low, high), (least, most) = _core.bit_range(left), _core.bit_range(right)
        sides = (_core.ExactRows(side, min(low, least), max(high, most)) for side in (left, right))
        left_rows, right_rows = sides
        for part in _parts(rows, left):
            go_on()
            self.numbers.add_minus_differences(left_rows, right_rows, rows[part], others[part])

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
        """Sort runs of so many numbers each that follow each other.

        Returns the places of all numbers, run by run and ascending in each, and whether the number at each place in
        this order is greater than the one before; of the first of a run that is not told.
        """
        order, greater = np.empty(len(self), dtype=np.int64), np.empty(len(self), dtype=np.bool_)
        ends = np.cumsum(sizes)
        for part in np.split(np.arange(len(ends)), np.flatnonzero(np.diff(ends // _AT_ONCE)) + 1):
            go_on()
            self.numbers.sort(ends[part] - sizes[part], ends[part], order, greater)
        return order, greater

    def signed_squares(self) -> list[fractions.Fraction]:
        """All numbers squared, with their signs, as fractions: slow, for a look at a few."""
        return [_signed_square(*self.numbers.square(i)) for i in range(len(self))]


def _signed_square(sign: int, numerator: bytes, denominator: bytes, place: int) -> fractions.Fraction:
    above, below = (int.from_bytes(number, "little") for number in (numerator, denominator))
    return fractions.Fraction(sign * above << max(place, 0), below << max(-place, 0))


def _parts(rows: Int64, left: Rows) -> list[slice]:
    """The pairs, so many at a time that nobody waits for long."""
    return slices(len(rows), max(1, _NUMBERS // left.shape[1]))


def _filled(n: int, compare: Callable[[slice, Int8], None]) -> Int8:
    """The results of n comparisons, some at a time."""
    out = np.empty(n, dtype=np.int8)
    for part in slices(n, _AT_ONCE):
        go_on()
        compare(part, out[part])
    return out
