// The counting pass as a whole, with one thread and more, compared with counting all pairs of rows of small integers.
#include "pass/pass.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <numeric>
#include <set>
#include <stdexcept>
#include <thread>

#include "check.h"
#include "counting/groups.h"

namespace {

using namespace deadheat;
using namespace deadheat::tests;

constexpr double INFINITE = std::numeric_limits<double>::infinity();

/// The settings of a pass: what scores are known to, where rows are, what is junk, and how the work is cut up.
struct Setting {
    KeyKind kind = KeyKind::product;
    bool exact = false;    // whether scores of the one level are exact; else of two that leave neighbours open
    double open = 0.75;    // as far as scores of these may be off
    bool read = false;     // whether rows are read, by many threads, and not in memory
    bool junk = false;     // whether some pairs are junk
    bool mirrored = true;  // whether tiles are counted for both of their sides
    bool streamed = false;
    bool far = false;  // whether nearly all classes are far from each other, for the int8 filter
    Index block = 50;
    int threads = 1;
    bool twice = false;  // whether the same is asked for from another thread at the same time
};

/// Leave one out of rows of small integers, whose products and squares are exact in any type.
struct Data {
    Data(Index n, Index dim, Index n_class, Index tolerance, const Setting &setting_, Random &random)
        : setting(setting_), rows(n, dim, 0) {
        for (float &number : rows.numbers) number = static_cast<float>(random.below(2 * tolerance + 1) - tolerance);
        for (Index i = 0; i < n; ++i) classes.push_back(i * n_class / n);
        for (Index i = 0; i < n && setting.far; ++i)
            for (Index k = 0; k < dim && i % 61 != 7; ++k)
                rows.numbers[at(i * rows.stride + k)] += (classes[at(i)] * 7919 + k * k * 104729) % 61 < 30 ? 20.0F : -20.0F;
        for (Index i = 0; i < n; ++i)
            for (Index k = 0; k < dim; ++k) squares.resize(at(i + 1)), squares[at(i)] += key_of(i, k) * key_of(i, k);
        for (float number : rows.numbers) wide.push_back(number);
        every.resize(at(n));
        std::iota(every.begin(), every.end(), 0);
        junk = std::make_unique<bool[]>(at(n * n));
        for (Index p = 0; p < n * n; ++p) junk[at(p)] = setting.junk && random.below(5) == 0;
        starts.push_back(0);
        for (Index c = 0; c < n_class; ++c) {
            for (Index i = 0; i < n; ++i)
                if (classes[at(i)] == c) keys.push_back(c * n + i);
            starts.push_back(static_cast<std::int64_t>(keys.size()));
        }
        ones.assign(at(n), 1.0), zeros.assign(at(n), 0.0), weight.assign(at(n), 1), count.assign(at(n), 1);
        for (std::int64_t square : squares) half.push_back(0.5 * static_cast<double>(square));
        ranked = std::make_unique<bool[]>(at(n));
        std::fill_n(ranked.get(), n, true);
        starts_of_items = every;
        starts_of_items.push_back(n);
    }

    Index n() const { return rows.rows; }
    std::int64_t key_of(Index i, Index k) const { return static_cast<std::int64_t>(rows.at(i, k)); }
    /// A number that ranks as the closeness does: twice the product, or that less the square of the item.
    std::int64_t key(Index i, Index j) const {
        std::int64_t product = 0;
        for (Index k = 0; k < rows.columns; ++k) product += key_of(i, k) * key_of(j, k);
        return 2 * product - (setting.kind == KeyKind::distance ? squares[at(j)] : 0);
    }

    Source source() const {
        Source made;
        made.n = n(), made.dim = rows.columns, made.stride = rows.stride;
        if (!setting.read) {
            made.memory = rows.numbers.data();
            return made;
        }
        made.read = [this](Int64s index, void *out) {
            if (fails_after-- == 0) throw std::runtime_error("no rows");
            for (std::size_t p = 0; p < index.size(); ++p)
                std::memcpy(static_cast<float *>(out) + static_cast<Index>(p) * rows.columns,
                            rows.numbers.data() + index[p] * rows.stride, at(rows.columns) * sizeof(float));
        };
        return made;
    }

