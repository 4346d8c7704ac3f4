// A block of queries on its way through the counting pass.
//
//     relevant items ──sorted into groups──> cuts ──widened by the error──> edges ──tile by tile──> counts ──>
//     groups
#pragma once

#include <deque>

#include "counting/groups.h"
#include "pass/counter.h"
#include "pass/grouping.h"
#include "pass/threads.h"

namespace deadheat {

class Block {
public:
    /// Make the groups and the cuts of queries that have something relevant.
    Block(const Problem &problem, Int64s queries, const StopFlag &stop);

    const Problem &problem() const { return problem_; }
    Int64s queries() const { return queries_; }
    /// The level at which tiles are best computed.
    int level() const { return level_; }
    /// True as long as the int8 filter, if tried, has left little open.
    std::atomic<bool> far{true};
    const Table<std::int32_t> &excluded() const { return excluded_; }
    std::vector<std::unique_ptr<Counter>> &counters() { return counters_; }
    /// The counter of tiles: the only one, or one of intervals that hold those of all.
    Counter &filter() { return joint_ ? *joint_ : *counters_.front(); }

    /// Return tallies into the block's own counts, for threads that hold `counting` while they count: that of the filter
    /// comes last.
    std::vector<Tally> own_tallies();
    /// Count a tile, holding a mutex if there is one; return the items that scores of the last level are to decide, for
    /// `place`, which places them for every sequence of cuts.
    template <class T>
    SingleItems count(Tile<T> tile, std::vector<Tally> &tallies, std::mutex *lock);
    void place(const SingleItems &items, std::vector<Tally> &tallies, std::mutex *lock);
    /// Note the ranked items of a tile that are marked by minus infinity, whose rows have disjoint support with the query's:
    /// they tie with each other, so that one of them will be placed for all.
    template <class T>
    void count_disjoint(Index row, Index column, Matrix<const T> scores);
    /// Return the int8 filter's limit of each query in a band: items that may be as close as a relevant one score no less.
    const std::vector<float> &limits(Index band);
    /// Leave out those of some rows and columns that tiles leave out.
    void leave_out(Numbers64 &rows, Numbers64 &columns) const;
    /// Count single items, whose scores are still missing, for every sequence of cuts, holding a mutex if there is one.
    void count(SingleItems items, std::vector<Tally> &tallies, std::mutex *lock);
    /// Decide the undecided items of tallies. With `counting` held.
    void decide(std::vector<Tally> &tallies);
    /// Add what was counted next to its own counts. With `counting` held.
    void add(const std::vector<Table<std::int32_t>> &others);

    /// Count the items that were noted as disjoint.
    void place_disjoint();
    /// Count what tiles leave out, and that does count.
    void count_next_to_tiles();
    /// Write its groups; with several meanings of "tied", as those of so many times the queries.
    void collect(const PackedGroups &groups);

    std::mutex counting;

private:
    void count_alone(SingleItems items);
    void pass_joint();
    std::int32_t &passed(Index row, Index joint, std::size_t counter) {
        return passed_(row, joint * std::ssize(counters_) + static_cast<Index>(counter));
    }

    const Problem &problem_;
    Int64s queries_;
    const StopFlag &stop_;
    std::atomic<int> level_{0};
    std::mutex learning_;
    double seen_ = 0, undecided_ = 0;
    Table<std::int64_t> disjoint_;  // of each query the number of items that were noted, and the column of one; or no rows
    Table<std::int32_t> excluded_;
    Table<std::uint64_t> junk_;  // the columns that hold junk: see counting/columns.h; or no rows
    SingleItems singles_;
    SingleItems sharing_;             // irrelevant items in columns of relevant ones: row, column, how many,
    Numbers64 sharing_of_;            // and the group of each
    std::deque<Grouped> grouped_{1};  // by each meaning of "tied"
    const TieGroups &groups_ = grouped_.front().groups;
    Members members_;
    std::vector<std::unique_ptr<Counter>> counters_;
    std::vector<Decision *> decisions_;           // of each counter
    std::unique_ptr<Counter> joint_;              // in front of several counters,
    Table<std::int32_t> passed_;                  // and how many intervals of each are below one of its own
    std::map<Index, std::vector<float>> limits_;  // of bands, once they are known
    std::mutex limiting_;
};

/// A block, and the columns of a tile that are counted for it; in tallies that other threads use, too, if there is a mutex.
struct TileView {
    Block *block;
    Index start, band;
    std::vector<Tally> *tallies;
    std::mutex *lock;
};

}  // namespace deadheat
