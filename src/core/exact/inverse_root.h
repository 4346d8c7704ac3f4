// One over square roots, in many limbs: with them cosines of one query are in the order of plain products.
#pragma once

#include "exact/wide.h"

namespace deadheat {

/// A number in at most so many limbs, at least 2, that is 1/√square up to 2^(1 − 64(limbs − 1)) times itself; the square is
/// not 0.
void inverse_root(Natural square, int limbs, Wide &out);

}  // namespace deadheat
