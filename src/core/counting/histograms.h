// Histograms of Hamming distances: of each query, how many items are at each distance, by how many labels they share with
// it.
//
// Distances of codes are small integers, so that no order is needed: a tie group is a bin, and its relevant items are those
// of its bins of shared labels.
#pragma once

#include "support/targets.h"
#include "support/views.h"

namespace deadheat {

/// Codes of queries and items, and their labels: bits, or the number of a class where `one` says so.
struct LabelledCodes {
    Matrix<const std::uint64_t> query, item, query_labels, item_labels;
    bool one;
};

struct HistogramLoops {
    /// out(q, d · n_level + s) += 1 for each item at distance d of query q that shares s labels with it, at most n_level
    /// − 1.
    void (*count)(const LabelledCodes &codes, Index n_level, Matrix<std::int32_t> out);
    /// The same for items that are sorted by class, and two levels: other classes and the query's own. Items are compared
    /// bit by bit, a vector of them at once, and their distances added up in binary: fast where classes are large.
    void (*count_sorted)(const LabelledCodes &codes, Matrix<std::int32_t> out);
};

DEADHEAT_DECLARE_LOOPS(HistogramLoops, histogram_loops)

}  // namespace deadheat
