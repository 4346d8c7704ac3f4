// City block and Hamming tiles, overlaps, shares of bits, and squares of cosines, at the speed of the vector units.
#include "distances/tiles.h"

#include <cmath>

#include "distances/strips.h"
#include "support/ones.h"

namespace deadheat::DEADHEAT_TARGET {

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

static_assert(VECTORS == 2, "even and odd columns");

/// The Hamming scores of four rows and a whole strip of `width` words a code, which are counted in registers, code by code
/// in 64-bit lanes. Of a strip's columns, those of even number lie in the first vector and those of odd number in the
/// second, so that the counts of both, shifted into one another, are 32-bit integers in the order of the columns.
template <class Counts>
void differing(const std::uint64_t *const rows[ROWS], const std::uint64_t *strip, Index width, float *const out[ROWS]) {
    Words totals[ROWS][VECTORS] = {};
    for (Index begin = 0; begin < width; begin += Counts::MOST) {
        Words counts[ROWS][VECTORS] = {};
        for (Index k = begin; k < std::min(begin + Counts::MOST, width); ++k) {
            Words columns[VECTORS];
            for (int v = 0; v < VECTORS; ++v) columns[v] = load(strip + (k * VECTORS + v) * LANES<std::uint64_t>);
            for (int r = 0; r < ROWS; ++r)
                for (int v = 0; v < VECTORS; ++v) counts[r][v] += Counts::ones(columns[v] ^ rows[r][k]);
        }
        for (int r = 0; r < ROWS; ++r)
            for (int v = 0; v < VECTORS; ++v) totals[r][v] += Counts::total(counts[r][v]);
    }
    for (int r = 0; r < ROWS; ++r) {
        const Words both = totals[r][0] | (totals[r][1] << 32);
        store<float>(__builtin_convertvector(-(Vector<std::int32_t>)both, Vector<float>), out[r]);
    }
}

void hamming(Matrix<const std::uint64_t> left, Matrix<const std::uint64_t> right, Matrix<float> out) {
    const auto even_first = [](Index c) { return c / 2 + c % 2 * LANES<std::uint64_t>; };
    counting_ones([&]<class Counts>(Counts) {
        by_strips(left, right, out, even_first,
                  [&](const std::uint64_t *const rows[ROWS], const std::uint64_t *strip, float *const scores[ROWS]) {
                      differing<Counts>(rows, strip, left.columns, scores);
                  });
    });
}

void shares(Matrix<const float> differing, Span<const double> left, Span<const double> right, Matrix<double> out) {
    for (Index i = 0; i < out.rows; ++i) {
        const float *from = differing.row(i);
        double *to = out.row(i);
        for (Index j = 0; j < out.columns; ++j) to[j] = from[j] / std::max(left[at(i)] + right[at(j)], 1.0);
    }
}

void signed_squares(Matrix<const double> products, Span<const double> squares, Matrix<double> out) {
    for (Index i = 0; i < products.rows; ++i)
        for (Index j = 0; j < products.columns; ++j) {
            const double a = products(i, j);
            out(i, j) = a * std::abs(a) / squares[j];
        }
}

}  // namespace

extern const TileLoops tile_loops = {
    {{cityblock<float>, overlaps<float>}, {cityblock<double>, overlaps<double>}}, hamming, shares, signed_squares};

}  // namespace deadheat::DEADHEAT_TARGET
