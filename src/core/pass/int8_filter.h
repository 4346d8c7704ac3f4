// A filter in front of the ladder (counter.h): products of rows rounded to int8 show which items of a tile may be as close
// to a query as its farthest relevant item. All others count for nothing. Trained embeddings leave few.
#pragma once

#include "pass/block.h"

namespace deadheat {

class Int8Filter {
public:
    Int8Filter(const Problem &problem, const Ready &left, const Ready &right, const std::vector<TileView> &views);

    /// Count the few items of a tile that may be close, but for the rows that it leaves open; returns false, with nothing
    /// counted, where there is too much to do so.
    bool count(Index row, Index column, Index n, Index m);
    /// Rows of the last tile, for a view, of whose items many may be close: none of them is counted.
    const Numbers64 &left_open(std::size_t view) const { return left_open_[view]; }

private:
    struct Limits {
        std::vector<float> limit, offset;  // of a view's queries, and of its columns
    };

    const Problem &problem_;
    const Int8Rows &left_, &right_;
    const std::vector<TileView> &views_;
    std::vector<Limits> limits_;
    Numbers64 left_open_[2];
};

/// Return whether few items pass the filter, judged by some queries and columns.
bool few_pass_int8(const Problem &problem, Int64s queries, const StopFlag &stop);

}  // namespace deadheat
