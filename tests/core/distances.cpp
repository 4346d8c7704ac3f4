// Products of packed rows, and loops over single rows, compared with plain sums of integers, which nothing rounds.
#include <cmath>
#include <memory>

#include "check.h"
#include "distances/products.h"
#include "distances/rows.h"

namespace {

using namespace deadheat;
using namespace deadheat::tests;

constexpr Index DIMS[] = {0, 1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 130};

template <class T>
void fill(Padded<T> &matrix, Random &random, bool hostile) {
    matrix.fill([&] { return hostile ? random.number<T>() : static_cast<T>(random.below(9) - 4); });
}

template <class T>
void products_are_the_sums(Index n, Index m, Index dim, Index chunk, Random &random) {
    const bool hostile = random.below(4) == 0;
    Padded<T> left(n, dim, random.below(4)), right(m, dim, random.below(4)), out(n, m, random.below(4));
    fill(left, random, hostile), fill(right, random, hostile);
    product(packed<T>(left.view()), packed<T>(right.view()), chunk, out.view());
    CHECK(out.padding_is_untouched());
    bool right_sums = true;
    for (Index i = 0; i < n && !hostile; ++i)
        for (Index j = 0; j < m; ++j) right_sums &= static_cast<double>(out.at(i, j)) == product_of_rows(left, i, right, j);
    CHECK(right_sums);
}

TEST(products_of_matrices) {
    Random random(11);
    for (Index n : {0, 1, 4, 5, 9, 97})
        for (Index m : {0, 1, 15, 16, 17, 48, 49})
            for (Index dim : {1, 2, 15, 17, 33})
                for (Index chunk : {8, 100}) {
                    products_are_the_sums<float>(n, m, dim, chunk, random);
                    products_are_the_sums<double>(n, m, dim, chunk, random);
                }
    for (Index chunk : {1, 256, 5000}) {  // rows of which a strip does not fit the cache
        products_are_the_sums<float>(9, 5, 3000, chunk, random);
        products_are_the_sums<double>(9, 5, 3000, chunk, random);
    }
}

template <class T>
void parts_of_a_product(Random &random) {
    const auto &loops = std::get<ProductLoops<T>>(product_loops());
    const Index width = loops.width, dim = 19;
    Padded<T> left(2 * width + 1, dim, 1), right(3 * width - 1, dim, 3);
    fill(left, random, false), fill(right, random, false);
    const Panels<T> rows = packed<T>(left.view()), columns = packed<T>(right.view());
    for (Index row = 0; row <= 2 * width; row += width)
        for (Index column = 0; column < 3 * width - 1; column += width) {
            Padded<T> out(left.rows - row, right.rows - column, 5);
            loops.multiply(rows, row, columns, column, 8, out.view());
            bool right_sums = true;
            for (Index i = 0; i < out.rows; ++i)
                for (Index j = 0; j < out.columns; ++j)
                    right_sums &= static_cast<double>(out.at(i, j)) == product_of_rows(left, row + i, right, column + j);
            CHECK(right_sums);
            CHECK(out.padding_is_untouched());
        }
}

TEST(products_of_some_panels) {
    Random random(12);
    parts_of_a_product<float>(random);
    parts_of_a_product<double>(random);
}

template <class A, class B>
void single_pairs(Index dim, Random &random) {
    Padded<A> left(3, dim, random.below(3));
    Padded<B> right(4, dim, random.below(3)), taken(5, dim, 1);
    fill(left, random, false), fill(right, random, false);
    const std::vector<double> half(3, 0.5), twice(4, 2.0);
    const std::vector<std::int64_t> rows = {0, 2, 1, 2, 0}, columns = {3, 0, 3, 2, 1};
    std::vector<double> out(5);
    for (bool divide : {false, true}) {
        pair_sum<A, B>(PairSum::products, {left.view(), half, divide}, rows, {right.view(), twice, divide}, columns, out);
        take_rows<A, B>({left.view(), half, divide}, rows, taken.view());
        for (std::size_t p = 0; p < 5; ++p) {
            const double sum = product_of_rows(left, rows[p], right, columns[p]);
            CHECK(out[p] == sum);
            for (Index k = 0; k < dim; ++k)
                CHECK(static_cast<double>(taken.at(static_cast<Index>(p), k)) ==
                      static_cast<double>(left.at(rows[p], k)) * (divide ? 2 : 0.5));
        }
        CHECK(taken.padding_is_untouched());
    }
}

TEST(products_of_pairs) {
    Random random(13);
    for (Index dim : DIMS) {
        single_pairs<float, float>(dim, random);
        single_pairs<float, double>(dim, random);
        single_pairs<double, float>(dim, random);
        single_pairs<double, double>(dim, random);
    }
}

template <class T>
void one_row_after_the_other(Index n, Index dim, Random &random) {
    Padded<T> rows(n, dim, random.below(3)), twice(n, dim, random.below(3));
    fill(rows, random, false);
    for (Index i = 0; i < n; ++i)
        for (Index k = 0; k < dim; ++k) twice.set(i, k, rows.at(i, k) == 0 ? -T(0) : 2 * rows.at(i, k));
    const auto size = at(n);
    std::vector<std::uint64_t> hashes(size), others(size);
    hash_rows<T>(rows.view(), true, hashes);
    hash_rows<T>(twice.view(), true, others);
    CHECK(hashes == others);
    hash_rows<T>(rows.view(), false, hashes);
    const auto equal = std::make_unique<bool[]>(size);
    same_rows<T>(rows.view(), twice.view(), true, {equal.get(), size});
    for (Index i = 0; i < n; ++i) CHECK(equal[at(i)]);
    std::vector<double> units(size), unit(1);
    CHECK(integer_units<T>(rows.view(), unit, 100) <= 4);
    if (n != 1) CHECK(integer_units<T>(rows.view(), units, 100) <= 4);
    Padded<double> sums(n, 2, 1);
    row_sums<T>(rows.view(), 1.0, sums.view());
    for (Index i = 0; i < n; ++i) {
        double sizes = 0;
        for (Index k = 0; k < dim; ++k) sizes += std::abs(static_cast<double>(rows.at(i, k)));
        CHECK(sums.at(i, 0) == product_of_rows(rows, i, rows, i) && sums.at(i, 1) == sizes);
    }
    CHECK(sums.padding_is_untouched());
}

template <class T>
void places_of_levels(Index n, Index dim, Random &random) {
    Padded<T> rows(n, dim, random.below(3));
    for (Index i = 0; i < n; ++i) {
        const Index levels = random.below(6);
        for (Index k = 0; k < dim; ++k) rows.set(i, k, static_cast<T>(random.below(levels + 1)));
    }
    const Index words = (dim + 63) / 64;
    Padded<std::uint64_t> masks(n, LEVELS * words, 1);
    Padded<double> values(n, LEVELS, 1);
    level_masks<T>(rows.view(), masks.view(), values.view());
    bool right_places = true;
    for (Index i = 0; i < n; ++i) {
        const bool many = std::isnan(values.at(i, 0));
        for (Index k = 0; k < dim; ++k)
            for (Index l = 0; l < LEVELS; ++l) {
                const bool wanted = rows.at(i, k) != 0 && (many ? l == 0 : rows.at(i, k) == static_cast<T>(values.at(i, l)));
                right_places &= (masks.at(i, l * words + k / 64) >> (k % 64) & 1) == wanted;
            }
    }
    CHECK(right_places);
    CHECK(masks.padding_is_untouched() && values.padding_is_untouched());
}

template <class T>
void tangents_are_orthogonal(Index n, Index dim, Random &random) {
    Padded<T> rows(n, dim, random.below(3));
    Padded<double> out(n, dim, random.below(3));
    std::vector<double> centre(at(dim), 1.0), size(at(n));
    rows.fill([&] { return static_cast<T>(1 + 0x1p-10 * static_cast<double>(random.below(9))); });
    tangents<T>(rows.view(), centre, out.view(), size);
    CHECK(out.padding_is_untouched());
    for (double length : size) CHECK(dim == 0 || (length >= 0 && length < 0.01));
}

TEST(single_rows) {
    Random random(14);
    for (Index n : {0, 1, 2, 5})
        for (Index dim : DIMS) {
            one_row_after_the_other<float>(n, dim, random);
            one_row_after_the_other<double>(n, dim, random);
            places_of_levels<float>(n, dim, random);
            places_of_levels<double>(n, dim, random);
            tangents_are_orthogonal<float>(n, dim, random);
            tangents_are_orthogonal<double>(n, dim, random);
        }
}

}  // namespace
