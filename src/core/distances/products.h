// Matrix products, left · rightᵀ, by one thread: of rows that are packed once into panels, and used in many products.
//
// Exactness. The products of `chunk` dimensions after one another are added up, from zero, in the order of the
// dimensions; that sum is then added to the sum of the chunks before it. A product of two numbers may be rounded, or be
// added unrounded (fused). So at most
//
//     product_roundings(dim, chunk) = min(dim, chunk) + ceil(dim / chunk) − 1
//
// roundings follow each other on the way from any q_k·x_k to the result: one for the product, chunk − 1 for additions in its
// chunk (the first, to zero, is exact), and one for each chunk but the first. Where nothing overflows, the result is within
// gamma(product_roundings) · Σ |q_k x_k| of the real number, and a few smallest normal numbers a dimension: where numbers
// are no larger than 1, up to one each for a number that counts as zero since it is subnormal, for a product and for a sum
// that does (see FlushingMode; data with many such numbers would take ten times as long without). Zero times a finite number
// adds nothing: rows without a common dimension that is not zero give zero.
#pragma once

#include <algorithm>

#include "support/memory.h"
#include "support/targets.h"
#include "support/views.h"

namespace deadheat {

/// Return the most successive roundings in a product of rows of `dim` dimensions.
constexpr Index product_roundings(Index dim, Index chunk) { return std::min(dim, chunk) + (dim + chunk - 1) / chunk - 1; }

/// Rows packed for products, on either side: panels of `width` rows, each dimension by dimension; the last is filled up
/// with zeros.
///
///     panel 0: row 0, row 1, ... of dimension 0 | the same of dimension 1 | ...
///     panel 1: row `width`, ...
template <class T>
class Panels {
public:
    Panels(Index rows, Index dim, Index width);

    Index rows() const { return rows_; }
    Index dim() const { return dim_; }
    /// The panel that begins with row `first`, a multiple of the width.
    T *from_row(Index first) { return numbers_.data() + first * dim_; }
    const T *from_row(Index first) const { return numbers_.data() + first * dim_; }

private:
    Index rows_, dim_;
    Buffer<T> numbers_;
};

template <class T>
struct ProductLoops {
    /// Rows in a panel.
    Index width;
    /// Fills the panels with as many rows as they are for.
    void (*pack)(Matrix<const T> rows, Panels<T> &panels);
    /// out[i, j] = left[row + i] · right[column + j]; `row` and `column` are multiples of the width.
    void (*multiply)(const Panels<T> &left, Index row, const Panels<T> &right, Index column, Index chunk, Matrix<T> out);
};

DEADHEAT_DECLARE_LOOPS(BothTypes<ProductLoops>, product_loops)

/// Run `multiply` of the loops with subnormal numbers counted as zero.
template <class T>
void multiply(const Panels<T> &left, Index row, const Panels<T> &right, Index column, Index chunk, Matrix<T> out);

/// The rows of a matrix, packed.
template <class T>
Panels<T> packed(Matrix<const T> rows);

/// out = left · rightᵀ
template <class T>
void product(const Panels<T> &left, const Panels<T> &right, Index chunk, Matrix<T> out);

}  // namespace deadheat
