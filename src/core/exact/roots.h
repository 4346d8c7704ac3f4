// Exact closeness of many pairs of rows, as numbers that compare as the real numbers do.
//
//     product, difference: a          inner product, minus city block or Hamming distance
//     distance:            ±√|a|      minus Euclidean distance
//     cosine:              a / √(q·x) with the squares q and x of the two rows, and a = 0 is 0; a fraction has q = x
//
// with integers a, q and x times powers of two. Where a alone counts, the highest digits that differ decide. Cosines are
// compared by estimates in float64 of themselves, then of how they differ, and by long integers where these leave it open.
#pragma once

#include <memory>
#include <mutex>

#include "exact/order.h"
#include "exact/sums.h"

namespace deadheat {

/// Numbers one after another.
class Numbers {
public:
    Index size() const { return static_cast<Index>(ends_.size()); }
    SignedDigits operator[](Index i) const {
        const std::size_t begin = i == 0 ? 0 : ends_[at(i - 1)];
        return {values_.data() + begin, limbs_.data() + begin, static_cast<int>(ends_[at(i)] - begin)};
    }
    void add(SignedDigits number);
    void add(const Numbers &others);

private:
    std::vector<SignedTwoLimbs> values_;
    std::vector<std::uint8_t> limbs_;
    std::vector<std::size_t> ends_;
};

/// The squares of some rows, each made when it is asked for, by any thread.
class RowSquares {
public:
    explicit RowSquares(Index n) : squares_(at(n)) {}

    /// The square of a row; make() makes it.
    template <class Make>
    SignedDigits of(Index row, Make make) {
        Square &square = squares_[at(row)];
        std::call_once(square.made, [&] { square.number.add(make()); });
        return square.number[0];
    }

private:
    struct Square {
        std::once_flag made;
        Numbers number;
    };

    std::vector<Square> squares_;
};

class Roots {
public:
    explicit Roots(KeyKind kind) : kind_(kind) {}
    /// Finite floats as they are.
    explicit Roots(Span<const double> values);
    /// Fractions a / u of whole numbers, u > 0, as cosines a / √(u·u).
    Roots(Span<const double> numerators, Span<const double> denominators);

    Index size() const { return numbers_.size(); }

    // More numbers ---------------------------------------------------------------------------------------------------

    /// Add a number, and the squares of its query and its item, which cosines have.
    void add(SignedDigits number, SignedDigits query_square = {}, SignedDigits item_square = {}) {
        numbers_.add(number);
        if (kind_ == KeyKind::cosine) of_.push_back({query_square, item_square});
    }
    /// Keep squares as long as the numbers.
    void keep(std::shared_ptr<const RowSquares> squares) { kept_.push_back(std::move(squares)); }
    void add(const Roots &others);

    // Comparisons ----------------------------------------------------------------------------------------------------

    /// −1, 0 or 1, as a number is less than, equal to or greater than one of the others.
    int compare(Index mine, const Roots &others, Index yours) const;
    /// The same with yours + shift.
    int compare_shifted(Index mine, const Roots &others, Index yours, double shift) const;
    /// The same with value + shift; the value may be infinite.
    int compare_value(Index mine, double value, double shift) const;

    /// sign·numerator·2^place / denominator is number i with its sign, squared.
    int squared(Index i, Wide &numerator, Wide &denominator) const;

private:
    struct Squares {
        SignedDigits query, item;
    };

    int compare_cosines(Index mine, const Roots &others, Index yours) const;
    /// Return the sign of a number, with its size and the product of its squares, or the item's alone; a number that is 0
    /// does not need them.
    int write(Index i, Wide &size, Wide &squares, bool of_query = true) const;
    Estimate estimate_of(Index i) const;

    KeyKind kind_;
    Numbers numbers_;
    std::vector<Squares> of_;
    std::vector<std::shared_ptr<const RowSquares>> kept_;
};

}  // namespace deadheat
