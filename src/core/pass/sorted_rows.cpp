#include "pass/sorted_rows.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "bounds.h"
#include "pass/grouping.h"

namespace deadheat {

namespace {

constexpr int BITS = 11;  // of a digit; the two leading ones of a place order a row but for few neighbours,
constexpr std::uint64_t DIGITS = 1 << BITS;
constexpr int REST = 32 - 2 * BITS;  // whose places have these bits left
constexpr double HIGHEST = 0xFFFFFFFF;

/// Ranked items, and the relevant ones among them.
struct Counts {
    std::int32_t ranked = 0, relevant = 0;

    void operator+=(Counts more) { ranked += more.ranked, relevant += more.relevant; }
};

/// The groups of one query, written nearest first.
struct Writer {
    std::int64_t place;
    std::int32_t *closer;  // with room for one more than there are
    std::vector<OtherGroup> &others;
    std::int64_t n_group = 0;
    Counts before = {};

    void add(Counts group) {
        closer[n_group] = before.ranked;  // whether it counts cannot be foretold
        const bool counts = group.relevant > 0;
        if (group.ranked != 1 && counts) others.push_back({place + n_group, group.ranked, group.relevant});
        n_group += counts;
        before += group;
    }
};

class SortedRows {
public:
    SortedRows(const Problem &problem, Span<const std::int64_t> queries, const std::atomic<bool> &stop)
        : problem_(problem),
          scores_(*problem.scores),
          queries_(queries),
          stop_(stop),
          n_column_(problem.n_column),
          exact_(scores_.levels.back().exact) {}

    void score(const std::vector<Range> &ranges, const std::vector<Ready> &columns) {
        const int last = scores_.last();
        const Ready left = scores_.ready_queries(last, queries_);
        tile_ = Table<double>::unset(left.n, n_column_);
        for (std::size_t r = 0; r < ranges.size(); ++r) {
            const Index n = ranges[r].stop - ranges[r].start;
            const Matrix<double> part{tile_.row(0) + ranges[r].start, left.n, n, n_column_};
            const auto items = scores_.item_of_column.subspan(at(ranges[r].start), at(n));
            const Ready own = columns.empty() ? scores_.ready_columns(last, items) : Ready();
            scores_.products<double>(last, left, 0, columns.empty() ? own : columns[r], 0, part);
            scores_.finish<double>(items, part);
        }
    }

    std::vector<OtherGroup> groups(CompactGroups into) {
        std::vector<OtherGroup> others;
        std::int64_t number = -1;
        for (Index i = 0; i < tile_.rows; ++i) {
            if (stop_) throw Stopped();
            const std::int64_t query = queries_[at(i)];
            if (problem_.has_several_labels())
                count_sharing(query);
            else if (i == 0 || problem_.query_class[at(query)] != number)
                count_class(number = problem_.query_class[at(query)]);
            take_out(query, -1);
            sort(tile_.row(i));
            closer_.resize(keys_.size() + 1);
            Writer writer{into.starts[at(query)], closer_.data(), others};
            write(query, tile_.row(i), writer);
            take_out(query, 1);
            into.put(writer.place, {closer_.data(), at(writer.n_group)});
            into.n_group[at(query)] = writer.n_group, into.n_relevant[at(query)] = writer.before.relevant;
        }
        return others;
    }

private:
    /// Count the items of each column that are ranked for a query of a class, and those that are relevant.
    void count_class(std::int64_t number) {
        counts_.assign(at(n_column_), {});
        for (std::size_t column = 0; column < counts_.size(); ++column) counts_[column].ranked = problem_.weight[column];
        if (number < 0) return;
        for (std::int64_t k = problem_.class_start[at(number)]; k < problem_.class_start[at(number + 1)]; ++k)
            counts_[at(problem_.class_keys[at(k)] - number * n_column_)].relevant =
                static_cast<std::int32_t>(problem_.class_count[at(k)]);
    }

    /// The same for a query with several labels.
    void count_sharing(std::int64_t query) {
        counts_.assign(at(n_column_), {});
        for (std::size_t item = 0; item < problem_.ranked.size(); ++item) {
            if (!problem_.ranked[item]) continue;
            const Counts one{1, problem_.is_relevant(query, static_cast<std::int64_t>(item))};
            counts_[at(problem_.column_of_item[item])] += one;
        }
    }

    /// Add to the counts, by −1 or 1, what does not count for one query: itself and junk.
    void take_out(std::int64_t query, std::int32_t by) {
        const auto add = [&](std::int64_t item) {
            Counts &counts = counts_[at(problem_.column_of_item[at(item)])];
            counts.ranked += by;
            if (problem_.is_relevant(query, item)) counts.relevant += by;
        };
        const std::int64_t own = problem_.itself.empty() ? -1 : problem_.itself[at(query)];
        if (own >= 0 && problem_.ranked[at(own)]) add(own);
        if (!problem_.has_junk()) return;
        const bool *is_junk = problem_.junk.row(query);
        for (Index item = 0; item < problem_.junk.columns; ++item)
            if (is_junk[item] && item != own && problem_.ranked[at(item)]) add(item);
    }