    Scores scores() const {
        Scores made;
        made.query = made.item = {source(), ones, false};
        made.item_of_column = every;
        if (setting.kind == KeyKind::distance) made.offset = half;
        const ScoreErrors errors{
            .of_query = ones, .of_item = ones, .offset_error = zeros, .offset = made.offset, .tiny = setting.open};
        const BandErrors of_band{.size = 1};
        if (setting.exact) {
            made.levels = {{false, false, true, 4, errors}};
            made.bands = {{0, n(), {of_band}}};
        } else {
            made.levels = {{false, false, false, 4, errors}, {true, true, false, 4, errors}};
            made.bands = {{0, n(), {of_band, of_band}}};
        }
        return made;
    }

    Setting setting;
    Padded<float> rows;
    mutable std::atomic<int> fails_after{-1};
    Numbers64 classes, squares, every, starts, keys, count, starts_of_items;
    std::vector<double> wide, ones, zeros, half;
    std::vector<std::int32_t> weight;
    std::unique_ptr<bool[]> junk, ranked;
};

/// Room for packed groups.
struct Output {
    explicit Output(const Numbers64 &starts_) : starts(starts_), bytes(at(starts.back())), counts(4, starts) {}
    PackedGroups groups() { return {starts, bytes, of(0), of(1), of(2), of(3), -1}; }
    Span<std::int64_t> of(std::size_t k) { return {counts[k].data(), starts.size() - 1}; }

