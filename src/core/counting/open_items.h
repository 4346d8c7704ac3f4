// What a tile leaves open: a closer look at its rows, and the places of single items between cuts.
#pragma once

#include <limits>

#include "support/targets.h"
#include "support/views.h"

namespace deadheat {

/// The cuts of some rows, and the counts of items between them: see counting/counters.py.
struct Intervals {
    Matrix<const double> low, high;  // (n_row, n_interval), ascending, infinite in padding
    Matrix<std::int32_t> counts;     // (n_row, 2 · n_interval + 1)
};

/// What the tile was made from, and how far products in float64 of these rows may be off.
template <class T>
struct TileRows {
    Matrix<const T> left, right;
    Span<const double> offset;  // of each column, taken off its products; or none
    Span<const std::int32_t> weight;
    Span<const double> reach;  // of each row on the left
};

/// Single items: their rows, intervals near which they may be (−1 if none is known), scores, errors and weights.
struct Items {
    Span<const std::int64_t> rows;
    Span<const std::int64_t> guess;
    Span<const double> scores, errors;
    Span<const std::int64_t> weights;
};

struct OpenItemLoops {
    /// Count what can be told of open items by the product in float64 of their rows, minus the column's offset.
    ///
    /// `opened` has the row, the place in the tile and the slot of each, and becomes the list of what is still open;
    /// returns how many there are. `edges` are those of the tile.
    Index (*settle_single)(Matrix<std::int32_t> opened, TileRows<float> rows, Matrix<const float> edges,
                           Intervals intervals);
    Index (*settle_double)(Matrix<std::int32_t> opened, TileRows<double> rows, Matrix<const double> edges,
                           Intervals intervals);
    /// Count single items between the cuts of their rows, `each` cuts to an interval.
    ///
    /// Where an item may lie in an interval its pair is listed: cuts[0, p] becomes its number, and between cuts[1, p] and
    /// cuts[2, p] is the number of cuts that it is above. Returns how many there are.
    Index (*place_pairs)(Items items, Intervals intervals, Index each, Matrix<std::int64_t> cuts);
};

DEADHEAT_DECLARE_LOOPS(OpenItemLoops, open_item_loops)

/// The row and the place in the tile of each open item, and from which interval to which it may lie, by its slot and the
/// edges: intervals that overlap have an edge in common.
template <class T>
void intervals_of_open(Matrix<const std::int32_t> opened, Matrix<const T> edges, Matrix<const double> low,
                       Matrix<std::int64_t> found) {
    constexpr double PADDING = std::numeric_limits<double>::infinity();
    for (Index p = 0; p < opened.columns; ++p) {
        const Index i = opened(0, p), slot = opened(2, p);
        const T *row = edges.row(i);
        Index first = slot / 2, last = slot / 2 + 1;
        while (first > 0 && !(row[2 * first - 1] < row[2 * first])) --first;
        while (last < low.columns && low(i, last) != PADDING && !(row[2 * last - 1] < row[2 * last])) ++last;
        found(0, p) = i;
        found(1, p) = opened(1, p);
        found(2, p) = first;
        found(3, p) = last;
    }
}

}  // namespace deadheat
