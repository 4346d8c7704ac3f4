// Rows rounded to int8, whose products show which items may reach a limit.
//
// A row q is unit·n and a rest, with integers |n_k| ≤ 127. Then, by Cauchy and Schwarz,
//
//     |q·x − unit_q·unit_x·Σ n_k m_k|  ≤  ‖rest_q‖·‖x‖ + ‖unit_q·n‖·‖rest_x‖,
//
// where the sum of integers is exact. What float32 rounds in this is added to ‖rest_q‖: see `rounded_rows`.
#pragma once

#include <vector>

#include "distances/products.h"

namespace deadheat {

/// Rows of so many dimensions at most: a sum of products with bytes of 0 to 255 is below 2^31.
constexpr Index MOST_INT8_DIM = 1 << 16;

struct Int8Rows {
    Panels<float> panels;                  // the bits of four numbers in each, filled up with zeros
    std::vector<std::int32_t> sum;         // of a row's integers
    std::vector<float> unit;               // 0: all of the row is rest
    std::vector<float> size, whole, rest;  // ‖x‖, ‖unit·n‖ and ‖rest‖, or a little more
};

template <class T>
Int8Rows rounded_rows(Matrix<const T> rows);

/// For each row of one view: a score of less than `limit` cannot matter to it, and what is taken off its products where it
/// is the item.
struct Int8Limits {
    Span<const float> limit, offset;
};

/// A view of a tile: the rows from `first` on, a multiple of 48, one for each offset.
struct Int8View {
    const Int8Rows &rows;
    Index first;
    Int8Limits limits;
};

/// Places in a tile, row and column by turns: where a score may reach the limit of the row, and that of the column.
struct Reaching {
    std::size_t most;  // places, after which no more are looked for
    std::vector<std::int32_t> of_row{}, of_column{};
    bool all = true;  // whether that many were not reached
};

/// Write the integers of a row in steps of `unit`, their sum, and the sum of the squares of what they leave.
template <class T>
using RoundRow = void (*)(Span<const T> row, double unit, std::int8_t *out, std::int32_t &sum, double &rest);

struct Int8Loops {
    BothTypes<RoundRow> round_row;
    /// Append what reaches a limit in a tile; no limits of columns: of rows alone.
    void (*reaching)(const Int8View &left, const Int8View &right, Reaching &result);
    /// Return whether the processor multiplies bytes fast enough for this to pay.
    bool (*fast)();
};

DEADHEAT_DECLARE_LOOPS(Int8Loops, int8_loops)

}  // namespace deadheat
