// Loops of measures on random profiles: values are in order, sums of single items have the bits of plain ones. The values
// themselves are compared with every order of the ties in tests/measures.
#include "measures/measures.h"

#include <cmath>

#include "check.h"

namespace {

using namespace deadheat;
using namespace deadheat::tests;

constexpr Index N_GRADE = 2;
const std::vector<double> GAINS = {1.0, 3.0};

/// A profile of some queries, with so many items in each group, of random grades; a group of one item is relevant.
struct RandomProfile {
    RandomProfile(Index n_query, Index n_group, Index size, Random &random)
        : by_grade(n_query * n_group, N_GRADE, 1), of_query(n_query, N_GRADE, 0) {
        by_grade.fill([] { return 0; }), of_query.fill([] { return 0; });
        for (Index query = 0; query < n_query; ++query) {
            std::int64_t seen = 0, seen_relevant = 0;
            for (Index g = random.below(n_group + 1); g > 0; --g) {
                const Index position = std::ssize(closer);
                std::int64_t relevant = 0;
                for (Index k = 0; k < size; ++k) {
                    const Index grade = size == 1 ? random.below(2) : random.below(3) - 1;
                    if (grade < 0) continue;
                    by_grade.set(position, grade, by_grade.at(position, grade) + 1), ++relevant;
                    of_query.set(query, grade, of_query.at(query, grade) + 1);
                }
                if (relevant > 0) {
                    closer.push_back(seen), closer_relevant.push_back(seen_relevant);
                    tied.push_back(size), tied_relevant.push_back(relevant);
                }
                seen += size, seen_relevant += relevant;
            }
            const Index missing = random.below(4) == 0 ? random.below(3) : 0;
            of_query.set(query, 0, of_query.at(query, 0) + missing);
            offsets.push_back(std::ssize(closer));
            n_ranked.push_back(seen), n_relevant.push_back(seen_relevant + missing);
        }
    }
    Profile groups() const { return {offsets, closer, closer_relevant, tied, tied_relevant, n_ranked, n_relevant}; }
    Grades grades() { return {by_grade.view(), of_query.view(), GAINS}; }

    Padded<std::int64_t> by_grade, of_query;
    Integers offsets = {0}, closer, closer_relevant, tied, tied_relevant, n_ranked, n_relevant;
};

struct Table {
    explicit Table(Index size) : numbers(at(size)), high(at(size / DISCOUNT_BLOCK + 1)), low(high.size()) {
        for (Index first = 0; first < size; first += 2 * DISCOUNT_BLOCK)
            fill_discounts(first, std::min(first + 2 * DISCOUNT_BLOCK, size - 1), {numbers, high, low});
    }
    DiscountTable view() const { return {numbers, high, low}; }
    std::vector<double> numbers, high, low;
};

TEST(discounts_are_as_defined) {
    for (Index size : {1, 2, 64, 128, 1024}) {
        const Table table(size);
        for (std::size_t rank = 1; rank < table.numbers.size(); ++rank)
            CHECK(std::abs(table.numbers[rank] - 1 / std::log2(static_cast<double>(rank + 1))) <= 1e-13);
    }
}

/// Long groups, and runs of single ones, which loops take together.
TEST(measures_are_in_order) {
    Random random(53);
    const Table table(1 << 14);
    for (Index size : {1, 2, 4, 65, 300})
        for (Index n_group : {0, 1, 15, 16, 17, 33})
            for (std::int64_t cutoff : {0, 1, 3, 16, 1000, 1 << 20}) {
                constexpr Index n_query = 3;
                RandomProfile profile(n_query, n_group, size, random);
                Padded<double> out(3, n_query, 1);
                const Profile groups = profile.groups();
                const auto check = [&](double most) {
                    for (Index query = 0; query < n_query; ++query)
                        CHECK(!(out.at(0, query) > out.at(1, query)) && !(out.at(1, query) > out.at(2, query)) &&
                              !(out.at(2, query) > most));
                    CHECK(out.padding_is_untouched());
                };
                constexpr double ONE = 1 + 1e-15;
                average_precisions({0, n_query}, groups, cutoff, out.view()), check(ONE);
                hits({0, n_query}, groups, cutoff, {1.0, 0.0, 1.0}, out.view()), check(ONE);
                hits({0, n_query}, groups, cutoff, {2.0, 3.0, 1.0}, out.view()), check(2);
                first_hits({0, n_query}, groups, cutoff, cutoff > 3, out.view()), check(ONE);
                inverse_penalties({0, n_query}, groups, out.view()), check(ONE);
                areas({0, n_query}, groups, out.view()), check(ONE);
                if (cutoff == 0) continue;
                discounted_gains({0, n_query}, groups, cutoff, profile.grades(), table.view(), out.view()), check(1);
                std::vector<double> ideal(n_query);
                const Integers cutoffs(ideal.size(), std::min<std::int64_t>(cutoff, 20));
                ideal_gains(profile.of_query.view(), GAINS, cutoffs, table.view(), ideal);
                for (double gain : ideal) CHECK(0 <= gain && gain <= 3 * 20);
            }
}

TEST(moments_of_single_groups) {
    const Table table(128);
    Integers k, n, size, m, slots;
    for (int t = 2; t <= 6; ++t)
        for (int relevant = 1; relevant < t; ++relevant)
            for (int within = 1; within <= t; ++within)
                for (int closer : {0, 3})
                    k.push_back(closer), n.push_back(closer / 2), size.push_back(t), m.push_back(relevant),
                        slots.push_back(within);
    std::vector<double> out(k.size()), mean(k.size());
    const std::vector<double> shift(k.size(), 0.0);
    const auto check = [&](double most) {
        for (double value : out) CHECK(0 <= value && value <= most);
    };
    discount_deviations(k, size, slots, table.numbers, out), check(6);
    precision_variances(k, n, size, m, slots, out), check(36);
    reciprocal_moments(k, size, slots, mean, out), check(1);
    for (SlotFunction function : {SlotFunction{1, false, false}, {-1, true, false}, {0, false, true}})
        first_last_hit_loops().slot_expectations({k, size, m, slots}, function, shift, out), check(1);
}

/// Groups of one item up to `last_rank`, and one at `odd` that is two.
void single_items_are_accumulated(Index n, Index odd, std::int64_t last_rank, Random &random) {
    Integers closer, relevant, tied(at(n), 1);
    for (Index g = 0; g < n; ++g) {
        closer.push_back(g == 0 ? 0 : closer.back() + 1 + random.below(3));
        relevant.push_back(g);
    }
    if (odd < n) tied[at(odd)] = 2;
    const Profile groups{{}, closer, relevant, tied, {}, {}, {}};
    DoubleDouble sum{0.1, 1e-20}, wanted = sum;
    const std::int64_t next = average_precision_loops().add_single_items(groups, 0, n, last_rank, sum);
    CHECK(next <= std::min(n, odd));
    for (std::int64_t g = 0; g < next; ++g) {
        CHECK(closer[at(g)] < last_rank);
        wanted.accumulate(static_cast<double>(g + 1) / static_cast<double>(closer[at(g)] + 1));
    }
    CHECK(same(sum.high, wanted.high) && same(sum.low, wanted.low));
    if (n >= 64 && odd == n && last_rank > 4 * n) CHECK(next > n - 64);
}

TEST(single_items) {
    Random random(17);
    for (Index n : SIZES)
        for (Index odd : {n, n / 2})
            for (std::int64_t last_rank : {std::int64_t{1} << 62, std::int64_t{40}, std::int64_t{1}})
                single_items_are_accumulated(n, odd, last_rank, random);
}

}  // namespace
