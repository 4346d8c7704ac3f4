// Squares of numbers transposed in registers: what transposes a matrix, or packs rows, without a walk down its columns.
#pragma once

#include <utility>

#include "support/lanes.h"

namespace deadheat::DEADHEAT_TARGET {

/// Lane l of the outcome is lane l of `a` where bit STEP of l is 0, else lane l − STEP of `b`; for the LOWER one of a pair
/// lane l + STEP of `a`, else lane l of `b`.
template <int STEP, bool LOWER, class V, int... L>
inline V exchanged(V a, V b, std::integer_sequence<int, L...>) {
    constexpr int N = sizeof...(L);
    return __builtin_shufflevector(a, b, ((L & STEP) ? N + L - (LOWER ? 0 : STEP) : L + (LOWER ? STEP : 0))...);
}

/// Transposes as many vectors as each has lanes: blocks of STEP × STEP change places across the diagonal, for STEP = 1, 2,
/// ...
template <int STEP = 1, class V, int N>
inline void transpose_square(V (&rows)[N]) {
    if constexpr (STEP < N) {
        for (int i = 0; i < N; ++i) {
            if (i & STEP) continue;
            const V a = rows[i], b = rows[i + STEP];
            rows[i] = exchanged<STEP, false>(a, b, std::make_integer_sequence<int, N>());
            rows[i + STEP] = exchanged<STEP, true>(a, b, std::make_integer_sequence<int, N>());
        }
        transpose_square<2 * STEP>(rows);
    }
}

}  // namespace deadheat::DEADHEAT_TARGET
