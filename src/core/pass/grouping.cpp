#include "pass/grouping.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "pass/sorting.h"

namespace deadheat {

namespace {

constexpr double NOT_A_NUMBER = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t AT_ONCE = 1 << 15;  // entries that are compared exactly before anybody asks whether to go on

/// Groups of one item each, if scores alone show that all are, and no column has irrelevant items next to a relevant one.
bool group_distinct(const Entries &relevant, TieGroups &groups) {
    const Index n_row = relevant.count.rows, width = relevant.count.columns;
    groups.n_group.assign(at(n_row), 0);
    groups.bound = Table<double>(n_row, 1);
    const auto zeros = std::make_unique<bool[]>(at(n_row));
    if (!single_items(relevant, groups.n_group, groups.bound.memory, {zeros.get(), at(n_row)})) return false;
    const Index most = std::max<Index>(1, *std::max_element(groups.n_group.begin(), groups.n_group.end()));
    groups.score = Table<double>(n_row, most, NOT_A_NUMBER);
    bool any_zero = false;
    for (Index i = 0; i < n_row; ++i) {
        double *to = groups.score.row(i);
        for (Index j = 0; j < width; ++j)
            if (relevant.count(i, j) > 0) *to++ = relevant.score(i, j);
        sort_numbers({groups.score.row(i), at(groups.n_group[at(i)])});
        any_zero |= zeros[at(i)];
    }
    if (!all_distinct(groups.score, groups.bound.memory, groups.n_group)) return false;
    groups.total = Table<std::int32_t>(n_row, most);
    for (Index i = 0; i < n_row; ++i) std::fill_n(groups.total.row(i), groups.n_group[at(i)], 1);
    if (any_zero) {  // which is known to be one, and what is as far ties with it
        Table<double> bound(n_row, most);
        for (Index i = 0; i < n_row; ++i)
            for (Index g = 0; g < most; ++g)
                bound(i, g) = zeros[at(i)] && groups.score(i, g) == 0 ? 0.0 : groups.bound(i, 0);
        groups.bound = std::move(bound);
    }
    return true;
}

/// Sort exactly every run of entries whose bounds overlap.
class ExactSort {
public:
    ExactSort(const Problem &problem, Int64s queries, const Entries &relevant, Flags starts)
        : exact_(*problem.exact),
          items_(problem.scores->item_of_column),
          queries_(queries),
          relevant_(relevant),
          starts_(starts) {}

    void sort(Matrix<const std::int64_t> runs, const StopFlag &stop) {
        for (Index run = 0; run < runs.columns;) {
            if (stop) throw Stopped();
            Numbers64 query, item, ends;
            const Index first = run;
            for (; run < runs.columns && query.size() < AT_ONCE; ++run) {
                const Index i = runs(0, run);
                for (Index j = runs(1, run); j < runs(2, run); ++j) {
                    query.push_back(queries_[at(i)]);
                    item.push_back(items_[at(relevant_.columns(i, j))]);
                }
                ends.push_back(static_cast<std::int64_t>(query.size()));
            }
            const auto sort_all = [&](auto compare) {
                Numbers64 places = deadheat::first(static_cast<Index>(query.size()));
                for (Index r = first, begin = 0; r < run; begin = ends[at(r++ - first)])
                    sort_run(runs(0, r), runs(1, r), {places.data() + begin, at(ends[at(r - first)] - begin)}, compare);
            };
            if (const IntegerRows *rows = exact_.integers()) {
                IntegerPairs pairs(*rows);
                std::vector<ShortNumber> numbers;
                for (std::size_t p = 0; p < query.size(); ++p) numbers.push_back(pairs.number(query[p], item[p]));
                sort_all([&](std::int64_t a, std::int64_t b) { return rows->compare(numbers[at(a)], numbers[at(b)]); });
            } else {
                const Roots roots = exact_.closeness(query, item, stop);
                sort_all([&](std::int64_t a, std::int64_t b) { return roots.compare(a, roots, b); });
            }
        }
    }

private:
    /// Sort the entries of a run, whose numbers are at these places.
    template <class Compare>
    void sort_run(Index i, Index entry, Span<std::int64_t> places, Compare compare) {
        const std::int64_t begin = places[0];
        sort_places(places, starts_.row(i) + entry, compare);
        for (std::int64_t &position : places) position -= begin;
        reorder(relevant_, i, entry, places);
    }

