// The relevant columns of a block of queries, with scores, and the items in them that are counted singly.
//
// A column can hold items that do not count for a query (itself, junk) next to others that do. Such columns, and the
// relevant ones, are left out of the tiles; what counts in them is placed singly. Junk can be half of all pairs, so it is
// never listed as a whole: it is looked up tile by tile, and in the query's own class.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "pass/problem.h"

namespace deadheat {

namespace {

constexpr Index SMALL_CLASS = 256;      // pairs below which a class is scored pair by pair
constexpr Index SCORED_COLUMNS = 1024;  // relevant columns that are scored at once
constexpr double NOT_A_NUMBER = std::numeric_limits<double>::quiet_NaN();

/// The places of the queries that would be ranked for themselves, if they were not left out, and their columns.
struct Itself {
    Numbers64 row, item, column;

    Itself(const Problem &problem, Int64s queries) {
        if (problem.itself.empty()) return;
        for (std::size_t i = 0; i < queries.size(); ++i) {
            const std::int64_t own = problem.itself[at(queries[i])];
            if (own < 0 || !problem.ranked[at(own)]) continue;
            row.push_back(static_cast<std::int64_t>(i));
            item.push_back(own);
            column.push_back(problem.column_of_item[at(own)]);
        }
    }
};

/// Columns that hold items which do not count, and how many in them do; pairs of row and column may come more than once.
SingleItems reduced(const Problem &problem, const Numbers64 &row, const Numbers64 &column) {
    Numbers64 keys(row.size());
    for (std::size_t p = 0; p < row.size(); ++p) keys[p] = row[p] * problem.n_column() + column[p];
    std::sort(keys.begin(), keys.end());
    SingleItems out;
    for (std::size_t p = 0; p < keys.size();) {
        std::size_t end = p + 1;
        while (end < keys.size() && keys[end] == keys[p]) ++end;
        const std::int64_t in_column = keys[p] % problem.n_column();
        out.rows.push_back(keys[p] / problem.n_column());
        out.columns.push_back(in_column);
        out.weights.push_back(problem.weight[at(in_column)] - static_cast<std::int64_t>(end - p));
        p = end;
    }
    return out;
}

/// For each row the relevant and the reduced columns, ascending.
Table<std::int32_t> excluded_columns(const Table<std::int64_t> &columns, const SingleItems &out, Index n_column) {
    Numbers64 extra(at(columns.rows));
    for (std::int64_t row : out.rows) ++extra[at(row)];
    const Index most = extra.empty() ? 0 : *std::max_element(extra.begin(), extra.end());
    Table<std::int32_t> all(columns.rows, columns.columns + most, static_cast<std::int32_t>(n_column));
    for (Index i = 0; i < columns.rows; ++i)
        for (Index j = 0; j < columns.columns; ++j) all(i, j) = static_cast<std::int32_t>(columns(i, j));
    std::fill(extra.begin(), extra.end(), columns.columns);
    for (std::size_t p = 0; p < out.rows.size(); ++p)
        all(out.rows[p], extra[at(out.rows[p])]++) = static_cast<std::int32_t>(out.columns[p]);
    if (most > 0)
        for (Index i = 0; i < all.rows; ++i) std::sort(all.row(i), all.row(i) + all.columns);
    return all;
}

/// Scores of the last level for all relevant columns of neighbouring queries of one class.
void score_class(const Problem &problem, Int64s queries, Index begin, Index end, Index width, RelevantItems &relevant) {
    const Scores &scores = *problem.scores;
    const bool wide = scores.levels.back().wide, exact = scores.levels.back().exact;
    const auto some = queries.subspan(at(begin), at(end - begin));
    for (Index start = 0; start < width; start += SCORED_COLUMNS) {
        const Index n = std::min(SCORED_COLUMNS, width - start);
        const Int64s columns{relevant.columns.row(begin) + start, at(n)};
        with_type(wide, [&](auto type) {
            Table<decltype(type)> tile(end - begin, n);
            scores.tile<decltype(type)>(scores.last(), some, columns, tile);
            for (Index i = 0; i < tile.rows; ++i) std::copy_n(tile.row(i), n, relevant.score.row(begin + i) + start);
        });
        if (exact) continue;
        Numbers64 query(at(n));
        for (Index i = begin; i < end; ++i) {
            std::fill(query.begin(), query.end(), queries[at(i)]);
            scores.pair_bounds(query, columns, {relevant.score.row(i) + start, at(n)},
                               {relevant.bound.row(i) + start, at(n)});
        }
    }
}

/// The same for single entries.
void score_entries(const Problem &problem, Int64s queries, const Numbers64 &places, RelevantItems &relevant) {
    const Index width = relevant.columns.columns;
    Numbers64 query(places.size()), column(places.size());
    for (std::size_t p = 0; p < places.size(); ++p) {
        query[p] = queries[at(places[p] / width)];
        column[p] = relevant.columns.memory[at(places[p])];
    }
    std::vector<double> score(places.size()), bound(places.size());
    problem.scores->pair_scores(query, column, score);
    problem.scores->pair_bounds(query, column, score, bound);
    for (std::size_t p = 0; p < places.size(); ++p) {
        relevant.score.memory[at(places[p])] = score[p];
        relevant.bound.memory[at(places[p])] = bound[p];
    }
}

void score_relevant(const Problem &problem, Int64s queries, RelevantItems &relevant) {
    const auto n_row = static_cast<Index>(queries.size());
    const Index width = relevant.columns.columns;
    Numbers64 small;
    const auto class_of = [&](Index i) { return problem.query_class[at(queries[at(i)])]; };
    for (Index begin = 0, end = 0; begin < n_row; begin = end) {
        for (end = begin + 1; end < n_row && class_of(end) == class_of(begin);) ++end;
        const Index of_class = problem.width(queries[at(begin)]);
        if (of_class * (end - begin) >= SMALL_CLASS) {
            score_class(problem, queries, begin, end, of_class, relevant);
            continue;
        }
        for (Index position = begin * width; position < end * width; ++position)
            if (relevant.count.memory[at(position)] > 0) small.push_back(position);
    }
    if (!small.empty()) score_entries(problem, queries, small, relevant);
    for (std::size_t p = 0; p < relevant.count.memory.size(); ++p)
        if (relevant.count.memory[p] <= 0) relevant.score.memory[p] = NOT_A_NUMBER, relevant.bound.memory[p] = 0;
}

}  // namespace

RelevantItems relevant_items(const Problem &problem, Int64s queries) {
    const auto n_row = static_cast<Index>(queries.size());
    Index width = 1;
    Numbers64 classes(queries.size());
    for (std::size_t i = 0; i < queries.size(); ++i) {
        width = std::max(width, problem.width(queries[i]));
        classes[i] = problem.query_class[at(queries[i])];
    }
    RelevantItems relevant;
    relevant.queries.assign(queries.begin(), queries.end());
    for (Table<std::int64_t> *table : {&relevant.columns, &relevant.count, &relevant.irrelevant})
        *table = Table<std::int64_t>::unset(n_row, width);
    relevant.score = Table<double>::unset(n_row, width), relevant.bound = Table<double>(n_row, width);
    const Entries entries = relevant.entries();
    relevant_columns(classes, problem.class_columns, problem.weight, entries);
    const Itself own(problem, queries);
    const auto n_own = own.row.size();
    const auto same_class = std::make_unique<bool[]>(n_own), unlisted = std::make_unique<bool[]>(n_own);
    for (std::size_t p = 0; p < n_own; ++p)
        same_class[p] = problem.gallery_class[at(own.item[p])] == classes[at(own.row[p])];
    take_out(own.row, own.column, {same_class.get(), n_own}, entries, {unlisted.get(), n_own});
    if (problem.has_junk()) {
        Numbers64 itself(queries.size(), -1);
        if (!problem.itself.empty())
            for (std::size_t i = 0; i < queries.size(); ++i) itself[i] = problem.itself[at(queries[i])];
        take_out_junk({queries, problem.junk}, itself, classes, problem.gallery_class, problem.items, entries);
    }
    Numbers64 row, column;
    for (std::size_t p = 0; p < n_own; ++p)
        if (unlisted[p]) row.push_back(own.row[p]), column.push_back(own.column[p]);
    SingleItems less = reduced(problem, row, column);
    relevant.excluded = excluded_columns(relevant.columns, less, problem.n_column());
    if (!problem.has_junk()) relevant.singles = std::move(less);  // else it is next to junk, and counted there
    if (!problem.plain)                                           // where an item fills a column, nothing is next to it
        for (std::size_t p = 0; p < relevant.count.memory.size(); ++p) {
            if (relevant.count.memory[p] != 0 || relevant.irrelevant.memory[p] <= 0) continue;
            relevant.singles.rows.push_back(static_cast<std::int64_t>(p) / width);
            relevant.singles.columns.push_back(relevant.columns.memory[p]);
            relevant.singles.weights.push_back(relevant.irrelevant.memory[p]);
            relevant.irrelevant.memory[p] = 0;
        }
    score_relevant(problem, queries, relevant);
    return relevant;
}

SingleItems next_to_junk(const Problem &problem, Int64s queries) {
    Numbers64 row, column;
    const Int64s keys = problem.class_columns.keys;
    const auto heaviest = std::max_element(problem.weight.begin(), problem.weight.end());
    if (!problem.has_junk() || heaviest == problem.weight.end() || *heaviest < 2) return {};
    for (std::size_t i = 0; i < queries.size(); ++i) {
        const bool *is_junk = problem.junk.row(queries[i]);
        const std::int64_t own = problem.itself.empty() ? -1 : problem.itself[at(queries[i])];
        const std::int64_t number = problem.query_class[at(queries[i])];
        for (Index item = 0; item < problem.junk.columns; ++item) {
            if (!(is_junk[item] || item == own) || !problem.ranked[at(item)]) continue;
            const std::int64_t in_column = problem.column_of_item[at(item)], key = number * problem.n_column() + in_column;
            if (problem.weight[at(in_column)] < 2) continue;
            if (number >= 0 && std::binary_search(keys.begin(), keys.end(), key)) continue;
            row.push_back(static_cast<std::int64_t>(i));
            column.push_back(in_column);
        }
    }
    return reduced(problem, row, column);
}

}  // namespace deadheat
