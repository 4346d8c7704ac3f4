// Discounted cumulative gain: see measures/discounted_gain.py.
#pragma once

#include "measures/double_double.h"
#include "measures/groups.h"

namespace deadheat {

/// Ranks from one kept running sum of the discounts to the next.
constexpr Index DISCOUNT_BLOCK = 64;

/// 1/log2(rank + 1) for every rank, and its sum up to every DISCOUNT_BLOCK-th rank, as double-doubles.
template <class Number>
struct Discounts {
    Span<Number> discount, high, low;
};
using DiscountTable = Discounts<const double>;

/// The relevant items by grade: of each group, (n_group, n_grade), and of each query.
struct Grades {
    Matrix<const std::int64_t> tied, relevant;
};

/// Fill in the table for the ranks behind `first`, a multiple of DISCOUNT_BLOCK, up to and with `last`; up to `first` it is.
void fill_discounts(Index first, Index last, Discounts<double> table);

/// Fill in nDCG, cut at rank `cutoff`, with the gains of the grades, ascending.
void discounted_gains(Index first, Index last, const Groups &groups, std::int64_t cutoff, const Grades &grades,
                      Span<const double> gains, const DiscountTable &table, Matrix<double> out);

/// Fill in the discounted gain of the best order of some queries, cut at the rank `cutoff` of each.
void ideal_gains(Matrix<const std::int64_t> relevant, Span<const double> gains, Span<const std::int64_t> cutoff,
                 const DiscountTable &table, Span<double> out);

/// Fill in the sum over the slots of each of some groups of (d − mean d)², d their discounts, 0 beyond the cutoff.
void discount_spreads(Span<const std::int64_t> closer, Span<const std::int64_t> tied, Span<const std::int64_t> slots,
                      Span<const double> discount, Span<double> out);

}  // namespace deadheat
