#include "distances/int8.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace deadheat {

namespace {

constexpr double LEAST = 0x1p-50, MOST = 0x1p60;  // the largest number of a row that is rounded: products stay normal

// Roundings of float32. A product of units and sum is off by 4 · 2^-24 of |Σ|, at most 2 · whole · size; then two terms of
// the bound and two sums follow, 2^-22 of each. So 2^-19 · whole · size and a part of 2^-18 of each term hold all of it.
constexpr double OF_WHOLE = 0x1p-19, MORE = 1 + 0x1p-18;

/// The least float that is not below a number.
float up(double x) {
    const auto near = static_cast<float>(x);
    return near < x ? std::nextafter(near, std::numeric_limits<float>::infinity()) : near;
}

void round_row(Span<const float> row, double unit, std::int8_t *out, std::int32_t &sum, double &rest) {
    int8_loops().round_single(row, unit, out, sum, rest);
}
void round_row(Span<const double> row, double unit, std::int8_t *out, std::int32_t &sum, double &rest) {
    int8_loops().round_double(row, unit, out, sum, rest);
}

}  // namespace

template <class T>
Int8Rows rounded_rows(Matrix<const T> rows) {
    const Index quads = (rows.columns + 3) / 4;
    Buffer<float> memory(at(rows.rows * quads));
    std::fill_n(memory.data(), rows.rows * quads, 0.0F);
    const std::size_t n = at(rows.rows);
    std::vector<std::int32_t> sum(n);
    std::vector<float> unit(n), size(n), whole(n), rest(n);
    for (std::size_t i = 0; i < n; ++i) {
        const Span<const T> row = rows[static_cast<Index>(i)];
        double largest = 0, squares = 0, left = 0;
        for (T x : row) largest = std::max<double>(largest, std::fabs(x)), squares += static_cast<double>(x) * x;
        if (largest >= LEAST && largest <= MOST) unit[i] = up(largest / 127);
        if (unit[i] > 0)
            round_row(row, unit[i], reinterpret_cast<std::int8_t *>(memory.data() + static_cast<Index>(i) * quads), sum[i],
                      left);
        else
            left = squares;
        const double length = std::sqrt(squares) * MORE, of_rest = std::sqrt(left) * MORE, of_whole = length + of_rest;
        size[i] = up(length), whole[i] = up(of_whole), rest[i] = up((of_rest + OF_WHOLE * of_whole) * MORE);
    }
    return {packed<float>({memory.data(), rows.rows, quads, quads}),
            std::move(sum),
            std::move(unit),
            std::move(size),
            std::move(whole),
            std::move(rest)};
}

template Int8Rows rounded_rows(Matrix<const float>);
template Int8Rows rounded_rows(Matrix<const double>);

}  // namespace deadheat
