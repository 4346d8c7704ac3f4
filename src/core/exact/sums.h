// Exact sums over pairs of rows, one number after another, whatever their exponents.
#pragma once

#include <vector>

#include "exact/wide.h"
#include "support/views.h"

namespace deadheat {

/// What the closeness of two rows is made of.
enum class KeyKind { product, distance, difference, cosine };

/// A sum of signed integers times powers of two.
///
///     Σ parts[k]·2^(64k),   |parts[k]| < 2^127
class ExactSum {
public:
    /// Add value·2^place, |value| < 2^108. What goes to a part is below 2^108 too, so that 2^18 of them fit.
    void add(SignedTwoLimbs value, int place) {
        const int limb = place >> 6, shift = place & 63;
        lowest_ = std::min(lowest_, limb), highest_ = std::max(highest_, limb + 1);
        parts_[limb] += static_cast<Limb>(value) << shift;
        parts_[limb + 1] += value >> (64 - shift);
    }
    /// Make the parts as small as when they were new, so that 2^18 more numbers can be added.
    void carry();
    /// Write the sum times 2^exponent as its size, and return its sign; the sum is 0 again.
    int finish(int exponent, Wide &out);

private:
    static constexpr int PARTS = 72;  // products span 2^-2148 to 2^2048; sums of them and carries are a few bits longer

    SignedTwoLimbs parts_[PARTS] = {};
    int lowest_ = PARTS, highest_ = -1;
};

/// A float64 number as an integer times a power of two: whole·2^(place − 1074).
struct Parts {
    std::int64_t whole;
    int place;

    explicit Parts(double value) {
        const auto bits = std::bit_cast<std::uint64_t>(value);
        const int field = static_cast<int>(bits >> 52) & 0x7FF;
        const auto size = static_cast<std::int64_t>((bits & 0xFFFFFFFFFFFFF) | (field > 0 ? std::uint64_t{1} << 52 : 0));
        whole = bits >> 63 != 0 ? -size : size;
        place = std::max(field, 1) - 1;
    }
};

/// Exact sums over one row and many others.
class ExactSums {
public:
    void set_query(Span<const double> query);
    /// Σ q·x as its size; returns its sign.
    int product(Span<const double> item, Wide &out);
    /// Σ|q − x|; returns 1, or 0 if it is 0.
    int difference(Span<const double> item, Wide &out);

private:
    std::vector<double> query_;
    std::vector<Parts> parts_;  // of the query
    ExactSum sum_;
};

}  // namespace deadheat
