// Counting at the speed of the vector units.
//
// A row with few edges is compared with all of them. With many, a score's bin shows its slot, or that a closer look is
// needed because an edge is in the bin:
//
//     scores ──scale──> bins ──gather──> codes ──┬─────────────────────────> slots ──> counts
//                                                └──marked──> closer look ──┘  └────> undecided items
//
// If most of a row is below all edges, the rest is copied together first. Vectors are read and written whole, so rows
// that do not fill them are copied to where there is room.
#include "counting/tiles.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "support/gather.h"
#include "support/transposing.h"

namespace deadheat::DEADHEAT_TARGET {

namespace {

constexpr Index MANY_EDGES = 8;  // beyond which the scores below all edges are better left out first, where these are many
constexpr int EDGES = 4;         // with which scores are compared at once: their sums stay in registers
constexpr Index LINE = 64;       // bytes that the cache fetches at once
constexpr int ROUNDS = 6;        // of closer looks, interval by interval, after which the rest is found by halving

using Place = std::int32_t;

/// Asks for what the next row needs to be fetched into the cache, some lines at a time while a row is counted: more at once
/// than the processor can wait for would hold it up.
class Fetching {
public:
    template <class T>
    void add(Matrix<const T> matrix, Index i, Index columns) {
        const Index bytes = columns * static_cast<Index>(sizeof(T));
        ranges_[n_range_++] = {reinterpret_cast<const char *>(matrix.row(i)), (bytes + LINE - 1) / LINE, 0};
    }

    /// Spread what is to be fetched over so many steps.
    void size(Index steps) {
        for (Range &range : ranges_) range.at_a_step = (range.left + steps - 1) / std::max(steps, Index{1});
    }

    void step() {
        for (Range &range : ranges_) {
            const Index n = std::min(range.at_a_step, range.left);
            for (Index line = 0; line < n; ++line, range.next += LINE) __builtin_prefetch(range.next);
            range.left -= n;
        }
    }

private:
    struct Range {
        const char *next = nullptr;
        Index left = 0, at_a_step = 0;  // lines
    };
    Range ranges_[3];
    int n_range_ = 0;
};

/// Counts the rows of one tile.
template <class T>
class Counting {
    static constexpr int N = LANES<T>;
    using Scores = Some<T, N>;
    using Ints = Some<std::int32_t, N>;
    static constexpr Bits EVERY = (Bits(1) << N) - 1;
    static constexpr T BELOW_ALL = -std::numeric_limits<T>::infinity();

public:
    Counting(TileColumns columns, RowTables<T> tables, Matrix<std::int32_t> counts, Matrix<std::int32_t> opened)
        : columns_(columns), tables_(tables), counts_(counts), opened_(opened) {
        const std::size_t n = columns.weight.size(), room = n + 4 * 16;  // vectors are read and written whole
        for (auto *places : {&near_, &open_, &open_slots_, &sure_, &sure_places_, &look_slots_, &look_places_})
            places->resize(room);
        scores_.resize(room, BELOW_ALL), near_scores_.resize(room), look_scores_.resize(room);
        weights_.assign(columns.weight.begin(), columns.weight.end());
        weights_.resize(room);
        near_weights_.resize(room, 1);
    }

    Index tile(Matrix<T> tile) {
        Index n_open = 0;
        for (Index i = 0; i < tile.rows; ++i) {
            next_ = {};
            if (i + 1 < tile.rows) {
                next_.add(tables_.edges, i + 1, tables_.n_edge);
                next_.add(tables_.codes, i + 1, tables_.codes.columns);
                next_.add<std::int32_t>(counts_, i + 1, tables_.n_edge);
            }
            next_.size(tile.columns / N);
            n_open = row(i, tile.row(i), tile.columns, n_open);
        }
        return n_open;
    }

private:
    TileColumns columns_;
    RowTables<T> tables_;
    Matrix<std::int32_t> counts_, opened_;
    std::vector<Place> near_, open_, open_slots_, sure_, sure_places_, look_slots_, look_places_;
    std::vector<T> scores_, near_scores_, look_scores_;
    std::vector<std::int32_t> weights_, near_weights_;
    Fetching next_;

