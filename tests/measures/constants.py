"""The constants of double-double arithmetic, from integers: ``python -m tests.measures.constants`` writes them anew.

Each is the float nearest to a number, and the float nearest to the rest of it.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

HEADER = Path(__file__).parents[2] / "src/core/measures/constants.h"

ONE = 1 << 200  # of fixed-point integers
STEPS = 128
HARMONICS = 128

_OPENING = """\
// Constants of double-double arithmetic: the float nearest to a number, and the float nearest to the rest of it.
//
// tests/measures/constants.py computes them with integers and writes this file; a test compares.
#pragma once

#include "measures/double_double.h"

namespace deadheat {
"""


def pair(number: Fraction) -> tuple[float, float]:
    """A number as a float and the rest of it, also a float."""
    high = number.numerator / number.denominator
    rest = number - Fraction(high)
    return high, rest.numerator / rest.denominator


def fixed_atanh(numerator: int, denominator: int) -> int:
    """The area tangent of a fraction, times ONE, from its power series."""
    power, total, odd = ONE * numerator // denominator, 0, 1
    while power:
        total += power // odd
        power = power * numerator**2 // denominator**2
        odd += 2
    return total


LN2 = 2 * fixed_atanh(1, 3)
NUMBERS = {
    "LN2": Fraction(LN2, ONE),
    "TWO_OVER_LN2": Fraction(2 * ONE, LN2),
    "THIRD": Fraction(1, 3),
    "FIFTH": Fraction(1, 5),
    "GAMMA": Fraction("0.57721566490153286060651209008240243104215933593992"),
}


def logarithms() -> list[Fraction]:
    """log2(1 + i/STEPS)"""
    return [Fraction(2 * fixed_atanh(i, 2 * STEPS + i), LN2) for i in range(STEPS)]


def harmonics() -> list[Fraction]:
    """1 + 1/2 + ... + 1/i"""
    return [sum((Fraction(1, j) for j in range(1, i + 1)), Fraction(0)) for i in range(HARMONICS)]


def _literal(number: Fraction) -> str:
    return "{{{}, {}}}".format(*map(float.hex, pair(number)))


def _table(numbers: list[Fraction]) -> str:
    return "\n".join(f"    {_literal(number)}," for number in numbers)


def header() -> str:
    """The text of the header."""
    single = "\n".join(f"constexpr DoubleDouble {name}{_literal(number)};" for name, number in NUMBERS.items())
    return f"""{_OPENING}
{single}

/// log2(1 + i/LOG2_STEPS)
constexpr int LOG2_STEPS = {STEPS};
constexpr DoubleDouble LOG2[LOG2_STEPS] = {{
{_table(logarithms())}
}};

/// 1 + 1/2 + ... + 1/i
constexpr int HARMONICS = {HARMONICS};
constexpr DoubleDouble HARMONIC[HARMONICS] = {{
{_table(harmonics())}
}};

}}  // namespace deadheat
"""


if __name__ == "__main__":
    HEADER.write_text(header(), encoding="utf-8")
