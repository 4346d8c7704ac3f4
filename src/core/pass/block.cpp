#include "pass/block.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>

#include "bounds.h"
#include "counting/groups.h"

namespace deadheat {

namespace {

constexpr double NONE = std::numeric_limits<double>::infinity();  // in place of a cut

/// Hold a mutex if there is one.
std::unique_lock<std::mutex> held(std::mutex *lock) {
    return lock == nullptr ? std::unique_lock<std::mutex>() : std::unique_lock(*lock);
}

/// Return the intervals that several sequences of cuts make up together: those that overlap are one.
CutBounds joint_cuts(const std::vector<const CutBounds *> &sequences) {
    const Index n_row = sequences.front()->low.rows;
    CutBounds joint;
    joint.per_interval = 1, joint.sharp = true;
    std::vector<std::vector<std::pair<double, double>>> rows(at(n_row));
    for (const CutBounds *cuts : sequences) {
        joint.sharp &= cuts->sharp;
        for (Index i = 0; i < n_row; ++i)
            for (Index g = 0; g < cuts->low.columns && cuts->low(i, g) < NONE; ++g)
                rows[at(i)].emplace_back(cuts->low(i, g), cuts->high(i, g));
    }
    std::size_t most = 0;
    for (auto &intervals : rows) {
        std::sort(intervals.begin(), intervals.end());
        std::size_t n = 0;
        for (const auto &[low, high] : intervals)
            if (n > 0 && low <= intervals[n - 1].second)
                intervals[n - 1].second = std::max(intervals[n - 1].second, high);
            else
                intervals[n++] = {low, high};
        intervals.resize(n), most = std::max(most, n);
    }
    joint.low = joint.high = Table<double>(n_row, static_cast<Index>(most), NONE);
    for (Index i = 0; i < n_row; ++i)
        for (std::size_t k = 0; k < rows[at(i)].size(); ++k)
            std::tie(joint.low.row(i)[k], joint.high.row(i)[k]) = rows[at(i)][k];
    return joint;
}

}  // namespace

Block::Block(const Problem &problem, Int64s queries, const StopFlag &stop)
    : problem_(problem), queries_(queries), stop_(stop), members_(problem, queries, groups_) {
    RelevantItems relevant = relevant_items(problem, queries);
    excluded_ = std::move(relevant.excluded);
    singles_ = std::move(relevant.singles);
    if (problem.has_junk()) {
        junk_ = Table<std::uint64_t>::unset(static_cast<Index>(queries.size()), (problem.n_column() + 63) / 64);
        columns_of_junk({queries, problem.junk}, problem.items, junk_);
    }
    if (problem.rule != nullptr) {
        std::vector<Grouped> all = problem.rule->group(relevant);
        grouped_.resize(all.size());
        std::move(all.begin(), all.end(), grouped_.begin());
    } else {
        auto &[groups, cuts, decision] = grouped_.front();
        group_exactly(problem, queries, relevant.entries(), stop, groups);
        cuts.push_back(cuts_of(groups));
        groups.score = {}, groups.bound = {};  // which the cuts are made of
    }
    std::vector<const CutBounds *> every;
    for (Grouped &grouped : grouped_)
        for (std::size_t k = 0; k < grouped.cuts.size(); ++k) {
            counters_.push_back(
                std::make_unique<Counter>(problem, queries, std::move(grouped.cuts[k]), members_, static_cast<Index>(k)));
            decisions_.push_back(grouped.decision.get()), every.push_back(&counters_.back()->cuts());
        }
    if (every.size() > 1) {
        joint_ = std::make_unique<Counter>(problem, queries, joint_cuts(every), members_, 0);
        pass_joint();
    }
    if (groups_.of_entry.rows == 0 || problem.plain) return;
    for (Index i = 0; i < relevant.irrelevant.rows; ++i)
        for (Index j = 0; j < relevant.irrelevant.columns; ++j) {
            if (relevant.irrelevant(i, j) <= 0) continue;
            sharing_.rows.push_back(i), sharing_.columns.push_back(relevant.columns(i, j));
            sharing_.weights.push_back(relevant.irrelevant(i, j)), sharing_of_.push_back(groups_.of_entry(i, j));
        }
}

std::vector<Tally> Block::own_tallies() {
    std::vector<Tally> tallies;
    for (auto &counter : counters_) tallies.push_back({counter->counts, {}});
    if (joint_) tallies.push_back({joint_->counts, {}});
    return tallies;
}

template <class T>
SingleItems Block::count(Tile<T> tile, std::vector<Tally> &tallies, std::mutex *lock) {
    if (junk_.rows > 0) {
        const Matrix<const std::uint64_t> all = junk_;
        deadheat::leave_out<T>({all.row(tile.row), tile.scores.rows, all.columns, all.stride}, tile.column, tile.scores);
    }
    SingleItems items;
    Index n = 0;
    {
        const auto hold = held(lock);
        n = filter().template count<T>(tile, excluded_, tallies.back(), items);
    }
    if (tile.level == problem_.scores->last()) return items;
    const std::lock_guard hold(learning_);
    seen_ += static_cast<double>(tile.scores.rows * tile.scores.columns), undecided_ += static_cast<double>(n);
    if (undecided_ > MANY_UNDECIDED * seen_) level_ = problem_.scores->last();
    return items;
}

template SingleItems Block::count(Tile<float>, std::vector<Tally> &, std::mutex *);
template SingleItems Block::count(Tile<double>, std::vector<Tally> &, std::mutex *);

void Block::place(const SingleItems &items, std::vector<Tally> &tallies, std::mutex *lock) {
    const auto hold = held(lock);
    if (!joint_) return counters_[0]->place(items, tallies[0]);
    SingleItems near = items;
    for (std::size_t k = 0; k < counters_.size(); ++k) {
        for (std::size_t p = 0; p < near.guess.size(); ++p)
            if (items.guess[p] >= 0) near.guess[p] = passed(items.rows[p], items.guess[p], k);
        counters_[k]->place(near, tallies[k]);
    }
}

const std::vector<float> &Block::limits(Index band) {
    const std::lock_guard hold(limiting_);
    std::vector<float> &result = limits_[band];
    if (!result.empty()) return result;
    constexpr float LEAST = -std::numeric_limits<float>::infinity();
    const Scores &scores = *problem_.scores;
    result.resize(queries_.size());
    for (std::size_t i = 0; i < result.size(); ++i) {
        const double low = filter().cuts().low(static_cast<Index>(i), 0);
        const auto near = static_cast<float>(low - scores.errors(0, queries_[i], scores.bands[at(band)]).absolute -
                                             bounds::LEAST_OF_LIMIT);
        result[i] = low < NONE ? std::nextafter(std::nextafter(near, LEAST), LEAST) : -LEAST;
    }
    return result;
}

void Block::leave_out(Numbers64 &rows, Numbers64 &columns) const {
    const Matrix<const std::int32_t> excluded = excluded_;
    std::size_t n = 0;
    for (std::size_t p = 0; p < rows.size(); ++p) {
        const auto of_row = excluded[rows[p]];
        if (!std::binary_search(of_row.begin(), of_row.end(), columns[p])) rows[n] = rows[p], columns[n++] = columns[p];
    }
    rows.resize(n), columns.resize(n);
}

void Block::count(SingleItems items, std::vector<Tally> &tallies, std::mutex *lock) {
    const std::size_t n = items.rows.size();
    Numbers64 query(n);
    for (std::size_t p = 0; p < n; ++p) query[p] = queries_[at(items.rows[p])];
    items.scores.resize(n), items.guess.assign(n, -1);
    problem_.scores->pair_scores(query, items.columns, items.scores);
    place(items, tallies, lock);
}

void Block::decide(std::vector<Tally> &tallies) {
    for (std::size_t k = 0; k < counters_.size(); ++k)
        counters_[k]->decide(tallies[k].undecided, counters_[k]->counts, decisions_[k], stop_);
}

void Block::add(const std::vector<Table<std::int32_t>> &others) {
    const std::vector<Tally> own = own_tallies();
    for (std::size_t k = 0; k < others.size(); ++k)
        for (std::size_t p = 0; p < others[k].memory.size(); ++p) own[k].counts.data[p] += others[k].memory[p];
}

template <class T>
void Block::count_disjoint(Index row, Index column, Matrix<const T> scores) {
    constexpr T OUT = -std::numeric_limits<T>::infinity();
    const auto weight = problem_.weight.subspan(at(column), at(scores.columns));
    const std::lock_guard hold(learning_);
    if (disjoint_.rows == 0) disjoint_ = Table<std::int64_t>(static_cast<Index>(queries_.size()), 2);
    for (Index i = 0; i < scores.rows; ++i) {
        const auto of_row = scores[i];
        const auto excluded = Matrix<const std::int32_t>(excluded_)[row + i];
        std::int64_t n = 0, last = -1;
        auto next = std::lower_bound(excluded.begin(), excluded.end(), column);
        for (Index j = 0; j < scores.columns; ++j) {
            while (next != excluded.end() && *next < column + j) ++next;
            if (of_row[at(j)] != OUT || weight[at(j)] == 0 || (next != excluded.end() && *next == column + j)) continue;
            if (junk_.rows > 0 && (junk_(row + i, (column + j) / 64) >> ((column + j) & 63) & 1) != 0) continue;
            n += weight[at(j)], last = column + j;
        }
        if (n > 0) disjoint_(row + i, 0) += n, disjoint_(row + i, 1) = last;
    }
}

template void Block::count_disjoint(Index, Index, Matrix<const float>);
template void Block::count_disjoint(Index, Index, Matrix<const double>);

void Block::place_disjoint() {
    SingleItems items;
    for (Index i = 0; i < disjoint_.rows; ++i)
        items.rows.push_back(i), items.columns.push_back(disjoint_(i, 1)), items.weights.push_back(disjoint_(i, 0));
    count_alone(std::move(items));
    disjoint_ = {};
}

/// Count those of some single items that stand for any.
void Block::count_alone(SingleItems items) {
    std::size_t n = 0;
    for (std::size_t p = 0; p < items.rows.size(); ++p)
        if (items.weights[p] > 0)
            items.rows[n] = items.rows[p], items.columns[n] = items.columns[p], items.weights[n++] = items.weights[p];
    if (n == 0) return;
    for (auto *numbers : {&items.rows, &items.columns, &items.weights}) numbers->resize(n);
    std::vector<Tally> tallies = own_tallies();
    count(std::move(items), tallies, nullptr);
    decide(tallies);
}

void Block::count_next_to_tiles() {
    if (counters_.size() == 1) {  // what shares a relevant item's column is tied with it
        Counter &only = *counters_[0];
        for (std::size_t p = 0; p < sharing_.rows.size(); ++p)
            only.counts(sharing_.rows[p], (2 * sharing_of_[p] + 1) * (2 / only.cuts().per_interval)) +=
                static_cast<std::int32_t>(sharing_.weights[p]);
    } else {
        count_alone(sharing_);
    }
    count_alone(singles_);
    count_alone(next_to_junk(problem_, queries_));
}

/// Count the intervals of each counter that are below each joint one.
void Block::pass_joint() {
    const Matrix<const double> ends = joint_->cuts().low;
    passed_ = Table<std::int32_t>(ends.rows, (ends.columns + 1) * std::ssize(counters_));
    for (std::size_t c = 0; c < counters_.size(); ++c) {
        const Matrix<const double> low = counters_[c]->cuts().low;
        for (Index i = 0; i < low.rows; ++i)
            for (Index k = 0, g = 0; k <= ends.columns; ++k) {
                const double end = k < ends.columns ? ends(i, k) : NONE;
                while (g < low.columns && low(i, g) < end) ++g;
                passed(i, k, c) = static_cast<std::int32_t>(g);
            }
    }
}

void Block::collect(const PackedGroups &groups) {
    if (joint_)  // what its filter has counted between joint intervals
        for (std::size_t c = 0; c < counters_.size(); ++c)
            for (Index i = 0; i < passed_.rows; ++i)
                for (Index k = 0; k <= joint_->cuts().low.columns; ++k)
                    counters_[c]->counts(i, 2 * passed(i, k, c)) += joint_->counts(i, 2 * k);
    auto counter = counters_.begin();
    Numbers64 queries(queries_.begin(), queries_.end());
    for (const Grouped &grouped : grouped_) {
        const bool two = grouped.cuts.size() == 2;
        const Counter &first = **counter, &last = **(counter + (two ? 1 : 0));
        const Index per_interval = first.cuts().per_interval, step = two || per_interval == 2 ? 2 : 4;
        const Index lead = two ? 0 : 2 / per_interval;
        collect_groups(queries, grouped.groups.n_group, grouped.groups.total,
                       {.within = first.counts, .nearer = last.counts, .step = step, .lead = lead}, groups);
        counter += std::ssize(grouped.cuts);
        for (std::int64_t &query : queries) query += std::ssize(groups.n_group) / std::ssize(grouped_);
    }
}

}  // namespace deadheat
