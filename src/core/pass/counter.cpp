#include "pass/counter.h"

#include <algorithm>
#include <cmath>

#include "counting/edges.h"
#include "counting/undecided.h"

namespace deadheat {

namespace {

constexpr Index ENOUGH_SEEN = 1 << 10;  // items that only exact arithmetic has decided before it is used at once,
constexpr double MOSTLY = 0.75;         // if it decides so many of all open ones
constexpr std::size_t MOST_EDGES = 4;   // tables that are kept: those of bands that have been passed are not

/// Return the number of bins for `n_edge` edges: about two each, as long as a row of bins stays in cache.
Index n_bins(Index n_edge) {
    const double bits = std::ceil(std::log2(2.0 * static_cast<double>(std::max<Index>(1, n_edge))));
    return Index{1} << static_cast<int>(std::clamp(bits, 9.0, 11.0));
}

template <class T>
Matrix<T> rows_of(Matrix<T> matrix, Index first, Index n) {
    return {matrix.row(first), n, matrix.columns, matrix.stride};
}

}  // namespace

Counter::Counter(const Problem &problem, Int64s queries, CutBounds cuts, const Members &members, Index number)
    : counts(cuts.low.rows, 2 * cuts.low.columns + 1),
      problem_(problem),
      queries_(queries),
      cuts_(std::move(cuts)),
      members_(members),
      number_(number),
      placing_(problem, queries, cuts_, members) {}

// Step 1 -------------------------------------------------------------------------------------------------------------

template <class T>
std::shared_ptr<const EdgeTable<T>> Counter::edges(int level, Index band) {
    const std::lock_guard hold(lock_);
    auto &kept = edges_[{level, band}];
    if (!kept) {
        auto made = make_edges<T>(level, band);
        if (edges_.size() > MOST_EDGES) edges_.clear();
        edges_[{level, band}] = made;
        return made;
    }
    return std::static_pointer_cast<const EdgeTable<T>>(kept);
}

template <class T>
std::shared_ptr<const EdgeTable<T>> Counter::make_edges(int level, Index band) {
    const Scores &scores = *problem_.scores;
    const ScoreLevel &described = scores.levels[at(level)];
    const Index n_row = cuts_.low.rows;
    auto made = std::make_shared<EdgeTable<T>>();
    std::vector<Errors> errors;
    for (std::int64_t query : queries_) errors.push_back(scores.errors(level, query, scores.bands[at(band)]));
    made->closed = described.exact && (cuts_.per_interval == 2 || cuts_.sharp);
    made->edges = Table<T>::unset(n_row, 2 * cuts_.low.columns + 1);
    made->n_edge = build_edges<T>(cuts_.low, cuts_.high, errors, made->closed, made->edges);
    const bool few = made->n_edge <= FEW_EDGES;
    const Index n_bin = few ? 1 : n_bins(made->n_edge);
    made->base.resize(at(n_row)), made->scale.resize(at(n_row));
    made->codes = Table<std::uint16_t>(n_row, n_bin);
    if (!few) build_bins<T>(made->edges, made->closed, made->base, made->scale, made->codes);
    return made;
}

template <class T>
Index Counter::filter(const Tile<T> &tile, Matrix<const std::int32_t> excluded, const EdgeTable<T> &table,
                      Matrix<std::int32_t> tally, Matrix<std::int32_t> opened) {
    const Index row = tile.row, n_row = tile.scores.rows, n_column = tile.scores.columns;
    const TileColumns columns{tile.column, problem_.weight.subspan(at(tile.column), at(n_column)), problem_.plain,
                              rows_of(excluded, row, n_row)};
    const Matrix<const T> edges = rows_of(Matrix<const T>(table.edges), row, n_row);
    const auto part = [&](const auto &all) {
        return Span<const typename std::decay_t<decltype(all)>::value_type>(all).subspan(at(row), at(n_row));
    };
    const RowTables<T> tables{edges,
                              table.n_edge,
                              table.closed,
                              part(table.base),
                              part(table.scale),
                              rows_of(Matrix<const std::uint16_t>(table.codes), row, n_row)};
    return std::get<CountingLoops<T>>(counting_loops())
        .count(tile.scores, columns, tables, rows_of(tally, row, n_row), opened);
}

// The shortcut -------------------------------------------------------------------------------------------------------

const MatchCounts *Counter::match_counts() {
    if (problem_.patterns == nullptr || cuts_.per_interval != 2) return nullptr;
    std::call_once(matched_, [&] {
        const Patterns &patterns = *problem_.patterns;
        auto met = std::make_unique<MatchCounts>();
        const Index n_row = cuts_.low.rows, n_group = cuts_.low.columns;
        met->masks = Table<std::uint64_t>(n_row, patterns.query.columns);
        Numbers64 rows, groups;
        for (Index i = 0; i < n_row; ++i) {
            const std::uint64_t *mask = patterns.query.row(queries_[at(i)]);
            std::copy_n(mask, patterns.query.columns, met->masks.row(i));
            met->tables.push_back(patterns.query_table[at(queries_[at(i)])]);
            for (Index g = 0; g < n_group && std::isfinite(cuts_.low(i, g)); ++g) rows.push_back(i), groups.push_back(g);
        }
        Numbers64 items = members_.columns(rows, groups);
        for (std::int64_t &item : items) item = problem_.scores->item_of_column[at(item)];
        Table<std::uint16_t> result(static_cast<Index>(rows.size()), MATCH_COUNTS);
        std::vector<std::int32_t> kind(rows.size());
        Patterns placed = patterns;
        placed.query = met->masks, placed.query_table = met->tables;
        pattern_loops().count_matches(placed, rows, items, result, kind);
        met->counts = Table<std::uint16_t>(n_row, n_group * MATCH_COUNTS);
        met->kind = Table<std::int32_t>(n_row, n_group, -1);
        for (std::size_t p = 0; p < rows.size(); ++p) {
            std::copy_n(result.row(static_cast<Index>(p)), MATCH_COUNTS,
                        met->counts.row(rows[p]) + groups[p] * MATCH_COUNTS);
            met->kind(rows[p], groups[p]) = kind[p];
        }
        match_counts_ = std::move(met);
    });
    return match_counts_.get();
}

template <class T>
Index Counter::count_same_pattern(const Tile<T> &tile, Matrix<std::int32_t> opened, Span<double> scores,
                                  Matrix<std::int32_t> tally) {
    const Index row = tile.row, n_row = tile.scores.rows, column = tile.column, n_column = tile.scores.columns;
    const MatchCounts &met = *match_counts();
    const Patterns &patterns = *problem_.patterns;
    Table<std::uint64_t> masks(n_column, patterns.item.columns);
    std::vector<std::int32_t> tables(at(n_column)), kinds(at(n_column));
    for (Index j = 0; j < n_column; ++j) {
        const std::int64_t item = problem_.scores->item_of_column[at(column + j)];
        std::copy_n(patterns.item.row(item), masks.columns, masks.row(j));
        tables[at(j)] = patterns.item_table[at(item)], kinds[at(j)] = patterns.item_kind[at(item)];
    }
    Patterns placed = patterns;
    placed.query = rows_of(Matrix<const std::uint64_t>(met.masks), row, n_row);
    placed.query_table = Span<const std::int32_t>(met.tables).subspan(at(row), at(n_row));
    placed.item = masks, placed.item_table = tables, placed.item_kind = kinds;
    const GroupMatches groups{rows_of(Matrix<const std::uint16_t>(met.counts), row, n_row),
                              rows_of(Matrix<const std::int32_t>(met.kind), row, n_row)};
    return pattern_loops().count_same_pattern(opened, scores, placed, groups,
                                              problem_.weight.subspan(at(column), at(n_column)), rows_of(tally, row, n_row));
}

// Steps 2 and 3 ------------------------------------------------------------------------------------------------------

template <class T>
Index Counter::count(Tile<T> tile, Matrix<const std::int32_t> excluded, Tally &tally, SingleItems &items) {
    const auto table = edges<T>(tile.level, tile.band);
    const Index n_row = tile.scores.rows, n_column = tile.scores.columns;
    thread_local Buffer<std::int32_t> memory;
    if (memory.size() < at(3 * n_row * n_column)) memory.resize(at(3 * n_row * n_column));
    Matrix<std::int32_t> opened{memory.data(), 3, n_row * n_column, n_row * n_column};
    Index n = filter(tile, excluded, *table, tally.counts, opened);
    if (n == 0) return 0;
    std::vector<double> scores(tile.level == problem_.scores->last() ? at(n) : 0);
    for (std::size_t p = 0; p < scores.size(); ++p)
        scores[p] = static_cast<double>(tile.scores(opened(0, static_cast<Index>(p)), opened(1, static_cast<Index>(p))));
    opened.columns = n;
    if (match_counts() != nullptr) n = count_same_pattern(tile, opened, scores, tally.counts);
    opened.columns = n;
    if (mostly_exact()) {
        leave_to_exact<T>(tile, opened, *table, tally);
        return n;
    }
    for (auto *numbers : {&items.rows, &items.columns, &items.guess, &items.weights}) numbers->resize(at(n));
    for (std::size_t p = 0; p < at(n); ++p) {
        const auto q = static_cast<Index>(p);
        items.rows[p] = opened(0, q) + tile.row, items.columns[p] = opened(1, q) + tile.column;
        items.guess[p] = opened(2, q) >> 1, items.weights[p] = problem_.weight[at(items.columns[p])];
    }
    scores.resize(scores.empty() ? 0 : at(n));
    items.scores = std::move(scores);
    return n;
}

/// Return whether exact arithmetic decides nearly all items that float32 leaves undecided.
bool Counter::mostly_exact() const {
    return problem_.rule == nullptr && problem_.exact != nullptr &&
           static_cast<double>(n_exact_) > std::max<double>(ENOUGH_SEEN, MOSTLY * static_cast<double>(n_refined_));
}

/// Place listed items of a tile: at once if rows are short integers, else with the others of the tally.
template <class T>
void Counter::leave_to_exact(const Tile<T> &tile, Matrix<const std::int32_t> listed, const EdgeTable<T> &table,
                             Tally &tally) {
    UndecidedItems at_once;
    const bool integers = placing_.has_integers();
    UndecidedItems &items = integers ? at_once : tally.undecided;
    if (integers) items.reserve(at(listed.columns));
    for (Index p = 0; p < listed.columns; ++p) {
        const std::int32_t i = listed(0, p) + static_cast<std::int32_t>(tile.row);
        const std::int32_t j = listed(1, p) + static_cast<std::int32_t>(tile.column);
        const auto [low, high] = intervals_of_slot<T>(listed(2, p), table.edges.row(i), Matrix<const double>(cuts_.low)[i]);
        items.push_back({i, j, static_cast<std::int32_t>(low), static_cast<std::int32_t>(high), problem_.weight[at(j)]});
    }
    placing_.count_integers(at_once, tally.counts);
}

void Counter::place(const SingleItems &items, Tally &tally) {
    Numbers64 query(items.rows.size());
    for (std::size_t p = 0; p < query.size(); ++p) query[p] = queries_[at(items.rows[p])];
    std::vector<double> errors(query.size());
    problem_.scores->pair_bounds(query, items.columns, items.scores, errors);
    Table<std::int64_t> listed(3, static_cast<Index>(query.size()));
    const Index n = undecided_loops().place_pairs({items.rows, items.guess, items.scores, errors, items.weights},
                                                  {cuts_.low, cuts_.high, tally.counts}, cuts_.per_interval, listed);
    n_refined_ += static_cast<Index>(query.size()), n_exact_ += n;
    const auto number = [](std::int64_t wide) { return static_cast<std::int32_t>(wide); };
    for (Index q = 0; q < n; ++q) {
        const std::size_t p = at(listed(0, q));
        tally.undecided.push_back({number(items.rows[p]), number(items.columns[p]),
                                   number(listed(1, q) / cuts_.per_interval), number(listed(2, q) / cuts_.per_interval),
                                   number(items.weights[p])});
    }
}

void Counter::decide(UndecidedItems &items, Matrix<std::int32_t> tally, Decision *decision, const StopFlag &stop) {
    if (items.empty()) return;
    if (decision == nullptr) {
        placing_.count(items, tally, stop);
    } else {
        const Numbers64 below = decision->cuts_below(number_, items);
        for (std::size_t p = 0; p < below.size(); ++p)
            tally(items[p].row, below[p] * (2 / cuts_.per_interval)) += items[p].weight;
    }
    items = {};
}

template Index Counter::count(Tile<float>, Matrix<const std::int32_t>, Tally &, SingleItems &);
template Index Counter::count(Tile<double>, Matrix<const std::int32_t>, Tally &, SingleItems &);
template std::shared_ptr<const EdgeTable<float>> Counter::edges(int, Index);
template std::shared_ptr<const EdgeTable<double>> Counter::edges(int, Index);

}  // namespace deadheat
