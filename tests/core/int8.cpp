// Rows rounded to int8: what may reach a limit is found, whatever the rest of the rows is, and what is far from it is not.
#include "distances/int8.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "check.h"

namespace {

using namespace deadheat;
using namespace deadheat::tests;

using Places = std::set<std::pair<std::int32_t, std::int32_t>>;

Places places(const std::vector<std::int32_t> &listed) {
    Places result;
    for (std::size_t p = 0; p < listed.size(); p += 2) result.insert({listed[p], listed[p + 1]});
    CHECK(result.size() * 2 == listed.size());
    return result;
}

/// Rows of any sizes; in some, what rounding leaves points all in one direction.
template <class T>
Padded<T> rows_of(Index n, Index dim, Random &random) {
    Padded<T> rows(n, dim, 0);
    for (Index i = 0; i < n; ++i) {
        const Index kind = random.below(6);
        const T scale = kind == 1 ? T(1e-30) : kind == 2 ? T(1e25) : T(1);
        for (Index k = 0; k < dim; ++k) {
            const T x = static_cast<T>(random.below(2001) - 1000) / 1000;
            rows.set(i, k, kind == 0 ? T(0) : kind == 3 ? (k == 0 ? T(127) : std::round(x) + T(0.499)) : x * scale);
        }
    }
    return rows;
}

/// The error of a product of int8 at most, for rows of more than 50 dimensions.
template <class T>
double coarse(const Padded<T> &left, Index i, const Padded<T> &right, Index j) {
    const double a = std::sqrt(product_of_rows(left, i, left, i)), b = std::sqrt(product_of_rows(right, j, right, j));
    const bool rounded = std::min(a, b) > 1e-10 && std::max(a, b) < 1e15;  // else all of a row is rest
    return a * b * (rounded ? 0.02 * std::sqrt(static_cast<double>(left.columns)) : 2.0) + 1e-20;
}

/// Limits at the products of each row with another one: that one is found, and all that is closer.
template <class T>
void reaching_is_found(Index n, Index m, Index dim, bool both, Random &random) {
    Padded<T> left = rows_of<T>(n, dim, random), right = rows_of<T>(m, dim, random);
    const Int8Rows a = rounded_rows<T>(left.view()), b = rounded_rows<T>(right.view());
    std::vector<float> row_limit(at(n)), row_offset(at(n)), column_limit(both ? at(m) : 0), column_offset(at(m));
    for (float &offset : row_offset) offset = static_cast<float>(random.below(5)) / 8;
    for (float &offset : column_offset) offset = static_cast<float>(random.below(5)) / 8;
    const auto below = [](double x) { return std::nextafter(static_cast<float>(x - std::fabs(x) * 1e-6), -INFINITY); };
    for (Index i = 0; i < n && m > 0; ++i) {
        const Index j = random.below(m);
        row_limit[at(i)] = below(product_of_rows(left, i, right, j) - column_offset[at(j)]);
    }
    for (Index j = 0; j < m && both && n > 0; ++j) {
        const Index i = random.below(n);
        column_limit[at(j)] = below(product_of_rows(left, i, right, j) - row_offset[at(i)]);
    }
    Reaching result{2 * at(n * m)};
    int8_loops().reaching({a, 0, {row_limit, row_offset}}, {b, 0, {column_limit, column_offset}}, result);
    const Places of_row = places(result.of_row), of_column = places(result.of_column);
    bool none_missing = true, none_far = true;
    const auto look = [&](double score, double limit, bool listed, double off) {
        none_missing &= listed || score - std::fabs(score) * 1e-9 <= limit;
        none_far &= !listed || dim < 50 || score >= limit - 2 * off - 2;
    };
    for (std::int32_t i = 0; i < n; ++i)
        for (std::int32_t j = 0; j < m; ++j) {
            const double score = product_of_rows(left, i, right, j), off = coarse(left, i, right, j);
            look(score - column_offset[at(j)], row_limit[at(i)], of_row.contains({i, j}), off);
            if (both) look(score - row_offset[at(i)], column_limit[at(j)], of_column.contains({i, j}), off);
        }
    CHECK(result.all && none_missing);
    CHECK(none_far);
    CHECK(both || of_column.empty());
}

TEST(rows_above_a_limit) {
    Random random(1);
    for (Index n : {0, 1, 5, 48, 97})
        for (Index m : {0, 1, 15, 49, 130})
            for (Index dim : {1, 2, 3, 4, 7, 64, 129}) {
                reaching_is_found<float>(n, m, dim, random.below(2) == 0, random);
                reaching_is_found<double>(n, m, dim, random.below(2) == 0, random);
            }
}

TEST(distant_rows_are_below_the_limits) {
    Random random(2);
    Padded<float> rows(60, 200, 0);
    rows.fill([&] { return static_cast<float>(random.below(3) - 1); });
    const Int8Rows rounded = rounded_rows<float>(rows.view());
    std::vector<float> most(60), zeros(60);
    for (Index i = 0; i < 60; ++i) most[at(i)] = static_cast<float>(0.9 * product_of_rows(rows, i, rows, i));
    Reaching result{3600};
    int8_loops().reaching({rounded, 0, {most, zeros}}, {rounded, 0, {most, zeros}}, result);
    Places itself;
    for (std::int32_t i = 0; i < 60; ++i) itself.insert({i, i});
    CHECK(places(result.of_row) == itself);
    CHECK(places(result.of_column) == itself);
}

TEST(a_square_that_is_not_the_first) {
    Random random(3);
    Padded<float> rows = rows_of<float>(150, 40, random);
    const Int8Rows rounded = rounded_rows<float>(rows.view());
    std::vector<float> limit(40, 0.5F), offset(40);
    Reaching all{22500}, part{1600};
    std::vector<float> of_all(150, 0.5F), none(150);
    int8_loops().reaching({rounded, 0, {of_all, none}}, {rounded, 0, {{}, none}}, all);
    int8_loops().reaching({rounded, 48, {limit, offset}}, {rounded, 96, {{}, offset}}, part);
    Places expected;
    for (const auto &[i, j] : places(all.of_row))
        if (i >= 48 && i < 88 && j >= 96 && j < 136) expected.insert({i - 48, j - 96});
    CHECK(places(part.of_row) == expected);
    CHECK(!expected.empty() && expected.size() < 1600);
}

TEST(no_more_are_looked_for_than_matter) {
    Padded<float> rows(480, 8, 0);
    const Int8Rows rounded = rounded_rows<float>(rows.view());
    std::vector<float> limit(480, -1.0F), offset(480);
    Reaching result{100};
    int8_loops().reaching({rounded, 0, {limit, offset}}, {rounded, 0, {{}, offset}}, result);
    CHECK(!result.all && result.of_row.size() > 200 && result.of_row.size() < 2 * 480 * 96);
}

}  // namespace
