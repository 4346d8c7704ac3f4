// City block tiles, and squares of cosines, at the speed of the vector units.
#include "distances/tiles.h"

#include <cmath>

#include "distances/strips.h"

namespace deadheat::DEADHEAT_TARGET {

void hamming(Matrix<const std::uint64_t> left, Matrix<const std::uint64_t> right, Matrix<float> out);  // hamming.vector.cpp

namespace {

/// The scores of four rows and a whole strip: each difference and each addition is rounded once, k ascending.
template <class T>
void block(const T *const rows[ROWS], const T *strip, Index dim, T *const out[ROWS]) {
    Vector<T> sums[ROWS][VECTORS] = {};
    for (Index k = 0; k < dim; ++k) {
        Vector<T> columns[VECTORS];
        for (int v = 0; v < VECTORS; ++v) columns[v] = load(strip + (k * VECTORS + v) * LANES<T>);
        for (int r = 0; r < ROWS; ++r) {
            const Vector<T> value = repeat(rows[r][k]);
            for (int v = 0; v < VECTORS; ++v) sums[r][v] -= absolute<T>(value - columns[v]);
        }
    }
    for (int r = 0; r < ROWS; ++r)
        for (int v = 0; v < VECTORS; ++v) store(sums[r][v], out[r] + v * LANES<T>);
}

template <class T>
void cityblock(Matrix<const T> left, Matrix<const T> right, Matrix<T> out) {
    const auto in_order = [](Index c) { return c; };
    by_strips(left, right, out, in_order, [&](const T *const rows[ROWS], const T *strip, T *const scores[ROWS]) {
        block(rows, strip, left.columns, scores);
    });
}

template <class T>
void signed_squares(Matrix<const T> products, Span<const double> squares, Matrix<double> out) {
    for (Index i = 0; i < products.rows; ++i)
        for (Index j = 0; j < products.columns; ++j) {
            const double a = products(i, j);
            out(i, j) = a * std::abs(a) / squares[j];
        }
}

}  // namespace

extern const TileLoops tile_loops = {cityblock<float>, cityblock<double>, hamming, signed_squares<float>,
                                     signed_squares<double>};

}  // namespace deadheat::DEADHEAT_TARGET
