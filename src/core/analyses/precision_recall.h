// The expected reciprocal rank of a relevant item of a tie group: see analyses/precision_recall.py.
#pragma once

#include "support/targets.h"
#include "support/views.h"

namespace deadheat {

struct PrecisionLoops {
    /// Fill in the mean of 1/rank of the relevant item of this number, from 1, in a random order of each of some groups.
    ///
    /// Chances are products of the ratios of neighbouring places, outwards from about the most likely place as far as they
    /// can change the last digit, divided by their sum.
    void (*expected_reciprocals)(Int64s closer, Int64s tied, Int64s tied_relevant, Int64s number, Span<double> out);
};

DEADHEAT_DECLARE_LOOPS(PrecisionLoops, precision_loops)

}  // namespace deadheat
