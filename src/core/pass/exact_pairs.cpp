#include "pass/exact_pairs.h"

#include <cmath>

#include "pass/sparse.h"

namespace deadheat {

namespace {

constexpr Index NUMBERS = 1 << 21;  // of rows that are read at a time
constexpr Index MULTIPLIED =
    1 << 23;  // numbers that are multiplied before anybody asks whether to go on: less than a tenth of a second
constexpr Index MERGED = 1 << 10;        // pairs of sparse rows that are merged at a time
constexpr Index WORK_OF_PAIR = 1 << 8;   // for more than its numbers, at most
constexpr std::size_t SAMPLE = 1 << 10;  // pairs that show whether double-double decides enough of them,
constexpr double ENOUGH = 1.0 / 8;       // as it takes a part of the time of exact sums

/// Call work(row, dim) for all rows of a source, of sparse ones with the numbers that are not 0.
template <class T, class Work>
void each_row(const Source &source, Work work) {
    if (source.sparse()) {
        with_type(source.wide, [&]<class A>(A) {
            for (Index i = 0; i < source.n; ++i) {
                const auto numbers = source.sparse_row<A>(i).numbers;
                const std::vector<T> row(numbers.begin(), numbers.end());
                work(row.data(), static_cast<Index>(row.size()));
            }
        });
        return;
    }
    const auto all = first(source.n);
    const std::size_t step = at(std::max<Index>(1, NUMBERS / std::max<Index>(1, source.dim)));
    for (std::size_t begin = 0; begin < all.size(); begin += step) {
        const Taken<T> rows(source, Int64s(all).subspan(begin, std::min(step, all.size() - begin)));
        for (std::size_t p = 0; p < rows.position.size(); ++p) work(rows[p], source.dim);
    }
}

/// Subnormal float64 numbers count as zero while double-double is computed, whose bound allows for it; those of float32 do
/// not, which are far larger.
template <class T>
using ModeOf = std::conditional_t<sizeof(T) == 8, FlushingMode, FloatMode>;

/// Pairs of rows of one type, wherever they are.
template <class T>
struct TakenPairs {
    static constexpr bool each_its_own = false;
    Taken<T> of_left, of_right;

