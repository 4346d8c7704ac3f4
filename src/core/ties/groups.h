// Relevant items in groups, and the cuts that groups make: see ties/rule.py.
//
// A block of queries has a row each; the entries of a row are its relevant columns, padded with entries of count 0.
#pragma once

#include <cmath>
#include <limits>

#include "support/views.h"

namespace deadheat {

using Flags = Matrix<bool>;

/// The entries of a block, (n_row, width): of each its column, the relevant and the irrelevant items in it, its score, and
/// how far that may be off.
struct Entries {
    Matrix<std::int64_t> columns, count, irrelevant;
    Matrix<double> score, bound;
};

/// The next number of the same type; after 0 the smallest that no processor takes for 0. Exact scores skip none.
template <class T>
T next_number(T value, T after_zero) {
    return value == 0 ? after_zero : std::nextafter(value, std::numeric_limits<T>::infinity());
}
inline double next_number(double value) { return next_number(value, std::numeric_limits<double>::min()); }

/// Put some entries of a row into a new order: entry begin + k becomes what entry begin + order[k] was.
void reorder(const Entries &entries, Index i, Index begin, Int64s order);

/// Put the entries of each row in the given order, in place; `starts` says where a score is surely above all before it.
void sort_rows(Matrix<const std::int64_t> order, Entries entries, Flags starts);

/// List the runs of sorted entries whose bounds overlap, as row, begin and end; returns how many there are.
///
/// `runs` has three rows and room for half as many runs as there are entries.
Index unsure_runs(Matrix<const bool> starts, Matrix<const std::int64_t> count, Matrix<const double> bound,
                  Matrix<std::int64_t> runs);

/// Number the groups of each row, note the first entry of each, and add up its counts.
void number_groups(Matrix<const bool> starts, Matrix<const std::int64_t> count, Matrix<std::int64_t> group,
                   Matrix<std::int64_t> first, Matrix<std::int32_t> total);

/// Return whether no column has two relevant items or irrelevant ones with them; set, for each row, the number of columns
/// that have any, the largest bound, and whether a score is 0 exactly.
bool single_items(const Entries &entries, Span<std::int64_t> n_entry, Span<double> tolerance, Span<bool> has_zero);

/// Return whether ascending scores surely differ in every row, if each may be off by the row's reach.
bool all_distinct(Matrix<const double> score, Span<const double> tolerance, Int64s n_entry);

/// Bound the threshold of each group by `low` and `high`; infinite in padding.
///
/// An exact score is the threshold itself: `low`, and `high` is the next number. `bound` has a column for each of the
/// scores, or one for all of them.
void exact_cuts(Matrix<const double> score, Matrix<const double> bound, Int64s n_group, Matrix<double> low,
                Matrix<double> high);

/// Widen bounds on ascending numbers so that both bounds ascend, in place, row by row.
void make_ascending(Matrix<double> low, Matrix<double> high);

}  // namespace deadheat
