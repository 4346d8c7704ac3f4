// Items that a tile leaves open: their intervals, and the places of single items between cuts.
#pragma once

#include <limits>
#include <utility>

#include "support/targets.h"
#include "support/views.h"

namespace deadheat {

/// The cuts of some rows, and the counts of items between them: see pass/counter.h.
struct Intervals {
    Matrix<const double> low, high;  // (n_row, n_interval), ascending, infinite in padding
    Matrix<std::int32_t> counts;     // (n_row, 2 · n_interval + 1)
};

/// Single items: their rows, intervals near which they may be (−1 if none is known), scores, errors and weights.
struct Items {
    Int64s rows;
    Int64s guess;
    Span<const double> scores, errors;
    Int64s weights;
};

struct UndecidedLoops {
    /// Count single items between the cuts of their rows, `each` cuts to an interval.
    ///
    /// If an item may lie in an interval, its pair is listed: cuts[0, p] becomes its number, and between cuts[1, p] and
    /// cuts[2, p] is the number of cuts that it is above. Returns how many there are.
    Index (*place_pairs)(Items items, Intervals intervals, Index per_interval, Matrix<std::int64_t> cuts);
    /// Count the scores that are at least as high as each threshold.
    void (*count_from)(Span<const double> scores, Span<const double> thresholds, Span<std::int64_t> counts);
};

DEADHEAT_DECLARE_LOOPS(UndecidedLoops, undecided_loops)

/// From which interval to which an undecided item may lie, by its slot and the edges of its row: intervals that overlap have
/// an edge in common.
template <class T>
std::pair<Index, Index> intervals_of_slot(Index slot, const T *edges, Span<const double> low) {
    constexpr double PADDING = std::numeric_limits<double>::infinity();
    Index first = slot / 2, last = slot / 2 + 1;
    while (first > 0 && !(edges[2 * first - 1] < edges[2 * first])) --first;
    while (last < std::ssize(low) && low[at(last)] != PADDING && !(edges[2 * last - 1] < edges[2 * last])) ++last;
    return {first, last};
}

}  // namespace deadheat
