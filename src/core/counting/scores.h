// The loop for rankings that come with scores: sort what is relevant, count everything else.
//
// No row is ever sorted as a whole: for R relevant of G items it costs O(R log R), and then O(1) an item where the scores
// are spread evenly, O(log R) at worst.
#pragma once

#include "support/views.h"

namespace deadheat {

/// The tie groups of rows, those of one row after those of another: how many there are of each row, and how many items are
/// ranked; of each group closer, closer_relevant, tied and tied_relevant, and its relevant items by grade.
struct KeyedGroups {
    Span<std::int64_t> n_group, n_ranked;
    Matrix<std::int64_t> groups, by_grade;
};

/// Count the tie groups of each row, nearest first, and return how many there are in all.
///
/// Of `keys`, larger is nearer and equal is tied; of `grades`, both (n_row, n_item), 0 is irrelevant and less is not
/// ranked; `grade_values` are the positive ones, ascending. The matrices of `out` are zeros before, and have a row for each
/// relevant item.
Index count_groups(Matrix<const std::int64_t> keys, Matrix<const std::int64_t> grades, Int64s grade_values,
                   const KeyedGroups &out);

}  // namespace deadheat
