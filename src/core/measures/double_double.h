// Double-double arithmetic (Dekker 1971; Knuth, TAOCP 2, 4.2.2): numbers as pairs of floats, high + low, 32 digits.
//
// Every result has the same bits on every machine: only +, −, ·, / on float64, in a fixed order, nothing that is contracted
// to a fused multiply-add, and no call of libm, whose log2 differs between systems in the last bit. It is what keeps the
// closed forms accurate: tied − (closer + 1)·ΔH loses half of all digits when `tied` is small beside `closer`, and there are
// enough to lose.
#pragma once

#include <cstdint>

#include "support/error_free.h"

namespace deadheat {

struct DoubleDouble {
    double high = 0.0;
    double low = 0.0;

    /// The float nearest to it.
    double value() const { return high + low; }

    DoubleDouble operator-() const { return {-high, -low}; }

    DoubleDouble operator+(DoubleDouble other) const {
        auto [sum, rest] = two_sum(high, other.high);
        rest += low + other.low;
        return normalised(sum, rest);
    }

    DoubleDouble operator-(DoubleDouble other) const { return *this + -other; }

    DoubleDouble operator*(DoubleDouble other) const {
        auto [product, rest] = two_product(high, other.high);
        rest += high * other.low + low * other.high;
        return normalised(product, rest);
    }

    DoubleDouble operator/(DoubleDouble other) const {
        const double quotient = high / other.high;
        const auto [product, rest] = two_product(quotient, other.high);
        const double correction = (((high - product) - rest) + low - quotient * other.low) / other.high;
        return normalised(quotient, correction);
    }

    /// One more float in a sum of many. What rounding takes from `high` is added up in `low`, and stays there.
    void accumulate(double more) {
        const auto [sum, rest] = two_sum(high, more);
        high = sum;
        low += rest;
    }

private:
    static DoubleDouble normalised(double large, double small) {
        const double sum = large + small;
        return {sum, small - (sum - large)};
    }
};

/// An integer with all its bits: float64 alone holds 53 of them.
inline DoubleDouble from_integer(std::int64_t i) {
    const auto high = static_cast<double>(i);
    return {high, static_cast<double>(i - static_cast<std::int64_t>(high))};
}

/// log2 of a positive integer; exact for powers of two.
DoubleDouble log2_of(std::int64_t i);

/// The harmonic number 1 + 1/2 + ... + 1/i.
DoubleDouble harmonic(std::int64_t i);

}  // namespace deadheat
