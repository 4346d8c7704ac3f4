// A filter in front of the ladder (counter.h): products of rows rounded to int8 show which items of a square may be as close
// to a query as its farthest relevant item. All others count for nothing. Trained embeddings leave few.
#pragma once

#include "pass/block.h"

namespace deadheat {

class Int8Filter {
public:
    Int8Filter(const Problem &problem, const Ready &left, const Ready &right, const std::vector<Side> &sides);

    /// Count the few items of a square that may be close, but for the rows that it leaves open; returns false, with nothing
    /// counted, where there is too much to do so.
    bool count(Index row, Index column, Index n, Index m);
    /// Rows of the last square, for a side, of whose items many may be close: none of them is counted.
    const Numbers64 &left_open(std::size_t side) const { return left_open_[side]; }

private:
    struct Limits {
        std::vector<float> limit, offset;  // of a side's queries, and of its columns
    };

    const Problem &problem_;
    const Int8Rows &left_, &right_;
    const std::vector<Side> &sides_;
    std::vector<Limits> limits_;
    Numbers64 left_open_[2];
};

/// Return whether few items pass the filter, judged by some queries and columns.
bool few_pass_int8(const Problem &problem, Span<const std::int64_t> queries, const std::atomic<bool> &stop);

}  // namespace deadheat
