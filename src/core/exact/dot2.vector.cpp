#include "exact/dot2.h"

#include <algorithm>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "support/error_free.h"
#include "support/lanes.h"

namespace deadheat::DEADHEAT_TARGET {

namespace {

using Doubles = Vector<double>;
constexpr int WIDTH = LANES<double>;
constexpr int GROUP = 2;  // vectors of sums side by side

/// Return a·b less its nearest float `product`, exactly but where it underflows.
inline Doubles rest_of(Doubles a, Doubles b, Doubles product) {
#if defined(__AVX512F__)
    return _mm512_fmsub_pd(a, b, product);
#elif defined(__AVX2__)
    return _mm256_fmsub_pd(a, b, product);
#else
    return rest_of_product(a, b, product);
#endif
}

/// The lanes with those that are HALF away changed for each other.
template <int HALF>
inline Doubles swapped(Doubles x) {
#if defined(__AVX512F__)
    if constexpr (HALF == 4) return __builtin_shufflevector(x, x, 4, 5, 6, 7, 0, 1, 2, 3);
    if constexpr (HALF == 2) return __builtin_shufflevector(x, x, 2, 3, 0, 1, 6, 7, 4, 5);
    return __builtin_shufflevector(x, x, 1, 0, 3, 2, 5, 4, 7, 6);
#elif defined(__AVX2__)
    if constexpr (HALF == 2) return __builtin_shufflevector(x, x, 2, 3, 0, 1);
    return __builtin_shufflevector(x, x, 1, 0, 3, 2);
#else
    return Doubles{x[1], x[0]};
#endif
}

/// Sums with their rests, and the sizes of what the rests have lost.
struct Sums {
    Doubles value = {}, rest = {}, lost = {};

    void add(Doubles term) {
        const Doubles sum = value + term;
        add_rest(rest_of_sum(value, term, sum));
        value = sum;
    }
    void add_rest(Doubles off) {
        const Doubles sum = rest + off;
        lost += absolute<double>(rest_of_sum(rest, off, sum));
        rest = sum;
    }
    void add(const Sums &others) { add(others.value), add_rest(others.rest), lost += others.lost; }
    /// Add to each lane those of its half: in the end every lane has the sum of all.
    template <int HALF>
    void fold() {
        add(Sums{swapped<HALF>(value), swapped<HALF>(rest), swapped<HALF>(lost)});
        if constexpr (HALF > 1) fold<HALF / 2>();
    }
};

struct Product {
    template <class T>
    static void add(Doubles a, Doubles b, Sums &sums) {
        const Doubles term = a * b;
        sums.add(term);
        if (sizeof(T) == 8) sums.add_rest(rest_of(a, b, term));  // of float32 numbers there is none
    }
};

struct Difference {
    template <class T>
    static void add(Doubles a, Doubles b, Sums &sums) {
        const Doubles term = a - b, off = rest_of_sum(a, -b, term);
        sums.add(absolute<double>(term)), sums.add_rest(term < 0.0 ? -off : off);
    }
};

/// Vectors of numbers, and what comes after them as if zeros followed.
template <class Term, class T>
Dot2Sum sum(const T *left, const T *right, Index dim, double scale) {
    constexpr Index STEP = GROUP * WIDTH;
    Sums sums[GROUP];
    const auto scaled = [scale](Doubles x) { return sizeof(T) == 8 ? x * scale : x; };
    const auto step = [&](const T *a, const T *b) {
#pragma GCC unroll 2
        for (int v = 0; v < GROUP; ++v)
            Term::template add<T>(scaled(widen(a + v * WIDTH)), scaled(widen(b + v * WIDTH)), sums[v]);
    };
    Index k = 0;
    for (; k + STEP <= dim; k += STEP) step(left + k, right + k);
    if (k < dim) {
        T ends[2][STEP] = {};
        std::copy(left + k, left + dim, ends[0]), std::copy(right + k, right + dim, ends[1]);
        step(ends[0], ends[1]);
    }
    sums[0].add(sums[1]);
    sums[0].fold<WIDTH / 2>();
    const double total = sums[0].value[0], rest = sums[0].rest[0], value = total + rest;
    return {value, rest_of_sum(total, rest, value), sums[0].lost[0]};
}

}  // namespace

extern const BothTypes<Dot2Loops> dot2_loops = {{sum<Product, float>, sum<Difference, float>},
                                                {sum<Product, double>, sum<Difference, double>}};

}  // namespace deadheat::DEADHEAT_TARGET
