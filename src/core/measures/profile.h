// Shared by several families of measures: a tie profile as the loops see it, the last rank that counts, and the storage of
// values.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "support/views.h"

namespace deadheat {

using Count = std::int64_t;

constexpr double NOT_A_NUMBER = std::numeric_limits<double>::quiet_NaN();

inline double real(Count count) { return static_cast<double>(count); }

/// A tie profile. The groups of a query are those from offsets[query] to offsets[query + 1], nearest first.
struct Profile {
    Int64s offsets;
    Int64s closer, closer_relevant, tied, tied_relevant;  // of groups
    Int64s n_ranked, n_relevant;                          // of queries

    /// The last rank that counts, no larger than need be. A cutoff of 0 stands for the number of relevant items.
    std::int64_t last_rank(Index query, std::int64_t cutoff) const {
        return cutoff == 0 ? n_relevant[query] : std::min(std::max(n_ranked[query], n_relevant[query]), cutoff);
    }

    /// Return the value of a query without any group: 0, or NaN if nothing is relevant.
    double nothing(Index query) const { return n_relevant[query] > 0 ? 0.0 : NOT_A_NUMBER; }
};

/// The queries that one call fills in the values of.
struct QueryRange {
    Index first, last;
};

/// The lower, expected and upper value of each query, (3, n_query).
struct Values {
    Matrix<double> out;

    /// Keep the values of a query, and take back what rounding may have put out of order; NaN stays NaN.
    void store(Index query, double lower, double expected, double upper) const {
        upper = upper < lower ? lower : upper;
        expected = expected < lower ? lower : expected;
        expected = expected > upper ? upper : expected;
        out(0, query) = lower;
        out(1, query) = expected;
        out(2, query) = upper;
    }

    void store(Index query, double all_three) const { out(0, query) = out(1, query) = out(2, query) = all_three; }
};

}  // namespace deadheat
