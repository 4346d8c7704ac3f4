// Sums of values below 2^30 that are rounded once: see support/means.py.
#pragma once

#include "support/views.h"

namespace deadheat {

/// The integer parts, and the digits of 32 bits after the binary point, of all values that are not NaN, added up.
struct Digits {
    std::int64_t count;  // of values that are not NaN
    bool exact;          // whether these hold each of them
    std::int64_t whole, first, second, third;
};

Digits digits(Span<const double> values);

}  // namespace deadheat
