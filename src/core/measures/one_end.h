// Measures of one end of the ranking, and the order statistic that they depend on: see measures/one_end.py.
#pragma once

#include "measures/groups.h"
#include "support/targets.h"

namespace deadheat {

/// Fill in Hit@k or the reciprocal rank: only the first group matters. A mean over its slots is left NaN.
void first_hits(Index first, Index last, const Groups &groups, std::int64_t cutoff, bool reciprocal, Matrix<double> out);

/// Fill in mINP: only the last group matters, if nothing relevant is missing. A mean over its slots is left NaN.
void inverse_penalties(Index first, Index last, const Groups &groups, Matrix<double> out);

struct OneEndLoops {
    /// Fill in the expectation of f(i), i the slot of the first of the relevant items of a group in random order.
    ///
    /// P(i + 1) = P(i) (tied − tied_relevant − i + 1)/(tied − i), from P(1) = tied_relevant/tied. Up to `slots`, f(i) is 1
    /// for kind 0, one over the rank counted from the front for kind 1 and from the back (the slot of the last of the
    /// relevant items) for kind −1; beyond it 0. Where `centred`, it is the distance to f(1) instead: the variance is the
    /// same, and small differences keep their digits. Where `squared`, the expectation is that of (f(i) − shift)².
    void (*extremes)(Span<const std::int64_t> closer, Span<const std::int64_t> tied, Span<const std::int64_t> tied_relevant,
                     Span<const std::int64_t> slots, int kind, bool centred, Span<const double> shift, bool squared,
                     Span<double> out);
};

DEADHEAT_DECLARE_LOOPS(OneEndLoops, one_end_loops)

}  // namespace deadheat
