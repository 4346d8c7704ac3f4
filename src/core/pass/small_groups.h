// Small groups of items, each ranked as a whole by its scores of the last level.
#pragma once

#include "counting/packed_groups.h"
#include "pass/scores.h"

namespace deadheat {

/// Set the tie groups of the items of some groups, from starts[g] to before starts[g + 1], as queries by place; returns
/// the groups that scores leave undecided: what is set for these means nothing.
Numbers64 rank_groups(const Scores &scores, Int64s items, Int64s columns, Int64s classes, Int64s starts,
                      const PackedGroups &into);

}  // namespace deadheat
