#include "exact/sums.h"

#include <utility>

namespace deadheat {

namespace {

constexpr std::size_t PRODUCTS = 1 << 14;  // between two carries
constexpr int OF_NUMBER = 1074;            // the place of 2^-1074, of which every float64 number is a multiple

/// A number of at least 1 in size, times 2^exponent.
Estimate scaled_to_one(double value, int exponent) {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    const int above = static_cast<int>(bits >> 52 & 0x7FF) - 1022;
    return {std::bit_cast<double>(bits - (static_cast<std::uint64_t>(above) << 52)), exponent + above};
}

}  // namespace

/// From the top down: `top` is all that lies above a limb. Once it is at least 2^62, the rest is less than 2^61 + 1.
Estimate estimate_of_sum(SignedDigits a, int sign, SignedDigits b) {
    constexpr SignedTwoLimbs ENOUGH = SignedTwoLimbs{1} << 62;
    SignedTwoLimbs top = 0;
    double rest = 0;
    int limb = 0;
    for (int i = 0, k = 0; i < a.n || k < b.n;) {
        const int of_a = i < a.n ? a.limbs[i] : -1, of_b = k < b.n ? b.limbs[k] : -1, next = std::max(of_a, of_b);
        SignedTwoLimbs part = of_a == next ? a.values[i++] : 0;
        if (of_b == next) part += sign * b.values[k++];
        if (top == 0) limb = next;
        for (; limb > next && -ENOUGH < top && top < ENOUGH; --limb) top *= SignedTwoLimbs{1} << 64;
        if (limb > next) {
            rest = limb == next + 1 ? static_cast<double>(part) / 0x1p64 : 0.0;
            break;
        }
        top += part;
    }
    if (top == 0) return {0.0, 0};
    return scaled_to_one(static_cast<double>(top) + rest, SignedDigits::LOWEST + 64 * limb);
}

int write(SignedDigits number, Wide &out) {
    out.set(0, 0);
    if (number.n == 0) return 0;
    const int lowest = number.limbs[number.n - 1], end = number.limbs[0] + 3;  // of 2^124 there are two more
    out.exponent = SignedDigits::LOWEST + 64 * lowest;
    SignedTwoLimbs carried = 0;
    for (int limb = lowest, k = number.n - 1; limb < end; ++limb) {
        if (k >= 0 && number.limbs[k] == limb) carried += number.values[k--];
        out.limbs[out.length++] = static_cast<Limb>(carried);
        carried >>= 64;
    }
    if (carried < 0) {  // two's complement
        Limb one = 1;
        for (int k = 0; k < out.length; ++k) {
            out.limbs[k] = ~out.limbs[k] + one;
            one &= out.limbs[k] == 0;
        }
    }
    out.trim();
    return out.length == 0 ? 0 : carried < 0 ? -1 : 1;
}

void ExactSum::subtract(SignedDigits number) {
    for (int k = 0; k < number.n; ++k) {
        const int limb = number.limbs[k];
        if (limb < 64)
            touched_ |= Limb{1} << limb;
        else
            beyond_ = true;
        parts_[limb] -= number.values[k];
    }
}

void ExactSum::carry() {
    SignedTwoLimbs carried = 0;
    for (SignedTwoLimbs &part : parts_) {
        carried += part;
        part = static_cast<std::int64_t>(carried);
        carried = (carried - part) >> 64;
    }
    beyond_ = true;
}

SignedDigits ExactSum::finish() {
    int n = 0;
    const auto take = [&](int limb) {
        const SignedTwoLimbs value = std::exchange(parts_[limb], 0);
        values_[n] = value, limbs_[n] = static_cast<std::uint8_t>(limb);
        n += value != 0;
    };
    if (beyond_) {
        for (int limb = PARTS - 1; limb >= 0; --limb) take(limb);
    } else {
        if (touched_ >> 63 != 0) take(64);
        for (Limb left = touched_ | touched_ << 1; left != 0; left &= ~(Limb{1} << (std::bit_width(left) - 1)))
            take(static_cast<int>(std::bit_width(left)) - 1);
    }
    touched_ = 0, beyond_ = false;
    return {values_, limbs_, n};
}

void ExactSums::set_query(Span<const double> query) {
    query_.assign(query.begin(), query.end());
    terms_.clear();
    for (std::size_t k = 0; k < query.size(); ++k)
        if (query[k] != 0) terms_.push_back({Parts(query[k]), k});
}

void ExactSums::add_products(Span<const double> item, int times) {
    for (std::size_t begin = 0; begin < terms_.size(); begin += PRODUCTS) {
        if (begin > 0) sum_.carry();
        for (const auto &[q, position] :
             Span<const Term>(terms_).subspan(begin, std::min(PRODUCTS, terms_.size() - begin))) {
            const Parts x(item[position]);
            sum_.add(SignedTwoLimbs{q.whole} * (times * x.whole), q.position + x.position);
        }
    }
}

SignedDigits ExactSums::product(Span<const double> item) {
    add_products(item, 1);
    return sum_.finish();
}

SignedDigits ExactSums::distance(Span<const double> item, SignedDigits query_square, SignedDigits item_square) {
    add_products(item, 2);
    sum_.subtract(query_square), sum_.subtract(item_square);
    return sum_.finish();
}

SignedDigits ExactSums::difference(Span<const double> item) {
    for (std::size_t k = 0; k < item.size(); ++k) {
        const Parts q(query_[k]), x(item[k]);
        const std::int64_t sign = 2 * (query_[k] < item[k]) - 1;
        sum_.add(sign * q.whole, q.position + OF_NUMBER), sum_.add(-sign * x.whole, x.position + OF_NUMBER);
    }
    return sum_.finish();
}

}  // namespace deadheat
