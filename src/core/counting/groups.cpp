#include "counting/groups.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

#include "bounds.h"
#include "counting/undecided.h"
#include "support/memory.h"
#include "ties/groups.h"

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

/// Ranks the items of a group for one of them after the other.
class RowGroups {
public:
    std::vector<std::int32_t> closer;  // of the groups of the row, nearest first,
    std::vector<OtherGroup> others;    // and those that are not one relevant item alone

    /// Make the groups of a row if each is one relevant item, given these: as many scores as one are near each.
    bool single(Span<const double> scores, double most, Index row, Int64s relevant) {
        const auto n = static_cast<Index>(relevant.size());
        near_.resize(3 * relevant.size()), counts_.resize(2 * relevant.size());
        for (Index r = 0; r < n; ++r) near_[at(r)] = scores[at(relevant[at(r)])];
        double *low = near_.data() + n, *high = low + n, tolerance = 2 * most;
        exact_cuts({near_.data(), 1, n, n}, {&tolerance, 1, 1, 1}, Int64s(std::array{std::int64_t{n}}), {low, 1, n, n},
                   {high, 1, n, n});
        undecided_loops().count_from(scores, {low, 2 * relevant.size()}, counts_);
        closer.clear(), others.clear();
        for (Index r = 0; r < n; ++r) {
            const double own = scores[at(row)];
            const std::int64_t above = counts_[at(n + r)] - (own >= high[r]);
            if (counts_[at(r)] - (own >= low[r]) != above + 1) return false;
            closer.push_back(static_cast<std::int32_t>(above));
        }
        std::sort(closer.begin(), closer.end());
        return true;
    }

    /// Make any groups of a row; returns false where a relevant item and another one are undecided.
    bool any(const Items &items, Index row, Int64s classes, Int64s relevant) {
        relevant_.assign(relevant.begin(), relevant.end()), groups_.clear(), scores_.clear();
        std::sort(relevant_.begin(), relevant_.end(), [&](Index a, Index b) { return items.score[a] > items.score[b]; });
        for (const Index item : relevant_) {
            if (groups_.empty() || !items.tie(groups_.back().item, item)) {
                if (!groups_.empty() && !items.above(groups_.back().item, item)) return false;
                groups_.push_back({item}), scores_.push_back(items.score[item]);
            }
            ++groups_.back().relevant;
        }
        groups_.push_back({-1});  // for what is behind all
        for (Index item = 0; item < static_cast<Index>(classes.size()); ++item)
            if (classes[at(item)] != classes[at(row)] && !add(items, item)) return false;
        closer.clear(), others.clear();
        std::int32_t before = 0;
        for (std::size_t g = 0; g < scores_.size(); ++g) {
            const auto &[item, n_relevant, n_other, n_before] = groups_[g];
            closer.push_back(before += n_before);
            if (n_relevant + n_other != 1) others.push_back({static_cast<Index>(g), n_relevant + n_other, n_relevant});
            before += n_relevant + n_other;
        }
        return true;
    }

private:
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

    struct Group {
        Index item;  // one of its relevant ones
        std::int32_t relevant = 0, others = 0, before = 0;
    };

    std::vector<double> near_;  // scores of relevant items, and the ends of what may tie with each
    Numbers64 counts_;
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

bool rank_group(const SmallGroup &group, std::int64_t first, const PackedGroups &into) {
    const auto &[scores, most, row_bounds, columns, classes] = group;
    Numbers64 order(classes.size()), relevant;
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return classes[at(a)] < classes[at(b)]; });
    RowGroups groups;
    for (auto begin = order.begin(), end = begin; begin != order.end(); begin = end) {
        end = std::find_if(begin, order.end(), [&](auto item) { return classes[at(item)] != classes[at(*begin)]; });
        for (auto row = begin; row != end; ++row) {
            relevant.assign(begin, row), relevant.insert(relevant.end(), row + 1, end);
            if (!groups.single(scores[*row], most[at(*row)], *row, relevant)) {
                const std::vector<double> bound = row_bounds(*row);
                if (!groups.any({scores.row(*row), bound.data(), columns}, *row, classes, relevant)) return false;
            }
            into.put(first + *row, groups.closer, groups.others);
        }
    }
    return true;
}

}  // namespace deadheat
