// The counting pass: from rows and classes to the groups of a tie profile, in blocks, without the distance matrix.
//
// Blocks of queries sort the few scores of their relevant items into groups; then all other items are counted between the
// cuts that the groups make, one square of scores at a time, while it is in cache:
//
//     for each shard of blocks:             (blocks whose groups fit in memory together)
//         make its blocks                   relevant items, groups, cuts
//         for each range of columns:        (one thread each)
//             for each block:
//                 for each square:          product ─> count for its rows ─┬─> transpose ─> count for its columns
//                 (visit.h)                                                └─> what is open: the ladder (counter.h)
//         collect their groups
//
// Leave one out is symmetric, so that a square serves its columns as queries too: a range that is a block (`Range::block`)
// is counted for that block as well. Where classes are so large that few blocks fit in memory at a time, few would: then
// block after block is made, counted along all columns, and forgotten. No result depends on how the work is cut up.
#pragma once

#include <exception>

#include "pass/block.h"

namespace deadheat {

/// A run of columns of one band, and the number of the block of queries that they are, or −1.
struct Range {
    Index start, stop, band, block;
};

/// Ranges of columns, and the blocks that they are counted for.
struct Section {
    std::vector<Range> ranges;
    Numbers64 blocks;
};

/// Output arrays for the groups of a profile: see profiles/profile.py.
struct Groups64 {
    Span<const std::int64_t> starts;
    Span<std::int32_t> closer;
    Span<std::int64_t> n_group, n_relevant;
    int file = -1;  // that `closer` is mapped from, or −1

    /// Set a long run of `closer`; by a write into the file, if there is one, as the system fills each page of a mapping
    /// with zeros before: a quarter of the time of a pass over two classes (20,000 rows of 64 numbers).
    void put(Index place, Span<const std::int32_t> numbers) const;
};

/// Threads for one call. The caller waits, and is asked every now and then whether to go on; whatever is thrown ends all.
class Threads {
public:
    Threads(int n, std::function<void()> poll) : n_(n), poll_(std::move(poll)) {}

    /// Do some work for 0, 1, ..., n − 1, in this order as far as it begins.
    void each(Index n, const std::function<void(Index)> &work);
    std::atomic<bool> stop{false};

private:
    int n_;
    std::function<void()> poll_;
};

/// A counting pass, which several threads may use at once.
class Pass {
public:
    explicit Pass(const Problem &problem) : problem_(problem) {}

    using Queries = std::map<std::int64_t, Numbers64>;  // of each block, by its number
    using Others = std::vector<std::vector<OtherGroup>>;
    using Blocks = std::map<std::int64_t, std::shared_ptr<Block>>;

    /// Work through a shard. No tile of the sections comes twice, nor transposed; `all` says whether to count what is in no
    /// tile, too.
    Others count(const Queries &queries, const std::vector<Section> &sections, bool all, Groups64 groups, Threads &threads);
    /// The same where each block is made, counted along all ranges, and forgotten.
    Others stream(const Queries &queries, const std::vector<Range> &ranges, Groups64 groups, Threads &threads);

    /// The same where each row is sorted: sorted_rows.h.
    Others sort(const Queries &queries, const std::vector<Range> &ranges, Groups64 groups, Threads &threads);

    // The steps of `count`, for who counts tiles elsewhere
    Blocks make(const Queries &queries, Threads &threads);
    Others collect(Blocks &blocks, bool all, Groups64 groups, Threads &threads) const;
    std::atomic<std::int64_t> done{0};  // pairs of queries and columns

private:
    using Some = std::map<std::int64_t, Block *>;
    using ReadyRows = std::map<std::int64_t, Ready>;
    using Ranges = std::map<std::int64_t, Range>;  // the columns that a block is, by its number

    ReadyRows ready_rows(const Some &blocks, Threads &threads) const;
    void count_range(const Range &range, const Some &blocks, Block *mirror, const Ranges &range_of, const ReadyRows &ready,
                     const Ready *right, const std::atomic<bool> &stop);
    Span<const std::int64_t> columns_of(const Range &range) const;
    void make_ready(int level, const std::vector<Range> &ranges, std::vector<Ready> &columns, Threads &threads) const;
    void try_int8(const Queries &queries, Threads &threads);
    std::vector<OtherGroup> finish(Block &block, bool all, Groups64 groups) const;

    const Problem &problem_;
    std::once_flag tried_int8_, made_ready_, made_last_;
    bool few_pass_int8_ = false;
    std::vector<Ready> streamed_,
        sorted_;  // all columns, for the first level where blocks are streamed, for the last to sort
};

}  // namespace deadheat
