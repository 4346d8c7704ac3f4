#include "counting/groups.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace deadheat {

namespace {

constexpr double SLACK = 1 + 0x1p-50;  // more than the roundings of a sum and a difference can change

std::size_t at(Index place) { return static_cast<std::size_t>(place); }

/// The groups of one query, written as they end.
struct Groups {
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

}  // namespace

void collect_groups(Span<const std::int64_t> queries, Span<const std::int64_t> n_group, Matrix<const std::int32_t> relevant,
                    Matrix<const std::int32_t> within, Matrix<const std::int32_t> nearer, Index step, Index lead,
                    Span<const std::int64_t> offsets, GroupArrays out) {
    for (Index i = 0; i < static_cast<Index>(n_group.size()); ++i) {
        std::size_t place = at(offsets[at(queries[at(i)])]);
        std::int64_t seen = 0, above_within = 0, above_nearer = 0;
        Index in_within = within.columns - 1, in_nearer = nearer.columns - 1;
        for (Index g = n_group[at(i)] - 1; g >= 0; --g, ++place) {
            for (; in_within > step * g; --in_within) above_within += within(i, in_within);
            for (; in_nearer > step * g + lead; --in_nearer) above_nearer += nearer(i, in_nearer);
            out.closer[place] = above_nearer + seen;
            out.closer_relevant[place] = seen;
            out.tied[place] = above_within - above_nearer + relevant(i, g);
            out.tied_relevant[place] = relevant(i, g);
            seen += relevant(i, g);
        }
    }
}

Index close_gaps(Span<std::int64_t> array, Span<const std::int64_t> starts, Span<const std::int64_t> lengths) {
    Index place = 0;
    for (std::size_t i = 0; i < lengths.size(); ++i) {
        std::copy_n(array.begin() + starts[i], lengths[i], array.begin() + place);  // runs only ever move down
        place += lengths[i];
    }
    return place;
}

Index rank_group(Matrix<const double> scores, Matrix<const double> bounds, Span<const std::int64_t> columns,
                 Span<const std::int64_t> classes, Span<std::int64_t> n_group, Matrix<std::int64_t> arrays) {
    const Index n = scores.rows;
    Index total = 0;
    std::vector<Index> order(at(n));
    for (Index row = 0; row < n; ++row) {
        const double *score = scores.row(row), *bound = bounds.row(row);
        std::iota(order.begin(), order.end(), 0);
        std::stable_sort(order.begin(), order.end(), [score](Index a, Index b) { return score[a] > score[b]; });
        Groups groups{arrays, total};
        Index last = -1;
        for (Index item : order) {
            if (item == row) continue;
            if (last >= 0) {
                const double reach = bound[last] + bound[item];
                if (columns[at(last)] != columns[at(item)] && !(reach == 0 && score[last] == score[item])) {
                    if (!(score[last] - score[item] > reach * SLACK)) return -1;
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
