// The closeness of pairs in about twice the precision of float64, with a bound for each pair: it distinguishes nearly all
// that float64 does not and that is no real tie, at a tenth of the price of integers, however far apart exponents are.
//
//     product:  A = q·x, every q in a unit of its own
//     distance: A = 2·q·x − x·x, all in one unit, which ranks as minus the Euclidean distance does
//     cosine:   A = q·x/‖x‖, every row in a unit of its own
//
// Products of rows are those of Ogita, Rump and Oishi (Accurate sum and dot product, 2005), here with their rest: value +
// rest is off by at most γ² Σ|q_k x_k|, with γ for dim + 64 roundings. Only numbers of the same query compare.
#pragma once

#include <memory>
#include <vector>

#include "exact/root_thresholds.h"
#include "exact/rows.h"
#include "support/memory.h"
#include "support/targets.h"

namespace deadheat {

/// A real number that is off value + rest by at most the error; value is the float nearest to both.
struct Dot2Number {
    double value, rest, error;
};

/// A sum of products as value + rest, and the sum of their sizes, rounded.
struct Dot2Sum {
    double value, rest, size;
};

struct Dot2Loops {
    /// The product of two rows as long as a multiple of DOT2_PADDING.
    Dot2Sum (*product)(const double *left, const double *right, Index padded);
};

constexpr Index DOT2_PADDING = 32;

DEADHEAT_DECLARE_LOOPS(Dot2Loops, dot2_loops)

/// The rows of both sides of pairs, made ready: any kind but differences. Where both are the same memory, and in the same
/// units, that is done once.
class Dot2Rows {
public:
    /// No number of either side is as large as 2^(exponent + 1).
    template <class T>
    Dot2Rows(KeyKind kind, Matrix<const T> left, Matrix<const T> right, int exponent);

    Dot2Number closeness(Index row, Index other) const;
    /// About how much memory a row takes.
    Index bytes() const { return (padded_ + 3) * static_cast<Index>(sizeof(double)); }

private:
    using Memory = std::shared_ptr<Buffer<double>>;

    template <class T>
    Memory scaled(Matrix<const T> rows, bool each, int exponent) const;
    Dot2Number product(const double *left, const double *right) const;

    KeyKind kind_;
    Index dim_, padded_;
    double tiny_, part_;  // what a product errs by: what may have underflowed, and a part of the sizes of its terms
    Memory right_, left_;
    std::vector<Dot2Number> of_right_;  // of each row x·x, or 1/‖x‖ with the part of itself that it errs by
};

/// The thresholds of a block of queries, by row and group, and the counting of what lies between them.
class Dot2Thresholds {
public:
    Dot2Thresholds(Index n_row, Index n_group)
        : places_(n_row, n_group),
          memory_(static_cast<std::size_t>(n_row * n_group)),
          values_{memory_.data(), n_row, n_group, n_group} {}

    std::vector<std::pair<Index, Index>> unknown(Span<const std::int64_t> rows, Span<const std::int64_t> low,
                                                 Span<const std::int64_t> high) {
        return places_.unknown(rows, low, high);
    }
    Dot2Thresholds(const Dot2Thresholds &) = delete;  // the matrix is that of its own memory
    Dot2Thresholds &operator=(const Dot2Thresholds &) = delete;

    /// Add the thresholds of groups: the closeness of pairs left[p], right[p] of rows.
    void add(const Dot2Rows &pairs, Span<const std::int64_t> left, Span<const std::int64_t> right,
             Span<const std::int64_t> rows, Span<const std::int64_t> groups);
    /// Count pairs that lie between thresholds low[p] and high[p] of their row, in slot 2g below threshold g, and say of
    /// which `decided` that it is counted; of the others low and high become closer.
    void count(const Dot2Rows &pairs, Span<const std::int64_t> left, Span<const std::int64_t> right,
               Span<const std::int64_t> rows, Span<std::int64_t> low, Span<std::int64_t> high,
               Span<const std::int32_t> weights, Matrix<std::int32_t> counts, Span<bool> decided) const;

private:
    Index guess(const Dot2Number &number, Index row, Index low, Index high) const;
    void narrow(const Dot2Number &number, Index row, std::int64_t &low, std::int64_t &high) const;

    ThresholdPlaces places_;
    std::vector<Dot2Number> thresholds_;
    std::vector<double> memory_;
    Matrix<double> values_;  // of the thresholds, by row and group
};

}  // namespace deadheat
