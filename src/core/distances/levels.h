// Rows of few different numbers: which numbers, and where each of them is.
#pragma once

#include "support/views.h"

namespace deadheat {

constexpr Index LEVELS = 3;  // different numbers, zero not among them, that a row may have

/// The numbers of each row that are not zero, ascending, and for each the bits of the places where it is.
///
/// values(i, l) is number l of row i, 0 beyond the last; words l·w to l·w + w − 1 of masks[i] are its places, in w words of
/// 64 bits. A row with more than LEVELS numbers has NaN in values(i, 0), and in the first mask all places that are not zero.
template <class T>
void level_masks(Matrix<const T> raw, Matrix<std::uint64_t> masks, Matrix<double> values);

}  // namespace deadheat
