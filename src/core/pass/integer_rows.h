// Rows as integers of at most 63 bits times a power of two, and the exact closeness of pairs of them.
//
//     product:    a = q·x                   every query in a unit of its own, all items in one
//     distance:   a = 2·q·x − x·x           all in one unit: ranks as minus the Euclidean distance does
//     difference: a = −Σ|q − x|             all in one unit
//     cosine:     a = q·x, with x·x         every row in a unit of its own; a/√(x·x) ranks as the cosine does
#pragma once

#include <cmath>
#include <memory>

#include "bounds.h"
#include "exact/sums.h"
#include "pass/source.h"
#include "support/memory.h"

namespace deadheat {

using Integer = SignedTwoLimbs;

/// The exact closeness of a pair, as it compares with others of the same query.
struct ShortNumber {
    Integer a;
    std::int64_t item;  // of a cosine: its squared norm divides a,
    double about;       // and the quotient with its root, about
};

class IntegerRows {
public:
    /// Null where a row has too many bits, or rows are too many to be kept.
    static std::unique_ptr<IntegerRows> of(KeyKind kind, const Source &query, const Source &item, bool same);

    /// −1, 0 or 1, as one number is less than, equal to or greater than another of the same query.
    int compare(const ShortNumber &one, const ShortNumber &other) const {
        if (kind_ != KeyKind::cosine) return (one.a > other.a) - (one.a < other.a);
        if (std::fabs(one.about - other.about) <= bounds::OF_COSINE * std::fabs(one.about))
            return compare_cosines(one, other);
        return one.about > other.about ? 1 : -1;
    }

private:
    friend class IntegerPairs;
    IntegerRows() = default;
    int compare_cosines(const ShortNumber &one, const ShortNumber &other) const;
    ShortNumber finished(Integer product, std::int64_t item) const;

    KeyKind kind_ = KeyKind::product;
    Index dim_ = 0;
    bool one_word_ = false;  // which holds any sum
    std::vector<std::int64_t> query_memory_, item_memory_;
    const std::vector<std::int64_t> *query_ = nullptr;
    std::vector<Integer> of_item_;       // squares of rows, or sums of their sizes where differences count
    std::vector<double> inverse_norms_;  // about 1/√square of items, of cosines
};

/// Makes the numbers of pairs, one query after another: from its numbers that are not 0.
class IntegerPairs {
public:
    explicit IntegerPairs(const IntegerRows &rows) : rows_(rows) {}
    ShortNumber number(std::int64_t query, std::int64_t item);

private:
    struct Term {
        std::int64_t number;
        Index position;
    };

    const IntegerRows &rows_;
    std::int64_t query_ = -1;
    std::vector<Term> terms_;
};

}  // namespace deadheat
