// Matrix products at the speed of the vector units.
//
//                right panels, `width` columns each
//                ┌────┬────┬────┐
//     left       │    │▓▓▓▓│    │   a chunk of the panel stays in the fastest cache
//     ┌──────┐   ├────┼────┼────┤
//     │▒▒▒▒▒▒│   │    │▓▓▓▓│    │   for a strip of left rows, ROWS at a time: their sums with the
//     │      │   │    │    │    │   columns of the panel stay in registers for the whole chunk
//     └──────┘   └────┴────┴────┘
//       strip          out
//
// Left and right rows are packed in one way: a panel is a whole number of blocks of left rows, and of vectors of right ones.
#include "distances/products.h"

#include "distances/panel.h"
#include "support/transposing.h"

namespace deadheat::DEADHEAT_TARGET {

namespace {

constexpr Index STRIP = 96;  // left rows, at least, that run along a panel of right ones before the next
// Bytes of a strip that stay in cache along all panels: of long rows, some dimensions. 500 x 5,000 rows of 30,000 numbers
// take 1.6 times as long without.
constexpr Index STRIP_BYTES = 1 << 19;

/// The sums of ROWS left rows and some vectors of right ones over `count` dimensions, stored or added to what is there.
template <class T, int N>
void block(const T *left, const T *right, Index count, bool add, T *out, Index stride) {
    for (int r = 0; r < ROWS; ++r)
        for (int v = 0; v < N; ++v) __builtin_prefetch(out + r * stride + v * LANES<T>, 1);
    Vector<T> sums[ROWS][N] = {};
    for (Index k = 0; k < count; ++k) {
        Vector<T> columns[N];
#pragma GCC unroll 4
        for (int v = 0; v < N; ++v) columns[v] = load(right + v * LANES<T>);
#pragma GCC unroll 8
        for (int r = 0; r < ROWS; ++r) {
            const T value = left[r];
#pragma GCC unroll 4
            for (int v = 0; v < N; ++v) sums[r][v] += value * columns[v];
        }
        left += WIDTH<T>;
        right += WIDTH<T>;
    }
#pragma GCC unroll 8
    for (int r = 0; r < ROWS; ++r) {
        T *row = out + r * stride;
#pragma GCC unroll 4
        for (int v = 0; v < N; ++v) store(add ? load(row + v * LANES<T>) + sums[r][v] : sums[r][v], row + v * LANES<T>);
    }
}

/// The same by no more vectors than there are columns for; of a block that sticks out, what is there is stored.
template <int N, class T>
void block_of(const T *left, const T *right, Index count, bool add, Matrix<T> out) {
    constexpr Index width = N * LANES<T>;
    if constexpr (N > 1)
        if (out.columns <= width - LANES<T>) return block_of<N - 1>(left, right, count, add, out);
    if (out.rows >= ROWS && out.columns >= width) return block<T, N>(left, right, count, add, out.data, out.stride);
    T whole[ROWS * width];
    block<T, N>(left, right, count, false, whole, width);
    for (Index r = 0; r < std::min<Index>(out.rows, ROWS); ++r)
        for (Index c = 0; c < out.columns; ++c) out(r, c) = add ? out(r, c) + whole[r * width + c] : whole[r * width + c];
}

/// Dimensions, so many at a time.
struct Chunks {
    Index from, to, size;
};

/// A strip of left rows, from one on, and a panel of right ones.
template <class T>
void strip_times_panel(const Panels<T> &left, Index begin, const T *panel, Chunks chunks, Matrix<T> out) {
    for (Index from = chunks.from; from < chunks.to; from += chunks.size) {
        const Index count = std::min(chunks.size, chunks.to - from);
        const T *right = panel + from * WIDTH<T>;
        for (Index i = 0; i < out.rows; i += ROWS) {
            const Index within = (begin + i) % WIDTH<T>;
            const T *rows = left.from_row(begin + i - within) + from * WIDTH<T> + within;
            block_of<VECTORS>(rows, right, count, from > 0, {out.row(i), out.rows - i, out.columns, out.stride});
        }
    }
}

template <class T>
void multiply(const Panels<T> &left, Index row, const Panels<T> &right, Index column, Index chunk, Matrix<T> out) {
    constexpr Index step = (STRIP + WIDTH<T> - 1) / WIDTH<T> * WIDTH<T>;
    const Index deep = std::max<Index>(1, STRIP_BYTES / (step * static_cast<Index>(sizeof(T))) / chunk) * chunk;
    for (Index from = 0; from < left.dim(); from += deep) {
        const Chunks chunks{from, std::min(from + deep, left.dim()), chunk};
        for (Index begin = 0; begin < out.rows; begin += step) {
            const Index rows = std::min(step, out.rows - begin);
            for (Index j = 0; j < out.columns; j += WIDTH<T>)
                strip_times_panel(left, row + begin, right.from_row(column + j), chunks,
                                  {out.row(begin) + j, rows, std::min<Index>(WIDTH<T>, out.columns - j), out.stride});
        }
    }
}

/// Columns of a panel, as many as a vector holds: those of the rows, of which some may be missing.
template <class T>
void pack_vector(Matrix<const T> rows, Index first, T *to) {
    constexpr Index N = LANES<T>;
    const Index there = std::clamp<Index>(rows.rows - first, 0, N), whole = rows.columns - rows.columns % N;
    for (Index k = 0; k < whole; k += N) {
        Vector<T> square[N] = {};
        for (Index r = 0; r < there; ++r) square[r] = load(rows.row(first + r) + k);
        transpose_square(square);
        for (Index l = 0; l < N; ++l) store(square[l], to + (k + l) * WIDTH<T>);
    }
    for (Index k = whole; k < rows.columns; ++k)
        for (Index r = 0; r < N; ++r) to[k * WIDTH<T> + r] = r < there ? rows(first + r, k) : T(0);
}

template <class T>
void pack(Matrix<const T> rows, Panels<T> &panels) {
    for (Index first = 0; first < rows.rows; first += WIDTH<T>)
        for (Index v = 0; v < VECTORS; ++v) pack_vector(rows, first + v * LANES<T>, panels.from_row(first) + v * LANES<T>);
}

}  // namespace

extern const BothTypes<ProductLoops> product_loops = {{WIDTH<float>, pack<float>, multiply<float>},
                                                      {WIDTH<double>, pack<double>, multiply<double>}};

}  // namespace deadheat::DEADHEAT_TARGET
