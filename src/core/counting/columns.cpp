#include "counting/columns.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace deadheat {

void relevant_columns(Int64s classes, const ClassColumns &of_class, Span<const std::int32_t> weight, const Entries &out) {
    const auto n_column = static_cast<Index>(weight.size());
    for (Index i = 0; i < out.columns.rows; ++i) {
        const Index number = classes[at(i)], n = of_class.width(number);
        for (Index j = 0; j < n; ++j) {
            const std::size_t entry = at(of_class.starts[at(number)] + j);
            const Index column = of_class.keys[entry] - number * n_column;
            out.columns(i, j) = column;
            out.count(i, j) = of_class.sizes[entry];
            out.irrelevant(i, j) = weight[at(column)] - of_class.sizes[entry];
        }
        for (Index j = n; j < out.columns.columns; ++j) {
            out.columns(i, j) = n_column;
            out.count(i, j) = out.irrelevant(i, j) = 0;
        }
    }
}

void take_out(Int64s rows, Int64s taken, Span<const bool> same_class, const Entries &entries, Span<bool> unlisted) {
    for (std::size_t p = 0; p < rows.size(); ++p) {
        const Index i = rows[p];
        const auto listed = entries.columns[i];
        const auto result = std::lower_bound(listed.begin(), listed.end(), taken[p]);
        unlisted[p] = result == listed.end() || *result != taken[p];
        if (!unlisted[p]) --(same_class[p] ? entries.count : entries.irrelevant)(i, result - listed.begin());
    }
}

void take_out_junk(Junk junk, Int64s itself, Int64s classes, Int64s class_of_item, ItemLists items_of_column,
                   const Entries &entries) {
    const Index n_column = items_of_column.size();
    for (Index i = 0; i < entries.columns.rows; ++i) {
        const bool *is_junk = junk.mask.row(junk.queries[at(i)]);
        for (Index j = 0; j < entries.columns.columns && entries.columns(i, j) < n_column; ++j)
            for (const Index item : items_of_column[entries.columns(i, j)])
                if (is_junk[item] && item != itself[at(i)])
                    --(class_of_item[at(item)] == classes[at(i)] ? entries.count : entries.irrelevant)(i, j);
    }
}

void columns_of_junk(Junk junk, ItemLists items_of_column, Matrix<std::uint64_t> columns) {
    for (Index i = 0; i < columns.rows; ++i) {
        const bool *is_junk = junk.mask.row(junk.queries[at(i)]);
        for (Index word = 0; word < columns.columns; ++word) {
            std::uint64_t bits = 0;
            for (Index c = 64 * word; c < std::min(64 * (word + 1), items_of_column.size()); ++c)
                for (const Index item : items_of_column[c]) bits |= static_cast<std::uint64_t>(is_junk[item]) << (c & 63);
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

void expand(Matrix<const std::int64_t> columns, Matrix<const std::int64_t> group, ItemLists items_of_column,
            ItemLists excluded, Matrix<std::int64_t> items, Matrix<std::int64_t> numbers) {
    for (Index row = 0; row < columns.rows; ++row) {
        const Int64s left_out = excluded[row];
        std::int64_t *out = items.row(row);
        Index position = 0, first = 0, last_group = -1;
        for (Index entry = columns.columns - 1; entry >= 0; --entry) {
            const Index number = group(row, entry);
            if (number < 0) continue;
            if (number != last_group) {
                std::sort(out + first, out + position);
                first = position;
                last_group = number;
            }
            for (const Index item : items_of_column[columns(row, entry)]) {
                if (std::binary_search(left_out.begin(), left_out.end(), item)) continue;
                out[position] = item;
                numbers(row, position) = number;
                ++position;
            }
        }
        std::sort(out + first, out + position);
    }
}

}  // namespace deadheat
