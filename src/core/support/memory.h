// Memory for many numbers, by lines of the cache: what one gives back the next one takes, as new pages cost more than to
// fill them.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

#include "support/views.h"

namespace deadheat {

/// Memory of so many bytes. What is kept for others and what is in use are together never more than was once in use.
void *take_memory(std::size_t bytes);
void give_memory_back(void *memory, std::size_t bytes) noexcept;

/// Frees what nobody uses when it ends.
struct FreeKeptMemory {
    ~FreeKeptMemory();
};

/// The allocator of numbers in such memory; they are not set unless a value is given.
template <class T>
struct Reused {
    using value_type = T;

    Reused() = default;
    template <class U>
    Reused(const Reused<U> &) {}
    T *allocate(std::size_t n) { return static_cast<T *>(take_memory(n * sizeof(T))); }
    void deallocate(T *memory, std::size_t n) noexcept { give_memory_back(memory, n * sizeof(T)); }
    template <class U>
    void construct(U *position) {
        ::new (static_cast<void *>(position)) U;
    }
    template <class U, class... Value>
    void construct(U *position, Value &&...value) {
        ::new (static_cast<void *>(position)) U(static_cast<Value &&>(value)...);
    }
    friend bool operator==(const Reused &, const Reused &) { return true; }
};

template <class T>
using Buffer = std::vector<T, Reused<T>>;

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
