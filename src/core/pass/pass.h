// The counting pass: from rows and classes to the groups of a tie profile, in blocks, without the distance matrix.
//
// Blocks of queries sort the few scores of their relevant items into groups; then all other items are counted between the
// cuts that the groups make, one tile of scores at a time, while it is in cache:
//
//     for each shard of blocks:             (blocks whose groups fit in memory together)
//         make its blocks                   relevant items, groups, cuts
//         for each range of columns:
//             for each block:
//                 for each tile:          product ─> count for its rows ─┬─> transpose ─> count for its columns
//                 (visit.h)                                                └─> what is open: the ladder (counter.h)
//         collect their groups
//
// The work of all shards is one list of pieces (plan.h), which threads take in order: none waits for a shard to end.
// Leave one out is symmetric, so that a tile serves its columns as queries too: a range that is a block (`Range::block`)
// is counted for that block as well. Where classes are so large that few blocks fit in memory at a time, few would: then
// block after block is made, counted along all columns, and forgotten. No result depends on how the work is cut up.
#pragma once

#include "pass/plan.h"
#include "pass/threads.h"

namespace deadheat {

/// A counting pass, which several threads may use at once.
class Pass {
public:
    explicit Pass(const Problem &problem) : problem_(problem) {}

    const Problem &problem() const { return problem_; }

    using Blocks = std::map<std::int64_t, std::shared_ptr<Block>>;

    /// Work through shards. No tile of the sections of one comes twice, nor transposed; `all` says whether to count what is
    /// in no tile, too.
    void count(const std::vector<Shard> &shards, bool all, const PackedGroups &groups, Threads &threads);
    /// The same where each block is made, counted along all ranges, and forgotten.
    void stream(const Queries &queries, const std::vector<Range> &ranges, const PackedGroups &groups, Threads &threads);

    /// The same where each row is sorted: sorted_rows.h.
    void sort(const Queries &queries, const std::vector<Range> &ranges, const PackedGroups &groups, Threads &threads);

    // The steps of `count`, for callers that count tiles elsewhere
    Blocks make(const Queries &queries, Threads &threads);
    void collect(Blocks &blocks, bool all, const PackedGroups &groups, Threads &threads) const;
    std::atomic<std::int64_t> done{0};  // pairs of queries and columns

private:
    void make(Member &member, bool keeps_rows, const Queries &sample, const StopFlag &stop);
    void count_range(const Range &range, Span<Member *const> blocks, Member *symmetric, const Ready *right,
                     const StopFlag &stop);
    Int64s columns_of(const Range &range) const;
    void make_streamed(const std::vector<Range> &ranges, Threads &threads);
    bool tries_int8(const Queries &queries, const StopFlag &stop);
    void finish(Block &block, bool all, const PackedGroups &groups) const;

    const Problem &problem_;
    std::mutex trying_;
    bool tried_int8_ = false;
    std::once_flag made_streamed_;
    bool few_pass_int8_ = false;
    std::vector<Ready> streamed_;  // all columns, for the first level, where blocks are streamed
};

}  // namespace deadheat
