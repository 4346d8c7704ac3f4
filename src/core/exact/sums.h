// Exact sums over pairs of rows, one number after another, whatever their exponents.
#pragma once

#include <vector>

#include "exact/wide.h"
#include "support/views.h"

namespace deadheat {

/// The kind of number that the closeness of two rows is.
enum class KeyKind { product, distance, difference, cosine };

/// A float64 number as an integer times a power of two: whole·2^(place − 1074).
struct Parts {
    std::int64_t whole;
    int place;

    explicit Parts(double value) {
        const auto bits = std::bit_cast<std::uint64_t>(value);
        const int field = static_cast<int>(bits >> 52) & 0x7FF;
        const auto size = static_cast<std::int64_t>((bits & 0xFFFFFFFFFFFFF) | static_cast<std::uint64_t>(field > 0) << 52);
        const auto negative = -static_cast<std::int64_t>(bits >> 63);
        whole = (size ^ negative) - negative;  // without branches, which would be unpredictable
        place = std::max(field, 1) - 1;
    }
};

/// A sum of signed integers times powers of two.
///
///     Σ parts[k]·2^(64k),   |parts[k]| < 2^127
class ExactSum {
public:
    /// Add value·2^place, |value| < 2^108 and 0 ≤ place < 4096. What goes to a part is below 2^108 too, so that 2^18 of them
    /// fit.
    void add(SignedTwoLimbs value, int place) {
        const int limb = place >> 6;
        touched_ |= Limb{1} << limb;
        parts_[limb] += static_cast<Limb>(value) << (place & 63);
        parts_[limb + 1] += value >> 1 >> (~place & 63);
    }
    /// The same for |value| < 2^53, all of which goes to one part: 2^10 of them fit.
    void add_number(std::int64_t value, int place) {
        touched_ |= Limb{1} << (place >> 6);
        parts_[place >> 6] += SignedTwoLimbs{value} << (place & 63);
    }
    /// Add or subtract a number that `finish` wrote with this exponent.
    void add_sum(bool negative, Natural number, int exponent) {
        const int first = (number.exponent - exponent) / 64;
        for (int k = 0; k < number.length; ++k) {
            touched_ |= Limb{1} << std::min(first + k, 63);
            if (negative)
                parts_[first + k] -= number.limbs[k];
            else
                parts_[first + k] += number.limbs[k];
        }
    }
    /// Make the parts as small as when they were new, so that as many numbers again can be added.
    void carry();
    /// Write the sum times 2^exponent as its size, and return its sign; the sum is 0 again.
    int finish(int exponent, Wide &out);

private:
    static constexpr int PARTS = 72;  // the last ones take carries

    SignedTwoLimbs parts_[PARTS] = {};
    Limb touched_ = 0;  // a bit for each part that is not 0; up to four after the last have carries
    bool carried_ = false;
};

/// Exact sums over one row and many others.
class ExactSums {
public:
    void set_query(Span<const double> query);
    /// Σ q·x as its size; returns its sign.
    int product(Span<const double> item, Wide &out);
    /// −Σ(q − x)² as its size, given the products of either row with itself; returns its sign.
    int distance(Span<const double> item, Natural query_square, Natural item_square, Wide &out);
    /// Σ|q − x|; returns 1, or 0 if it is 0.
    int difference(Span<const double> item, Wide &out);

private:
    void add_products(Span<const double> item, int times);

    struct Term {
        Parts parts;
        std::size_t place;  // in the row
    };

    std::vector<double> query_;
    std::vector<Term> terms_;  // what of the query is not 0
    ExactSum sum_;
};

}  // namespace deadheat
