// Sums over the numbers of a row, and of two rows, for files that are compiled once for each instruction set.
//
// Number k goes into sum k mod SUMS; the sums are then added by halves. A row is as if filled up with zeros.
#pragma once

#include <algorithm>

#include "support/lanes.h"
#include "support/views.h"

namespace deadheat::DEADHEAT_TARGET {

constexpr int SUMS = 32;  // side by side
constexpr int GROUP = 4;  // vectors of them that stay in registers while the rows are run through

/// The total of the sums, by halves: in registers as long as a half fills some.
inline double fold(Vector<double> (&sums)[SUMS / LANES<double>]) {
    for (int n = SUMS / LANES<double> / 2; n > 0; n /= 2)
        for (int v = 0; v < n; ++v) sums[v] += sums[v + n];
    double lanes[LANES<double>];
    store(sums[0], lanes);
    for (int n = LANES<double> / 2; n > 0; n /= 2)
        for (int k = 0; k < n; ++k) lanes[k] += lanes[k + n];
    return lanes[0];
}

/// The sum of term(a[k], b[k]), which is 0 for zeros, over all k; `term` takes vectors of float64.
template <class A, class B, class Term>
double sum_of(const A *a, const B *b, Index dim, Term term) {
    const Index whole = dim - dim % SUMS;
    A last_a[SUMS] = {};
    B last_b[SUMS] = {};
    std::copy(a + whole, a + dim, last_a);
    std::copy(b + whole, b + dim, last_b);
    Vector<double> sums[SUMS / LANES<double>];
    for (int first = 0; first < SUMS; first += GROUP * LANES<double>) {
        Vector<double> group[GROUP] = {};
        const auto add = [&](const A *x, const B *y) {
            for (int v = 0; v < GROUP; ++v)
                group[v] += term(widen(x + first + v * LANES<double>), widen(y + first + v * LANES<double>));
        };
        for (Index begin = 0; begin < whole; begin += SUMS) add(a + begin, b + begin);
        if (whole < dim) add(last_a, last_b);
        for (int v = 0; v < GROUP; ++v) sums[first / LANES<double> + v] = group[v];
    }
    return fold(sums);
}

/// The product of two rows in float64.
template <class A, class B>
double product_of_rows(const A *a, const B *b, Index dim) {
    return sum_of(a, b, dim, [](Vector<double> x, Vector<double> y) { return x * y; });
}

}  // namespace deadheat::DEADHEAT_TARGET
