// Counting between edges, and what belongs to it, compared with counting one score after the other.
#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <stdexcept>
#include <tuple>

#include "check.h"
#include "counting/edges.h"
#include "counting/same_pattern.h"
#include "counting/tiles.h"
#include "counting/undecided.h"
#include "ties/groups.h"

namespace {

using namespace deadheat;
using namespace deadheat::tests;

constexpr double INFINITE = std::numeric_limits<double>::infinity();

/// Cuts of some rows at whole numbers, each of them where scores are integers; some rows have fewer than others.
struct RandomCuts {
    RandomCuts(Index n, Index width, double tolerance, Random &random) : low(n, width, 1), high(n, width, 2) {
        for (Index i = 0; i < n; ++i) {
            double value = static_cast<double>(-random.below(2 * width + 2));
            const Index used = width == 0 || random.below(3) > 0 ? width : random.below(width + 1);
            for (Index g = 0; g < width; ++g) {
                value += static_cast<double>(1 + random.below(3));
                low.set(i, g, g < used ? value - tolerance : INFINITE);
                high.set(i, g, g < used ? (tolerance == 0 ? next_number(value) : value + tolerance) : INFINITE);
            }
        }
    }
    Padded<double> low, high;
};

/// The tables that count_tile reads.
template <class T>
struct RandomTables {
    RandomTables(Index n, Index width, bool closed_, Random &random)
        : cuts(n, width, closed_ ? 0 : 0.25, random),
          closed(closed_),
          edges(n, 2 * width + 1, 0),
          codes(n, 2 * width <= FEW_EDGES ? 1 : 512, 0),
          base(at(n)),
          scale(at(n)) {
        const std::vector<Errors> errors(base.size(), {closed ? 0 : 0.125, INFINITE, closed ? 0 : 0.125});
        n_edge = build_edges<T>(cuts.low.view(), cuts.high.view(), errors, closed, edges.view());
        if (codes.columns > 1) build_bins<T>(edges.view(), closed, base, scale, codes.view());
    }
    RowTables<T> view() { return {edges.view(), n_edge, closed, base, scale, codes.view()}; }

