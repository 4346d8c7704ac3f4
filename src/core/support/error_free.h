// Error-free transformations: a sum or a product of two float64 numbers as the nearest float and the exact rest.
//
// That holds for rounding to nearest where nothing overflows or underflows (Ogita, Rump and Oishi 2005, Accurate sum and dot
// product). Products are split by Veltkamp and Dekker, without fused multiply-add, so that every processor does the same.
#pragma once

namespace deadheat {

/// A number as a float and a rest that is small compared with it.
struct TwoParts {
    double value;
    double rest;
};

/// Return a + b − total exactly, where `total` is the float nearest to a + b (Knuth); of numbers or vectors.
template <class Number>
inline Number rest_of_sum(Number a, Number b, Number total) {
    const Number part = total - a;
    return (a - (total - part)) + (b - part);
}

/// The first 26 bits of a number, the rest of which has 26 too (Veltkamp); its size is below 2^990.
template <class Number>
inline Number high_half(Number a) {
    const Number c = 134217729.0 * a;
    return c - (c - a);
}

/// Return a·b − product exactly, where `product` is the float nearest to a·b (Dekker); of numbers or vectors.
template <class Number>
inline Number rest_of_product(Number a, Number b, Number product) {
    const Number x = high_half(a), y = high_half(b), u = a - x, v = b - y;
    return ((x * y - product) + x * v + u * y) + u * v;
}

/// The float nearest to a + b, and the rest, exactly.
inline TwoParts two_sum(double a, double b) {
    const double total = a + b;
    return {total, rest_of_sum(a, b, total)};
}

/// The float nearest to a·b, and the rest, exactly.
inline TwoParts two_product(double a, double b) {
    const double product = a * b;
    return {product, rest_of_product(a, b, product)};
}

}  // namespace deadheat
