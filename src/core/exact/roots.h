// Exact closeness of many pairs of rows, as numbers that compare as the real numbers do.
//
//     product, difference: a          inner product, minus city block or Hamming distance
//     distance:            ±√|a|      minus Euclidean distance
//     cosine:              a / √(q·x) with the squares q and x of the two rows, and a = 0 is 0
//
// with integers a, q and x times powers of two. Signs and estimates in float64 decide nearly all comparisons, integers the
// rest; what is sorted or counted in bulk goes by words (root_keys.h).
#pragma once

#include "exact/root_keys.h"
#include "exact/root_rows.h"

namespace deadheat {

class Roots {
public:
    /// Room for so many numbers, which are 0 until they are put.
    explicit Roots(KeyKind kind, Index n = 0) : kind_(kind), of_(at(n)) { numbers_.grow(n); }
    /// Finite floats as they are.
    explicit Roots(Span<const double> values);

    Index size() const { return numbers_.size(); }
    KeyKind kind() const { return kind_; }

    // More numbers ---------------------------------------------------------------------------------------------------

    /// Put the closeness of pairs of rows at some places.
    void put(const RootRows &pairs, Span<const std::int64_t> rows, Span<const std::int64_t> others,
             Span<const std::int64_t> places);
    /// Add room for so many more, and return the place of the first.
    Index grow(Index count);
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
    /// For runs of numbers of one query each, run r from begins[r] to ends[r]: the order of each run's numbers, ascending,
    /// what ties in the order in which it came, and which are greater than the one before (not set for the first).
    void sort(Span<const std::int64_t> begins, Span<const std::int64_t> ends, Span<std::int64_t> order,
              Span<bool> greater) const;

    /// sign·numerator·2^place / denominator is number i with its sign, squared.
    int square(Index i, Wide &numerator, Wide &denominator) const;

    // One number -----------------------------------------------------------------------------------------------------

    int sign(Index i) const { return numbers_.sign(i); }
    Natural size_of(Index i) const { return numbers_[i]; }
    Natural query_square(Index i) const { return (*divisors_[of_[i].divisors].left_squares)[of_[i].row]; }
    Natural item_square(Index i) const { return (*divisors_[of_[i].divisors].right_squares)[of_[i].other]; }
    Natural inverse(Index i) const { return (*divisors_[of_[i].divisors].inverses)[of_[i].other]; }
    int precision(Index i) const { return divisors_[of_[i].divisors].precision; }

private:
    struct Pair {
        std::int32_t divisors = 0, row = 0, other = 0;
    };

    int compare_one(Index mine, const Roots &others, Index yours) const;
    int compare_one_shifted(Index mine, const Roots &others, Index yours, double shift) const;
    int compare_one_value(Index mine, double value, double shift) const;
    Estimate estimate_of(Index i) const;

    KeyKind kind_;
    Numbers numbers_;
    std::vector<Divisors> divisors_;
    std::vector<Pair> of_;
};

}  // namespace deadheat
