// Exact closeness of many pairs of rows, as numbers that compare as the real numbers do.
//
//     linear: a          inner product, minus city block or Hamming distance
//     root:   ±√|a|      minus Euclidean distance
//     ratio:  a / √(q·x) cosine; q and x are the squares of the two rows, and a = 0 is 0
//
// with integers a, q and x times powers of two. Signs and estimates in float64 decide nearly all comparisons, integers the
// rest.
#pragma once

#include "exact/rows.h"

namespace deadheat {

enum class RootKind { linear, root, ratio };

class Roots {
public:
    explicit Roots(RootKind kind) : kind_(kind) {}

    Index size() const { return numbers_.size(); }
    RootKind kind() const { return kind_; }

    // More numbers ---------------------------------------------------------------------------------------------------

    /// ± Σ left·right of pairs of rows: the inner product, or the cosine, which needs the rows' squares.
    void add_products(const ExactRows &left, const ExactRows &right, Span<const std::int64_t> rows,
                      Span<const std::int64_t> others);
    /// −√Σ(left − right)²; needs the rows' squares.
    void add_minus_distances(const ExactRows &left, const ExactRows &right, Span<const std::int64_t> rows,
                             Span<const std::int64_t> others);
    /// −Σ|left − right|, for rows in the same unit.
    void add_minus_differences(const ExactRows &left, const ExactRows &right, Span<const std::int64_t> rows,
                               Span<const std::int64_t> others);
    /// Finite numbers as they are.
    void add_values(Span<const double> values);
    void add(const Roots &others);

    // Comparisons ----------------------------------------------------------------------------------------------------

    /// −1, 0 or 1, as number mine[p] is less than, equal to or greater than yours[p] of the others.
    void compare(Span<const std::int64_t> mine, const Roots &others, Span<const std::int64_t> yours,
                 Span<std::int8_t> out) const;
    /// The same with yours + shift.
    void compare_shifted(Span<const std::int64_t> mine, const Roots &others, Span<const std::int64_t> yours, double shift,
                         Span<std::int8_t> out) const;
    /// The same with the numbers sign·values[p] + shift; values may be infinite.
    void compare_values(Span<const std::int64_t> mine, Span<const double> values, double sign, double shift,
                        Span<std::int8_t> out) const;
    /// For runs of numbers, run r from begins[r] to ends[r]: the order of each run's numbers, ascending, and which of these
    /// are greater than the one before (not told of the first).
    void sort(Span<const std::int64_t> begins, Span<const std::int64_t> ends, Span<std::int64_t> order,
              Span<bool> greater) const;

    /// sign·numerator·2^place / denominator is number i with its sign, squared.
    int square(Index i, Wide &numerator, Wide &denominator) const;

private:
    struct Squares {  // of the rows of a pair, places in squares_
        Index of_query, of_item;
    };

    int compare_one(Index mine, const Roots &others, Index yours) const;
    int compare_one_shifted(Index mine, const Roots &others, Index yours, double shift) const;
    int compare_one_value(Index mine, double value, double shift) const;
    Estimate estimate_of(Index i) const;

    Natural query_square(Index i) const { return squares_[of_[i].of_query]; }
    Natural item_square(Index i) const { return squares_[of_[i].of_item]; }

    RootKind kind_;
    Numbers numbers_;
    Numbers squares_;
    std::vector<Squares> of_;
};

}  // namespace deadheat
