#include "counting/edges.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "ties/groups.h"

namespace deadheat {

namespace {

constexpr double INFINITE = std::numeric_limits<double>::infinity();
constexpr double LOWEST_EDGE = -3e38;  // below every score, and above the −infinity of what is left out

/// A number of type T that is not below the value: the lowest, or one that is found faster.
template <class T>
T not_below(double value, bool exactly) {
    if (!exactly) return static_cast<T>(value + (0x1p-23 * std::fabs(value) + 1e-37));
    const T edge = static_cast<T>(value);
    return edge >= value ? edge : next_number<T>(edge, std::numeric_limits<float>::min());
}

/// How far the score of something at a threshold may be off.
///
/// What is surely below a threshold v > S scores less than v + reach(v), because S + reach(S) grows with S as long as
/// the relative error is below 1; likewise above it.
double reach_at(double value, double absolute, double relative, double tiny) {
    if (!(relative < 1)) return absolute;
    const double size = std::fabs(value);
    const double reach = (relative * size + tiny) * (1 + 0x1p-50) + 0x1p-51 * size;  // and what rounds here
    return std::min(absolute, size > 0 ? reach + std::numeric_limits<double>::denorm_min() : tiny);
}

/// The bin of a score: it never decreases as the score grows, however the arithmetic rounds.
template <class T>
std::size_t bin(T score, T base, T scale, T top) {
    return static_cast<std::size_t>(std::min(std::max((score - base) * scale + T(1), T(0)), top));
}

}  // namespace

template <class T>
Index build_edges(Matrix<const double> low, Matrix<const double> high, Errors errors, bool closed, Matrix<T> edges) {
    Index most = 0;
    for (Index i = 0; i < low.rows; ++i) {
        const auto row = static_cast<std::size_t>(i);
        const double absolute = errors.absolute[row], relative = errors.relative[row], tiny = errors.tiny[row];
        double last = LOWEST_EDGE;
        Index n_edge = 0;
        for (Index g = 0; g < low.columns && low(i, g) != INFINITE; ++g) {
            const double below = std::max(low(i, g) - reach_at(low(i, g), absolute, relative, tiny), last);
            const double above = high(i, g) + reach_at(high(i, g), absolute, relative, tiny);
            if (!(below <= INFINITE && above <= INFINITE)) throw std::invalid_argument("a bound on a cut is not a number");
            edges(i, 2 * g) = closed ? not_below<T>(below, true) : static_cast<T>(below);
            edges(i, 2 * g + 1) = not_below<T>(std::max(above, below), closed);
            last = edges(i, 2 * g + 1);
            n_edge = 2 * g + 2;
        }
        std::fill(edges.row(i) + n_edge, edges.row(i) + edges.columns, std::numeric_limits<T>::infinity());
        most = std::max(most, n_edge);
    }
    return most;
}

void slots_of_zero(Matrix<const double> low, Matrix<const double> high, Span<std::int32_t> slots) {
    for (Index i = 0; i < low.rows; ++i) {
        const auto found = std::lower_bound(low[i].begin(), low[i].end(), 0.0) - low[i].begin();
        const bool is_zero = found < low.columns && low(i, found) == 0 && high(i, found) == next_number(0.0);
        slots[static_cast<std::size_t>(i)] = is_zero ? static_cast<std::int32_t>(2 * found + 1) : -1;
    }
}

template <class T, class Code>
void build_bins(Matrix<const T> edges, bool closed, Span<T> base, Span<T> scale, Matrix<Code> codes) {
    const auto n_bin = static_cast<std::size_t>(codes.columns);
    constexpr auto MARKED = static_cast<Code>(Code(1) << (8 * sizeof(Code) - 1));
    const T top = static_cast<T>(codes.columns - 1);
    std::vector<Index> in_bin(n_bin);  // edges
    for (Index i = 0; i < edges.rows; ++i) {
        const T *row = edges.row(i);
        T &from = base[static_cast<std::size_t>(i)], &by = scale[static_cast<std::size_t>(i)];
        const Index start = std::find_if(row, row + edges.columns, [](T e) { return e != T(LOWEST_EDGE); }) - row;
        const Index end = std::find(row + start, row + edges.columns, std::numeric_limits<T>::infinity()) - row;
        from = 0, by = 1;
        if (end > start) {
            const double span = static_cast<double>(row[end - 1]) - static_cast<double>(row[start]);
            from = row[start];
            by = static_cast<T>(static_cast<double>(codes.columns - 3) / std::max(span, 1e-25));
        }
        std::fill(in_bin.begin(), in_bin.end(), 0);
        for (Index slot = 0; slot < end; ++slot) ++in_bin[slot >= start ? bin(row[slot], from, by, top) : 0];
        Index slot = 0;
        for (std::size_t k = 0; k < n_bin; ++k) {
            const bool crowded = in_bin[k] > 0 || (slot % 2 == 1 && !closed);
            codes.row(i)[k] = static_cast<Code>(static_cast<Code>(slot) | (crowded ? MARKED : Code(0)));
            slot += in_bin[k];
        }
    }
}

template Index build_edges(Matrix<const double>, Matrix<const double>, Errors, bool, Matrix<float>);
template Index build_edges(Matrix<const double>, Matrix<const double>, Errors, bool, Matrix<double>);
template void build_bins(Matrix<const float>, bool, Span<float>, Span<float>, Matrix<std::uint16_t>);
template void build_bins(Matrix<const float>, bool, Span<float>, Span<float>, Matrix<std::uint32_t>);
template void build_bins(Matrix<const double>, bool, Span<double>, Span<double>, Matrix<std::uint16_t>);
template void build_bins(Matrix<const double>, bool, Span<double>, Span<double>, Matrix<std::uint32_t>);

}  // namespace deadheat
