// The tile of a block's queries and a range of columns, square by square: counted for the block, and transposed for the
// block that the columns are, if they are one.
#pragma once

#include "pass/block.h"

namespace deadheat {

/// Count a tile by some level, for one side or two; `left` are the queries of the first.
void count_tile(const Problem &problem, int level, ReadyRows &left, ReadyRows &right, const std::vector<Side> &sides);

}  // namespace deadheat