    /// Count a row, and list what it leaves open.
    Index row(Index i, T *scores, Index n_column, Index n_open) {
        leave_out(scores, n_column, i);
        const T *edges = tables_.edges.row(i), *some = scores;
        const std::int32_t *weights = weights_.data();
        const bool few = tables_.n_edge > MANY_EDGES && few_above(scores, n_column, edges[0]);
        if (n_column % N != 0) {
            std::copy_n(scores, n_column, scores_.data());
            some = scores_.data();
        }
        Index n_item = n_column;
        if (few) {
            n_item = take_above(some, n_column, edges[0]);
            some = near_scores_.data();
            weights = near_weights_.data();
        }
        const Index n =
            tables_.n_edge <= FEW_EDGES ? count_by_edge(some, weights, n_item, i) : count_by_bin(some, weights, n_item, i);
        for (Index q = 0; q < n; ++q) {
            const auto position = static_cast<std::size_t>(open_[static_cast<std::size_t>(q)]);
            opened_(0, n_open) = static_cast<std::int32_t>(i);
            opened_(1, n_open) = few ? near_[position] : static_cast<Place>(position);
            opened_(2, n_open) = open_slots_[static_cast<std::size_t>(q)];
            ++n_open;
        }
        return n_open;
    }

    /// Set to −infinity the scores of excluded columns.
    void leave_out(T *scores, Index n_column, Index i) {
        const auto excluded = columns_.excluded[i];
        auto next = std::lower_bound(excluded.begin(), excluded.end(), columns_.start);
        for (; next != excluded.end() && *next < columns_.start + n_column; ++next)
            scores[*next - columns_.start] = BELOW_ALL;
    }

    /// Return whether most of a row is below an edge, judged by some scores.
    static bool few_above(const T *scores, Index n_column, T edge) {
        const Index sample = std::min<Index>(n_column, 64);
        Index n = 0;
        for (Index j = 0; j < sample; ++j) n += scores[j] >= edge;
        return 2 * n < sample;
    }

    /// Append the places of the scores between two edges to a list of length n.
    Index list_between(const T *scores, Index n_item, T low, T high, Place *places, Index n) {
        const Scores from = Scores{} + low, to = Scores{} + high;
        for (Index begin = 0; begin < n_item; begin += N) {
            const Scores some = load_some<Scores>(scores + begin);
            const Bits between = at_least<T, N>(some, from) & ~at_least<T, N>(some, to);
            n = append_places(between, begin, places, n);
        }
        return n;
    }

    static Index append_places(Bits chosen, Index begin, Place *places, Index n) {
        return append<std::int32_t, N>(places_from<N>(begin), chosen, places, n);
    }

    /// Copy the scores that are not below an edge, and their weights, and list their places; returns how many.
    Index take_above(const T *scores, Index n_column, T edge) {
        const Scores low = Scores{} + edge;
        Index n = 0;
        for (Index begin = 0; begin < n_column; begin += N) {
            next_.step();
            const Scores some = load_some<Scores>(scores + begin);
            const Bits above = at_least<T, N>(some, low);
            append<T, N>(some, above, near_scores_.data(), n);
            n = append_places(above, begin, near_.data(), n);
        }
        if (!columns_.plain)
            for (Index q = 0; q < n; ++q)
                near_weights_[static_cast<std::size_t>(q)] =
                    weights_[static_cast<std::size_t>(near_[static_cast<std::size_t>(q)])];
        std::fill_n(near_scores_.data() + n, N, BELOW_ALL);
        return n;
    }

    // Few edges -------------------------------------------------------------------------------------------------------

    /// The weights of the scores, and what fills up the last vector, that are not below each of four edges.
    static void sum_above(const T *scores, const std::int32_t *weights, Index n_item, const T *edges, std::int32_t *totals) {
        Scores from[EDGES];
        Ints sums[EDGES] = {};
        for (int k = 0; k < EDGES; ++k) from[k] = Scores{} + edges[k];
        for (Index begin = 0; begin < n_item; begin += N) {
            const Scores some = load_some<Scores>(scores + begin);
            const Ints heavy = load_some<Ints>(weights + begin);
            for (int k = 0; k < EDGES; ++k) sums[k] = add_where<T, N>(sums[k], some, from[k], heavy);
        }
        for (int k = 0; k < EDGES; ++k) {
            totals[k] = 0;
            for (int lane = 0; lane < N; ++lane) totals[k] += sums[k][lane];
        }
    }

