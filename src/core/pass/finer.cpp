#include "pass/finer.h"

namespace deadheat {

const Ready &ReadyRows::at_level(int level) {
    if (level == 0 && first_ != nullptr) return *first_;
    if (!made_.contains(level)) {
        const bool int8 = int8_ && level == 0;
        made_.emplace(level, of_ == queries ? scores_.ready_queries(level, numbers_, int8)
                                            : scores_.ready_columns(level, numbers_, int8));
    }
    return made_.at(level);
}

void Finer::set(Index row, Index column, Index n, Index m) {
    row_ = row, column_ = column, n_ = n, m_ = m;
    products_.clear();
}

void Finer::pair_scores(std::size_t side, const Numbers64 &rows, const Numbers64 &columns, Span<double> out) const {
    Numbers64 queries(rows.size());
    for (std::size_t p = 0; p < rows.size(); ++p) queries[p] = sides_[side].queries[at(rows[p])];
    problem_.scores->pair_scores(queries, columns, out);
}

void Finer::square_scores(std::size_t side, const Numbers64 &rows, const Numbers64 &columns, Span<double> out) {
    const Scores &scores = *problem_.scores;
    if (products_.empty()) {
        products_.resize(at(n_ * m_));
        const Matrix<double> square{products_.data(), n_, m_, m_};
        const int last = scores.last();
        scores.products<double>(last, left_.at_level(last), row_, right_.at_level(last), column_, square);
    }
    for (std::size_t p = 0; p < rows.size(); ++p) {
        const Index first = rows[p] - (side == 0 ? row_ : column_);
        const Index second = columns[p] - sides_[side].start - (side == 0 ? column_ : row_);
        double score = products_[at(side == 0 ? first * m_ + second : second * m_ + first)];
        if (!scores.offset.empty()) score -= scores.offset[at(scores.item_of_column[at(columns[p])])];
        out[p] = score;
    }
}

}  // namespace deadheat
