#include "pass/sparse.h"

#include <cmath>
#include <limits>

namespace deadheat {

namespace {

/// Call work(a, b) with the numbers at the places of two rows, ascending: at all of either if `all`, else at those of both.
template <class A, class B, class Work>
void merge(SparseRow<A> left, SparseRow<B> right, bool all, Work work) {
    std::size_t i = 0, j = 0;
    while (i < left.places.size() && j < right.places.size()) {
        const std::int32_t a = left.places[i], b = right.places[j];
        if (a == b)
            work(left.numbers[i], right.numbers[j]);
        else if (all)
            a < b ? work(left.numbers[i], B{}) : work(A{}, right.numbers[j]);
        i += a <= b, j += b <= a;
    }
    if (!all) return;
    for (; i < left.places.size(); ++i) work(left.numbers[i], B{});
    for (; j < right.places.size(); ++j) work(A{}, right.numbers[j]);
}

/// Call work with a number of the type of each source's.
template <class Work>
void with_types(const Source &left, const Source &right, Work work) {
    with_type(left.wide, [&](auto a) { with_type(right.wide, [&](auto b) { work(a, b); }); });
}

double scaled(const ScaledSource &source, std::int64_t row, double number) {
    const double factor = source.factor[at(row)];
    return source.divide ? number / factor : number * factor;
}

}  // namespace

template <class T>
Postings<T> postings_of(const ScaledSource &source, Int64s rows) {
    Postings<T> made;
    made.start.resize(at(source.source.dim) + 1);
    with_type(source.source.wide, [&]<class A>(A) {
        std::size_t n = 0;
        for (std::int64_t row : rows)
            for (const std::int32_t place : source.source.sparse_row<A>(row).places) ++made.start[at(place) + 1], ++n;
        for (std::size_t k = 1; k < made.start.size(); ++k) made.start[k] += made.start[k - 1];
        made.row.resize(n), made.number.resize(n);
        std::vector<std::int32_t> next(made.start.begin(), made.start.end() - 1);
        for (std::size_t p = 0; p < rows.size(); ++p) {
            const auto [places, numbers] = source.source.sparse_row<A>(rows[p]);
            for (std::size_t i = 0; i < places.size(); ++i) {
                const std::size_t to = at(next[at(places[i])]++);
                made.row[to] = static_cast<std::int32_t>(p);
                made.number[to] = static_cast<T>(scaled(source, rows[p], numbers[i]));
            }
        }
    });
    return made;
}

template <class T>
void sparse_products(const ScaledSource &left, Int64s rows, const Postings<T> &right, Index column, bool mark,
                     Matrix<T> out) {
    std::vector<std::uint8_t> met(at(out.columns));
    const std::int32_t *const all = right.row.data();
    for (Index i = 0; i < out.rows; ++i) {
        T *const sums = out.row(i);
        std::fill_n(sums, out.columns, T{});
        if (mark) std::fill(met.begin(), met.end(), std::uint8_t{0});
        with_type(left.source.wide, [&]<class A>(A) {
            const auto [places, numbers] = left.source.sparse_row<A>(rows[at(i)]);
            for (std::size_t q = 0; q < places.size(); ++q) {
                const T number = static_cast<T>(scaled(left, rows[at(i)], numbers[q]));
                const std::int32_t end = right.start[at(places[q]) + 1];
                std::int32_t p = right.start[at(places[q])];
                if (column > 0) p = static_cast<std::int32_t>(std::lower_bound(all + p, all + end, column) - all);
                for (; p < end && all[p] < column + out.columns; ++p) {
                    sums[all[p] - column] += number * right.number[at(p)];
                    met[at(all[p] - column)] = 1;
                }
            }
        });
        for (Index j = 0; mark && j < out.columns; ++j) sums[j] = met[at(j)] ? sums[j] : -std::numeric_limits<T>::infinity();
    }
}

template Postings<float> postings_of(const ScaledSource &, Int64s);
template Postings<double> postings_of(const ScaledSource &, Int64s);
template void sparse_products(const ScaledSource &, Int64s, const Postings<float> &, Index, bool, Matrix<float>);
template void sparse_products(const ScaledSource &, Int64s, const Postings<double> &, Index, bool, Matrix<double>);

void sparse_pair_sums(const ScaledSource &left, Int64s rows, const ScaledSource &right, Int64s columns, bool sizes,
                      Span<double> out) {
    with_types(left.source, right.source, [&]<class A, class B>(A, B) {
        for (std::size_t p = 0; p < rows.size(); ++p) {
            double sum = 0;
            merge(left.source.sparse_row<A>(rows[p]), right.source.sparse_row<B>(columns[p]), false, [&](A a, B b) {
                const double term = scaled(left, rows[p], a) * scaled(right, columns[p], b);
                sum += sizes ? std::fabs(term) : term;
            });
            out[p] = sum;
        }
    });
}

bool disjoint_support(const Source &left, std::int64_t row, const Source &right, std::int64_t column) {
    bool disjoint = true;
    with_types(left, right, [&]<class A, class B>(A, B) {
        merge(left.sparse_row<A>(row), right.sparse_row<B>(column), false, [&](A, B) { disjoint = false; });
    });
    return disjoint;
}

template <class T>
MergedPairs<T>::MergedPairs(const Source &left, Int64s rows, const Source &right, Int64s columns) : start{0} {
    with_types(left, right, [&]<class A, class B>(A, B) {
        for (std::size_t p = 0; p < rows.size(); ++p) {
            merge(left.sparse_row<A>(rows[p]), right.sparse_row<B>(columns[p]), true,
                  [&](A a, B b) { left_memory.push_back(static_cast<T>(a)), right_memory.push_back(static_cast<T>(b)); });
            start.push_back(static_cast<Index>(left_memory.size()));
        }
    });
}

template struct MergedPairs<float>;
template struct MergedPairs<double>;

}  // namespace deadheat
