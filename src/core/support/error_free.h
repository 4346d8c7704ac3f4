// Error-free transformations: a sum or a product of two float64 numbers as the nearest float and the exact rest.
//
// That holds for rounding to nearest where nothing overflows or underflows (Ogita, Rump and Oishi 2005, Accurate sum and dot
// product). Products are split by Veltkamp and Dekker, without fused multiply-add, so that every processor does the same.
#pragma once

namespace deadheat {

/// A number as a float and a rest that is small beside it.
struct TwoParts {
    double value;
    double rest;
};

/// The float nearest to a + b, and the rest, exactly (Knuth).
inline TwoParts two_sum(double a, double b) {
    const double total = a + b;
    const double part = total - a;
    return {total, (a - (total - part)) + (b - part)};
}

/// A number as the sum of two of 26 bits at most (Veltkamp); its size is below 2^990.
inline TwoParts split_in_half(double a) {
    const double c = 134217729.0 * a;
    const double high = c - (c - a);
    return {high, a - high};
}

/// The float nearest to a·b, and the rest, exactly (Dekker).
inline TwoParts two_product(double a, double b) {
    const double product = a * b;
    const TwoParts x = split_in_half(a), y = split_in_half(b);
    return {product, ((x.value * y.value - product) + x.value * y.rest + x.rest * y.value) + x.rest * y.rest};
}

}  // namespace deadheat
