// Exact sums of numbers whose exponents lie far apart, number by number, in as many limbs as float64's range needs.
#pragma once

#include "exact/wide.h"
#include "support/views.h"

namespace deadheat {

/// From `length` limbs of a two's complement sum in `out`, and whether it is negative, its size; returns its sign.
int finish_sum(bool negative, int length, int exponent, Wide &out);

/// A sum of 128 bits, and not −2^127, times 2^exponent as its size; returns its sign.
inline int finish_short(TwoLimbs sum, int exponent, Wide &out) {
    const bool negative = sum >> 127 != 0;
    if (negative) sum = -sum;
    out.limbs[0] = static_cast<Limb>(sum);
    out.limbs[1] = static_cast<Limb>(sum >> 64);
    out.length = out.limbs[1] != 0 ? 2 : out.limbs[0] != 0;
    out.exponent = exponent;
    return out.length == 0 ? 0 : negative ? -1 : 1;
}

/// 2^shift·Σ left·right, with shift 0 or 1; returns its sign.
int dot_of_numbers(Span<const double> left, Span<const double> right, int shift, Wide &out);

/// Σ |left − right|; returns its sign.
int difference_of_numbers(Span<const double> left, Span<const double> right, Wide &out);

}  // namespace deadheat
