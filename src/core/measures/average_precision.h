// Average precision, of each query, and how it varies in a tie group: see measures/average_precision.py.
#pragma once

#include "measures/groups.h"

namespace deadheat {

/// Fill in AP, cut at rank `cutoff`, divided by `n_relevant`, for the queries from `first` up to `last`.
void average_precisions(Index first, Index last, const Groups &groups, std::int64_t cutoff, Matrix<double> out);

/// Fill in the variance of the sum of the precisions at the relevant ranks of each of some mixed groups, over its orders.
void precision_variances(Span<const std::int64_t> closer, Span<const std::int64_t> closer_relevant,
                         Span<const std::int64_t> tied, Span<const std::int64_t> tied_relevant,
                         Span<const std::int64_t> slots, Span<double> out);

}  // namespace deadheat
