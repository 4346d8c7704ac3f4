// The loop for rankings that come with scores: sort what is relevant, count everything else.
//
// No row is ever sorted as a whole: for R relevant of G items it costs O(R log R), and then O(1) an item where the scores
// are spread evenly, O(log R) at worst.
#pragma once

#include "support/views.h"

namespace deadheat {

/// Count the tie groups of each row, nearest first, and return how many there are in all.
///
/// Of `keys`, larger is nearer and equal is tied; of `grades`, both (n_row, n_item), 0 is irrelevant and less is not
/// ranked; `grade_values` are the positive ones, ascending. Filled are `n_group` and `n_ranked` (n_row,), and, zeros
/// before and as long as there are relevant items, `groups` (·, 4), closer, closer_relevant, tied, tied_relevant, one
/// row of groups after the other, and `by_grade` (·, n_grade), their relevant items by grade.
Index count_groups(Matrix<const std::int64_t> keys, Matrix<const std::int64_t> grades, Span<const std::int64_t> grade_values,
                   Span<std::int64_t> n_group, Span<std::int64_t> n_ranked, Matrix<std::int64_t> groups,
                   Matrix<std::int64_t> by_grade);

}  // namespace deadheat
