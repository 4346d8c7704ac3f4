// Products of two rows in float64. For files that are compiled once for each instruction set.
#pragma once

#include "support/lanes.h"
#include "support/views.h"

namespace deadheat::DEADHEAT_TARGET {

constexpr Index SUMS = 32;  // that run side by side, whatever the processor has

/// As many numbers as a vector of float64 holds, in float64.
template <class T>
inline Vector<double> load_wide(const T *from) {
    typedef T Narrow __attribute__((vector_size(LANES<double> * sizeof(T))));
    Narrow some;
    std::memcpy(&some, from, sizeof some);
    return __builtin_convertvector(some, Vector<double>);
}

/// The product of two rows in float64: sum k takes the products k, k + 32, ..., and the sums are added up by halves.
template <class T>
inline double product_of_rows(const T *a, const T *b, Index n) {
    constexpr Index VECTORS = SUMS / LANES<double>;
    Vector<double> sums[VECTORS] = {};
    const Index whole = n - n % SUMS;
    for (Index begin = 0; begin < whole; begin += SUMS)
        for (Index v = 0; v < VECTORS; ++v) {
            const Index k = begin + v * LANES<double>;
            sums[v] += load_wide(a + k) * load_wide(b + k);
        }
    double lanes[SUMS];
    std::memcpy(lanes, sums, sizeof lanes);
    for (Index half = SUMS / 2; half > 0; half /= 2)
        for (Index k = 0; k < half; ++k) lanes[k] += lanes[k + half];
    double total = lanes[0];
    for (Index k = whole; k < n; ++k) total += static_cast<double>(a[k]) * static_cast<double>(b[k]);
    return total;
}

}  // namespace deadheat::DEADHEAT_TARGET
