// Rows of float64 or float32 numbers made ready for exact products and differences with many others.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "exact/slices.h"
#include "exact/wide.h"
#include "support/memory.h"
#include "support/views.h"

namespace deadheat {

/// Kinds of numbers for the closeness of two rows.
enum class KeyKind { product, distance, difference, cosine };

/// A natural number with a sign, its limbs in an arena.
struct Number {
    std::size_t begin = 0;
    std::int16_t length = 0;
    std::int16_t exponent = 0;
    std::int8_t sign = 0;
};

/// Numbers of any length, one after another.
class Numbers {
public:
    Index size() const { return static_cast<Index>(numbers_.size()); }
    int sign(Index i) const { return numbers_[i].sign; }
    Natural operator[](Index i) const {
        return {limbs_.data() + numbers_[i].begin, numbers_[i].length, numbers_[i].exponent};
    }

    void add(const Numbers &others);
    /// Make room for so many more, to be put there in any order; until then they are 0.
    void grow(Index count);
    void put(Index i, int sign, Natural number);

private:
    std::vector<Limb> limbs_;
    std::vector<Number> numbers_;
};

/// The exponents between which the bits of some numbers lie: each is below 2^high and a multiple of 2^low.
struct BitRange {
    int low = 1 << 20;
    int high = -(1 << 20);
};

BitRange bit_range(Span<const double> row);
BitRange bit_range(Matrix<const double> rows);
BitRange bit_range(Matrix<const float> rows);

/// Rows as integers in slices (slices.h), times a power of two for each, and as they came.
class ExactRows {
public:
    /// For products: every row in a unit of its own. With `squares`, the products of the rows with themselves too.
    template <class T>
    ExactRows(Matrix<const T> rows, bool squares);
    /// For differences: all rows in one unit, that of all bits of both sides.
    template <class T>
    ExactRows(Matrix<const T> rows, BitRange bits);

    Index size() const { return size_; }
    Index dim() const { return dim_; }
    /// The bits of the longest row, less the zeros that end all its numbers.
    int width() const { return width_; }

    /// The exact product of a row with a row of the other side, times 2^shift; returns its sign.
    int dot(Index row, const ExactRows &others, Index other, int shift, Wide &out) const;
    /// The exact Σ |row − other| of rows in the same unit; returns 1, or 0 if it is 0.
    int difference(Index row, const ExactRows &others, Index other, Wide &out) const;

    /// The exponent of the unit of a row.
    int exponent(Index row) const { return rows_[row].exponent; }
    /// All rows in their units, one after another; only where none has more than 63 bits.
    std::vector<std::int64_t> integers() const;
    /// Memory that the slices of a row take, on average.
    Index bytes() const { return size_ > 0 ? static_cast<Index>(total_ * sizeof(double)) / size_ : 0; }
    /// The products of rows with themselves, if they were asked for.
    const Numbers &squares() const { return *squares_; }
    std::shared_ptr<const Numbers> shared_squares() const { return squares_; }

private:
    struct Row {
        std::size_t begin;  // of its slices
        int count;          // of its slices; 0 for zeros, −1 where it has too many bits for slices
        int exponent;       // of the lowest slice
    };

    void square_all();
    template <class T>
    void cut(Matrix<const T> rows, std::vector<BitRange> bits);
    const double *raw(Index row) const { return raw_.data() + row * padded_; }

    Index size_, dim_, padded_;
    int bits_;  // from one slice to the next
    int width_ = 0;
    std::size_t total_ = 0;  // numbers in all slices
    std::vector<Row> rows_;
    Buffer<double> slices_, raw_;
    std::shared_ptr<Numbers> squares_ = std::make_shared<Numbers>();
};

}  // namespace deadheat
