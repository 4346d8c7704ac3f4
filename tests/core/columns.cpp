// Columns with what is relevant and what is junk in them, and tie groups from counts and from scores.
#include "counting/columns.h"

#ifndef _WIN32
#include <fcntl.h>
#include <unistd.h>
#endif

#include <algorithm>
#include <cstdio>
#include <memory>
#include <numeric>
#include <stdexcept>

#include "check.h"
#include "counting/groups.h"
#include "counting/scores.h"

namespace {

using namespace deadheat;
using namespace deadheat::tests;

/// Items in columns, with classes, and queries that may leave some of them out.
struct RandomItems {
    static constexpr Index N_CLASS = 3;

    RandomItems(Index n_query, Index n_column, Random &random)
        : junk(std::make_unique<bool[]>(at(n_query * 4 * n_column))), n_item(0) {
        starts.push_back(0);
        for (Index c = 0; c < n_column; ++c) {
            for (Index k = 1 + random.below(3); k > 0; --k)
                items.push_back(n_item++), classes.push_back(random.below(N_CLASS));
            starts.push_back(n_item), weight.push_back(static_cast<std::int32_t>(n_item - starts[at(c)]));
        }
        class_starts.push_back(0);
        for (Index number = 0; number < N_CLASS; ++number) {
            for (Index c = 0; c < n_column; ++c) {
                const auto n = std::count(classes.begin() + starts[at(c)], classes.begin() + starts[at(c + 1)], number);
                if (n > 0) keys.push_back(number * n_column + c), sizes.push_back(n);
            }
            class_starts.push_back(static_cast<Index>(keys.size()));
        }
        for (Index q = 0; q < n_query; ++q) {
            queries.push_back(n_query - 1 - q), of_query.push_back(random.below(N_CLASS + 1) - 1);
            for (Index item = 0; item < n_item; ++item) junk[at(q * n_item + item)] = random.below(3) == 0;
        }
    }
    bool is_junk(Index row, Index item) const { return junk[at(queries[at(row)] * n_item + item)]; }
    Junk left_out() const { return {queries, {junk.get(), static_cast<Index>(queries.size()), n_item, n_item}}; }

