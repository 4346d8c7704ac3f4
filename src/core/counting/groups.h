// The tie groups of a profile, from counts between cuts, or from the scores of a small group of items.
#pragma once

#include <array>
#include <vector>

#include "support/views.h"

namespace deadheat {

/// A compact group that is not one relevant item alone.
struct OtherGroup {
    std::int64_t place, tied, tied_relevant;
};

/// From counts between cuts, farthest first, to compact groups, nearest first, where the query's begin: see
/// profiles/profile.py.
///
/// Group g's cut "tied or closer" is after slot step · g of `within`, its cut "closer" after slot step · g + lead of
/// `nearer`. Returns those that are not one relevant item alone.
std::vector<OtherGroup> collect_groups(Span<const std::int64_t> queries, Span<const std::int64_t> n_group,
                                       Matrix<const std::int32_t> relevant, Matrix<const std::int32_t> within,
                                       Matrix<const std::int32_t> nearer, Index step, Index lead,
                                       Span<const std::int64_t> starts, Span<std::int32_t> closer);

/// Closer, closer_relevant, tied and tied_relevant of groups.
using ProfileArrays = std::array<Span<std::int64_t>, 4>;

/// Write the arrays of some compact groups, one query's after another's; `others` ascend by their places.
void expand_groups(Span<const std::int64_t> starts, Span<const std::int64_t> lengths, Span<const std::int32_t> closer,
                   Matrix<const std::int64_t> others, const ProfileArrays &out);

/// Write the tie groups of each row, nearest first; returns how many, or −1 if two neighbours are undecided.
///
/// `scores` and `bounds` are (n, n). Two items tie if they share a column, or if both scores are exact and equal.
/// `arrays` takes closer, closer_relevant, tied and tied_relevant.
Index rank_group(Matrix<const double> scores, Matrix<const double> bounds, Span<const std::int64_t> columns,
                 Span<const std::int64_t> classes, Span<std::int64_t> n_group, Matrix<std::int64_t> arrays);

}  // namespace deadheat
