"""Bounds on the errors of computed numbers: every bound of a score, its formula, and why it holds.

u is the unit roundoff of a type, γ_n = n·u / (1 − n·u), and (n) stands for any number up to γ_n in size: n factors
1 + δ or 1/(1 + δ) with |δ| ≤ u have a product 1 + (n) (Higham, Accuracy and Stability of Numerical Algorithms, 2002,
3.1). A sum of d terms in any order has at most d − 1 roundings on the way from any term, since adding 0 has none.
Numbers that are multiplied are at most 1 in size, so that nothing overflows.

Bounds are themselves computed in float64, with up to eight roundings. SPARE covers these: one rounding more makes a γ
greater by u ≥ 2^-53, and eight roundings change a γ below 1/8 by less. A bound that is a part of a true sum of terms
of one sign is γ, of a computed one γ/(1 − γ).

`tests/engine/distances/test_bounds.py` searches for the inputs that come closest to each bound, docs/exactness.md has
the results.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import DTypeLike, NDArray

from deadheat._core import BandErrors, ScoreErrors
from deadheat.errors import InvalidValueError
from deadheat.support.arrays import Float64, Int64

SPARE = 1  # rounding more than there are, for those of the bound itself
ROWS = 2  # roundings of q_k and of x_k to the type of the rows
OFFSET = 1  # rounding of product less offset, as far as the product is concerned
ROUNDINGS = ROWS + OFFSET + SPARE  # of a score in addition to those of its sum of products
UNDERFLOWS = 8  # smallest normal numbers that a term can lose
OF_OFFSET = 4  # roundings of an offset: computed, rounded to the type of the scores, taken off; and one to spare
OF_NORMS = 4  # roundings of ‖q‖ and ‖x‖ in addition to their sums: two roots, two reciprocals
OF_TANGENT = 3  # γ_{d+4} of its size: the error of u = q/‖q‖ − c/‖c‖ in length
TANGENT_LENGTH = 1 + 2.0**-6  # ‖u‖/sin(q, c) is at most 1.0081 where sin(q, c) ≤ 1/4
LEAST_TANGENT = 2.0**-500  # whose square does not underflow
MOST_TANGENT_DIMS = 1 << 21
LANES = 32  # sums side by side, of sums in float64 (`core/distances/row_products.h`, `core/distances/rows.h`)
SLIGHTLY = 2.0**-10  # more than all products of two errors, as a part of a bound by squares
LEAST_NORM = 2.0**-1000  # of a row of numbers of which one is not 0: its computed norm can be less, by underflow
LEAST_SIZE = 1 - 2.0**-20  # of a computed product or quotient, as a part of it: more than its rounding
SAFE_SIZE = 4.0  # smallest normal numbers: no product of numbers this large loses anything
LEAST_SQUARE = 2.0**-900  # of a norm, so that what underflows is no part of it
END = 2.0**-50  # 8u: up to five roundings of the end of an interval, and two of moving it
LEAST_END = 2.0**-960  # more than what underflows there
OF_MOVED_SQUARE = 2.0**-48  # 32u, where 8u are needed


# `python -m tests.bounds` proves the lines "check", and says how they are read; and tries all rows of small formats.
# check SPARE: g <= (g + SPARE * u * (1 + 2*g)) * (1 - u)**8 for g in 0..1/8
# check UNDERFLOWS: (x + 2*e) * (y + 2*f) + 2*g - x*y <= UNDERFLOWS * tiny for x, y in -1..1; e, f, g in -tiny..tiny
# check OF_OFFSET = 4: fl(fl(fl(o))) <= (1 + OF_OFFSET * u) * o for o >= 0
# check OF_NORMS: fl(1 / fl(sqrt(off(1, 1)))) * fl(1 / fl(sqrt(off(1, 1)))) <= 1 / (1 - (1 + OF_NORMS) * u)
# check OF_NORMS: fl(1 / fl(sqrt(off(1, 99)))) * fl(1 / fl(sqrt(off(1, 99)))) <= 1 / (1 - (99 + OF_NORMS) * u)
# check OF_TANGENT: (2.16 * d + 6.9) + 2**-9 * d <= OF_TANGENT * (d + 3) for d in 1..MOST_TANGENT_DIMS
# check TANGENT_LENGTH: 1 / sqrt((1 + sqrt(15) / 4) / 2) <= TANGENT_LENGTH
# check LEAST_TANGENT: tiny <= LEAST_TANGENT ** 2
# check MOST_TANGENT_DIMS: (2 * MOST_TANGENT_DIMS + 2) * u <= 2**-30
# check LANES: (LANES + 2) * (LANES + 3) <= ((LANES + 5) * (1 - (LANES + 3) * u)) ** 2
# check SLIGHTLY: (1 + a) * (1 + b) <= 1 + SLIGHTLY for a, b in 0..2**-12
# check LEAST_NORM: MOST_TANGENT_DIMS * tiny <= LEAST_NORM
# check LEAST_SIZE: fl(LEAST_SIZE * fl(fl(v))) <= v for v >= 0
# check SAFE_SIZE: 1 <= SAFE_SIZE * (1 - w) ** 3
# check LEAST_SQUARE: MOST_TANGENT_DIMS * 2 * tiny <= u * LEAST_SQUARE
# check END = 8*u: v <= fl(fl(fl(fl(fl(fl(fl(v))))) * (1 + END))) for v >= 0
# check END = 8*u: fl(fl(fl(fl(fl(fl(fl(v))))) * (1 - END))) <= v for v >= 0
# check LEAST_END: v <= fl(fl(fl(fl(fl(v) + z) + z) + LEAST_END * k) * (1 + END)) for v, k >= 0
# check OF_MOVED_SQUARE: fl(fl(a) + t) - (a + t) <= (2*u + u*u) * (a + t) for a, t >= 0
# check OF_MOVED_SQUARE: fl(fl(a) - t) - (a - t) <= (2*u + u*u) * (a + t) for a, t >= 0
# check OF_MOVED_SQUARE: fl((1 + e) * (1 + f)) - 1 <= OF_MOVED_SQUARE * (1 - 7*u) for e, f in -2.1*u..2.1*u


# Roundings -----------------------------------------------------------------------------------------------------------


def unit_roundoff(dtype: DTypeLike) -> float:
    """Return the largest relative error of one rounding to nearest: 2^-24 for float32, 2^-53 for float64."""
    return float(np.finfo(dtype).eps) / 2


def gamma(n: int, dtype: DTypeLike) -> float:
    """Return γ_n = n·u / (1 − n·u): n roundings in a row change a value by at most this factor of it.

    Examples
    --------
    >>> gamma(128, np.float32) < 7.7e-6
    True
    """
    nu = n * unit_roundoff(dtype)
    if nu >= 0.5:
        raise InvalidValueError(f"rows of {n} numbers", f"are too long for an error bound in {np.dtype(dtype)}")
    return nu / (1 - nu)


def underflow(dim: int, dtype: DTypeLike) -> float:
    """Bound the effect of underflow on a sum of `dim` products of numbers in [−1, 1], flushed to zero or not.

    A number of either row can lose 2 smallest normal numbers (`scaling.normalised` raises some to one), the product and
    its sum one each. The 2 left, and the term more, are for offsets, and for γ times all of it.
    """
    return UNDERFLOWS * (dim + 1.0) * float(np.finfo(dtype).tiny)


# Sums of terms -------------------------------------------------------------------------------------------------------


def of_sum(terms: int, dtype: DTypeLike) -> float:
    """Bound the error of Σ q_k x_k less an offset, with up to `terms` roundings on the way of a product: γ·Σ|q_k x_k|.

    It is Σ q_k x_k (1 + (terms + ROWS + OFFSET)), since fl(p − o) = p + (1)p − (1)o. Σ|q_k x_k| ≤ ‖q‖‖x‖. Of sparse
    rows, `terms` is the number of those that are not 0, in any order.
    """
    return gamma(terms + ROUNDINGS, dtype)


def of_one_sign(part: float, tiny: float) -> tuple[float, float]:
    """Return r and s such that the error of a sum of terms of one sign, computed as p', is at most r·p' + s.

    From |p' − p| ≤ part·p + tiny follows p ≤ (p' + tiny)/(1 − part), so |p' − p| ≤ (part·p' + tiny)/(1 − part). The
    same holds of a Σ|q_k x_k| that is computed as p' is.
    """
    return (part / (1 - part), tiny / (1 - part)) if part < 1 else (np.inf, np.inf)


def of_offset(offset: Float64, error: Float64, dim: int, dtype: DTypeLike) -> Float64:
    """Bound the effect of the offset o of an item on the error of a score; o is off by u·|o| + `error` in float64."""
    return np.asarray(OF_OFFSET * unit_roundoff(dtype) * np.abs(offset) + error + underflow(dim, dtype))


def of_differences(dim: int, dtype: DTypeLike) -> float:
    """Bound the error of Σ|q_k − x_k|: γ·Σ(|q_k| + |x_k|), one rounding per row and difference, d − 1 of the sum."""
    return gamma(dim + 1 + SPARE, dtype)


def of_overlaps(dim: int, dtype: DTypeLike) -> float:
    """Bound the error of Σ min(q_k, x_k) less an offset, of rows without negative numbers: γ times the sum.

    Rounding keeps order, so the smaller of two rounded numbers is the smaller of the numbers, rounded; then come d − 1
    roundings of the sum.
    """
    return gamma(dim + OFFSET + SPARE, dtype)


def of_compensated(dim: int) -> float:
    """Bound Dot2 (Ogita, Rump and Oishi 2005) of d terms in LANES sums: off by u·|product| + this times Σ|a_k b_k|.

    The errors of products and sums are known exactly. With n = ⌈d/LANES⌉ + LANES + 1, the most on the way of a term,
    their sizes add up to γ_n Σ|a_k b_k|, and their sum has n + 1 roundings; γ_n·γ_{n+1} < γ_{n+3}².
    """
    return gamma(-(-dim // LANES) + LANES + 4, np.float64) ** 2


def rounded_up(sums: Float64, roundings: int) -> Float64:
    """Return upper bounds on the exact values of positive float64 numbers with `roundings` successive roundings."""
    return np.asarray(sums * (1 + gamma(roundings + 3, np.float64)))


def norms(squares: Float64, absolutes: Float64, dim: int) -> Float64:
    """Bound ‖x‖ from above, by Σx_k² of x_k = fl(raw·fl(1/scale)), or by Σ|x_k| ≥ ‖x‖ where squares are too small."""
    return rounded_up(np.where(squares > LEAST_SQUARE, np.sqrt(squares), absolutes), dim + 4)


def sums(absolutes: Float64, dim: int) -> Float64:
    """Bound Σ|x_k| from above, by its computed value: two roundings of x_k, d − 1 of the sum."""
    return rounded_up(absolutes, dim + 1)


# Scores --------------------------------------------------------------------------------------------------------------


def of_band(errors: ScoreErrors, items: Int64) -> BandErrors:
    """Return bounds for the scores of any of the items, from those of single ones."""
    if not len(errors.of_item):
        return BandErrors()
    offset_error, relative_tiny = float(errors.offset_error[items].max()), 0.0
    if errors.relative < np.inf:
        offset = float(np.abs(errors.offset[items]).max()) if len(errors.offset) else 0.0
        relative_tiny = (offset_error + errors.relative * offset + errors.relative_tiny) * (1 + SLIGHTLY)
    relative, factor, tiny = by_squares(errors, items)
    return BandErrors(
        size=float(errors.of_item[items].max()), offset_error=offset_error, relative=errors.relative,
        relative_tiny=relative_tiny, square_relative=relative, square_factor=factor, square_tiny=tiny,
    )  # fmt: skip


# Cosine --------------------------------------------------------------------------------------------------------------


def of_cosine(part: float, dim: int) -> float:
    """Bound the error of a product of rows divided by their norms, where a product of given rows is off by `part`.

    The computed ‖q‖² is ‖q‖²(1 + (d)), and its root errs by half as much. So d + OF_NORMS roundings in float64 make
    both factors 1/‖q‖ and 1/‖x‖. That of q_k/‖q‖ is one of ROWS; in float32, where it has two, SPARE covers the other.
    Together: (1 + a)(1 + b) − 1 = a + b + ab.
    """
    of_norms = gamma(dim + OF_NORMS, np.float64)
    return part + of_norms + part * of_norms


def tangents_hold(centre: NDArray[np.floating]) -> bool:
    """Return whether the bounds below hold: squares of rows near the centre neither over- nor underflow."""
    size = float(np.abs(centre).max())
    return 2.0**-200 < size < 2.0**200 and len(centre) <= MOST_TANGENT_DIMS


def tangent_sizes(extent: Float64) -> Float64:
    """Bound ‖u‖ of the computed u = x/‖x‖ − c/‖c‖ from above, by the extent of x (`core/distances/rows.h`)."""
    return np.asarray(np.maximum(extent * TANGENT_LENGTH, LEAST_TANGENT))


def of_tangent(dim: int) -> float:
    """Bound the error of u = x/‖x‖ − c/‖c‖, in length, relative to its size.

    It is computed as u = t/‖x‖ − (c/‖c‖)·σ with σ = ‖t‖²/(‖x‖(‖x‖ + c·x/‖c‖)).
    With w = x − c, which is exact, ‖w‖ ≤ ‖c‖/4 (`common_centre`) and t, the part of w across c: τ = ‖t‖/‖x‖ ≤ 1/4 and
    σ ≤ τ²/1.96. The extent is s = τ + 2^-30‖w‖/‖x‖. In u, first order, for d ≤ 2^21:

        t: the first of two passes leaves (2d + 2)u‖w‖ of c, the second (d + 2)uτ‖x‖ + (2d + 2)²u²‖w‖    d + 2
        t/‖x‖: ‖x‖ has d/2 + 1 roundings, the quotient one                                              d/2 + 2
        σ: ‖t‖² is off by 2τ(d + 2)s + dτ², over 1.96                                                   0.39d + 0.6
           its divisors and ‖c‖ by 2.1d + 8 roundings of σ ≤ 0.128 τ                                    0.27d + 1
        c_k·σ, and the difference                                                                       1.3

    times s: (2.16d + 6.9)·s, which is less than 3(d + 3)·s with what is of second order.
    """
    return OF_TANGENT * gamma(dim + 3 + SPARE, np.float64)


def of_tangent_squares(dim: int) -> float:
    """Bound the error of u·v or ‖u‖² of computed u and v, relative to their sizes: two of rows, d roundings of sums."""
    return 2 * of_tangent(dim) + gamma(dim + 1 + SPARE, np.float64)


def tangent_square(square: Float64, size: Float64, dim: int) -> tuple[Float64, Float64]:
    """Return bounds on ‖u‖², from the computed square and the size."""
    error = of_tangent_squares(dim) * np.square(size)
    return square - error, square + error


# Euclidean and city block distance -----------------------------------------------------------------------------------


def by_squares(errors: ScoreErrors, items: Int64) -> tuple[float, float, float]:
    """Return the factors of |s| and of ‖q‖², and the constant, in an error bound of scores s = q·x − o, o = ‖x‖²/2.

    Let Q and X bound the norms, r = X²/2o, a = part and b the relative error of o, so that the error is up to aQX + bo.
    If o ≥ 2QX, the score is at least o − QX ≥ o/2 ≥ QX in size, so the error is a part a + 2b of it. Otherwise
    X² = 2ro < 4rQX, so X < 4rQ, and aQX + bo < (a + 2b)QX < 4rQ²(a + 2b).
    """
    if not len(errors.half_error):
        return np.inf, 0.0, 0.0
    half, sizes = errors.offset[items], errors.of_item[items]
    there = sizes > 0
    if not (half[there] > LEAST_SQUARE).all():
        return np.inf, 0.0, 0.0
    ratio = float(np.max(sizes[there] ** 2 / (2 * half[there]), initial=0.0))
    of_half = float(np.max(errors.half_error[items][there] / half[there], initial=0.0)) + OF_OFFSET * errors.roundoff
    relative = (errors.part + 2 * of_half) * (1 + SLIGHTLY)
    return relative, 4 * ratio * relative, 2 * errors.tiny


def square_between(square: Float64, common_offset: float, dim: int) -> tuple[Float64, Float64]:
    """Return bounds on ‖q‖² + c, from a computed ‖q‖²: d roundings, one of the sum, two of the ends; c is exact."""
    whole = square + common_offset
    error = whole * gamma(dim + 3 + SPARE, np.float64) + underflow(dim, np.float64)
    return whole - error, whole + error


def sum_between(size: Float64, common_offset: float, dim: int) -> tuple[Float64, Float64]:
    """Return bounds on Σq + c, from Σq rounded up by `sums`.

    Σq has d + 1 roundings, was made larger by γ_{d+4} with two more, and then come three of the sum and the ends.
    """
    whole = size + common_offset
    return whole * (1 - gamma((dim + 1) + (dim + 4) + 2 + 3 + SPARE, np.float64)), whole * (1 + END)


def moved_square(roots: Float64, step: float) -> Float64:
    """Bound the error of (√n + step)² of a computed √n: with r = √n + |step|, 2r·(2u·r) + u·r², and three more."""
    return np.asarray(OF_MOVED_SQUARE * np.square(roots + abs(step)) + LEAST_SQUARE)


# Exact scores --------------------------------------------------------------------------------------------------------


def largest_whole(dtype: DTypeLike) -> float:
    """Return 1/u: integers up to here are exact, and so are their sums and products up to here, in any order."""
    return 1 / unit_roundoff(dtype)


def fractions_differ(query_square: float, item_square: float) -> bool:
    """Return whether a·|a|/‖x‖² of rows of integers, with a = q·x, are different floats if they are different numbers.

    Sums up to ‖q‖‖x‖ must be exact in float32. Then a·|a| is exact in float64, and its quotient has one rounding. Two
    different ones of a sign differ by at least 1/(‖x‖²‖y‖²), which is 1/(b²‖x‖²) ≥ 1/(‖q‖²‖x‖²‖y‖²) of the larger,
    b²/‖y‖². 2u and a little more distinguish them.
    """
    exact = query_square * item_square <= largest_whole(np.float32) ** 2
    return exact and query_square * item_square**2 <= largest_whole(np.float64) / 4


# Intervals -----------------------------------------------------------------------------------------------------------


def widened(low: Float64, high: Float64) -> tuple[Float64, Float64]:
    """Widen intervals enough for a few roundings of their ends, underflow included."""
    return (
        low * np.where(low < 0, 1 + END, 1 - END) - LEAST_END,
        high * np.where(high < 0, 1 - END, 1 + END) + LEAST_END,
    )


def divided(low: Float64, high: Float64, divisor: float) -> tuple[Float64, Float64]:
    """Divide intervals by a positive number; an end that overflows stays outside."""
    with np.errstate(over="ignore", under="ignore"):
        return outward(*widened(low / divisor, high / divisor))


def multiplied(low: Float64, high: Float64, factor: float) -> tuple[Float64, Float64]:
    """Multiply intervals by a positive number; an end that overflows stays outside."""
    with np.errstate(over="ignore", under="ignore"):
        return outward(*widened(low * factor, high * factor))


def outward(low: Float64, high: Float64) -> tuple[Float64, Float64]:
    """Clip overflowed inner ends of intervals: a low end of +∞ to the largest float, a high end of −∞ to minus it."""
    largest = np.finfo(np.float64).max
    return np.minimum(low, largest), np.maximum(high, -largest)


def nudged(low: Float64, high: Float64) -> tuple[Float64, Float64]:
    """Widen intervals enough for one rounding of their ends."""
    return np.nextafter(low, -np.inf), np.nextafter(high, np.inf)
