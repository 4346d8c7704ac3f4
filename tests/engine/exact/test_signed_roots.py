"""Signed roots, with which the core is compared, against decimals."""

from __future__ import annotations

import decimal
from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st
from signed_roots import SignedRoot

fractions = st.fractions(min_value=-4, max_value=4, max_denominator=6)
roots = st.builds(
    lambda f, k: SignedRoot((f > 0) - (f < 0), abs(f.numerator) * k, f.denominator * k), fractions, st.integers(1, 9)
)


def decimal_value(root):
    return root.sign * (decimal.Decimal(root.numerator) / decimal.Decimal(root.denominator)).sqrt()


def decimal_sign(value):
    """The sign of a difference of small roots: either 0, or far above the error of 60 digits."""
    return 0 if abs(value) < decimal.Decimal("1e-40") else (1 if value > 0 else -1)


@given(roots, roots)
def test_roots_compare_as_real_numbers(one, other):
    square_one, square_other = (s.sign * Fraction(s.numerator, s.denominator) for s in (one, other))
    assert one.compare(other) == (square_one > square_other) - (square_one < square_other)
    assert one.compare(other) == -other.compare(one)
    assert one.compare(one) == 0


@given(roots, roots, fractions)
@settings(max_examples=200)
def test_shifted_roots_compare_as_real_numbers(one, other, shift):
    with decimal.localcontext(prec=60):
        wanted = decimal_sign(
            decimal_value(one) - decimal_value(other) - decimal.Decimal(shift.numerator) / shift.denominator
        )
    assert one.compare_shifted(other, shift) == wanted
    assert one.compare_shifted(other, shift) == -other.compare_shifted(one, -shift)


@given(fractions, fractions)
def test_rational_roots_at_the_point_of_equality(value, shift):
    """√(a²) = √(b²) + shift holds exactly for rationals; a hair more or less decides."""
    one, other = SignedRoot.of(value + shift), SignedRoot.of(value)
    hair = Fraction(1, 10**30)
    assert [one.compare_shifted(other, shift + d) for d in (-hair, 0, hair)] == [1, 0, -1]
    assert one.compare(SignedRoot.of(value + shift + hair)) == -1
