// Input of a counting pass: scores, the relevant items of queries, weights of columns, and the meaning of "tied".
#pragma once

#include <memory>

#include "counting/columns.h"
#include "counting/same_pattern.h"
#include "pass/exact_pairs.h"
#include "pass/scores.h"
#include "ties/groups.h"

namespace deadheat {

/// Single items: their rows in the block, columns, intervals near which they may be (−1 if none is known), the ranked items
/// in each column, and scores of the last level, which may still be missing.
struct SingleItems {
    Numbers64 rows{}, columns{}, guess{}, weights{};
    std::vector<double> scores{};
};

/// The relevant columns of some queries, (n_row, width): the relevant and the irrelevant items in each, its score, and how
/// far that may be off. Entries of no relevant item have a score that is not a number.
struct RelevantItems {
    Numbers64 queries;
    Table<std::int64_t> columns, count, irrelevant;
    Table<double> score, bound;
    Table<std::int32_t> excluded = {};  // columns that tiles leave out, ascending, padded with n_column
    SingleItems singles = {};           // the items of these that are counted singly

    Entries entries() { return {columns, count, irrelevant, score, bound}; }
};

/// The tie groups of some queries, farthest first, (n_row, most groups).
struct TieGroups {
    Numbers64 queries, n_group;
    Table<double> score, bound;    // of a member of each; where all rows have one bound each it is (n_row, 1)
    Table<std::int32_t> total;     // relevant items in each
    Table<std::int32_t> columns;   // of that member, and
    Table<std::int64_t> of_entry;  // the group of each entry; both empty where groups are one item each, by score
};

/// Ascending thresholds: intervals of scores that hold `each` of them. An item whose score is at least `high` is above all
/// in the interval, one whose score is below `low` above none. Infinite in padding.
struct CutBounds {
    Table<double> low, high;
    Index per_interval = 2;
    bool sharp = false;  // scores are exact, and each interval is the least score above its threshold
};

/// An item that lies between two intervals of its row.
struct UndecidedItem {
    std::int32_t row, column, low, high, weight;
};
using UndecidedItems = std::vector<UndecidedItem>;

/// The thresholds of some queries under a rule of Python's, where "tied" is not by the exact closeness.
class Decision {
public:
    virtual ~Decision() = default;
    /// Count the thresholds of sequence number `counter` that each item is above; it lies between those of its intervals.
    virtual Numbers64 cuts_below(Index counter, const UndecidedItems &items) = 0;
};

/// The groups of some queries, with their thresholds: one sequence with two for each group, or two with one each, tied or
/// closer, and closer.
struct Grouped {
    TieGroups groups{};
    std::vector<CutBounds> cuts{};
    std::unique_ptr<Decision> decision{};  // null where the exact closeness decides
};

class Rule {
public:
    virtual ~Rule() = default;
    /// Sort relevant items into groups, by each of one or several meanings of "tied".
    virtual std::vector<Grouped> group(RelevantItems &relevant) const = 0;
};

struct Problem {
    const Scores *scores = nullptr;
    const ExactPairs *exact = nullptr;   // null where scores of the last level are exact
    const Rule *rule = nullptr;          // null where items tie whose closeness is equal as a real number
    const Patterns *patterns = nullptr;  // of rows of few different numbers
    Span<const std::int32_t> weight;     // ranked items in each column
    bool plain = false;                  // whether that is 1 for all
    ClassColumns class_columns;
    Int64s query_class, gallery_class, column_of_item;
    Int64s itself;  // the item that each query is, −1 for none; empty where none is any
    Span<const bool> ranked;
    Matrix<const bool> junk;                                // by pairs; no rows where none is
    ItemLists items;                                        // in each column, where there is junk
    Matrix<const std::uint64_t> query_labels, item_labels;  // bits, of rows with several labels; or no rows
    Index least_for_int8 = 0;  // pairs of queries and columns, for which it pays to judge the filter: int8_filter.h

    Index n_column() const { return static_cast<Index>(scores->n_column()); }
    bool has_junk() const { return junk.rows > 0; }
    bool has_several_labels() const { return query_labels.rows > 0; }
    /// Return whether an item is of the class of a query or, with several labels, shares one with it.
    bool is_relevant(std::int64_t query, std::int64_t item) const {
        if (!has_several_labels()) return gallery_class[at(item)] == query_class[at(query)];
        const std::uint64_t *mine = query_labels.row(query), *theirs = item_labels.row(item);
        std::uint64_t shared = 0;
        for (Index w = 0; w < query_labels.columns; ++w) shared |= mine[w] & theirs[w];
        return shared != 0;
    }
    /// In how many columns the class of a query is.
    Index width(std::int64_t query) const { return class_columns.width(query_class[at(query)]); }
    /// The ranked items in each of some columns.
    Numbers64 weights_of(Int64s columns) const {
        Numbers64 weights;
        for (std::int64_t column : columns) weights.push_back(weight[at(column)]);
        return weights;
    }
};

/// The relevant columns of a block of queries, with scores, and the items in them that are counted singly.
RelevantItems relevant_items(const Problem &problem, Int64s queries);

/// The columns outside a query's class that tiles left out for junk by pairs but that hold items that do count.
SingleItems next_to_junk(const Problem &problem, Int64s queries);

}  // namespace deadheat
