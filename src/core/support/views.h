// Views of arrays that somebody else owns: what NumPy hands over, and parts of it. Rows lie one after another (C order).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace deadheat {

using Index = std::ptrdiff_t;

inline std::size_t at(Index position) { return static_cast<std::size_t>(position); }

/// A row of numbers.
template <class T>
using Span = std::span<T>;

using Int64s = Span<const std::int64_t>;

/// A matrix of numbers; its rows may be longer than what is used of them.
template <class T>
struct Matrix {
    T *data = nullptr;
    Index rows = 0;
    Index columns = 0;
    Index stride = 0;  // numbers from one row to the next

    T *row(Index i) const { return data + i * stride; }
    Span<T> operator[](Index i) const { return {row(i), static_cast<std::size_t>(columns)}; }
    T &operator()(Index i, Index j) const { return row(i)[j]; }
    operator Matrix<const T>() const { return {data, rows, columns, stride}; }
};

/// Return whether two views are of the same numbers.
template <class T>
bool same_memory(Matrix<const T> a, Matrix<const T> b) {
    return a.data == b.data && a.rows == b.rows && a.columns == b.columns && a.stride == b.stride;
}

}  // namespace deadheat