    /// Count some scores by comparing all of them with each edge; returns how many were listed as open, and their slots.
    Index count_by_edge(const T *scores, const std::int32_t *weights, Index n_item, Index i) {
        std::int32_t sums[FEW_EDGES + EDGES];
        const T *row = tables_.edges.row(i);
        const Index n_edge = tables_.n_edge;
        next_.size(1), next_.step();
        for (Index k = 0; k < n_edge; k += EDGES) {
            T edges[EDGES];
            for (Index e = 0; e < EDGES; ++e) edges[e] = row[std::min(k + e, n_edge)];
            sum_above(scores, weights, n_item, edges, sums + k);
        }
        sums[n_edge] = 0;
        Index n = 0;
        for (Index slot = 1; slot <= n_edge; ++slot) {
            const std::int32_t count = sums[slot - 1] - sums[slot];
            if (tables_.closed || slot % 2 == 0) {
                counts_(i, slot) += count;
            } else if (count != 0) {
                const Index listed = n;
                n = list_between(scores, n_item, row[slot - 1], row[slot], open_.data(), n);
                std::fill(open_slots_.begin() + listed, open_slots_.begin() + n, static_cast<Place>(slot));
            }
        }
        return n;
    }

    // Many edges ------------------------------------------------------------------------------------------------------

    /// The places of scores among all numbers of their type, as `place_of` of counting/edges.cpp gives them.
    static Scores places_of(Scores scores) {
        using Whole = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
        const auto bits = (Vector<Whole>)(scores + T(0));  // which makes −0 the 0 that it is equal to
        const auto ordered = bits ^ ((bits >> (8 * sizeof(T) - 1)) & repeat(std::numeric_limits<Whole>::max()));
        return __builtin_convertvector(ordered, Scores);
    }

    /// The codes of the bins of some scores, with the mark in the top bit of 32.
    Ints codes_of(Scores scores, Scores base, Scores scale, Scores top, const std::uint16_t *codes) {
        Scores x = (scores - base) * scale + T(1);
        x = x > T(0) ? x : Scores{};
        x = x < top ? x : top;
        const Ints bins = __builtin_convertvector(x, Ints);
        const Ints pairs = gather<std::int32_t, N>(reinterpret_cast<const std::int32_t *>(codes), bins >> 1);
        return pairs << (((bins & 1) ^ 1) << 4) >> 16;  // the mark spreads, and is masked out with the sign
    }

    /// Count some scores by the codes of their bins, after a closer look where these say so; returns how many are open.
    Index count_by_bin(const T *scores, const std::int32_t *weights, Index n_item, Index i) {
        const std::uint16_t *codes = tables_.codes.row(i);
        const auto row = static_cast<std::size_t>(i);
        const bool by_place = tables_.scale[row] < 0;
        const Scores base = Scores{} + tables_.base[row], scale = Scores{} + std::fabs(tables_.scale[row]);
        const Scores top = Scores{} + static_cast<T>(tables_.codes.columns - 1);
        Ints places = places_from<N>(0);
        Index n_sure = 0, n_look = 0;
        for (Index begin = 0; begin < n_item; begin += N, places += N) {
            next_.step();
            const Scores some = load_some<Scores>(scores + begin);
            const Ints code = codes_of(by_place ? places_of(some) : some, base, scale, top, codes);
            const Bits unsure = signs<N>(code);
            append<T, N>(some, unsure, look_scores_.data(), n_look);
            append<std::int32_t, N>(places, unsure, look_places_.data(), n_look);
            if (!columns_.plain) append<std::int32_t, N>(places, unsure ^ EVERY, sure_places_.data(), n_sure);
            n_look = append<std::int32_t, N>(code & MOST_SLOT, unsure, look_slots_.data(), n_look);
            n_sure = append<std::int32_t, N>(code, unsure ^ EVERY, sure_.data(), n_sure);
        }
        const Index n_open = look_closer(n_look, i, n_sure);
        std::int32_t *counts = counts_.row(i);
        if (columns_.plain)
            for (Index q = 0; q < n_sure; ++q) ++counts[sure_[static_cast<std::size_t>(q)]];
        else
            for (Index q = 0; q < n_sure; ++q)
                counts[sure_[static_cast<std::size_t>(q)]] += weights[sure_places_[static_cast<std::size_t>(q)]];
        return n_open;
    }

    /// Move the scores that need it up to their slots: some are added to those that are sure; returns how many are open.
    ///
    /// A round compares each with the two edges of one interval, and keeps those that are above the next edge too.
    Index look_closer(Index n_look, Index i, Index &n_sure) {
        Index n_open = 0;
        for (int round = 0; round < ROUNDS && n_look > 0; ++round) n_look = compare_pairs(n_look, i, n_sure, n_open);
        return n_look > 0 ? find_by_halving(n_look, i, n_sure, n_open) : n_open;
    }

