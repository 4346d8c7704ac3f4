#include "counting/columns.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace deadheat {

void relevant_columns(Int64s classes, Int64s starts, Int64s keys, Int64s sizes, Span<const std::int32_t> weight,
                      Matrix<std::int64_t> columns, Matrix<std::int64_t> count, Matrix<std::int64_t> irrelevant) {
    const auto n_column = static_cast<Index>(weight.size());
    for (Index i = 0; i < columns.rows; ++i) {
        const Index number = classes[at(i)];
        // a query without a class has no columns
        const Index start = number < 0 ? 0 : starts[at(number)], n = number < 0 ? 0 : starts[at(number + 1)] - start;
        for (Index j = 0; j < n; ++j) {
            const Index column = keys[at(start + j)] - number * n_column;
            columns(i, j) = column;
            count(i, j) = sizes[at(start + j)];
            irrelevant(i, j) = weight[at(column)] - sizes[at(start + j)];
        }
        for (Index j = n; j < columns.columns; ++j) {
            columns(i, j) = n_column;
            count(i, j) = irrelevant(i, j) = 0;
        }
    }
}

void take_out(Int64s rows, Int64s taken, Span<const bool> same_class, Matrix<const std::int64_t> columns,
              Matrix<std::int64_t> count, Matrix<std::int64_t> irrelevant, Span<bool> unlisted) {
    for (std::size_t p = 0; p < rows.size(); ++p) {
        const Index i = rows[p];
        const auto listed = columns[i];
        const auto found = std::lower_bound(listed.begin(), listed.end(), taken[p]);
        unlisted[p] = found == listed.end() || *found != taken[p];
        if (!unlisted[p]) --(same_class[p] ? count : irrelevant)(i, found - listed.begin());
    }
}

void take_out_junk(Junk junk, Int64s itself, Int64s classes, Int64s class_of_item, ItemsOfColumns items,
                   Matrix<const std::int64_t> columns, Matrix<std::int64_t> count, Matrix<std::int64_t> irrelevant) {
    const auto n_column = static_cast<Index>(items.starts.size()) - 1;
    for (Index i = 0; i < columns.rows; ++i) {
        const bool *is_junk = junk.mask.row(junk.queries[at(i)]);
        for (Index j = 0; j < columns.columns && columns(i, j) < n_column; ++j) {
            const Index column = columns(i, j);
            for (Index k = items.starts[at(column)]; k < items.starts[at(column + 1)]; ++k) {
                const Index item = items.items[at(k)];
                if (!is_junk[item] || item == itself[at(i)]) continue;
                --(class_of_item[at(item)] == classes[at(i)] ? count : irrelevant)(i, j);
            }
        }
    }
}

void columns_of_junk(Junk junk, ItemsOfColumns items, Matrix<std::uint64_t> columns) {
    const auto n_column = static_cast<Index>(items.starts.size()) - 1;
    for (Index i = 0; i < columns.rows; ++i) {
        const bool *is_junk = junk.mask.row(junk.queries[at(i)]);
        for (Index word = 0; word < columns.columns; ++word) {
            std::uint64_t bits = 0;
            for (Index c = 64 * word; c < std::min(64 * (word + 1), n_column); ++c)
                for (Index k = items.starts[at(c)]; k < items.starts[at(c + 1)]; ++k)
                    bits |= static_cast<std::uint64_t>(is_junk[items.items[at(k)]]) << (c & 63);
            columns(i, word) = bits;
        }
    }
}

template <class T>
void leave_out(Matrix<const std::uint64_t> marked, Index column, Matrix<T> tile) {
    if (tile.columns == 0) return;
    const Index first = column / 64, last = (column + tile.columns - 1) / 64;
    for (Index i = 0; i < tile.rows; ++i)
        for (Index word = first; word <= last; ++word) {
            std::uint64_t bits = marked(i, word);
            if (word == first) bits &= ~std::uint64_t{0} << (column & 63);
            if (word == last) bits &= ~std::uint64_t{0} >> (63 - ((column + tile.columns - 1) & 63));
            for (; bits != 0; bits &= bits - 1)
                tile(i, 64 * word + std::countr_zero(bits) - column) = -std::numeric_limits<T>::infinity();
        }
}

template void leave_out(Matrix<const std::uint64_t>, Index, Matrix<float>);
template void leave_out(Matrix<const std::uint64_t>, Index, Matrix<double>);

void expand(Matrix<const std::int64_t> columns, Matrix<const std::int64_t> group, Int64s by_column, Int64s starts,
            Int64s first_excluded, Int64s excluded, Matrix<std::int64_t> items, Matrix<std::int64_t> numbers) {
    for (Index row = 0; row < columns.rows; ++row) {
        const auto left_out =
            excluded.subspan(at(first_excluded[at(row)]), at(first_excluded[at(row + 1)] - first_excluded[at(row)]));
        std::int64_t *out = items.row(row);
        Index place = 0, first = 0, last_group = -1;
        for (Index entry = columns.columns - 1; entry >= 0; --entry) {
            const Index number = group(row, entry);
            if (number < 0) continue;
            if (number != last_group) {
                std::sort(out + first, out + place);
                first = place;
                last_group = number;
            }
            const Index column = columns(row, entry);
            for (Index k = starts[at(column)]; k < starts[at(column + 1)]; ++k) {
                const Index item = by_column[at(k)];
                if (std::binary_search(left_out.begin(), left_out.end(), item)) continue;
                out[place] = item;
                numbers(row, place) = number;
                ++place;
            }
        }
        std::sort(out + first, out + place);
    }
}

}  // namespace deadheat
