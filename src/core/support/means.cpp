#include "support/means.h"

namespace deadheat {

namespace {

constexpr double BASE = 4294967296.0, LIMIT = 1073741824.0;

/// Cut the integer part off a value, towards 0.
std::int64_t cut_off(double &value) {
    const auto digit = static_cast<std::int64_t>(value);
    value -= static_cast<double>(digit);
    return digit;
}

}  // namespace

Digits digits(Span<const double> values) {
    Digits sums{0, true, 0, 0, 0, 0};
    for (double value : values) {
        if (value > -LIMIT && value < LIMIT) {
            sums.whole += cut_off(value);
            sums.first += cut_off(value *= BASE);
            sums.second += cut_off(value *= BASE);
            sums.third += cut_off(value *= BASE);
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
