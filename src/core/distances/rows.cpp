// Loops over rows that compare numbers exactly, as integers times powers of two.
#include "distances/rows.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include "bounds.h"
#include "exact/sums.h"

namespace deadheat {

namespace {

/// Return whether a·b = c·d.
bool equal_products(float a, float b, float c, float d) {
    return static_cast<double>(a) * b == static_cast<double>(c) * d;  // products of two floats are exact in float64
}

bool equal_products(double a, double b, double c, double d) {
    const Parts x(a), y(b), z(c), w(d);
    SignedTwoLimbs low = SignedTwoLimbs{x.whole} * y.whole, high = SignedTwoLimbs{z.whole} * w.whole;  // below 2^107
    const int steps = x.position + y.position - z.position - w.position, shift = std::abs(steps);
    if (steps < 0) std::swap(low, high);
    return shift < 127 ? high >> shift == low && low << shift == high : low == 0 && high == 0;
}

/// The size of the first number that is not zero, or 1 where all are.
template <class T>
T pivot(Span<const T> row) {
    const auto first = std::find_if(row.begin(), row.end(), [](T value) { return value != T(0); });
    return first == row.end() ? T(1) : std::abs(*first);
}

/// Return whether a·pivot(b) = b·pivot(a) exactly, element by element.
template <class T>
bool same_direction(Span<const T> a, Span<const T> b) {
    const T pivot_a = pivot(a), pivot_b = pivot(b);
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [=](T x, T y) { return equal_products(x, pivot_b, y, pivot_a); });
}

/// A number of which all that came are multiples, odd·2^place (0 if none came or all were zero), and the largest of them.
class Multiples {
public:
    void add(double value) {
        if (value == 0) return;
        largest_ = std::max(largest_, std::abs(value));
        const Parts number(value);
        const auto size = static_cast<std::uint64_t>(std::abs(number.whole));
        const int zeros = std::countr_zero(size), lowest = number.position - 1074 + zeros;
        place_ = odd_ == 0 ? lowest : std::min(place_, lowest);
        if (odd_ != 1) odd_ = std::gcd(size >> zeros, odd_);
    }
    double unit() const { return odd_ == 0 ? 1.0 : std::ldexp(static_cast<double>(odd_), place_); }
    double largest() const { return largest_ / unit(); }

private:
    std::uint64_t odd_ = 0;
    int place_ = 0;
    double largest_ = 0.0;
};

}  // namespace

template <class T>
void same_rows(Matrix<const T> raw, Matrix<const T> other, bool directions, Span<bool> out) {
    for (Index i = 0; i < raw.rows; ++i) {
        const Span<const T> a = raw[i], b = other[i];
        out[i] = std::equal(a.begin(), a.end(), b.begin(), b.end()) || (directions && same_direction(a, b));
    }
}

template <class T>
double integer_units(Matrix<const T> raw, Span<double> units, double limit) {
    const bool one_each = units.size() > 1;
    Multiples multiples;
    double largest = 0.0;
    for (Index i = 0; i < raw.rows; ++i) {
        if (one_each) multiples = {};
        for (T value : raw[i]) multiples.add(value);
        if (multiples.largest() > limit) return std::numeric_limits<double>::infinity();
        largest = one_each ? std::max(largest, multiples.largest()) : multiples.largest();
        units[one_each ? i : 0] = multiples.unit();
    }
    return largest;
}

template void same_rows(Matrix<const float>, Matrix<const float>, bool, Span<bool>);
template void same_rows(Matrix<const double>, Matrix<const double>, bool, Span<bool>);
template double integer_units(Matrix<const float>, Span<double>, double);
template double integer_units(Matrix<const double>, Span<double>, double);

namespace {

/// The different numbers of a row, ascending; how many there are, LEVELS + 1 if there are more.
template <class T>
Index numbers_of(Span<const T> row, T (&numbers)[LEVELS]) {
    Index n = 0;
    for (T number : row) {
        if (number == 0 || std::find(numbers, numbers + n, number) != numbers + n) continue;
        if (n == LEVELS) return LEVELS + 1;
        Index position = n++;
        for (; position > 0 && numbers[position - 1] > number; --position) numbers[position] = numbers[position - 1];
        numbers[position] = number;
    }
    return n;
}

}  // namespace

template <class T>
void level_masks(Matrix<const T> raw, Matrix<std::uint64_t> masks, Matrix<double> values) {
    const Index words = masks.columns / LEVELS;
    for (Index i = 0; i < raw.rows; ++i) {
        T numbers[LEVELS];
        const Index n = numbers_of(raw[i], numbers);
        std::fill_n(masks.row(i), masks.columns, 0);
        std::fill_n(values.row(i), LEVELS, 0.0);
        if (n > LEVELS)
            values(i, 0) = std::numeric_limits<double>::quiet_NaN();
        else
            std::copy_n(numbers, n, values.row(i));
        for (Index k = 0; k < raw.columns; ++k) {
            if (raw(i, k) == 0) continue;
            const Index level = n > LEVELS ? 0 : std::find(numbers, numbers + n, raw(i, k)) - numbers;
            masks(i, level * words + k / 64) |= std::uint64_t{1} << (k % 64);
        }
    }
}

template void level_masks(Matrix<const float>, Matrix<std::uint64_t>, Matrix<double>);
template void level_masks(Matrix<const double>, Matrix<std::uint64_t>, Matrix<double>);

namespace {

template <class A, class B>
double dot(const A *a, const B *b, Index n) {
    double sum = 0;
    for (Index k = 0; k < n; ++k) sum += static_cast<double>(a[k]) * static_cast<double>(b[k]);
    return sum;
}

/// Take off a row what it has of the centre.
void make_orthogonal(double *row, const double *centre, Index n, double square) {
    const double share = -dot(row, centre, n) / square;
    for (Index k = 0; k < n; ++k) row[k] = std::fma(share, centre[k], row[k]);
}

}  // namespace

template <class T>
void tangents(Matrix<const T> raw, Span<const double> centre, Matrix<double> out, Span<double> size) {
    const Index n = raw.columns;
    const double *c = centre.data();
    const double square = dot(c, c, n), length_of_centre = std::sqrt(square);
    for (Index i = 0; i < raw.rows; ++i) {
        const T *x = raw.row(i);
        double *t = out.row(i);
        for (Index k = 0; k < n; ++k) t[k] = static_cast<double>(x[k]) - c[k];
        const double whole = std::sqrt(dot(t, t, n)), length = std::sqrt(dot(x, x, n));
        make_orthogonal(t, c, n, square);
        make_orthogonal(t, c, n, square);
        const double across = dot(t, t, n), along = dot(c, x, n) / length_of_centre;
        const double shortened = across / (length * (length + along)) / length_of_centre;
        for (Index k = 0; k < n; ++k) t[k] = t[k] / length - c[k] * shortened;
        size[at(i)] = (std::sqrt(across) + bounds::LEFT_OF_CENTRE * whole) / length * bounds::OF_TANGENT_SIZE;
    }
}

template void tangents(Matrix<const float>, Span<const double>, Matrix<double>, Span<double>);
template void tangents(Matrix<const double>, Span<const double>, Matrix<double>, Span<double>);

}  // namespace deadheat
