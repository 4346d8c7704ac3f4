// The tie groups of a profile, from counts between cuts, or from the scores of a small group of items.
#pragma once

#include "counting/packed_groups.h"

namespace deadheat {

/// Counts of queries between their cuts, farthest first: group g's cut "tied or closer" is after slot step · g of `within`,
/// its cut "closer" after slot step · g + lead of `nearer`.
struct CutCounts {
    Matrix<const std::int32_t> within, nearer;
    Index step, lead;
};

/// From counts between cuts, and the relevant items of each group, to packed groups.
void collect_groups(Int64s queries, Int64s n_group, Matrix<const std::int32_t> relevant, const CutCounts &counts,
                    const PackedGroups &into);

/// Write the tie groups of each row, nearest first; returns how many, or −1 if an item and a relevant one are undecided.
///
/// `scores` and `bounds` are (n, n). Two items tie if they share a column, or if both scores are exact and equal.
/// `arrays` takes closer, closer_relevant, tied and tied_relevant.
Index rank_group(Matrix<const double> scores, Matrix<const double> bounds, Int64s columns, Int64s classes,
                 Span<std::int64_t> n_group, Matrix<std::int64_t> arrays);

}  // namespace deadheat
