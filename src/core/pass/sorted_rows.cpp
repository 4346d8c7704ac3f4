#include "pass/sorted_rows.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "bounds.h"
#include "counting/row_keys.h"
#include "pass/grouping.h"

namespace deadheat {

namespace {

constexpr int BITS = 11;  // of a digit; the two leading ones of a place order a row but for few neighbours,
constexpr std::uint64_t DIGITS = 1 << BITS;
constexpr int REST = 32 - 2 * BITS;  // whose places have these bits left

// Rows of a batch; fewer of long rows, more of short ones. Columns are packed once for all of them: with 100,000 rows of 512
// numbers 256 take 0.93 of the time of these 94, and 2.7 times the memory; 48 take 1.03.
constexpr Index SCORED_ROWS = 128, LEAST_PAIRS = 1 << 21, MOST_PAIRS = 9 << 20;
constexpr Index SLICE_BYTES = 1 << 18, PANELS = 48;  // columns that are packed at a time, in whole panels, to stay in cache
constexpr Index SHARES = 3;                          // of each thread

/// The groups of one query, written nearest first.
struct Writer {
    std::int32_t *closer;  // with room for one more than there are
    std::vector<OtherGroup> &others;
    Index n_group = 0;
    ColumnCounts before = {};

    void add(ColumnCounts group) {
        closer[n_group] = before.ranked;  // whether it counts is unpredictable
        const bool counts = group.relevant > 0;
        if (group.ranked != 1 && counts) others.push_back({n_group, group.ranked, group.relevant});
        n_group += counts;
        before += group;
    }

    /// Add the items of sorted keys from their end on, each a group by itself, up to one that is more than one item; return
    /// how many keys are left.
    std::size_t add_items(Span<const std::uint64_t> keys) {
        std::int32_t *to = closer + n_group;
        std::int32_t ranked = before.ranked;
        std::size_t left = keys.size();
        for (; left > 0 && is_one_item(keys[left - 1]); --left) {
            *to = ranked++;  // whether it counts is unpredictable
            to += is_relevant(keys[left - 1]);
        }
        const Index added = to - closer - n_group;
        n_group += added;
        before += {static_cast<std::int32_t>(keys.size() - left), static_cast<std::int32_t>(added)};
        return left;
    }
};

class SortedRows {
public:
    SortedRows(const Problem &problem, Int64s queries, Matrix<const double> scores, const StopFlag &stop)
        : problem_(problem),
          scores_(*problem.scores),
          queries_(queries),
          tile_(scores),
          stop_(stop),
          n_column_(problem.n_column()),
          exact_(scores_.levels.back().exact) {}

    void write_groups(const PackedGroups &into) {
        std::vector<OtherGroup> others;
        std::int64_t number = -1;
        for (Index i = 0; i < tile_.rows; ++i) {
            if (stop_) throw Stopped();
            const std::int64_t query = queries_[at(i)];
            if (problem_.has_several_labels())
                count_sharing(query);
            else if (i == 0 || problem_.query_class[at(query)] != number)
                count_class(number = problem_.query_class[at(query)]);
            subtract_excluded(query);
            sort(tile_.row(i));
            closer_.resize(keys_.size() + 1);
            others.clear();
            Writer writer{closer_.data(), others};
            write(query, tile_.row(i), writer);
            restore_excluded(query);
            into.put(query, {closer_.data(), at(writer.n_group)}, others);
        }
    }

private:
    /// Count the items of each column that are ranked for a query of a class, and those that are relevant.
    void count_class(std::int64_t number) {
        counts_.assign(at(n_column_), {});
        for (std::size_t column = 0; column < counts_.size(); ++column) counts_[column].ranked = problem_.weight[column];
        if (number < 0) return;
        const auto &[starts, keys, sizes] = problem_.class_columns;
        for (std::int64_t k = starts[at(number)]; k < starts[at(number + 1)]; ++k)
            counts_[at(keys[at(k)] - number * n_column_)].relevant = static_cast<std::int32_t>(sizes[at(k)]);
    }

    /// The same for a query with several labels.
    void count_sharing(std::int64_t query) {
        counts_.assign(at(n_column_), {});
        for (std::size_t item = 0; item < problem_.ranked.size(); ++item) {
            const bool is_ranked = problem_.ranked[item];
            const bool relevant = is_ranked & problem_.is_relevant(query, static_cast<std::int64_t>(item));
            counts_[at(problem_.column_of_item[item])] += {is_ranked, relevant};
        }
    }

