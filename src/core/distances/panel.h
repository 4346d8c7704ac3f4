// The shape of the blocks of a product, which panels (products.h) are a whole number of. For files that are compiled once
// for each instruction set.
#pragma once

#include "support/lanes.h"

namespace deadheat::DEADHEAT_TARGET {

// ROWS · VECTORS sums, VECTORS of right numbers and one of left ones fit the registers: 32, or 16 on older processors.
#if defined(__AVX512F__)
constexpr int ROWS = 8, VECTORS = 3;
#elif defined(__AVX2__)
constexpr int ROWS = 4, VECTORS = 3;
#elif defined(__aarch64__)
constexpr int ROWS = 4, VECTORS = 4;
#else
constexpr int ROWS = 4, VECTORS = 2;
#endif
template <class T>
constexpr int WIDTH = VECTORS * LANES<T>;  // rows of a panel

}  // namespace deadheat::DEADHEAT_TARGET
