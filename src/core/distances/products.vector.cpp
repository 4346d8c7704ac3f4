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
// Left and right rows are packed alike: a panel is a whole number of blocks of left rows, and of vectors of right ones.
#include "distances/products.h"

#include "support/lanes.h"

namespace deadheat::DEADHEAT_TARGET {

namespace {

// ROWS · VECTORS sums, VECTORS of right numbers and one of left ones fit the registers: 32, or 16 on older processors.
#if defined(__AVX512F__)
constexpr int ROWS = 8, VECTORS = 3;
#elif defined(__AVX2__)
constexpr int ROWS = 4, VECTORS = 3;
#elif defined(__aarch64__)
constexpr int ROWS = 4, VECTORS = 4;
#else
constexpr int ROWS = 4, VECTORS = 2;
#endif
template <class T>
constexpr int WIDTH = VECTORS * LANES<T>;

constexpr Index STRIP = 96;  // left rows, at least, that run along a panel of right ones before the next

/// The sums of ROWS left rows and some vectors of right ones over `count` dimensions, stored or added to what is there.
template <class T, int N>
void block(const T *left, const T *right, Index count, bool add, T *out, Index stride) {
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
        for (int v = 0; v < N; ++v)
            store(add ? load(row + v * LANES<T>) + sums[r][v] : sums[r][v], row + v * LANES<T>);
    }
}

/// The same where it sticks out of the tile: only so many rows and columns of it are there.
template <class T>
void block_at_edge(const T *left, const T *right, Index count, bool add, T *out, Index stride, Index rows, Index columns) {
    T whole[ROWS * WIDTH<T>];
    block<T, VECTORS>(left, right, count, false, whole, WIDTH<T>);
    for (Index r = 0; r < rows; ++r)
        for (Index c = 0; c < columns; ++c) {
            const T sum = whole[r * WIDTH<T> + c];
            out[r * stride + c] = add ? out[r * stride + c] + sum : sum;
        }
}

/// A strip of left rows and a panel of right ones, `columns` of which are there.
template <class T>
void strip_times_panel(const Panels<T> &left, Index begin, Index end, const T *panel, Index columns, Index chunk, T *out,
                       Index stride) {
    for (Index from = 0; from < left.dim(); from += chunk) {
        const Index count = std::min(chunk, left.dim() - from);
        const T *right = panel + from * WIDTH<T>;
        for (Index i = begin; i < end; i += ROWS) {
            const Index within = i % WIDTH<T>;
            const T *rows = left.from_row(i - within) + from * WIDTH<T> + within;
            T *to = out + (i - begin) * stride;
            if (end - i < ROWS || columns % LANES<T> != 0)
                block_at_edge(rows, right, count, from > 0, to, stride, std::min<Index>(ROWS, end - i), columns);
            else if (columns == VECTORS * LANES<T>)
                block<T, VECTORS>(rows, right, count, from > 0, to, stride);
            else if (columns == LANES<T>)
                block<T, 1>(rows, right, count, from > 0, to, stride);
            else
                block_at_edge(rows, right, count, from > 0, to, stride, std::min<Index>(ROWS, end - i), columns);
        }
    }
}

template <class T>
void multiply(const Panels<T> &left, Index first, const Panels<T> &right, Index chunk, Matrix<T> out) {
    constexpr Index step = (STRIP + WIDTH<T> - 1) / WIDTH<T> * WIDTH<T>;
    for (Index begin = 0; begin < out.rows; begin += step) {
        const Index end = std::min(begin + step, out.rows);
        for (Index j = 0; j < out.columns; j += WIDTH<T>)
            strip_times_panel(left, first + begin, first + end, right.from_row(j), std::min<Index>(WIDTH<T>, out.columns - j),
                              chunk, out.row(begin) + j, out.stride);
    }
}

template <class T>
void pack(Matrix<const T> rows, Panels<T> &panels) {
    for (Index first = 0; first < rows.rows; first += WIDTH<T>) {
        const Index n = std::min<Index>(WIDTH<T>, rows.rows - first);
        T *to = panels.from_row(first);
        for (Index k = 0; k < rows.columns; ++k, to += WIDTH<T>) {
            for (Index r = 0; r < n; ++r) to[r] = rows(first + r, k);
            for (Index r = n; r < WIDTH<T>; ++r) to[r] = 0;
        }
    }
}

}  // namespace

extern const ProductLoops product_loops = {{WIDTH<float>, pack<float>, multiply<float>},
                                           {WIDTH<double>, pack<double>, multiply<double>}};

}  // namespace deadheat::DEADHEAT_TARGET
