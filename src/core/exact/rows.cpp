#include "exact/rows.h"

#include "exact/slices.h"
#include "exact/wide.h"

namespace deadheat {

namespace {

/// Σ places[k]·2^(bits·k + exponent) as a sign and a natural number.
int combine(const std::int64_t *places, int n_place, int bits, int exponent, Wide &out) {
    if (bits * (n_place - 1) + 55 < 128) {  // places are below 2^53, and what is below one adds less than it
        TwoLimbs sum = 0;
        for (int k = n_place; k-- > 0;) sum = (sum << bits) + static_cast<TwoLimbs>(SignedTwoLimbs{places[k]});
        return finish_short(sum, exponent, out);
    }
    SignedTwoLimbs carry = 0;
    int limb = 0;
    for (int k = 0; k < n_place; ++k) {
        for (; limb < bits * k >> 6; ++limb) {
            out.limbs[limb] = static_cast<Limb>(carry);
            carry >>= 64;
        }
        carry += static_cast<SignedTwoLimbs>(places[k]) * (SignedTwoLimbs{1} << (bits * k & 63));
    }
    for (int rest = 0; rest < 2; ++rest, carry >>= 64) out.limbs[limb++] = static_cast<Limb>(carry);
    return finish_sum(carry < 0, limb, exponent, out);
}

/// A power of two as the product of two floats, so that numbers as small as can be reach any size they may have.
void scale_by(int exponent, double scale[2]) {
    scale[0] = std::ldexp(1.0, exponent / 2);
    scale[1] = std::ldexp(1.0, exponent - exponent / 2);
}

/// Bits of a slice such that sums of up to three products of two slices each, and `dim` numbers long, stay below 2^53.
int bits_for_products(Index dim) {
    const auto terms = static_cast<std::uint64_t>(3 * dim);
    return (53 - std::bit_width(terms)) / 2 + 1;
}

int bits_for_differences(Index dim) { return 52 - std::bit_width(static_cast<std::uint64_t>(dim)); }

}  // namespace

void Numbers::grow(Index count) {
    constexpr std::size_t USUAL = 3;  // limbs of a number
    numbers_.resize(numbers_.size() + static_cast<std::size_t>(count));
    limbs_.reserve(limbs_.size() + USUAL * static_cast<std::size_t>(count));
}

void Numbers::put(Index i, int sign, Natural number) {
    while (number.length > 0 && *number.limbs == 0) {  // a sum of numbers of very different sizes that cancel
        ++number.limbs;
        --number.length;
        number.exponent += 64;
    }
    if (number.length == 0) number.exponent = 0;
    numbers_[i] = {limbs_.size(), static_cast<std::int16_t>(number.length), static_cast<std::int16_t>(number.exponent),
                   static_cast<std::int8_t>(sign)};
    for (int k = 0; k < number.length; ++k) limbs_.push_back(number.limbs[k]);
}

void Numbers::add(const Numbers &others) {
    const std::size_t moved = limbs_.size();
    const auto first = static_cast<std::ptrdiff_t>(numbers_.size());
    limbs_.insert(limbs_.end(), others.limbs_.begin(), others.limbs_.end());
    numbers_.insert(numbers_.end(), others.numbers_.begin(), others.numbers_.end());
    for (auto number = numbers_.begin() + first; number != numbers_.end(); ++number) number->begin += moved;
}

BitRange bit_range(Span<const double> row) {
    BitRange range;
    for (double value : row) {
        const auto bits = std::bit_cast<std::uint64_t>(value) & ~(std::uint64_t{1} << 63);
        if (bits == 0) continue;
        const int field = static_cast<int>(bits >> 52);
        const std::uint64_t whole = (bits & 0xFFFFFFFFFFFFF) | (field > 0 ? std::uint64_t{1} << 52 : 0);
        const int unit = std::max(field, 1) - 1075;
        range.low = std::min(range.low, unit + std::countr_zero(whole));
        range.high = std::max(range.high, unit + static_cast<int>(std::bit_width(whole)));
    }
    return range;
}

namespace {

template <class T>
BitRange range_of(Matrix<const T> rows) {
    BitRange range;
    std::vector<double> row(static_cast<std::size_t>(rows.columns));
    for (Index i = 0; i < rows.rows; ++i) {
        std::copy_n(rows.row(i), rows.columns, row.data());
        const BitRange of_row = bit_range(Span<const double>(row));
        range = {std::min(range.low, of_row.low), std::max(range.high, of_row.high)};
    }
    return range;
}

}  // namespace

BitRange bit_range(Matrix<const double> rows) { return range_of(rows); }
BitRange bit_range(Matrix<const float> rows) { return range_of(rows); }

template <class T>
ExactRows::ExactRows(Matrix<const T> rows, bool squares)
    : size_(rows.rows),
      dim_(rows.columns),
      padded_((dim_ + SLICE_PADDING - 1) / SLICE_PADDING * SLICE_PADDING),
      bits_(bits_for_products(dim_)) {
    cut(rows, {});
    if (squares) square_all();
}

void ExactRows::square_all() {
    Wide square;
    squares_->grow(size_);
    for (Index i = 0; i < size_; ++i) {
        const int sign = dot(i, *this, i, 0, square);
        squares_->put(i, sign, square);
    }
}

template <class T>
ExactRows::ExactRows(Matrix<const T> rows, BitRange bits)
    : size_(rows.rows),
      dim_(rows.columns),
      padded_((dim_ + SLICE_PADDING - 1) / SLICE_PADDING * SLICE_PADDING),
      bits_(bits_for_differences(dim_)) {
    cut(rows, std::vector<BitRange>(static_cast<std::size_t>(size_), bits));
}

template <class T>
void ExactRows::cut(Matrix<const T> rows, std::vector<BitRange> bits) {
    raw_.resize(at(size_ * padded_));
    const bool each = bits.empty() && size_ > 0;
    for (Index i = 0; i < size_; ++i) {
        double *row = raw_.data() + i * padded_;
        std::copy_n(rows.row(i), dim_, row);
        std::fill(row + dim_, row + padded_, 0.0);
        if (each) bits.push_back(bit_range(Span<const double>(row, static_cast<std::size_t>(dim_))));
        const int width = bits[i].high - bits[i].low;
        width_ = std::max(width_, width);
        int count = width <= 0 ? 0 : (width + bits_) / bits_;  // one bit more than the width, for the sign
        if (count > MOST_SLICES) count = -1;
        rows_.push_back({total_, count, bits[i].low});
        total_ += static_cast<std::size_t>(std::max(count, 0) * padded_);
    }
    slices_.resize(total_);
    for (Index i = 0; i < size_; ++i) {
        if (rows_[i].count <= 0) continue;
        double scale[2];
        scale_by(-rows_[i].exponent, scale);
        slice_loops().cut(raw(i), dim_, scale, bits_, rows_[i].count, padded_, slices_.data() + rows_[i].begin);
    }
}

template ExactRows::ExactRows(Matrix<const double>, bool);
template ExactRows::ExactRows(Matrix<const float>, bool);
template ExactRows::ExactRows(Matrix<const double>, BitRange);
template ExactRows::ExactRows(Matrix<const float>, BitRange);

int ExactRows::dot(Index row, const ExactRows &others, Index other, int shift, Wide &out) const {
    const Row &left = rows_[row], &right = others.rows_[other];
    if (left.count == 0 || right.count == 0) {
        out.length = 0;
        return 0;
    }
    if (left.count < 0 || right.count < 0)
        return dot_of_numbers({raw(row), static_cast<std::size_t>(dim_)},
                              {others.raw(other), static_cast<std::size_t>(dim_)}, shift, out);
    std::int64_t places[MOST_PLACES] = {};
    slice_loops().dots(slices_.data() + left.begin, left.count, others.slices_.data() + right.begin, right.count, padded_,
                       places);
    return combine(places, left.count + right.count - 1, bits_, left.exponent + right.exponent + shift, out);
}

std::vector<std::int64_t> ExactRows::integers() const {
    std::vector<std::int64_t> out(static_cast<std::size_t>(size_ * dim_), 0);
    for (Index i = 0; i < size_; ++i)
        for (int slice = 0; slice < rows_[i].count; ++slice) {
            const double *part = slices_.data() + rows_[i].begin + slice * padded_;
            const auto unit = std::int64_t{1} << (bits_ * slice);
            std::int64_t *row = out.data() + i * dim_;
            for (Index k = 0; k < dim_; ++k) row[k] += static_cast<std::int64_t>(part[k]) * unit;
        }
    return out;
}

int ExactRows::difference(Index row, const ExactRows &others, Index other, Wide &out) const {
    const Row &left = rows_[row];
    if (left.count < 0)
        return difference_of_numbers({raw(row), static_cast<std::size_t>(dim_)},
                                     {others.raw(other), static_cast<std::size_t>(dim_)}, out);
    std::int64_t places[MOST_PLACES] = {};
    slice_loops().differences(raw(row), others.raw(other), slices_.data() + left.begin,
                              others.slices_.data() + others.rows_[other].begin, left.count, padded_, places);
    return combine(places, std::max(left.count, 1), bits_, left.exponent, out);
}

}  // namespace deadheat
