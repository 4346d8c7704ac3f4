// City block and Hamming tiles at the speed of the vector units.
//
// A strip of the gallery is copied by columns, small enough for the cache, and all queries run along it:
//
//     left              strip                   out
//     ┌───────────┐     ┌──┐ k = 0              ┌──┬──┬──┐
//     │  4 rows   │     │▓▓│ k = 1              │  │▓▓│  │ 4 rows
//     │           │     │▓▓│ ...                │  │  │  │
//     └───────────┘     └──┘ k = dim − 1        └──┴──┴──┘
//
// The sums of a block of the tile stay in registers for all k; each difference and each addition is rounded once, k
// ascending.
#include "distances/tiles.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "support/lanes.h"

namespace deadheat::DEADHEAT_TARGET {

namespace {

constexpr Index ROWS = 4;     // queries in a block
constexpr int VECTORS = 2;    // vectors of columns in a block: 4 · 2 sums, and what they need, fit 16 registers
constexpr Index PACKED = 64;  // dimensions copied at once, so that what is written to the strip stays in the fastest cache
constexpr Index CODES = 512;  // codes in a strip

/// strip[k · width + c] = right[begin + c, k]
template <class T>
void pack(Matrix<const T> right, Index begin, Index end, Index width, T *strip) {
    for (Index from = 0; from < right.columns; from += PACKED) {
        const Index to = std::min(from + PACKED, right.columns);
        for (Index c = begin; c < end; ++c)
            for (Index k = from; k < to; ++k) strip[k * width + c - begin] = right(c, k);
    }
}

/// The sums of four rows and a whole strip.
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
    constexpr Index width = VECTORS * LANES<T>;
    std::vector<T> strip(static_cast<std::size_t>(left.columns * width)), spare(ROWS * width);
    for (Index start = 0; start < right.rows; start += width) {
        const Index end = std::min(start + width, right.rows);
        pack(right, start, end, width, strip.data());
        for (Index i = 0; i < left.rows; i += ROWS) {
            const T *rows[ROWS];
            T *sums[ROWS];
            for (Index r = 0; r < ROWS; ++r) {  // the last row fills up the last block
                rows[r] = left.row(std::min(i + r, left.rows - 1));
                sums[r] = end - start == width && i + r < left.rows ? out.row(i + r) + start : spare.data() + r * width;
            }
            block(rows, strip.data(), left.columns, sums);
            if (end - start < width)
                for (Index r = 0; r < std::min(ROWS, left.rows - i); ++r)
                    std::copy_n(spare.data() + r * width, end - start, out.row(i + r) + start);
        }
    }
}

void hamming(Matrix<const std::uint64_t> left, Matrix<const std::uint64_t> right, Matrix<float> out) {
    std::vector<std::uint64_t> strip(static_cast<std::size_t>(left.columns * CODES));
    std::vector<std::int64_t> differing(CODES);
    for (Index start = 0; start < right.rows; start += CODES) {
        const Index end = std::min(start + CODES, right.rows);
        pack(right, start, end, CODES, strip.data());
        for (Index i = 0; i < left.rows; ++i) {
            std::fill(differing.begin(), differing.end(), 0);
            for (Index k = 0; k < left.columns; ++k) {
                const std::uint64_t word = left(i, k), *words = strip.data() + k * CODES;
                for (Index j = 0; j < end - start; ++j) differing[j] += std::popcount(word ^ words[j]);
            }
            for (Index j = 0; j < end - start; ++j) out(i, start + j) = -static_cast<float>(differing[j]);
        }
    }
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
