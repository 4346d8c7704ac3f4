// Hits among the first ranks: see measures/hits.py.
#pragma once

#include "measures/groups.h"

namespace deadheat {

/// Fill in `factor` times the hits in the first `cutoff` ranks, over `size` + `share` · `n_relevant`.
void hits(Index first, Index last, const Groups &groups, std::int64_t cutoff, double factor, double size, double share,
          Matrix<double> out);

}  // namespace deadheat
