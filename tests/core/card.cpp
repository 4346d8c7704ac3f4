// The counting kernel of a card, as plain C++: its threads are threads here, which ThreadSanitizer sees.
#include "cuda_on_host.h"

#include "../../src/deadheat/engine/counting/card/count.cu"

#include <algorithm>
#include <array>
#include <set>

#include "check.h"

namespace deadheat::tests {
namespace {

/// Rows of scores between edges that ascend, with a few scores on edges and a few that are left out.
struct Example {
    int n_row, n_column, n_edge;
    std::vector<double> scores, edges;
    std::vector<int> weight;

    Example(int rows, int columns, int some_edges, Random &random) : n_row(rows), n_column(columns), n_edge(some_edges) {
        for (int k = 0; k < n_row * n_edge; ++k) edges.push_back(static_cast<double>(random.below(40)) / 8);
        for (int row = 0; row < n_row; ++row) std::sort(edges.begin() + row * n_edge, edges.begin() + (row + 1) * n_edge);
        for (int row = 0; row < n_row; ++row)
            if (random.below(3) == 0) edges[static_cast<std::size_t>((row + 1) * n_edge - 1)] = INFINITE;
        for (int k = 0; k < n_row * n_column; ++k)
            scores.push_back(random.below(9) == 0 ? -INFINITE : static_cast<double>(random.below(90)) / 16 - 0.2);
        for (int k = 0; k < n_column; ++k) weight.push_back(static_cast<int>(random.below(4)));
    }

    int slot(int row, int column) const {
        const auto begin = edges.begin() + row * n_edge, end = begin + n_edge;
        return static_cast<int>(std::upper_bound(begin, end, scores[static_cast<std::size_t>(row * n_column + column)]) -
                                begin);
    }

    static constexpr double INFINITE = std::numeric_limits<double>::infinity();
};

void compare(const Example &example, bool openable, bool weighed, int room, int n_thread) {
    const int n_slot = example.n_edge + 1;
    std::vector<int> counts(static_cast<std::size_t>(example.n_row * n_slot), -7), wanted(counts.size());
    std::vector<int> result(static_cast<std::size_t>(1 + 3 * room));
    std::set<std::array<int, 3>> open, listed;
    for (int row = 0; row < example.n_row; ++row)
        for (int column = 0; column < example.n_column; ++column) {
            const int slot = example.slot(row, column);
            if (openable && slot % 2 == 1)
                open.insert({row, column, slot});
            else if (slot > 0)
                wanted[static_cast<std::size_t>(row * n_slot + slot)] +=
                    weighed ? example.weight[static_cast<std::size_t>(column)] : 1;
        }
    launch(count_rows, example.n_row, n_thread, example.scores.data(), example.edges.data(),
           weighed ? example.weight.data() : nullptr, example.n_column, example.n_edge, openable ? 1 : 0, room,
           counts.data(), result.data());
    CHECK(counts == wanted);
    CHECK(result[0] == static_cast<int>(open.size()));
    for (std::size_t p = 0; p < std::min(open.size(), static_cast<std::size_t>(room)); ++p)
        listed.insert({result[3 * p + 1], result[3 * p + 2], result[3 * p + 3]});
    CHECK(listed.size() == std::min(open.size(), static_cast<std::size_t>(room)));
    CHECK(std::includes(open.begin(), open.end(), listed.begin(), listed.end()));
}

}  // namespace

TEST(card_counts_what_is_between_edges) {
    Random random(1);
    for (const int n_edge : {1, 2, 3, 4, 7, 8, 16, 31})
        for (const int n_thread : {1, 2, 5}) {
            const Example example(1 + static_cast<int>(random.below(4)), 1 + static_cast<int>(random.below(70)), n_edge,
                                  random);
            for (const int room : {0, 1, 300})
                for (const bool weighed : {false, true}) compare(example, true, weighed, room, n_thread);
            compare(example, false, true, 0, n_thread);
        }
}

}  // namespace deadheat::tests
