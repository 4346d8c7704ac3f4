#include "pass/exact_pairs.h"

#include <cmath>

namespace deadheat {

namespace {

constexpr Index NUMBERS = 1 << 21;  // of the rows that are made ready at a time
constexpr Index MULTIPLIED =
    1 << 24;  // numbers that are multiplied before anybody asks whether to go on: a tenth of a second
constexpr Index KEPT_BYTES = 48 << 20;   // of rows that are kept ready
constexpr Index WORK_OF_PAIR = 1 << 10;  // for more than its numbers, at most: a few comparisons by products of many limbs
constexpr Index SAMPLE = 64;             // rows that show how much memory a row takes
constexpr Index SPARSE = 4;              // of so many numbers one is not 0

}  // namespace

const IntegerRows *ExactPairs::integers() const {
    std::call_once(asked_, [&] {
        look_at_numbers();
        const bool few = sparse_ && kind_ != KeyKind::difference;  // whose products are added up number by number
        if (!few) integers_ = IntegerRows::of(kind_, query_, item_, same_);
    });
    return integers_.get();
}

bool ExactPairs::tries_dot2() const {
    if (kind_ == KeyKind::difference) return false;
    look_at_numbers();
    return !sparse_;
}

void ExactPairs::look_at_numbers() const {
    std::call_once(looked_, [&] {
        double largest = 0;
        Index n_number = 0, n_seen = 0;
        const auto look = [&](const Source &source) {
            const auto all = first(source.n);
            const auto step = static_cast<std::size_t>(std::max<Index>(1, NUMBERS / source.dim));
            for (std::size_t begin = 0; begin < all.size(); begin += step) {
                const auto some = Span<const std::int64_t>(all).subspan(begin, std::min(step, all.size() - begin));
                with_type(source.wide, [&](auto type) {
                    const Taken<decltype(type)> taken(source, some);
                    for (std::int64_t place : taken.place)
                        for (auto number : taken.rows[place]) {
                            largest = std::max(largest, std::fabs(static_cast<double>(number)));
                            n_number += number != 0;
                        }
                    n_seen += static_cast<Index>(some.size()) * source.dim;
                });
            }
        };
        look(item_);
        if (!same_) look(query_);
        if (largest > 0) exponent_ = std::ilogb(largest);
        sparse_ = SPARSE * n_number <= n_seen;
    });
}

template <class Rows, class T>
Rows ExactPairs::make(Matrix<const T> left, Matrix<const T> right) const {
    if constexpr (std::is_same_v<Rows, Dot2Rows>) {
        look_at_numbers();
        return Dot2Rows(kind_, left, right, exponent_);
    } else {
        return RootRows(kind_, left, right);
    }
}

template <class Rows>
const Rows *ExactPairs::kept() const {
    Kept<Rows> &kept = std::get<Kept<Rows>>(kept_);
    std::call_once(kept.once, [&] {
        const Index n = query_.n + (same_ ? 0 : item_.n);
        const auto make_all = [&]<class T>(T) {
            const auto sample = read_rows<T>(item_, first(std::min(SAMPLE, item_.n)));
            const Matrix<const T> some{sample.data(), std::min(SAMPLE, item_.n), item_.dim, item_.dim};
            if (n * make<Rows, T>(some, some).bytes() > KEPT_BYTES) return;
            const auto of_item = read_rows<T>(item_, first(item_.n));
            const Matrix<const T> items{of_item.data(), item_.n, item_.dim, item_.dim};
            if (same_) return void(kept.rows.emplace(make<Rows, T>(items, items)));
            const auto of_query = read_rows<T>(query_, first(query_.n));
            kept.rows.emplace(make<Rows, T>(Matrix<const T>{of_query.data(), query_.n, query_.dim, query_.dim}, items));
        };
        with_type(query_.wide || item_.wide, make_all);
    });
    return kept.rows ? &*kept.rows : nullptr;
}

/// The pairs from one place on, a few at a time.
template <class Rows>
void in_turn(const Rows &rows, Index dim, Span<const std::int64_t> left, Span<const std::int64_t> right,
             Span<const std::int64_t> which, const std::atomic<bool> &stop, const WorkOnPairs<Rows> &work) {
    const auto step = static_cast<std::size_t>(std::max<Index>(1, MULTIPLIED / (dim + WORK_OF_PAIR)));
    for (std::size_t begin = 0; begin < which.size(); begin += step) {
        if (stop) throw Stopped();
        const std::size_t count = std::min(step, which.size() - begin);
        work({rows, left.subspan(begin, count), right.subspan(begin, count), which.subspan(begin, count)});
    }
}

template <class Rows, class T>
void ExactPairs::square(Span<const std::int64_t> queries, Span<const std::int64_t> items, Span<const std::int64_t> which,
                        const std::atomic<bool> &stop, const WorkOnPairs<Rows> &work) const {
    std::vector<std::int64_t> left, right;
    const auto some_queries = distinct(queries, left), some_items = distinct(items, right);
    const auto n = static_cast<Index>(some_queries.size() + some_items.size());
    if (n * query_.dim > NUMBERS && queries.size() > 1) {
        const std::size_t middle = queries.size() / 2;
        square<Rows, T>(queries.first(middle), items.first(middle), which.first(middle), stop, work);
        return square<Rows, T>(queries.subspan(middle), items.subspan(middle), which.subspan(middle), stop, work);
    }
    if (stop) throw Stopped();
    const auto a = read_rows<T>(query_, some_queries), b = read_rows<T>(item_, some_items);
    const auto rows = make<Rows, T>({a.data(), static_cast<Index>(some_queries.size()), query_.dim, query_.dim},
                                    {b.data(), static_cast<Index>(some_items.size()), item_.dim, item_.dim});
    in_turn<Rows>(rows, query_.dim, left, right, which, stop, work);
}

template <class Rows>
void ExactPairs::each(Span<const std::int64_t> queries, Span<const std::int64_t> items, const std::atomic<bool> &stop,
                      const WorkOnPairs<Rows> &work) const {
    if (queries.empty()) return;
    auto order = first(static_cast<Index>(queries.size()));
    if (const Rows *rows = kept<Rows>()) return in_turn<Rows>(*rows, query_.dim, queries, items, order, stop, work);
    // by runs of rows of both sides, so that rows are made ready seldom
    const Index side = std::max<Index>(1, NUMBERS / (2 * query_.dim)), across = item_.n / side + 1;
    const auto square_of = [&](std::int64_t p) {
        return queries[static_cast<std::size_t>(p)] / side * across + items[static_cast<std::size_t>(p)] / side;
    };
    std::stable_sort(order.begin(), order.end(), [&](auto p, auto q) { return square_of(p) < square_of(q); });
    for (std::size_t begin = 0; begin < order.size();) {
        std::size_t end = begin + 1;
        while (end < order.size() && square_of(order[end]) == square_of(order[begin])) ++end;
        const Span<const std::int64_t> which = Span<const std::int64_t>(order).subspan(begin, end - begin);
        std::vector<std::int64_t> left, right;
        for (std::int64_t p : which) {
            left.push_back(queries[static_cast<std::size_t>(p)]);
            right.push_back(items[static_cast<std::size_t>(p)]);
        }
        with_type(query_.wide || item_.wide,
                  [&](auto type) { square<Rows, decltype(type)>(left, right, which, stop, work); });
        begin = end;
    }
}

template void ExactPairs::each(Span<const std::int64_t>, Span<const std::int64_t>, const std::atomic<bool> &,
                               const WorkOnPairs<RootRows> &) const;
template void ExactPairs::each(Span<const std::int64_t>, Span<const std::int64_t>, const std::atomic<bool> &,
                               const WorkOnPairs<Dot2Rows> &) const;

Roots ExactPairs::closeness(Span<const std::int64_t> queries, Span<const std::int64_t> items,
                            const std::atomic<bool> &stop) const {
    Roots roots(kind_, static_cast<Index>(queries.size()));
    each<RootRows>(queries, items, stop,
                   [&](const ReadyPairs<RootRows> &pairs) { roots.put(pairs.rows, pairs.left, pairs.right, pairs.which); });
    return roots;
}

}  // namespace deadheat
