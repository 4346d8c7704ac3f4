// Measures of small profiles, compared with every order of their tie groups, measured as it is defined.
#include <algorithm>
#include <cmath>
#include <functional>

#include "check.h"
#include "measures/measures.h"

namespace {

using namespace deadheat;
using namespace deadheat::tests;

using Ranking = std::vector<int>;  // the grade of each item, nearest first; 0 is irrelevant
using Value = std::function<double(const Ranking &, Index relevant, Index last)>;
using Fill = std::function<void(const Profile &, const Grades &, std::int64_t cutoff, Matrix<double> out)>;

constexpr Index N_GRADE = 2;
const std::vector<double> GAINS = {1.0, 3.0};

/// A profile of some queries, with at most so many items in a group.
struct RandomProfile {
    RandomProfile(Index n_query, Index n_group, Index size, bool plain, Random &random)
        : by_grade(n_query * n_group, N_GRADE, 1), of_query(n_query, N_GRADE, 0) {
        for (Index query = 0; query < n_query; ++query) {
            std::int64_t seen = 0, seen_relevant = 0;
            std::vector<Ranking> ranking;
            std::int64_t counts[N_GRADE] = {};
            for (Index g = random.below(n_group + 1); g > 0; --g) {
                Ranking group;
                for (Index k = plain ? size - 1 : random.below(size); k >= 0; --k)
                    group.push_back(plain && size == 1 ? 1 : static_cast<int>(random.below(3)));
                std::sort(group.begin(), group.end());
                ranking.push_back(group);
                const auto all = static_cast<std::int64_t>(group.size());
                const std::int64_t relevant = all - std::count(group.begin(), group.end(), 0);
                if (relevant > 0) {
                    const auto position = static_cast<Index>(closer.size());
                    closer.push_back(seen), closer_relevant.push_back(seen_relevant);
                    tied.push_back(all), tied_relevant.push_back(relevant);
                    for (Index grade = 0; grade < N_GRADE; ++grade) {
                        const auto n = std::count(group.begin(), group.end(), static_cast<int>(grade + 1));
                        by_grade.set(position, grade, n), counts[grade] += n;
                    }
                }
                seen += all, seen_relevant += relevant;
            }
            const Index missing = random.below(4) == 0 ? random.below(3) : 0;
            counts[0] += missing;
            for (Index grade = 0; grade < N_GRADE; ++grade) of_query.set(query, grade, counts[grade]);
            offsets.push_back(static_cast<std::int64_t>(closer.size()));
            n_ranked.push_back(seen), n_relevant.push_back(seen_relevant + missing);
            rankings.push_back(ranking);
        }
    }
    Profile groups() const { return {offsets, closer, closer_relevant, tied, tied_relevant, n_ranked, n_relevant}; }
    Grades grades() { return {by_grade.view(), of_query.view(), GAINS}; }

