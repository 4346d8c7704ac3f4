#include "counting/undecided.h"

#include <algorithm>

#include "ties/groups.h"

namespace deadheat::DEADHEAT_TARGET {

namespace {

constexpr Index FEW = 64;  // intervals that are all compared, which needs no jumps, rather than searched

/// Count those of a few ascending numbers that are up to `most`.
Index count_up_to(const double *numbers, Index n, double most) {
    Index count = 0;
    for (Index k = 0; k < n; ++k) count += numbers[k] <= most;
    return count;
}

/// The first interval that an item is not surely above, if its score is `farthest` or more.
Index first_not_above(Span<const double> high, double farthest, Index guess) {
    const auto n = static_cast<Index>(high.size());
    if (guess < 0 || guess > n) return std::upper_bound(high.begin(), high.end(), farthest) - high.begin();
    while (guess > 0 && farthest < high[static_cast<std::size_t>(guess - 1)]) --guess;
    while (guess < n && farthest >= high[static_cast<std::size_t>(guess)]) ++guess;
    return guess;
}

Index place_pairs(Items items, Intervals intervals, Index per_interval, Matrix<std::int64_t> cuts) {
    const Index n_interval = intervals.low.columns;
    Index n_listed = 0;
    for (std::size_t p = 0; p < items.rows.size(); ++p) {
        const Index i = items.rows[p];
        const double score = items.scores[p], error = items.errors[p];
        const auto weight = static_cast<std::int32_t>(items.weights[p]);
        const double *low = intervals.low.row(i);
        const bool few = n_interval <= FEW && items.guess[p] < 0;
        const Index surely = few ? count_up_to(intervals.high.row(i), n_interval, score - error)
                                 : first_not_above(intervals.high[i], score - error, items.guess[p]);
        Index possible = surely;  // becomes the first interval that the item is surely below
        if (few) possible = std::max(surely, count_up_to(low, n_interval, score + error));
        while (!few && possible < n_interval && score + error >= low[possible]) ++possible;
        if (surely == possible) {
            intervals.counts(i, 2 * surely) += weight;
        } else if (per_interval == 2 && error == 0 && intervals.high(i, surely) == next_number(low[surely])) {
            intervals.counts(i, 2 * surely + 1) += weight;  // both are exact, and equal
        } else {
            cuts(0, n_listed) = static_cast<std::int64_t>(p);
            cuts(1, n_listed) = surely * per_interval;
            cuts(2, n_listed) = possible * per_interval;
            ++n_listed;
        }
    }
    return n_listed;
}

void count_from(Span<const double> scores, Span<const double> thresholds, Span<std::int64_t> counts) {
    const double *values = scores.data();
    for (std::size_t k = 0; k < thresholds.size(); ++k) {
        const double from = thresholds[k];
        std::int64_t count = 0;
        for (std::size_t j = 0; j < scores.size(); ++j) count += values[j] >= from;
        counts[k] = count;
    }
}

}  // namespace

extern const UndecidedLoops undecided_loops = {place_pairs, count_from};

}  // namespace deadheat::DEADHEAT_TARGET
