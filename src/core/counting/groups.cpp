#include "counting/groups.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "bounds.h"

namespace deadheat {

namespace {

/// The groups of one query, written as they end.
struct Written {
    Matrix<std::int64_t> arrays;
    Index total;
    Index closer = 0, closer_relevant = 0, tied = 0, tied_relevant = 0;

    void end() {
        if (tied_relevant > 0) {
            arrays(0, total) = closer, arrays(1, total) = closer_relevant;
            arrays(2, total) = tied, arrays(3, total) = tied_relevant;
            ++total;
        }
        closer += tied;
        closer_relevant += tied_relevant;
        tied = tied_relevant = 0;
    }
};

/// The counts of one query, and how far its cuts "closer" are after those "tied or closer".
struct CountsOfQuery {
    const std::int32_t *relevant;
    Span<const std::int32_t> within, nearer;
    Index n_group, lead;
};

/// Collect the groups of a query; there are STEP slots from each group to the next.
template <Index STEP>
void collect_of_query(const CountsOfQuery &counts, std::vector<std::int32_t> &closer, std::vector<OtherGroup> &others) {
    const auto from = [](Span<const std::int32_t> slots, Index slot) {
        return std::accumulate(slots.begin() + slot, slots.end(), std::int32_t{0});
    };
    closer.resize(at(counts.n_group)), others.clear();
    const Index last = counts.n_group - 1;
    if (last < 0) return;
    const std::int32_t *within = counts.within.data() + 1, *nearer = counts.nearer.data() + counts.lead + 1;
    std::int32_t above_within = from(counts.within, STEP * last + 1), seen = 0;
    std::int32_t above_nearer = from(counts.nearer, STEP * last + counts.lead + 1);
    for (Index g = last, position = 0;; ++position) {
        const std::int32_t of_group = counts.relevant[g], tied = above_within - above_nearer + of_group;
        closer[at(position)] = above_nearer + seen;
        seen += of_group;
        if (tied != 1) others.push_back({position, tied, of_group});
        if (--g < 0) break;
        for (Index k = 0; k < STEP; ++k) above_within += within[STEP * g + k], above_nearer += nearer[STEP * g + k];
    }
}

}  // namespace

void collect_groups(Int64s queries, Int64s n_group, Matrix<const std::int32_t> relevant, const CutCounts &counts,
                    const PackedGroups &into) {
    std::vector<std::int32_t> closer;
    std::vector<OtherGroup> others;
    const auto collect = counts.step == 2 ? collect_of_query<2> : collect_of_query<4>;
    for (Index i = 0; i < static_cast<Index>(n_group.size()); ++i) {
        collect({relevant.row(i), counts.within[i], counts.nearer[i], n_group[at(i)], counts.lead}, closer, others);
        into.put(queries[at(i)], closer, others);
    }
}

Index rank_group(Matrix<const double> scores, Matrix<const double> bounds, Int64s columns, Int64s classes,
                 Span<std::int64_t> n_group, Matrix<std::int64_t> arrays) {
    const Index n = scores.rows;
    Index total = 0;
    std::vector<Index> order(at(n));
    for (Index row = 0; row < n; ++row) {
        const double *score = scores.row(row), *bound = bounds.row(row);
        std::iota(order.begin(), order.end(), 0);
        std::stable_sort(order.begin(), order.end(), [score](Index a, Index b) { return score[a] > score[b]; });
        Written groups{arrays, total};
        Index last = -1;
        for (Index item : order) {
            if (item == row) continue;
            if (last >= 0) {
                const double tolerance = bound[last] + bound[item];
                if (columns[at(last)] != columns[at(item)] && !(tolerance == 0 && score[last] == score[item])) {
                    if (!(score[last] - score[item] > tolerance * bounds::SEPARATED)) return -1;
                    groups.end();
                }
            }
            ++groups.tied;
            groups.tied_relevant += classes[at(item)] == classes[at(row)];
            last = item;
        }
        groups.end();
        n_group[at(row)] = groups.total - total;
        total = groups.total;
    }
    return total;
}

}  // namespace deadheat
