// Queries to which a large part of the gallery is relevant: each has its whole row sorted, as the cuts between its relevant
// items would be nearly as many as the items.
//
//     scores of the last level ──> sorted row ──neighbours within their bounds──> exact order ──> groups
#pragma once

#include "pass/pass.h"

namespace deadheat {

/// Rows of scores of up to `most` queries and all columns. They are made by slices of columns, each packed once for all of
/// them, and then sorted by runs of queries: several threads may work on slices at once, and then on runs.
class ScoredRows {
public:
    ScoredRows(const Problem &problem, const std::vector<Range> &ranges, Index n_query, int threads);
    Index most() const { return scores_.rows; }
    Index n_slice() const { return static_cast<Index>(slices_.size()); }
    Index n_run(Index n_query) const;

    /// Make queries ready to be multiplied.
    void take(Span<const std::int64_t> queries);
    void score(Index slice);
    /// Write the compact groups of a run of queries, and return those that `collect_groups` does; add its pairs to `done`.
    std::vector<OtherGroup> sort(Index run, CompactGroups groups, const std::atomic<bool> &stop,
                                 std::atomic<std::int64_t> &done) const;

private:
    struct Slice {
        Index start, stop;
    };
    const Problem &problem_;
    std::vector<Slice> slices_;
    Span<const std::int64_t> queries_;
    Ready ready_;  // the queries
    Table<double> scores_;
    Index run_;  // queries in each but the last
};

}  // namespace deadheat
