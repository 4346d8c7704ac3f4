"""Rows of float64 numbers, and sums of their products in fractions."""

from __future__ import annotations

import sys
from fractions import Fraction
from math import isqrt

from hypothesis import strategies as st

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
