#include "measures/double_double.h"

#include <cmath>

#include "measures/constants.h"

namespace deadheat {

// i = 2^e · x with 1 ≤ x < 2; with c the tabulated point below x, log2(x/c) = 2/ln(2) · atanh((x − c)/(x + c)).
DoubleDouble log2_of(std::int64_t i) {
    int exponent;
    const double x = 2.0 * std::frexp(static_cast<double>(i), &exponent);
    const auto step = static_cast<int>((x - 1.0) * LOG2_STEPS);
    const double c = 1.0 + static_cast<double>(step) / LOG2_STEPS;
    const auto [sum, rest] = two_sum(static_cast<double>(exponent - 1), LOG2[step].high);
    const DoubleDouble whole{sum, rest + LOG2[step].low};
    if (x == c) return whole;
    const DoubleDouble s = DoubleDouble{x - c} / DoubleDouble{x + c};  // below 1/256
    const DoubleDouble z = s * s;
    const double tail = z.high * (1.0 / 7 + z.high * (1.0 / 9 + z.high * (1.0 / 11 + z.high * (1.0 / 13 + z.high / 15))));
    DoubleDouble series = FIFTH + DoubleDouble{tail};
    series = THIRD + series * z;
    series = DoubleDouble{1.0} + series * z;
    return whole + s * TWO_OVER_LN2 * series;
}

// From 128 on ln(x) + γ + 1/24 x^−2 − 7/960 x^−4 + 31/8064 x^−6 − ... with x = i + 1/2. The first term left out is below
// 6e−20 and falls with the eighth power of i, much faster than the precision that sums of precisions need.
DoubleDouble harmonic(std::int64_t i) {
    if (i < HARMONICS) return HARMONIC[i];
    const DoubleDouble logarithm = log2_of(2 * i + 1);
    const DoubleDouble above_gamma = DoubleDouble{logarithm.high - 1.0, logarithm.low} * LN2;
    const double x = static_cast<double>(i) + 0.5;
    const double z = 1.0 / (x * x);
    return above_gamma + GAMMA + DoubleDouble{z * (1.0 / 24 - z * (7.0 / 960 - z * (31.0 / 8064)))};
}

}  // namespace deadheat
