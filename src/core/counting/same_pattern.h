// Undecided items that are surely as far as a tie group, because their rows meet the query's in the same way.
//
// Two items whose rows hold the same numbers, each as often, are equally far from a query of few numbers if each number of
// the query meets each of theirs at as many places. Where only differences count and the query has the same numbers, it is
// enough that each two numbers meet as often, whichever of them is the query's. And two items whose rows have no place in
// common with the query's both have product 0.
#pragma once

#include <limits>

#include "distances/rows.h"
#include "support/targets.h"
#include "support/views.h"

namespace deadheat {

constexpr Index MATCH_COUNTS = LEVELS * LEVELS;
constexpr std::int32_t DISJOINT = std::numeric_limits<std::int32_t>::min();  // the kind of rows that have no place in common

/// Rows of queries and of items, by the places of their numbers.
struct Patterns {
    Matrix<const std::uint64_t> query, item;           // masks, see distances/rows.h
    Span<const std::int32_t> query_table, item_table;  // the same for rows of the same numbers; −1 for more than a few
    Span<const std::int32_t> item_kind;  // the same for the same numbers, each as often; −1 for more than a few
    bool differences;                    // whether a distance depends on the differences of numbers alone
    bool zeros;                          // whether rows without a common place have one score
    Index levels;                        // different numbers that a row has at most
};

/// The match counts of the rows of queries and of their groups.
struct GroupMatches {
    Matrix<const std::uint16_t> counts;  // (n_row, n_group · MATCH_COUNTS)
    Matrix<const std::int32_t> kind;     // as `count_matches` gives it
};

struct PatternLoops {
    /// out[p] = the match counts of query rows[p] and item columns[p], and kind[p] their kind: of one kind and equal, they
    /// are equally far; −1 for what decides nothing.
    void (*count_matches)(const Patterns &placed, Int64s rows, Int64s columns, Matrix<std::uint16_t> out,
                          Span<std::int32_t> kind);
    /// Count the undecided items that are as far as the group of their slot; the others are left in `opened`,
    /// and in `scores` unless it is empty. Returns how many.
    Index (*count_same_pattern)(Matrix<std::int32_t> opened, Span<double> scores, const Patterns &placed,
                                const GroupMatches &groups, Span<const std::int32_t> weight, Matrix<std::int32_t> counts);
};

DEADHEAT_DECLARE_LOOPS(PatternLoops, pattern_loops)

}  // namespace deadheat
