// A strip of the gallery by columns, for files that are compiled once for each instruction set.
//
// It is small enough for the cache, and all queries run along it, a block of rows at a time, whose sums stay in registers
// for all k:
//
//     left              strip                   out
//     ┌───────────┐     ┌──┐ k = 0              ┌──┬──┬──┐
//     │  4 rows   │     │▓▓│ k = 1              │  │▓▓│  │ 4 rows
//     │           │     │▓▓│ ...                │  │  │  │
//     └───────────┘     └──┘ k = dim − 1        └──┴──┴──┘
#pragma once

#include <algorithm>
#include <vector>

#include "support/lanes.h"
#include "support/views.h"

namespace deadheat::DEADHEAT_TARGET {

constexpr Index ROWS = 4;         // queries in a block
constexpr int VECTORS = 2;        // vectors of columns in a block: 4 · 2 sums, and what they need, fit 16 registers
constexpr Index CACHE = 1 << 15;  // bytes of strips that are copied at once, unless one takes more
constexpr Index PACKED = 64;  // dimensions copied at once, so that what is written to the strip stays in the fastest cache

/// strip[k · width + position(c)] = right[begin + c, k]
template <class T, class Place>
void pack(Matrix<const T> right, Index begin, Index end, Index width, Place position, T *strip) {
    for (Index from = 0; from < right.columns; from += PACKED) {
        const Index to = std::min(from + PACKED, right.columns);
        for (Index c = begin; c < end; ++c)
            for (Index k = from; k < to; ++k) strip[k * width + position(c - begin)] = right(c, k);
    }
}

/// Fill a tile block by block: `block` fills, from four rows on the left and a strip, four rows of a strip's width.
///
/// As many strips as fit the cache are copied at once, so that scores are written side by side.
template <class T, class Score, class Place, class Block>
void by_strips(Matrix<const T> left, Matrix<const T> right, Matrix<Score> out, Place position, Block block) {
    constexpr Index width = VECTORS * LANES<T>;
    const Index size = left.columns * width;  // of a strip
    const Index strips = std::max(Index{1}, CACHE / static_cast<Index>(sizeof(T)) / std::max(size, width));
    std::vector<T> packed(static_cast<std::size_t>(strips * size));
    Score spare[ROWS * width];
    for (Index start = 0; start < right.rows; start += strips * width) {
        const Index end = std::min(start + strips * width, right.rows);
        for (Index at = start; at < end; at += width)
            pack(right, at, std::min(at + width, end), width, position, packed.data() + (at - start) * left.columns);
        for (Index i = 0; i < left.rows; i += ROWS)
            for (Index at = start; at < end; at += width) {
                const bool whole = at + width <= end;
                const T *rows[ROWS];
                Score *scores[ROWS];
                for (Index r = 0; r < ROWS; ++r) {  // the last row fills up the last block
                    rows[r] = left.row(std::min(i + r, left.rows - 1));
                    scores[r] = whole && i + r < left.rows ? out.row(i + r) + at : spare + r * width;
                }
                block(rows, packed.data() + (at - start) * left.columns, scores);
                if (!whole)
                    for (Index r = 0; r < std::min(ROWS, left.rows - i); ++r)
                        std::copy_n(spare + r * width, end - at, out.row(i + r) + at);
            }
    }
}

}  // namespace deadheat::DEADHEAT_TARGET
