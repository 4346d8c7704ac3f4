// The thresholds of a block of queries as exact numbers of any size, and the counting of what lies between them.
#pragma once

#include <utility>

#include "exact/roots.h"

namespace deadheat {

/// The places of the known thresholds of a block of queries, by row and group.
class ThresholdPlaces {
public:
    ThresholdPlaces(Index n_row, Index n_group)
        : n_group_(n_group),
          places_(static_cast<std::size_t>(n_row * n_group), UNKNOWN),
          known_(static_cast<std::size_t>(n_row)) {}

    /// The rows and groups of thresholds from low[p] to high[p] of rows[p] that have not been added, each once.
    std::vector<std::pair<Index, Index>> unknown(Span<const std::int64_t> rows, Span<const std::int64_t> low,
                                                 Span<const std::int64_t> high) {
        std::vector<std::pair<Index, Index>> found;
        for (std::size_t p = 0; p < rows.size(); ++p) {
            Run &known = known_[static_cast<std::size_t>(rows[p])];
            if (known.low <= low[p] && high[p] <= known.high) continue;
            for (Index group = low[p]; group < high[p]; ++group) {
                std::int32_t &place = places_[at(rows[p], group)];
                if (place != UNKNOWN) continue;
                place = AWAITED;
                found.emplace_back(rows[p], group);
            }
            if (high[p] - low[p] > known.high - known.low) known = {low[p], high[p]};
        }
        return found;
    }

    /// Note the places of thresholds that are kept one after another from `first` on.
    void add(Span<const std::int64_t> rows, Span<const std::int64_t> groups, std::size_t first) {
        for (std::size_t p = 0; p < rows.size(); ++p) places_[at(rows[p], groups[p])] = static_cast<std::int32_t>(first + p);
    }

    std::size_t operator()(Index row, Index group) const { return static_cast<std::size_t>(places_[at(row, group)]); }

private:
    static constexpr std::int32_t UNKNOWN = -1, AWAITED = -2;

    std::size_t at(Index row, Index group) const { return static_cast<std::size_t>(row * n_group_ + group); }

    struct Run {
        Index low = 0, high = 0;
    };

    Index n_group_;
    std::vector<std::int32_t> places_;
    std::vector<Run> known_;  // the longest run of thresholds of each row that was asked for
};

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