    /// Call work(counts of its column, whether it is relevant) for each ranked item that does not count for a query: itself
    /// and junk.
    template <class Work>
    void each_excluded(std::int64_t query, Work work) {
        const auto exclude = [&](std::int64_t item) {
            work(counts_[at(problem_.column_of_item[at(item)])], problem_.is_relevant(query, item));
        };
        const std::int64_t own = problem_.itself.empty() ? -1 : problem_.itself[at(query)];
        if (own >= 0 && problem_.ranked[at(own)]) exclude(own);
        if (!problem_.has_junk()) return;
        const bool *is_junk = problem_.junk.row(query);
        for (Index item = 0; item < problem_.junk.columns; ++item)
            if (is_junk[item] && item != own && problem_.ranked[at(item)]) exclude(item);
    }
    void subtract_excluded(std::int64_t query) {
        each_excluded(query, [](ColumnCounts &counts, bool relevant) { --counts.ranked, counts.relevant -= relevant; });
    }
    void restore_excluded(std::int64_t query) {
        each_excluded(query, [](ColumnCounts &counts, bool relevant) { ++counts.ranked, counts.relevant += relevant; });
    }

    /// Sort the columns that hold something ranked by places, which never decrease as the score grows: the place is in the
    /// high half of a key, the column in the low half. Places that differ by less than 2^REST may still be out of order.
    ///
    /// With `order_numbers`, whose items are longer and have three digits, a pass over two classes takes 1.3 to 1.6 times
    /// as long (20,000 rows of 64 numbers).
    void sort(const double *scores) {
        const Span<const double> row(scores, at(n_column_));
        const auto [low, high] = row_key_loops().ends(row);
        const double span = high - low;
        scale_ = span > 0 && span < std::numeric_limits<double>::max() ? HIGHEST_PLACE / span : 0;
        keys_.resize(at(n_column_));
        const std::size_t n = at(row_key_loops().make(row, low, scale_, counts_.data(), keys_.data()));
        std::array<std::array<std::uint32_t, DIGITS>, 2> starts{};
        keys_.resize(n), spare_.resize(n);
        for (std::uint64_t key : keys_)
            for (std::size_t d = 0; d < 2; ++d) ++starts[d][digit(key, d)];
        for (std::size_t d = 0; d < 2; ++d) {
            std::uint32_t sum = 0;
            for (std::uint32_t &start : starts[d]) sum += std::exchange(start, sum);
            for (std::uint64_t key : keys_) spare_[starts[d][digit(key, d)]++] = key;
            keys_.swap(spare_);
        }
    }

    static std::size_t digit(std::uint64_t key, std::size_t number) {
        return key >> (32 + REST + BITS * static_cast<int>(number)) & (DIGITS - 1);
    }
    /// The items that a column counts: mostly one, which the key says.
    ColumnCounts counts_of_key(std::uint64_t key) const {
        if (!is_one_item(key)) return counts_of(column_of(key));
        return {1, is_relevant(key)};
    }

    /// Write the groups of a sorted row, from its end on: runs of neighbours within their bounds are in exact order.
    void write(std::int64_t query, const double *scores, Writer &writer) {
        find_runs(query, scores);
        std::size_t run = runs_.size();
        Index entry = decided_.count.columns;
        for (std::size_t p = keys_.size(); p > 0;) {
            const std::size_t after = run > 0 ? runs_[run - 1].second : 0;
            while (p > after) {
                p = after + writer.add_items({keys_.data() + after, p - after});
                for (; p > after && !is_one_item(keys_[p - 1]); --p) writer.add(counts_of(column_of(keys_[p - 1])));
            }
            if (run == 0) continue;
            const std::size_t begin = runs_[--run].first;
            if (exact_) {
                ColumnCounts group;
                for (; p > begin; --p) group += counts_of_key(keys_[p - 1]);
                writer.add(group);
            } else {
                write_run(entry - static_cast<Index>(p - begin), entry, writer);
                entry -= static_cast<Index>(p - begin), p = begin;
            }
        }
    }

