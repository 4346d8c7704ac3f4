// Tiles of scores that are no matrix products: negated city block and Hamming distances, shares of bits, and overlaps.
//
// In come queries `left`, (n, dim), and gallery items `right`, (m, dim); out goes `out`, (n, m).
#pragma once

#include "support/targets.h"
#include "support/views.h"

namespace deadheat {

template <class T>
struct SumLoops {
    /// out[i, j] = −Σ |left[i, k] − right[j, k]|, added up in the order of k: the same number however a tile is cut.
    void (*cityblock)(Matrix<const T> left, Matrix<const T> right, Matrix<T> out);
    /// out[i, j] = Σ min(left[i, k], right[j, k]), in the same way.
    void (*overlaps)(Matrix<const T> left, Matrix<const T> right, Matrix<T> out);
};

struct TileLoops {
    BothTypes<SumLoops> sums;
    /// out[i, j] = −(number of bits in which left[i] and right[j] differ).
    void (*hamming)(Matrix<const std::uint64_t> left, Matrix<const std::uint64_t> right, Matrix<float> out);
    /// out[i, j] = differing[i, j] / (left[i] + right[j]), a share of the ones of both rows; 0 of two empty rows.
    void (*shares)(Matrix<const float> differing, Span<const double> left, Span<const double> right, Matrix<double> out);
    /// out[i, j] = a·|a| / squares[j] for the product a = products[i, j]: cosine up to the query, sign kept.
    void (*signed_squares)(Matrix<const double> products, Span<const double> squares, Matrix<double> out);
};

DEADHEAT_DECLARE_LOOPS(TileLoops, tile_loops)

}  // namespace deadheat
