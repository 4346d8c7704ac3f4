// Exact sums of numbers whose exponents lie far apart, number by number, in as many limbs as float64's range needs.
#pragma once

#include "exact/wide.h"
#include "support/views.h"

namespace deadheat {

/// From `length` limbs of a two's complement sum in `out`, and whether it is negative, its size; returns its sign.
int finish_sum(bool negative, int length, int exponent, Wide &out);

/// 2^shift·Σ left·right, with shift 0 or 1; returns its sign.
int dot_of_numbers(Span<const double> left, Span<const double> right, int shift, Wide &out);

/// Σ |left − right|; returns its sign.
int difference_of_numbers(Span<const double> left, Span<const double> right, Wide &out);

}  // namespace deadheat