    const Numbers64 &starts;
    std::vector<std::uint8_t> bytes;
    std::vector<Numbers64> counts;
};

/// The groups of each query that the pass finds, nearest first: closer, closer_relevant, tied, tied_relevant.
std::vector<std::vector<Numbers64>> found_groups(const Data &data) {
    const Scores scores = data.scores();
    const ExactPairs exact(data.setting.kind, data.source(), data.source(), true);
    Problem problem{};
    problem.scores = &scores, problem.exact = data.setting.exact ? nullptr : &exact;
    problem.weight = data.weight, problem.plain = true;
    problem.class_columns = {data.starts, data.keys, data.count};
    problem.query_class = problem.gallery_class = data.classes;
    problem.column_of_item = problem.itself = data.every;
    problem.ranked = {data.ranked.get(), at(data.n())};
    if (data.setting.junk) {
        problem.junk = {data.junk.get(), data.n(), data.n(), data.n()};
        problem.items = {data.starts_of_items, data.every};
    }
    Pass pass(problem);
    Queries queries;
    std::vector<Range> ranges;
    Numbers64 numbers;
    for (Index start = 0, number = 0; start < data.n(); start += data.setting.block, ++number) {
        const Index stop = std::min(data.n(), start + data.setting.block);
        queries[number] = Numbers64(data.every.begin() + start, data.every.begin() + stop);
        ranges.push_back({start, stop, 0, data.setting.mirrored && !data.setting.streamed ? number : -1});
        numbers.push_back(number);
    }
    const auto n = at(data.n());
    Numbers64 starts(n + 1);
    for (std::size_t i = 0; i < n; ++i) starts[i + 1] = starts[i] + 15 * problem.width(static_cast<std::int64_t>(i));
    Output output(starts), again(starts);
    const PackedGroups into = output.groups();
    Threads threads(data.setting.threads, [] {});
    std::thread other([&] {
        if (!data.setting.twice) return;
        Threads alone(1, [] {});
        pass.count({{queries, {{ranges, numbers}}}}, true, again.groups(), alone);
    });
    const struct Joined {
        std::thread &thread;
        ~Joined() { thread.join(); }
    } joined{other};
    if (data.setting.streamed)
        pass.stream(queries, ranges, into, threads);
    else
        pass.count({{queries, {{ranges, numbers}}}}, true, into, threads);
    CHECK(data.setting.twice || pass.done == static_cast<std::int64_t>(n * n));
    const std::int64_t total = std::accumulate(into.n_group.begin(), into.n_group.end(), std::int64_t{0});
    Table<std::int64_t> arrays(4, total);
    const auto row = [&](Index k) { return Span<std::int64_t>(arrays.row(k), at(total)); };
    unpack_groups(into, data.every, {row(0), row(1), row(2), row(3)});
    std::vector<std::vector<Numbers64>> result(n);
    Index position = 0;
    for (std::size_t i = 0; i < n; ++i)
        for (std::int64_t g = 0; g < into.n_group[i]; ++g, ++position)
            result[i].push_back({arrays(0, position), arrays(1, position), arrays(2, position), arrays(3, position)});
    return result;
}

/// The same by comparing all with all.
std::vector<Numbers64> groups_of(const Data &data, Index query) {
    Numbers64 keys, relevant;
    for (Index j = 0; j < data.n(); ++j) {
        if (j == query || data.junk[at(query * data.n() + j)]) continue;
        keys.push_back(data.key(query, j)), relevant.push_back(data.classes[at(j)] == data.classes[at(query)]);
    }
    return tests::groups_of(keys, relevant);
}

void is_counted(const Data &data) {
    const auto result = found_groups(data);
    bool all = true;
    for (Index i = 0; i < data.n(); ++i) all &= result[at(i)] == groups_of(data, i);
    CHECK(all);
}

/// Rows that tie often, rows that seldom do, and one class that nearly all are in.
void all_kinds(const Setting &setting, Random &random) {
    is_counted({110, 3, 7, 2, setting, random});
    is_counted({130, 9, 12, 40, setting, random});
    is_counted({90, 2, 1, 3, setting, random});
}

TEST(a_pass_counts_what_counting_all_pairs_does) {
    Random random(71);
    for (int threads : {1, 2})
        for (KeyKind kind : {KeyKind::product, KeyKind::distance})
            for (bool mirrored : {true, false})
                for (bool exact : {true, false}) {
                    Setting setting;
                    setting.threads = threads, setting.kind = kind, setting.mirrored = mirrored, setting.exact = exact;
                    all_kinds(setting, random);
                }
}

TEST(a_pass_counts_the_same_streamed_with_junk_and_from_rows_that_are_read) {
    Random random(72);
    for (int threads : {1, 3})
        for (int way = 0; way < 4; ++way) {
            Setting setting;
            setting.threads = threads, setting.streamed = way == 0, setting.junk = way == 1, setting.read = way == 2;
            if (way == 3) setting.open = 0, setting.block = 17;
            all_kinds(setting, random);
        }
}

TEST(a_pass_with_the_int8_filter_counts_the_same) {
    Random random(75);
    for (KeyKind kind : {KeyKind::product, KeyKind::distance})
        for (int way = 0; way < 4; ++way) {
            Setting setting;
            setting.far = true, setting.kind = kind, setting.threads = 1 + way % 2;
            setting.mirrored = way != 1, setting.streamed = way == 2, setting.exact = way == 3;
            is_counted({300, 24, 60, 1, setting, random});
            setting.block = 200, setting.read = way == 0;
            is_counted({420, 16, 12, 3, setting, random});
            is_counted({420, 16, 3, 1, setting, random});
        }
}

TEST(a_pass_counts_for_two_at_once) {
    Random random(76);
    for (bool far : {false, true}) {
        Setting setting;
        setting.twice = true, setting.threads = 2, setting.block = 20, setting.far = far;
        is_counted({120, 9, 12, 3, setting, random});
    }
}

TEST(squares_of_long_blocks_are_counted_for_both_sides) {
    Random random(73);
    Setting setting;
    setting.block = 500, setting.threads = 2;
    is_counted({420, 2, 60, 3, setting, random});
    setting.block = 210;
    is_counted({420, 2, 60, 3, setting, random});
}

TEST(what_is_thrown_in_a_thread_ends_the_pass) {
    Random random(74);
    for (int threads : {1, 3})
        for (int after : {0, 3, 9}) {
            Setting setting;
            setting.read = true, setting.threads = threads;
            const Data data(100, 3, 5, 2, setting, random);
            data.fails_after = after;
            bool thrown = false;
            try {
                found_groups(data);
            } catch (const std::runtime_error &) {
                thrown = true;
            }
            CHECK(thrown);
        }
}

TEST(a_piece_begins_when_those_that_it_waits_for_have_ended) {
    constexpr Index N = 400;
    for (int n : {1, 2, 7}) {
        std::vector<std::atomic<bool>> ended(N);
        std::atomic<bool> early{false};
        const auto after = [](Index i) { return i / 3 * 2; };
        const auto work = [&](Index i) {
            for (Index k = 0; k < after(i); ++k)
                if (!ended[at(k)]) early = true;
            if (i % 5 == 0) std::this_thread::yield();
            ended[at(i)] = true;
        };
        Threads(n, [] {}).each(N, work, after);
        CHECK(!early && std::all_of(ended.begin(), ended.end(), [](const auto &flag) { return flag.load(); }));
    }
}

TEST(a_plan_counts_every_tile_once_between_the_making_and_the_collecting_of_its_blocks) {
    for (int n : {1, 2, 16, 64})
        for (bool mirrored : {false, true}) {
            std::vector<Shard> shards(3);
            Index n_tile = 0;
            for (Shard &shard : shards) {
                shard.sections.resize(1);
                for (Index number = 0; number < 20; ++number) {
                    shard.queries[number] = Numbers64(10 + at(number) % 3);
                    shard.sections[0].blocks.push_back(number);
                    shard.sections[0].ranges.push_back({number * 10, number * 10 + 10, 0, mirrored ? number : -1});
                    n_tile += mirrored ? number + 1 : 20;
                }
            }
            const Plan plan(shards, 1000, n);
            std::map<const Member *, Index> made, last, collected;
            std::set<std::pair<const Member *, Index>> counted;
            Index number = 0;
            for (const Piece &piece : plan.pieces()) {
                CHECK(piece.after <= number);
                if (piece.work == Piece::make) made[piece.member] = number;
                if (piece.work == Piece::collect) {
                    CHECK(piece.after > last.at(piece.member));
                    collected[piece.member] = number;
                }
                if (piece.work == Piece::count) {
                    for (const Member *block : piece.blocks) {
                        CHECK(made.contains(block) && piece.after > made[block] && !collected.contains(block));
                        CHECK(counted.emplace(block, piece.range.start).second);
                        last[block] = number;
                    }
                    if (mirrored) {
                        CHECK(piece.after > made.at(piece.member));
                        last[piece.member] = number;
                    }
                }
                ++number;
            }
            CHECK(static_cast<Index>(counted.size()) == n_tile && made.size() == 60 && collected.size() == 60);
        }
}

TEST(threads_do_all_work_once_and_stop_where_the_poll_says_so) {
    for (int n : {1, 2, 5}) {
        std::vector<std::atomic<int>> done(300);
        Threads(n, [] {}).each(300, [&](Index i) { ++done[at(i)]; });
        CHECK(std::all_of(done.begin(), done.end(), [](const auto &times) { return times == 1; }));
        Threads polled(n, [] { throw std::runtime_error("enough"); });
        bool thrown = false;
        try {
            polled.each(1, [&](Index) {
                while (!polled.stop) std::this_thread::yield();
                throw Stopped();
            });
        } catch (const std::runtime_error &) {
            thrown = true;
        }
        CHECK(thrown && polled.stop);
    }
}

}  // namespace
