#include "exact/limbs.h"

namespace deadheat {

namespace {

constexpr int LOWEST = -1074;  // every finite float64 number is an integer times 2^-1074
constexpr int WORDS = 144;     // 32 bits each: products span 2^-2148 to 2^2048, and a sum has room for 2^31 of them

/// A number as an integer with its sign and a place: ±whole·2^(place − 1074).
struct Parts {
    std::uint64_t whole;
    int place;
    bool negative;

    explicit Parts(double value) {
        const auto bits = std::bit_cast<std::uint64_t>(value);
        const int field = static_cast<int>(bits >> 52) & 0x7FF;
        whole = (bits & 0xFFFFFFFFFFFFF) | (field > 0 ? std::uint64_t{1} << 52 : 0);
        place = std::max(field, 1) - 1;
        negative = bits >> 63 != 0;
    }
};

/// A sum in words of 32 bits, whose carries are put off.
class Sum {
public:
    /// Add ±value·2^place, value below 2^106.
    void add(TwoLimbs value, int place, bool negative) {
        const int first = place >> 5, shift = place & 31;
        lowest_ = std::min(lowest_, first);
        highest_ = std::max(highest_, first + 5);
        const TwoLimbs low = (value & 0xFFFFFFFF) << shift;
        const TwoLimbs high = (value >> 32 << shift) + (low >> 32);  // below 2^105
        put(first, static_cast<std::int64_t>(low & 0xFFFFFFFF), negative);
        for (int k = 0; k < 4; ++k) put(first + 1 + k, static_cast<std::int64_t>(high >> (32 * k) & 0xFFFFFFFF), negative);
    }

    int finish(int exponent, Wide &out) {
        if (highest_ < 0) {
            out.length = 0;
            return 0;
        }
        const int begin = lowest_ & ~1;
        std::int64_t carry = 0;
        int length = 0;
        for (int k = begin; k < highest_ + 3; k += 2, ++length) {
            const Limb low = next(k, carry), high = next(k + 1, carry);
            out.limbs[length] = low | high << 32;
        }
        return finish_sum(carry < 0, length, exponent + 32 * begin, out);
    }

private:
    void put(int k, std::int64_t word, bool negative) { words_[k] += negative ? -word : word; }
    Limb next(int k, std::int64_t &carry) const {
        const std::int64_t total = words_[k] + carry;
        carry = total >> 32;
        return static_cast<Limb>(total & 0xFFFFFFFF);
    }

    std::int64_t words_[WORDS] = {};
    int lowest_ = WORDS, highest_ = -1;
};

}  // namespace

int finish_sum(bool negative, int length, int exponent, Wide &out) {
    if (negative) {
        Limb carry = 1;
        for (int k = 0; k < length; ++k) {
            out.limbs[k] = ~out.limbs[k] + carry;
            carry &= out.limbs[k] == 0;
        }
    }
    out.length = length;
    out.exponent = exponent;
    out.trim();
    return out.length == 0 ? 0 : negative ? -1 : 1;
}

int dot_of_numbers(Span<const double> left, Span<const double> right, Wide &out) {
    Sum sum;
    for (std::size_t k = 0; k < left.size(); ++k) {
        const Parts a(left[k]), b(right[k]);
        if (a.whole != 0 && b.whole != 0) sum.add(TwoLimbs{a.whole} * b.whole, a.place + b.place, a.negative != b.negative);
    }
    return sum.finish(2 * LOWEST, out);
}

int difference_of_numbers(Span<const double> left, Span<const double> right, Wide &out) {
    Sum sum;
    for (std::size_t k = 0; k < left.size(); ++k) {
        const Parts a(left[k]), b(right[k]);
        const bool below = left[k] < right[k];
        if (a.whole != 0) sum.add(a.whole, a.place, a.negative != below);
        if (b.whole != 0) sum.add(b.whole, b.place, b.negative == below);
    }
    return sum.finish(LOWEST, out);
}

}  // namespace deadheat