    /// Sort the columns that hold something ranked by places, which never decrease as the score grows: the place is in the
    /// high half of a key, the column in the low half. Places that differ by less than 2^REST may still be out of order.
    ///
    /// With `order_numbers`, whose items are longer and have three digits, a pass over two classes takes 1.3 to 1.6 times
    /// as long (20,000 rows of 64 numbers).
    void sort(const double *scores) {
        std::array<double, 8> lows, highs;
        lows.fill(scores[0]), highs.fill(scores[0]);
        for (Index column = 0; column < n_column_; ++column) {
            const std::size_t lane = at(column % 8);
            lows[lane] = std::min(lows[lane], scores[column]), highs[lane] = std::max(highs[lane], scores[column]);
        }
        const double low = *std::min_element(lows.begin(), lows.end());
        const double span = *std::max_element(highs.begin(), highs.end()) - low;
        scale_ = span > 0 && span < std::numeric_limits<double>::max() ? HIGHEST / span : 0;
        keys_.resize(at(n_column_)), spare_.resize(at(n_column_));
        std::array<std::array<std::uint32_t, DIGITS>, 2> starts{};
        std::size_t n = 0;
        for (Index column = 0; column < n_column_; ++column) {
            const double place = scale_ > 0 ? std::min((scores[column] - low) * scale_, HIGHEST) : 0;
            keys_[n] =
                static_cast<std::uint64_t>(static_cast<std::uint32_t>(place)) << 32 | static_cast<std::uint64_t>(column);
            n += counts_[at(column)].ranked > 0;
        }
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
    static std::int64_t place_of(std::uint64_t key) { return static_cast<std::int64_t>(key >> 32); }
    static std::int32_t column_of(std::uint64_t key) { return static_cast<std::int32_t>(key); }

    /// Write the groups of a sorted row, from its end on: runs of neighbours within their bounds are in exact order.
    void write(std::int64_t query, const double *scores, Writer &writer) {
        find_runs(query, scores);
        std::size_t run = runs_.size();
        Index entry = decided_.count.columns;
        for (std::size_t p = keys_.size(); p > 0;) {
            const std::size_t after = run > 0 ? runs_[run - 1].second : 0;
            for (; p > after; --p) writer.add(counts_of(column_of(keys_[p - 1])));
            if (run == 0) continue;
            const std::size_t begin = runs_[--run].first;
            if (exact_) {
                Counts group;
                for (; p > begin; --p) group += counts_of(column_of(keys_[p - 1]));
                writer.add(group);
            } else {
                write_run(entry - static_cast<Index>(p - begin), entry, writer);
                entry -= static_cast<Index>(p - begin), p = begin;
            }
        }
    }

    /// The same for some entries of what is decided.
    void write_run(Index begin, Index end, Writer &writer) const {
        Counts group;
        for (Index entry = end - 1; entry >= begin; --entry) {
            group += counts_of(decided_.columns(0, entry));
            if (entry > begin && exact_groups_.of_entry(0, entry) == exact_groups_.of_entry(0, entry - 1)) continue;
            writer.add(group);
            group = {};
        }
    }

    Counts counts_of(std::int64_t column) const { return counts_[at(column)]; }

    /// Put all columns in the order of their scores, and find the runs that hold something relevant and whose scores do not
    /// decide the order, or are equal and exact; and the exact order of the former.
    void find_runs(std::int64_t query, const double *scores) {
        runs_.clear();
        decided_.count = {};
        double bound = 0;
        if (!exact_)
            for (const Band &band : scores_.bands)
                bound = std::max(bound, scores_.errors(scores_.last(), query, band).absolute);
        const double slack = 2 * bound * bounds::APART;
        const double closest = scale_ > 0 ? std::min(slack * scale_ + bounds::PLACES_OFF, HIGHEST) : 0;
        const std::int64_t close = std::max(static_cast<std::int64_t>(closest), (std::int64_t{1} << REST) - 1);
        for (std::size_t begin = 0, end = 0; begin < keys_.size(); begin = end) {
            for (end = begin + 1; end < keys_.size() && place_of(keys_[end]) - place_of(keys_[end - 1]) <= close;) ++end;
            if (end - begin > 1) find_runs_in(begin, end, slack, scores);
        }
        if (!exact_ && !runs_.empty()) decide(query, scores);
    }

    /// The same for neighbours whose places are close.
    void find_runs_in(std::size_t begin, std::size_t end, double slack, const double *scores) {
        const auto less = [&](std::uint64_t a, std::uint64_t b) { return scores[column_of(a)] < scores[column_of(b)]; };
        const auto from = [&](std::size_t p) { return keys_.begin() + static_cast<Index>(p); };
        if (!std::is_sorted(from(begin), from(end), less)) std::sort(from(begin), from(end), less);
        for (std::size_t first = begin, last = begin; first < end; first = last) {
            bool any = counts_of(column_of(keys_[first])).relevant > 0;
            for (last = first + 1; last < end; ++last) {
                if (scores[column_of(keys_[last])] - scores[column_of(keys_[last - 1])] > slack) break;
                any |= counts_of(column_of(keys_[last])).relevant > 0;
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
        group_exactly(problem_, {&query, 1}, decided_, stop_, exact_groups_, false);
    }

    const Problem &problem_;
    const Scores &scores_;
    Span<const std::int64_t> queries_;
    const std::atomic<bool> &stop_;
    Index n_column_;
    bool exact_;
    Table<double> tile_;
    Buffer<Counts> counts_;  // of each column, for the query in hand
    Buffer<std::uint64_t> keys_, spare_;
    double scale_ = 0;  // from scores to places
    Buffer<std::int32_t> closer_;
    std::vector<std::pair<std::size_t, std::size_t>> runs_;
    RelevantItems decided_;  // the items of all runs, in their exact order, and
    TieGroups exact_groups_;
};

}  // namespace

std::vector<OtherGroup> sorted_groups(const Problem &problem, Span<const std::int64_t> queries,
                                      const std::vector<Range> &ranges, const std::vector<Ready> &columns,
                                      CompactGroups groups, const std::atomic<bool> &stop) {
    SortedRows rows(problem, queries, stop);
    rows.score(ranges, columns);
    return rows.groups(groups);
}

}  // namespace deadheat
