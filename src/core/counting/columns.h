// Columns and the items in them: which columns hold what is relevant, and what items sorted columns hold.
#pragma once

#include "ties/groups.h"

namespace deadheat {

/// The columns that hold items of each class: those of class c are in `keys`, as c · n_column + column, ascending, from
/// starts[c] to starts[c + 1], and the numbers of its items in each in `sizes`.
struct ClassColumns {
    Int64s starts, keys, sizes;

    /// Return how many columns hold items of a class; −1 is none.
    Index width(std::int64_t number) const { return number < 0 ? 0 : starts[at(number + 1)] - starts[at(number)]; }
};

/// Lists of items, as those in each column: list c is items[starts[c]:starts[c + 1]].
struct ItemLists {
    Int64s starts, items;

    Index size() const { return static_cast<Index>(starts.size()) - 1; }
    Int64s operator[](Index list) const {
        return items.subspan(at(starts[at(list)]), at(starts[at(list + 1)] - starts[at(list)]));
    }
};

/// List the columns of each query's class, with the relevant and the irrelevant items in each; 0 in padding.
void relevant_columns(Int64s classes, const ClassColumns &of_class, Span<const std::int32_t> weight, const Entries &out);

/// Take single items out of the counts of their columns; `unlisted` says which of them are in columns not listed.
void take_out(Int64s rows, Int64s taken, Span<const bool> same_class, const Entries &entries, Span<bool> unlisted);

/// Junk of single rows: row i stands for query queries[i], to which the items in its row of the mask are junk.
struct Junk {
    Int64s queries;
    Matrix<const bool> mask;
};

/// Take junk out of the counts of the listed columns, but for one item a row, `itself`, which has been taken out before.
void take_out_junk(Junk junk, Int64s itself, Int64s classes, Int64s class_of_item, ItemLists items_of_column,
                   const Entries &entries);

/// Mark the columns that hold junk: column c is bit c % 64 of word c / 64 of a row. The mask is by items, whose columns lie
/// all over a tile, so that each row of it is read once, and not a line of the cache for every few pairs.
void columns_of_junk(Junk junk, ItemLists items_of_column, Matrix<std::uint64_t> columns);

/// Set to −infinity the scores of marked columns in a tile, whose first column is this.
template <class T>
void leave_out(Matrix<const std::uint64_t> marked, Index column, Matrix<T> tile);

/// Write the items of each row nearest first, and their groups, leaving out those that do not count for the row.
///
/// `columns` is farthest first, with a `group` of −1 in padding; `excluded` lists the items that do not count for each row,
/// ascending. The items of one group are put into ascending order.
void expand(Matrix<const std::int64_t> columns, Matrix<const std::int64_t> group, ItemLists items_of_column,
            ItemLists excluded, Matrix<std::int64_t> items, Matrix<std::int64_t> numbers);

}  // namespace deadheat
