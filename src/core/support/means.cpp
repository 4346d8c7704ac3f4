#include "support/means.h"

namespace deadheat {

namespace {

constexpr double BASE = 4294967296.0;

/// Cut the next digit off a value below 1.
std::int64_t next_digit(double &value) {
    value *= BASE;
    const auto digit = static_cast<std::int64_t>(value);
    value -= static_cast<double>(digit);
    return digit;
}

}  // namespace

Digits digits(Span<const double> values) {
    Digits sums{0, true, 0, 0, 0};
    for (double value : values) {
        if (value >= 0.0 && value <= 1.0) {
            sums.first += next_digit(value);
            sums.second += next_digit(value);
            sums.third += next_digit(value);
            sums.exact &= value == 0.0;
            ++sums.count;
        } else if (value == value) {
            sums.exact = false;
            ++sums.count;
        }
    }
    return sums;
}

}  // namespace deadheat
