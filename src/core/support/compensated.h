// Dot products in about twice the precision of float64.
#pragma once

#include <tuple>

#include "support/targets.h"
#include "support/views.h"

namespace deadheat {

template <class A, class B>
using CompensatedDots = void (*)(Matrix<const A> left, Span<const std::int64_t> rows, Matrix<const B> right,
                                 Span<const std::int64_t> columns, Span<double> out);

using CompensatedLoops = std::tuple<CompensatedDots<float, float>, CompensatedDots<float, double>,
                                    CompensatedDots<double, float>, CompensatedDots<double, double>>;

DEADHEAT_DECLARE_LOOPS(CompensatedLoops, compensated_loops)

/// out[p] = the product of row rows[p] on the left with row columns[p] on the right, as if in twice the precision.
///
/// Dot2 of Ogita, Rump and Oishi (Accurate sum and dot product, 2005), as 32 sums side by side, where nothing overflows or
/// underflows: src/deadheat/engine/distances/bounds.py has its error (`of_compensated`).
template <class A, class B>
void compensated_dots(Matrix<const A> left, Span<const std::int64_t> rows, Matrix<const B> right,
                      Span<const std::int64_t> columns, Span<double> out) {
    std::get<CompensatedDots<A, B>>(compensated_loops())(left, rows, right, columns, out);
}

}  // namespace deadheat
