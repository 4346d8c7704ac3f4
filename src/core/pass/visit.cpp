#include "pass/visit.h"

#include "pass/int8_filter.h"

namespace deadheat {

namespace {

// A square and the same transposed fit the second-level cache together; so does a strip of a tile that need not be
// transposed. What a row keeps for counting is fetched once for each, so that they must not be narrow.
constexpr Index SIDE = 384;
constexpr Index STRIP_ROWS = 144, STRIP_COLUMNS = 1056;
constexpr Index LOW_ROWS = 48, LONG_COLUMNS = 4128;  // the same where rows keep much: fetched once for so many columns
constexpr Index MUCH = 256;                          // intervals that are much
constexpr Index PANEL = 48;                          // a multiple of the rows in any panel
constexpr Index PADDING = 16;  // columns more than are used: rows a power of two apart would share lines of the cache

/// Return the side of the squares into which `n` rows are cut, about equally.
Index side_of_squares(Index n) {
    const Index parts = std::max<Index>((n + SIDE - 1) / SIDE, 1), each = (n + parts - 1) / parts;
    return (each + PANEL - 1) / PANEL * PANEL;
}

template <class T>
void transpose(Matrix<const T> square, Matrix<T> out) {
    if constexpr (sizeof(T) == 4)
        counting_loops().transpose_single(square, out);
    else
        counting_loops().transpose_double(square, out);
}

/// The tile of a block's queries and a range of columns, counted for the block, and transposed for another one.
class Visit {
public:
    Visit(const Problem &problem, int level, ColumnRows &right, const Ready *left, std::vector<Side> sides)
        : problem_(problem), scores_(*problem.scores), level_(level), right_(right), left_(left), sides_(std::move(sides)) {}

    void count() {
        if (left_ == nullptr) left_ = &left_at(level_);
        with_type(scores_.levels[at(level_)].wide, [&](auto type) { count_squares<decltype(type)>(); });
    }

private:
    const Ready &left_at(int level) {
        const bool int8 = level == 0 && right_.at_level(0).int8;
        if (!made_.contains(level)) made_.emplace(level, scores_.ready_queries(level, sides_[0].block->queries(), int8));
        return made_.at(level);
    }

    template <class T>
    void count_squares() {
        const Ready &right = right_.at_level(level_);
        const bool both = sides_.size() > 1;
        bool low = false;
        for (const auto &counter : sides_[0].block->counters()) low |= counter->cuts().low.columns > MUCH;
        const Index rows = both ? side_of_squares(left_->n) : low ? LOW_ROWS : STRIP_ROWS;
        const Index columns = both ? side_of_squares(right.n) : std::min(right.n, low ? LONG_COLUMNS : STRIP_COLUMNS);
        const Index stride = (both ? SIDE : columns) + PADDING;
        Buffer<T> products(at(rows * stride)), transposed(both ? at(columns * stride) : 0);
        std::optional<Int8Filter> filter;
        if (level_ == 0 && left_->int8 && right.int8) filter.emplace(problem_, *left_, right, sides_);
        for (column_ = 0; column_ < right.n; column_ += columns)
            for (row_ = 0; row_ < left_->n; row_ += rows) {
                n_ = std::min(rows, left_->n - row_), m_ = std::min(columns, right.n - column_);
                wide_.clear();
                if (filter && filter->count(row_, column_, n_, m_)) {
                    for (std::size_t k = 0; k < sides_.size(); ++k) count_rows<T>(static_cast<int>(k), filter->left_open(k));
                    continue;
                }
                const Matrix<T> square{products.data(), n_, m_, stride}, other{transposed.data(), m_, n_, stride};
                scores_.products<T>(level_, *left_, row_, right, column_, square);
                if (both) transpose<T>(square, other);  // before scores are left out
                count_part<T>(0, 0, square);
                if (both) count_part<T>(1, 0, other);
            }
    }

    /// Count some rows of the square one by one, for one side.
    template <class T>
    void count_rows(int number, const Numbers64 &some) {
        if (some.empty()) return;
        const Index row = number == 0 ? row_ : column_, n_column = number == 0 ? m_ : n_;
        Numbers64 queries;
        for (std::int64_t i : some) queries.push_back(sides_[at(number)].block->queries()[at(row + i)]);
        const Ready own = scores_.ready_queries(level_, queries), &other = number == 0 ? right_.at_level(level_) : *left_;
        Buffer<T> memory(some.size() * at(n_column));
        const Matrix<T> products{memory.data(), own.n, n_column, n_column};
        scores_.products<T>(level_, own, 0, other, number == 0 ? column_ : row_, products);
        for (Index k = 0; k < own.n; ++k) count_part<T>(number, some[at(k)], {products.row(k), 1, n_column, n_column});
    }

    /// Count the rows of the square from one on, for one side, whose products these are.
    template <class T>
    void count_part(int number, Index first, Matrix<T> part) {
        const Side &side = sides_[at(number)];
        const Index row = number == 0 ? row_ : column_, column = side.start + (number == 0 ? column_ : row_);
        scores_.finish<T>(scores_.item_of_column.subspan(at(column), at(part.columns)), part);
        const Finer finer = [&](const Numbers64 &of_rows, const Numbers64 &columns, bool all, Span<double> out) {
            if (all)
                from_square(number, of_rows, columns, row, column, out);
            else
                from_pairs(*side.block, of_rows, columns, out);
        };
        side.block->count<T>({part, row + first, column, level_, side.band}, finer, *side.tallies, side.lock);
    }

    void from_pairs(const Block &block, const Numbers64 &rows, const Numbers64 &columns, Span<double> out) const {
        Numbers64 queries(rows.size());
        for (std::size_t p = 0; p < rows.size(); ++p) queries[p] = block.queries()[at(rows[p])];
        scores_.pair_scores(queries, columns, out);
    }

    /// Scores of the last level from its products for the whole square, which are made once.
    void from_square(int number, const Numbers64 &rows, const Numbers64 &columns, Index row, Index column,
                     Span<double> out) {
        const int last = scores_.last();
        if (wide_.empty()) {
            wide_.resize(at(n_ * m_));
            const Matrix<double> square{wide_.data(), n_, m_, m_};
            scores_.products<double>(last, left_at(last), row_, right_.at_level(last), column_, square);
        }
        for (std::size_t p = 0; p < rows.size(); ++p) {
            const Index i = rows[p] - row, j = columns[p] - column;
            double score = wide_[at(number == 0 ? i * m_ + j : j * m_ + i)];
            if (!scores_.offset.empty()) score -= scores_.offset[at(scores_.item_of_column[at(columns[p])])];
            out[p] = score;
        }
    }

    const Problem &problem_;
    const Scores &scores_;
    int level_;
    ColumnRows &right_;
    const Ready *left_;
    std::vector<Side> sides_;
    std::map<int, Ready> made_;
    Index row_ = 0, column_ = 0, n_ = 0, m_ = 0;  // of the square in hand
    Buffer<double> wide_;                         // its products of the last level
};

}  // namespace

void count_tile(const Problem &problem, int level, ColumnRows &right, const Ready *left, std::vector<Side> sides) {
    Visit(problem, level, right, left, std::move(sides)).count();
}

}  // namespace deadheat