    /// The same for some entries of what is decided.
    void write_run(Index begin, Index end, Writer &writer) const {
        ColumnCounts group;
        for (Index entry = end - 1; entry >= begin; --entry) {
            group += counts_of(decided_.columns(0, entry));
            if (entry > begin && exact_groups_.of_entry(0, entry) == exact_groups_.of_entry(0, entry - 1)) continue;
            writer.add(group);
            group = {};
        }
    }

    ColumnCounts counts_of(std::int64_t column) const { return counts_[at(column)]; }

    /// Put all columns in the order of their scores, and find the runs that hold something relevant and whose scores do not
    /// decide the order, or are equal and exact; and the exact order of the former.
    void find_runs(std::int64_t query, const double *scores) {
        runs_.clear();
        decided_.count = {};
        double bound = 0;
        if (!exact_)
            for (const Band &band : scores_.bands)
                bound = std::max(bound, scores_.errors(scores_.last(), query, band).absolute);
        const double slack = 2 * bound * bounds::SEPARATED;
        const double closest = scale_ > 0 ? std::min(slack * scale_ + bounds::PLACES_OFF, HIGHEST_PLACE) : 0;
        const std::int64_t close = std::max(static_cast<std::int64_t>(closest), (std::int64_t{1} << REST) - 1);
        const Span<const std::uint64_t> keys(keys_);
        const auto are_close = [=](std::size_t p) { return place_of(keys[p]) - place_of(keys[p - 1]) <= close; };
        for (std::size_t end = 1; end < keys.size(); ++end) {
            if (!are_close(end)) continue;
            const std::size_t begin = end - 1;
            while (++end < keys.size() && are_close(end)) {
            }
            find_runs_in(begin, end, slack, scores);
        }
        if (!exact_ && !runs_.empty()) decide(query, scores);
    }

    /// The same for neighbours whose places are close.
    void find_runs_in(std::size_t begin, std::size_t end, double slack, const double *scores) {
        const auto less = [&](std::uint64_t a, std::uint64_t b) { return scores[column_of(a)] < scores[column_of(b)]; };
        const auto from = [&](std::size_t p) { return keys_.begin() + static_cast<Index>(p); };
        if (!std::is_sorted(from(begin), from(end), less)) std::sort(from(begin), from(end), less);
        for (std::size_t first = begin, last = begin; first < end; first = last) {
            bool any = is_relevant(keys_[first]);
            for (last = first + 1; last < end; ++last) {
                if (scores[column_of(keys_[last])] - scores[column_of(keys_[last - 1])] > slack) break;
                any |= is_relevant(keys_[last]);
            }
            if (last - first > 1 && any) runs_.emplace_back(first, last);
        }
    }

    void decide(std::int64_t query, const double *scores) {
        std::size_t n = 0;
        for (const auto &[begin, end] : runs_) n += end - begin;
        for (Table<std::int64_t> *table : {&decided_.columns, &decided_.count, &decided_.irrelevant})
            *table = Table<std::int64_t>(1, static_cast<Index>(n));
        decided_.score = Table<double>(1, static_cast<Index>(n)), decided_.bound = Table<double>(1, static_cast<Index>(n));
        std::size_t k = 0;
        for (const auto &[begin, end] : runs_)
            for (std::size_t p = begin; p < end; ++p, ++k) {
                decided_.columns.memory[k] = column_of(keys_[p]), decided_.count.memory[k] = 1;
                decided_.score.memory[k] = scores[column_of(keys_[p])];
            }
        const Numbers64 queries(n, query);
        scores_.pair_bounds(queries, {decided_.columns.row(0), n}, {decided_.score.row(0), n}, {decided_.bound.row(0), n});
        group_exactly(problem_, {&query, 1}, decided_.entries(), stop_, exact_groups_, false);
    }

