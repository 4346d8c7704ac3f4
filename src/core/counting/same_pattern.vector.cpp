#include "counting/same_pattern.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace deadheat::DEADHEAT_TARGET {

namespace {

constexpr std::int32_t NOTHING = -1;  // is known of a pair

int ones(const std::uint64_t *mask, Index words) {
    int n = 0;
    for (Index w = 0; w < words; ++w) n += __builtin_popcountll(mask[w]);
    return n;
}

int common_ones(const std::uint64_t *a, const std::uint64_t *b, Index words) {
    int n = 0;
    for (Index w = 0; w < words; ++w) n += __builtin_popcountll(a[w] & b[w]);
    return n;
}

/// From how often numbers meet, how often two that differ do, zero among them: out has them in a fixed order.
void forget_sides(const int (&met)[LEVELS][LEVELS], const std::uint64_t *left, const std::uint64_t *right, Index words,
                  Index levels, std::uint16_t *out) {
    for (Index a = 0; a < levels; ++a) {
        int with_zero = ones(left + a * words, words) + ones(right + a * words, words);
        for (Index b = 0; b < levels; ++b) with_zero -= met[a][b] + met[b][a];
        *out++ = static_cast<std::uint16_t>(with_zero);
        for (Index b = a + 1; b < levels; ++b) *out++ = static_cast<std::uint16_t>(met[a][b] + met[b][a]);
    }
}

/// Of what kind the match counts of a row and a column is; NOTHING where it decides nothing.
std::int32_t kind_of_matches(const Patterns &placed, Index row, Index column) {
    const std::int32_t table = placed.query_table[static_cast<std::size_t>(row)];
    const std::int32_t kind = placed.item_kind[static_cast<std::size_t>(column)];
    if (table < 0 || kind < 0) return NOTHING;
    const bool one_table = placed.differences && table == placed.item_table[static_cast<std::size_t>(column)];
    return one_table ? NOTHING - 1 - table : kind;
}

/// Count the matches of a row and a column of some kind; `out` begins as zeros.
void meet(const Patterns &placed, Index row, Index column, std::int32_t kind, std::uint16_t *out) {
    const Index words = placed.query.columns / LEVELS, levels = placed.levels;
    const std::uint64_t *left = placed.query.row(row), *right = placed.item.row(column);
    int met[LEVELS][LEVELS];
    for (Index a = 0; a < levels; ++a)
        for (Index b = 0; b < levels; ++b) met[a][b] = common_ones(left + a * words, right + b * words, words);
    if (kind < NOTHING) return forget_sides(met, left, right, words, levels, out);
    for (Index a = 0; a < levels; ++a)
        for (Index b = 0; b < levels; ++b) out[a * levels + b] = static_cast<std::uint16_t>(met[a][b]);
}

/// The places of all numbers of each row, as bits.
class Supports {
public:
    Supports(Matrix<const std::uint64_t> masks, Index levels)
        : words_(masks.columns / LEVELS), bits_(static_cast<std::size_t>(masks.rows * words_)) {
        for (Index i = 0; i < masks.rows; ++i)
            for (Index k = 0; k < levels * words_; ++k) row(i)[k % words_] |= masks(i, k);
    }
    std::uint64_t *row(Index i) { return bits_.data() + i * words_; }
    /// True if a row and one of others have no place in common.
    bool disjoint(Index i, Supports &others, Index j) {
        std::uint64_t common = 0;
        for (Index w = 0; w < words_; ++w) common |= row(i)[w] & others.row(j)[w];
        return common == 0;
    }

private:
    Index words_;
    std::vector<std::uint64_t> bits_;
};

void count_matches(const Patterns &placed, Int64s rows, Int64s columns, Matrix<std::uint16_t> out, Span<std::int32_t> kind) {
    Supports of_rows(placed.query, placed.levels), of_columns(placed.item, placed.levels);
    for (std::size_t p = 0; p < rows.size(); ++p) {
        std::uint16_t *counts = out.row(static_cast<Index>(p));
        std::fill_n(counts, MATCH_COUNTS, 0);
        const bool disjoint = placed.zeros && of_rows.disjoint(rows[p], of_columns, columns[p]);
        kind[p] = disjoint ? DISJOINT : kind_of_matches(placed, rows[p], columns[p]);
        if (!disjoint && kind[p] != NOTHING) meet(placed, rows[p], columns[p], kind[p], counts);
    }
}

Index count_same_pattern(Matrix<std::int32_t> opened, Span<double> scores, const Patterns &placed,
                         const GroupMatches &groups, Span<const std::int32_t> weight, Matrix<std::int32_t> counts) {
    Supports of_rows(placed.query, placed.levels), of_columns(placed.item, placed.levels);
    Index n_left = 0;
    for (Index p = 0; p < opened.columns; ++p) {
        const std::int32_t row = opened(0, p), position = opened(1, p), slot = opened(2, p);
        const Index group = slot >> 1;
        const std::int32_t wanted = groups.kind(row, group);
        bool same = false;
        if (wanted == DISJOINT) {
            same = of_rows.disjoint(row, of_columns, position);
        } else if (wanted != NOTHING && kind_of_matches(placed, row, position) == wanted) {
            std::uint16_t result[MATCH_COUNTS] = {};
            meet(placed, row, position, wanted, result);
            same = std::memcmp(result, groups.counts.row(row) + group * MATCH_COUNTS, sizeof result) == 0;
        }
        counts(row, slot) += same ? weight[static_cast<std::size_t>(position)] : 0;  // without branches, which would be
        for (Index k = 0; k < 3; ++k) opened(k, n_left) = opened(k, p);              // unpredictable
        if (!scores.empty()) scores[static_cast<std::size_t>(n_left)] = scores[static_cast<std::size_t>(p)];
        n_left += !same;
    }
    return n_left;
}

}  // namespace

extern const PatternLoops pattern_loops = {count_matches, count_same_pattern};

}  // namespace deadheat::DEADHEAT_TARGET
