// The rows of both sides of pairs, made ready for exact closeness, whatever their exponents.
//
//     product:    q·x
//     distance:   −Σ(q − x)², whose root is minus the distance
//     difference: −Σ|q − x|
//     cosine:     q·x, to be divided by the roots of q·q and x·x
#pragma once

#include <memory>

#include "exact/rows.h"

namespace deadheat {

/// As many limbs as a product of float64 numbers spans bits from one end of the range to 1, and one: cosines that differ
/// behind that are rare enough to be multiplied out.
constexpr int MOST_INVERSE_LIMBS = 34;

/// Divisors of cosines: the squares of the rows of both sides, and about one over the roots of those on the right
/// (root_keys.h). Copies share them.
struct Divisors {
    std::shared_ptr<const Numbers> left_squares, right_squares, inverses;
    int precision = 0;  // limbs of the inverses
};

class RootRows {
public:
    /// Once, if both sides are the same memory.
    template <class T>
    RootRows(KeyKind kind, Matrix<const T> left, Matrix<const T> right);

    KeyKind kind() const { return kind_; }
    /// The exact number of a pair; returns its sign.
    int number(Index row, Index other, Wide &out) const;
    const Divisors &divisors() const { return divisors_; }
    /// About how much memory a row takes.
    Index bytes() const;

    /// The order of pairs by strips of the rows on the right, so that those of a strip stay in cache.
    std::vector<Index> by_strips(Span<const std::int64_t> others) const;

private:
    /// Rows of few numbers that are short: where they have some, a bit each, and all as integers.
    struct SparseRows {
        Index words;
        std::vector<Limb> masks;
        std::vector<std::int64_t> integers;
        template <class T>
        SparseRows(Matrix<const T> rows, const ExactRows &exact);
    };

    void invert();
    int product(Index row, Index other, int shift, Wide &out) const;
    TwoLimbs sum_of_common(Index row, Index other) const;

    KeyKind kind_;
    std::shared_ptr<const ExactRows> right_, left_;
    std::shared_ptr<const SparseRows> right_few_, left_few_;
    Divisors divisors_;
};

}  // namespace deadheat
