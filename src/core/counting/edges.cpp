#include "counting/edges.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include "bounds.h"
#include "counting/tiles.h"
#include "ties/groups.h"

namespace deadheat {

namespace {

constexpr double INFINITE = std::numeric_limits<double>::infinity();
constexpr double LOWEST_EDGE = -3e38;  // below every score, and above the −infinity of what is left out
constexpr std::size_t CROWD = 8;       // edges in a bin that are many for it; where more than one of MANY edges
constexpr Index MANY = 64;             // comes after so many others in its bin, bins by places are tried

/// A number of type T that is not below the value: the lowest, or for float32 one that is found faster.
template <class T>
T not_below(double value, bool exactly) {
    if constexpr (sizeof(T) == sizeof(double)) return value;
    if (!exactly) return static_cast<T>(value + (bounds::OF_SINGLE * std::fabs(value) + bounds::LEAST_OF_SINGLE));
    const T edge = static_cast<T>(value);
    return edge >= value ? edge : next_number<T>(edge, std::numeric_limits<float>::min());
}

/// Bound the error of the score of an item at a threshold, from a relative error below 1.
///
/// An item surely below a threshold v > S scores less than v + reach(v), because S + reach(S) grows with S as long as
/// the relative error is below 1; likewise above it.
double bound_at(double value, const Errors &errors) {
    const double size = std::fabs(value);
    const double tolerance = (errors.relative * size + errors.tiny) * (1 + bounds::OF_TOLERANCE) + bounds::OF_EDGE * size;
    return std::min(errors.absolute, size > 0 ? tolerance + std::numeric_limits<double>::denorm_min() : errors.tiny);
}

/// The place of a number among all of its type, which grows with it: as many places to each power of two.
template <class T>
T place_of(T score) {
    using Whole = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
    const auto bits = std::bit_cast<Whole>(score + T(0));  // which makes −0 the 0 that it is equal to
    return static_cast<T>(bits ^ ((bits >> (8 * sizeof(T) - 1)) & std::numeric_limits<Whole>::max()));
}

/// The bins of some ascending edges, over which they are spread evenly, by their scores or by their places.
///
/// Bins never decrease as the score grows, however the arithmetic rounds.
template <class T>
struct Bins {
    T base = 0, scale = 1;
    std::vector<std::int32_t> numbers;

    void fill(const T *edges, Index n, Index n_bin, bool by_place) {
        if (by_place)
            fill(edges, n, n_bin, place_of<T>);
        else
            fill(edges, n, n_bin, [](T edge) { return edge; });
        if (by_place) scale = -scale;
    }

    template <class Value>
    void fill(const T *edges, Index n, Index n_bin, Value value) {
        base = 0, scale = 1;
        if (n > 0) {
            const double span = static_cast<double>(value(edges[n - 1])) - static_cast<double>(value(edges[0]));
            base = value(edges[0]);
            scale = static_cast<T>(static_cast<double>(n_bin - 3) / std::max(span, 1e-25));
        }
        const T top = static_cast<T>(n_bin - 1);
        numbers.resize(at(n));
        for (Index k = 0; k < n; ++k)
            numbers[at(k)] =
                static_cast<std::int32_t>(std::min(std::max((value(edges[k]) - base) * scale + T(1), T(0)), top));
    }

    /// Count the edges in a bin with CROWD others before them.
    Index crowded() const {
        Index n = 0;
        for (std::size_t k = CROWD; k < numbers.size(); ++k) n += numbers[k - CROWD] == numbers[k];
        return n;
    }
};

/// The edges of some rows, one row after the other.
template <class T>
class Edges {
public:
    Edges(Matrix<const double> low, Matrix<const double> high, Span<const Errors> errors, bool closed, Matrix<T> edges)
        : low_(low), high_(high), errors_(errors), closed_(closed), edges_(edges) {}

    /// Fill a row; returns how many edges it has.
    Index row(Index i) {
        const Errors &errors = errors_[at(i)];
        const double *low = low_.row(i), *high = high_.row(i);
        const Index n = std::find(low, low + low_.columns, INFINITE) - low;
        last_ = LOWEST_EDGE;
        for (Index begin = 0; begin < n; begin += RUN) {
            const Index some = std::min(RUN, n - begin);
            T *to = edges_.row(i) + 2 * begin;
            if (errors.relative < 1)
                widen(low + begin, high + begin, some, [&](double value) { return bound_at(value, errors); });
            else
                widen(low + begin, high + begin, some, [&](double) { return errors.absolute; });
            if (closed_ || some < RUN || !round_at_once(to)) round(some, to);
        }
        std::fill(edges_.row(i) + 2 * n, edges_.row(i) + edges_.columns, std::numeric_limits<T>::infinity());
        return 2 * n;
    }

private:
    static constexpr Index RUN = 32;  // intervals that are widened together
    Matrix<const double> low_, high_;
    Span<const Errors> errors_;
    bool closed_;
    Matrix<T> edges_;
    double last_ = LOWEST_EDGE;  // edge before those of a run
    double below_[RUN], above_[RUN];

