#include "exact/dot2.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "bounds.h"
#include "support/error_free.h"

namespace deadheat {

namespace {

constexpr int HIGHEST = 1020;  // exponent of a number that is scaled to 1: the scale is no subnormal number
constexpr int LOWEST = -450;   // exponent of numbers whose products end above 2^-1022, as do sums of these

/// The sum of two parts as the nearest float and the rest.
inline Dot2Number of_parts(double value, double rest, double error) {
    const TwoParts sum = two_sum(value, rest);
    return {sum.value, sum.rest, error * bounds::OF_BOUND};
}

/// 1/√square, by a step of Newton's from float64; its error is a part of itself, and infinite where the square may be 0.
Dot2Number inverse_root(Dot2Number square) {
    if (!(square.error < bounds::MOST_OF_SQUARE * square.value)) return {0.0, 0.0, std::numeric_limits<double>::infinity()};
    const double first = 1 / std::sqrt(square.value);
    const TwoParts twice = two_product(first, first), whole = two_product(square.value, twice.value);
    const double left = (1 - whole.value) - (whole.rest + (square.value * twice.rest + square.rest * twice.value));
    return of_parts(first, 0.5 * first * left, square.error / square.value + bounds::OF_DOUBLE);
}

/// A number times another whose error is a part of itself.
inline Dot2Number times(Dot2Number a, Dot2Number b) {
    const TwoParts product = two_product(a.value, b.value);
    const double size = std::fabs(product.value);
    return of_parts(product.value, product.rest + (a.value * b.rest + a.rest * b.value),
                    (a.error * b.value + size * (b.error + bounds::OF_DOUBLE)) + bounds::LOST);
}

/// 2a − b
inline Dot2Number twice_less(Dot2Number a, Dot2Number b) {
    const TwoParts values = two_sum(2 * a.value, -b.value), rests = two_sum(2 * a.rest, -b.rest);
    const TwoParts rest = two_sum(values.rest, rests.value);
    return of_parts(values.value, rest.value, (2 * a.error + b.error) + (std::fabs(rests.rest) + std::fabs(rest.rest)));
}

}  // namespace

Dot2::Dot2(KeyKind kind, Index dim, int smallest, int largest) : kind_(kind) {
    const int down = std::clamp(largest, 0, HIGHEST);
    scale_ = std::ldexp(1.0, -down);
    tiny_ = smallest - down < LOWEST ? static_cast<double>(dim + 1) * bounds::LOST : 0;
}

template <class T>
Dot2Number Dot2::sum(const T *left, const T *right, Index dim, bool difference) const {
    const auto &loops = std::get<Dot2Loops<T>>(dot2_loops());
    const Dot2Sum sum = (difference ? loops.difference : loops.product)(left, right, dim, scale_);
    return {sum.value, sum.rest, bounds::OF_LOST * sum.lost + (sizeof(T) == 8 ? tiny_ : 0)};
}

template <class T>
Dot2Number Dot2::of_item(const T *item, Index dim) const {
    const Dot2Number square = sum(item, item, dim, false);
    return kind_ == KeyKind::cosine ? inverse_root(square) : square;
}

template <class T>
Dot2Number Dot2::closeness(const T *query, const T *item, Index dim, const Dot2Number &of_item) const {
    const Dot2Number result = sum(query, item, dim, kind_ == KeyKind::difference);
    if (kind_ == KeyKind::difference) return {-result.value, -result.rest, result.error};
    if (kind_ == KeyKind::product) return result;
    return kind_ == KeyKind::cosine ? times(result, of_item) : twice_less(result, of_item);
}

template Dot2Number Dot2::of_item(const float *, Index) const;
template Dot2Number Dot2::of_item(const double *, Index) const;
template Dot2Number Dot2::closeness(const float *, const float *, Index, const Dot2Number &) const;
template Dot2Number Dot2::closeness(const double *, const double *, Index, const Dot2Number &) const;

}  // namespace deadheat
