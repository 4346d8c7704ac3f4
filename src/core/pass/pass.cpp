#include "pass/pass.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <system_error>
#include <thread>

#include "support/float_mode.h"

namespace deadheat {

namespace {

// A square and the same transposed fit the second-level cache together; so does a strip of a tile that need not be
// transposed. What a row keeps for counting is fetched once for each, so that they must not be narrow.
constexpr Index SIDE = 384;
constexpr Index STRIP_ROWS = 144, STRIP_COLUMNS = 1056;
constexpr Index LOW_ROWS = 48, LONG_COLUMNS = 4128;  // the same where rows keep much: fetched once for so many columns
constexpr Index MUCH = 256;                          // intervals that are much
constexpr Index PANEL = 48;                          // a multiple of the rows in any panel
constexpr Index PADDING = 16;  // columns more than are used: rows a power of two apart would share lines of the cache
constexpr std::size_t MOST_OPEN = 1 << 18;     // items left open for a mirrored block before it decides them, if it is free
constexpr std::size_t READY_BYTES = 64 << 20;  // what the rows of all blocks may take that are kept ready

/// How many items private counts have left open.
std::size_t n_open(const std::vector<Tally> &tallies) {
    std::size_t n = 0;
    for (const Tally &tally : tallies) n += tally.open.rows.size();
    return n;
}

/// How long the sides of squares are into which so many rows are cut, about equally.
Index side_of_squares(Index n) {
    const Index parts = std::max<Index>((n + SIDE - 1) / SIDE, 1), each = (n + parts - 1) / parts;
    return (each + PANEL - 1) / PANEL * PANEL;
}

template <class T>
void transpose(Matrix<const T> square, Matrix<T> out) {
    if constexpr (sizeof(T) == 4)
        counting_loops().transpose_single(square, out);
    else
        counting_loops().transpose_double(square, out);
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

// A block and a range ------------------------------------------------------------------------------------------------

/// The rows of a range of columns for each level, made ready when they are asked for.
class RangeRows {
public:
    RangeRows(const Scores &scores, const Range &range, const Ready *first)
        : scores_(scores), range_(range), first_(first) {}

    const Ready &at_level(int level) {
        if (level == 0 && first_ != nullptr) return *first_;
        if (!made_.contains(level)) made_.emplace(level, scores_.ready_columns(level, range_.start, range_.stop));
        return made_.at(level);
    }

private:
    const Scores &scores_;
    Range range_;
    const Ready *first_;
    std::map<int, Ready> made_;
};

/// The tile of a block's queries and a range of columns, counted for the block, and transposed for another one.
class Visit {
public:
    struct Side {
        Block *block;
        Index start, band;  // of the columns that are counted for it
        std::vector<Tally> *tallies;
    };

    Visit(const Problem &problem, int level, RangeRows &right, const Ready *left, std::vector<Side> sides)
        : scores_(*problem.scores),
          level_(level),
          right_(right),
          left_(left),
          sides_(std::move(sides)),
          exact_(problem.exact) {}

    void count() {
        if (left_ == nullptr) left_ = &left_at(level_);
        with_type(scores_.levels[at(level_)].wide, [&](auto type) { count_squares<decltype(type)>(); });
    }

private:
    const Ready &left_at(int level) {
        if (!made_.contains(level)) made_.emplace(level, scores_.ready_queries(level, sides_[0].block->queries()));
        return made_.at(level);
    }

    template <class T>
    void count_squares() {
        const Ready &right = right_.at_level(level_);
        const bool both = sides_.size() > 1;
        bool low = false;
        for (const auto &counter : sides_[0].block->counters()) low |= counter->cuts().low.columns > MUCH;
        const Index rows = both ? side_of_squares(left_->n) : low ? LOW_ROWS : STRIP_ROWS;
        const Index columns = both ? side_of_squares(right.n) : std::min(right.n, low ? LONG_COLUMNS : STRIP_COLUMNS);
        const Index stride = (both ? SIDE : columns) + PADDING;
        Buffer<T> products(at(rows * stride)), transposed(both ? at(columns * stride) : 0);
        for (column_ = 0; column_ < right.n; column_ += columns)
            for (row_ = 0; row_ < left_->n; row_ += rows) {
                n_ = std::min(rows, left_->n - row_), m_ = std::min(columns, right.n - column_);
                wide_.clear(), tile_.reset();
                const Matrix<T> square{products.data(), n_, m_, stride}, other{transposed.data(), m_, n_, stride};
                scores_.products<T>(level_, *left_, row_, right, column_, square);
                if (both) transpose<T>(square, other);  // before scores are left out
                count_side<T>(0, square);
                if (both) count_side<T>(1, other);
            }
    }

    template <class T>
    void count_side(int number, Matrix<T> square) {
        const Side &side = sides_[at(number)];
        const Index row = number == 0 ? row_ : column_, column = side.start + (number == 0 ? column_ : row_);
        scores_.finish<T>(scores_.item_of_column.subspan(at(column), at(square.columns)), square);
        Finer finer;
        finer.scores = [&](const Numbers64 &of_rows, const Numbers64 &columns, bool all, Span<double> out) {
            if (all)
                from_square(number, of_rows, columns, row, column, out);
            else
                from_pairs(*side.block, of_rows, columns, out);
        };
        finer.integers = [&] { return integers(number, row, column, square.rows, square.columns); };
        side.block->count<T>({square, row, column, level_, side.band}, finer, *side.tallies);
    }

    /// The exact tile of the square; the other side has the same, transposed, where the rows are the same.
    std::pair<const IntegerTile *, bool> integers(int number, Index row, Index column, Index n, Index m) {
        const IntegerRows &rows = *exact_->integers();
        if (number == 1 && tile_ && rows.symmetric()) return {&*tile_, true};
        const auto queries = sides_[at(number)].block->queries().subspan(at(row), at(n));
        tile_ = rows.tile(queries, scores_.item_of_column.subspan(at(column), at(m)));
        return {&*tile_, false};
    }

    void from_pairs(const Block &block, const Numbers64 &rows, const Numbers64 &columns, Span<double> out) const {
        Numbers64 queries(rows.size());
        for (std::size_t p = 0; p < rows.size(); ++p) queries[p] = block.queries()[at(rows[p])];
        scores_.pair_scores(queries, columns, out);
    }

    /// Scores of the last level from its products for the whole square, which are made once.
    void from_square(int number, const Numbers64 &rows, const Numbers64 &columns, Index row, Index column,
                     Span<double> out) {
        const int last = scores_.last();
        if (wide_.empty()) {
            wide_.resize(at(n_ * m_));
            const Matrix<double> square{wide_.data(), n_, m_, m_};
            scores_.products<double>(last, left_at(last), row_, right_.at_level(last), column_, square);
        }
        for (std::size_t p = 0; p < rows.size(); ++p) {
            const Index i = rows[p] - row, j = columns[p] - column;
            double score = wide_[at(number == 0 ? i * m_ + j : j * m_ + i)];
            if (!scores_.offset.empty()) score -= scores_.offset[at(scores_.item_of_column[at(columns[p])])];
            out[p] = score;
        }
    }

    const Scores &scores_;
    int level_;
    RangeRows &right_;
    const Ready *left_;
    std::vector<Side> sides_;
    std::map<int, Ready> made_;
    Index row_ = 0, column_ = 0, n_ = 0, m_ = 0;  // of the square in hand
    Buffer<double> wide_;                         // its products of the last level
    std::optional<IntegerTile> tile_;             // and its exact tile
    const ExactPairs *exact_;
};

void Pass::count_range(const Range &range, const Some &blocks, Block *mirror, const ReadyRows &ready, const Ready *right,
                       const std::atomic<bool> &stop) {
    if (mirror != nullptr && !ready.empty()) right = &ready.at(range.block);
    RangeRows rows(*problem_.scores, range, right);
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
        std::vector<Visit::Side> sides{{&block, range.start, range.band, &tallies}};
        if (mirror != nullptr && mirror != &block)
            sides.push_back({mirror, range_of_.at(number).start, range_of_.at(number).band, &private_tallies});
        Visit(problem_, level, rows, left, sides).count();
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

/// The queries of blocks made ready for the first level, if all of them are few enough to be kept.
Pass::ReadyRows Pass::ready_rows(const Some &blocks, Threads &threads) const {
    std::size_t n_row = 0;
    for (const auto &[number, block] : blocks) n_row += block->queries().size();
    if (n_row * at(problem_.scores->bytes_of_row(0)) > READY_BYTES) return {};
    ReadyRows ready;
    std::vector<std::pair<Block *, Ready *>> each;
    for (const auto &[number, block] : blocks) each.emplace_back(block, &ready[number]);
    threads.each(static_cast<Index>(each.size()),
                 [&](Index k) { *each[at(k)].second = problem_.scores->ready_queries(0, each[at(k)].first->queries()); });
    return ready;
}

Pass::Others Pass::count(const Queries &queries, const std::vector<Section> &sections, bool all, Groups64 groups,
                         Threads &threads) {
    const FreeKeptMemory at_end;
    Blocks made = make(queries, threads);
    Some tiled;
    for (const auto &[number, block] : made) {
        if (block->tiled())
            tiled[number] = block.get();
        else
            done += static_cast<std::int64_t>(block->queries().size()) * problem_.n_column;
    }
    const ReadyRows ready = ready_rows(tiled, threads);
    struct Work {
        Range range;
        Some blocks;
        Block *mirror;
    };
    std::vector<Work> works;
    for (const Section &section : sections) {
        Some some;
        for (std::int64_t number : section.blocks)
            if (tiled.contains(number)) some[number] = tiled[number];
        for (const Range &range : section.ranges) {
            if (range.block >= 0) range_of_[range.block] = range;
            const auto own = tiled.find(range.block);
            if (!some.empty()) works.push_back({range, some, own == tiled.end() ? nullptr : own->second});
        }
    }
    threads.each(static_cast<Index>(works.size()), [&](Index k) {
        const Work &work = works[works.size() - 1 - at(k)];
        count_range(work.range, work.blocks, work.mirror, ready, nullptr, threads.stop);
    });
    return collect(made, all, groups, threads);
}

Pass::Others Pass::stream(const Queries &queries, const std::vector<Range> &ranges, Groups64 groups, Threads &threads) {
    const FreeKeptMemory at_end;
    if (streamed_.size() != ranges.size()) {
        streamed_.resize(ranges.size());
        threads.each(static_cast<Index>(ranges.size()), [&](Index k) {
            streamed_[at(k)] = problem_.scores->ready_columns(0, ranges[at(k)].start, ranges[at(k)].stop);
        });
    }
    std::vector<Span<const std::int64_t>> listed;
    for (const auto &[number, of_block] : queries) listed.emplace_back(of_block);
    Others others(listed.size());
    threads.each(static_cast<Index>(listed.size()), [&](Index k) {
        Block block(problem_, listed[at(k)], threads.stop);
        if (block.tiled()) {
            ReadyRows left;
            left[0] = problem_.scores->ready_queries(0, block.queries());
            for (std::size_t r = 0; r < ranges.size(); ++r)
                count_range(ranges[r], {{0, &block}}, nullptr, left, &streamed_[r], threads.stop);
        } else {
            done += static_cast<std::int64_t>(block.queries().size()) * problem_.n_column;
        }
        others[at(k)] = finish(block, true, groups);
    });
    return others;
}

}  // namespace deadheat
