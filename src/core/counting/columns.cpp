#include "counting/columns.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <type_traits>

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

template <class T>
void leave_out_junk(Junk junk, Int64s items, Int64s places, Matrix<T> tile) {
    using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    constexpr auto BELOW_ALL = std::bit_cast<Bits>(-std::numeric_limits<T>::infinity());
    for (Index i = 0; i < tile.rows; ++i) {
        const bool *is_junk = junk.mask.row(junk.queries[at(i)]);
        T *scores = tile.row(i);
        for (std::size_t k = 0; k < items.size(); ++k) {  // bit by bit, as the branch is unpredictable
            T &score = scores[places[k]];
            const Bits kept = static_cast<Bits>(is_junk[items[k]]) - 1;
            score = std::bit_cast<T>((std::bit_cast<Bits>(score) & kept) | (BELOW_ALL & ~kept));
        }
    }
}

template void leave_out_junk(Junk, Int64s, Int64s, Matrix<float>);
template void leave_out_junk(Junk, Int64s, Int64s, Matrix<double>);

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
