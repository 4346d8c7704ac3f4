#include "distances/tangents.h"

#include <cmath>

namespace deadheat {

namespace {

// Of `bounds.of_tangent`: the part of ‖x − c‖ that the spread has for what is left of c, and more than its own roundings.
constexpr double LEFT = 0x1p-30, SLACK = 0x1p-20;

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
void tangents(Matrix<const T> raw, Span<const double> centre, Matrix<double> out, Span<double> spread) {
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
        spread[static_cast<std::size_t>(i)] = (std::sqrt(across) + LEFT * whole) / length * (1 + SLACK);
    }
}

template void tangents(Matrix<const float>, Span<const double>, Matrix<double>, Span<double>);
template void tangents(Matrix<const double>, Span<const double>, Matrix<double>, Span<double>);

}  // namespace deadheat
