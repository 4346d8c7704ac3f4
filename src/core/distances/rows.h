// Loops over rows: hashes, equal rows, sums, common units, rows multiplied, products of single pairs.
//
// Rows are float or double and finite; what is added up is added up in float64, in an order that is the same under each
// instruction set (row_products.h).
#pragma once

#include <tuple>

#include "support/targets.h"
#include "support/views.h"

namespace deadheat {

/// Rows, and what each of them is multiplied by before use, or divided by.
template <class T>
struct ScaledRows {
    Matrix<const T> raw;
    Span<const double> factor;
    bool divide;
};

/// What is added up over the numbers a and b of two rows: a·b, |a·b|, min(a, b) or −|a − b|.
enum class PairSum { products, sizes, overlaps, differences };

template <class T>
struct OneTypeLoops {
    void (*hash_rows)(Matrix<const T> raw, bool directions, Span<std::uint64_t> out);
    void (*row_sums)(Matrix<const T> raw, double scale, Matrix<double> out);
};

template <class A, class B>
struct TwoTypeLoops {
    void (*take_rows)(const ScaledRows<A> &rows, Span<const std::int64_t> index, Matrix<B> out);
    double (*product_of_rows)(const A *a, const B *b, Index dim);
    void (*pair_sum)(PairSum kind, const ScaledRows<A> &left, Span<const std::int64_t> rows, const ScaledRows<B> &right,
                     Span<const std::int64_t> columns, Span<double> out);
};

using RowLoops = std::tuple<OneTypeLoops<float>, OneTypeLoops<double>, TwoTypeLoops<float, float>,
                            TwoTypeLoops<float, double>, TwoTypeLoops<double, float>, TwoTypeLoops<double, double>>;

DEADHEAT_DECLARE_LOOPS(RowLoops, row_loops)

/// A 64-bit hash of every row; with `directions`, the same for rows that are positive multiples of each other.
template <class T>
void hash_rows(Matrix<const T> raw, bool directions, Span<std::uint64_t> out) {
    std::get<OneTypeLoops<T>>(row_loops()).hash_rows(raw, directions, out);
}

/// Sums of squares and of absolute values, (n, 2), of the rows divided by `scale`; each quotient is rounded up to twice.
template <class T>
void row_sums(Matrix<const T> raw, double scale, Matrix<double> out) {
    std::get<OneTypeLoops<T>>(row_loops()).row_sums(raw, scale, out);
}

/// out[i] = row index[i] times its factor, or divided by it, in float64, rounded to the type of `out`.
template <class A, class B>
void take_rows(const ScaledRows<A> &rows, Span<const std::int64_t> index, Matrix<B> out) {
    std::get<TwoTypeLoops<A, B>>(row_loops()).take_rows(rows, index, out);
}

/// The product of two rows of `dim` numbers; where a stage has many of them, row_products.h has it without the call.
template <class A, class B>
double product_of_rows(const A *a, const B *b, Index dim) {
    return std::get<TwoTypeLoops<A, B>>(row_loops()).product_of_rows(a, b, dim);
}

/// out[p] = the sum for row rows[p] on the left and row columns[p] on the right, as `take_rows` has them in float64.
template <class A, class B>
void pair_sum(PairSum kind, const ScaledRows<A> &left, Span<const std::int64_t> rows, const ScaledRows<B> &right,
              Span<const std::int64_t> columns, Span<double> out) {
    std::get<TwoTypeLoops<A, B>>(row_loops()).pair_sum(kind, left, rows, right, columns, out);
}

/// Whether row i of one equals row i of the other exactly, or with `directions` is a positive multiple of it.
template <class T>
void same_rows(Matrix<const T> raw, Matrix<const T> other, bool directions, Span<bool> out);

/// Find numbers of which every element is a small integer multiple: one for all (`units` has one entry) or one a row.
///
/// Fills `units` and returns the largest multiple, or infinity as soon as one exceeds `limit`.
template <class T>
double integer_units(Matrix<const T> raw, Span<double> units, double limit);

}  // namespace deadheat
