// The parts of a test of a loop: a name, a check, and numbers that are hard on loops.
//
//     TEST(sums_of_nothing) { CHECK(digits({}).count == 0); }
//
// Arrays are std::vectors of exactly the length that a loop is given, so that AddressSanitizer sees the first step past
// their end. Every test also runs in several threads at once, for ThreadSanitizer: it shares nothing that it writes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "support/views.h"

namespace deadheat::tests {

using Test = void (*)();

/// Puts a test on the list that main.cpp runs.
bool add(const char *name, Test test);

/// Reports a check that failed and counts it; the test goes on.
void fail(const char *file, int line, const std::string &what);

/// Sizes round the widths of vectors, of blocks and of strips.
inline const std::vector<Index> SIZES = {0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65, 127, 129};

/// The same number, the same zero; any NaN is as good as another.
template <class T>
bool same(T a, T b) {
    return (a != a && b != b) || std::memcmp(&a, &b, sizeof(T)) == 0;
}

/// A generator that gives the same numbers in every run.
struct Random {
    explicit Random(std::uint64_t seed) : bits(seed) {}

    /// A whole number from 0 to below `end`.
    Index below(Index end) { return static_cast<Index>(bits() % static_cast<std::uint64_t>(end)); }

    /// Mostly a number between -1 and 1, and now and then one that loops stumble over.
    template <class T>
    T number() {
        using Limits = std::numeric_limits<T>;
        const T hostile[] = {T(0),
                             -T(0),
                             T(1),
                             Limits::denorm_min(),
                             -Limits::min(),
                             Limits::max(),
                             Limits::infinity(),
                             -Limits::infinity(),
                             Limits::quiet_NaN()};
        if (below(50) == 0) return hostile[below(static_cast<Index>(std::size(hostile)))];
        return std::uniform_real_distribution<T>(T(-1), T(1))(bits);
    }

    std::mt19937_64 bits;
};

/// A matrix with rows that are longer than what is used of them; what lies between has a value that no loop may touch.
template <class T>
struct Padded {
    Padded(Index height, Index width, Index padding) : rows(height), columns(width), stride(width + padding) {
        numbers.assign(rows == 0 ? 0 : static_cast<std::size_t>((rows - 1) * stride + columns), FILLER);
    }

    Matrix<T> view() { return {numbers.data(), rows, columns, stride}; }
    T at(Index i, Index j) const { return numbers[static_cast<std::size_t>(i * stride + j)]; }
    void set(Index i, Index j, T value) { numbers[static_cast<std::size_t>(i * stride + j)] = value; }
    /// Set all numbers, row by row, to what a function returns.
    template <class Make>
    void fill(Make make) {
        for (Index i = 0; i < rows; ++i)
            for (Index j = 0; j < columns; ++j) set(i, j, make());
    }

    bool padding_is_untouched() const {
        for (std::size_t k = 0; k < numbers.size(); ++k)
            if (static_cast<Index>(k) % stride >= columns && !same(numbers[k], FILLER)) return false;
        return true;
    }

    static constexpr T FILLER = T(77);
    Index rows, columns, stride;
    std::vector<T> numbers;
};

/// The product of two rows in float64.
template <class A, class B>
double product_of_rows(const Padded<A> &left, Index i, const Padded<B> &right, Index j) {
    double sum = 0;
    for (Index k = 0; k < left.columns; ++k) sum += static_cast<double>(left.at(i, k)) * static_cast<double>(right.at(j, k));
    return sum;
}

using Integers = std::vector<std::int64_t>;

/// The tie groups of a row of items by comparing all with all, nearest first: closer, closer_relevant, tied and
/// tied_relevant. Larger keys are nearer; a grade above 0 is relevant, one below 0 not ranked.
inline std::vector<Integers> groups_of(const Integers &keys, const Integers &grades) {
    Integers levels;
    for (std::size_t j = 0; j < keys.size(); ++j)
        if (grades[j] > 0) levels.push_back(keys[j]);
    std::sort(levels.rbegin(), levels.rend());
    levels.erase(std::unique(levels.begin(), levels.end()), levels.end());
    std::vector<Integers> groups;
    for (std::int64_t level : levels) {
        Integers group(4, 0);
        for (std::size_t j = 0; j < keys.size(); ++j) {
            if (grades[j] < 0 || keys[j] < level) continue;
            const std::size_t position = keys[j] > level ? 0 : 2;
            ++group[position], group[position + 1] += grades[j] > 0;
        }
        groups.push_back(group);
    }
    return groups;
}

}  // namespace deadheat::tests

#define TEST(name)                                                                       \
    static void name();                                                                  \
    [[maybe_unused]] static const bool name##_added = deadheat::tests::add(#name, name); \
    static void name()

#define CHECK(condition)                                                         \
    do {                                                                         \
        if (!(condition)) deadheat::tests::fail(__FILE__, __LINE__, #condition); \
    } while (false)
