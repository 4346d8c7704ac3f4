// Products of sparse rows, from their numbers that are not 0 alone.
//
// The rows on the right are put in order of their places once for a tile: then a query adds, for each of its numbers, what
// that makes with the numbers at the same place. No more roundings follow each other in a product than it has terms.
#pragma once

#include "pass/source.h"

namespace deadheat {

/// The numbers of some rows, as they are multiplied, by place: those at place k from start[k] to before start[k + 1], each
/// with the position of its row, ascending.
template <class T>
struct Postings {
    std::vector<std::int32_t> start, row;
    std::vector<T> number;
};

template <class T>
Postings<T> postings_of(const ScaledSource &source, Int64s rows);

/// Products of rows with those of postings from position `column` on. With `mark`, rows with disjoint support have minus
/// infinity in place of 0.
template <class T>
void sparse_products(const ScaledSource &left, Int64s rows, const Postings<T> &right, Index column, bool mark,
                     Matrix<T> out);

/// out[p] = the product of row rows[p] on the left and row columns[p] on the right in float64, or the sum of its terms'
/// sizes.
void sparse_pair_sums(const ScaledSource &left, Int64s rows, const ScaledSource &right, Int64s columns, bool sizes,
                      Span<double> out);

/// Return whether two rows have no number at one place.
bool disjoint_support(const Source &left, std::int64_t row, const Source &right, std::int64_t column);

/// Pairs of sparse rows, each by the places of either row alone, which come as rows of numbers of one type.
template <class T>
struct MergedPairs {
    static constexpr bool each_its_own = true;  // row, also where two pairs have one query
    std::vector<T> left_memory, right_memory;
    std::vector<Index> start;

    MergedPairs(const Source &left, Int64s rows, const Source &right, Int64s columns);
    std::size_t size() const { return start.size() - 1; }
    Index dim(std::size_t p) const { return start[p + 1] - start[p]; }
    const T *left(std::size_t p) const { return left_memory.data() + start[p]; }
    const T *right(std::size_t p) const { return right_memory.data() + start[p]; }
};

}  // namespace deadheat
