// Queries to which a large part of the gallery is relevant: each has its whole row sorted, as the cuts between its relevant
// items would be nearly as many as the items.
//
//     scores of the last level ──> sorted row ──neighbours within their bounds──> exact order ──> groups
#pragma once

#include "pass/pass.h"

namespace deadheat {

/// Write the compact groups of some queries, and return those that `collect_groups` does. The ranges are of all columns, and
/// `columns` are theirs, made ready for the last level; or none, where they take too much memory.
std::vector<OtherGroup> sorted_groups(const Problem &problem, Span<const std::int64_t> queries,
                                      const std::vector<Range> &ranges, const std::vector<Ready> &columns,
                                      CompactGroups groups, const std::atomic<bool> &stop);

}  // namespace deadheat
