#include "exact/sums.h"

#include <utility>

namespace deadheat {

namespace {

constexpr int LOWEST = -1074;                                // every finite float64 number is an integer times 2^-1074
constexpr std::size_t PRODUCTS = 1 << 18, NUMBERS = 1 << 9;  // between two carries: products, and pairs of numbers

}  // namespace

void ExactSum::carry() {
    SignedTwoLimbs carried = 0;
    for (int k = 0; k < PARTS - 1; ++k) {
        carried += parts_[k];
        parts_[k] = static_cast<Limb>(carried);
        carried >>= 64;
    }
    parts_[PARTS - 1] += carried;
    carried_ = true;
}

int ExactSum::finish(int exponent, Wide &out) {
    const int lowest = carried_ ? 0 : std::countr_zero(touched_);
    const int end = carried_ ? PARTS : touched_ == 0 ? lowest : static_cast<int>(std::bit_width(touched_)) + 4;
    SignedTwoLimbs carried = 0;
    out.length = 0;
    out.exponent = exponent + 64 * lowest;
    for (int k = lowest; k < end; ++k) {
        carried += std::exchange(parts_[k], 0);
        out.limbs[out.length++] = static_cast<Limb>(carried);
        carried >>= 64;
    }
    touched_ = 0, carried_ = false;
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
    terms_.clear();
    for (std::size_t k = 0; k < query.size(); ++k)
        if (query[k] != 0) terms_.push_back({Parts(query[k]), k});
}

void ExactSums::add_products(Span<const double> item, int times) {
    for (std::size_t begin = 0; begin < terms_.size(); begin += PRODUCTS) {
        if (begin > 0) sum_.carry();
        for (const auto &[q, place] : Span<const Term>(terms_).subspan(begin, std::min(PRODUCTS, terms_.size() - begin))) {
            const Parts x(item[place]);
            sum_.add(SignedTwoLimbs{q.whole} * (times * x.whole), q.place + x.place);
        }
    }
}

int ExactSums::product(Span<const double> item, Wide &out) {
    add_products(item, 1);
    return sum_.finish(2 * LOWEST, out);
}

int ExactSums::distance(Span<const double> item, Natural query_square, Natural item_square, Wide &out) {
    add_products(item, 2);
    sum_.add_sum(true, query_square, 2 * LOWEST), sum_.add_sum(true, item_square, 2 * LOWEST);
    return sum_.finish(2 * LOWEST, out);
}

int ExactSums::difference(Span<const double> item, Wide &out) {
    for (std::size_t k = 0; k < item.size(); ++k) {
        if (k % NUMBERS == NUMBERS - 1) sum_.carry();
        const Parts q(query_[k]), x(item[k]);
        const std::int64_t sign = 1 - 2 * (query_[k] < item[k]);
        sum_.add_number(sign * q.whole, q.place), sum_.add_number(-sign * x.whole, x.place);
    }
    return sum_.finish(LOWEST, out);
}

}  // namespace deadheat
