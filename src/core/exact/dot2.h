// The closeness of pairs in about double-double of float64, with a bound for each pair: it distinguishes nearly all
// that float64 does not and that is no real tie, at a tenth of the price of exact sums.
//
//     product:    A = q·x
//     distance:   A = 2·q·x − x·x, which ranks as minus the Euclidean distance does
//     difference: A = −Σ|q − x|
//     cosine:     A = q·x/‖x‖
//
// Sums are those of Ogita, Rump and Oishi (Accurate sum and dot product, 2005), here with their rest and with the sizes of
// what each step has lost: the error is what was lost, not what might have been, and where that is nothing the number is
// exact. So are most sums of saturated rows, of ones and a few tiny numbers. Only numbers of the same query compare.
#pragma once

#include <cmath>

#include "bounds.h"
#include "exact/sums.h"
#include "support/float_mode.h"
#include "support/targets.h"
#include "support/views.h"

namespace deadheat {

/// A real number that is off value + rest by at most the error; value is the float nearest to both.
struct Dot2Number {
    double value, rest, error;

    /// −1 or 1 as a number is surely less or greater than another, else 0.
    static int compare(const Dot2Number &a, const Dot2Number &b) {
        const double values = a.value - b.value, rests = a.rest - b.rest, difference = values + rests;
        const double sizes = std::fabs(values) + std::fabs(rests);
        const double slack = (a.error + b.error + bounds::OF_PARTS * sizes) * bounds::OF_BOUND;
        return (difference > slack) - (difference < -slack);
    }
    /// Return whether both are exact, and the same.
    static bool equal(const Dot2Number &a, const Dot2Number &b) {
        return a.error == 0 && b.error == 0 && a.value == b.value && a.rest == b.rest;
    }
};

/// A sum of products or differences as value + rest, and the sum of the sizes of what is lost, rounded.
struct Dot2Sum {
    double value, rest, lost;
};

/// Sums over rows of `dim` numbers, each times a scale where they are of float64: a power of two.
template <class T>
struct Dot2Loops {
    Dot2Sum (*product)(const T *left, const T *right, Index dim, double scale);
    Dot2Sum (*difference)(const T *left, const T *right, Index dim, double scale);
};

DEADHEAT_DECLARE_LOOPS(BothTypes<Dot2Loops>, dot2_loops)

/// Products of the rows of one problem, of `dim` numbers at most: places at which both rows have 0 can be left out.
class Dot2 {
public:
    /// No number of any row is as large as 2^(largest + 1), or smaller than 2^smallest unless it is 0.
    Dot2(KeyKind kind, Index dim, int smallest, int largest);

    /// The part of an item alone: x·x, or 1/‖x‖ with the part of itself that it errs by.
    template <class T>
    Dot2Number of_item(const T *item, Index dim) const;
    template <class T>
    Dot2Number closeness(const T *query, const T *item, Index dim, const Dot2Number &of_item) const;
    /// Return whether anything belongs to an item alone.
    bool has_items() const { return kind_ == KeyKind::distance || kind_ == KeyKind::cosine; }

private:
    template <class T>
    Dot2Number sum(const T *left, const T *right, Index dim, bool difference) const;

    KeyKind kind_;
    double scale_, tiny_;  // the part of a sum of float64 numbers that may have underflowed
};

}  // namespace deadheat
