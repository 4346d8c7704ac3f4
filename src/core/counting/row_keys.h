// Keys that sort a row of scores, one for each column, and say of most columns what they count.
//
//     63 ─────────────── 32 31 ───────── 2 ───────1─────── ──────0──────
//     place of the score   column          not one item   something relevant
#pragma once

#include <utility>

#include "support/targets.h"
#include "support/views.h"

namespace deadheat {

/// Ranked items, and the relevant ones among them.
struct ColumnCounts {
    std::int32_t ranked = 0, relevant = 0;

    void operator+=(ColumnCounts more) { ranked += more.ranked, relevant += more.relevant; }
};

constexpr double HIGHEST_PLACE = 0xFFFFFFFF;

/// A place never decreases as the score grows.
inline std::int64_t place_of(std::uint64_t key) { return static_cast<std::int64_t>(key >> 32); }
inline std::int32_t column_of(std::uint64_t key) { return static_cast<std::int32_t>(static_cast<std::uint32_t>(key) >> 2); }
inline bool is_one_item(std::uint64_t key) { return (key & 2) == 0; }
inline bool is_relevant(std::uint64_t key) { return key & 1; }

struct RowKeyLoops {
    /// The least and the greatest of some numbers.
    std::pair<double, double> (*ends)(Span<const double> numbers);
    /// Write the keys of the columns that hold something ranked, with places (score − low) · scale; return how many.
    Index (*make)(Span<const double> scores, double low, double scale, const ColumnCounts *counts, std::uint64_t *keys);
};

DEADHEAT_DECLARE_LOOPS(RowKeyLoops, row_key_loops)

}  // namespace deadheat