    RandomCuts cuts;
    bool closed;
    Padded<T> edges;
    Padded<std::uint16_t> codes;
    std::vector<T> base, scale;
    Index n_edge = 0;
};

using Open = std::vector<std::tuple<Index, Index, Index>>;

Open listed(Padded<std::int32_t> &opened, Index n) {
    Open out;
    for (Index p = 0; p < n; ++p) out.emplace_back(opened.at(0, p), opened.at(1, p), opened.at(2, p));
    std::sort(out.begin(), out.end());
    return out;
}

/// Counts one score after the other; returns what is open.
template <class T>
Open count_one_by_one(const Padded<T> &tile, const std::vector<std::int32_t> &weight, const std::vector<std::int32_t> &out,
                      const RandomTables<T> &tables, Padded<std::int32_t> &counts) {
    const Padded<T> &edges = tables.edges;
    Open open;
    for (Index i = 0; i < tile.rows; ++i)
        for (Index j = 0; j < tile.columns; ++j) {
            if (std::find(out.begin(), out.end(), j) != out.end()) continue;
            Index slot = 0;
            while (slot < edges.columns && edges.at(i, slot) <= tile.at(i, j)) ++slot;
            if (slot % 2 == 1 && !tables.closed)
                open.emplace_back(i, j, slot);
            else
                counts.set(i, slot, counts.at(i, slot) + weight[at(j)]);
        }
    std::sort(open.begin(), open.end());
    return open;
}

bool equal_but_for_slot_0(const Padded<std::int32_t> &a, const Padded<std::int32_t> &b) {
    for (Index i = 0; i < a.rows; ++i)
        for (Index slot = 1; slot < a.columns; ++slot)
            if (a.at(i, slot) != b.at(i, slot)) return false;
    return true;
}

Padded<std::int32_t> no_counts(Index n, Index width) {
    Padded<std::int32_t> counts(n, 2 * width + 1, 1);
    counts.fill([] { return 0; });
    return counts;
}

std::vector<std::int32_t> weights(Index n, bool plain, Random &random) {
    std::vector<std::int32_t> out;
    for (Index j = 0; j < n; ++j) out.push_back(plain ? 1 : static_cast<std::int32_t>(1 + random.below(3)));
    return out;
}

template <class T>
void a_tile_is_counted(Index n, Index m, Index width, bool closed, Random &random) {
    RandomTables<T> tables(n, width, closed, random);
    Padded<T> tile(n, m, random.below(4));
    const Index far = random.below(3) == 0 ? 3 * width + 100 : 0;  // then most scores are below all edges
    tile.fill(
        [&] { return static_cast<T>(0.25 * static_cast<double>(random.below(12 * width + 9) - 6 * width - 4 - 4 * far)); });
    if (n > 0 && m > 2) tile.set(0, 0, T(1e30)), tile.set(n - 1, 1, -T(1e30)), tile.set(0, 2, -T(0));
    const bool plain = random.below(2) == 0;
    const std::vector<std::int32_t> weight = weights(m, plain, random);
    std::vector<std::int32_t> out;
    if (m > 1) out = {static_cast<std::int32_t>(random.below(m - 1)), static_cast<std::int32_t>(m - 1)};
    constexpr std::int32_t START = 1000;
    Padded<std::int32_t> excluded(n, 4, 0), opened(3, n * m, 0);
    for (Index i = 0; i < n; ++i) {
        const std::vector<std::int32_t> of_row = {0, out.empty() ? 1 : START + out[0], out.empty() ? 2 : START + out[1],
                                                  9999};
        for (Index k = 0; k < 4; ++k) excluded.set(i, k, of_row[at(k)]);
    }
    Padded<std::int32_t> counts = no_counts(n, width), wanted = no_counts(n, width);
    const Open open = count_one_by_one(tile, weight, out, tables, wanted);
    const Index n_open =
        std::get<CountingLoops<T>>(counting_loops())
            .count(tile.view(), {START, weight, plain, excluded.view()}, tables.view(), counts.view(), opened.view());
    CHECK(listed(opened, n_open) == open);
    CHECK(equal_but_for_slot_0(counts, wanted));
    CHECK(counts.padding_is_untouched() && tile.padding_is_untouched());
}

/// Edges ascend, and no score of an item that may be in an interval is outside of its edges.
template <class T>
void edges_hold_intervals(const std::vector<double> &low, const std::vector<double> &high, Errors errors, double most) {
    const auto n = static_cast<Index>(low.size());
    Padded<double> lows(1, n, 0), highs(1, n, 0);
    lows.numbers = low, highs.numbers = high;
    Padded<T> edges(1, 2 * n + 1, 1);
    CHECK(build_edges<T>(lows.view(), highs.view(), std::vector<Errors>{errors}, false, edges.view()) == 2 * n);
    CHECK(edges.at(0, 2 * n) == std::numeric_limits<T>::infinity() && edges.padding_is_untouched());
    for (Index g = 0; g < n; ++g) {
        CHECK(edges.at(0, 2 * g) <= edges.at(0, 2 * g + 1) && edges.at(0, 2 * g + 1) <= edges.at(0, 2 * g + 2));
        CHECK(edges.at(0, 2 * g) <= static_cast<T>(std::max(low[at(g)] - most, g > 0 ? edges.at(0, 2 * g - 1) : -3e38)));
        CHECK(edges.at(0, 2 * g + 1) >= high[at(g)] + most);
    }
    Padded<std::uint16_t> codes(1, 64, 0);
    T base = 0, scale = 0;
    build_bins<T>(edges.view(), false, {&base, 1}, {&scale, 1}, codes.view());
    CHECK(codes.at(0, 0) == (low[0] < -3e38 ? 1 << 15 : 0));
}

template <class T>
void edges_of_hard_intervals() {
    for (double step : {0.0, 1e-12, 0.25}) {
        std::vector<double> low, high;
        for (int g = 0; g < 70; ++g) low.push_back(1 + step * g), high.push_back(low.back() + 1e-13);
        edges_hold_intervals<T>(low, high, {0x1p-20, INFINITE, 0}, 0x1p-20);
        edges_hold_intervals<T>(low, high, {1, 0x1p-20, 0x1p-30}, 0x1p-20);
    }
    edges_hold_intervals<T>({0}, {0}, {1, 0x1p-20, 0x1p-30}, 0x1p-30);
    edges_hold_intervals<T>({-1e300, 0}, {-1e299, 1}, {0, INFINITE, 0}, 0);
}

TEST(edges_ascend_and_hold_their_intervals) {
    edges_of_hard_intervals<float>();
    edges_of_hard_intervals<double>();
    bool refused = false;
    try {
        edges_hold_intervals<double>({0}, {0}, {std::numeric_limits<double>::quiet_NaN(), INFINITE, 0}, 0);
    } catch (const std::invalid_argument &) {
        refused = true;
    }
    CHECK(refused);
}

TEST(tiles_are_counted) {
    Random random(21);
    for (Index width : {0, 1, 4, 5, 16, 17, 70, 200})
        for (Index m : {0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 64, 65, 130})
            for (bool closed : {false, true})
                for (Index n : {0, 1, 3}) {
                    a_tile_is_counted<float>(n, m, width, closed, random);
                    a_tile_is_counted<double>(n, m, width, closed, random);
                }
}

TEST(more_slots_than_codes) {
    Random random(22);
    for (bool closed : {false, true}) {
        a_tile_is_counted<float>(2, 400, 17000, closed, random);
        a_tile_is_counted<double>(2, 400, 17000, closed, random);
    }
}

template <class T>
void is_transposed(Index n, Index m, Random &random) {
    Padded<T> tile(n, m, random.below(3)), out(m, n, random.below(3));
    tile.fill([&] { return random.number<T>(); });
    std::get<CountingLoops<T>>(counting_loops()).transpose(tile.view(), out.view());
    bool transposed = true;
    for (Index i = 0; i < n; ++i)
        for (Index j = 0; j < m; ++j) transposed &= same(tile.at(i, j), out.at(j, i));
    CHECK(transposed && out.padding_is_untouched());
}

TEST(tiles_are_transposed) {
    Random random(22);
    for (Index n : {0, 1, 2, 3, 4, 8, 15, 16, 17, 33})
        for (Index m : {0, 1, 2, 3, 4, 8, 15, 16, 17, 33}) {
            is_transposed<float>(n, m, random);
            is_transposed<double>(n, m, random);
        }
}

/// True if two neighbouring intervals of a row have an edge in common.
template <class T>
bool touch(const Padded<T> &edges, Index i, Index below) {
    return !(edges.at(i, 2 * below + 1) < edges.at(i, 2 * below + 2));
}

template <class T>
void intervals_are_those_that_touch(Index n, Index m, Index width, double tolerance, Random &random) {
    RandomTables<T> tables(n, width, false, random);
    const std::vector<Errors> errors(tables.base.size(), {tolerance, INFINITE, tolerance});
    build_edges<T>(tables.cuts.low.view(), tables.cuts.high.view(), errors, false, tables.edges.view());
    for (Index p = 0; p < n * m; ++p) {
        const Index i = p / m, g = random.below(width);
        const auto [first, last] = intervals_of_slot<T>(2 * g + 1, tables.edges.view().row(i), tables.cuts.low.view()[i]);
        CHECK(0 <= first && first <= g && g < last && last <= width);
        if (tables.cuts.low.at(i, g) == INFINITE) continue;  // no item is open there
        for (Index k = first; k + 1 < last; ++k) CHECK(touch(tables.edges, i, k));
        CHECK(first == 0 || !touch(tables.edges, i, first - 1));
        CHECK(last == width || tables.cuts.low.at(i, last) == INFINITE || !touch(tables.edges, i, last - 1));
    }
}

TEST(undecided_items_lie_in_intervals_that_touch) {
    Random random(24);
    for (Index n : {1, 2, 9})
        for (Index m : {0, 1, 17})
            for (Index width : {1, 3, 9})
                for (double tolerance : {0.125, 0.75, 2.0}) {
                    intervals_are_those_that_touch<float>(n, m, width, tolerance, random);
                    intervals_are_those_that_touch<double>(n, m, width, tolerance, random);
                }
}

TEST(single_items_are_placed) {
    Random random(25);
    for (Index width : {0, 1, 2, 9, 80})
        for (Index n_item : {0, 1, 50, 200}) {
            const Index per_interval = 1 + random.below(2);
            const double tolerance = 0.25 * static_cast<double>(random.below(2));
            RandomCuts cuts(3, width, tolerance, random);
            std::vector<std::int64_t> rows, guess, weight;
            std::vector<double> scores, errors;
            Padded<std::int32_t> counts = no_counts(3, width), wanted = no_counts(3, width);
            Padded<std::int64_t> result(3, n_item, 1);
            std::vector<Index> open;
            for (Index p = 0; p < n_item; ++p) {
                const Index row = random.below(3);
                const double score = 0.5 * static_cast<double>(random.below(8 * width + 4) - 4 * width),
                             error = random.below(2) == 0 ? 0 : 0.25;
                rows.push_back(row), guess.push_back(random.below(width + 4) - 2), weight.push_back(1 + random.below(3));
                scores.push_back(score), errors.push_back(error);
                Index low = 0, high = 0;
                while (low < width && score - error >= cuts.high.at(row, low)) ++low;
                while (high < width && score + error >= cuts.low.at(row, high)) ++high;
                if (low == high)
                    wanted.set(row, 2 * low, wanted.at(row, 2 * low) + static_cast<std::int32_t>(weight.back()));
                else if (tolerance == 0 && error == 0 && per_interval == 2)  // both are exact
                    wanted.set(row, 2 * low + 1, wanted.at(row, 2 * low + 1) + static_cast<std::int32_t>(weight.back()));
                else
                    open.push_back(p);
            }
            const Index n = undecided_loops().place_pairs({rows, guess, scores, errors, weight},
                                                          {cuts.low.view(), cuts.high.view(), counts.view()}, per_interval,
                                                          result.view());
            CHECK(n == static_cast<Index>(open.size()));
            for (Index q = 0; q < n; ++q) CHECK(result.at(0, q) == open[at(q)] && result.at(1, q) % per_interval == 0);
            CHECK(counts.numbers == wanted.numbers);
        }
}

TEST(rows_of_the_same_pattern) {
    Random random(26);
    for (Index dim : {0, 1, 63, 64, 65, 130})
        for (bool differences : {false, true}) {
            constexpr Index n = 3, m = 20, n_group = 4;
            const Index words = (dim + 63) / 64;
            Padded<float> left(n, dim, 0), right(m, dim, 1);
            for (Padded<float> *rows : {&left, &right})
                rows->fill([&] { return static_cast<float>(random.below(random.below(4) + 1)); });
            Padded<std::uint64_t> left_masks(n, LEVELS * words, 0), right_masks(m, LEVELS * words, 1);
            Padded<double> left_values(n, LEVELS, 0), right_values(m, LEVELS, 0);
            level_masks<float>(left.view(), left_masks.view(), left_values.view());
            level_masks<float>(right.view(), right_masks.view(), right_values.view());
            std::vector<std::int32_t> of_left(n), of_right(m), kind(m), result(n * n_group), weight(m, 2);
            for (auto *numbers : {&of_left, &of_right, &kind})
                for (std::int32_t &number : *numbers) number = static_cast<std::int32_t>(random.below(3)) - 1;
            const Patterns placed{left_masks.view(), right_masks.view(),   of_left, of_right, kind,
                                  differences,       random.below(2) == 0, LEVELS};
            std::vector<std::int64_t> rows, columns;
            for (Index p = 0; p < n * n_group; ++p) rows.push_back(p / n_group), columns.push_back(random.below(m));
            Padded<std::uint16_t> match_counts(n * n_group, MATCH_COUNTS, 0);
            pattern_loops().count_matches(placed, rows, columns, match_counts.view(), result);
            Padded<std::int32_t> opened(3, n * m, 1), counts = no_counts(n, n_group);
            for (Index p = 0; p < n * m; ++p) {
                const std::int32_t slot = static_cast<std::int32_t>(2 * random.below(n_group) + 1);
                opened.set(0, p, static_cast<std::int32_t>(p / m)), opened.set(1, p, static_cast<std::int32_t>(p % m));
                opened.set(2, p, slot);
            }
            std::vector<double> scores(n * m, 1.0);
            Padded<std::int32_t> without_scores = opened, counts_without = counts;
            const Matrix<const std::uint16_t> of_groups{match_counts.numbers.data(), n, n_group * MATCH_COUNTS,
                                                        n_group * MATCH_COUNTS};
            const Index n_left = pattern_loops().count_same_pattern(
                opened.view(), scores, placed, {of_groups, {result.data(), n, n_group, n_group}}, weight, counts.view());
            CHECK(n_left == pattern_loops().count_same_pattern(without_scores.view(), {}, placed,
                                                               {of_groups, {result.data(), n, n_group, n_group}}, weight,
                                                               counts_without.view()));
            CHECK(without_scores.numbers == opened.numbers && counts_without.numbers == counts.numbers);
            std::int32_t settled = 0;
            for (Index i = 0; i < n; ++i)
                for (Index slot = 0; slot <= 2 * n_group; ++slot) settled += counts.at(i, slot);
            CHECK(settled == 2 * (n * m - n_left));
            CHECK(counts.padding_is_untouched());
        }
}

}  // namespace