    const Problem &problem_;
    const Scores &scores_;
    Int64s queries_;
    Matrix<const double> tile_;
    const StopFlag &stop_;
    Index n_column_;
    bool exact_;
    Buffer<ColumnCounts> counts_;  // of each column, for the query current
    Buffer<std::uint64_t> keys_, spare_;
    double scale_ = 0;  // from scores to places
    Buffer<std::int32_t> closer_;
    std::vector<std::pair<std::size_t, std::size_t>> runs_;
    RelevantItems decided_;  // the items of all runs, in their exact order, and
    TieGroups exact_groups_;
};

}  // namespace

// Batches ------------------------------------------------------------------------------------------------------------

SortedPass::SortedPass(const Problem &problem, const std::vector<Range> &ranges, Numbers64 queries, int threads)
    : problem_(problem), queries_(std::move(queries)) {
    const Index n_column = problem.n_column(), n_query = static_cast<Index>(queries_.size());
    most_ = std::clamp(SCORED_ROWS, LEAST_PAIRS / n_column, std::max<Index>(1, MOST_PAIRS / n_column));
    cut(ranges, SHARES * threads);
    for (Index b = 0; b < std::min(BATCHES, (n_query + most_ - 1) / most_); ++b)
        batches_[b].scores = Table<double>::unset(std::min(most_, n_query), n_column);
}

/// List the pieces, in about so many shares of a batch.
void SortedPass::cut(const std::vector<Range> &ranges, Index n_share) {
    const Index n_batch = (static_cast<Index>(queries_.size()) + most_ - 1) / most_;
    const Index in_cache = SLICE_BYTES / problem_.scores->bytes_of_row(problem_.scores->last());
    const Index width = std::max<Index>(1, std::min(in_cache, problem_.n_column() / n_share) / PANELS) * PANELS;
    const Index rows = std::max<Index>(1, most_ / n_share);
    std::vector<Index> taken(at(n_batch)), scored(at(n_batch));  // how many pieces there are up to what is done then
    for (Index step = -1; step <= n_batch; ++step) {
        const Index next = step + 1, to_sort = step - 1;
        if (next < n_batch) {
            pieces_.push_back(
                {.work = Piece::take, .batch = next, .after = next < BATCHES ? 0 : scored[at(next - BATCHES)]});
            taken[at(next)] = n_piece();
        }
        if (0 <= step && step < n_batch) {
            for (const Range &range : ranges)
                for (Index start = range.start; start < range.stop; start += width)
                    pieces_.push_back({.work = Piece::score,
                                       .batch = step,
                                       .after = taken[at(step)],
                                       .start = start,
                                       .stop = std::min(start + width, range.stop)});
            scored[at(step)] = n_piece();
        }
        if (0 <= to_sort) {
            const Index n = static_cast<Index>(queries_of(to_sort).size());
            for (Index start = 0; start < n; start += rows)
                pieces_.push_back({.work = Piece::sort,
                                   .batch = to_sort,
                                   .after = scored[at(to_sort)],
                                   .start = start,
                                   .stop = std::min(start + rows, n)});
        }
    }
}

Int64s SortedPass::queries_of(Index batch) const {
    const Int64s all(queries_);
    return all.subspan(at(batch * most_), std::min(at(most_), all.size() - at(batch * most_)));
}

void SortedPass::score(const Piece &piece) {
    const Scores &scores = *problem_.scores;
    Batch &rows_of_batch = batch(piece.batch);
    const Index n = piece.stop - piece.start;
    const Matrix<double> part{rows_of_batch.scores.row(0) + piece.start, rows_of_batch.rows.n, n,
                              rows_of_batch.scores.columns};
    const auto items = scores.item_of_column.subspan(at(piece.start), at(n));
    const Ready columns = scores.ready_columns(scores.last(), items);
    scores.products<double>(scores.last(), {rows_of_batch.rows, 0}, {columns, 0}, part);
    scores.finish<double>(items, part);
}

void SortedPass::work(Index number, const PackedGroups &groups, const StopFlag &stop, std::atomic<std::int64_t> &done) {
    const Piece &piece = pieces_[at(number)];
    Batch &rows_of_batch = batch(piece.batch);
    const auto queries = queries_of(piece.batch);
    if (piece.work == Piece::take) rows_of_batch.rows = problem_.scores->ready_queries(problem_.scores->last(), queries);
    if (piece.work == Piece::score) score(piece);
    if (piece.work != Piece::sort) return;
    const Index n = piece.stop - piece.start, n_column = rows_of_batch.scores.columns;
    SortedRows rows(problem_, queries.subspan(at(piece.start), at(n)),
                    {rows_of_batch.scores.row(piece.start), n, n_column, n_column}, stop);
    rows.write_groups(groups);
    done += n * n_column;
}

}  // namespace deadheat
