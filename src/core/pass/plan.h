// The pieces of a counting pass, in the order in which threads take them.
//
//     make its blocks · count, in ever smaller pieces · ┬ make those of the next shard · …
//                                    collect a block ···┘  soon after its last piece
//
// A piece waits for what it needs only while that is still at work: the pieces it needs come well before it. So pieces may
// be coarse at first and small at the end of the pass, and no thread waits for others between shards.
#pragma once

#include <deque>
#include <memory>
#include <optional>

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

using Queries = std::map<std::int64_t, Numbers64>;  // of each block, by its number

/// Blocks whose groups fit in memory together, and the tiles that are counted for them.
struct Shard {
    Queries queries;
    std::vector<Section> sections;
};

/// A block of a shard: its queries, and what is made of them and kept until its groups are collected.
struct Member {
    Int64s queries;
    Range columns{0, 0, 0, -1};  // that they are
    std::unique_ptr<Block> block;
    std::optional<Ready> rows;  // of the first level, where those of all blocks are few
    Index made = 0, last = 0;   // the numbers of the pieces that make it, and that count for it last
    bool shared = true;         // whether several threads may count for it
};

struct Piece {
    enum Work { make, count, collect } work;
    Index after;     // the pieces below must have ended
    Member *member;  // what is made or collected; of what is counted, what the columns are, or null
    bool keeps_rows = false;
    Range range{};
    std::vector<Member *> blocks = {};  // in the order in which they are counted for
};

class Plan {
public:
    /// `most_rows` is how many rows of a shard may be kept ready.
    Plan(const std::vector<Shard> &shards, std::size_t most_rows, int threads);
    const std::vector<Piece> &pieces() const { return pieces_; }

private:
    struct Row {
        Range range;
        std::vector<Member *> blocks;
        Member *symmetric;
        Index number;
    };
    using Members = std::map<std::int64_t, Member>;

    void add_making(Members &members, std::size_t most_rows);
    void add_counting(Members &members, const std::vector<Row> &rows);
    void add_collecting(Index last);
    std::vector<Piece> cut(const Row &row);

    Index threads_;
    double left_ = 0;  // pairs of rows and columns that no piece counts yet
    std::deque<Members> members_;
    std::deque<Member *> collecting_;  // blocks for which no further piece counts, in the order of their last ones
    std::vector<Piece> pieces_;

    static std::vector<Row> rows_of(const Shard &shard, Members &members);
};

/// The queries of blocks in runs, each of one block: whole ones at first, and ever smaller ones to the end.
std::vector<Int64s> smaller_to_the_end(const Queries &queries, Index least, int threads);

}  // namespace deadheat
