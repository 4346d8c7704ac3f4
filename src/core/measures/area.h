// The area under the ROC curve: see measures/area.py.
#pragma once

#include "measures/groups.h"

namespace deadheat {

/// Fill in AUC, from the pairs of a relevant item and an irrelevant one in front of it, or at the same distance.
void areas(Index first, Index last, const Groups &groups, Matrix<double> out);

}  // namespace deadheat
