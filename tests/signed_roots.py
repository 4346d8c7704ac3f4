"""Numbers of the form ±√(p/q), which compare without a rounding: what the core's are compared with."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple


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
        return _sign_of_sum([mine, -yours, -shift * abs(shift)])

    def _signed_square(self) -> Fraction:
        return Fraction(self.sign * self.numerator, self.denominator)


def _sign_of_sum(squares: list[Fraction]) -> int:
    """The sign of ±√|a| ± √|b| ± √|c|, each term given by its signed square, by squaring twice."""
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
    excess = minus[0] - plus[0] - plus[1]
    if excess <= 0:
        return 1  # a and b are positive
    product = 4 * plus[0] * plus[1]
    return (product > excess * excess) - (product < excess * excess)
