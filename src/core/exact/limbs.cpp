#include "exact/wide.h"

namespace deadheat {

namespace {

constexpr int LOWEST = -1074;  // every finite float64 number is an integer times 2^-1074
constexpr int LIMBS = 70;      // products span 2^-2148 to 2^2048, and twice a sum of them has room for 2^31

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

/// A sum: what is added and what is subtracted are kept by themselves, so that carries seldom go far.
class Sum {
public:
    /// Add ±value·2^place, value below 2^106.
    void add(TwoLimbs value, int place, bool negative) {
        const int first = place >> 6, shift = place & 63;
        lowest_ = std::min(lowest_, first);
        highest_ = std::max(highest_, first + 2);
        Limb *to = (negative ? minus_ : plus_) + first;
        const TwoLimbs low = value << shift;
        const TwoLimbs one = TwoLimbs{to[0]} + static_cast<Limb>(low);
        const TwoLimbs two = TwoLimbs{to[1]} + static_cast<Limb>(low >> 64) + static_cast<Limb>(one >> 64);
        const Limb high = shift == 0 ? 0 : static_cast<Limb>(value >> (128 - shift));
        const TwoLimbs three = TwoLimbs{to[2]} + high + static_cast<Limb>(two >> 64);
        to[0] = static_cast<Limb>(one);
        to[1] = static_cast<Limb>(two);
        to[2] = static_cast<Limb>(three);
        int next = first + 3;
        for (Limb carry = static_cast<Limb>(three >> 64); carry != 0; ++next) {
            to = (negative ? minus_ : plus_) + next;
            carry = ++*to == 0;
            highest_ = std::max(highest_, next);
        }
    }

    int finish(int exponent, Wide &out) const {
        int top = highest_;
        while (top >= lowest_ && plus_[top] == minus_[top]) --top;
        if (top < lowest_) {
            out.length = 0;
            return 0;
        }
        const bool negative = plus_[top] < minus_[top];
        const Limb *larger = negative ? minus_ : plus_, *smaller = negative ? plus_ : minus_;
        Limb borrow = 0;
        out.length = 0;
        for (int k = lowest_; k <= top; ++k) {
            const TwoLimbs rest = TwoLimbs{larger[k]} - smaller[k] - borrow;
            out.limbs[out.length++] = static_cast<Limb>(rest);
            borrow = static_cast<Limb>(rest >> 64) & 1;
        }
        out.exponent = exponent + 64 * lowest_;
        out.trim();
        return negative ? -1 : 1;
    }

private:
    Limb plus_[LIMBS] = {}, minus_[LIMBS] = {};
    int lowest_ = LIMBS, highest_ = -1;
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

int dot_of_numbers(Span<const double> left, Span<const double> right, int shift, Wide &out) {
    Sum sum;
    for (std::size_t k = 0; k < left.size(); ++k) {
        const Parts a(left[k]), b(right[k]);
        if (a.whole != 0 && b.whole != 0)
            sum.add(TwoLimbs{a.whole} * b.whole, a.place + b.place + shift, a.negative != b.negative);
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
