#include "pass/pass.h"

#include <algorithm>
#include <iterator>

#include "pass/int8_filter.h"
#include "pass/sorted_rows.h"
#include "pass/visit.h"

namespace deadheat {

namespace {

constexpr std::size_t MOST_UNDECIDED = 1 << 18;  // items of a transposed block before they are decided
constexpr std::size_t READY_BYTES = 64 << 20;    // what the rows of all blocks may take that are kept ready
constexpr Index LEAST_STREAMED = 48;             // rows that are not cut up any more

/// Decide the undecided items of tallies of a block, if they are more than `most`.
void decide(Member &member, std::vector<Tally> &tallies, std::size_t most) {
    std::size_t n = 0;
    for (const Tally &tally : tallies) n += tally.undecided.size();
    if (n <= most) return;
    std::unique_lock hold(member.block->counting, std::defer_lock);
    if (member.shared) hold.lock();
    member.block->decide(tallies);
}

}  // namespace

// A block and a range ------------------------------------------------------------------------------------------------

Int64s Pass::columns_of(const Range &range) const {
    return problem_.scores->item_of_column.subspan(at(range.start), at(range.stop - range.start));
}

void Pass::count_range(const Range &range, Span<Member *const> blocks, Member *symmetric, const Ready *right,
                       const StopFlag &stop) {
    if (symmetric != nullptr && symmetric->rows) right = &*symmetric->rows;
    const Scores &scores = *problem_.scores;
    ReadyRows columns(scores, ReadyRows::columns, columns_of(range), few_pass_int8_, right);
    std::vector<Table<std::int32_t>> private_counts;
    std::vector<Tally> private_tallies;
    if (symmetric != nullptr)
        for (const Tally &own : symmetric->block->own_tallies())
            private_counts.push_back(Table<std::int32_t>(own.counts.rows, own.counts.columns));
    for (auto &counts : private_counts) private_tallies.push_back({counts, {}});
    for (Member *listed : blocks) {
        if (stop) throw Stopped();
        Member &member = *listed;
        Block &block = *member.block;
        const bool both = symmetric != nullptr && symmetric != &member;
        const int level = std::max(block.level(), symmetric != nullptr ? symmetric->block->level() : 0);
        ReadyRows rows(scores, ReadyRows::queries, member.queries, few_pass_int8_, member.rows ? &*member.rows : nullptr);
        std::vector<Tally> tallies = block.own_tallies();
        std::vector<TileView> views{{&block, range.start, range.band, &tallies, member.shared ? &block.counting : nullptr}};
        if (both)
            views.push_back({symmetric->block.get(), member.columns.start, member.columns.band, &private_tallies, nullptr});
        count_tiles(problem_, level, symmetric == &member ? columns : rows, columns, views);
        decide(member, tallies, 0);
        if (both) decide(*symmetric, private_tallies, MOST_UNDECIDED);
        done += static_cast<std::int64_t>(block.queries().size()) * (range.stop - range.start) * (both ? 2 : 1);
    }
    if (symmetric == nullptr) return;
    const std::lock_guard hold(symmetric->block->counting);
    symmetric->block->add(private_counts);
    symmetric->block->decide(private_tallies);
}

// Shards -------------------------------------------------------------------------------------------------------------

void Pass::finish(Block &block, bool all, const PackedGroups &groups) const {
    block.place_disjoint();
    if (all) block.count_next_to_tiles();
    block.collect(groups);
}

Pass::Blocks Pass::make(const Queries &queries, Threads &threads) {
    Blocks blocks;
    std::vector<std::pair<Int64s, std::shared_ptr<Block> *>> listed;
    for (const auto &[number, of_block] : queries) listed.emplace_back(of_block, &blocks[number]);
    threads.each(static_cast<Index>(listed.size()), [&](Index k) {
        *listed[at(k)].second = std::make_shared<Block>(problem_, listed[at(k)].first, threads.stop);
    });
    return blocks;
}

void Pass::collect(Blocks &blocks, bool all, const PackedGroups &groups, Threads &threads) const {
    std::vector<std::shared_ptr<Block> *> listed;
    for (auto &[number, block] : blocks) listed.push_back(&block);
    threads.each(static_cast<Index>(listed.size()), [&](Index k) {
        finish(**listed[at(k)], all, groups);
        listed[at(k)]->reset();
    });
}

/// Decide once whether the int8 filter is used.
bool Pass::tries_int8(const Queries &queries, const StopFlag &stop) {
    const std::lock_guard hold(trying_);  // no std::call_once: where what it calls throws, ThreadSanitizer waits for ever
    if (!tried_int8_) {
        Numbers64 all;
        for (const auto &[number, of_block] : queries) all.insert(all.end(), of_block.begin(), of_block.end());
        few_pass_int8_ = !problem_.scores->long_rows() && few_pass_int8(problem_, all, stop);
        tried_int8_ = true;
    }
    return few_pass_int8_;
}

/// Make a block and, if they are kept, its queries ready for the first level.
void Pass::make(Member &member, bool keeps_rows, const Queries &sample, const StopFlag &stop) {
    member.block = std::make_unique<Block>(problem_, member.queries, stop);
    const bool int8 = tries_int8(sample, stop);
    if (!int8 && problem_.scores->bands.size() == 1)  // which threads that count would wait for
        with_type(problem_.scores->levels[0].wide,
                  [&](auto type) { member.block->filter().template edges<decltype(type)>(0, 0); });
    if (keeps_rows) member.rows.emplace(problem_.scores->ready_queries(0, member.queries, int8));
}

void Pass::count(const std::vector<Shard> &shards, bool all, const PackedGroups &groups, Threads &threads) {
    const FreeKeptMemory at_end;
    const Plan plan(shards, READY_BYTES / at(problem_.scores->bytes_of_row(0)), threads.n());
    const std::vector<Piece> &pieces = plan.pieces();
    const auto work = [&](Index k) {
        const Piece &piece = pieces[at(k)];
        if (piece.work == Piece::make) {
            if (k == 0) tries_int8(shards[0].queries, threads.stop);  // while others make their blocks
            make(*piece.member, piece.keeps_rows, shards[0].queries, threads.stop);
        } else if (piece.work == Piece::count) {
            count_range(piece.range, piece.blocks, piece.member, nullptr, threads.stop);
        } else {
            finish(*piece.member->block, all, groups);
            piece.member->block.reset(), piece.member->rows.reset();
        }
    };
    threads.each(static_cast<Index>(pieces.size()), work, [&](Index k) { return pieces[at(k)].after; });
}

void Pass::make_streamed(const std::vector<Range> &ranges, Threads &threads) {
    streamed_.resize(ranges.size());
    threads.each(static_cast<Index>(ranges.size()), [&](Index k) {
        streamed_[at(k)] = problem_.scores->ready_columns(0, columns_of(ranges[at(k)]), few_pass_int8_);
    });
}

void Pass::stream(const Queries &queries, const std::vector<Range> &ranges, const PackedGroups &groups, Threads &threads) {
    const FreeKeptMemory at_end;
    threads.each(1, [&](Index) { tries_int8(queries, threads.stop); });
    std::call_once(made_streamed_, [&] { make_streamed(ranges, threads); });
    const auto listed = smaller_to_the_end(queries, LEAST_STREAMED, threads.n());
    threads.each(static_cast<Index>(listed.size()), [&](Index k) {
        Member member;
        member.queries = listed[at(k)], member.shared = false;
        Member *const alone[] = {&member};
        make(member, true, queries, threads.stop);
        for (std::size_t r = 0; r < ranges.size(); ++r) count_range(ranges[r], alone, nullptr, &streamed_[r], threads.stop);
        finish(*member.block, true, groups);
    });
}

void Pass::sort(const Queries &queries, const std::vector<Range> &ranges, const PackedGroups &groups, Threads &threads) {
    const FreeKeptMemory at_end;
    Numbers64 all;
    for (const auto &[number, of_block] : queries) all.insert(all.end(), of_block.begin(), of_block.end());
    SortedPass sorted(problem_, ranges, std::move(all), threads.n());
    const auto work = [&](Index k) {
        if (threads.stop) throw Stopped();
        sorted.work(k, groups, threads.stop, done);
    };
    threads.each(sorted.n_piece(), work, [&](Index k) { return sorted.after(k); });
}

}  // namespace deadheat