    template <class Bound>
    void widen(const double *low, const double *high, Index n, Bound tolerance) {
        for (Index g = 0; g < n; ++g) {
            below_[g] = low[g] - tolerance(low[g]);
            above_[g] = high[g] + tolerance(high[g]);
        }
        bool known = true;
        for (Index g = 0; g < n; ++g) known &= (below_[g] <= INFINITE) & (above_[g] <= INFINITE);
        if (!known) throw std::invalid_argument("a bound on a cut is not a number");
    }

    /// Write the edges of a whole run, if none is moved by the edge before it but the lower ones of overlapping intervals.
    bool round_at_once(T *to) {
        T upper[RUN + 1];
        upper[0] = static_cast<T>(last_);
        for (Index g = 0; g < RUN; ++g) upper[g + 1] = not_below<T>(above_[g], false);
        bool ascending = true;
        for (Index g = 0; g < RUN; ++g) ascending &= (static_cast<double>(upper[g]) <= above_[g]) & (below_[g] <= above_[g]);
        if (!ascending) return false;
        for (Index g = 0; g < RUN; ++g) {
            to[2 * g] = static_cast<T>(std::max(below_[g], static_cast<double>(upper[g])));
            to[2 * g + 1] = upper[g + 1];
        }
        last_ = upper[RUN];
        return true;
    }

    /// Write the edges of some intervals one by one.
    void round(Index n, T *to) {
        for (Index g = 0; g < n; ++g) {
            const double below = std::max(below_[g], last_);
            to[2 * g] = closed_ ? not_below<T>(below, true) : static_cast<T>(below);
            to[2 * g + 1] = not_below<T>(std::max(above_[g], below), closed_);
            last_ = to[2 * g + 1];
        }
    }
};

}  // namespace

template <class T>
Index build_edges(Matrix<const double> low, Matrix<const double> high, Span<const Errors> errors, bool closed,
                  Matrix<T> edges) {
    Index most = 0;
    Edges<T> rows(low, high, errors, closed, edges);
    for (Index i = 0; i < low.rows; ++i) most = std::max(most, rows.row(i));
    return most;
}

template <class T>
void build_bins(Matrix<const T> edges, bool closed, Span<T> base, Span<T> scale, Matrix<std::uint16_t> codes) {
    const auto n_bin = at(codes.columns);
    const std::int32_t openable = closed ? 0 : 1;
    std::vector<std::int32_t> after(n_bin);  // for bins with edges, how many edges there are up to the last of them
    Bins<T> by_score, by_place;
    for (Index i = 0; i < edges.rows; ++i) {
        const T *row = edges.row(i);
        const Index start = std::upper_bound(row, row + edges.columns, T(LOWEST_EDGE)) - row;
        const Index end = std::lower_bound(row + start, row + edges.columns, std::numeric_limits<T>::infinity()) - row;
        const Bins<T> *bins = &by_score;
        by_score.fill(row + start, end - start, codes.columns, false);
        if (MANY * by_score.crowded() > end - start) {
            by_place.fill(row + start, end - start, codes.columns, true);
            if (2 * by_place.crowded() <= by_score.crowded()) bins = &by_place;
        }
        base[at(i)] = bins->base, scale[at(i)] = bins->scale;
        std::fill(after.begin(), after.end(), 0);
        if (start > 0) after[0] = static_cast<std::int32_t>(start);
        for (Index slot = start; slot < end; ++slot)
            after[at(bins->numbers[at(slot - start)])] = static_cast<std::int32_t>(slot + 1);
        std::uint16_t *out = codes.row(i);
        std::int32_t slot = 0;
        for (std::size_t k = 0; k < n_bin; ++k) {  // without a branch: whether a bin has an edge cannot be predicted
            const std::int32_t edges_up_to = after[k], listed = std::min<std::int32_t>(slot, MOST_SLOT);
            const bool unsure = (edges_up_to != 0) | ((slot & openable) != 0) | (listed == MOST_SLOT);
            out[k] = static_cast<std::uint16_t>(listed | unsure << 15);
            slot = std::max(slot, edges_up_to);
        }
    }
}

template Index build_edges(Matrix<const double>, Matrix<const double>, Span<const Errors>, bool, Matrix<float>);
template Index build_edges(Matrix<const double>, Matrix<const double>, Span<const Errors>, bool, Matrix<double>);
template void build_bins(Matrix<const float>, bool, Span<float>, Span<float>, Matrix<std::uint16_t>);
template void build_bins(Matrix<const double>, bool, Span<double>, Span<double>, Matrix<std::uint16_t>);

}  // namespace deadheat
