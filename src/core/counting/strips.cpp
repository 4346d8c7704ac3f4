#include "counting/strips.h"

#include <algorithm>
#include <stdexcept>

namespace deadheat {

namespace {

// A square and the same turned fit the second-level cache together; so does a band of a tile that need not be turned. What a
// row keeps for counting is fetched once for each, so that they must not be narrow.
constexpr Index SIDE = 384;
constexpr Index BAND_ROWS = 144, BAND_COLUMNS = 1056;
constexpr Index LOW_ROWS = 48, LONG_COLUMNS = 4128;  // the same where rows keep much: fetched once for so many columns
constexpr Index MUCH = 512;                          // edges that are much
constexpr Index PANEL = 48;                          // a multiple of the rows in any panel
constexpr Index PADDING = 16;  // columns more than are used: rows a power of two apart would share lines of the cache

/// How long the sides of squares are into which so many rows are cut, about equally.
Index side_of_squares(Index n) {
    const Index parts = std::max<Index>((n + SIDE - 1) / SIDE, 1), each = (n + parts - 1) / parts;
    return (each + PANEL - 1) / PANEL * PANEL;
}

std::size_t size_of(Index rows, Index stride) { return static_cast<std::size_t>(rows * stride); }

template <class T>
auto count_tile() {
    if constexpr (sizeof(T) == sizeof(float))
        return counting_loops().count_single;
    else
        return counting_loops().count_double;
}

template <class T>
auto transpose() {
    if constexpr (sizeof(T) == sizeof(float))
        return counting_loops().transpose_single;
    else
        return counting_loops().transpose_double;
}

/// Some rows of a matrix.
template <class T>
Matrix<T> rows_of(Matrix<T> matrix, Index first, Index n) {
    if (matrix.rows == 0) return matrix;
    return {matrix.row(first), n, matrix.columns, matrix.stride};
}

/// Some columns of a matrix.
template <class T>
Matrix<T> columns_of(Matrix<T> matrix, Index first, Index n) {
    if (matrix.rows == 0) return matrix;
    return {matrix.data + first, matrix.rows, n, matrix.stride};
}

template <class T>
Span<T> part(Span<T> whole, Index first, Index n) {
    return whole.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(n));
}

template <class T>
void take_off(Span<const T> offset, Matrix<T> square) {
    for (Index i = 0; i < square.rows; ++i) {
        T *scores = square.row(i);
        for (Index j = 0; j < square.columns; ++j) scores[j] -= offset[static_cast<std::size_t>(j)];
    }
}

/// Counts the squares of a tile for the queries on one side.
template <class T>
class Side {
public:
    explicit Side(TileSide<T> side) : side_(side), n_open_(side.counters.size()) {}

    /// Count a square of products whose first row and column are these ones of the tile.
    void count(Matrix<T> square, Index row, Index column) {
        if (!side_.offset.empty()) take_off(part(side_.offset, column, square.columns), square);
        const TileColumns &whole = side_.columns;
        const TileColumns columns{whole.start + column, part(whole.weight, column, square.columns), whole.plain,
                                  rows_of(whole.excluded, row, square.rows)};
        for (std::size_t c = 0; c < side_.counters.size(); ++c) {
            const TileCounter<T> &counter = side_.counters[c];
            const Index before = n_open_[c], room = counter.opened.columns - before;
            const Matrix<std::int32_t> opened{counter.opened.data + before, 3, room, counter.opened.stride};
            const Index n =
                count_tile<T>()(square, columns, tables_of(counter.tables, row, square.rows, column, square.columns),
                                rows_of(counter.counts, row, square.rows), opened);
            if (!counter.scores.empty())
                for (Index q = 0; q < n; ++q)
                    counter.scores[static_cast<std::size_t>(before + q)] = square(opened(0, q), opened(1, q));
            for (Index q = 0; q < n; ++q) {
                opened(0, q) += static_cast<std::int32_t>(row);
                opened(1, q) += static_cast<std::int32_t>(column);
            }
            n_open_[c] += n;
        }
    }

    const std::vector<Index> &n_open() const { return n_open_; }

private:
    using Tables = RowTables<T, std::uint16_t>;

    static Tables tables_of(const Tables &all, Index row, Index n, Index column, Index m) {
        return {rows_of(all.edges, row, n),
                all.n_edge,
                all.closed,
                part(all.base, row, n),
                part(all.scale, row, n),
                rows_of(all.codes, row, n),
                part(all.zero_slot, row, n),
                {rows_of(all.places.of_rows, row, n), columns_of(all.places.of_columns, column, m)}};
    }

    TileSide<T> side_;
    std::vector<Index> n_open_;
};

}  // namespace

template <class T>
std::vector<std::vector<Index>> count_products(const Panels<T> &left, const Panels<T> &right, Index chunk,
                                               const std::vector<TileSide<T>> &sides) {
    if (left.dim() < 1 || left.dim() != right.dim() || chunk < 1 || sides.empty() || sides.size() > 2)
        throw std::invalid_argument("rows, chunk and sides must fit each other");
    const bool turns = sides.size() > 1;
    const bool low =
        std::ranges::any_of(sides[0].counters, [](const auto &counter) { return counter.tables.n_edge > MUCH; });
    const Index rows = turns ? side_of_squares(left.rows()) : low ? LOW_ROWS : BAND_ROWS;
    const Index columns = turns ? side_of_squares(right.rows()) : std::min(right.rows(), low ? LONG_COLUMNS : BAND_COLUMNS);
    const Index stride = (turns ? SIDE : columns) + PADDING;
    std::vector<T> products(size_of(rows, stride)), turned(turns ? size_of(columns, stride) : 0);
    std::vector<Side<T>> each(sides.begin(), sides.end());
    for (Index column = 0; column < right.rows(); column += columns)
        for (Index row = 0; row < left.rows(); row += rows) {
            const Index n = std::min(rows, left.rows() - row), m = std::min(columns, right.rows() - column);
            const Matrix<T> square{products.data(), n, m, stride}, other{turned.data(), m, n, stride};
            multiply(left, row, right, column, chunk, square);
            if (each.size() > 1) transpose<T>()(square, other);  // before scores are left out
            each[0].count(square, row, column);
            if (each.size() > 1) each[1].count(other, column, row);
        }
    std::vector<std::vector<Index>> n_open;
    for (const Side<T> &side : each) n_open.push_back(side.n_open());
    return n_open;
}

template std::vector<std::vector<Index>> count_products(const Panels<float> &, const Panels<float> &, Index,
                                                        const std::vector<TileSide<float>> &);
template std::vector<std::vector<Index>> count_products(const Panels<double> &, const Panels<double> &, Index,
                                                        const std::vector<TileSide<double>> &);

}  // namespace deadheat
