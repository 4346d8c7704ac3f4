// Entries in order, and the groups and cuts that they make, compared with the same said entry by entry.
#include "ties/groups.h"

#include <algorithm>
#include <memory>

#include "check.h"

namespace {

using namespace deadheat;
using namespace deadheat::tests;

constexpr double INFINITE = std::numeric_limits<double>::infinity();

/// Flags in rows of exactly that length.
struct RandomFlags {
    RandomFlags(Index n, Index width) : rows(n), columns(width), numbers(std::make_unique<bool[]>(at(n * width))) {}
    Flags view() { return {numbers.get(), rows, columns, columns}; }
    Index rows, columns;
    std::unique_ptr<bool[]> numbers;
};

/// Entries of some rows, the last of which are padding; `exact` ones have no bound.
struct RandomEntries {
    RandomEntries(Index n, Index width, bool exact, Random &random)
        : columns(n, width, random.below(3)),
          count(n, width, random.below(3)),
          irrelevant(n, width, random.below(3)),
          order(n, width, random.below(3)),
          score(n, width, random.below(3)),
          bound(n, width, random.below(3)),
          starts(n, width) {
        for (Index i = 0; i < n; ++i) {
            const Index used = random.below(width + 1);
            std::vector<Index> places;
            for (Index j = 0; j < width; ++j) {
                columns.set(i, j, random.below(100));
                count.set(i, j, j < used ? 1 + random.below(2) : 0);
                irrelevant.set(i, j, random.below(2));
                score.set(i, j, j < used ? static_cast<double>(random.below(2 * width) - width) : INFINITE);
                bound.set(i, j, exact || j >= used ? 0.0 : 0.25 * static_cast<double>(random.below(4)));
                places.push_back(j);
            }
            std::stable_sort(places.begin(), places.end(),
                             [&](Index a, Index b) { return score.at(i, a) < score.at(i, b); });
            for (Index j = 0; j < width; ++j) order.set(i, j, places[at(j)]);
        }
    }
    Entries view() { return {columns.view(), count.view(), irrelevant.view(), score.view(), bound.view()}; }
    bool padding_is_untouched() const {
        return columns.padding_is_untouched() && count.padding_is_untouched() && irrelevant.padding_is_untouched() &&
               score.padding_is_untouched() && bound.padding_is_untouched();
    }

