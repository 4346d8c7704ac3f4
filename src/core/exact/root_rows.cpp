#include "exact/root_rows.h"

#include <numeric>

#include "exact/root_keys.h"
#include "exact/wide.h"

namespace deadheat {

namespace {

constexpr int SPARSE = 4;  // rows with at most one number in so many are multiplied number by number

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

template <class T>
bool are_sparse(Matrix<const T> rows) {
    Index n = 0;
    for (Index i = 0; i < rows.rows; ++i)
        for (T value : rows[i]) n += value != 0;
    return SPARSE * n <= rows.rows * rows.columns;
}

/// Return whether numbers fit 64 bits, and sums of products 128, all with their signs.
bool are_short(const ExactRows &left, const ExactRows &right) {
    const int both = left.width() + right.width() + static_cast<int>(std::bit_width(static_cast<std::size_t>(left.dim())));
    return std::max(left.width(), right.width()) < 64 && both < 128;
}

}  // namespace

template <class T>
RootRows::RootRows(KeyKind kind, Matrix<const T> left, Matrix<const T> right) : kind_(kind) {
    const BitRange bits = kind == KeyKind::difference ? of_both(left, right) : BitRange();
    right_ = ready(kind, right, bits);
    left_ = same_memory(left, right) ? right_ : ready(kind, left, bits);
    if (kind == KeyKind::cosine) invert();
    if (kind == KeyKind::difference || !are_short(*left_, *right_) || !are_sparse(left) || !are_sparse(right)) return;
    right_few_ = std::make_shared<const SparseRows>(right, *right_);
    left_few_ = left_ == right_ ? right_few_ : std::make_shared<const SparseRows>(left, *left_);
}

template RootRows::RootRows(KeyKind, Matrix<const double>, Matrix<const double>);
template RootRows::RootRows(KeyKind, Matrix<const float>, Matrix<const float>);

/// Twice the limbs of a square and two more distinguish all but few cosines of short numbers.
void RootRows::invert() {
    const Numbers &squares = right_->squares();
    int longest = 0;
    for (Index i = 0; i < squares.size(); ++i) longest = std::max(longest, squares[i].length);
    const int precision = std::min(2 * longest + 2, MOST_INVERSE_LIMBS);
    auto inverses = std::make_shared<Numbers>();
    inverses->grow(squares.size());
    Wide inverse;
    for (Index i = 0; i < squares.size(); ++i) {
        if (squares.sign(i) == 0) continue;
        inverse_root(squares[i], precision, inverse);
        inverses->put(i, 1, inverse);
    }
    divisors_ = {left_->shared_squares(), right_->shared_squares(), inverses, precision};
}

template <class T>
RootRows::SparseRows::SparseRows(Matrix<const T> rows, const ExactRows &exact)
    : words((rows.columns + 63) / 64), masks(static_cast<std::size_t>(rows.rows * words), 0), integers(exact.integers()) {
    for (Index i = 0; i < rows.rows; ++i)
        for (Index k = 0; k < rows.columns; ++k)
            masks[static_cast<std::size_t>(i * words + (k >> 6))] |= static_cast<Limb>(rows(i, k) != 0) << (k & 63);
}

/// The sum of the products of integers where both rows have some.
TwoLimbs RootRows::sum_of_common(Index row, Index other) const {
    const Index words = left_few_->words, dim = left_->dim();
    const Limb *left = left_few_->masks.data() + row * words, *right = right_few_->masks.data() + other * words;
    const std::int64_t *a = left_few_->integers.data() + row * dim, *b = right_few_->integers.data() + other * dim;
    TwoLimbs sum = 0;
    for (Index word = 0; word < words; ++word, a += 64, b += 64)
        for (Limb common = left[word] & right[word]; common != 0; common &= common - 1) {
            const int k = std::countr_zero(common);
            sum += static_cast<TwoLimbs>(SignedTwoLimbs{a[k]} * b[k]);
        }
    return sum;
}

/// The exact product of two rows, times 2^shift; returns its sign.
int RootRows::product(Index row, Index other, int shift, Wide &out) const {
    if (!left_few_) return left_->dot(row, *right_, other, shift, out);
    return finish_short(sum_of_common(row, other), left_->exponent(row) + right_->exponent(other) + shift, out);
}

int RootRows::number(Index row, Index other, Wide &out) const {
    if (kind_ == KeyKind::difference) return -left_->difference(row, *right_, other, out);
    if (kind_ != KeyKind::distance) return product(row, other, 0, out);
    Wide twice, squares;
    const int sign = product(row, other, 1, twice);
    add(left_->squares()[row], right_->squares()[other], squares);
    return -add_signed(squares.length > 0, squares, -sign, twice, out);
}

Index RootRows::bytes() const {
    const Index squares = kind_ == KeyKind::cosine || kind_ == KeyKind::distance ? 16 * MOST_INVERSE_LIMBS : 0;
    return right_->bytes() + (right_few_ ? 2 : 1) * right_->dim() * static_cast<Index>(sizeof(double)) + squares;
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
