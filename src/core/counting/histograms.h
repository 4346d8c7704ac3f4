// Histograms of Hamming distances: of each query, how many items are at each distance, by how many labels they share with
// it.
//
// Distances of codes are small integers, so that no order is needed: a tie group is a bin, and its relevant items are those
// of its bins of shared labels.
#pragma once

#include <vector>

#include "support/targets.h"
#include "support/views.h"

namespace deadheat {

/// The bits of rows, transposed: a plane has one bit of 512 rows. Bits that are the same in all rows have none.
class BitPlanes {
public:
    static constexpr Index ROWS = 512;
    struct alignas(64) Plane {
        std::uint64_t words[ROWS / 64];
    };

    /// Planes of some rows in this order; `from_zero` makes planes also of bits that are 1 in all rows.
    BitPlanes(Matrix<const std::uint64_t> rows, Span<const Index> order, bool from_zero);

    /// For each plane, whether a row has its bit: all ones, or 0.
    void masks(Span<const std::uint64_t> row, std::vector<std::uint64_t> &out) const;
    /// In how many bits that have no plane a row differs from all of these.
    Index differing_elsewhere(Span<const std::uint64_t> row) const;

    const Plane *of_rows(Index part) const { return memory_.data() + part * stride_; }
    Index size() const { return size_; }
    Index stride() const { return stride_; }  // planes of 512 rows, filled up with zeros to a multiple of 16

private:
    std::vector<std::uint64_t> base_, with_plane_;
    std::vector<Plane> memory_;
    Index size_ = 0, stride_ = 0;
};

/// Items with codes and labels: bits, or the number of a class where `one` says so.
struct LabelledItems {
    LabelledItems(Matrix<const std::uint64_t> all_codes, Matrix<const std::uint64_t> all_labels, bool one_label);

    Index n;
    bool one;
    std::vector<Index> order;  // one class after the other
    BitPlanes codes, labels;
};

struct HistogramLoops {
    /// out(q, s · n_bin + d) += 1 for each item at distance d of query q that shares s labels with it, at most n_level − 1.
    void (*count)(const LabelledItems &items, Matrix<const std::uint64_t> codes, Matrix<const std::uint64_t> labels,
                  Index n_level, Matrix<std::int32_t> out);
};

DEADHEAT_DECLARE_LOOPS(HistogramLoops, histogram_loops)

}  // namespace deadheat
