// City block tiles, overlaps, and squares of cosines, at the speed of the vector units.
#include "distances/tiles.h"

#include <cmath>

#include "distances/strips.h"

namespace deadheat::DEADHEAT_TARGET {

void hamming(Matrix<const std::uint64_t> left, Matrix<const std::uint64_t> right, Matrix<float> out);  // hamming.vector.cpp

namespace {

/// The sums of four rows and a whole strip, to which `add` adds the terms one by one, k ascending.
template <class T, class Add>
void block(const T *const rows[ROWS], const T *strip, Index dim, T *const out[ROWS], Add add) {
    Vector<T> sums[ROWS][VECTORS] = {};
    for (Index k = 0; k < dim; ++k) {
        Vector<T> columns[VECTORS];
        for (int v = 0; v < VECTORS; ++v) columns[v] = load(strip + (k * VECTORS + v) * LANES<T>);
        for (int r = 0; r < ROWS; ++r) {
            const Vector<T> value = repeat(rows[r][k]);
            for (int v = 0; v < VECTORS; ++v) add(sums[r][v], value, columns[v]);
        }
    }
    for (int r = 0; r < ROWS; ++r)
        for (int v = 0; v < VECTORS; ++v) store(sums[r][v], out[r] + v * LANES<T>);
}

template <class T, class Add>
void sums(Matrix<const T> left, Matrix<const T> right, Matrix<T> out, Add add) {
    const auto in_order = [](Index c) { return c; };
    by_strips(left, right, out, in_order, [&](const T *const rows[ROWS], const T *strip, T *const scores[ROWS]) {
        block(rows, strip, left.columns, scores, add);
    });
}

template <class T>
void cityblock(Matrix<const T> left, Matrix<const T> right, Matrix<T> out) {
    sums(left, right, out, [](Vector<T> &sum, Vector<T> a, Vector<T> b) { sum -= absolute<T>(a - b); });
}

template <class T>
void overlaps(Matrix<const T> left, Matrix<const T> right, Matrix<T> out) {
    sums(left, right, out, [](Vector<T> &sum, Vector<T> a, Vector<T> b) { sum += a < b ? a : b; });
}

void signed_squares(Matrix<const double> products, Span<const double> squares, Matrix<double> out) {
    for (Index i = 0; i < products.rows; ++i)
        for (Index j = 0; j < products.columns; ++j) {
            const double a = products(i, j);
            out(i, j) = a * std::abs(a) / squares[j];
        }
}

}  // namespace

extern const TileLoops tile_loops = {cityblock<float>, cityblock<double>, overlaps<float>,
                                     overlaps<double>, hamming,           signed_squares};

}  // namespace deadheat::DEADHEAT_TARGET