    const ExactPairs &exact_;
    Int64s items_, queries_;
    Entries relevant_;
    Flags starts_;
};

/// The groups of sorted entries, given where each of them starts.
void number_entries(const Entries &relevant, Flags starts, TieGroups &groups) {
    const Index n_row = starts.rows, width = starts.columns;
    Index most = 1;
    for (Index i = 0; i < n_row; ++i) {
        groups.n_group[at(i)] = std::count(starts.row(i), starts.row(i) + width, true);
        most = std::max<Index>(most, groups.n_group[at(i)]);
    }
    groups.of_entry = Table<std::int64_t>(n_row, width, -1);
    Table<std::int64_t> first(n_row, most, -1);
    groups.total = Table<std::int32_t>(n_row, most);
    number_groups(starts, relevant.count, groups.of_entry, first, groups.total);
    groups.score = Table<double>(n_row, most, NOT_A_NUMBER);
    groups.bound = Table<double>(n_row, most);
    groups.columns = Table<std::int32_t>(n_row, most);
    for (Index i = 0; i < n_row; ++i)
        for (Index g = 0; g < groups.n_group[at(i)]; ++g) {
            groups.score(i, g) = relevant.score(i, first(i, g));
            groups.bound(i, g) = relevant.bound(i, first(i, g));
            groups.columns(i, g) = static_cast<std::int32_t>(relevant.columns(i, first(i, g)));
        }
}

}  // namespace

void group_exactly(const Problem &problem, Int64s queries, const Entries &relevant, const StopFlag &stop, TieGroups &groups,
                   bool briefly) {
    if (briefly && group_distinct(relevant, groups)) return;
    const Index n_row = relevant.count.rows, width = relevant.count.columns;
    groups.n_group.assign(at(n_row), 0);
    Table<std::int64_t> order(n_row, width);
    for (Index i = 0; i < n_row; ++i) order_numbers({relevant.score.row(i), at(width)}, order.row(i));
    const auto memory = std::make_unique<bool[]>(at(n_row * width));
    const Flags starts{memory.get(), n_row, width, width};
    sort_rows(order, relevant, starts);
    Table<std::int64_t> runs(3, n_row * width / 2 + 1);
    const Index n_run = unsure_runs(starts, relevant.count, relevant.bound, runs);
    if (n_run > 0) ExactSort(problem, queries, relevant, starts).sort({runs.memory.data(), 3, n_run, runs.columns}, stop);
    number_entries(relevant, starts, groups);
}

Numbers64 Members::columns(const Numbers64 &rows, const Numbers64 &groups) const {
    Numbers64 result(rows.size());
    if (groups_.columns.rows > 0) {
        for (std::size_t p = 0; p < rows.size(); ++p) result[p] = groups_.columns(rows[p], groups[p]);
        return result;
    }
    const std::lock_guard hold(lock_);
    for (std::size_t p = 0; p < rows.size(); ++p) {
        Numbers64 &columns = ascending_[rows[p]];
        if (columns.empty()) {
            const RelevantItems relevant = relevant_items(problem_, queries_.subspan(at(rows[p]), 1));
            Numbers64 order(relevant.columns.memory.size());
            order_numbers({relevant.score.row(0), order.size()}, order.data());
            for (std::int64_t entry : order) columns.push_back(relevant.columns(0, entry));
        }
        result[p] = columns[at(groups[p])];
    }
    return result;
}

CutBounds cuts_of(const TieGroups &groups) {
    CutBounds cuts;
    for (Table<double> *table : {&cuts.low, &cuts.high})
        *table = Table<double>::unset(groups.score.rows, groups.score.columns);
    exact_cuts(groups.score, groups.bound, groups.n_group, cuts.low, cuts.high);
    make_ascending(cuts.low, cuts.high);
    return cuts;
}

}  // namespace deadheat
