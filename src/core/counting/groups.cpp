#include "counting/groups.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <vector>

#include "bounds.h"

namespace deadheat {

namespace {

/// The scores of the items for one query, with their bounds, and the columns of the items.
struct Items {
    const double *score, *bound;
    Int64s columns;

    bool tie(Index a, Index b) const {
        return columns[at(a)] == columns[at(b)] || (bound[a] + bound[b] == 0 && score[a] == score[b]);
    }
    bool above(Index a, Index b) const { return score[a] - score[b] > (bound[a] + bound[b]) * bounds::SEPARATED; }
};

/// The groups of relevant items of one query, nearest first, and where all others are among them.
class RowGroups {
public:
    /// Make the groups of a row; returns false where two relevant items are undecided.
    bool make(const Items &items, Index row, Int64s classes) {
        relevant_.clear(), groups_.clear(), scores_.clear();
        for (Index item = 0; item < static_cast<Index>(classes.size()); ++item)
            if (item != row && classes[at(item)] == classes[at(row)]) relevant_.push_back(item);
        std::sort(relevant_.begin(), relevant_.end(), [&](Index a, Index b) { return items.score[a] > items.score[b]; });
        for (const Index item : relevant_) {
            if (groups_.empty() || !items.tie(groups_.back().item, item)) {
                if (!groups_.empty() && !items.above(groups_.back().item, item)) return false;
                groups_.push_back({item}), scores_.push_back(items.score[item]);
            }
            ++groups_.back().relevant;
        }
        groups_.push_back({-1});  // for what is behind all
        return true;
    }

    /// Count an item that is not relevant; returns false where it is undecided.
    bool add(const Items &items, Index item) {
        constexpr std::size_t FEW = 32;  // scores: to compare with each, in vectors, is quicker than to search
        const double score = items.score[item];
        Index next = 0;  // the first group that is not above it
        if (scores_.size() > FEW)
            next = std::lower_bound(scores_.begin(), scores_.end(), score, std::greater<>()) - scores_.begin();
        else
            for (const double other : scores_) next += other > score;
        Group &behind = groups_[at(next)];
        if (behind.item >= 0 && items.tie(behind.item, item)) return ++behind.others, true;
        ++behind.before;
        return (behind.item < 0 || items.above(item, behind.item)) &&
               (next == 0 || items.above(groups_[at(next - 1)].item, item));
    }

    /// Write the groups behind others, and return how many there are.
    Index write(Matrix<std::int64_t> arrays, Index total) const {
        std::int64_t closer = 0, closer_relevant = 0;
        for (std::size_t g = 0; g < scores_.size(); ++g, ++total) {
            const auto &[item, relevant, others, before] = groups_[g];
            closer += before;
            arrays(0, total) = closer, arrays(1, total) = closer_relevant;
            arrays(2, total) = relevant + others, arrays(3, total) = relevant;
            closer += relevant + others, closer_relevant += relevant;
        }
        return static_cast<Index>(scores_.size());
    }

private:
    struct Group {
        Index item;  // one of its relevant ones
        std::int64_t relevant = 0, others = 0, before = 0;
    };

    std::vector<Index> relevant_;
    std::vector<double> scores_;  // of the groups, but for the last, which is of no item
    std::vector<Group> groups_;
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
    RowGroups groups;
    for (Index row = 0; row < n; ++row) {
        const Items items{scores.row(row), bounds.row(row), columns};
        if (!groups.make(items, row, classes)) return -1;
        for (Index item = 0; item < n; ++item)
            if (classes[at(item)] != classes[at(row)] && !groups.add(items, item)) return -1;
        n_group[at(row)] = groups.write(arrays, total);
        total += n_group[at(row)];
    }
    return total;
}

}  // namespace deadheat
