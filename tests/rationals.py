"""Rows of float64 numbers, sums of their products in fractions, and roots of fractions: nothing is rounded."""

from __future__ import annotations

import sys
from fractions import Fraction
from math import isqrt
from typing import NamedTuple

from hypothesis import strategies as st
from oracles import sign_of_two_roots

finite = st.floats(allow_nan=False, allow_infinity=False)
edges = st.sampled_from([0.0, -0.0, 5e-324, -5e-324, 2.0**-1022, 2.0**-1022 - 5e-324, 1.0, -1.0, 1 - 2.0**-53,
                         1 + 2.0**-52, 2.0**53 + 2, sys.float_info.max, -sys.float_info.max])  # fmt: skip
pairs_of_rows = st.lists(st.tuples(finite | edges, finite | edges), min_size=1, max_size=12)


def dot(left, right):
    return sum((Fraction(a) * Fraction(b) for a, b in zip(left, right, strict=True)), Fraction(0))


def absolute_differences(left, right):
    return sum((abs(Fraction(a) - Fraction(b)) for a, b in zip(left, right, strict=True)), Fraction(0))


def root(value):
    """√value of a fraction, off by less than 2^-300 of it."""
    shift = 2 * (400 + value.denominator.bit_length())
    return Fraction(isqrt((value.numerator << shift) // value.denominator), 1 << (shift // 2))


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
        """A rational number."""
        return cls((value > 0) - (value < 0), value.numerator**2, value.denominator**2)

    def compare(self, other: SignedRoot, shift: Fraction = Fraction(0)) -> int:
        """−1, 0 or 1, as this number is less than, equal to or greater than other + shift."""
        mine, yours = (Fraction(each.numerator, each.denominator) for each in (self, other))
        return sign_of_two_roots(-shift, self.sign, mine, -other.sign, yours)
