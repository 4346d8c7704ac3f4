// Queries to which a large part of the gallery is relevant: each has its whole row sorted, as the cuts between its relevant
// items would be nearly as many as the items.
//
//     scores of the last level ──> sorted row ──neighbours within their bounds──> exact order ──> groups
#pragma once

#include "pass/pass.h"

namespace deadheat {

/// Queries whose rows are sorted, in batches: the scores of a batch are made by slices of columns, each packed once for all
/// of its queries, and then its rows are sorted. While threads sort one batch, others score the next:
///
///     take 0 │ take 1 · score 0 │ take 2 · score 1 · sort 0 │ take 3 · score 2 · sort 1 │ …
///
/// Three batches are in memory at a time, so that what a piece needs has ended long before.
class SortedPass {
public:
    SortedPass(const Problem &problem, const std::vector<Range> &ranges, Numbers64 queries, int threads);
    Index n_piece() const { return static_cast<Index>(pieces_.size()); }
    /// The pieces below must have ended before this one is begun.
    Index after(Index piece) const { return pieces_[at(piece)].after; }
    /// Do a piece. One that sorts writes the groups of its queries, and adds their pairs to `done`.
    void work(Index piece, const PackedGroups &groups, const StopFlag &stop, std::atomic<std::int64_t> &done);

private:
    struct Piece {
        enum Work { take, score, sort } work;
        Index batch, after;
        Index start = 0, stop = 0;  // columns to score, or rows of the batch to sort
    };
    struct Batch {
        Ready rows;
        Table<double> scores;
    };

    void cut(const std::vector<Range> &ranges, Index n_share);
    Int64s queries_of(Index batch) const;
    Batch &batch(Index number) { return batches_[number % BATCHES]; }
    void score(const Piece &piece);

    static constexpr Index BATCHES = 3;
    const Problem &problem_;
    Numbers64 queries_;
    Index most_;  // queries of a batch
    Batch batches_[BATCHES];
    std::vector<Piece> pieces_;
};

}  // namespace deadheat
