// Exact closeness of many pairs of rows, as numbers that compare as the real numbers do.
//
//     product, difference: a          inner product, minus city block or Hamming distance
//     distance:            ±√|a|      minus Euclidean distance
//     cosine:              a / √(q·x) with the squares q and x of the two rows, and a = 0 is 0
//
// with integers a, q and x times powers of two. Signs and estimates in float64 decide nearly all comparisons, integers the
// rest.
#pragma once

#include <memory>
#include <mutex>

#include "exact/order.h"
#include "exact/sums.h"

namespace deadheat {

/// Natural numbers of any length with signs, one after another.
class Numbers {
public:
    Index size() const { return static_cast<Index>(numbers_.size()); }
    int sign(Index i) const { return numbers_[at(i)].sign; }
    Natural operator[](Index i) const {
        const Number &number = numbers_[at(i)];
        return {limbs_.data() + number.begin, number.length, number.exponent};
    }
    void add(int sign, Natural number);
    void add(const Numbers &others);

private:
    struct Number {
        std::size_t begin;  // of its limbs
        std::int16_t length, exponent;
        std::int8_t sign;
    };

    std::vector<Limb> limbs_;
    std::vector<Number> numbers_;
};

/// The squares of some rows, each made when it is asked for, by any thread.
class RowSquares {
public:
    explicit RowSquares(Index n) : squares_(at(n)) {}

    /// The square of a row; make() makes it.
    template <class Make>
    const Natural *of(Index row, Make make) {
        Square &square = squares_[at(row)];
        std::call_once(square.made, [&] {
            const Natural found = make();
            square.limbs.assign(found.limbs, found.limbs + found.length);
            square.number = {square.limbs.data(), found.length, found.exponent};
        });
        return &square.number;
    }

private:
    struct Square {
        std::once_flag made;
        std::vector<Limb> limbs;
        Natural number;
    };

    std::vector<Square> squares_;
};

class Roots {
public:
    explicit Roots(KeyKind kind) : kind_(kind) {}
    /// Finite floats as they are.
    explicit Roots(Span<const double> values);

    Index size() const { return numbers_.size(); }

    // More numbers ---------------------------------------------------------------------------------------------------

    /// Add a number, and the squares of its query and its item, which cosines have.
    void add(int sign, Natural number, const Natural *query_square = nullptr, const Natural *item_square = nullptr) {
        numbers_.add(sign, number);
        of_.push_back({query_square, item_square});
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
        const Natural *query, *item;
    };

    Natural query_square(Index i) const { return *of_[at(i)].query; }
    Natural item_square(Index i) const { return *of_[at(i)].item; }
    Estimate estimate_of(Index i) const;

    KeyKind kind_;
    Numbers numbers_;
    std::vector<Squares> of_;
    std::vector<std::shared_ptr<const RowSquares>> kept_;
};

}  // namespace deadheat
