// Bounds on the errors of scores, pair by pair: see src/deadheat/engine/distances/bounds.py, which has the formula and why
// it holds.
#pragma once

#include "support/views.h"

namespace deadheat {

/// Sizes of all queries and items, what belongs to items alone, and the parts of a bound.
struct ScoreErrors {
    Span<const double> of_query, of_item, beside, offset;  // no offsets: none is taken off
    double part, tiny;
    double relative, relative_tiny;  // infinite where products have terms of either sign
};

/// out[p] = a bound for the score of query queries[p] and item items[p]; closer if the scores are told.
void pair_errors(const ScoreErrors &errors, Span<const std::int64_t> queries, Span<const std::int64_t> items,
                 Span<const double> scores, Span<double> out);

}  // namespace deadheat
