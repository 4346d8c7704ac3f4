// The tile of a block's queries and a range of columns, square by square: counted for the block, and transposed for the
// block that the columns are, if they are one.
#pragma once

#include <map>

#include "pass/block.h"

namespace deadheat {

/// Rows of queries or of columns for each level, made ready on demand.
class ReadyRows {
public:
    enum Kind { queries, columns };
    ReadyRows(const Scores &scores, Kind kind, Span<const std::int64_t> numbers, bool int8, const Ready *first)
        : scores_(scores), kind_(kind), numbers_(numbers), int8_(int8), first_(first) {}

    const Ready &at_level(int level);

private:
    const Scores &scores_;
    Kind kind_;
    Span<const std::int64_t> numbers_;
    bool int8_;
    const Ready *first_;  // of the first level, or null
    std::map<int, Ready> made_;
};

/// Count a tile by some level, for one side or two; `left` are the queries of the first.
void count_tile(const Problem &problem, int level, ReadyRows &left, ReadyRows &right, const std::vector<Side> &sides);

}  // namespace deadheat
