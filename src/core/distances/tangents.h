// The directions of rows that point nearly one way, less the direction that they share.
#pragma once

#include "support/views.h"

namespace deadheat {

/// out[i] = x/‖x‖ − c/‖c‖ for row x = raw[i] and the centre c, of which x − c is exact; spread[i] = s, about the length of
/// it.
///
/// With t, the part of x − c that is orthogonal to c, it is t/‖x‖ − c/‖c‖ · ‖t‖²/(‖x‖(‖x‖ + c·x/‖c‖)): nothing that is large
/// is subtracted. The error is at most 6·γ·s in length, with γ for dim + 20 roundings: t is made orthogonal twice, with
/// fused multiply-add, so that it errs by a part of itself, and by less than γ·2^-30‖x − c‖, which s covers.
template <class T>
void tangents(Matrix<const T> raw, Span<const double> centre, Matrix<double> out, Span<double> spread);

}  // namespace deadheat
