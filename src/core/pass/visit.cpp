#include "pass/visit.h"

#include "pass/int8_filter.h"

namespace deadheat {

namespace {

// A tile and the same transposed fit the second-level cache together; so does a strip of a tile that need not be
// transposed. What a row keeps for counting is fetched once for each, so that they must not be narrow.
constexpr Index TILE_SIZE = 384;
constexpr Index STRIP_ROWS = 144, STRIP_COLUMNS = 1056;
constexpr Index LOW_ROWS = 48, LONG_COLUMNS = 4128;  // the same where rows keep much: loaded once per LONG_COLUMNS columns
constexpr Index MUCH = 256;                          // intervals that are much
constexpr Index PANEL = 48;                          // a multiple of the rows in any panel
constexpr Index PADDING = 16;  // columns more than are used: rows a power of two apart would share lines of the cache

/// Return the side of the tiles into which `n` rows are cut, about equally.
Index tile_size(Index n) {
    const Index parts = std::max<Index>((n + TILE_SIZE - 1) / TILE_SIZE, 1), size = (n + parts - 1) / parts;
    return (size + PANEL - 1) / PANEL * PANEL;
}

/// The tiles of the queries of a block and a range of columns, counted for the block and, transposed, for another one.
class Visit {
public:
    Visit(const Problem &problem, int level, ReadyRows &left, ReadyRows &right, const std::vector<TileView> &views)
        : problem_(problem),
          scores_(*problem.scores),
          level_(level),
          left_at_levels_(left),
          right_at_levels_(right),
          left_(left.at_level(level)),
          right_(right.at_level(level)),
          views_(views) {}

    void count() {
        with_type(scores_.levels[at(level_)].wide, [&](auto type) { count_views<decltype(type)>(); });
    }

private:
    template <class T>
    void count_views() {
        const bool both = views_.size() > 1;
        const bool low = views_[0].block->filter().cuts().low.columns > MUCH;
        const Index rows = both ? tile_size(left_.n) : low ? LOW_ROWS : STRIP_ROWS;
        const Index columns = both ? tile_size(right_.n) : std::min(right_.n, low ? LONG_COLUMNS : STRIP_COLUMNS);
        const Index stride = (both ? TILE_SIZE : columns) + PADDING;
        Buffer<T> products(at(rows * stride)), transposed(both ? at(columns * stride) : 0);
        std::optional<Int8Filter> filter;
        if (level_ == 0 && left_.int8 && right_.int8) filter.emplace(problem_, left_, right_, views_);
        for (column_ = 0; column_ < right_.n; column_ += columns)
            for (row_ = 0; row_ < left_.n; row_ += rows) {
                const Index n = std::min(rows, left_.n - row_), m = std::min(columns, right_.n - column_);
                n_ = n, m_ = m, finer_.clear();
                if (filter && filter->count(row_, column_, n, m)) {
                    count_rows<T>(0, filter->left_open(0), m);
                    if (both) count_rows<T>(1, filter->left_open(1), n);
                    continue;
                }
                const Matrix<T> tile{products.data(), n, m, stride}, other{transposed.data(), m, n, stride};
                scores_.products<T>(level_, {left_, row_}, {right_, column_}, tile, scores_.zero_if_disjoint());
                if (both) std::get<CountingLoops<T>>(counting_loops()).transpose(tile, other);  // before any is left out
                count_part<T>(0, 0, tile);
                if (both) count_part<T>(1, 0, other);
            }
    }

    /// Count some rows of the tile one by one, for one view.
    template <class T>
    void count_rows(std::size_t number, const Numbers64 &some, Index n_column) {
        if (some.empty()) return;
        const Index row = number == 0 ? row_ : column_;
        Numbers64 queries;
        for (std::int64_t i : some) queries.push_back(views_[number].block->queries()[at(row + i)]);
        const Ready own = scores_.ready_queries(level_, queries), &other = number == 0 ? right_ : left_;
        Buffer<T> memory(some.size() * at(n_column));
        const Matrix<T> products{memory.data(), own.n, n_column, n_column};
        scores_.products<T>(level_, {own, 0}, {other, number == 0 ? column_ : row_}, products);
        for (Index k = 0; k < own.n; ++k) count_part<T>(number, some[at(k)], {products.row(k), 1, n_column, n_column});
    }

    /// Count the rows of the tile from one on, for one view, whose products these are.
    template <class T>
    void count_part(std::size_t number, Index first, Matrix<T> part) {
        const TileView &view = views_[number];
        const Index row = number == 0 ? row_ : column_, column = view.start + (number == 0 ? column_ : row_);
        scores_.finish<T>(scores_.item_of_column.subspan(at(column), at(part.columns)), part);
        if (scores_.zero_if_disjoint()) view.block->count_disjoint<T>(row + first, column, part);
        SingleItems items = view.block->count<T>({part, row + first, column, level_, view.band}, *view.tallies, view.lock);
        if (items.rows.empty()) return;
        const double n = static_cast<double>(items.rows.size());
        if (items.scores.empty()) refine(number, n > MANY_UNDECIDED * static_cast<double>(part.rows * part.columns), items);
        view.block->place(items, *view.tallies, view.lock);
    }

    /// Compute the scores of the last level for items of one view: pair by pair or, if they are many, from the products of
    /// the whole tile, which both views share.
    void refine(std::size_t number, bool many, SingleItems &items) {
        const TileView &view = views_[number];
        items.scores.resize(items.rows.size());
        if (!many) {
            Numbers64 queries(items.rows.size());
            for (std::size_t p = 0; p < queries.size(); ++p) queries[p] = view.block->queries()[at(items.rows[p])];
            return scores_.pair_scores(queries, items.columns, items.scores);
        }
        if (finer_.empty()) {
            finer_.resize(at(n_ * m_));
            const int last = scores_.last();
            scores_.products<double>(last, {left_at_levels_.at_level(last), row_},
                                     {right_at_levels_.at_level(last), column_}, {finer_.data(), n_, m_, m_});
        }
        for (std::size_t p = 0; p < items.rows.size(); ++p) {
            const Index query = items.rows[p] - (number == 0 ? row_ : column_);
            const Index item = items.columns[p] - view.start - (number == 0 ? column_ : row_);
            items.scores[p] = finer_[at(number == 0 ? query * m_ + item : item * m_ + query)];
            if (!scores_.offset.empty()) items.scores[p] -= scores_.offset[at(scores_.item_of_column[at(items.columns[p])])];
        }
    }

    const Problem &problem_;
    const Scores &scores_;
    int level_;
    ReadyRows &left_at_levels_, &right_at_levels_;
    const Ready &left_, &right_;
    const std::vector<TileView> &views_;
    Index row_ = 0, column_ = 0, n_ = 0, m_ = 0;  // of the current tile
    Buffer<double> finer_;                        // its products at the last level, if they were computed
};

}  // namespace

const Ready &ReadyRows::at_level(int level) {
    if (level == 0 && first_ != nullptr) return *first_;
    if (!made_.contains(level)) {
        const bool int8 = int8_ && level == 0;
        made_.emplace(level, kind_ == queries ? scores_.ready_queries(level, numbers_, int8)
                                              : scores_.ready_columns(level, numbers_, int8));
    }
    return made_.at(level);
}

void count_tiles(const Problem &problem, int level, ReadyRows &left, ReadyRows &right, const std::vector<TileView> &views) {
    Visit(problem, level, left, right, views).count();
}

}  // namespace deadheat