    /// One round; returns how many scores are left, which take the first places of the list.
    Index compare_pairs(Index n_look, Index i, Index &n_sure, Index &n_open) {
        const T *edges = tables_.edges.row(i);
        const Bits openable = tables_.closed ? 0 : ~Bits(0);
        Index n_left = 0;
        for (Index begin = 0; begin < n_look; begin += N) {
            const Bits valid = n_look - begin < N ? (Bits(1) << (n_look - begin)) - 1 : EVERY;
            const Scores values = load_some<Scores>(look_scores_.data() + begin);
            const Ints places = load_some<Ints>(look_places_.data() + begin);
            const Ints listed = load_some<Ints>(look_slots_.data() + begin) & ~1;
            const Ints from = valid == EVERY ? listed : listed & lanes_of<N>(valid);
            const Bits above_low = at_least<T, N>(values, gather<T, N>(edges, from)) & valid;
            const Bits above_high = at_least<T, N>(values, gather<T, N>(edges + 1, from)) & valid;
            const Bits left = above_high & at_least<T, N>(values, gather<T, N>(edges + 2, from));
            const Bits open = above_low & ~above_high & openable, sure = valid & ~left & ~open;
            const Ints slots = from - lanes_of<N>(above_low) - lanes_of<N>(above_high);
            append<T, N>(values, left, look_scores_.data(), n_left);
            append<std::int32_t, N>(places, left, look_places_.data(), n_left);
            n_left = append<std::int32_t, N>(slots, left, look_slots_.data(), n_left);
            append<std::int32_t, N>(slots, open, open_slots_.data(), n_open);
            n_open = append<std::int32_t, N>(places, open, open_.data(), n_open);
            if (!columns_.plain) append<std::int32_t, N>(places, sure, sure_places_.data(), n_sure);
            n_sure = append<std::int32_t, N>(slots, sure, sure_.data(), n_sure);
        }
        return n_left;
    }

    /// The same at once for what is left where many edges are in one bin; returns how many are open.
    Index find_by_halving(Index n_look, Index i, Index &n_sure, Index n_open) {
        const T *edges = tables_.edges.row(i), *end = edges + tables_.n_edge;
        for (std::size_t q = 0; q < static_cast<std::size_t>(n_look); ++q) {
            const auto slot = static_cast<Place>(std::upper_bound(edges + look_slots_[q], end, look_scores_[q]) - edges);
            const bool open = slot % 2 == 1 && !tables_.closed;
            auto &slots = open ? open_slots_ : sure_, &places = open ? open_ : sure_places_;
            Index &n = open ? n_open : n_sure;
            slots[static_cast<std::size_t>(n)] = slot;
            places[static_cast<std::size_t>(n)] = look_places_[q];
            ++n;
        }
        return n_open;
    }
};

template <class T>
Index count_tile(Matrix<T> tile, TileColumns columns, RowTables<T> tables, Matrix<std::int32_t> counts,
                 Matrix<std::int32_t> opened) {
    return Counting<T>(columns, tables, counts, opened).tile(tile);
}

// Transposing -----------------------------------------------------------------------------------------------------------

template <class T>
void transpose(Matrix<const T> tile, Matrix<T> out) {
    constexpr int N = LANES<T>;
    const Index rows = tile.rows - tile.rows % N, columns = tile.columns - tile.columns % N;
    for (Index begin = 0; begin < columns; begin += N)  // a strip of columns: what is written lies side by side
        for (Index i = 0; i < rows; i += N) {
            Vector<T> square[N];
            for (int k = 0; k < N; ++k) square[k] = load(tile.row(i + k) + begin);
            transpose_square(square);
            for (int k = 0; k < N; ++k) store<T>(square[k], out.row(begin + k) + i);
        }
    for (Index j = columns; j < tile.columns; ++j)
        for (Index i = 0; i < rows; ++i) out(j, i) = tile(i, j);
    for (Index i = rows; i < tile.rows; ++i)
        for (Index j = 0; j < tile.columns; ++j) out(j, i) = tile(i, j);
}

}  // namespace

extern const BothTypes<CountingLoops> counting_loops = {{count_tile<float>, transpose<float>},
                                                        {count_tile<double>, transpose<double>}};

}  // namespace deadheat::DEADHEAT_TARGET
