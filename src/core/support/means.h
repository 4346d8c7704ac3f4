// Sums of values in [0, 1] that are rounded once: see support/means.py.
#pragma once

#include "support/views.h"

namespace deadheat {

/// The digits, 32 bits each after the binary point, of all values that are not NaN, added up.
struct Digits {
    std::int64_t count;  // of values that are not NaN
    bool exact;          // whether three digits hold each of them
    std::int64_t first, second, third;
};

Digits digits(Span<const double> values);

}  // namespace deadheat
