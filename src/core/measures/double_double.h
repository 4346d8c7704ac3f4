// Double-double arithmetic (Dekker 1971; Knuth, TAOCP 2, 4.2.2): numbers as pairs of floats, high + low, 32 digits.
//
// Every result has the same bits on every machine: only +, −, ·, / on float64, in a fixed order, nothing that is contracted
// to a fused multiply-add, and no call of libm, whose log2 differs between systems in the last bit. It is what keeps the
// closed forms accurate: tied − (closer + 1)·ΔH loses half of all digits when `tied` is small compared with `closer`, and
// there are enough to lose.
#pragma once

#include <cstdint>

#include "support/error_free.h"

namespace deadheat {

/// Of numbers, or of vectors of them: a lane has the bits that a number by itself would have.
template <class Number>
struct DoubleDoubleOf {
    Number high{};
    Number low{};

    /// The float nearest to it.
    Number value() const { return high + low; }

    DoubleDoubleOf operator-() const { return {-high, -low}; }

    DoubleDoubleOf operator+(DoubleDoubleOf other) const {
        const Number sum = high + other.high;
        return normalised(sum, rest_of_sum(high, other.high, sum) + (low + other.low));
    }

    DoubleDoubleOf operator-(DoubleDoubleOf other) const { return *this + -other; }

    DoubleDoubleOf operator*(DoubleDoubleOf other) const {
        const Number product = high * other.high, rest = rest_of_product(high, other.high, product);
        return normalised(product, rest + (high * other.low + low * other.high));
    }

    DoubleDoubleOf operator/(DoubleDoubleOf other) const {
        const Number quotient = high / other.high, product = quotient * other.high;
        const Number rest = rest_of_product(quotient, other.high, product);
        return normalised(quotient, (((high - product) - rest) + low - quotient * other.low) / other.high);
    }

    /// One more float in a sum of many, and one that is small compared with it. What rounding takes from `high` is added up
    /// in `low`, and stays there.
    void accumulate(Number more, Number small = {}) {
        const Number sum = high + more;
        low += rest_of_sum(high, more, sum) + small;
        high = sum;
    }

private:
    static DoubleDoubleOf normalised(Number large, Number small) {
        const Number sum = large + small;
        return {sum, small - (sum - large)};
    }
};

using DoubleDouble = DoubleDoubleOf<double>;

/// An integer with all its bits: float64 alone holds 53 of them.
inline DoubleDouble from_integer(std::int64_t i) {
    const auto high = static_cast<double>(i);
    return {high, static_cast<double>(i - static_cast<std::int64_t>(high))};
}

/// log2 of a positive integer; exact for powers of two.
DoubleDouble log2_of(std::int64_t i);

/// The harmonic number 1 + 1/2 + ... + 1/i.
DoubleDouble harmonic(std::int64_t i);

/// 1/(i + 1)² + 1/(i + 2)² + ..., to infinity.
DoubleDouble squares_beyond(std::int64_t i);

}  // namespace deadheat
