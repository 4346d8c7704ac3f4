"""Every constant of src/core/bounds.h, attacked: how much of it the roundings need that it is there for.

Each attack does with NumPy, in the order of the core, what the core rounds, and the same in fractions, on numbers that
were chosen to be hard. `pytest tests/engine/distances/test_core_bounds.py -s` prints the largest part of each constant
that was needed. Above 1 a constant would be wrong; far below what it was, it would have become loose.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from rationals import dot, root

HEADER = Path(__file__).resolve().parents[3] / "src" / "core" / "bounds.h"
TRIES = 2000
U, SINGLE = Fraction(1, 2**53), Fraction(1, 2**24)
FLUSHED = Fraction(float(np.finfo(np.float32).tiny))  # a float32 below it may be 0


# The header ----------------------------------------------------------------------------------------------------------


def _value(text: str) -> Fraction:
    parts = [part.strip() for part in text.split("+")]
    return sum((Fraction(float.fromhex(part) if "x" in part else float(part)) for part in parts), Fraction(0))


def constants() -> dict[str, Fraction | None]:
    """All constants of the header by name, and its functions with None."""
    result: dict[str, Fraction | None] = {}
    for line in re.findall(r"^constexpr double (.+[;{])$", HEADER.read_text(encoding="utf-8"), re.MULTILINE):
        if line.endswith("{"):
            result[line.split("(")[0]] = None
        else:
            result.update({name: _value(value) for name, value in re.findall(r"(\w+) = ([^,;]+)", line)})
    return result


HELD = constants()


def held(name: str) -> Fraction:
    value = HELD[name]
    assert value is not None
    return value


# Numbers that are hard -----------------------------------------------------------------------------------------------


def numbers(seed: int, count: int, *, octaves: int = 3) -> Iterator[tuple[float, ...]]:
    """Positive numbers: just above a power of two, where a rounding is largest, just below one, and any."""
    rng = np.random.default_rng(seed)
    for _ in range(TRIES):
        near = 1 + rng.integers(1, 8, count) * rng.choice([2.0**-52, -(2.0**-53), 2.0**-26, 2.0**-5], count)
        some = np.where(rng.random(count) < 0.7, near, 1 + rng.random(count))
        yield tuple((some * 2.0 ** rng.integers(-octaves, octaves + 1, count)).tolist())


def after(value: Fraction) -> float:
    """The nearest float."""
    return value.numerator / value.denominator


def single(value: float, flush: bool = False) -> Fraction:
    rounded = Fraction(float(np.float32(value)))
    return Fraction(0) if flush and abs(rounded) < FLUSHED else rounded


# Scores and cuts -----------------------------------------------------------------------------------------------------


def separated() -> Fraction:
    """Scores as far apart as their bounds allow: rounding keeps order, so that only the product uses any of it."""
    slack, most, rng = held("SEPARATED") - 1, Fraction(0), np.random.default_rng(1)
    for b, c in numbers(1, 2):
        t = float(rng.normal() * 2.0 ** rng.integers(-4, 5))
        s = after(Fraction(t) + Fraction(b) + Fraction(c))
        if Fraction(s) - Fraction(t) > Fraction(b) + Fraction(c):
            s = math.nextafter(s, -math.inf)
        product = 1 - U  # the rounding of width · SEPARATED
        most = max(most, (Fraction(s - t) / (Fraction(b + c) * product) - 1) / slack)
    return most


def places_off() -> Fraction:
    """Neighbours as far apart as is asked for, and no further: their places are cut off one way and the other."""
    highest, most, rng = float(0xFFFFFFFF), Fraction(0), np.random.default_rng(3)
    for (span,) in numbers(3, 1):
        low, asked = float(rng.normal()), span * 2.0 ** -float(rng.uniform(16, 33))
        scale, s = highest / span, low + span * float(rng.random())
        t = after(Fraction(s) + Fraction(asked))
        if Fraction(t) > Fraction(s) + Fraction(asked):
            t = math.nextafter(t, -math.inf)
        one, other = (int(min((score - low) * scale, highest)) for score in (s, t))
        most = max(most, (other - one - Fraction(asked * scale)) / held("PLACES_OFF"))
    return most


def needed(wanted: Fraction, reached: float, slack: Fraction) -> Fraction:
    """Return the part of the slack that has been used up to width what is wanted."""
    return 1 - (Fraction(reached) - wanted) / slack


def of_cut() -> Fraction:
    part, most = float(held("OF_CUT")), Fraction(0)
    for v, width in numbers(2, 2):
        for value in (v, -v):
            slack = part * (abs(value) + width) + float(held("LEAST_OF_CUT"))
            whole = held("OF_CUT") * (Fraction(v) + Fraction(width))
            most = max(most, needed(Fraction(value) + Fraction(width), (value + width) + slack, whole))
            most = max(most, needed(Fraction(width) - Fraction(value), -((value - width) - slack), whole))
    return most


def least_of_cut() -> Fraction:
    """All of the slack in proportion may underflow; sums do not."""
    smallest = float(np.finfo(np.float64).tiny)
    slack = smallest * float(held("OF_CUT")) + float(held("LEAST_OF_CUT"))
    assert Fraction((smallest + smallest) + slack) > 2 * Fraction(smallest)
    return Fraction(smallest) * held("OF_CUT") / held("LEAST_OF_CUT")


def edges(name: str) -> Fraction:
    """The edge of a cut, where the width is nearly all of it, or next to nothing."""
    relative_part, part, most = 1 + float(held("OF_TOLERANCE")), float(held("OF_EDGE")), Fraction(0)
    for v, r, tiny in numbers(3, 3):
        relative = r * (0.1 if name == "OF_TOLERANCE" else 2.0**-60)
        tiny *= 2.0**20 if name == "OF_TOLERANCE" else 2.0**-60
        width = (relative * v + tiny) * relative_part + part * v
        real = Fraction(relative) * Fraction(v) + Fraction(tiny)
        slack = held("OF_TOLERANCE") * real + held("OF_EDGE") * Fraction(v)
        for sign in (1, -1):
            most = max(most, needed(real + sign * Fraction(v), sign * v + width, slack))
    return most


def of_single() -> Fraction:
    most = Fraction(0)
    for (value,) in numbers(4, 1, octaves=60):
        for v in (value, -value, np.nextafter(np.float32(value), np.float32(2)).item() * (1 - 2.0**-25)):
            moved = v + (float(held("OF_SINGLE")) * abs(v) + float(held("LEAST_OF_SINGLE")))
            slack = held("OF_SINGLE") * abs(Fraction(v)) + held("LEAST_OF_SINGLE")
            most = max(most, 1 - (single(moved) - Fraction(v)) / slack)
    return most


def least_of_single() -> Fraction:
    most = Fraction(0)
    for (value,) in numbers(5, 1, octaves=6):
        v = -value * float(FLUSHED)  # that is moved to just above 0
        moved = v - float(held("OF_SINGLE")) * v + float(held("LEAST_OF_SINGLE"))
        most = max(most, 1 - (single(moved, flush=True) - Fraction(v)) / held("LEAST_OF_SINGLE"))
    return most


def least_of_limit() -> Fraction:
    """Underflow of four products and a sum in float32, of numbers of at least 2^-50."""
    return 5 * FLUSHED / held("LEAST_OF_LIMIT")


# Rows rounded to int8 ------------------------------------------------------------------------------------------------


def least_int8() -> Fraction:
    """A product of the units of two rows is normal."""
    return FLUSHED / (held("LEAST_INT8") / 127) ** 2


def most_int8() -> Fraction:
    """So is the sum of the squares of a row; float64 has room for far more."""
    return held("MOST_INT8") ** 2 * 2**16 / Fraction(float(np.finfo(np.float64).max))


def _int8(row: np.ndarray, part: float) -> tuple[np.ndarray, ...]:
    """Integers of a row, and unit, ‖x‖, ‖unit·n‖ and ‖rest‖, as `rounded_rows` rounds them up to float32."""

    def up(x: float) -> np.float32:
        near = np.float32(x)
        return near if near >= x else np.nextafter(near, np.float32(np.inf))

    unit = float(up(float(np.abs(row).max()) / 127))
    whole = np.rint(row * (1 / unit))
    off = row - whole * unit
    size, rest = np.sqrt((row * row).sum()) * part, np.sqrt((off * off).sum()) * part
    return whole, up(unit), up(size), up(size + rest), up((rest + float(held("OF_WHOLE")) * (size + rest)) * part)


def of_int8(name: str) -> Fraction:
    """Roundings of float32 alone: rows that are whole numbers of units leave no rest to hide them in."""
    rng, most = np.random.default_rng(6), Fraction(0)
    part = float(held("OF_INT8"))
    for _ in range(TRIES):
        scales = 1 + rng.random(2)
        rows = rng.integers(-127, 128, (2, 12)) * scales[:, None]
        rows[:, 0] = 127 * scales
        if name == "OF_WHOLE":
            rows[1] = rows[0]
        (n, a, _, _, rest), (m, b, size, _, other) = (_int8(row, part) for row in rows)
        whole = _int8(rows[0], part)[3]
        product = (a * b) * np.float32(n @ m)
        result = product + (rest * size + whole * other)
        real = dot(rows[0].tolist(), rows[1].tolist())
        slack = (held("OF_WHOLE") if name == "OF_WHOLE" else held("OF_INT8") - 1 + held("OF_WHOLE")) * 2
        most = max(
            most, 1 - (Fraction(float(result)) - real) / (slack * Fraction(float(whole)) * Fraction(float(size)))
        )
    return most


# Tangents ------------------------------------------------------------------------------------------------------------


def of_centre(name: str) -> Fraction:
    """The centre left by two passes in a row that lies nearly along it; and the roundings of the spread."""
    rng, most, dim = np.random.default_rng(7), Fraction(0), 24
    for _ in range(60):
        centre = 1 + rng.random(dim)
        row = centre * (1 + 2.0 ** -rng.integers(2, 6)) + rng.random(dim) * 2.0 ** -rng.integers(10, 40)
        left = row - centre
        whole = float(np.sqrt(left @ left))
        for _ in range(2):
            left = left - (left @ centre) / (centre @ centre) * centre
        real = _across(row.tolist(), centre.tolist())
        if name == "LEFT_OF_CENTRE":
            beyond = abs(root(dot(left.tolist(), left.tolist())) - root(dot(real, real)))
            most = max(most, beyond / (held("LEFT_OF_CENTRE") * Fraction(whole)))
            continue
        across, length = np.sqrt(left @ left), np.sqrt(row @ row)
        computed = (across + float(held("LEFT_OF_CENTRE")) * whole) / length
        true = root(dot(left.tolist(), left.tolist())) + held("LEFT_OF_CENTRE") * Fraction(whole)
        true /= root(dot(row.tolist(), row.tolist()))
        most = max(most, (true / Fraction(float(computed)) - 1) / (held("OF_TANGENT_SIZE") - 1))
    return most


def _across(row: list[float], centre: list[float]) -> list[Fraction]:
    x, c = [Fraction(a) - Fraction(b) for a, b in zip(row, centre, strict=True)], [Fraction(b) for b in centre]
    share = sum((a * b for a, b in zip(x, c, strict=True)), Fraction(0)) / dot(centre, centre)
    return [a - share * b for a, b in zip(x, c, strict=True)]


# Exact closeness -----------------------------------------------------------------------------------------------------


def of_cosine() -> Fraction:
    """a/√x of integers of more bits than a float holds."""
    rng, most = np.random.default_rng(8), Fraction(0)
    for _ in range(400):
        a, x, b, y = (int(n) << 64 | int(m) for n, m in rng.integers(2**57, 2**58, (4, 2)).tolist())
        p, q = (float(number) * (1 / math.sqrt(float(square))) for number, square in ((a, x), (b, y)))
        real = [Fraction(number) / root(Fraction(square)) for number, square in ((a, x), (b, y))]
        errors = sum(abs(Fraction(one) - two) for one, two in zip((p, q), real, strict=True))
        most = max(most, errors / (held("OF_COSINE") * max(real)))
    return most


def of_estimates() -> Fraction:
    """The first 64 bits of long integers as floats: a²·y of one against b²·x of another."""
    rng, most = np.random.default_rng(10), Fraction(0)
    for _ in range(1000):
        a, b, x, y = ((int(n) << 64) + int(m) for n, m in rng.integers(2**62, 2**63, (4, 2)).tolist())
        first = [math.ldexp(float(number >> (number.bit_length() - 64)), -64) for number in (a, b, x, y)]
        full = [Fraction(number, 1 << number.bit_length()) for number in (a, b, x, y)]
        result, real = first[0] * first[0] * first[3], full[0] ** 2 * full[3]
        other, theirs = first[1] * first[1] * first[2], full[1] ** 2 * full[2]
        errors = abs(Fraction(result) / real - 1) + abs(Fraction(other) / theirs - 1)
        most = max(most, errors / held("OF_ESTIMATES"))
    return most


# Double-double -------------------------------------------------------------------------------------------------------


def _split(value: Fraction) -> tuple[float, float]:
    high = after(value)
    return high, after(value - Fraction(high))


def of_double() -> Fraction:
    """A product of two numbers in two parts: what it leaves out, and its roundings, as a part of its size."""
    rng, most = np.random.default_rng(11), Fraction(0)
    for _ in range(TRIES):
        (a, a_rest), (b, b_rest) = (_split(Fraction(int(n), 2**104)) for n in _whole(rng, 2))
        product = a * b
        rest = after(Fraction(a) * Fraction(b) - Fraction(product))
        lower = rest + (a * b_rest + a_rest * b)
        real = (Fraction(a) + Fraction(a_rest)) * (Fraction(b) + Fraction(b_rest))
        most = max(most, abs(Fraction(product) + Fraction(lower) - real) / (held("OF_DOUBLE") * abs(real)))
    return most


def _whole(rng: np.random.Generator, count: int) -> list[int]:
    return [int(n) << 52 | int(m) for n, m in rng.integers(2**51, 2**52, (count, 2)).tolist()]


def lost() -> Fraction:
    """A product that counts as zero, and its rest: halves of numbers below 2^4 that do, times such numbers."""
    return 4 * 2**4 * Fraction(float(np.finfo(np.float64).tiny)) / held("LOST")


def most_of_square() -> Fraction:
    """The root of a square off by so much, of which the core takes the whole part; halves of the least are normal."""
    least = held("LOST") / held("MOST_OF_SQUARE")
    assert least * U > Fraction(float(np.finfo(np.float64).tiny))
    off = held("MOST_OF_SQUARE")
    return (1 / root(1 - off) - 1) / off


def of_bound() -> Fraction:
    """An error of six operations, as a part of itself."""
    most = Fraction(0)
    for a, b, c, d, e in numbers(12, 5):
        result = a * b + c * (d + e) + a
        real = Fraction(a) * Fraction(b) + Fraction(c) * (Fraction(d) + Fraction(e)) + Fraction(a)
        most = max(most, (real / Fraction(result) - 1) / (held("OF_BOUND") - 1))
    return most


def of_parts() -> Fraction:
    """The difference of two numbers in two parts."""
    rng, most = np.random.default_rng(13), Fraction(0)
    for _ in range(TRIES):
        (a, a_rest), (b, b_rest) = (_split(Fraction(int(n), 2**104)) for n in _whole(rng, 2))
        values, rests = a - b, a_rest - b_rest
        real = Fraction(a) - Fraction(b) + Fraction(a_rest) - Fraction(b_rest)
        sizes = abs(Fraction(values)) + abs(Fraction(rests))
        most = max(most, abs(Fraction(values + rests) - real) / (held("OF_PARTS") * sizes))
    return most


def of_lost() -> Fraction:
    """Sizes each of which is lost when it is added to the first: as many as a sum has roundings."""
    assert 1.0 + float(U) == 1.0
    return 2**31 * U / (held("OF_LOST") - 1)


# All of them ---------------------------------------------------------------------------------------------------------

ATTACKS: dict[str, tuple[Callable[[], Fraction], float]] = {  # and the part that is needed at least
    "SEPARATED": (separated, 0.1),
    "PLACES_OFF": (places_off, 0.3),
    "OF_CUT": (of_cut, 0.3),
    "LEAST_OF_CUT": (least_of_cut, 0),
    "OF_TOLERANCE": (lambda: edges("OF_TOLERANCE"), 0.2),
    "OF_EDGE": (lambda: edges("OF_EDGE"), 0.2),
    "OF_SINGLE": (of_single, 0.3),
    "LEAST_OF_SINGLE": (least_of_single, 0.05),
    "LEAST_OF_LIMIT": (least_of_limit, 1e-9),
    "LEAST_INT8": (least_int8, 1e-5),
    "MOST_INT8": (most_int8, 0),
    "OF_WHOLE": (lambda: of_int8("OF_WHOLE"), 0.01),
    "OF_INT8": (lambda: of_int8("OF_INT8"), 0.01),
    "LEFT_OF_CENTRE": (lambda: of_centre("LEFT_OF_CENTRE"), 1e-9),
    "OF_TANGENT_SIZE": (lambda: of_centre("OF_TANGENT_SIZE"), 1e-12),
    "OF_COSINE": (of_cosine, 0.1),
    "OF_ESTIMATES": (of_estimates, 0.01),
    "OF_DOUBLE": (of_double, 1e-3),
    "LOST": (lost, 0),
    "MOST_OF_SQUARE": (most_of_square, 0.3),
    "OF_BOUND": (of_bound, 1e-5),
    "OF_PARTS": (of_parts, 0.05),
    "OF_LOST": (of_lost, 0.1),
}


def test_every_constant_of_the_core_is_attacked():
    assert set(HELD) == set(ATTACKS)


@pytest.mark.parametrize("name", ATTACKS)
def test_constant(name):
    attack, least = ATTACKS[name]
    reached = float(attack())
    print(f"\n{reached:9.2g}  {name}", end="")
    assert least <= reached <= 1
