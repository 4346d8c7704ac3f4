// Loops over rows: hashes, equal rows, sums, common units, rows multiplied, products of single pairs, the places of few
// different numbers, and directions less the one that they share.
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

/// The terms of a sum over the numbers a and b of two rows: a·b, |a·b|, min(a, b) or −|a − b|.
enum class PairSum { products, sizes, overlaps, differences };

template <class T>
struct OneTypeLoops {
    void (*hash_rows)(Matrix<const T> raw, bool directions, Span<std::uint64_t> out);
    void (*row_sums)(Matrix<const T> raw, double scale, Matrix<double> out);
    void (*row_extremes)(Matrix<const T> raw, Matrix<T> out);
};

template <class A, class B>
struct TwoTypeLoops {
    void (*take_rows)(const ScaledRows<A> &rows, Int64s index, Matrix<B> out);
    void (*pair_sum)(PairSum kind, const ScaledRows<A> &left, Int64s rows, const ScaledRows<B> &right, Int64s columns,
                     Span<double> out);
};

using CompensatedDots = void (*)(Matrix<const double> left, Matrix<const double> right, Span<double> out);
using RowLoops =
    std::tuple<OneTypeLoops<float>, OneTypeLoops<double>, TwoTypeLoops<float, float>, TwoTypeLoops<float, double>,
               TwoTypeLoops<double, float>, TwoTypeLoops<double, double>, CompensatedDots>;

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

/// The least and the greatest number of each row, and the smallest size that is not 0, or infinity; (n, 3).
template <class T>
void row_extremes(Matrix<const T> raw, Matrix<T> out) {
    std::get<OneTypeLoops<T>>(row_loops()).row_extremes(raw, out);
}

/// out[i] = row index[i] times its factor, or divided by it, in float64, rounded to the type of `out`.
template <class A, class B>
void take_rows(const ScaledRows<A> &rows, Int64s index, Matrix<B> out) {
    std::get<TwoTypeLoops<A, B>>(row_loops()).take_rows(rows, index, out);
}

/// out[p] = the sum for row rows[p] on the left and row columns[p] on the right, as `take_rows` has them in float64.
template <class A, class B>
void pair_sum(PairSum kind, const ScaledRows<A> &left, Int64s rows, const ScaledRows<B> &right, Int64s columns,
              Span<double> out) {
    std::get<TwoTypeLoops<A, B>>(row_loops()).pair_sum(kind, left, rows, right, columns, out);
}

/// out[i] = the product of row i on the left with row i on the right, as if in double-double.
///
/// Dot2 of Ogita, Rump and Oishi (Accurate sum and dot product, 2005), as 32 sums side by side, where nothing overflows or
/// underflows: src/deadheat/engine/distances/bounds.py has its error (`of_compensated`).
inline void compensated_dots(Matrix<const double> left, Matrix<const double> right, Span<double> out) {
    std::get<CompensatedDots>(row_loops())(left, right, out);
}

/// Note whether row i of one equals row i of the other exactly, or with `directions` is a positive multiple of it.
template <class T>
void same_rows(Matrix<const T> raw, Matrix<const T> other, bool directions, Span<bool> out);

/// Find numbers of which every element is a small integer multiple: one for all (`units` has one entry) or one a row.
///
/// Fills `units` and returns the largest multiple, or infinity as soon as one exceeds `limit`.
template <class T>
double integer_units(Matrix<const T> raw, Span<double> units, double limit);

constexpr Index LEVELS = 3;  // different numbers, zero not among them, that a row may have

/// The numbers of each row that are not zero, ascending, and for each the bits of the places where it is.
///
/// values(i, l) is number l of row i, 0 beyond the last; words l·w to l·w + w − 1 of masks[i] are its places, in w words of
/// 64 bits. A row with more than LEVELS numbers has NaN in values(i, 0), and in the first mask all places that are not zero.
template <class T>
void level_masks(Matrix<const T> raw, Matrix<std::uint64_t> masks, Matrix<double> values);

/// out[i] = x/‖x‖ − c/‖c‖ for row x = raw[i] and the centre c, of which x − c is exact; spread[i] = s, about the length of
/// it.
///
/// With t, the part of x − c that is orthogonal to c, it is t/‖x‖ − c/‖c‖ · ‖t‖²/(‖x‖(‖x‖ + c·x/‖c‖)): nothing that is large
/// is subtracted. Its error and length are bounded, with the proof, in src/deadheat/engine/distances/bounds.py
/// (`of_tangent`).
template <class T>
void tangents(Matrix<const T> raw, Span<const double> centre, Matrix<double> out, Span<double> size);

}  // namespace deadheat
