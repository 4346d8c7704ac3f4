// Finer means for the square in hand of a tile: its float64 scores, made once for both sides of the square, when they are
// asked for.
#pragma once

#include <map>

#include "pass/problem.h"

namespace deadheat {

/// Rows of queries or of columns for each level, made ready when they are asked for.
class ReadyRows {
public:
    enum Of { queries, columns };
    ReadyRows(const Scores &scores, Of of, Span<const std::int64_t> numbers, bool int8, const Ready *first)
        : scores_(scores), of_(of), numbers_(numbers), int8_(int8), first_(first) {}

    const Ready &at_level(int level);

private:
    const Scores &scores_;
    Of of_;
    Span<const std::int64_t> numbers_;
    bool int8_;
    const Ready *first_;  // of the first level, or null
    std::map<int, Ready> made_;
};

class Finer {
public:
    /// The queries of a side, and the first column of its tile.
    struct Side {
        Span<const std::int64_t> queries;
        Index start;
    };
    Finer(const Problem &problem, ReadyRows &left, ReadyRows &right, std::vector<Side> sides)
        : problem_(problem), left_(left), right_(right), sides_(std::move(sides)) {}

    /// Set the square: the first row and column in the tile of the first side, and how many there are.
    void set(Index row, Index column, Index n, Index m);
    /// Float64 scores of items of a side, (row in the block, column), pair by pair.
    void pair_scores(std::size_t side, const Numbers64 &rows, const Numbers64 &columns, Span<double> out) const;
    /// The same from the products of the whole square.
    void square_scores(std::size_t side, const Numbers64 &rows, const Numbers64 &columns, Span<double> out);

private:
    const Problem &problem_;
    ReadyRows &left_, &right_;
    std::vector<Side> sides_;
    Index row_ = 0, column_ = 0, n_ = 0, m_ = 0;
    Buffer<double> products_;
};

}  // namespace deadheat
