// Matrices with memory of their own.
#pragma once

#include "support/memory.h"
#include "support/views.h"

namespace deadheat {

/// A matrix with memory of its own.
template <class T>
struct Table {
    Index rows = 0, columns = 0;
    Buffer<T> memory;

    Table() = default;
    Table(Index n, Index m, T fill = T{}) : rows(n), columns(m), memory(at(n * m), fill) {}
    /// One whose numbers are still to be set.
    static Table unset(Index n, Index m) {
        Table table;
        table.rows = n, table.columns = m, table.memory.resize(at(n * m));
        return table;
    }
    T *row(Index i) { return memory.data() + i * columns; }
    const T *row(Index i) const { return memory.data() + i * columns; }
    T &operator()(Index i, Index j) { return row(i)[j]; }
    const T &operator()(Index i, Index j) const { return row(i)[j]; }
    operator Matrix<T>() { return {memory.data(), rows, columns, columns}; }
    operator Matrix<const T>() const { return {memory.data(), rows, columns, columns}; }
};

using Numbers64 = std::vector<std::int64_t>;

}  // namespace deadheat
