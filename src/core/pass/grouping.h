// Relevant items sorted into tie groups by their exact closeness: by score, and exactly where bounds on scores leave it
// open.
#pragma once

#include <map>
#include <mutex>

#include "pass/problem.h"

namespace deadheat {

/// The groups of some queries; the entries are put into their order. Where groups are one item each and `briefly`, neither
/// are, nor are the columns and entries of groups listed.
void group_exactly(const Problem &problem, Int64s queries, const Entries &relevant, const StopFlag &stop, TieGroups &groups,
                   bool briefly = true);

/// The columns of members of the groups of some queries.
class Members {
public:
    Members(const Problem &problem, Int64s queries, const TieGroups &groups)
        : problem_(problem), queries_(queries), groups_(groups) {}

    Numbers64 columns(const Numbers64 &rows, const Numbers64 &groups) const;

private:
    const Problem &problem_;
    Int64s queries_;
    const TieGroups &groups_;
    mutable std::mutex lock_;
    mutable std::map<std::int64_t, Numbers64> ascending_;  // the relevant columns by score, of rows that somebody asked for
};

/// The two cuts of each group, in one interval.
CutBounds cuts_of(const TieGroups &groups);

}  // namespace deadheat
