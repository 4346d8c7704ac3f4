// The counting of a tile: the slot of each score among its row's edges (edges.h), and the places of those that are open.
#pragma once

#include "support/targets.h"
#include "support/views.h"

namespace deadheat {

/// Up to so many edges a row, a score is compared with each of them, and rows need no bins.
constexpr Index FEW_EDGES = 32;

/// The greatest slot of a code, which needs a closer look as those above do. With codes of 32 bits, which hold all slots,
/// counting takes 0.8 to 0.9 of the time where a query has 18,000 relevant items and more (110,000 items, six classes).
constexpr Index MOST_SLOT = 0x7FFF;

/// Columns to count: from `start` on, the weight of each, and for each row the columns to leave out, ascending.
struct TileColumns {
    Index start;
    Span<const std::int32_t> weight;
    bool plain;  // whether all weights are 1
    Matrix<const std::int32_t> excluded;
};

/// Tables of each row for counting; bins only beyond FEW_EDGES.
template <class T>
struct RowTables {
    Matrix<const T> edges;
    Index n_edge;               // of the row with most
    bool closed;                // whether what is between the edges of one interval is tied, and not open
    Span<const T> base, scale;  // of the bins; a scale below 0 says that they are those of places (counting/edges.h)
    Matrix<const std::uint16_t> codes;
};

template <class T>
struct CountingLoops {
    /// Add the weight of every column that is not excluded to the slot of its score.
    ///
    /// Undecided items, those in odd slots unless these are closed, are not counted but listed in `opened`, three rows: the
    /// row and the place in the tile, and the slot. Returns how many there are. What is counted in slot 0 means nothing.
    /// Scores that are left out become −infinity.
    Index (*count)(Matrix<T> tile, TileColumns columns, RowTables<T> tables, Matrix<std::int32_t> counts,
                   Matrix<std::int32_t> opened);
    /// out = tileᵀ
    void (*transpose)(Matrix<const T> tile, Matrix<T> out);
};

DEADHEAT_DECLARE_LOOPS(BothTypes<CountingLoops>, counting_loops)

}  // namespace deadheat
