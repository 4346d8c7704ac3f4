#include "exact/root_rows.h"

#include <numeric>

#include "exact/inverse_root.h"

namespace deadheat {

namespace {

template <class T>
BitRange of_both(Matrix<const T> left, Matrix<const T> right) {
    const BitRange a = bit_range(left), b = bit_range(right);
    return {std::min(a.low, b.low), std::max(a.high, b.high)};
}

template <class T>
std::shared_ptr<const ExactRows> ready(KeyKind kind, Matrix<const T> rows, const BitRange &bits) {
    if (kind == KeyKind::difference) return std::make_shared<const ExactRows>(rows, bits);
    return std::make_shared<const ExactRows>(rows, kind != KeyKind::product);
}

}  // namespace

template <class T>
RootRows::RootRows(KeyKind kind, Matrix<const T> left, Matrix<const T> right) : kind_(kind) {
    const BitRange bits = kind == KeyKind::difference ? of_both(left, right) : BitRange();
    right_ = ready(kind, right, bits);
    left_ = same_memory(left, right) ? right_ : ready(kind, left, bits);
    if (kind == KeyKind::cosine) invert();
}

template RootRows::RootRows(KeyKind, Matrix<const double>, Matrix<const double>);
template RootRows::RootRows(KeyKind, Matrix<const float>, Matrix<const float>);

/// Twice the limbs of a square and two more tell all but few cosines of short numbers apart.
void RootRows::invert() {
    const Numbers &squares = right_->squares();
    int longest = 0;
    for (Index i = 0; i < squares.size(); ++i) longest = std::max(longest, squares[i].length);
    precision_ = std::min(2 * longest + 2, MOST_INVERSE_LIMBS);
    auto inverses = std::make_shared<Numbers>();
    inverses->grow(squares.size());
    Wide inverse;
    for (Index i = 0; i < squares.size(); ++i) {
        if (squares.sign(i) == 0) continue;
        inverse_root(squares[i], precision_, inverse);
        inverses->put(i, 1, inverse);
    }
    inverses_ = inverses;
}

int RootRows::number(Index row, Index other, Wide &out) const {
    if (kind_ == KeyKind::difference) return -left_->difference(row, *right_, other, out);
    if (kind_ != KeyKind::distance) return left_->dot(row, *right_, other, out);
    Wide product, squares;
    const int sign = left_->dot(row, *right_, other, product);
    product.exponent += 1;
    add(left_square(row), right_square(other), squares);
    return -add_signed(squares.length > 0, squares, -sign, product, out);
}

std::vector<Index> RootRows::by_strips(Span<const std::int64_t> others) const {
    constexpr Index STRIP = 1 << 19;  // bytes
    const Index width = std::max<Index>(8, STRIP / std::max<Index>(1, right_->bytes()));
    std::vector<Index> order(others.size()), starts(static_cast<std::size_t>(right_->size() / width + 2));
    for (std::int64_t other : others) ++starts[other / width + 1];
    std::partial_sum(starts.begin(), starts.end(), starts.begin());
    for (std::size_t p = 0; p < others.size(); ++p) order[starts[others[p] / width]++] = static_cast<Index>(p);
    return order;
}

}  // namespace deadheat