    Padded<std::int64_t> columns, count, irrelevant, order;
    Padded<double> score, bound;
    RandomFlags starts;
};

/// True if all scores from entry j on are surely above all before it.
bool surely_above(const RandomEntries &entries, Index i, Index j) {
    for (Index before = 0; before < j; ++before)
        for (Index after = j; after < entries.score.columns && entries.count.at(i, after) > 0; ++after)
            if (!(entries.score.at(i, before) + entries.bound.at(i, before) <
                  entries.score.at(i, after) - entries.bound.at(i, after)))
                return false;
    return true;
}

void entries_are_sorted(Index n, Index width, bool exact, Random &random) {
    RandomEntries entries(n, width, exact, random);
    const RandomEntries &seen = entries;
    const std::vector<double> before = entries.score.numbers;
    sort_rows(entries.order.view(), entries.view(), entries.starts.view());
    Padded<std::int64_t> runs(3, n * width / 2 + 1, 0), group(n, width, 1), first(n, width, 2);
    Padded<std::int32_t> total(n, width, 1);
    for (Index i = 0; i < n; ++i)
        for (Index j = 0; j < width; ++j) {
            CHECK(same(seen.score.at(i, j), before[at(i * seen.score.stride + seen.order.at(i, j))]));
            if (seen.count.at(i, j) > 0) CHECK(entries.starts.view()(i, j) == surely_above(seen, i, j));
            group.set(i, j, -1), first.set(i, j, -1), total.set(i, j, 0);
        }
    const Matrix<const bool> starts = entries.starts.view();
    const Index n_run = unsure_runs(starts, entries.count.view(), entries.bound.view(), runs.view());
    for (Index r = 0; r < n_run; ++r)
        for (Index j = runs.at(1, r); j < runs.at(2, r); ++j) CHECK(starts(runs.at(0, r), j) == (j == runs.at(1, r)));
    CHECK(entries.padding_is_untouched());
    number_groups(starts, entries.count.view(), group.view(), first.view(), total.view());
    for (Index i = 0; i < n; ++i) {
        std::int64_t in_groups = 0, in_entries = 0;
        for (Index j = 0; j < width; ++j) {
            in_groups += total.at(i, j), in_entries += seen.count.at(i, j);
            CHECK((group.at(i, j) < 0) == (seen.count.at(i, j) == 0));
            if (j > 0 && group.at(i, j) >= 0) CHECK(group.at(i, j) - group.at(i, j - 1) == starts(i, j));
        }
        CHECK(in_groups == in_entries);
    }
    CHECK(group.padding_is_untouched() && first.padding_is_untouched() && total.padding_is_untouched());
}

TEST(entries_in_order) {
    Random random(41);
    for (Index n : {0, 1, 2, 5})
        for (Index width : {0, 1, 2, 3, 7, 8, 9, 17, 33})
            for (bool exact : {false, true})
                for (int round = 0; round < 3; ++round) entries_are_sorted(n, width, exact, random);
}

void cuts_are_between_groups(Index n, Index width, bool one_bound, Random &random) {
    RandomEntries entries(n, width, false, random);
    const auto size = at(n);
    std::vector<std::int64_t> n_entry(size), n_group(size);
    std::vector<double> tolerance(size);
    const auto zeros = std::make_unique<bool[]>(size);
    single_items(entries.view(), n_entry, tolerance, {zeros.get(), size});
    Padded<double> low(n, width, 1), high(n, width, 2), bound(n, one_bound ? 1 : width, 0);
    for (Index i = 0; i < n; ++i) {
        const auto row = at(i);
        n_group[row] = random.below(width + 1);
        std::int64_t used = 0;
        for (Index j = 0; j < width; ++j) used += entries.count.at(i, j) > 0;
        CHECK(n_entry[row] == used);
        for (Index g = 0; g < bound.columns; ++g) bound.set(i, g, random.below(2) == 0 ? 0.0 : 0.5);
        for (Index j = 0; j < width; ++j)
            entries.score.set(i, j, static_cast<double>(j - width / 2) * (random.below(5) ? 1.0 : 0.5));
    }
    exact_cuts(entries.score.view(), bound.view(), n_group, low.view(), high.view());
    for (Index i = 0; i < n; ++i)
        for (Index g = 0; g < width; ++g) {
            const double value = entries.score.at(i, g), reached = bound.at(i, one_bound ? 0 : g);
            if (g >= n_group[at(i)])
                CHECK(low.at(i, g) == INFINITE && high.at(i, g) == INFINITE);
            else
                CHECK(low.at(i, g) <= value - reached && value + reached < high.at(i, g));
        }
    const std::vector<double> before = low.numbers;
    make_ascending(low.view(), high.view());
    for (Index i = 0; i < n; ++i)
        for (Index g = 0; g < width; ++g) {
            CHECK(low.at(i, g) <= before[at(i * low.stride + g)]);
            if (g > 0) CHECK(low.at(i, g - 1) <= low.at(i, g) && high.at(i, g - 1) <= high.at(i, g));
        }
    CHECK(low.padding_is_untouched() && high.padding_is_untouched());
    bool distinct = true;
    for (Index i = 0; i < n; ++i)
        for (Index j = 1; j < n_entry[at(i)]; ++j)
            distinct &= entries.score.at(i, j) - tolerance[at(i)] > entries.score.at(i, j - 1) + tolerance[at(i)];
    CHECK(all_distinct(entries.score.view(), tolerance, n_entry) == distinct);
}

TEST(cuts_of_groups) {
    Random random(42);
    for (Index n : {0, 1, 4})
        for (Index width : SIZES)
            for (bool one_bound : {false, true}) cuts_are_between_groups(n, width, one_bound, random);
}

}  // namespace
