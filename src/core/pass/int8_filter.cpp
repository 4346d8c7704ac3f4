#include "pass/int8_filter.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace deadheat {

namespace {

constexpr std::size_t FEW = 16;        // a part of a row's items so small that they are cheaper one by one,
constexpr std::size_t FEW_ROWS = 16;   // and a part of the rows so small that it pays to count these by themselves
constexpr std::size_t FEW_ITEMS = 80;  // the same of all other items
constexpr Index MANY = 4;              // a part of a tile, relevant items included, that is too much
constexpr Index SAMPLED_ROWS = 16;     // queries to judge by
constexpr Index SAMPLED_COLUMNS = 512;

/// Round the offsets of items down to float32.
std::vector<float> offsets(const Scores &scores, Int64s items) {
    std::vector<float> result(items.size());
    if (!scores.offset.empty())
        for (std::size_t p = 0; p < items.size(); ++p) {
            const double offset = scores.offset[at(items[p])];
            result[p] = std::nextafter(static_cast<float>(offset), -std::numeric_limits<float>::infinity());
        }
    return result;
}

Span<const float> part(const std::vector<float> &all, Index from, Index n) {
    return Span<const float>(all).subspan(at(from), at(n));
}

/// The items of a view in places, (row, column) by turns: rows of the block, and columns.
void listed(const std::vector<std::int32_t> &places, Index row, Index column, bool transposed, Numbers64 &rows,
            Numbers64 &columns) {
    for (std::size_t p = 0; p < places.size(); p += 2) {
        rows.push_back(row + places[p + (transposed ? 1 : 0)]);
        columns.push_back(column + places[p + (transposed ? 0 : 1)]);
    }
}

/// Take out the items of rows that have more than a few, of so many; returns these rows.
Numbers64 take_out_rows(Numbers64 &rows, Numbers64 &columns, Index first, Index n_row, Index n_column) {
    std::vector<std::size_t> n_item(at(n_row));
    for (std::int64_t row : rows) ++n_item[at(row - first)];
    Numbers64 many;
    for (Index i = 0; i < n_row; ++i)
        if (n_item[at(i)] * FEW > at(n_column)) many.push_back(i);
    if (many.empty()) return many;
    std::size_t n = 0;
    for (std::size_t p = 0; p < rows.size(); ++p)
        if (n_item[at(rows[p] - first)] * FEW <= at(n_column)) rows[n] = rows[p], columns[n++] = columns[p];
    rows.resize(n), columns.resize(n);
    return many;
}

/// Return whether the rows, and the items of other rows, that are undecided are few enough.
bool pays(std::size_t n_item, std::size_t rows_left, Index n_row, Index n_column) {
    return rows_left * FEW_ROWS <= at(n_row) && n_item * FEW_ITEMS <= at(n_row * n_column);
}

/// Return about `n` evenly spaced ones of some numbers.
Numbers64 sample(Int64s numbers, Index n) {
    Numbers64 some;
    for (std::size_t p = 0; p < numbers.size(); p += std::max<std::size_t>(1, numbers.size() / at(n)))
        some.push_back(numbers[p]);
    return some;
}

}  // namespace

Int8Filter::Int8Filter(const Problem &problem, const Ready &left, const Ready &right, const std::vector<TileView> &views)
    : problem_(problem), left_(*left.int8), right_(*right.int8), views_(views) {
    const Scores &scores = *problem.scores;
    for (const TileView &view : views) {
        const Index n_column = limits_.empty() ? right.n : left.n;
        limits_.push_back(
            {view.block->limits(view.band), offsets(scores, scores.item_of_column.subspan(at(view.start), at(n_column)))});
    }
}

bool Int8Filter::count(Index row, Index column, Index n, Index m) {
    if (!views_[0].block->far || !views_.back().block->far) return false;
    const bool both = views_.size() > 1;
    const Span<const float> none;
    const Int8Limits of_rows{part(limits_[0].limit, row, n), both ? part(limits_[1].offset, row, n) : none},
        of_columns{both ? part(limits_[1].limit, column, m) : none, part(limits_[0].offset, column, m)};
    Reaching result{at(n * m / MANY)};
    int8_loops().reaching({left_, row, of_rows}, {right_, column, of_columns}, result);
    if (!result.all) return false;  // mostly relevant items, perhaps
    Numbers64 rows[2], columns[2];
    for (std::size_t k = 0; k < views_.size(); ++k) {
        const TileView &view = views_[k];
        const Index first = k == 0 ? row : column, n_row = k == 0 ? n : m, n_column = k == 0 ? m : n;
        listed(k == 0 ? result.of_row : result.of_column, first, view.start + (k == 0 ? column : row), k == 1, rows[k],
               columns[k]);
        view.block->leave_out(rows[k], columns[k]);
        left_open_[k] = take_out_rows(rows[k], columns[k], first, n_row, n_column);
        if (!pays(rows[k].size(), left_open_[k].size(), n_row, n_column)) return view.block->far = false;
    }
    for (std::size_t k = 0; k < views_.size(); ++k)
        views_[k].block->count({.rows = rows[k], .columns = columns[k], .weights = problem_.weights_of(columns[k])},
                               *views_[k].tallies, views_[k].lock);
    return true;
}

bool few_pass_int8(const Problem &problem, Int64s queries, const StopFlag &stop) {
    const Scores &scores = *problem.scores;
    if (!int8_loops().fast() || scores.form != Form::product || !scores.squares.empty() || problem.has_junk() ||
        problem.patterns != nullptr || scores.dim() > MOST_INT8_DIM ||
        static_cast<Index>(queries.size()) * problem.n_column() < problem.least_for_int8)
        return false;
    const Numbers64 some = sample(queries, SAMPLED_ROWS);
    Block block(problem, some, stop);
    std::vector<float> limit = block.limits(0);
    for (std::size_t band = 1; band < scores.bands.size(); ++band) {
        const std::vector<float> other = block.limits(static_cast<Index>(band));
        for (std::size_t i = 0; i < limit.size(); ++i) limit[i] = std::min(limit[i], other[i]);
    }
    Numbers64 columns(at(problem.n_column()));
    std::iota(columns.begin(), columns.end(), 0);
    columns = sample(columns, SAMPLED_COLUMNS);
    Numbers64 items(columns.size());
    for (std::size_t p = 0; p < items.size(); ++p) items[p] = scores.item_of_column[at(columns[p])];
    const Ready left = scores.ready_queries(0, some, true), right = scores.ready_columns(0, items, true);
    const std::vector<float> offset = offsets(scores, items);
    Reaching result{some.size() * columns.size()};
    int8_loops().reaching({*left.int8, 0, {limit, {}}}, {*right.int8, 0, {{}, offset}}, result);
    Numbers64 rows, places;
    listed(result.of_row, 0, 0, false, rows, places);
    for (std::int64_t &position : places) position = columns[at(position)];
    block.leave_out(rows, places);
    const auto n_row = static_cast<Index>(some.size()), n_column = static_cast<Index>(columns.size());
    const std::size_t left_open = take_out_rows(rows, places, 0, n_row, n_column).size();
    return pays(rows.size(), left_open, n_row, n_column);
}

}  // namespace deadheat
