#include "ties/groups.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "bounds.h"

namespace deadheat {

namespace {

constexpr double INFINITE = std::numeric_limits<double>::infinity();

template <class T>
void reorder(T *numbers, Int64s order) {
    thread_local std::vector<T> before;
    before.assign(numbers, numbers + order.size());
    for (std::int64_t position : order) *numbers++ = before[at(position)];
}

/// starts[j] where all of the scores from j on are surely above all before it.
void note_starts(const double *score, const double *bound, Index n, bool *starts, std::vector<double> &lowest) {
    lowest.resize(at(n));
    double least = INFINITE;
    for (Index j = n - 1; j >= 0; --j) lowest[at(j)] = least = std::min(least, score[j] - bound[j]);
    double highest = -INFINITE;
    for (Index j = 0; j < n; ++j) {
        if (j > 0) starts[j] = highest < lowest[at(j)];
        highest = std::max(highest, score[j] + bound[j]);
    }
}

/// Return whether no number is below the one before; all are compared, which is faster than to stop.
bool ascending(Span<const double> numbers) {
    bool all = true;
    for (std::size_t k = 1; k < numbers.size(); ++k) all &= numbers[k - 1] <= numbers[k];
    return all;
}

/// Bound a threshold that is a score which may be off by `reach`, with slack for the roundings here.
void set_cut(double value, double tolerance, double &low, double &high) {
    const double slack = bounds::OF_CUT * (std::fabs(value) + tolerance) + bounds::LEAST_OF_CUT;
    low = (value - tolerance) - slack;
    high = (value + tolerance) + slack;
}

}  // namespace

void reorder(const Entries &entries, Index i, Index begin, Int64s order) {
    for (auto matrix : {entries.columns, entries.count, entries.irrelevant}) reorder(matrix.row(i) + begin, order);
    for (auto matrix : {entries.score, entries.bound}) reorder(matrix.row(i) + begin, order);
}

void sort_rows(Matrix<const std::int64_t> order, Entries entries, Flags starts) {
    std::vector<double> lowest;
    for (Index i = 0; i < order.rows; ++i) {
        reorder(entries, i, 0, order[i]);
        Index n_entry = 0;
        for (std::int64_t count : entries.count[i]) n_entry += count > 0;
        std::fill_n(starts.row(i), starts.columns, false);
        if (n_entry > 0) starts(i, 0) = true;
        note_starts(entries.score.row(i), entries.bound.row(i), n_entry, starts.row(i), lowest);
    }
}

Index unsure_runs(Matrix<const bool> starts, Matrix<const std::int64_t> count, Matrix<const double> bound,
                  Matrix<std::int64_t> runs) {
    Index n = 0;
    for (Index i = 0; i < starts.rows; ++i) {
        Index begin = 0;
        for (Index j = 1; j <= starts.columns; ++j) {
            if (j < starts.columns && count(i, j) > 0 && !starts(i, j)) continue;
            if (j - begin > 1 && *std::max_element(bound.row(i) + begin, bound.row(i) + j) > 0) {
                runs(0, n) = i, runs(1, n) = begin, runs(2, n) = j;
                ++n;
            }
            begin = j;
            if (j == starts.columns || count(i, j) == 0) break;
        }
    }
    return n;
}

void number_groups(Matrix<const bool> starts, Matrix<const std::int64_t> count, Matrix<std::int64_t> group,
                   Matrix<std::int64_t> first, Matrix<std::int32_t> total) {
    for (Index i = 0; i < starts.rows; ++i) {
        Index current = -1;
        for (Index j = 0; j < starts.columns && count(i, j) != 0; ++j) {
            if (starts(i, j)) first(i, ++current) = j;
            group(i, j) = current;
            total(i, current) += static_cast<std::int32_t>(count(i, j));
        }
    }
}

bool single_items(const Entries &entries, Span<std::int64_t> n_entry, Span<double> tolerance, Span<bool> has_zero) {
    std::int64_t others = 0;
    for (std::size_t i = 0; i < n_entry.size(); ++i) {
        const auto row = static_cast<Index>(i);
        const std::int64_t *count = entries.count.row(row), *irrelevant = entries.irrelevant.row(row);
        const double *score = entries.score.row(row), *bound = entries.bound.row(row);
        std::int64_t n = 0;
        double most = 0;
        bool zero = false;
        for (Index j = 0; j < entries.count.columns; ++j) {
            n += count[j] > 0;
            others |= (count[j] & ~std::int64_t{1}) | irrelevant[j];
            most = most < bound[j] ? bound[j] : most;
            zero |= (score[j] == 0) & (bound[j] == 0);
        }
        n_entry[i] = n, tolerance[i] = most, has_zero[i] = zero;
    }
    return others == 0;
}

bool all_distinct(Matrix<const double> score, Span<const double> tolerance, Int64s n_entry) {
    for (Index i = 0; i < score.rows; ++i) {
        const double *row = score.row(i), off = tolerance[at(i)];
        bool distinct = true;
        for (Index j = 1; j < n_entry[at(i)]; ++j) distinct &= row[j] - off > row[j - 1] + off;
        if (!distinct) return false;
    }
    return true;
}

void exact_cuts(Matrix<const double> score, Matrix<const double> bound, Int64s n_group, Matrix<double> low,
                Matrix<double> high) {
    const Index step = bound.columns == 1 ? 0 : 1;
    for (Index i = 0; i < score.rows; ++i) {
        const Index n = n_group[at(i)];
        const double *value = score.row(i), *tolerance = bound.row(i);
        double *lowest = low.row(i), *highest = high.row(i);
        if (step == 0 && n > 0 && tolerance[0] != 0) {
            const double of_all = tolerance[0];
            for (Index g = 0; g < n; ++g) set_cut(value[g], of_all, lowest[g], highest[g]);
        } else {
            for (Index g = 0; g < n; ++g) {
                if (tolerance[step * g] == 0)
                    lowest[g] = value[g], highest[g] = next_number(value[g]);
                else
                    set_cut(value[g], tolerance[step * g], lowest[g], highest[g]);
            }
        }
        std::fill(lowest + n, lowest + score.columns, INFINITE);
        std::fill(highest + n, highest + score.columns, INFINITE);
    }
}

void make_ascending(Matrix<double> low, Matrix<double> high) {
    for (Index i = 0; i < low.rows; ++i) {
        if (!ascending(high[i]))
            for (Index c = 1; c < low.columns; ++c) high(i, c) = std::max(high(i, c), high(i, c - 1));
        if (!ascending(low[i]))
            for (Index c = low.columns - 1; c > 0; --c) low(i, c - 1) = std::min(low(i, c - 1), low(i, c));
    }
}

}  // namespace deadheat
