#include "support/compensated.h"

#include <algorithm>
#include <type_traits>

#include "support/error_free.h"
#include "support/lanes.h"

namespace deadheat::DEADHEAT_TARGET {

namespace {

constexpr int SUMS = 32;  // side by side; number k of a row goes into sum k mod SUMS
constexpr int GROUP = 4;  // vectors of them that stay in registers, with their rests, while the rows are run through

template <class A, class B>
struct Sums {
    Vector<double> sums[GROUP] = {}, rests[GROUP] = {};

    void add(const A *a, const B *b) {
        for (int v = 0; v < GROUP; ++v) {
            const Vector<double> x = widen(a + v * LANES<double>), y = widen(b + v * LANES<double>);
            const Vector<double> product = x * y, total = sums[v] + product;
            const Vector<double> lost = rest_of_sum(sums[v], product, total);
            if constexpr (std::is_same_v<A, float> && std::is_same_v<B, float>)
                rests[v] += lost;  // products of two floats are exact in float64
            else
                rests[v] += rest_of_product(x, y, product) + lost;
            sums[v] = total;
        }
    }
};

template <class A, class B>
double compensated_dot(const A *a, const B *b, Index dim) {
    const Index whole = dim - dim % SUMS;
    A last_a[SUMS] = {};  // filled up with zeros
    B last_b[SUMS] = {};
    std::copy(a + whole, a + dim, last_a);
    std::copy(b + whole, b + dim, last_b);
    double total = 0.0, rest = 0.0;
    for (int first = 0; first < SUMS; first += GROUP * LANES<double>) {
        Sums<A, B> group;
        for (Index begin = first; begin < whole; begin += SUMS) group.add(a + begin, b + begin);
        if (whole < dim) group.add(last_a + first, last_b + first);
        for (int v = 0; v < GROUP; ++v)
            for (int lane = 0; lane < LANES<double>; ++lane) {
                const TwoParts sum = two_sum(total, group.sums[v][lane]);
                total = sum.value;
                rest += group.rests[v][lane] + sum.rest;
            }
    }
    return total + rest;
}

template <class A, class B>
void compensated_dots(Matrix<const A> left, Span<const std::int64_t> rows, Matrix<const B> right,
                      Span<const std::int64_t> columns, Span<double> out) {
    for (std::size_t p = 0; p < out.size(); ++p)
        out[p] = compensated_dot(left.row(rows[p]), right.row(columns[p]), left.columns);
}

}  // namespace

extern const CompensatedLoops compensated_loops = {compensated_dots<float, float>, compensated_dots<float, double>,
                                                   compensated_dots<double, float>, compensated_dots<double, double>};

}  // namespace deadheat::DEADHEAT_TARGET
