// Rows of embeddings, wherever they are: in memory, or read by somebody else when they are asked for.
#pragma once

#include <algorithm>
#include <functional>
#include <numeric>
#include <vector>

#include "distances/rows.h"
#include "support/memory.h"

namespace deadheat {

/// Call work with a float or a double, whose value means nothing.
template <class Work>
auto with_type(bool wide, Work work) {
    return wide ? work(double{}) : work(float{});
}

/// 0, 1, ..., n − 1.
inline std::vector<std::int64_t> first(Index n) {
    std::vector<std::int64_t> numbers(at(n));
    std::iota(numbers.begin(), numbers.end(), 0);
    return numbers;
}

/// Each of some numbers once, ascending; and the place of every number among them.
inline std::vector<std::int64_t> distinct(Int64s numbers, std::vector<std::int64_t> &position) {
    std::vector<std::int64_t> result(numbers.begin(), numbers.end());
    std::sort(result.begin(), result.end());
    result.erase(std::unique(result.begin(), result.end()), result.end());
    position.resize(numbers.size());
    for (std::size_t p = 0; p < numbers.size(); ++p)
        position[p] = std::lower_bound(result.begin(), result.end(), numbers[p]) - result.begin();
    return result;
}

/// The numbers of a sparse row that are not left out as 0, at ascending places.
template <class T>
struct SparseRow {
    Span<const std::int32_t> places;
    Span<const T> numbers;
};

/// Rows of float32 or, if `wide`, float64 numbers.
struct Source {
    Index n = 0, dim = 0;
    bool wide = false;
    Int64s starts{};                    // of sparse rows, whose numbers are at `places` from one start to the next;
    Span<const std::int32_t> places{};  // none of other rows
    const void *numbers = nullptr;
    const void *memory = nullptr;  // of all rows, one after another; null where they are read
    Index stride = 0;
    std::function<void(const Numbers64 &, void *)> read;  // fills (n, dim) with the rows of these numbers

    bool sparse() const { return !starts.empty(); }
    template <class T>
    SparseRow<T> sparse_row(std::int64_t i) const {
        const std::size_t begin = at(starts[at(i)]), count = at(starts[at(i) + 1]) - begin;
        return {places.subspan(begin, count), {static_cast<const T *>(numbers) + begin, count}};
    }

    template <class T>
    Matrix<const T> rows() const {
        return {static_cast<const T *>(memory), n, dim, stride};
    }
};

/// Rows in a type that holds their numbers, one after another.
template <class T>
std::vector<T> read_rows(const Source &source, Int64s index);

/// Rows in a type that holds their numbers, each once: where they are if they are in memory as such, else read.
template <class T>
struct Taken {
    std::vector<T> memory;
    Matrix<const T> rows;
    std::vector<std::int64_t> numbers;  // of these rows, ascending, where they were read
    std::vector<std::int64_t> places;
    Int64s position;  // among the rows, of each that was asked for

    Taken(const Source &source, Int64s index) : position(index) {
        const bool same_type = source.wide == (sizeof(T) == 8);
        if (source.memory != nullptr && same_type) {
            rows = source.rows<T>();
            return;
        }
        numbers = distinct(index, places), position = places;
        if (!same_type) {
            memory = read_rows<T>(source, numbers);
        } else if (!numbers.empty()) {
            memory.resize(numbers.size() * at(source.dim));
            source.read(numbers, memory.data());
        }
        rows = {memory.data(), static_cast<Index>(numbers.size()), source.dim, source.dim};
    }
    Taken(const Taken &) = delete;
    Taken &operator=(const Taken &) = delete;

    const T *operator[](std::size_t p) const { return rows.row(position[p]); }
};

template <class T>
std::vector<T> read_rows(const Source &source, Int64s index) {
    std::vector<T> out(index.size() * at(source.dim));
    with_type(source.wide, [&](auto type) {
        const Taken<decltype(type)> taken(source, index);
        for (std::size_t p = 0; p < index.size(); ++p) std::copy_n(taken[p], source.dim, out.data() + p * at(source.dim));
    });
    return out;
}

/// Rows of numbers, and a factor of each, which multiplies or divides it before use; or rows of bits, in words.
struct ScaledSource {
    Source source{};
    Span<const double> factor{};
    bool divide = false;
    Matrix<const std::uint64_t> words{};

    /// Rows in a type, multiplied.
    template <class B>
    void take(Int64s index, Matrix<B> out) const;
};

/// Some rows of such a source as they came, with the factors of these that were read.
template <class A>
struct TakenScaled {
    Taken<A> taken;
    std::vector<double> factors;
    ScaledRows<A> rows;

    TakenScaled(const ScaledSource &from, Int64s index) : taken(from.source, index) {
        for (std::int64_t number : taken.numbers) factors.push_back(from.factor[at(number)]);
        rows = {taken.rows, factors.empty() ? from.factor : Span<const double>(factors), from.divide};
    }

    /// As many dimensions as `out` has, from one on, multiplied.
    template <class B>
    void take(Index start, Matrix<B> out) const {
        const auto &[raw, factor, divide] = rows;
        take_rows(ScaledRows<A>{{raw.data + start, raw.rows, out.columns, raw.stride}, factor, divide}, taken.position, out);
    }
};

template <class B>
void ScaledSource::take(Int64s index, Matrix<B> out) const {
    with_type(source.wide, [&](auto type) { TakenScaled<decltype(type)>(*this, index).take(0, out); });
}

}  // namespace deadheat
