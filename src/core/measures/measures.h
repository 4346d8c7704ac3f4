// The loops of the measures. The closed forms, and where they come from, are in src/deadheat/measures, a module a family.
#pragma once

#include "measures/double_double.h"
#include "measures/profile.h"
#include "support/targets.h"

namespace deadheat {

/// The lower, expected and upper sum over the groups of a query. Groups without a tie to break are added up once, for all
/// three; so these are equal, bit by bit, where no group is mixed.
struct Sums {
    bool mixed = false;
    DoubleDouble common, lower, expected, upper;

    /// Store the sums over a divisor, up to `most`.
    void store(Index query, double divisor, double most, Values values) const {
        if (!mixed) return values.store(query, std::min(common.value() / divisor, most));
        values.store(query, (common + lower).value() / divisor, (common + expected).value() / divisor,
                     std::min((common + upper).value() / divisor, most));
    }
};

/// Fill in AUC, from the pairs of a relevant item and an irrelevant one in front of it, or at the same distance.
void areas(QueryRange queries, const Profile &groups, Matrix<double> out);

/// A multiple of the number of hits: `factor` of it, over `size` + `share` · `n_relevant`.
struct HitRatio {
    double factor, size, share;
};

/// Fill in the ratio of the hits in the first `cutoff` ranks.
void hits(QueryRange queries, const Profile &groups, std::int64_t cutoff, HitRatio ratio, Matrix<double> out);

/// Fill in Hit@k or the reciprocal rank: only the first group matters. A mean over its slots is left NaN.
void first_hits(QueryRange queries, const Profile &groups, std::int64_t cutoff, bool reciprocal, Matrix<double> out);

/// Fill in mINP: only the last group matters, if nothing relevant is missing. A mean over its slots is left NaN.
void inverse_penalties(QueryRange queries, const Profile &groups, Matrix<double> out);

/// Groups by themselves, and how many slots of each count.
struct SlottedGroups {
    Int64s closer, tied, tied_relevant, slots;
};

/// A function f of the slot i of the first of the relevant items of a group. Up to `slots`, f(i) is 1 for kind 0, one over
/// the rank counted from the front for kind 1 and from the back (the slot of the last of the relevant items) for kind −1;
/// beyond it 0. Where `centred`, it is the distance to f(1) instead: the variance is the same, and small differences keep
/// their digits. Where `squared`, (f(i) − shift)² takes its place.
struct SlotFunction {
    int kind;
    bool centred, squared;
};

struct FirstLastHitLoops {
    /// Fill in the expectation of a function of the slot, in random order of each group.
    ///
    /// P(i + 1) = P(i) (tied − tied_relevant − i + 1)/(tied − i), from P(1) = tied_relevant/tied.
    void (*slot_expectations)(const SlottedGroups &groups, SlotFunction function, Span<const double> shift,
                              Span<double> out);
};

DEADHEAT_DECLARE_LOOPS(FirstLastHitLoops, first_last_hit_loops)

/// Fill in mean and variance of one over the rank of an item that is at each of `size` ranks behind `closer` with the same
/// chance, and counts as 0 beyond the first `slots` of these; in closed form, whatever the size.
void reciprocal_moments(Int64s closer, Int64s size, Int64s slots, Span<double> mean, Span<double> variance);

/// Fill in AP, cut at rank `cutoff`, divided by `n_relevant`.
void average_precisions(QueryRange queries, const Profile &groups, std::int64_t cutoff, Matrix<double> out);

struct AveragePrecisionLoops {
    /// Add the precisions at groups from `group` on, as long as many of them in a row are one item each, within rank
    /// `last_rank`; return the next group. The bits of the sum are those of `accumulate` for each of them.
    std::int64_t (*add_single_items)(const Profile &groups, std::int64_t group, std::int64_t end, std::int64_t last_rank,
                                     DoubleDouble &sum);
};

DEADHEAT_DECLARE_LOOPS(AveragePrecisionLoops, average_precision_loops)

/// Fill in the variance of the sum of the precisions at the relevant ranks of each of some mixed groups, over its orders.
void precision_variances(Int64s closer, Int64s closer_relevant, Int64s tied, Int64s tied_relevant, Int64s slots,
                         Span<double> out);

/// Ranks from one kept running sum of the discounts to the next.
constexpr Index DISCOUNT_BLOCK = 64;

/// 1/log2(rank + 1) for every rank, and its sum up to every DISCOUNT_BLOCK-th rank, as double-doubles.
template <class Number>
struct Discounts {
    Span<Number> discount, high, low;
};
using DiscountTable = Discounts<const double>;

/// The relevant items by grade: of each group, (n_group, n_grade), and of each query; and the gains of the grades,
/// ascending.
struct Grades {
    Matrix<const std::int64_t> tied, relevant;
    Span<const double> gains;
};

/// Fill in the table for the ranks behind `first`, a multiple of DISCOUNT_BLOCK, up to and with `last`; up to `first` it is.
void fill_discounts(Index first, Index last, Discounts<double> table);

/// Fill in nDCG, cut at rank `cutoff`.
void discounted_gains(QueryRange queries, const Profile &groups, std::int64_t cutoff, const Grades &grades,
                      const DiscountTable &table, Matrix<double> out);

/// Fill in the discounted gain of the best order of some queries, cut at the rank `cutoff` of each.
void ideal_gains(Matrix<const std::int64_t> relevant, Span<const double> gains, Int64s cutoff, const DiscountTable &table,
                 Span<double> out);

/// Fill in the sum over the slots of each of some groups of (d − mean d)², d their discounts, 0 beyond the cutoff.
void discount_deviations(Int64s closer, Int64s tied, Int64s slots, Span<const double> discount, Span<double> out);

/// Fill in ERR, cut at rank `cutoff`: `by_grade` is the relevant items of each group, (n_group, n_grade), `chances` the
/// chance that an item of each grade satisfies the reader of each query, (n_query, n_grade).
void expected_reciprocal_ranks(QueryRange queries, const Profile &groups, std::int64_t cutoff,
                               Matrix<const std::int64_t> by_grade, Matrix<const double> chances, Matrix<double> out);

}  // namespace deadheat
