// Collisions rank by rank, from the groups of all ranked items and those of the relevant ones: see analyses/collisions.py.
#pragma once

#include "support/views.h"

namespace deadheat {

/// Groups of items of some rankings, in CSR form: how many items are in front of each group, and how many are in it.
struct RankedGroups {
    Int64s offsets, closer, size;
};

/// For each rank of each ranking, the kind of its collision, whether its item is relevant, and the size of its group.
struct CollisionMarks {
    Matrix<std::int8_t> kind;
    Matrix<bool> relevant;
    Matrix<std::int32_t> size;
};

/// Fill in the marks, and add to `counts` the groups that begin within the depth, their items within it, the rankings that
/// have one and the size of the largest: a row for each kind, and one for all. `relevant` has the relevant items of each
/// tie group, of which one or more make a group of `all`.
void mark_collisions(const RankedGroups &all, const RankedGroups &relevant, Int64s n_ranked, std::int64_t depth,
                     const CollisionMarks &marks, Matrix<std::int64_t> counts);

}  // namespace deadheat
