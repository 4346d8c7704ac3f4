// What ties a profile has: see profiles/profile.py.
#pragma once

#include "support/views.h"

namespace deadheat {

struct MixedTies {
    std::int64_t groups, queries;  // that are mixed, and that have such a group
    std::int64_t largest;          // items in the largest of these groups
};

/// How many groups are not of one grade alone; `by_grade` has the relevant items of each group, (n_group, n_grade).
MixedTies count_mixed(Span<const std::int64_t> offsets, Span<const std::int64_t> tied, Matrix<const std::int64_t> by_grade);

}  // namespace deadheat
