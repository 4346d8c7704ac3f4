// Tiles whose scores are products of rows: made, turned and counted strip by strip, so that they never leave the cache.
//
//     left panels ─┬─product─> square ──less offsets──> counted for its rows
//     right panels ┘             └─turned──less offsets──> counted for its columns, where these are queries too
#pragma once

#include <vector>

#include "counting/tiles.h"
#include "distances/products.h"

namespace deadheat {

/// One sequence of cuts of some queries, and what the scores of a tile are counted and listed in: see CountTile.
template <class T>
struct TileCounter {
    RowTables<T, std::uint16_t> tables;
    Matrix<std::int32_t> counts;
    Matrix<std::int32_t> opened;
    Span<double> scores;  // of what is listed as open; empty where nobody asks for them
};

/// Queries that a tile is counted for: they are ranked against these columns.
template <class T>
struct TileSide {
    TileColumns columns;
    Span<const T> offset;  // of each column, taken off its products; or none
    std::vector<TileCounter<T>> counters;
};

/// Count left · rightᵀ for the left rows as queries; and its transpose for the right ones, if there is a second side.
///
/// Returns how many items each counter of each side has listed as open.
template <class T>
std::vector<std::vector<Index>> count_products(const Panels<T> &left, const Panels<T> &right, Index chunk,
                                               const std::vector<TileSide<T>> &sides);

}  // namespace deadheat
