// The ladder: how an item is placed between the cuts of a query, each rung by what its proven bound decides.
//
//     0  int8     where few items of a square may be closer than the farthest relevant one: these alone, to rung 2
//                 (int8_filter.h)
//     1  filter   float32 scores of a square of items ──decided──> counted
//                     │ open: within the bound of a cut
//     2  refine   float64 scores, of the square where many are open, else of single pairs ──decided──> counted
//                     │ open
//     3  decide   exact closeness against that of a member of the group (placing.h) ──────────────────> counted
//
// Levels of scores that are exact close every interval, and nothing is open below them. A shortcut stands in front of rung
// 2: items whose rows meet the query's as those of a group do surely tie with it (counting/same_pattern.h). Where rung 3
// decides nearly all that rung 1 leaves open, rung 2 is left out.
#pragma once

#include <atomic>
#include <map>
#include <mutex>

#include "counting/tiles.h"
#include "pass/finer.h"
#include "pass/placing.h"

namespace deadheat {

/// The share of open items beyond which a tile of the next rung, or of the last level from the start, is cheaper than pairs.
/// With 1/32 in its place near duplicates take 1.4 times as long (6,000 rows of 512 numbers), noisy histograms 0.9 times.
constexpr double MANY_OPEN = 1.0 / 8;

/// Edges for the scores of one level in one band, and bins to find a score's place among them: see counting/edges.h.
template <class T>
struct EdgeTable {
    Table<T> edges;
    Index n_edge = 0;
    bool closed = false;  // what is between two edges is tied
    std::vector<T> base, scale;
    Table<std::uint16_t> codes;
};

/// Meetings of the queries of a block with a member of each group.
struct Meetings {
    Numbers64 queries;
    Table<std::uint16_t> counts;
    Table<std::int32_t> kind;
    std::vector<std::int32_t> tables;
    Table<std::uint64_t> masks;
};

/// A square of a tile for one side: the scores of neighbouring queries of a block for neighbouring columns.
template <class T>
struct Square {
    Matrix<T> scores;
    Index row, column;  // the first query, in the block, and the first column
    int level;
    Index band;
    std::size_t side;
    Finer *finer;
};

/// Counts of one thread, and the items it leaves to exact arithmetic.
struct Tally {
    Matrix<std::int32_t> counts;
    OpenItems open;
};

/// Counts the items of one block of queries between one sequence of cuts. Slot 2i of a row counts what is surely between
/// interval i − 1 and interval i; where two cuts share an interval, slot 2i + 1 counts what is between them.
class Counter {
public:
    Counter(const Problem &problem, Span<const std::int64_t> queries, Cuts cuts, const Members &members, Index number);

    /// Count a square, `excluded` columns left out; returns how many items its level left open.
    template <class T>
    Index count(Square<T> square, Matrix<const std::int32_t> excluded, Tally &tally);
    /// Place single items by scores of the last level; what these leave open is added to the tally.
    void place(const Numbers64 &rows, const Numbers64 &columns, const std::vector<double> &scores, const Numbers64 &guess,
               const Numbers64 &weights, Tally &tally);
    /// Decide open items exactly.
    void decide(OpenItems &open, Matrix<std::int32_t> counts, Decision *decision, const std::atomic<bool> &stop);

    template <class T>
    std::shared_ptr<const EdgeTable<T>> edges(int level, Index band);
    const Cuts &cuts() const { return cuts_; }

    Table<std::int32_t> counts;

private:
    template <class T>
    std::shared_ptr<const EdgeTable<T>> make_edges(int level, Index band);
    template <class T>
    Index filter(const Square<T> &square, Matrix<const std::int32_t> excluded, const EdgeTable<T> &table,
                 Matrix<std::int32_t> counts, Matrix<std::int32_t> opened);
    const Meetings *meetings();
    template <class T>
    Index count_same_pattern(const Square<T> &square, Matrix<std::int32_t> opened, Span<double> scores,
                             Matrix<std::int32_t> counts);

    const Problem &problem_;
    Span<const std::int64_t> queries_;
    Cuts cuts_;
    const Members &members_;
    Index number_;
    std::mutex lock_;
    std::map<std::pair<int, Index>, std::shared_ptr<const void>> edges_;
    std::once_flag met_;
    std::unique_ptr<Meetings> meetings_;
    std::atomic<Index> n_refined_{0}, n_exact_{0};  // open items that were looked at in float64, and those that left it open
    Placing placing_;
};

}  // namespace deadheat
