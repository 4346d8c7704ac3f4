// What sizes of numbers occur in rows.
#pragma once

#include "support/views.h"

namespace deadheat {

/// out[i] = the size of the smallest number of row i that is not zero, or infinity.
template <class T>
void smallest_sizes(Matrix<const T> raw, Span<double> out);

}  // namespace deadheat
