// The scores of the queries of a block and a range of columns, tile by tile: counted for the block, and transposed for the
// block that the columns are, if they are one.
#pragma once

#include <map>

#include "pass/block.h"

namespace deadheat {

/// Rows of queries or of columns for each level, made ready on demand.
class ReadyRows {
public:
    enum Kind { queries, columns };
    ReadyRows(const Scores &scores, Kind kind, Int64s numbers, bool int8, const Ready *first)
        : scores_(scores), kind_(kind), numbers_(numbers), int8_(int8), first_(first) {}

    const Ready &at_level(int level);

private:
    const Scores &scores_;
    Kind kind_;
    Int64s numbers_;
    bool int8_;
    const Ready *first_;  // of the first level, or null
    std::map<int, Ready> made_;
};

/// Count all tiles at a level, for one view or two; `left` are the queries of the first.
void count_tiles(const Problem &problem, int level, ReadyRows &left, ReadyRows &right, const std::vector<TileView> &views);

}  // namespace deadheat
