// The directions of rows that point nearly one way, less the direction that they share.
#pragma once

#include "support/views.h"

namespace deadheat {

/// out[i] = x/‖x‖ − c/‖c‖ for row x = raw[i] and the centre c, of which x − c is exact; spread[i] = s, about the length of
/// it.
///
/// With t, the part of x − c that is orthogonal to c, it is t/‖x‖ − c/‖c‖ · ‖t‖²/(‖x‖(‖x‖ + c·x/‖c‖)): nothing that is large
/// is subtracted. Its error and length are bounded, with the proof, in src/deadheat/engine/distances/bounds.py
/// (`of_tangent`).
template <class T>
void tangents(Matrix<const T> raw, Span<const double> centre, Matrix<double> out, Span<double> spread);

}  // namespace deadheat
