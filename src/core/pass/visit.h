// The tile of a block's queries and a range of columns, square by square: counted for the block, and transposed for the
// block that the columns are, if they are one.
#pragma once

#include "pass/block.h"

namespace deadheat {

/// The rows of some columns for each level, made ready when they are asked for.
class ColumnRows {
public:
    ColumnRows(const Scores &scores, Span<const std::int64_t> items, bool int8, const Ready *first)
        : scores_(scores), items_(items), int8_(int8), first_(first) {}

    const Ready &at_level(int level) {
        if (level == 0 && first_ != nullptr) return *first_;
        if (!made_.contains(level)) made_.emplace(level, scores_.ready_columns(level, items_, int8_ && level == 0));
        return made_.at(level);
    }

private:
    const Scores &scores_;
    Span<const std::int64_t> items_;
    bool int8_;
    const Ready *first_;
    std::map<int, Ready> made_;
};

/// Count a tile by some level, for one side or two; `left` are the queries of the first, if they are ready.
void count_tile(const Problem &problem, int level, ColumnRows &right, const Ready *left, std::vector<Side> sides);

}  // namespace deadheat
