#include "distances/int8.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "bounds.h"

namespace deadheat {

namespace {

/// The least float that is not below a number.
float up(double x) {
    const auto near = static_cast<float>(x);
    return near < x ? std::nextafter(near, std::numeric_limits<float>::infinity()) : near;
}

}  // namespace

template <class T>
Int8Rows rounded_rows(Matrix<const T> rows) {
    const Index quads = (rows.columns + 3) / 4;
    Buffer<float> memory(at(rows.rows * quads));
    std::fill_n(memory.data(), rows.rows * quads, 0.0F);
    const RoundRow<T> round_row = std::get<RoundRow<T>>(int8_loops().round_row);
    const std::size_t n = at(rows.rows);
    std::vector<std::int32_t> sum(n);
    std::vector<float> unit(n), size(n), whole(n), rest(n);
    for (std::size_t i = 0; i < n; ++i) {
        const Span<const T> row = rows[static_cast<Index>(i)];
        double largest = 0, squares = 0, left = 0;
        for (T x : row) largest = std::max<double>(largest, std::fabs(x)), squares += static_cast<double>(x) * x;
        if (largest >= bounds::LEAST_INT8 && largest <= bounds::MOST_INT8) unit[i] = up(largest / 127);
        if (unit[i] > 0)
            round_row(row, unit[i], reinterpret_cast<std::int8_t *>(memory.data() + static_cast<Index>(i) * quads), sum[i],
                      left);
        else
            left = squares;
        using bounds::OF_INT8;
        const double length = std::sqrt(squares) * OF_INT8, of_rest = std::sqrt(left) * OF_INT8;
        const double of_whole = length + of_rest;
        size[i] = up(length), whole[i] = up(of_whole), rest[i] = up((of_rest + bounds::OF_WHOLE * of_whole) * OF_INT8);
    }
    return {.panels = packed<float>({memory.data(), rows.rows, quads, quads}),
            .sum = std::move(sum),
            .unit = std::move(unit),
            .size = std::move(size),
            .whole = std::move(whole),
            .rest = std::move(rest)};
}

template Int8Rows rounded_rows(Matrix<const float>);
template Int8Rows rounded_rows(Matrix<const double>);

}  // namespace deadheat
