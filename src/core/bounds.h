// Constants that the core adds to bounds and estimates for its own roundings, and why each is enough.
//
// The bounds of scores come from src/deadheat/engine/distances/bounds.py, which has their proofs; they have eight roundings
// to spare. Here u is 2^-53 and, where it says so, 2^-24. A bound or a score that was computed with n roundings is off by a
// part γ_n < 1.01·n·u of the sizes of its terms (n < 1000). The lines "check" say it again for `python -m tests.bounds`,
// which proves them and says how they are read.
#pragma once

namespace deadheat::bounds {

// Scores and cuts ----------------------------------------------------------------------------------------------------

/// Two scores are certainly different where fl(s − t) > reach · APART, with reach = fl(b + c) of their bounds: one rounding
/// of the difference, one of the sum and one of this product are 3u, and here are 8u.
// check SEPARATED = 1 + 8*u: fl(b + c) <= fl(fl(b + c) * SEPARATED) for b, c >= 0
constexpr double SEPARATED = 1 + 0x1p-50;

/// Scores s, as places fl(fl(s − least)·scale) below 2^32, rounded to integers, are surely further apart than d if their
/// places are further apart than fl(d·scale) + PLACES_OFF: each is rounded by up to 1/2, and errs by 4u·2^32 at most.
// check PLACES_OFF: fl(fl(t + d)) + 1/2 <= fl(fl(t)) - 1/2 + fl(fl(d) + PLACES_OFF) for t, d in 0..2**31
constexpr double PLACES_OFF = 2;

/// The ends s ± b of a cut have one rounding each, u(|s| + b), and the slack that is taken off has two: 2u more of it. Here
/// are 4u of |s| + b; and more than what underflows.
// check OF_CUT = 4*u: fl(fl(v - b) - fl(OF_CUT * fl(v + b))) <= v - b for v, b >= 0
// check OF_CUT = 4*u: fl(-fl(v + b) - fl(OF_CUT * fl(v + b))) <= -(v + b) for v, b >= 0
// check LEAST_OF_CUT: fl(fl(v - b) - fl(OF_CUT * fl(v + b) + z + LEAST_OF_CUT * k)) <= v - b for v, b, k >= 0
constexpr double OF_CUT = 0x1p-51, LEAST_OF_CUT = 1e-300;

/// fl(fl(r·|v|) + tiny) has two roundings, and an edge v ± that one more: of the reach 3u, here are 8u; and of v itself u
/// for each of two sums, here are 4u.
// check OF_TOLERANCE = 8*u: fl(fl(fl(fl(p) + t) * fl(1 + OF_TOLERANCE))) >= p + t for p, t >= 0
// check OF_TOLERANCE = 8*u: fl(v + fl(fl(fl(fl(p) + t) * (1 + OF_TOLERANCE)) + OF_EDGE * v)) >= v + p + t for p, t, v >= 0
// check OF_EDGE = 4*u: fl(fl(fl(fl(fl(p) + t) * (1 + OF_TOLERANCE)) + OF_EDGE * v) - v) >= p + t - v for v, p, t >= 0
constexpr double OF_TOLERANCE = 0x1p-50, OF_EDGE = 0x1p-51;

/// The float32 nearest to v is off by 2^-24|v|, or by less than the smallest normal one; the sum in front of it by u more.
// check OF_SINGLE = 2*w: fs(fl(v + fl(OF_SINGLE * v))) >= v for v >= 0
// check OF_SINGLE = 2*w: fs(fl(fl(OF_SINGLE * v) - v)) >= -v for v >= 0
// check LEAST_OF_SINGLE: fs(fl(v + fl(OF_SINGLE * v + LEAST_OF_SINGLE * k))) - single_tiny * k >= v for v, k >= 0
// check LEAST_OF_SINGLE: fs(fl(fl(OF_SINGLE * v + LEAST_OF_SINGLE * k) - v)) - single_tiny * k >= -v for v, k >= 0
constexpr double OF_SINGLE = 0x1p-23, LEAST_OF_SINGLE = 1e-37;

/// Limits of the int8 filter are taken from products of numbers of at least 2^-50: what underflows in a bound is far less.
// check LEAST_OF_LIMIT: 5 * single_tiny <= LEAST_OF_LIMIT
constexpr double LEAST_OF_LIMIT = 0x1p-100;

// Rows rounded to int8 -----------------------------------------------------------------------------------------------

/// The largest number of a row that is rounded: products of its unit and squares stay normal.
// check LEAST_INT8: single_tiny <= (LEAST_INT8 / 127) ** 2
// check MOST_INT8: 2**21 * MOST_INT8 ** 2 <= 2**1023
constexpr double LEAST_INT8 = 0x1p-50, MOST_INT8 = 0x1p60;

/// Roundings of float32. A product of units and sum is off by 4 · 2^-24 of |Σ|, at most 2 · whole · size; then two terms of
/// the bound and two sums follow, 2^-22 of each. So 2^-19 · whole · size and a part of 2^-18 of each term hold all of it.
// check OF_WHOLE: r - 2*g <= fs(fs(fs(fs(-2*g))) + fs(fs((r + OF_WHOLE * g) * OF_INT8))) for g, r >= 0
// check OF_WHOLE: r + 2*g <= fs(fs(fs(fs(2*g))) + fs(fs((r + OF_WHOLE * g) * OF_INT8))) for g, r >= 0
// check OF_INT8: r + s <= fs(fs(fs(r * OF_INT8) + fs(s * OF_INT8))) for r, s >= 0
constexpr double OF_WHOLE = 0x1p-19, OF_INT8 = 1 + 0x1p-18;

// Tangents -----------------------------------------------------------------------------------------------------------

/// Of `of_tangent` in bounds.py: the part of ‖x − c‖ that the spread has for what is left of c, (2d + 2)u and what is of
/// second order for d ≤ 2^21; and more than the roundings of the spread, (d + 5)u.
// check LEFT_OF_CENTRE: (2*d + 2) * u + ((2*d + 2) * u) ** 2 <= LEFT_OF_CENTRE for d in 1..MOST_TANGENT_DIMS
// check OF_TANGENT_SIZE: 1 <= (1 - (d + 5) * u) * OF_TANGENT_SIZE for d in 1..MOST_TANGENT_DIMS
constexpr double LEFT_OF_CENTRE = 0x1p-30, OF_TANGENT_SIZE = 1 + 0x1p-20;

// Exact closeness ----------------------------------------------------------------------------------------------------

/// Cosines are estimated as a·fl(1/√x) of integers of 126 bits: a conversion, a root, a quotient and a product of numbers
/// less than 4u off make less than 16u; two of them are compared.
// check OF_COSINE: fl(fl(1) * fl(1 / fl(sqrt(fl(1))))) <= 1 + 5*u
// check OF_COSINE: 1 - 5*u <= fl(fl(1) * fl(1 / fl(sqrt(fl(1)))))
// check OF_COSINE: fl(q - p) <= fl(OF_COSINE * p) for p in 1 - 5*u..1; q in 1..1 + 5*u
constexpr double OF_COSINE = 0x1p-48;

/// Estimates of long integers are off by 2u from their first 64 bits and by 4u from sums that were not carried; products,
/// quotients and roots of a few of them by less than 2^-48; differences of two or three by twice as much of the sum of their
/// sizes, and a rounding of each.
// check OF_ESTIMATES: fl(off(1, 9) * off(1, 4)) <= fl(fl(off(1, 9) * off(1, 4)) * (1 + OF_ESTIMATES))
// check OF_ESTIMATES: fl(sqrt(off(1, 9))) * fl(1 / fl(sqrt(off(1, 9)))) <= 1 + OF_ESTIMATES / 2
// check OF_ESTIMATES: fl(fl(off(x,8) - off(y,8)) - off(a,8)) - x + y + a <= OF_ESTIMATES / 2 * (x + y + a) for x, y, a >= 0
constexpr double OF_ESTIMATES = 0x1p-46;

// Double-double ------------------------------------------------------------------------------------------------------

/// Roundings in double-double: a number that is carried as value and rest, |rest| ≤ u|value|, loses a few u² of its
/// size in a product, a sum or a step of Newton's; here are 2^8 u².
// check OF_DOUBLE: fl(e + fl(fl(f) + fl(g))) - (e + f + g + f * g) <= OF_DOUBLE * (1 - u)**2 for e, f, g in -u..u
// check OF_DOUBLE: e + f + g + f * g - fl(e + fl(fl(f) + fl(g))) <= OF_DOUBLE * (1 - u)**2 for e, f, g in -u..u
// check OF_DOUBLE: fl(fl(fl(m - fl(e + fl(f + g))))) - m + e + f + g <= OF_DOUBLE / 2 for e, f, g, m in -4*u..4*u
constexpr double OF_DOUBLE = 0x1p-98;

/// A bound, with much to spare, on the loss of a product of two numbers below 2^4 where subnormal ones count as zero.
// check LOST: 4 * 2**4 * tiny <= LOST
constexpr double LOST = 0x1p-1000;

/// The part of a square of a row that its error may be, for its root to be taken: second-order terms of the error of the
/// root are far less then, and the square is above 2^-941, so that its halves (error_free.h) are no subnormal numbers.
// check MOST_OF_SQUARE: 1 / sqrt(1 - MOST_OF_SQUARE) - 1 <= MOST_OF_SQUARE
// check MOST_OF_SQUARE: tiny <= LOST / MOST_OF_SQUARE * u
constexpr double MOST_OF_SQUARE = 0x1p-60;

/// More than the roundings of a bound itself, as a part of it.
// check OF_BOUND: p + q + a <= fl(fl(fl(fl(p) + fl(fl(q))) + a) * OF_BOUND) for p, q, a >= 0
constexpr double OF_BOUND = 1 + 0x1p-40;

/// Two numbers in two parts are compared by the difference of the values and that of the rests: a rounding of each and one
/// of their sum, 3u of their sizes; here are 8u.
// check OF_PARTS = 8*u: fl(fl(v) + fl(r)) - (v + r) <= fl(OF_PARTS * fl(fl(v) + fl(r))) for v, r >= 0
// check OF_PARTS = 8*u: fl(fl(v) - fl(r)) - (v - r) <= fl(OF_PARTS * fl(fl(v) + fl(r))) for v, r >= 0
constexpr double OF_PARTS = 0x1p-50;

/// The losses of a sum of Dot2 are added up from rounded sizes, with less than 2^31 roundings: less than a part of 2^-20 of
/// the sum.
// check OF_LOST: 1 <= (1 - 2**31 * u) * OF_LOST
constexpr double OF_LOST = 1 + 0x1p-20;

}  // namespace deadheat::bounds