    std::unique_ptr<bool[]> junk;
    Index n_item;
    Integers items, classes, starts, class_starts, keys, sizes, queries, of_query;
    std::vector<std::int32_t> weight;
};

void columns_are_listed(Index n_query, Index n_column, Random &random) {
    const RandomItems all(n_query, n_column, random);
    Padded<std::int64_t> columns(n_query, n_column + 1, 1), count(n_query, n_column + 1, 2),
        others(n_query, n_column + 1, 0);
    const Entries entries{columns.view(), count.view(), others.view(), {}, {}};
    relevant_columns(all.of_query, {all.class_starts, all.keys, all.sizes}, all.weight, entries);
    const Integers nothing(at(n_query), -1);
    Integers rows, taken;
    const auto same_class = std::make_unique<bool[]>(at(n_query)), unlisted = std::make_unique<bool[]>(at(n_query));
    for (Index i = 0; i < n_query && n_column > 0; ++i) {
        const Index item = random.below(all.n_item);
        const Index column = std::upper_bound(all.starts.begin(), all.starts.end(), item) - all.starts.begin() - 1;
        rows.push_back(i), taken.push_back(column), same_class[at(i)] = all.classes[at(item)] == all.of_query[at(i)];
    }
    const std::size_t n = rows.size();
    const Integers before = count.numbers, others_before = others.numbers;
    take_out(rows, taken, {same_class.get(), n}, entries, {unlisted.get(), n});
    for (std::size_t p = 0; p < n; ++p) {
        bool is_listed = false;
        for (Index j = 0; j < columns.columns; ++j) is_listed |= columns.at(rows[p], j) == taken[p];
        CHECK(unlisted[p] == !is_listed);
    }
    count.numbers = before, others.numbers = others_before;
    take_out_junk(all.left_out(), nothing, all.of_query, all.classes, {all.starts, all.items}, entries);
    for (Index i = 0; i < n_query; ++i)
        for (Index j = 0; j < columns.columns; ++j) {
            std::int64_t relevant = 0, irrelevant = 0;
            const Index c = columns.at(i, j);
            for (Index item = 0; item < all.n_item && c < n_column; ++item)
                if (all.starts[at(c)] <= item && item < all.starts[at(c + 1)] && !all.is_junk(i, item))
                    ++(all.classes[at(item)] == all.of_query[at(i)] ? relevant : irrelevant);
            CHECK(count.at(i, j) == relevant && others.at(i, j) == irrelevant);
        }
    CHECK(columns.padding_is_untouched() && count.padding_is_untouched() && others.padding_is_untouched());
}

template <class T>
void junk_is_left_out(Index n_query, Index n_column, Random &random) {
    const RandomItems all(n_query, n_column, random);
    Padded<std::uint64_t> marked(n_query, (n_column + 63) / 64, 1);
    columns_of_junk(all.left_out(), {all.starts, all.items}, marked.view());
    const Index first = n_column > 0 ? random.below(n_column) : 0;  // of a tile that begins within a word
    Padded<T> tile(n_query, n_column - first, 2);
    for (Index i = 0; i < n_query; ++i)
        for (Index c = first; c < n_column; ++c) tile.set(i, c - first, T(c));
    leave_out<T>(marked.view(), first, tile.view());
    for (Index i = 0; i < n_query; ++i)
        for (Index c = first; c < n_column; ++c) {
            bool out = false;
            for (Index item = all.starts[at(c)]; item < all.starts[at(c + 1)]; ++item) out |= all.is_junk(i, item);
            CHECK(tile.at(i, c - first) == (out ? -std::numeric_limits<T>::infinity() : T(c)));
        }
    CHECK(tile.padding_is_untouched() && marked.padding_is_untouched());
}

void columns_are_expanded(Index n_query, Index n_column, Random &random) {
    const RandomItems all(n_query, n_column, random);
    Padded<std::int64_t> columns(n_query, n_column, 1), group(n_query, n_column, 0);
    Integers first = {0}, out;
    Index most = 0;
    for (Index i = 0; i < n_query; ++i) {
        Index number = 0, n_out = 0;
        for (Index c = n_column - 1; c >= 0; --c) {  // farthest first, and so the last group first
            columns.set(i, c, c), group.set(i, c, random.below(8) == 0 ? -1 : number);
            number += random.below(2);
        }
        for (Index item = 0; item < all.n_item; ++item)
            if (all.is_junk(i, item)) out.push_back(item), ++n_out;
        first.push_back(static_cast<Index>(out.size()));
        most = std::max(most, all.n_item - n_out);
    }
    Padded<std::int64_t> items(n_query, most, 1), numbers(n_query, most, 2);
    expand(columns.view(), group.view(), {all.starts, all.items}, {first, out}, items.view(), numbers.view());
    for (Index i = 0; i < n_query; ++i) {
        std::vector<std::pair<Index, Index>> wanted;
        for (Index c = 0; c < n_column; ++c)
            for (Index item = all.starts[at(c)]; item < all.starts[at(c + 1)]; ++item)
                if (group.at(i, c) >= 0 && !all.is_junk(i, item)) wanted.emplace_back(group.at(i, c), item);
        std::sort(wanted.begin(), wanted.end());
        for (std::size_t p = 0; p < wanted.size(); ++p)
            CHECK(numbers.at(i, static_cast<Index>(p)) == wanted[p].first &&
                  items.at(i, static_cast<Index>(p)) == wanted[p].second);
    }
    CHECK(items.padding_is_untouched() && numbers.padding_is_untouched());
}

TEST(columns_and_junk) {
    Random random(61);
    for (Index n_query : {0, 1, 2, 5})
        for (Index n_column : {0, 1, 2, 7, 8, 9, 33, 130}) {
            columns_are_listed(n_query, n_column, random);
            junk_is_left_out<float>(n_query, n_column, random);
            junk_is_left_out<double>(n_query, n_column, random);
            columns_are_expanded(n_query, n_column, random);
        }
}

TEST(items_are_taken_out_of_listed_columns) {
    Padded<std::int64_t> columns(1, 2, 0), count(1, 2, 0), irrelevant(1, 2, 0);
    Padded<double> score(1, 2, 0), bound(1, 2, 0);
    columns.numbers = {2, 5}, count.numbers = {1, 1}, irrelevant.numbers = {0, 3};
    const bool same_class[] = {true, true, false, true};
    bool unlisted[4] = {};
    take_out(Integers(4, 0), Integers{1, 2, 5, 9}, same_class,
             {columns.view(), count.view(), irrelevant.view(), score.view(), bound.view()}, unlisted);
    CHECK(unlisted[0] && !unlisted[1] && !unlisted[2] && unlisted[3]);
    CHECK(count.numbers == Integers({0, 1}) && irrelevant.numbers == Integers({0, 2}));
}

/// True if some work ends with a std::length_error.
template <class Work>
bool is_too_long(const Work &work) {
    try {
        work();
    } catch (const std::length_error &) {
        return true;
    }
    return false;
}

/// Return a file that takes no bytes, or −1 where there is none.
int full_file() {
#ifdef _WIN32
    return -1;
#else
    static const int file = open("/dev/full", O_WRONLY);
    return file;
#endif
}

/// In memory; in a file that takes no bytes, so that they go to memory after all; and where there is no room.
TEST(groups_are_packed) {
    const Integers lengths = {0, 3, 1}, queries = {2, 0, 1}, closer = {0, 5, 300, 1 << 30}, tied = {1, 140, 2, 1};
    const Integers relevant = {1, 130, 2, 1}, starts = {0, 45, 60, 60};
    for (int file : {-1, full_file()}) {
        std::vector<std::uint8_t> bytes(60);
        Integers of_queries[4], out[4];
        for (Integers &numbers : of_queries) numbers.resize(3);
        for (Integers &numbers : out) numbers.resize(closer.size());
        const PackedGroups packed{starts, bytes, of_queries[0], of_queries[1], of_queries[2], of_queries[3], file};
        pack_groups(packed, queries, lengths, closer, tied, relevant);
        unpack_groups(packed, queries, {out[0], out[1], out[2], out[3]});
        CHECK(out[0] == closer && out[1] == Integers({0, 1, 131, 0}) && out[2] == tied && out[3] == relevant);
        CHECK(of_queries[0] == Integers({3, 1, 0}) && of_queries[1] == Integers({133, 1, 0}));
        CHECK(of_queries[2] == Integers({1, 0, 0}) && of_queries[3] == Integers({140, 0, 0}));
        CHECK(is_too_long([&] { pack_groups(packed, queries, {lengths.data(), 2}, {closer.data(), 2}, tied, relevant); }));
        CHECK(is_too_long([&] { pack_groups(packed, queries, Integers{-1}, closer, tied, relevant); }));
        CHECK(is_too_long([&] { pack_groups(packed, Integers{2}, Integers{1}, closer, tied, relevant); }));
    }
}

#ifndef _WIN32
TEST(groups_are_written_into_a_file) {
    const std::unique_ptr<std::FILE, int (*)(std::FILE *)> file(std::tmpfile(), std::fclose);
    std::uint8_t byte = 0, untouched[15] = {};
    const Integers starts = {0, 15};
    Integers numbers(1);
    const PackedGroups packed{starts, untouched, numbers, numbers, numbers, numbers, fileno(file.get())};
    packed.put(0, std::vector<std::int32_t>{5}, {});
    CHECK(pread(packed.file, &byte, 1, 0) == 1 && byte == 10 && untouched[0] == 0);
}
#endif

TEST(groups_are_collected) {
    Random random(62);
    for (Index n_query : {0, 1, 4})
        for (Index width : {0, 1, 2, 9}) {
            const Index step = 2 * (1 + random.below(2)), lead = step / 2, n_slot = step * width + 1;
            Padded<std::int32_t> counts(n_query, n_slot, 1), relevant(n_query, width, 2);
            Integers queries, n_group, offsets = {0};
            for (Index i = 0; i < n_query; ++i) {
                queries.push_back(i), n_group.push_back(random.below(width + 1));
                offsets.push_back(offsets.back() + n_group.back());
                for (Index slot = 0; slot < n_slot; ++slot)
                    counts.set(i, slot, static_cast<std::int32_t>(random.below(random.below(9) > 0 ? 4 : 1 << 26)));
                for (Index g = 0; g < width; ++g) relevant.set(i, g, static_cast<std::int32_t>(1 + random.below(2)));
            }
            const std::size_t n = at(offsets.back());
            Integers closer(n), closer_relevant(n), tied(n), tied_relevant(n);
            Integers starts;
            for (std::int64_t offset : offsets) starts.push_back(15 * offset);
            std::vector<std::uint8_t> bytes(15 * n);
            Integers of_queries[4];
            for (Integers &counted : of_queries) counted.resize(at(n_query));
            const PackedGroups packed{starts, bytes, of_queries[0], of_queries[1], of_queries[2], of_queries[3], -1};
            collect_groups(queries, n_group, relevant.view(), {counts.view(), counts.view(), step, lead}, packed);
            unpack_groups(packed, queries, {closer, closer_relevant, tied, tied_relevant});
            for (Index i = 0; i < n_query; ++i)
                for (Index g = 0; g < n_group[at(i)]; ++g) {
                    const std::size_t position = at(offsets[at(i)] + n_group[at(i)] - 1 - g);
                    std::int64_t above = 0, seen = 0, others = 0;
                    for (Index slot = step * g + 1; slot < n_slot; ++slot)
                        (slot > step * g + lead ? above : others) += counts.at(i, slot);
                    for (Index other = g + 1; other < n_group[at(i)]; ++other) seen += relevant.at(i, other);
                    CHECK(closer[position] == above + seen && closer_relevant[position] == seen);
                    CHECK(tied[position] == others + relevant.at(i, g));
                    CHECK(tied_relevant[position] == relevant.at(i, g));
                }
        }
}

TEST(scores_are_counted) {
    Random random(63);
    constexpr std::int64_t FAR[] = {std::numeric_limits<std::int64_t>::min(), -1, 0, 1,
                                    std::numeric_limits<std::int64_t>::max()};
    const Integers values = {1, 2};
    for (Index n : {0, 1, 3})
        for (Index width : SIZES)
            for (bool far : {false, true}) {
                Padded<std::int64_t> keys(n, width, 1), grades(n, width, 2);
                std::vector<Integers> wanted;
                Integers n_group(at(n)), n_ranked(at(n));
                for (Index i = 0; i < n; ++i) {
                    Integers of_row, graded;
                    for (Index j = 0; j < width; ++j) {
                        of_row.push_back(far ? FAR[random.below(5)] : random.below(width));
                        graded.push_back(random.below(4) - 1);
                        keys.set(i, j, of_row.back()), grades.set(i, j, graded.back());
                    }
                    for (const Integers &group : groups_of(of_row, graded)) wanted.push_back(group);
                }
                Padded<std::int64_t> groups(n * width, 4, 0), by_grade(n * width, 2, 0);
                for (auto *matrix : {&groups, &by_grade}) matrix->fill([] { return 0; });
                const Index result =
                    count_groups(keys.view(), grades.view(), values, {n_group, n_ranked, groups.view(), by_grade.view()});
                CHECK(result == static_cast<Index>(wanted.size()));
                for (Index g = 0; g < result; ++g) {
                    for (Index k = 0; k < 4; ++k) CHECK(groups.at(g, k) == wanted[at(g)][at(k)]);
                    CHECK(by_grade.at(g, 0) + by_grade.at(g, 1) == groups.at(g, 3));
                }
            }
}

TEST(small_groups_are_ranked) {
    Random random(64);
    for (Index n : {0, 1, 2, 5, 9, 17})
        for (int round = 0; round < 5; ++round) {
            Padded<double> scores(n, n, 1), bounds(n, n, 0);
            const Index n_score = round % 2 == 0 ? 5 : 1000;  // so that nothing ties in some rows
            Integers columns, classes;
            for (Index i = 0; i < n; ++i) {
                columns.push_back(i), classes.push_back(random.below(2));
                for (Index j = 0; j < n; ++j)
                    scores.set(i, j, static_cast<double>(random.below(n_score))), bounds.set(i, j, 0);
            }
            Integers starts = {0}, of_queries[4], arrays[4];
            for (Index i = 0; i < n; ++i) starts.push_back(15 * n * (i + 1));
            for (Integers &counted : of_queries) counted.resize(at(n));
            std::vector<std::uint8_t> bytes(at(15 * n * n));
            const PackedGroups packed{starts, bytes, of_queries[0], of_queries[1], of_queries[2], of_queries[3], -1};
            const auto ranked = [&](Padded<double> &by, Padded<double> &off, const Integers &in_columns) {
                std::vector<double> most;
                for (Index i = 0; i < n; ++i) most.push_back(*std::max_element(off.view().row(i), off.view().row(i) + n));
                const auto each = [&](Index i) { return std::vector<double>(off.view().row(i), off.view().row(i) + n); };
                if (!rank_group({by.view(), most, each, in_columns, classes}, 0, packed)) return Index{-1};
                const Index total = std::accumulate(of_queries[0].begin(), of_queries[0].end(), Index{0});
                for (Integers &array : arrays) array.resize(at(total));
                unpack_groups(packed, columns, {arrays[0], arrays[1], arrays[2], arrays[3]});
                return total;
            };
            const Index result = ranked(scores, bounds, columns);
            Index g = 0;
            for (Index i = 0; i < n; ++i) {
                Integers keys, graded;
                for (Index j = 0; j < n; ++j)
                    if (j != i)
                        keys.push_back(static_cast<std::int64_t>(scores.at(i, j))),
                            graded.push_back(classes[at(j)] == classes[at(i)]);
                for (const Integers &group : groups_of(keys, graded)) {
                    for (Index k = 0; k < 4; ++k) CHECK(arrays[k][at(g)] == group[at(k)]);
                    ++g;
                }
            }
            CHECK(result == g);
            const auto of_class = [&](std::int64_t own) { return std::count(classes.begin(), classes.end(), own); };
            if (n > 2) {  // where no item is relevant, none is undecided
                bounds.set(0, 1, 1000);
                const Index undecided = ranked(scores, bounds, columns);
                CHECK((undecided == -1) == (of_class(classes[0]) > 1));
            }
            // items of one column have one score, and tie however large its bound is
            Padded<double> same(n, n, 1);
            for (Index i = 0; i < n; ++i)
                for (Index j = 0; j < n; ++j) same.set(i, j, 2);
            const Index several = (of_class(1) > 1 ? of_class(1) : 0) + (of_class(0) > 1 ? of_class(0) : 0);
            CHECK(ranked(same, same, Integers(at(n))) == several);
        }
}

}  // namespace
