#include "counting/alike.h"

#include <cstring>

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

/// From how often numbers meet, how often two that differ do, zero among them: out has them in a fixed order, then zeros.
void forget_sides(const int (&met)[LEVELS][LEVELS], const std::uint64_t *left, const std::uint64_t *right, Index words,
                  std::uint16_t *out) {
    Index n = 0;
    for (Index a = 0; a < LEVELS; ++a) {
        int with_zero = ones(left + a * words, words) + ones(right + a * words, words);
        for (Index b = 0; b < LEVELS; ++b) with_zero -= met[a][b] + met[b][a];
        out[n++] = static_cast<std::uint16_t>(with_zero);
        for (Index b = a + 1; b < LEVELS; ++b) out[n++] = static_cast<std::uint16_t>(met[a][b] + met[b][a]);
    }
    while (n < MEETINGS) out[n++] = 0;
}

/// How a row and a column meet, and of what kind that is.
std::int32_t meet(const PlacedRows &placed, Index row, Index column, std::uint16_t *out) {
    const Index words = placed.left.columns / LEVELS;
    const std::uint64_t *left = placed.left.row(row), *right = placed.right.row(column);
    int met[LEVELS][LEVELS];
    for (Index a = 0; a < LEVELS; ++a)
        for (Index b = 0; b < LEVELS; ++b) {
            met[a][b] = common_ones(left + a * words, right + b * words, words);
            out[a * LEVELS + b] = static_cast<std::uint16_t>(met[a][b]);
        }
    const std::int32_t table = placed.table_of_left[static_cast<std::size_t>(row)];
    if (table < 0) return NOTHING;
    if (!placed.differences || table != placed.table_of_right[static_cast<std::size_t>(column)])
        return placed.kind[static_cast<std::size_t>(column)];
    forget_sides(met, left, right, words, out);
    return NOTHING - 1 - table;
}

void count_meetings(const PlacedRows &placed, Span<const std::int64_t> rows, Span<const std::int64_t> columns,
                    Matrix<std::uint16_t> out, Span<std::int32_t> kind) {
    for (std::size_t p = 0; p < rows.size(); ++p)
        kind[p] = meet(placed, rows[p], columns[p], out.row(static_cast<Index>(p)));
}

Index settle_alike(Matrix<std::int32_t> opened, const PlacedRows &placed, const GroupMeetings &groups, bool zeros,
                   Span<const std::int32_t> weight, Matrix<std::int32_t> counts) {
    constexpr std::uint16_t NONE[MEETINGS] = {};
    Index n_left = 0;
    for (Index p = 0; p < opened.columns; ++p) {
        const std::int32_t row = opened(0, p), place = opened(1, p), slot = opened(2, p);
        const Index group = slot >> 1;
        std::uint16_t found[MEETINGS];
        const std::int32_t kind = meet(placed, row, place, found);
        const bool of_a_kind = kind != NOTHING && kind == groups.kind(row, group);
        const bool apart = zeros && std::memcmp(found, NONE, sizeof found) == 0;
        if ((of_a_kind || apart) && std::memcmp(found, groups.counts.row(row) + group * MEETINGS, sizeof found) == 0) {
            counts(row, slot) += weight[static_cast<std::size_t>(place)];
        } else {
            for (Index k = 0; k < 3; ++k) opened(k, n_left) = opened(k, p);
            ++n_left;
        }
    }
    return n_left;
}

}  // namespace

extern const AlikeLoops alike_loops = {count_meetings, settle_alike};

}  // namespace deadheat::DEADHEAT_TARGET
