#include "pass/pass.h"

#ifndef _WIN32
#include <unistd.h>
#endif

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <system_error>
#include <thread>

#include "pass/int8_filter.h"
#include "pass/sorted_rows.h"
#include "pass/visit.h"
#include "support/float_mode.h"

namespace deadheat {

namespace {

constexpr std::size_t MOST_OPEN = 1 << 18;     // items left open for a mirrored block before it decides them, if it is free
constexpr std::size_t READY_BYTES = 64 << 20;  // what the rows of all blocks may take that are kept ready
constexpr std::size_t READY_TO_SORT_BYTES = 96 << 20;      // and all columns, where rows are sorted
constexpr Index SORTED_ROWS = 48, SORTED_PAIRS = 1 << 20;  // that a thread scores at once: so many, or more of short ones

/// Count the items left open by private counts.
std::size_t n_open(const std::vector<Tally> &tallies) {
    std::size_t n = 0;
    for (const Tally &tally : tallies) n += tally.open.rows.size();
    return n;
}

}  // namespace

// Threads ------------------------------------------------------------------------------------------------------------

void Threads::each(Index n, const std::function<void(Index)> &work) {
    std::atomic<Index> next{0};
    std::mutex lock;
    std::condition_variable ended;
    std::exception_ptr error;
    Index running = std::min<Index>(n_, n);
    const auto run = [&] {
        const FloatMode mode;
        try {
            for (Index i = next++; i < n && !stop; i = next++) work(i);
        } catch (const Stopped &) {
        } catch (...) {
            const std::lock_guard hold(lock);
            if (!error) error = std::current_exception();
            stop = true;
        }
        const std::lock_guard hold(lock);
        --running;
        ended.notify_all();
    };
    std::vector<std::thread> threads;
    for (Index k = running; k > 0; --k) {
        try {
            threads.emplace_back(run);
        } catch (const std::system_error &) {  // no more of them are to be had: those that there are do the work
            const std::lock_guard hold(lock);
            running -= k;
            if (threads.empty()) throw;
            break;
        }
    }
    std::unique_lock hold(lock);
    while (!ended.wait_for(hold, std::chrono::milliseconds(50), [&] { return running == 0; })) {
        hold.unlock();
        try {
            if (!stop) poll_();
        } catch (...) {
            const std::lock_guard again(lock);
            if (!error) error = std::current_exception();
            stop = true;
        }
        hold.lock();
    }
    hold.unlock();
    for (std::thread &thread : threads) thread.join();
    if (error) std::rethrow_exception(error);
}

// Output -------------------------------------------------------------------------------------------------------------

void Groups64::put(Index place, Span<const std::int32_t> numbers) const {
#ifndef _WIN32
    const auto bytes = static_cast<Index>(numbers.size_bytes());
    if (file >= 0 && pwrite(file, numbers.data(), numbers.size_bytes(), 4 * place) == bytes) return;
#endif
    std::copy(numbers.begin(), numbers.end(), closer.begin() + place);
}

// A block and a range ------------------------------------------------------------------------------------------------

Span<const std::int64_t> Pass::columns_of(const Range &range) const {
    return problem_.scores->item_of_column.subspan(at(range.start), at(range.stop - range.start));
}

void Pass::count_range(const Range &range, const Some &blocks, Block *mirror, const Ranges &range_of, const ReadyRows &ready,
                       const Ready *right, const std::atomic<bool> &stop) {
    if (mirror != nullptr && !ready.empty()) right = &ready.at(range.block);
    ColumnRows rows(*problem_.scores, columns_of(range), few_pass_int8_, right);
    std::vector<Table<std::int32_t>> private_counts;
    std::vector<Tally> private_tallies;
    if (mirror != nullptr)
        for (auto &counter : mirror->counters())
            private_counts.push_back(Table<std::int32_t>(counter->counts.rows, counter->counts.columns));
    for (auto &counts : private_counts) private_tallies.push_back({counts, {}});
    // from another block on for each range, those last that another thread is counting for
    std::vector<std::int64_t> waiting;
    for (const auto &[number, block] : blocks)
        if (mirror == nullptr || number <= range.block) waiting.push_back(number);
    std::rotate(waiting.begin(), waiting.begin() + static_cast<Index>(waiting.size()) * (range.start % 7) / 7,
                waiting.end());
    while (!waiting.empty()) {
        if (stop) throw Stopped();
        std::unique_lock<std::mutex> hold;
        auto next = std::find_if(waiting.begin(), waiting.end(), [&](std::int64_t number) {
            hold = std::unique_lock(blocks.at(number)->counting, std::try_to_lock);
            return hold.owns_lock();
        });
        if (next == waiting.end()) {
            next = waiting.begin();
            hold = std::unique_lock(blocks.at(*next)->counting);
        }
        const std::int64_t number = *next;
        waiting.erase(next);
        Block &block = *blocks.at(number);
        const int level = std::max(block.level(), mirror != nullptr ? mirror->level() : 0);
        const Ready *left = mirror == &block ? &rows.at_level(level) : nullptr;
        if (left == nullptr && level == 0 && !ready.empty()) left = &ready.at(number);
        std::vector<Tally> tallies = block.own_tallies();
        std::vector<Side> sides{{&block, range.start, range.band, &tallies}};
        if (mirror != nullptr && mirror != &block)
            sides.push_back({mirror, range_of.at(number).start, range_of.at(number).band, &private_tallies});
        count_tile(problem_, level, rows, left, sides);
        block.decide(tallies);
        if (mirror != nullptr && mirror != &block && n_open(private_tallies) > MOST_OPEN) {
            const std::unique_lock hold_mirror(mirror->counting, std::try_to_lock);  // to wait could be for each other
            if (hold_mirror) mirror->decide(private_tallies);
        }
        done += static_cast<std::int64_t>(block.queries().size()) * (range.stop - range.start) *
                static_cast<std::int64_t>(sides.size());
    }
    if (mirror == nullptr) return;
    const std::lock_guard hold(mirror->counting);
    mirror->add(private_counts);
    mirror->decide(private_tallies);
}

// Shards -------------------------------------------------------------------------------------------------------------

std::vector<OtherGroup> Pass::finish(Block &block, bool all, Groups64 groups) const {
    if (all) block.count_next_to_tiles();
    for (std::size_t i = 0; i < block.queries().size(); ++i) {
        groups.n_group[at(block.queries()[i])] = block.n_group()[i];
        groups.n_relevant[at(block.queries()[i])] = block.n_relevant(static_cast<Index>(i));
    }
    return block.collect(groups.starts, groups.closer);
}

Pass::Blocks Pass::make(const Queries &queries, Threads &threads) {
    Blocks blocks;
    std::vector<std::pair<Span<const std::int64_t>, std::shared_ptr<Block> *>> each;
    for (const auto &[number, of_block] : queries) each.emplace_back(of_block, &blocks[number]);
    threads.each(static_cast<Index>(each.size()),
                 [&](Index k) { *each[at(k)].second = std::make_shared<Block>(problem_, each[at(k)].first, threads.stop); });
    return blocks;
}

Pass::Others Pass::collect(Blocks &blocks, bool all, Groups64 groups, Threads &threads) const {
    std::vector<std::shared_ptr<Block> *> each;
    for (auto &[number, block] : blocks) each.push_back(&block);
    Others others(each.size());
    threads.each(static_cast<Index>(each.size()), [&](Index k) {
        others[at(k)] = finish(**each[at(k)], all, groups);
        each[at(k)]->reset();
    });
    return others;
}

/// Decide once whether the int8 filter is used.
void Pass::try_int8(const Queries &queries, Threads &threads) {
    std::call_once(tried_int8_, [&] {
        Numbers64 all;
        for (const auto &[number, of_block] : queries) all.insert(all.end(), of_block.begin(), of_block.end());
        threads.each(1, [&](Index) { few_pass_int8_ = few_pass_int8(problem_, all, threads.stop); });
    });
}

/// The queries of blocks made ready for the first level, if all of them are few enough to be kept.
Pass::ReadyRows Pass::ready_rows(const Some &blocks, Threads &threads) const {
    std::size_t n_row = 0;
    for (const auto &[number, block] : blocks) n_row += block->queries().size();
    if (n_row * at(problem_.scores->bytes_of_row(0)) > READY_BYTES) return {};
    ReadyRows ready;
    std::vector<std::pair<Block *, Ready *>> each;
    for (const auto &[number, block] : blocks) each.emplace_back(block, &ready[number]);
    threads.each(static_cast<Index>(each.size()), [&](Index k) {
        *each[at(k)].second = problem_.scores->ready_queries(0, each[at(k)].first->queries(), few_pass_int8_);
    });
    return ready;
}

Pass::Others Pass::count(const Queries &queries, const std::vector<Section> &sections, bool all, Groups64 groups,
                         Threads &threads) {
    const FreeKeptMemory at_end;
    try_int8(queries, threads);
    Blocks made = make(queries, threads);
    Some all_made;
    for (const auto &[number, block] : made) all_made[number] = block.get();
    const ReadyRows ready = ready_rows(all_made, threads);
    struct Work {
        Range range;
        Some blocks;
        Block *mirror;
    };
    std::vector<Work> works;
    Ranges range_of;
    for (const Section &section : sections) {
        Some some;
        for (std::int64_t number : section.blocks)
            if (all_made.contains(number)) some[number] = all_made[number];
        for (const Range &range : section.ranges) {
            if (range.block >= 0) range_of[range.block] = range;
            const auto own = all_made.find(range.block);
            if (!some.empty()) works.push_back({range, some, own == all_made.end() ? nullptr : own->second});
        }
    }
    threads.each(static_cast<Index>(works.size()), [&](Index k) {
        const Work &work = works[works.size() - 1 - at(k)];
        count_range(work.range, work.blocks, work.mirror, range_of, ready, nullptr, threads.stop);
    });
    return collect(made, all, groups, threads);
}

void Pass::make_ready(int level, const std::vector<Range> &ranges, std::vector<Ready> &columns, Threads &threads) const {
    columns.resize(ranges.size());
    threads.each(static_cast<Index>(ranges.size()), [&](Index k) {
        columns[at(k)] = problem_.scores->ready_columns(level, columns_of(ranges[at(k)]), level == 0 && few_pass_int8_);
    });
}

Pass::Others Pass::stream(const Queries &queries, const std::vector<Range> &ranges, Groups64 groups, Threads &threads) {
    const FreeKeptMemory at_end;
    try_int8(queries, threads);
    std::call_once(made_ready_, [&] { make_ready(0, ranges, streamed_, threads); });
    std::vector<Span<const std::int64_t>> listed;
    for (const auto &[number, of_block] : queries) listed.emplace_back(of_block);
    Others others(listed.size());
    threads.each(static_cast<Index>(listed.size()), [&](Index k) {
        Block block(problem_, listed[at(k)], threads.stop);
        ReadyRows left;
        left[0] = problem_.scores->ready_queries(0, block.queries(), few_pass_int8_);
        for (std::size_t r = 0; r < ranges.size(); ++r)
            count_range(ranges[r], {{0, &block}}, nullptr, {}, left, &streamed_[r], threads.stop);
        others[at(k)] = finish(block, true, groups);
    });
    return others;
}

Pass::Others Pass::sort(const Queries &queries, const std::vector<Range> &ranges, Groups64 groups, Threads &threads) {
    const FreeKeptMemory at_end;
    const Scores &scores = *problem_.scores;
    if (at(problem_.n_column * scores.bytes_of_row(scores.last())) <= READY_TO_SORT_BYTES)
        std::call_once(made_last_, [&] { make_ready(scores.last(), ranges, sorted_, threads); });
    Numbers64 all;
    for (const auto &[number, of_block] : queries) all.insert(all.end(), of_block.begin(), of_block.end());
    const Index n = static_cast<Index>(all.size()), each = std::max(SORTED_ROWS, SORTED_PAIRS / problem_.n_column);
    Others others(at((n + each - 1) / each));
    threads.each(static_cast<Index>(others.size()), [&](Index k) {
        const auto some = Span<const std::int64_t>(all).subspan(at(k * each), at(std::min(each, n - k * each)));
        others[at(k)] = sorted_groups(problem_, some, ranges, sorted_, groups, threads.stop);
        done += static_cast<std::int64_t>(some.size()) * problem_.n_column;
    });
    return others;
}

}  // namespace deadheat
