// Exact closeness of many pairs as integers of a fixed size, which are compared at once and kept only for thresholds.
//
//     product:    A = q·x, all in one unit
//     distance:   A = 2·q·x − x·x, all in one unit, which ranks as minus the Euclidean distance does
//     difference: A = −Σ|q − x|, all in one unit
//     cosine:     A/√X with A = q·x and X = x·x, every row in a unit of its own: those of x cancel, that of q is the same
//
// Only numbers of the same query compare.
#pragma once

#include <memory>

#include "exact/rows.h"
#include "exact/thresholds.h"

namespace deadheat {

constexpr int MOST_KEY_LIMBS = 6;  // or 2, or 4

/// An integer of 64·L bits in two's complement.
template <int L>
struct Whole {
    Limb limbs[L];
};

/// The closeness of a pair. `estimate` is that of a cosine, with a relative error below 2^-50; 0 stands for 0 alone.
template <int L>
struct Key {
    Whole<L> number, square;
    double estimate;
};

/// The rows of both sides of pairs, made ready for keys of so many limbs: once, if both sides are the same memory.
class KeyRows {
public:
    /// `bits` are those of all rows of both sides, for numbers in one unit. Keys must have room for all that can come.
    template <class T>
    KeyRows(KeyKind kind, int limbs, Matrix<const T> left, Matrix<const T> right, BitRange bits);

    KeyKind kind() const { return kind_; }
    int limbs() const { return limbs_; }
    template <int L>
    void key(Index row, Index other, Key<L> &out) const;

private:
    /// Rows of few numbers: where they have some, a bit each, and as integers where products of these fit keys of two limbs.
    struct SparseRows {
        Index words;
        std::vector<Limb> masks;
        std::vector<std::int64_t> integers;
        template <class T>
        SparseRows(Matrix<const T> rows, const ExactRows &exact, int limbs);
    };

    int places_of(Index row, Index other, std::int64_t *places) const;
    int places_of_common(Index row, Index other, std::int64_t *places) const;
    TwoLimbs sum_of_common(Index row, Index other) const;
    template <int L>
    Whole<L> number(Index row, Index other) const;

    KeyKind kind_;
    int limbs_;
    int unit_;  // exponent of the unit of all numbers that have one
    std::shared_ptr<ExactRows> right_, left_;
    bool sparse_ = false;
    std::shared_ptr<const SparseRows> left_few_, right_few_;
    std::vector<Limb> squares_;      // of the rows on the right, `limbs` each
    std::vector<double> shortened_;  // 1/√square, 0 for 0
};

/// The thresholds of a block of queries, by row and group, and the counting of what lies between them.
class KeyThresholds {
public:
    KeyThresholds(KeyKind kind, int limbs, Index n_row, Index n_group)
        : kind_(kind), limbs_(limbs), places_(n_row, n_group) {}

    std::vector<std::pair<Index, Index>> unknown(Span<const std::int64_t> rows, Span<const std::int64_t> low,
                                                 Span<const std::int64_t> high) {
        return places_.unknown(rows, low, high);
    }
    /// Add the thresholds of groups: the closeness of pairs left[p], right[p] of rows.
    void add(const KeyRows &pairs, Span<const std::int64_t> left, Span<const std::int64_t> right,
             Span<const std::int64_t> rows, Span<const std::int64_t> groups);
    /// Count pairs that lie between thresholds low[p] and high[p] of their row, in slot 2g below and 2g + 1 at threshold g.
    void count(const KeyRows &pairs, Span<const std::int64_t> left, Span<const std::int64_t> right,
               Span<const std::int64_t> rows, Span<const std::int64_t> low, Span<const std::int64_t> high,
               Span<const std::int32_t> weights, Matrix<std::int32_t> counts) const;

private:
    template <int L>
    void add_keys(std::vector<Key<L>> &keys, const KeyRows &pairs, Span<const std::int64_t> left,
                  Span<const std::int64_t> right) const;
    template <int L>
    Index slot(const std::vector<Key<L>> &keys, const Key<L> &key, Index row, Index low, Index high) const;

    KeyKind kind_;
    int limbs_;
    ThresholdPlaces places_;
    std::vector<Key<2>> short_;
    std::vector<Key<4>> long_;
    std::vector<Key<MOST_KEY_LIMBS>> longest_;
};

}  // namespace deadheat
