// The tie groups of a profile, from counts between cuts, or from the scores of a small group of items.
#pragma once

#include <functional>

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

/// A small group of items: their scores for each other, (n, n), bounds on these, and their columns and classes.
struct SmallGroup {
    Matrix<const double> scores;
    Span<const double> most;                                          // more than any score of a row may be off
    const std::function<std::vector<double>(Index row)> &row_bounds;  // how far each of them may be, where that is asked for
    Int64s columns, classes;
};

/// Set the tie groups of the items, queries from `first` on; returns false if an item and a relevant one are undecided.
///
/// Two items tie if they share a column, or if both scores are exact and equal.
bool rank_group(const SmallGroup &group, std::int64_t first, const PackedGroups &into);

}  // namespace deadheat
