// Relevant items sorted into tie groups by their exact closeness: by score, and exactly where bounds on scores leave it
// open.
#pragma once

#include "pass/problem.h"

namespace deadheat {

/// The groups of some queries; the entries are put into their order. Where groups are one item each and `briefly`, neither
/// are, nor are the columns and entries of groups listed.
void group_exactly(const Problem &problem, Span<const std::int64_t> queries, Relevant &relevant,
                   const std::atomic<bool> &stop, TieGroups &groups, bool briefly = true);

/// The two cuts of each group, in one interval.
Cuts cuts_of(const TieGroups &groups);

}  // namespace deadheat
