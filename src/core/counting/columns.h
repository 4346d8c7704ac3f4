// Columns and the items in them: which columns hold what is relevant, and what items sorted columns hold.
#pragma once

#include "support/views.h"

namespace deadheat {

using Int64s = Span<const std::int64_t>;

/// List the columns of each query's class, with the relevant and the irrelevant items in each; 0 in padding.
///
/// The classes' columns are given in CSR form: `keys` holds class · n_column + column, ascending, `sizes` the items.
void relevant_columns(Int64s classes, Int64s starts, Int64s keys, Int64s sizes, Span<const std::int32_t> weight,
                      Matrix<std::int64_t> columns, Matrix<std::int64_t> count, Matrix<std::int64_t> irrelevant);

/// Take single items out of the counts of their columns; `unlisted` says which of them are in columns not listed.
void take_out(Int64s rows, Int64s taken, Span<const bool> same_class, Matrix<const std::int64_t> columns,
              Matrix<std::int64_t> count, Matrix<std::int64_t> irrelevant, Span<bool> unlisted);

/// The items in each column: those of column c are items[starts[c]:starts[c + 1]].
struct ItemsOfColumns {
    Int64s items, starts;
};

/// Junk of single rows: row i stands for query queries[i], to which the items in its row of the mask are junk.
struct Junk {
    Int64s queries;
    Matrix<const bool> mask;
};

/// Take junk out of the counts of the listed columns, but for one item a row, `itself`, which has been taken out before.
void take_out_junk(Junk junk, Int64s itself, Int64s classes, Int64s class_of_item, ItemsOfColumns items,
                   Matrix<const std::int64_t> columns, Matrix<std::int64_t> count, Matrix<std::int64_t> irrelevant);

/// Mark the columns that hold junk: column c is bit c % 64 of word c / 64 of a row. The mask is by items, whose columns lie
/// all over a tile, so that each row of it is read once, and not a line of the cache for every few pairs.
void columns_of_junk(Junk junk, ItemsOfColumns items, Matrix<std::uint64_t> columns);

/// Set to −infinity the scores of marked columns in a tile, whose first column is this.
template <class T>
void leave_out(Matrix<const std::uint64_t> marked, Index column, Matrix<T> tile);

/// Write the items of each row nearest first, and their groups, leaving out those that do not count for the row.
///
/// `columns` is farthest first, with a `group` of −1 in padding; the items of column c are
/// by_column[starts[c]:starts[c + 1]], and those that do not count for row i, ascending,
/// excluded[first_excluded[i]:first_excluded[i + 1]]. The items of one group are put into ascending order.
void expand(Matrix<const std::int64_t> columns, Matrix<const std::int64_t> group, Int64s by_column, Int64s starts,
            Int64s first_excluded, Int64s excluded, Matrix<std::int64_t> items, Matrix<std::int64_t> numbers);

}  // namespace deadheat
