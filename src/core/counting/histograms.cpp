#include "counting/histograms.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace deadheat {

namespace {

constexpr Index WORD = 64, FILLED = 16;

/// Of 64 words, bit b of word i becomes bit i of word b: squares of J × J bits change places across the diagonal.
template <int J = 32>
void transpose(std::uint64_t (&words)[WORD]) {
    constexpr std::uint64_t LOW = ~std::uint64_t{0} / ((std::uint64_t{1} << J) + 1);
    for (int start = 0; start < WORD; start += 2 * J)
        for (int i = start; i < start + J; ++i) {
            const std::uint64_t swapped = ((words[i] >> J) ^ words[i + J]) & LOW;
            words[i] ^= swapped << J, words[i + J] ^= swapped;
        }
    if constexpr (J > 1) transpose<J / 2>(words);
}

/// All rows, those of one class after those of another if they have one each.
std::vector<Index> by_class(Matrix<const std::uint64_t> labels, bool one) {
    std::vector<Index> order(at(labels.rows));
    std::iota(order.begin(), order.end(), 0);
    if (!one) return order;
    std::vector<Index> next(order.size() + 1);
    for (Index i = 0; i < labels.rows; ++i) ++next[std::min(labels(i, 0), at(labels.rows) - 1) + 1];
    std::partial_sum(next.begin(), next.end(), next.begin());
    for (Index i = 0; i < labels.rows; ++i) order[at(next[std::min(labels(i, 0), at(labels.rows) - 1)]++)] = i;
    return order;
}

}  // namespace

BitPlanes::BitPlanes(Matrix<const std::uint64_t> rows, Span<const Index> order, bool from_zero)
    : base_(at(rows.columns)), with_plane_(at(rows.columns)) {
    if (!from_zero && rows.rows > 0) base_.assign(rows[0].begin(), rows[0].end());
    for (Index i = 0; i < rows.rows; ++i)
        for (std::size_t w = 0; w < base_.size(); ++w) with_plane_[w] |= rows.row(i)[w] ^ base_[w];
    for (std::uint64_t word : with_plane_) size_ += std::popcount(word);
    stride_ = (size_ + FILLED - 1) / FILLED * FILLED;
    memory_.resize(at((rows.rows + ROWS - 1) / ROWS * stride_));
    for (Index start = 0; start < rows.rows; start += WORD) {
        Plane *plane = memory_.data() + start / ROWS * stride_;
        for (std::size_t w = 0; w < base_.size(); ++w) {
            if (with_plane_[w] == 0) continue;
            std::uint64_t words[WORD] = {};
            for (Index i = start; i < std::min(start + WORD, rows.rows); ++i) words[i - start] = rows.row(order[at(i)])[w];
            transpose(words);
            for (std::uint64_t left = with_plane_[w]; left != 0; left &= left - 1)
                (plane++)->words[start % ROWS / WORD] = words[std::countr_zero(left)];
        }
    }
}

void BitPlanes::masks(Span<const std::uint64_t> row, std::vector<std::uint64_t> &out) const {
    out.assign(at(stride_), 0);
    auto next = out.begin();
    for (std::size_t w = 0; w < row.size(); ++w)
        for (std::uint64_t left = with_plane_[w]; left != 0; left &= left - 1)
            *next++ = -(row[w] >> std::countr_zero(left) & 1);
}

Index BitPlanes::differing_elsewhere(Span<const std::uint64_t> row) const {
    Index n = 0;
    for (std::size_t w = 0; w < row.size(); ++w) n += std::popcount((row[w] ^ base_[w]) & ~with_plane_[w]);
    return n;
}

LabelledItems::LabelledItems(Matrix<const std::uint64_t> all_codes, Matrix<const std::uint64_t> all_labels, bool one_label)
    : n(all_codes.rows),
      one(one_label),
      order(by_class(all_labels, one_label)),
      codes(all_codes, order, false),
      labels(all_labels, order, !one_label) {}

}  // namespace deadheat
