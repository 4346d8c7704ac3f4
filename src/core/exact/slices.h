// Rows of integers cut into slices of few bits, whose products and sums float64 holds exactly (Ozaki, Ogita, Oishi and Rump
// 2012, Error-free transformations of matrix multiplication).
//
//     integer = slice[0] + slice[1]·2^b + slice[2]·2^2b + ...,   |slice| ≤ 2^(b − 1)
#pragma once

#include "support/targets.h"
#include "support/views.h"

namespace deadheat {

constexpr int MOST_SLICES = 9;                // of a row; longer rows are multiplied number by number
constexpr int MOST_PLACES = 2 * MOST_SLICES;  // of a product of slices
constexpr Index SLICE_PADDING = 8;            // slices are as long as a multiple of this, filled up with zeros

struct SliceLoops {
    /// Cut numbers, integers times 1/scale (given as two factors), into `count` slices of so many bits, each `padded` long.
    void (*cut)(const double *row, Index dim, const double scale[2], int bits, int count, Index padded, double *slices);
    /// places[k] += Σ left slice i · right slice j over all i + j = k.
    void (*dots)(const double *left, int left_count, const double *right, int right_count, Index padded,
                 std::int64_t *places);
    /// places[k] += Σ ±(left slice k − right slice k), the sign that of left − right, for rows as they came.
    void (*differences)(const double *left, const double *right, const double *left_slices, const double *right_slices,
                        int count, Index padded, std::int64_t *places);
};

DEADHEAT_DECLARE_LOOPS(SliceLoops, slice_loops)

}  // namespace deadheat
