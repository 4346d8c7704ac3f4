#include "exact/dot2.h"

#include <algorithm>
#include <cmath>

#include "bounds.h"
#include "support/error_free.h"
#include "support/float_mode.h"

namespace deadheat {

namespace {

constexpr std::size_t AT_ONCE = 64;  // pairs whose closeness is computed before any is compared
constexpr Index MANY = 48;           // thresholds up to which a look at each is faster than bisection

/// The sum of two parts as the nearest float and the rest.
Dot2Number of_parts(double value, double rest, double error) {
    const TwoParts sum = two_sum(value, rest);
    return {sum.value, sum.rest, error * bounds::OF_BOUND};
}

/// 1/√square, by a step of Newton's from float64; its error is a part of itself.
Dot2Number inverse_root(Dot2Number square) {
    if (!(square.value > 0)) return {0.0, 0.0, 0.0};
    const double first = 1 / std::sqrt(square.value);
    const TwoParts twice = two_product(first, first), whole = two_product(square.value, twice.value);
    const double left = (1 - whole.value) - (whole.rest + (square.value * twice.rest + square.rest * twice.value));
    return of_parts(first, 0.5 * first * left, square.error / square.value + bounds::OF_DOUBLE);
}

/// A number times another whose error is a part of itself.
Dot2Number times(Dot2Number a, Dot2Number b) {
    const TwoParts product = two_product(a.value, b.value);
    const double size = std::fabs(product.value);
    return of_parts(product.value, product.rest + (a.value * b.rest + a.rest * b.value),
                    (a.error * b.value + size * (b.error + bounds::OF_DOUBLE)) + bounds::LOST);
}

/// 2a − b
Dot2Number twice_less(Dot2Number a, Dot2Number b) {
    const TwoParts difference = two_sum(2 * a.value, -b.value);
    return of_parts(difference.value, difference.rest + (2 * a.rest - b.rest),
                    2 * a.error + b.error + bounds::OF_DOUBLE * (2 * std::fabs(a.value) + b.value));
}

/// −1 or 1 as a number is surely less or greater than another, else 0.
int compare(const Dot2Number &a, const Dot2Number &b) {
    const double apart = (a.value - b.value) + (a.rest - b.rest);
    const double slack =
        (a.error + b.error + bounds::OF_DOUBLE * (std::fabs(a.value) + std::fabs(b.value))) * bounds::OF_BOUND;
    return (apart > slack) - (apart < -slack);
}

}  // namespace

// Rows ---------------------------------------------------------------------------------------------------------------

template <class T>
Dot2Rows::Dot2Rows(KeyKind kind, Matrix<const T> left, Matrix<const T> right, int exponent)
    : kind_(kind), dim_(left.columns), padded_((dim_ + DOT2_PADDING - 1) / DOT2_PADDING * DOT2_PADDING) {
    part_ = bounds::of_dot2(dim_);
    tiny_ = static_cast<double>(dim_ + 1) * bounds::LOST;
    right_ = scaled(right, kind == KeyKind::cosine, exponent);
    const bool once = kind != KeyKind::product && same_memory(left, right);
    left_ = once ? right_ : scaled(left, kind != KeyKind::distance, exponent);
    if (kind == KeyKind::product) return;
    const FlushingMode mode;  // once subnormal numbers have been scaled
    for (Index i = 0; i < right.rows; ++i) {
        const double *row = right_->data() + i * padded_;
        const Dot2Number square = product(row, row);
        of_right_.push_back(kind == KeyKind::cosine ? inverse_root(square) : square);
    }
}

template Dot2Rows::Dot2Rows(KeyKind, Matrix<const double>, Matrix<const double>, int);
template Dot2Rows::Dot2Rows(KeyKind, Matrix<const float>, Matrix<const float>, int);

/// Rows over a power of two: of all of them, or `each` over one that makes its largest number one between 1/2 and 1.
template <class T>
Dot2Rows::Memory Dot2Rows::scaled(Matrix<const T> rows, bool each, int exponent) const {
    auto memory = std::make_shared<Buffer<double>>(at(rows.rows * padded_));
    for (Index i = 0; i < rows.rows; ++i) {
        const T *from = rows.row(i);
        double *to = memory->data() + i * padded_, largest = 0.0;
        for (Index k = 0; k < dim_; ++k) largest = std::max(largest, std::fabs(static_cast<double>(from[k])));
        int by = exponent;
        if (each) std::frexp(largest, &by);
        const double half = std::ldexp(1.0, -by / 2), other = std::ldexp(1.0, -by - (-by / 2));  // either is finite
        for (Index k = 0; k < dim_; ++k) to[k] = static_cast<double>(from[k]) * half * other;
        std::fill(to + dim_, to + padded_, 0.0);
    }
    return memory;
}

Dot2Number Dot2Rows::product(const double *left, const double *right) const {
    const Dot2Sum sum = dot2_loops().product(left, right, padded_);
    return {sum.value, sum.rest, part_ * sum.size + tiny_};
}

Dot2Number Dot2Rows::closeness(Index row, Index other) const {
    const Dot2Number dot = product(left_->data() + row * padded_, right_->data() + other * padded_);
    if (kind_ == KeyKind::product) return dot;
    const Dot2Number &of_other = of_right_[static_cast<std::size_t>(other)];
    return kind_ == KeyKind::cosine ? times(dot, of_other) : twice_less(dot, of_other);
}

// Thresholds ---------------------------------------------------------------------------------------------------------

void Dot2Thresholds::add(const Dot2Rows &pairs, Span<const std::int64_t> left, Span<const std::int64_t> right,
                         Span<const std::int64_t> rows, Span<const std::int64_t> groups) {
    const FlushingMode mode;
    places_.add(rows, groups, thresholds_.size());
    for (std::size_t p = 0; p < rows.size(); ++p) {
        thresholds_.push_back(pairs.closeness(left[p], right[p]));
        values_(rows[p], groups[p]) = thresholds_.back().value;
    }
}

/// Guess the place of a number among the thresholds from low to high of a row, by the floats without their errors.
Index Dot2Thresholds::guess(const Dot2Number &number, Index row, Index low, Index high) const {
    const double *values = values_.row(row);
    if (high - low <= MANY) {
        Index below = low;
        for (Index group = low; group < high; ++group) below += values[group] < number.value;  // no jump to be guessed
        low = below;
        if (low == high || values[low] != number.value) return low;
    }
    while (low < high) {
        const Index middle = (low + high) / 2;
        const double value = values[middle];
        if (value < number.value || (value == number.value && thresholds_[places_(row, middle)].rest < number.rest))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/// Bring the ends of where a number may be among the thresholds of a row as close as its error allows.
void Dot2Thresholds::narrow(const Dot2Number &number, Index row, std::int64_t &low, std::int64_t &high) const {
    const auto order = [&](Index group) { return compare(number, thresholds_[places_(row, group)]); };
    Index below = guess(number, row, low, high);
    while (below > low && order(below - 1) <= 0) --below;
    Index above = below;
    for (; above < high; ++above) {
        const int found = order(above);
        if (found < 0) break;
        if (found > 0) below = above + 1;
    }
    low = below, high = above;
}

void Dot2Thresholds::count(const Dot2Rows &pairs, Span<const std::int64_t> left, Span<const std::int64_t> right,
                           Span<const std::int64_t> rows, Span<std::int64_t> low, Span<std::int64_t> high,
                           Span<const std::int32_t> weights, Matrix<std::int32_t> counts, Span<bool> decided) const {
    const FlushingMode mode;
    Dot2Number numbers[AT_ONCE];  // one after another, as nothing about them depends on a comparison
    for (std::size_t begin = 0; begin < rows.size(); begin += AT_ONCE) {
        const std::size_t end = std::min(rows.size(), begin + AT_ONCE);
        for (std::size_t p = begin; p < end; ++p) numbers[p - begin] = pairs.closeness(left[p], right[p]);
        for (std::size_t p = begin; p < end; ++p) {
            narrow(numbers[p - begin], rows[p], low[p], high[p]);
            decided[p] = low[p] == high[p];
            if (decided[p]) counts(rows[p], 2 * low[p]) += weights[p];
        }
    }
}

}  // namespace deadheat
