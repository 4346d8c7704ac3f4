// Loops over rows of integers: see pass/integer_rows.h.
#pragma once

#include "support/targets.h"
#include "support/views.h"

namespace deadheat {

struct IntegerLoops {
    /// out[i, j] = Σ left[i, k]·right[j, k] modulo 2^64
    void (*products)(Matrix<const std::uint64_t> left, Matrix<const std::uint64_t> right, Matrix<std::uint64_t> out);
    /// out[i, j] = −Σ |left[i, k] − right[j, k]| of integers with signs
    void (*differences)(Matrix<const std::uint64_t> left, Matrix<const std::uint64_t> right, Matrix<std::uint64_t> out);
};

DEADHEAT_DECLARE_LOOPS(IntegerLoops, integer_loops)

}  // namespace deadheat
