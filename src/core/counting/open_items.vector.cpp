#include "counting/open_items.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "distances/row_products.h"
#include "ties/groups.h"

namespace deadheat::DEADHEAT_TARGET {

namespace {

constexpr Index SQUARE = 1 << 18;  // elements of the rows of one side of a square of a tile that is looked at at once

// How many items ahead rows are asked for, so that they are in cache in time; and how many bytes of a row, after which the
// rest follows by itself.
constexpr std::size_t AHEAD = 4;
constexpr Index ASKED = 1 << 10;

// Items that are scored, while what they are compared with is fetched, before any is: which way they go cannot be foretold.
constexpr std::size_t BATCH = 32;

/// The order of listed items by squares of a tile, so that the rows that belong to a square stay in cache.
std::vector<Index> by_square(Matrix<const std::int32_t> opened, Index dim, Index n_row, Index n_column) {
    int shift = 6;  // squares of 64 rows or more
    while (dim << (shift + 1) <= SQUARE && shift < 40) ++shift;
    std::vector<Index> order(static_cast<std::size_t>(opened.columns));
    std::iota(order.begin(), order.end(), 0);
    if (std::max(n_row, n_column) <= Index{1} << shift) return order;
    const Index across = (n_column >> shift) + 1;
    const auto square = [&](Index p) {
        return static_cast<std::size_t>((opened(0, p) >> shift) * across + (opened(1, p) >> shift));
    };
    std::vector<Index> starts(static_cast<std::size_t>(((n_row >> shift) + 1) * across + 1));
    for (Index p = 0; p < opened.columns; ++p) ++starts[square(p) + 1];
    std::partial_sum(starts.begin(), starts.end(), starts.begin());
    for (Index p = 0; p < opened.columns; ++p) order[static_cast<std::size_t>(starts[square(p)]++)] = p;
    return order;
}

/// Where an item of an odd slot is, by a better score: −1 below the slot's interval, 1 above it, 0 if that is open.
///
/// It must not be in the interval beside either. The tile's score has told it apart from that one, unless the slots have
/// an edge in common; then the better score may.
template <class T>
int way(double score, double reach, const T *edges, const double *low, const double *high, Index slot, Index n_interval) {
    const Index g = slot / 2;
    const bool below = score + reach < low[g], above = score - reach >= high[g];
    const bool past_lower = g == 0 || score - reach >= high[std::max(g, Index{1}) - 1];
    const bool past_upper = g + 1 == n_interval || score + reach < low[std::min(g + 2, n_interval) - 1];
    const int told = static_cast<int>(above & past_upper) - static_cast<int>(below & past_lower);
    if (told != 0 || !(below || above)) return told;
    if (below) return edges[slot - 2] < edges[slot - 1] ? -1 : 0;
    return edges[slot] < edges[slot + 1] ? 1 : 0;
}

template <class T>
Index settle(Matrix<std::int32_t> opened, TileRows<T> rows, Matrix<const T> edges, Intervals intervals) {
    const Index dim = rows.left.columns;
    std::vector<std::int8_t> ways(static_cast<std::size_t>(opened.columns));
    const std::vector<Index> order = by_square(opened, dim, rows.left.rows, rows.right.rows);
    const auto ask_for_tables = [&](Index p) {
        const Index i = opened(0, p), slot = opened(2, p);
        __builtin_prefetch(intervals.low.row(i) + slot / 2);
        __builtin_prefetch(intervals.high.row(i) + slot / 2);
        __builtin_prefetch(intervals.counts.row(i) + slot, 1);
    };
    const auto ask_for_row = [&](Index p) {
        const char *right = reinterpret_cast<const char *>(rows.right.row(opened(1, p)));
        for (Index byte = 0; byte < std::min(dim * static_cast<Index>(sizeof(T)), ASKED); byte += 64)
            __builtin_prefetch(right + byte);
    };
    double scores[BATCH];
    for (std::size_t begin = 0; begin < order.size(); begin += BATCH) {
        const std::size_t n = std::min(BATCH, order.size() - begin);
        for (std::size_t k = 0; k < n; ++k) {
            const std::size_t q = begin + k;
            ask_for_tables(order[q]);
            if (q + AHEAD < order.size()) ask_for_row(order[q + AHEAD]);
            const Index j = opened(1, order[q]);
            scores[k] = product_of_rows(rows.left.row(opened(0, order[q])), rows.right.row(j), dim) -
                        (rows.offset.empty() ? 0.0 : rows.offset[static_cast<std::size_t>(j)]);
        }
        for (std::size_t k = 0; k < n; ++k) {
            const Index p = order[begin + k];
            const Index i = opened(0, p), slot = opened(2, p);
            const int found = way(scores[k], rows.reach[static_cast<std::size_t>(i)], edges.row(i), intervals.low.row(i),
                                  intervals.high.row(i), slot, intervals.low.columns);
            ways[static_cast<std::size_t>(p)] = static_cast<std::int8_t>(found);
            intervals.counts(i, slot + found) += found == 0 ? 0 : rows.weight[static_cast<std::size_t>(opened(1, p))];
        }
    }
    Index n_left = 0;
    for (Index p = 0; p < opened.columns; ++p) {
        for (Index k = 0; k < 3; ++k) opened(k, n_left) = opened(k, p);
        n_left += ways[static_cast<std::size_t>(p)] == 0;
    }
    return n_left;
}

// Single items --------------------------------------------------------------------------------------------------------

constexpr Index FEW = 64;  // intervals that are all compared, which needs no jumps, rather than searched

/// How many of a few ascending numbers are up to another one.
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

Index place_pairs(Items items, Intervals intervals, Index each, Matrix<std::int64_t> cuts) {
    const Index n_interval = intervals.low.columns;
    Index n_listed = 0;
    for (std::size_t p = 0; p < items.rows.size(); ++p) {
        const Index i = items.rows[p];
        const double score = items.scores[p], error = items.errors[p];
        const auto weight = static_cast<std::int32_t>(items.weights[p]);
        const double *low = intervals.low.row(i);
        const bool few = n_interval <= FEW;
        const Index surely = few ? count_up_to(intervals.high.row(i), n_interval, score - error)
                                 : first_not_above(intervals.high[i], score - error, items.guess[p]);
        Index possible = surely;  // becomes the first interval that the item is surely below
        if (few) possible = std::max(surely, count_up_to(low, n_interval, score + error));
        while (!few && possible < n_interval && score + error >= low[possible]) ++possible;
        if (surely == possible) {
            intervals.counts(i, 2 * surely) += weight;
        } else if (each == 2 && error == 0 && intervals.high(i, surely) == next_number(low[surely])) {
            intervals.counts(i, 2 * surely + 1) += weight;  // both are exact, and equal
        } else {
            cuts(0, n_listed) = static_cast<std::int64_t>(p);
            cuts(1, n_listed) = surely * each;
            cuts(2, n_listed) = possible * each;
            ++n_listed;
        }
    }
    return n_listed;
}

}  // namespace

extern const OpenItemLoops open_item_loops = {settle<float>, settle<double>, place_pairs};

}  // namespace deadheat::DEADHEAT_TARGET
