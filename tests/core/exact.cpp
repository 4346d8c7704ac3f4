// Exact closeness of rows of small integers, compared with integers of 128 bits, and of numbers that are far apart.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "check.h"
#include "exact/dot2.h"
#include "exact/root_keys.h"
#include "exact/root_thresholds.h"
#include "exact/rows.h"
#include "exact/slices.h"
#include "exact/wide.h"

namespace {

using namespace deadheat;
using namespace deadheat::tests;

__extension__ typedef __int128 Whole128;
__extension__ typedef unsigned __int128 Natural128;

constexpr Index DIMS[] = {0, 1, 7, 8, 9, 15, 16, 17, 63, 64, 65, 130};

int sign_of(Whole128 value) { return (value > 0) - (value < 0); }

// Wide numbers --------------------------------------------------------------------------------------------------------

/// A number as it may come out of a sum: its lowest limb may be 0, and its exponent may be any.
void write(Natural128 value, Random &random, Wide &out) {
    const Index down = random.below(64);
    const int zeros = random.below(3) == 0 ? 1 : 0;
    const Limb low = static_cast<Limb>(value), high = static_cast<Limb>(value >> 64);
    out.length = 0;
    if (zeros) out.limbs[out.length++] = 0;
    out.limbs[out.length++] = low << down;
    out.limbs[out.length++] = down == 0 ? high : high << down | low >> (64 - down);
    out.limbs[out.length++] = down == 0 ? 0 : high >> (64 - down);
    out.exponent = static_cast<int>(-down - 64 * zeros);
    out.trim();
}

bool is(Natural number, Natural128 value) {
    return number.window(0) == static_cast<Limb>(value) && number.window(64) == static_cast<Limb>(value >> 64) &&
           (number.length == 0 || (number.top() <= 128 && number.window(-64) == 0));
}

Natural128 natural(Random &random, Index most) {
    const Index bits = random.below(most + 1);
    if (bits == 0) return 0;
    const Natural128 all = static_cast<Natural128>(random.bits()) << 64 | random.bits();
    return random.below(4) == 0 ? Natural128{1} << (bits - 1) : all >> (128 - bits);
}

TEST(wide_numbers_are_integers) {
    Random random(31);
    Wide x, y, out;
    for (int round = 0; round < 3000; ++round) {
        const Natural128 a = natural(random, 126), b = round % 7 == 0 ? a : natural(random, 126);
        write(a, random, x), write(b, random, y);
        CHECK(compare(x, y) == (a > b) - (a < b));
        add(x, y, out);
        CHECK(is(out, a + b));
        subtract(a < b ? y : x, a < b ? x : y, out);
        CHECK(is(out, a < b ? b - a : a - b));
        const int sign_a = a == 0 ? 0 : random.below(2) == 0 ? -1 : 1, sign_b = b == 0 ? 0 : random.below(2) == 0 ? -1 : 1;
        const Whole128 sum = sign_a * static_cast<Whole128>(a) + sign_b * static_cast<Whole128>(b);
        CHECK(add_signed(sign_a, x, sign_b, y, out) == sign_of(sum));
        CHECK(is(out, static_cast<Natural128>(sum < 0 ? -sum : sum)));
        const Natural128 c = a >> 63, d = b >> 63;
        write(c, random, x), write(d, random, y);
        multiply(x, y, out);
        CHECK(is(out, c * d));
        const Estimate about = estimate(x);
        CHECK(std::abs(std::ldexp(about.value, about.exponent) - static_cast<double>(c)) <=
              0x1p-51 * static_cast<double>(c));
    }
}

// Rows ----------------------------------------------------------------------------------------------------------------

/// Rows of integers of so many bits, and some of zeros.
template <class T>
Padded<T> integers(Index n, Index dim, int bits, Random &random) {
    Padded<T> rows(n, dim, random.below(3));
    for (Index i = 0; i < n; ++i) {
        const bool zeros = random.below(5) == 0, sparse = random.below(3) == 0;
        for (Index k = 0; k < dim; ++k) {
            const Index size = random.below(Index{1} << bits);
            rows.set(i, k, zeros || (sparse && random.below(8) > 0) ? T(0) : static_cast<T>(random.below(2) ? size : -size));
        }
    }
    return rows;
}

template <class T>
Whole128 product(const Padded<T> &left, Index i, const Padded<T> &right, Index j) {
    Whole128 sum = 0;
    for (Index k = 0; k < left.columns; ++k)
        sum += static_cast<Whole128>(static_cast<std::int64_t>(left.at(i, k))) * static_cast<std::int64_t>(right.at(j, k));
    return sum;
}

template <class T>
Whole128 difference(const Padded<T> &left, Index i, const Padded<T> &right, Index j) {
    Whole128 sum = 0;
    for (Index k = 0; k < left.columns; ++k)
        sum += std::abs(static_cast<std::int64_t>(left.at(i, k)) - static_cast<std::int64_t>(right.at(j, k)));
    return sum;
}

template <class T>
BitRange range_of_both(Padded<T> &left, Padded<T> &right) {
    const BitRange a = bit_range(Matrix<const T>(left.view())), b = bit_range(Matrix<const T>(right.view()));
    return {std::min(a.low, b.low), std::max(a.high, b.high)};
}

template <class T>
void rows_are_exact(Index n, Index m, Index dim, int bits, Random &random) {
    Padded<T> left = integers<T>(n, dim, bits, random), right = integers<T>(m, dim, bits, random);
    const ExactRows rows(Matrix<const T>(left.view()), true), others(Matrix<const T>(right.view()), false);
    const BitRange both = range_of_both(left, right);
    const ExactRows one_unit(Matrix<const T>(left.view()), both), same_unit(Matrix<const T>(right.view()), both);
    Wide out;
    for (Index i = 0; i < n; ++i) {
        CHECK(is(rows.squares()[i], static_cast<Natural128>(product(left, i, left, i))));
        for (Index j = 0; j < m; ++j) {
            const Whole128 dot = product(left, i, right, j), apart = difference(left, i, right, j);
            CHECK(rows.dot(i, others, j, 0, out) == sign_of(dot));
            CHECK(is(out, static_cast<Natural128>(dot < 0 ? -dot : dot)));
            CHECK(one_unit.difference(i, same_unit, j, out) == sign_of(apart));
            CHECK(is(out, static_cast<Natural128>(apart)));
        }
    }
}

TEST(products_and_differences_are_exact) {
    Random random(32);
    for (Index n : {0, 1, 3})
        for (Index m : {0, 1, 4})
            for (Index dim : DIMS) {
                for (int bits : {1, 8, 24}) rows_are_exact<float>(n, m, dim, bits, random);
                for (int bits : {1, 25, 53}) rows_are_exact<double>(n, m, dim, bits, random);
            }
}

TEST(numbers_far_apart_are_exact) {
    Random random(33);
    constexpr double SIZES_OF_NUMBERS[] = {0x1p-1074, 0x1p-1000, 0x1p-300, 1, 0x1p300, 0x1.fffffffffffffp1023};
    for (Index dim : DIMS) {
        Padded<double> left(3, dim, 1), right(3, dim, 0);
        for (Index i = 0; i < 3; ++i)
            for (Index k = 0; k < dim; ++k) {
                left.set(i, k, (random.below(2) ? -1 : 1) * SIZES_OF_NUMBERS[random.below(6)]);
                right.set(i, k, random.below(3) == 0 ? -0.0 : left.at(i, k));
            }
        const ExactRows rows(Matrix<const double>(left.view()), true), others(Matrix<const double>(right.view()), true);
        const BitRange both = range_of_both(left, right);
        const ExactRows one_unit(Matrix<const double>(left.view()), both),
            same_unit(Matrix<const double>(right.view()), both);
        Wide there, back;
        for (Index i = 0; i < 3; ++i)
            for (Index j = 0; j < 3; ++j) {
                CHECK(rows.dot(i, others, j, 1, there) == others.dot(j, rows, i, 1, back) && compare(there, back) == 0);
                one_unit.difference(i, same_unit, j, there), same_unit.difference(j, one_unit, i, back);
                CHECK(compare(there, back) == 0);
                CHECK(one_unit.difference(i, one_unit, i, there) == 0);
            }
    }
}

// Roots ---------------------------------------------------------------------------------------------------------------

/// Compares all pairs of one query and the rows with each other, and sorts them.
void are_in_order(const Roots &roots, const std::vector<Whole128> &wanted) {
    const auto n = static_cast<Index>(wanted.size());
    std::vector<std::int64_t> mine, yours;
    for (Index i = 0; i < n; ++i)
        for (Index j = 0; j < n; ++j) mine.push_back(i), yours.push_back(j);
    std::vector<std::int8_t> out(mine.size()), shifted(mine.size());
    roots.compare(mine, roots, yours, out);
    roots.compare_shifted(mine, roots, yours, 0.0, shifted);
    for (std::size_t p = 0; p < mine.size(); ++p) {
        CHECK(out[p] == sign_of(wanted[static_cast<std::size_t>(mine[p])] - wanted[static_cast<std::size_t>(yours[p])]));
        CHECK(out[p] == shifted[p]);
    }
    const std::vector<std::int64_t> begins = {0, n / 2}, ends = {n / 2, n};
    std::vector<std::int64_t> order(wanted.size());
    bool greater[64];
    roots.sort(begins, ends, order, {greater, wanted.size()});
    for (std::size_t run = 0; run < 2; ++run)
        for (std::int64_t p = begins[run] + 1; p < ends[run]; ++p) {
            const Whole128 before = wanted[static_cast<std::size_t>(order[static_cast<std::size_t>(p - 1)])];
            const Whole128 here = wanted[static_cast<std::size_t>(order[static_cast<std::size_t>(p)])];
            CHECK(before <= here && greater[p] == (before < here));
        }
    const std::vector<double> values(wanted.size(), std::numeric_limits<double>::infinity());
    std::vector<std::int64_t> each(wanted.size());
    for (Index i = 0; i < n; ++i) each[static_cast<std::size_t>(i)] = i;
    std::vector<std::int8_t> below(wanted.size());
    roots.compare_values(each, values, 1.0, 0.5, below);
    CHECK(std::count(below.begin(), below.end(), std::int8_t{-1}) == n);
}

TEST(roots_are_in_order) {
    Random random(34);
    for (Index m : {0, 1, 2, 9, 33})
        for (Index dim : DIMS)
            for (int bits : {1, 20}) {
                Padded<double> left = integers<double>(1, dim, bits, random), right = integers<double>(m, dim, bits, random);
                const Matrix<const double> query = left.view(), rows = right.view();
                std::vector<std::int64_t> zeros(static_cast<std::size_t>(m)), others(static_cast<std::size_t>(m));
                std::vector<Whole128> of_products, of_distances, of_differences;
                for (Index j = 0; j < m; ++j) {
                    others[static_cast<std::size_t>(j)] = j;
                    of_products.push_back(product(left, 0, right, j));
                    of_distances.push_back(2 * of_products.back() - product(right, j, right, j));
                    of_differences.push_back(-difference(left, 0, right, j));
                }
                const auto of_pairs = [&](KeyKind kind) {
                    Roots roots(kind, m);
                    roots.put(RootRows(kind, query, rows), zeros, others, others);
                    return roots;
                };
                const Roots products = of_pairs(KeyKind::product), distances = of_pairs(KeyKind::distance);
                const Roots differences = of_pairs(KeyKind::difference), cosines = of_pairs(KeyKind::cosine);
                are_in_order(products, of_products);
                are_in_order(distances, of_distances);
                are_in_order(differences, of_differences);
                std::vector<std::int8_t> signs(zeros.size());
                const Roots nothing(std::vector<double>{0.0});
                cosines.compare(others, nothing, zeros, signs);
                for (std::size_t j = 0; j < signs.size(); ++j) CHECK(signs[j] == sign_of(of_products[j]));
                Roots twice(KeyKind::cosine);
                twice.add(cosines), twice.add(cosines);
                CHECK(twice.size() == 2 * m);
                twice.compare_shifted(others, cosines, others, 0.0, signs);
                for (std::int8_t sign : signs) CHECK(sign == 0);
                for (Index j = 0; j < m; ++j) {
                    Wide numerator, denominator;
                    CHECK(cosines.square(j, numerator, denominator) == sign_of(of_products[static_cast<std::size_t>(j)]));
                }
            }
}

// Thresholds ----------------------------------------------------------------------------------------------------------

/// What a key stands for, such that more is closer; for a cosine a·|a| where all squares are equal.
template <class T>
Whole128 closeness(KeyKind kind, const Padded<T> &left, Index i, const Padded<T> &right, Index j) {
    if (kind == KeyKind::difference) return -difference(left, i, right, j);
    const Whole128 dot = product(left, i, right, j);
    return kind == KeyKind::distance ? 2 * dot - product(right, j, right, j) : dot;
}

/// Few numbers are left in each row if they are to be `sparse`; the rows on the left are the first on the right if there is
/// but `one_side`.
template <class T>
void thresholds_are_in_order(KeyKind kind, Index m, Index dim, bool sparse, bool one_side, Random &random) {
    constexpr Index n = 2;
    Padded<T> left = integers<T>(n, dim, 10, random), right = integers<T>(m, dim, 10, random);
    for (Padded<T> *side : {&left, &right})
        for (Index i = 0; sparse && i < (side == &left ? n : m); ++i)
            for (Index k = 0; k < dim; ++k)
                if (random.below(8) > 0) side->set(i, k, T(0));
    if (kind == KeyKind::cosine && dim > 1)  // all of one length, so that products tell the order
        for (Index j = 0; j < m; ++j)
            for (Index k = 0; k < dim; ++k) right.set(j, k, k == j % dim ? T(4) : k == (j + 1) % dim ? T(3) : T(0));
    if (kind == KeyKind::cosine && dim == 1)
        for (Index j = 0; j < m; ++j) right.set(j, 0, j % 2 ? T(4) : T(-4));
    for (Index i = 0; one_side && i < n; ++i)
        for (Index k = 0; k < dim; ++k) left.set(i, k, right.at(i, k));
    const RootRows pairs(kind, Matrix<const T>((one_side ? right : left).view()), Matrix<const T>(right.view()));
    RootThresholds thresholds(kind, n, m);
    std::vector<std::int64_t> rows, lefts, rights, low, high, groups;
    Padded<std::int32_t> counts(n, 2 * m + 1, 1), wanted(n, 2 * m + 1, 1);
    std::vector<std::vector<Whole128>> sorted(n);
    for (Index i = 0; i < n; ++i) {
        std::vector<Index> order;
        for (Index j = 0; j < m; ++j) order.push_back(j);
        const auto of = [&](Index j) { return closeness(kind, left, i, right, j); };
        std::sort(order.begin(), order.end(), [&](Index a, Index b) { return of(a) < of(b); });
        order.erase(std::unique(order.begin(), order.end(), [&](Index a, Index b) { return of(a) == of(b); }), order.end());
        for (std::size_t g = 0; g < order.size(); ++g) {
            lefts.push_back(i), rights.push_back(order[g]), rows.push_back(i), groups.push_back(static_cast<Index>(g));
            sorted[static_cast<std::size_t>(i)].push_back(of(order[g]));
        }
        for (Index slot = 0; slot <= 2 * m; ++slot) counts.set(i, slot, 0), wanted.set(i, slot, 0);
    }
    std::vector<std::int64_t> every = {0, 1}, none = {0, 0}, ends;
    for (const auto &numbers : sorted) ends.push_back(static_cast<Index>(numbers.size()));
    CHECK(thresholds.unknown(every, none, ends).size() == rows.size());
    CHECK(thresholds.unknown(every, none, ends).empty());
    thresholds.add(pairs, lefts, rights, rows, groups);
    rows.clear(), lefts.clear(), rights.clear();
    for (Index i = 0; i < n; ++i)
        for (Index j = 0; j < m; ++j) {
            const auto &numbers = sorted[static_cast<std::size_t>(i)];
            const Whole128 value = closeness(kind, left, i, right, j);
            const Index g = std::lower_bound(numbers.begin(), numbers.end(), value) - numbers.begin();
            rows.push_back(i), lefts.push_back(i), rights.push_back(j), low.push_back(random.below(g + 1));
            high.push_back(g + 1);
            wanted.set(i, 2 * g + 1, wanted.at(i, 2 * g + 1) + 3);
        }
    const std::vector<std::int32_t> weights(rows.size(), 3);
    thresholds.count(pairs, lefts, rights, rows, low, high, weights, counts.view());
    CHECK(counts.numbers == wanted.numbers);
}

TEST(thresholds_are_in_order) {
    Random random(35);
    for (KeyKind kind : {KeyKind::product, KeyKind::distance, KeyKind::difference, KeyKind::cosine})
        for (Index m : {0, 1, 2, 9})
            for (Index dim : DIMS)
                for (bool sparse : {false, true})
                    for (bool one_side : {false, true}) {
                        if (one_side && m < 2) continue;
                        thresholds_are_in_order<float>(kind, m, dim, sparse, one_side, random);
                        thresholds_are_in_order<double>(kind, m, dim, sparse, one_side, random);
                    }
}

TEST(inverse_roots_are_as_near_as_they_say) {
    Random random(37);
    for (int length : {1, 2, 5, 34, 67})
        for (int limbs : {2, 3, 7, 33, 34})
            for (int exponent : {-2148, -1, 0, 63, 1500}) {
                Wide square, inverse, of_two, product, rest;
                square.length = length, square.exponent = exponent;
                for (int k = 0; k < length; ++k)
                    square.limbs[k] = random.below(3) == 0 ? ~Limb{0} : static_cast<Limb>(random.below(1 << 30)) << 20 | 1;
                inverse_root(square, limbs, inverse);
                CHECK(inverse.length <= limbs);
                multiply(inverse, inverse, of_two);
                multiply(of_two, square, product);  // (1 + e)² with |e| ≤ 2^(1 − 64(limbs − 1))
                static constexpr Limb ONE = 1;
                add_signed(1, product, -1, {&ONE, 1, 0}, rest);
                CHECK(rest.length == 0 || Natural(rest).top() <= 3 - 64 * (limbs - 1));
            }
}

// Double-double --------------------------------------------------------------------------------------------------------

template <class T>
void dot2_is_within_its_error(KeyKind kind, Index m, Index dim, Random &random) {
    constexpr Index n = 2;
    Padded<T> left = integers<T>(n, dim, 10, random), right = integers<T>(m, dim, 10, random);
    const Dot2Rows pairs(kind, Matrix<const T>(left.view()), Matrix<const T>(right.view()), 9);
    Dot2Thresholds thresholds(n, m);
    std::vector<std::int64_t> rows, others, low, high;
    Padded<std::int32_t> counts(n, 2 * m + 1, 1);
    for (Index i = 0; i < n; ++i) {
        for (Index slot = 0; slot <= 2 * m; ++slot) counts.set(i, slot, 0);
        for (Index j = 0; j < m; ++j) {
            const Dot2Number found = pairs.closeness(i, j);
            if (kind == KeyKind::distance)
                CHECK(std::fabs(found.value * 0x1p18 - static_cast<double>(closeness(kind, left, i, right, j))) <=
                      found.error * 0x1p18);
            rows.push_back(i), others.push_back(j), low.push_back(j), high.push_back(j + 1);
        }
    }
    CHECK(thresholds.unknown(rows, low, high).size() == rows.size());
    thresholds.add(pairs, rows, others, rows, low);
    const std::vector<std::int32_t> weights(rows.size(), 3);
    const auto decided = std::make_unique<bool[]>(rows.size());
    thresholds.count(pairs, rows, others, rows, low, high, weights, counts.view(), {decided.get(), rows.size()});
    for (std::size_t p = 0; p < rows.size(); ++p)
        CHECK(!decided[p] && low[p] + 1 == high[p]);  // every pair ties with itself
}

TEST(dot2_is_within_its_error) {
    Random random(36);
    for (KeyKind kind : {KeyKind::product, KeyKind::distance, KeyKind::cosine})
        for (Index m : {0, 1, 9})
            for (Index dim : DIMS) {
                dot2_is_within_its_error<float>(kind, m, dim, random);
                dot2_is_within_its_error<double>(kind, m, dim, random);
            }
}

}  // namespace
