#include "exact/sums.h"

#include <utility>

namespace deadheat {

namespace {

constexpr int LOWEST = -1074;             // every finite float64 number is an integer times 2^-1074
constexpr std::size_t AT_ONCE = 1 << 16;  // numbers, with up to two terms each, between two carries

}  // namespace

void ExactSum::carry() {
    SignedTwoLimbs carried = 0;
    highest_ = PARTS - 1;
    for (int k = lowest_; k < highest_; ++k) {
        carried += parts_[k];
        parts_[k] = static_cast<Limb>(carried);
        carried >>= 64;
    }
    parts_[highest_] += carried;
}

int ExactSum::finish(int exponent, Wide &out) {
    SignedTwoLimbs carried = 0;
    out.length = 0;
    out.exponent = exponent + 64 * lowest_;
    for (int k = lowest_; k <= highest_ + 2; ++k) {
        if (k <= highest_) carried += std::exchange(parts_[k], 0);
        out.limbs[out.length++] = static_cast<Limb>(carried);
        carried >>= 64;
    }
    lowest_ = PARTS, highest_ = -1;
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

void ExactSums::set_query(Span<const double> query) {
    query_.assign(query.begin(), query.end());
    parts_.clear();
    for (double value : query) parts_.emplace_back(value);
}

int ExactSums::product(Span<const double> item, Wide &out) {
    for (std::size_t k = 0; k < item.size(); ++k) {
        if (k % AT_ONCE == AT_ONCE - 1) sum_.carry();
        const Parts q = parts_[k], x(item[k]);
        if (q.whole != 0) sum_.add(SignedTwoLimbs{q.whole} * x.whole, q.place + x.place);
    }
    return sum_.finish(2 * LOWEST, out);
}

int ExactSums::difference(Span<const double> item, Wide &out) {
    for (std::size_t k = 0; k < item.size(); ++k) {
        if (k % AT_ONCE == AT_ONCE - 1) sum_.carry();
        const Parts q = parts_[k], x(item[k]);
        const bool less = query_[k] < item[k];
        sum_.add(less ? -q.whole : q.whole, q.place), sum_.add(less ? x.whole : -x.whole, x.place);
    }
    return sum_.finish(LOWEST, out);
}

}  // namespace deadheat
