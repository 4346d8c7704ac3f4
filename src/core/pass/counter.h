// The ladder: how an item is placed between the cuts of a query, each step by what its proven bound decides.
//
//     0  int8     where few items of a tile may be closer than the farthest relevant one: these alone, to step 2
//                 (int8_filter.h)
//     1  filter   float32 scores of a tile of items ──decided──> counted
//                     │ undecided: within the bound of a threshold
//     2  refine   float64 scores, of the tile if many are undecided, else of single pairs ──decided──> counted
//                     │ undecided
//     3  decide   exact closeness against that of a member of the group (placing.h) ──────────────────> counted
//
// Levels of scores that are exact close every interval, and nothing is open below them. A shortcut stands in front of step
// 2: items whose rows meet the query's as those of a group do tie with it (counting/same_pattern.h). Where step 3
// decides nearly all that step 1 leaves open, step 2 is left out.
#pragma once

#include <atomic>
#include <map>
#include <mutex>

#include "counting/tiles.h"
#include "pass/placing.h"

namespace deadheat {

/// The share of undecided items beyond which a tile of the next step, or of the last level from the start, is cheaper than
/// pairs. With 1/32 in its place near duplicates take 1.4 times as long (6,000 rows of 512 numbers), noisy histograms 0.9
/// times.
constexpr double MANY_UNDECIDED = 1.0 / 8;

/// Edges for the scores of one level in one band, and bins to find a score's place among them: see counting/edges.h.
template <class T>
struct EdgeTable {
    Table<T> edges;
    Index n_edge = 0;
    bool closed = false;  // what is between two edges is tied
    std::vector<T> base, scale;
    Table<std::uint16_t> codes;
};

/// The match counts of the queries of a block and a member of each group: see counting/same_pattern.h.
struct MatchCounts {
    Table<std::uint16_t> counts;
    Table<std::int32_t> kind;
    std::vector<std::int32_t> tables;
    Table<std::uint64_t> masks;
};

/// A tile: the scores of neighbouring queries of a block for neighbouring columns.
template <class T>
struct Tile {
    Matrix<T> scores;
    Index row, column;  // the first query, in the block, and the first column
    int level;
    Index band;
};

/// Counts of one thread, and the items it leaves to exact arithmetic.
struct Tally {
    Matrix<std::int32_t> counts;
    UndecidedItems undecided;
};

/// Counts the items of one block of queries between one sequence of cuts. Slot 2i of a row counts items that are certainly
/// between interval i − 1 and interval i; where two cuts share an interval, slot 2i + 1 counts what is between them.
class Counter {
public:
    Counter(const Problem &problem, Int64s queries, CutBounds cuts, const Members &members, Index number);

    /// Count a tile, `excluded` columns left out; returns how many items its level left undecided. Those that scores of
    /// the last level are to decide come out in `items`, with these scores if the tile has them.
    template <class T>
    Index count(Tile<T> tile, Matrix<const std::int32_t> excluded, Tally &tally, SingleItems &items);
    /// Place single items by scores of the last level; the items that these leave undecided are added to the tally.
    void place(const SingleItems &items, Tally &tally);
    /// Decide items exactly.
    void decide(UndecidedItems &items, Matrix<std::int32_t> counts, Decision *decision, const StopFlag &stop);

    template <class T>
    std::shared_ptr<const EdgeTable<T>> edges(int level, Index band);
    const CutBounds &cuts() const { return cuts_; }

    Table<std::int32_t> counts;

private:
    template <class T>
    std::shared_ptr<const EdgeTable<T>> make_edges(int level, Index band);
    template <class T>
    Index filter(const Tile<T> &tile, Matrix<const std::int32_t> excluded, const EdgeTable<T> &table,
                 Matrix<std::int32_t> counts, Matrix<std::int32_t> opened);
    bool mostly_exact() const;
    template <class T>
    void leave_to_exact(const Tile<T> &tile, Matrix<const std::int32_t> listed, const EdgeTable<T> &table, Tally &tally);
    const MatchCounts *match_counts();
    template <class T>
    Index count_same_pattern(const Tile<T> &tile, Matrix<std::int32_t> opened, Span<double> scores,
                             Matrix<std::int32_t> counts);

    const Problem &problem_;
    Int64s queries_;
    CutBounds cuts_;
    const Members &members_;
    Index number_;
    std::mutex lock_;
    std::map<std::pair<int, Index>, std::shared_ptr<const void>> edges_;
    std::once_flag matched_;
    std::unique_ptr<MatchCounts> match_counts_;
    std::atomic<Index> n_refined_{0}, n_exact_{0};  // items placed in float64, and those still undecided
    Placing placing_;
};

}  // namespace deadheat
