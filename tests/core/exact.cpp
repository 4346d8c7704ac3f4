// Exact closeness of rows of small integers, compared with integers of 128 bits, and of numbers that are far apart, whose
// representations have to agree with each other.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "check.h"
#include "pass/exact_pairs.h"

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

/// A number of so many limbs, none of them 0.
void write_long(int length, Random &random, Wide &out) {
    out.length = length, out.exponent = -static_cast<int>(random.below(200));
    for (int k = 0; k < length; ++k) out.limbs[k] = random.bits() | 1;
}

TEST(ratios_are_compared_to_the_last_limb) {
    Random random(37);
    Wide a, x, b, y, more;
    for (int length : {1, 3, 4, 5, 19, 20, 21, 66})
        for (int position : {0, 1, 3, 4, 18, 20, 65}) {
            write_long(length, random, a), write_long(length, random, x);
            CHECK(compare_ratios(a, x, a, x) == 0);
            more.set(3, 0);
            multiply(a, more, b);
            more.set(9, 0);
            multiply(x, more, y);
            CHECK(compare_ratios(a, x, b, y) == 0 && compare_ratios(b, y, a, x) == 0);  // a/√x = 3a/√9x
            if (position >= y.length) continue;
            y.limbs[position] ^= 2;  // larger or smaller by little
            multiply(x, more, b);
            const int order = compare(b, y);
            more.set(3, 0);
            multiply(a, more, b);
            CHECK(compare_ratios(b, y, a, x) == order && compare_ratios(a, x, b, y) == -order);
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
void sums_are_exact(Index n, Index m, Index dim, int bits, Random &random) {
    Padded<T> left = integers<T>(n, dim, bits, random), right = integers<T>(m, dim, bits, random);
    Wide out;
    ExactSums sums;
    const auto row = [dim](const Padded<T> &rows, Index i) {
        std::vector<double> numbers;
        for (Index k = 0; k < dim; ++k) numbers.push_back(rows.at(i, k));
        return numbers;
    };
    for (Index i = 0; i < n; ++i) {
        sums.set_query(row(left, i));
        for (Index j = 0; j < m; ++j) {
            const Whole128 dot = product(left, i, right, j), distance = difference(left, i, right, j);
            CHECK(write(sums.product(row(right, j)), out) == sign_of(dot));
            CHECK(is(out, static_cast<Natural128>(dot < 0 ? -dot : dot)));
            CHECK(write(sums.difference(row(right, j)), out) == -sign_of(distance));
            CHECK(is(out, static_cast<Natural128>(distance)));
        }
    }
}

TEST(sums_are_exact) {
    Random random(32);
    for (Index n : {0, 1, 3})
        for (Index m : {0, 1, 4})
            for (Index dim : DIMS) {
                for (int bits : {1, 8, 24}) sums_are_exact<float>(n, m, dim, bits, random);
                for (int bits : {1, 25, 53}) sums_are_exact<double>(n, m, dim, bits, random);
            }
}

/// More of the largest and the least products than are added between two carries.
TEST(long_sums_are_exact) {
    const std::vector<double> large(200'000, 0x1.fffffffffffffp1023), small(large.size(), -0x1.fffffffffffffp-1023);
    Wide out, one, wanted;
    ExactSums sums;
    for (const auto *query : {&large, &small})
        for (const auto *item : {&large, &small}) {
            sums.set_query(*query);
            const int sign = query == item ? 1 : -1;
            CHECK(write(sums.product(*item), out) == sign);
            sums.set_query({query->data(), 1});
            CHECK(write(sums.product({item->data(), 1}), one) == sign);
            const Limb n = large.size();
            multiply(one, {&n, 1, 0}, wanted);
            CHECK(compare(out, wanted) == 0);
        }
}

TEST(numbers_of_distant_sizes_are_exact) {
    Random random(33);
    constexpr double SIZES_OF_NUMBERS[] = {0x1p-1074, 0x1p-1000, 0x1p-300, 1, 0x1p300, 0x1.fffffffffffffp1023};
    for (Index dim : DIMS) {
        std::vector<double> left, right;
        for (Index k = 0; k < dim; ++k) {
            left.push_back((random.below(2) ? -1 : 1) * SIZES_OF_NUMBERS[random.below(6)]);
            right.push_back(random.below(3) == 0 ? -0.0 : left.back());
        }
        Wide there, back, differ;
        ExactSums of_left, of_right;
        of_left.set_query(left), of_right.set_query(right);
        CHECK(compare(of_left.product(right), of_right.product(left)) == 0);
        CHECK(write(of_left.product(right), there) == write(of_right.product(left), back) && compare(there, back) == 0);
        CHECK(compare(of_left.difference(right), of_right.difference(left)) == 0);
        CHECK(estimate(of_left.difference(left)).value == 0);
    }
}

/// A number of several digits of up to 124 bits, neighbours or apart, that may nearly cancel.
Numbers digits(Random &random) {
    std::vector<SignedTwoLimbs> values;
    std::vector<std::uint8_t> limbs;
    for (int limb = 60; limb >= 0 && values.size() < 6; limb -= random.below(3) == 0 ? 1 + random.below(20) : 1) {
        const auto size = static_cast<SignedTwoLimbs>(natural(random, 124));
        values.push_back(random.below(2) == 0 ? -size : size), limbs.push_back(static_cast<std::uint8_t>(limb));
        const bool back =
            random.below(3) == 0 && limb > 0 && size >> 59 == 0;  // the next digit takes it back, but for little
        if (back)
            values.push_back(values.back() * -(SignedTwoLimbs{1} << 64) + random.below(2)), limbs.push_back(--limb & 255);
    }
    Numbers numbers;
    numbers.add({values.data(), limbs.data(), static_cast<int>(values.size())});
    return numbers;
}

TEST(sums_of_digits_are_estimated) {
    Random random(38);
    Wide x, y, sum, about, off;
    for (int round = 0; round < 20000; ++round) {
        const Numbers one = digits(random), other = round % 5 == 0 ? one : digits(random);
        const SignedDigits a = one[0], b = other[0];
        const int sign_a = write(a, x), sign_b = write(b, y), sign = round % 2 == 0 ? 1 : -1;
        CHECK(compare(a, b) == add_signed(sign_a, x, -sign_b, y, sum));
        const int wanted = add_signed(sign_a, x, sign * sign_b, y, sum);
        const Estimate result = estimate_of_sum(a, sign, b);
        CHECK((result.value > 0) - (result.value < 0) == wanted);
        if (wanted == 0) continue;
        CHECK(std::abs(result.value) >= 0.25 && std::abs(result.value) <= 2);
        about.set(static_cast<Limb>(std::ldexp(std::abs(result.value), 60)), result.exponent - 60);
        add_signed(1, about, -1, sum, off);
        CHECK(off.length == 0 || Natural(off).top() <= Natural(sum).top() - 51);
    }
}

// Representations ------------------------------------------------------------------------------------------------------

/// The closeness of a pair as it compares with others of the query: a number, or for a cosine a·|a| and its divisor.
struct Key {
    Whole128 number, divisor;

    int compare(const Key &other) const { return sign_of(number * other.divisor - other.number * divisor); }
};

template <class T>
Key key(KeyKind kind, const Padded<T> &left, Index i, const Padded<T> &right, Index j) {
    if (kind == KeyKind::difference) return {-difference(left, i, right, j), 1};
    const Whole128 dot = product(left, i, right, j), square = product(right, j, right, j);
    if (kind == KeyKind::cosine) return {dot * (dot < 0 ? -dot : dot), std::max<Whole128>(square, 1)};
    return {kind == KeyKind::distance ? 2 * dot - square : dot, 1};
}

template <class T>
Source source_of(Padded<T> &rows) {
    Source source;
    source.n = rows.rows, source.dim = rows.columns, source.wide = sizeof(T) == 8;
    rows.numbers.reserve(1);  // that it is somewhere says that nobody has to read it
    source.memory = rows.numbers.data(), source.stride = rows.stride;
    return source;
}

const std::atomic<bool> NEVER_STOP{false};

/// All pairs of rows compare the same in every representation, and as wanted(i, j, k) says of items j and k of query i,
/// unless that is null.
template <class T, class Wanted>
void representations_agree(KeyKind kind, Padded<T> &left, Padded<T> &right, Wanted wanted) {
    const ExactPairs pairs(kind, source_of(left), source_of(right), false);
    for (Index i = 0; i < left.rows; ++i) {
        const std::vector<std::int64_t> query(at(right.rows), i), item = first(right.rows);
        const std::vector<Dot2Number> about = pairs.about(query, item, NEVER_STOP);
        const Roots roots = pairs.closeness(query, item, NEVER_STOP);
        CHECK(roots.size() == right.rows);
        for (Index j = 0; j < right.rows; ++j)
            for (Index k = 0; k < right.rows; ++k) {
                const int order = roots.compare(j, roots, k), near = Dot2Number::compare(about[at(j)], about[at(k)]);
                CHECK(order == wanted(i, j, k, order));
                CHECK(near == order || near == 0);
                CHECK(order == 0 || !Dot2Number::equal(about[at(j)], about[at(k)]));
                CHECK(roots.compare_shifted(j, roots, k, 0.0) == order);
                if (const IntegerRows *rows = pairs.integers()) {
                    IntegerPairs numbers(*rows);
                    CHECK(rows->compare(numbers.number(i, j), numbers.number(i, k)) == order);
                }
            }
        std::vector<std::int64_t> places = item;
        const auto greater = std::make_unique<bool[]>(places.size());
        sort_places(places, greater.get(), [&](std::int64_t a, std::int64_t b) { return roots.compare(a, roots, b); });
        for (std::size_t p = 1; p < places.size(); ++p) {
            const int order = roots.compare(places[p - 1], roots, places[p]);
            CHECK(greater[p] == (order < 0) && (order < 0 || (order == 0 && places[p - 1] < places[p])));
        }
        for (Index j = 0; j < right.rows; ++j) {
            CHECK(roots.compare_value(j, std::numeric_limits<double>::infinity(), 0.5) == -1);
            Wide numerator, denominator;
            CHECK(roots.squared(j, numerator, denominator) == roots.compare_value(j, 0.0, 0.0));
        }
    }
}

constexpr KeyKind KINDS[] = {KeyKind::product, KeyKind::distance, KeyKind::difference, KeyKind::cosine};

template <class T>
void small_integers_are_in_order(KeyKind kind, Index m, Index dim, int bits, Random &random) {
    Padded<T> left = integers<T>(2, dim, bits, random), right = integers<T>(m, dim, bits, random);
    representations_agree(kind, left, right, [&](Index i, Index j, Index k, int) {
        return key(kind, left, i, right, j).compare(key(kind, left, i, right, k));
    });
}

TEST(representations_of_small_integers_agree) {
    Random random(34);
    for (KeyKind kind : KINDS)
        for (Index m : {0, 1, 2, 9})
            for (Index dim : DIMS)
                for (int bits : {1, 10}) {
                    small_integers_are_in_order<float>(kind, m, dim, bits, random);
                    small_integers_are_in_order<double>(kind, m, dim, bits, random);
                }
}

/// Numbers whose bits lie within `span` below 1, of rows that often tie: there are few different ones.
template <class T>
Padded<T> size(Index n, Index dim, int span, Random &random) {
    Padded<T> rows(n, dim, random.below(3));
    constexpr int DIGITS = std::numeric_limits<T>::digits;
    for (Index i = 0; i < n; ++i)
        for (Index k = 0; k < dim; ++k) {
            const auto whole = static_cast<double>(random.below(3) == 0 ? 1 : random.bits() >> (64 - DIGITS));
            const int down = static_cast<int>(random.below(std::max(1, span - DIGITS))) + DIGITS;
            rows.set(i, k, static_cast<T>(std::ldexp(random.below(2) ? whole : -whole, -down)));
        }
    for (Index k = 0; k < dim && n > 2; ++k) rows.set(1, k, rows.at(0, dim - 1 - k)), rows.set(2, k, 2 * rows.at(0, k));
    return rows;
}

TEST(representations_of_long_numbers_agree) {
    Random random(35);
    for (KeyKind kind : KINDS)
        for (Index dim : DIMS)
            for (int span : {1, 57, 63, 70, 140, 1000}) {
                const auto any = [](Index, Index, Index, int order) { return order; };
                Padded<double> left = size<double>(2, dim, span, random), right = size<double>(7, dim, span, random);
                representations_agree(kind, left, right, any);
                Padded<float> narrow = size<float>(2, dim, std::min(span, 140), random);
                Padded<float> others = size<float>(7, dim, std::min(span, 140), random);
                representations_agree(kind, narrow, others, any);
            }
}

TEST(double_double_is_within_its_error) {
    Random random(36);
    for (Index m : {1, 9})
        for (Index dim : DIMS) {
            Padded<double> left = integers<double>(2, dim, 10, random), right = integers<double>(m, dim, 10, random);
            left.set(0, 0, 512.0);  // the unit
            if (dim == 0) continue;
            const ExactPairs pairs(KeyKind::distance, source_of(left), source_of(right), false);
            for (Index i = 0; i < 2; ++i)
                for (Index j = 0; j < m; ++j) {
                    const Dot2Number result =
                        pairs.about(std::vector<std::int64_t>{i}, std::vector<std::int64_t>{j}, NEVER_STOP)[0];
                    const auto wanted = static_cast<double>(key(KeyKind::distance, left, i, right, j).number);
                    CHECK(result.value * 0x1p18 == wanted && result.error == 0);  // small integers lose nothing
                }
        }
}

TEST(only_exact_numbers_are_equal) {
    const Dot2Number one{1, 0x1p-60, 0};
    CHECK(Dot2Number::equal(one, one));
    for (const Dot2Number &other : {Dot2Number{1, 0x1p-60, 1}, Dot2Number{2, 0x1p-60, 0}, Dot2Number{1, 0x1p-61, 0}})
        CHECK(!Dot2Number::equal(one, other) && !Dot2Number::equal(other, one));
}

// Roots ---------------------------------------------------------------------------------------------------------------

int sign_of(double value) { return (value > 0) - (value < 0); }

constexpr double SHIFTS[] = {0, 0.5, -0.5, 1, -1, 2, -2, 3, -3, 0x1p-1000, -0x1p-1000, 0x1p1000, -0x1p1000};

/// Compare all numbers of a list with each other, and with numbers moved by shifts: their values are multiples of 1/2.
void roots_compare_as(const Roots &roots, const std::vector<double> &values) {
    for (Index i = 0; i < roots.size(); ++i) {
        for (double infinite : {INFINITY, -INFINITY}) CHECK(roots.compare_value(i, infinite, 1) == -sign_of(infinite));
        for (Index j = 0; j < roots.size(); ++j) {
            const double off = values[at(i)] - values[at(j)];
            CHECK(roots.compare(i, roots, j) == sign_of(off));
            for (double shift : SHIFTS) {
                const int wanted = off == 0 || std::fabs(shift) > 100 ? sign_of(-shift) : sign_of(off - shift);
                CHECK(roots.compare_shifted(i, roots, j, shift) == wanted);
                CHECK(roots.compare_value(i, values[at(j)], shift) == wanted);
            }
        }
    }
}

TEST(roots_compare_as_their_numbers) {
    const std::vector<double> whole = {-3, -1, -0.5, 0, 0, 0.5, 1, 3, 4}, units = {2, 1, 1, 3, 2, 4, 2, 1, 2};
    Roots numbers(whole), fractions(KeyKind::cosine);
    roots_compare_as(numbers, whole);
    numbers.add(Roots(std::vector<double>{-8, 8}));
    CHECK(numbers.size() == 11 && numbers.compare(9, numbers, 10) < 0 && numbers.compare(10, numbers, 8) > 0);
    std::vector<double> above, values;
    for (std::size_t k = 0; k < whole.size(); ++k) above.push_back(whole[k] * units[k]), values.push_back(whole[k]);
    const Roots some(above, units);
    fractions.add(some), fractions.add(some), fractions.add(Roots(std::vector<double>{3}, std::vector<double>{6}));
    values.insert(values.end(), whole.begin(), whole.end()), values.push_back(0.5);
    roots_compare_as(fractions, values);
}

/// −√(q − x)², and −√(n² + 1), which is closer to −n than float64 can tell.
TEST(distances_compare_as_their_numbers) {
    ExactSums of_query, of_item, both;
    Roots roots(KeyKind::distance);
    const auto add = [&](std::vector<double> query, std::vector<double> item) {
        of_query.set_query(query), of_item.set_query(item), both.set_query(query);
        roots.add(both.distance(item, of_query.product(query), of_item.product(item)));
    };
    for (double x : {0.0, 1.0, 1.5, 3.0, 4.0}) add({1}, {x});
    roots_compare_as(roots, {-1, 0, -0.5, -2, -3});
    add({0, 0}, {0x1p40, 1}), add({0, 0}, {0x1p40, 0}), add({0x1.8p1023, 1}, {-0x1.8p1023, 1}),
        add({0x1.8p1023}, {0x1.8p1023});
    CHECK(roots.compare(5, roots, 6) == -1 && roots.compare(7, roots, 5) == -1 && roots.compare(8, roots, 1) == 0);
    CHECK(roots.compare_value(5, -0x1p40, 0) == -1 && roots.compare_value(6, -0x1p40, 0) == 0);
    CHECK(roots.compare_shifted(5, roots, 1, -0x1p40) == -1 && roots.compare_shifted(1, roots, 5, 0x1p40) == 1);
    CHECK(roots.compare_shifted(5, roots, 0, -0x1p40 + 1) == -1 && roots.compare_shifted(0, roots, 5, 0x1p40 - 1) == 1);
}

/// Cosines of one query, whose square comes twice, with items of which some are multiples of others. The last is below 1 by
/// 2^-61, for which 0.99 stands.
TEST(cosines_of_one_query_compare_as_their_numbers) {
    const std::vector<double> query = {3, 4}, values = {0.6, 0.6, 0.8, -0.6, -0.6, 1, 1, 0, 1, 0.99};
    constexpr double N = 0x1p30;
    const std::vector<std::vector<double>> items = {{1, 0}, {2, 0}, {0, 1}, {-1, 0},        {-2, 0},
                                                    {3, 4}, {6, 8}, {0, 0}, {3 * N, 4 * N}, {3 * N - 1, 4 * N + 7}};
    std::vector<Numbers> squares(2 + items.size());
    ExactSums sums;
    sums.set_query(query);
    for (std::size_t k : {0, 1}) squares[k].add(sums.product(query));
    for (std::size_t k = 0; k < items.size(); ++k) {
        sums.set_query(items[k]);
        squares[2 + k].add(sums.product(items[k]));
    }
    Roots roots[2] = {Roots(KeyKind::cosine), Roots(KeyKind::cosine)};
    sums.set_query(query);
    for (std::size_t k : {0, 1})
        for (std::size_t i = 0; i < items.size(); ++i)
            roots[k].add(sums.product(items[i]), squares[k][0], squares[2 + i][0]);
    for (const Roots &others : roots)
        for (Index i = 0; i < roots[0].size(); ++i)
            for (Index j = 0; j < others.size(); ++j)
                CHECK(roots[0].compare(i, others, j) == sign_of(values[at(i)] - values[at(j)]));
}

TEST(estimates_of_nothing_and_of_ratios_of_one_square) {
    const Estimate none{0, 0}, one{1, 0};
    CHECK(compare_estimates(none, none) == 0 && compare_estimates(none, one) < 0 && compare_estimates(one, none) > 0);
    CHECK(scaled({1, -901}, 0) == 0 && scaled({1, -900}, 0) > 0);
    Wide two, three;
    two.set(2, 0), three.set(3, 0);
    CHECK(compare_ratios(two, three, three, three) == -1 && compare_ratios(three, two, three, three) == 1);
    CHECK(compare_ratios(three, two, two, two) == 1 && compare_ratios(three, three, two, two) == 1);
}

// Places --------------------------------------------------------------------------------------------------------------

TEST(places_are_between_members) {
    Random random(38);
    for (Index n : {0, 1, 2, 9, 40})
        for (int round = 0; round < 200; ++round) {
            std::vector<Index> members, errors;
            for (Index g = 0; g < n; ++g) {
                members.push_back((g > 0 ? members.back() : 0) + 1 + random.below(3)), errors.push_back(random.below(4));
            }
            const Index number = random.below(2 * n + 3);
            const auto order = [&](Index g) { return (number > members[at(g)]) - (number < members[at(g)]); };
            const auto near = [&](Index g) { return std::abs(number - members[at(g)]) <= errors[at(g)] ? 0 : order(g); };
            Index below = 0, upto = 0;
            for (Index member : members) below += member < number, upto += member <= number;
            const Index low = random.below(below + 1), high = upto + random.below(n - upto + 1);
            const Between exact = place_between<true>(low, high, order), open = place_between<false>(low, high, near);
            CHECK(exact.low == below && exact.high == upto);
            CHECK(low <= open.low && open.low <= below && upto <= open.high && open.high <= high);
            CHECK(open.low == open.high || near(open.low) <= 0);
            CHECK(open.low == open.high || near(open.high - 1) >= 0);
        }
}

}  // namespace
