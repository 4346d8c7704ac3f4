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
    int position;

    explicit Parts(double value) {
        const auto bits = std::bit_cast<std::uint64_t>(value);
        const int field = static_cast<int>(bits >> 52) & 0x7FF;
        const int normal = (field + 0x7FF) >> 11;  // 1 or 0, without branches, which would be unpredictable
        const auto size = static_cast<std::int64_t>((bits & 0xFFFFFFFFFFFFF) | static_cast<std::uint64_t>(normal) << 52);
        const auto negative = -static_cast<std::int64_t>(bits >> 63);
        whole = (size ^ negative) - negative;
        position = field - normal;
    }
};

/// A real number with a sign: Σ values[k]·2^(64·limbs[k] − 2148) with limbs that descend. The values are sums that were not
/// carried, |values[k]| < 2^124, and there are only those that are not 0: few, where the terms lie far apart.
struct SignedDigits {
    static constexpr int LOWEST = -2148;  // products of two float64 numbers are integers times 2^LOWEST

    const SignedTwoLimbs *values;
    const std::uint8_t *limbs;
    int n;
};

/// About a + sign·b, with its sign; 0 only where it is 0.
Estimate estimate_of_sum(SignedDigits a, int sign, SignedDigits b);
inline Estimate estimate(SignedDigits a) { return estimate_of_sum(a, 1, {nullptr, nullptr, 0}); }
/// −1, 0 or 1, as a is less than, equal to or greater than b.
inline int compare(SignedDigits a, SignedDigits b) {
    const double difference = estimate_of_sum(a, -1, b).value;
    return (difference > 0) - (difference < 0);
}
/// Write the size of a number, and return its sign.
int write(SignedDigits number, Wide &out);

/// A sum of signed integers times powers of two.
///
///     Σ parts[k]·2^(64k − 2148),   |parts[k]| < 2^124
class ExactSum {
public:
    /// Add value·2^(place − 2148), |value| < 2^108 and 0 ≤ position < 4096. What goes to a part is below 2^107 too, so that
    /// 2^14 of them fit, and some sums of as many.
    void add(SignedTwoLimbs value, int position) {
        const int limb = position >> 6;
        touched_ |= Limb{1} << limb;
        parts_[limb] += static_cast<Limb>(value) << (position & 63);
        parts_[limb + 1] += value >> 1 >> (~position & 63);
    }
    void subtract(SignedDigits number);
    /// Make the parts as small as when they were new, so that as many numbers again can be added.
    void carry();
    /// The sum, as long as no other is finished; then it is 0 again.
    SignedDigits finish();

private:
    static constexpr int PARTS = 72;  // the last ones take carries

    SignedTwoLimbs parts_[PARTS] = {}, values_[PARTS];
    std::uint8_t limbs_[PARTS];
    Limb touched_ = 0;     // a bit for each part that is not 0; the one above may not be 0 either
    bool beyond_ = false;  // any part may not be 0
};

/// Exact sums over one row and many others, each as long as nothing else is asked for.
class ExactSums {
public:
    void set_query(Span<const double> query);
    /// q·x
    SignedDigits product(Span<const double> item);
    /// −Σ(q − x)², given the products of either row with itself.
    SignedDigits distance(Span<const double> item, SignedDigits query_square, SignedDigits item_square);
    /// −Σ|q − x|
    SignedDigits difference(Span<const double> item);

private:
    void add_products(Span<const double> item, int times);

    struct Term {
        Parts parts;
        std::size_t position;  // in the row
    };

    std::vector<double> query_;
    std::vector<Term> terms_;  // the numbers of the query that are not 0
    ExactSum sum_;
};

}  // namespace deadheat