    TakenPairs(const Source &left, Int64s rows, const Source &right, Int64s columns)
        : of_left(left, rows), of_right(right, columns) {}
    std::size_t size() const { return of_left.position.size(); }
    Index dim(std::size_t) const { return of_left.rows.columns; }
    const T *left(std::size_t p) const { return of_left[p]; }
    const T *right(std::size_t p) const { return of_right[p]; }
};

/// A row in float64.
template <class T>
Span<const double> widened(const T *row, Index dim, std::vector<double> &memory) {
    if constexpr (sizeof(T) == 8) return {row, at(dim)};
    memory.assign(row, row + dim);
    return memory;
}

}  // namespace

const IntegerRows *ExactPairs::integers() const {
    std::call_once(asked_, [&] { integers_ = IntegerRows::of(kind_, query_, item_, same_); });
    return integers_.get();
}

void ExactPairs::make_dot2() const {
    std::call_once(made_, [&] {
        with_type(query_.wide || item_.wide, [&]<class T>(T) {
            T largest = 0, smallest = 1;
            const auto look = [&](const T *row, Index dim) {
                for (Index k = 0; k < dim; ++k) {
                    const T size = std::abs(row[k]);
                    largest = std::max(largest, size);
                    if (size != 0) smallest = std::min(smallest, size);
                }
            };
            each_row<T>(item_, look);
            if (!same_) each_row<T>(query_, look);
            dot2_.emplace(kind_, item_.dim, std::ilogb(smallest), largest > 0 ? std::ilogb(largest) : 0);
            const ModeOf<T> mode;
            if (dot2_->has_items()) each_row<T>(item_, [&](auto... row) { of_item_.push_back(dot2_->of_item(row...)); });
        });
    });
}

template <class Work>
void ExactPairs::each_part(Int64s queries, Int64s items, const StopFlag &stop, Work work) const {
    const bool read = query_.memory == nullptr || item_.memory == nullptr || query_.wide != item_.wide;
    const bool sparse = query_.sparse() && item_.sparse();
    const Index most = sparse ? MERGED
                       : read ? NUMBERS / std::max<Index>(1, 2 * item_.dim)
                              : MULTIPLIED / (item_.dim + WORK_OF_PAIR);
    const std::size_t step = at(std::max<Index>(1, most));
    for (std::size_t begin = 0; begin < queries.size(); begin += step) {
        if (stop) throw Stopped();
        const std::size_t n = std::min(step, queries.size() - begin);
        with_type(query_.wide || item_.wide, [&]<class T>(T) {
            const auto rows = queries.subspan(begin, n), others = items.subspan(begin, n);
            if (sparse)
                work(begin, MergedPairs<T>(query_, rows, item_, others));
            else
                work(begin, TakenPairs<T>(query_, rows, item_, others));
        });
    }
}

bool ExactPairs::tries_about() const {
    return n_tried_ < SAMPLE || static_cast<double>(n_decided_) > ENOUGH * static_cast<double>(n_tried_);
}

void ExactPairs::note_about(std::size_t tried, std::size_t decided) const { n_tried_ += tried, n_decided_ += decided; }

std::vector<Dot2Number> ExactPairs::about(Int64s queries, Int64s items, const StopFlag &stop) const {
    make_dot2();
    std::vector<Dot2Number> numbers(queries.size());
    each_part(queries, items, stop, [&]<template <class> class Pairs, class T>(std::size_t begin, const Pairs<T> &pairs) {
        const ModeOf<T> mode;
        for (std::size_t p = 0; p < pairs.size(); ++p) {
            const Dot2Number none{}, &of_item = of_item_.empty() ? none : of_item_[at(items[begin + p])];
            numbers[begin + p] = dot2_->closeness(pairs.left(p), pairs.right(p), pairs.dim(p), of_item);
        }
    });
    return numbers;
}

void ExactPairs::make_squares(Roots &roots) const {
    std::call_once(squared_, [&] {
        item_squares_ = std::make_shared<RowSquares>(item_.n);
        query_squares_ = same_ ? item_squares_ : std::make_shared<RowSquares>(query_.n);
    });
    roots.keep(query_squares_), roots.keep(item_squares_);
}

Roots ExactPairs::closeness(Int64s queries, Int64s items, const StopFlag &stop) const {
    Roots roots(kind_);
    const bool squares = kind_ == KeyKind::distance || kind_ == KeyKind::cosine;
    if (squares) make_squares(roots);
    ExactSums sums, of_squares;
    std::vector<double> memory;
    each_part(queries, items, stop, [&]<template <class> class Pairs, class T>(std::size_t begin, const Pairs<T> &pairs) {
        const auto square_of = [&](RowSquares &known, std::int64_t row, const T *from, Index dim) {
            return known.of(row, [&] {
                const auto numbers = widened(from, dim, memory);
                of_squares.set_query(numbers);
                return of_squares.product(numbers);
            });
        };
        const auto number = [&](Span<const double> item, SignedDigits query_square, SignedDigits item_square) {
            if (kind_ == KeyKind::difference) return sums.difference(item);
            return kind_ == KeyKind::distance ? sums.distance(item, query_square, item_square) : sums.product(item);
        };
        const T *query = nullptr;
        SignedDigits q{}, x{};
        for (std::size_t p = 0; p < pairs.size(); ++p) {
            const Index dim = pairs.dim(p);
            if (pairs.left(p) != query || Pairs<T>::each_its_own) {
                sums.set_query(widened(query = pairs.left(p), dim, memory));
                if (squares) q = square_of(*query_squares_, queries[begin + p], query, dim);
            }
            if (squares) x = square_of(*item_squares_, items[begin + p], pairs.right(p), dim);
            roots.add(number(widened(pairs.right(p), dim, memory), q, x), q, x);
        }
    });
    return roots;
}

}  // namespace deadheat
