#include "pass/exact_pairs.h"

#include <cmath>

namespace deadheat {

namespace {

constexpr Index NUMBERS = 1 << 21;  // of rows that are read at a time
constexpr Index MULTIPLIED =
    1 << 23;  // numbers that are multiplied before anybody asks whether to go on: less than a tenth of a second
constexpr Index WORK_OF_PAIR = 1 << 8;   // for more than its numbers, at most
constexpr std::size_t SAMPLE = 1 << 10;  // pairs that show whether double-double decides enough of them,
constexpr double ENOUGH = 1.0 / 8;       // as it takes a part of the time of exact sums

/// Call work(begin, rows) for parts of all rows of a source.
template <class T, class Work>
void each_row(const Source &source, Work work) {
    const auto all = first(source.n);
    const std::size_t step = at(std::max<Index>(1, NUMBERS / std::max<Index>(1, source.dim)));
    for (std::size_t begin = 0; begin < all.size(); begin += step) {
        const Taken<T> rows(source, Int64s(all).subspan(begin, std::min(step, all.size() - begin)));
        for (std::size_t p = 0; p < rows.position.size(); ++p) work(rows[p]);
    }
}

/// Subnormal float64 numbers count as zero while double-double is computed, whose bound allows for it; those of float32 do
/// not, which are far larger.
template <class T>
using ModeOf = std::conditional_t<sizeof(T) == 8, FlushingMode, FloatMode>;

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
            const auto look = [&](const T *row) {
                for (Index k = 0; k < item_.dim; ++k) {
                    const T size = std::abs(row[k]);
                    largest = std::max(largest, size);
                    if (size != 0) smallest = std::min(smallest, size);
                }
            };
            each_row<T>(item_, look);
            if (!same_) each_row<T>(query_, look);
            dot2_.emplace(kind_, item_.dim, std::ilogb(smallest), largest > 0 ? std::ilogb(largest) : 0);
            const ModeOf<T> mode;
            if (dot2_->has_items()) each_row<T>(item_, [&](const T *row) { of_item_.push_back(dot2_->of_item(row)); });
        });
    });
}

template <class Work>
void ExactPairs::each_part(Int64s queries, Int64s items, const StopFlag &stop, Work work) const {
    const bool read = query_.memory == nullptr || item_.memory == nullptr || query_.wide != item_.wide;
    const Index most = read ? NUMBERS / std::max<Index>(1, 2 * item_.dim) : MULTIPLIED / (item_.dim + WORK_OF_PAIR);
    const std::size_t step = at(std::max<Index>(1, most));
    for (std::size_t begin = 0; begin < queries.size(); begin += step) {
        if (stop) throw Stopped();
        const std::size_t n = std::min(step, queries.size() - begin);
        with_type(query_.wide || item_.wide, [&]<class T>(T) {
            const Taken<T> left(query_, queries.subspan(begin, n)), right(item_, items.subspan(begin, n));
            work(begin, left, right);
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
    each_part(queries, items, stop, [&]<class T>(std::size_t begin, const Taken<T> &left, const Taken<T> &right) {
        const ModeOf<T> mode;
        for (std::size_t p = 0; p < left.position.size(); ++p) {
            const Dot2Number none{}, &of_item = of_item_.empty() ? none : of_item_[at(items[begin + p])];
            numbers[begin + p] = dot2_->closeness(left[p], right[p], of_item);
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
    each_part(queries, items, stop, [&]<class T>(std::size_t begin, const Taken<T> &left, const Taken<T> &right) {
        const auto square_of = [&](RowSquares &known, std::int64_t row, const T *from) {
            return known.of(row, [&] {
                const auto numbers = widened(from, item_.dim, memory);
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
        for (std::size_t p = 0; p < left.position.size(); ++p) {
            if (left[p] != query) {
                sums.set_query(widened(query = left[p], item_.dim, memory));
                if (squares) q = square_of(*query_squares_, queries[begin + p], query);
            }
            if (squares) x = square_of(*item_squares_, items[begin + p], right[p]);
            roots.add(number(widened(right[p], item_.dim, memory), q, x), q, x);
        }
    });
    return roots;
}

}  // namespace deadheat
