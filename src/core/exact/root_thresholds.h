// The thresholds of a block of queries as exact numbers of any size, and the counting of what lies between them.
#pragma once

#include "exact/roots.h"

namespace deadheat {

class RootThresholds {
public:
    RootThresholds(KeyKind kind, Index n_row, Index n_group) : roots_(kind), places_(n_row, n_group) {}

    std::vector<std::pair<Index, Index>> unknown(Span<const std::int64_t> rows, Span<const std::int64_t> low,
                                                 Span<const std::int64_t> high) {
        return places_.unknown(rows, low, high);
    }
    /// Add the thresholds of groups: the closeness of pairs left[p], right[p] of rows.
    void add(const RootRows &pairs, Span<const std::int64_t> left, Span<const std::int64_t> right,
             Span<const std::int64_t> rows, Span<const std::int64_t> groups);
    /// Count pairs that lie between thresholds low[p] and high[p] of their row, in slot 2g below and 2g + 1 at threshold g.
    void count(const RootRows &pairs, Span<const std::int64_t> left, Span<const std::int64_t> right,
               Span<const std::int64_t> rows, Span<const std::int64_t> low, Span<const std::int64_t> high,
               Span<const std::int32_t> weights, Matrix<std::int32_t> counts);

private:
    class Item;

    int compare(Item &item, Index threshold);
    const Limb *key(Index threshold);

    Roots roots_;
    ThresholdPlaces places_;
    std::vector<Estimate> estimates_;
    std::vector<Limb> words_;             // keys of all bits that the inverses give, of those that were asked for
    std::vector<std::ptrdiff_t> starts_;  // of each threshold's, −1 where there is none yet
};

}  // namespace deadheat