    Padded<std::int64_t> by_grade, of_query;
    std::vector<std::int64_t> offsets = {0}, closer, closer_relevant, tied, tied_relevant, n_ranked, n_relevant;
    std::vector<std::vector<Ranking>> rankings;  // group by group
};

/// Calls a function with each order of the groups from `next` on, all of which are equally likely.
void each_order(std::vector<Ranking> groups, std::size_t next, Ranking before, const std::function<void(Ranking)> &take) {
    if (next == groups.size()) return take(before);
    do {
        Ranking longer = before;
        longer.insert(longer.end(), groups[next].begin(), groups[next].end());
        each_order(groups, next + 1, longer, take);
    } while (std::next_permutation(groups[next].begin(), groups[next].end()));
}

bool close(double a, double b) { return (std::isnan(a) && std::isnan(b)) || std::abs(a - b) <= 1e-13; }

/// Looks at all three values, or where `ends` only at the lower and the upper one, whose mean a loop may leave open.
void is_as_defined(const Fill &fill, const Value &value, bool ends, Random &random) {
    for (Index n_query : {0, 1, 5})
        for (std::int64_t cutoff : {0, 1, 2, 3, 5, 100}) {
            RandomProfile profile(n_query, 3, 4, false, random);
            Padded<double> out(3, n_query, 2);
            fill(profile.groups(), profile.grades(), cutoff, out.view());
            CHECK(out.padding_is_untouched());
            for (Index query = 0; query < n_query; ++query) {
                const auto at = static_cast<std::size_t>(query);
                double lower = 1e9, upper = -1e9, sum = 0, n = 0;
                const Index relevant = profile.n_relevant[at], last = cutoff == 0 ? relevant : cutoff;
                each_order(profile.rankings[at], 0, {}, [&](const Ranking &ranking) {
                    const double one = relevant == 0 ? std::nan("") : value(ranking, relevant, last);
                    lower = std::isnan(one) ? one : std::min(lower, one);
                    upper = std::isnan(one) ? one : std::max(upper, one);
                    sum += one, n += 1;
                });
                CHECK(close(out.at(0, query), lower) && close(out.at(2, query), upper));
                CHECK(ends || close(out.at(1, query), sum / n));
            }
        }
}

double discount(std::size_t rank) { return 1 / std::log2(static_cast<double>(rank + 1)); }

double average_precision(const Ranking &ranking, Index relevant, Index last) {
    double seen = 0, sum = 0;
    for (std::size_t k = 0; k < std::min(ranking.size(), static_cast<std::size_t>(last)); ++k)
        if (ranking[k] > 0) sum += ++seen / static_cast<double>(k + 1);
    return sum / static_cast<double>(relevant);
}

double hit_count(const Ranking &ranking, Index last) {
    double n = 0;
    for (std::size_t k = 0; k < std::min(ranking.size(), static_cast<std::size_t>(last)); ++k) n += ranking[k] > 0;
    return n;
}

double discounted(const Ranking &ranking, Index last) {
    double sum = 0;
    for (std::size_t k = 0; k < std::min(ranking.size(), static_cast<std::size_t>(last)); ++k)
        if (ranking[k] > 0) sum += GAINS[static_cast<std::size_t>(ranking[k] - 1)] * discount(k + 1);
    return sum;
}

struct Table {
    explicit Table(Index size)
        : numbers(static_cast<std::size_t>(size)),
          high(static_cast<std::size_t>(size / DISCOUNT_BLOCK + 1)),
          low(high.size()) {
        for (Index first = 0; first < size; first += 2 * DISCOUNT_BLOCK)
            fill_discounts(first, std::min(first + 2 * DISCOUNT_BLOCK, size - 1), {numbers, high, low});
    }
    DiscountTable view() const { return {numbers, high, low}; }
    std::vector<double> numbers, high, low;
};

TEST(discounts_are_as_defined) {
    for (Index size : {1, 2, 64, 128, 1024}) {
        const Table table(size);
        for (std::size_t rank = 1; rank < table.numbers.size(); ++rank) CHECK(close(table.numbers[rank], discount(rank)));
    }
}

TEST(measures_are_as_defined) {
    Random random(51);
    is_as_defined([](const Profile &groups, const Grades &, std::int64_t cutoff,
                     Matrix<double> out) { average_precisions({0, out.columns}, groups, cutoff, out); },
                  average_precision, false, random);
    is_as_defined([](const Profile &groups, const Grades &, std::int64_t cutoff,
                     Matrix<double> out) { hits({0, out.columns}, groups, cutoff, {2.0, 3.0, 1.0}, out); },
                  [](const Ranking &ranking, Index relevant, Index last) {
                      return 2 * hit_count(ranking, last) / (3 + static_cast<double>(relevant));
                  },
                  false, random);
    is_as_defined([](const Profile &groups, const Grades &, std::int64_t cutoff,
                     Matrix<double> out) { first_hits({0, out.columns}, groups, cutoff, true, out); },
                  [](const Ranking &ranking, Index, Index last) {
                      const auto first = std::find_if(ranking.begin(), ranking.end(), [](int grade) { return grade > 0; });
                      const auto rank = first - ranking.begin() + 1;
                      return first == ranking.end() || rank > last ? 0.0 : 1 / static_cast<double>(rank);
                  },
                  true, random);
}

TEST(discounted_gain_is_as_defined) {
    Random random(52);
    const Table table(128);
    for (Index n_query : {0, 1, 5})
        for (std::int64_t cutoff : {1, 2, 5, 100}) {
            RandomProfile profile(n_query, 3, 4, false, random);
            Padded<double> out(3, n_query, 2);
            discounted_gains({0, n_query}, profile.groups(), cutoff, profile.grades(), table.view(), out.view());
            std::vector<double> ideal(static_cast<std::size_t>(n_query));
            const std::vector<std::int64_t> cutoffs(ideal.size(), std::min<std::int64_t>(cutoff, 20));
            ideal_gains(profile.of_query.view(), GAINS, cutoffs, table.view(), ideal);
            for (Index query = 0; query < n_query; ++query) {
                const auto at = static_cast<std::size_t>(query);
                Ranking best(static_cast<std::size_t>(profile.of_query.at(query, 1)), 2);
                best.insert(best.end(), static_cast<std::size_t>(profile.of_query.at(query, 0)), 1);
                const double most = discounted(best, cutoff);
                CHECK(close(ideal[at], most));
                double lower = 1e9, upper = -1e9, sum = 0, n = 0;
                each_order(profile.rankings[at], 0, {}, [&](const Ranking &ranking) {
                    const double one = most == 0 ? std::nan("") : discounted(ranking, cutoff) / most;
                    lower = most == 0 ? one : std::min(lower, one), upper = most == 0 ? one : std::max(upper, one);
                    sum += one, n += 1;
                });
                CHECK(close(out.at(0, query), lower) && close(out.at(1, query), sum / n) && close(out.at(2, query), upper));
            }
            CHECK(out.padding_is_untouched());
        }
}

/// Long groups, and runs of single ones, which loops take together; the values must be in order.
TEST(measures_of_long_profiles_are_in_order) {
    Random random(53);
    const Table table(1 << 14);
    for (Index size : {1, 2, 65, 300})
        for (Index n_group : {0, 1, 15, 16, 17, 33})
            for (std::int64_t cutoff : {0, 1, 16, 1000, 1 << 20}) {
                constexpr Index n_query = 3;
                RandomProfile profile(n_query, n_group, size, true, random);
                Padded<double> out(3, n_query, 1);
                const Profile groups = profile.groups();
                const auto check = [&] {
                    for (Index query = 0; query < n_query; ++query)
                        CHECK(!(out.at(0, query) > out.at(1, query)) && !(out.at(1, query) > out.at(2, query)) &&
                              !(out.at(2, query) > 1 + 1e-15));
                    CHECK(out.padding_is_untouched());
                };
                average_precisions({0, n_query}, groups, cutoff, out.view()), check();
                hits({0, n_query}, groups, cutoff, {1.0, 0.0, 1.0}, out.view());
                first_hits({0, n_query}, groups, cutoff, false, out.view()), check();
                inverse_penalties({0, n_query}, groups, out.view()), check();
                areas({0, n_query}, groups, out.view()), check();
                if (cutoff > 0)
                    discounted_gains({0, n_query}, groups, cutoff, profile.grades(), table.view(), out.view()), check();
            }
}

/// Groups by themselves: variances, compared with those of all orders.
TEST(single_groups_are_as_defined) {
    const Table table(128);
    std::vector<std::int64_t> k, n, size, m, slots;
    std::vector<double> deviation, variance, first;
    for (int t = 2; t <= 6; ++t)
        for (int relevant = 1; relevant < t; ++relevant)
            for (int within = 1; within <= t; ++within)
                for (int closer : {0, 3}) {
                    k.push_back(closer), n.push_back(closer / 2), size.push_back(t), m.push_back(relevant);
                    slots.push_back(within);
                    double mean = 0, total = 0, sum = 0, squares = 0, orders = 0, reciprocal = 0;
                    for (int s = 1; s <= within; ++s) mean += table.numbers[static_cast<std::size_t>(closer + s)] / t;
                    for (int s = 1; s <= t; ++s) {
                        const double d = s <= within ? table.numbers[static_cast<std::size_t>(closer + s)] : 0;
                        total += (d - mean) * (d - mean);
                    }
                    Ranking order(static_cast<std::size_t>(t - relevant), 0);
                    order.insert(order.end(), static_cast<std::size_t>(relevant), 1);
                    each_order({order}, 0, {}, [&](const Ranking &ranking) {
                        double seen = closer / 2, one = 0;
                        int at = 0, front = 0;
                        for (int grade : ranking) {
                            ++at;
                            if (grade == 0) continue;
                            if (front == 0) front = at;
                            ++seen;
                            if (at <= within) one += seen / (closer + at);
                        }
                        sum += one, squares += one * one, orders += 1;
                        if (front <= within) reciprocal += 1.0 / (closer + front);
                    });
                    deviation.push_back(total), first.push_back(reciprocal / orders);
                    variance.push_back(squares / orders - (sum / orders) * (sum / orders));
                }
    std::vector<double> out(k.size());
    const std::vector<double> shift(k.size(), 0.0);
    const auto is = [&](const std::vector<double> &wanted) {
        for (std::size_t g = 0; g < out.size(); ++g) CHECK(close(out[g], wanted[g]));
    };
    discount_deviations(k, size, slots, table.numbers, out), is(deviation);
    precision_variances(k, n, size, m, slots, out), is(variance);
    first_last_hit_loops().slot_expectations({k, size, m, slots}, {1, false, false}, shift, out), is(first);
}

/// Groups of one item up to `last_rank`, and one at `odd` that is two.
void single_items_are_accumulated(Index n, Index odd, std::int64_t last_rank, Random &random) {
    std::vector<std::int64_t> closer, relevant, tied(at(n), 1);
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
