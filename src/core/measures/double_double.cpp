#include "measures/double_double.h"

#include <array>
#include <cmath>

namespace deadheat {

namespace {

// The float nearest to each number, and the float nearest to the rest of it.
constexpr DoubleDouble LN2{0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};
constexpr DoubleDouble TWO_OVER_LN2{0x1.71547652b82fep+1, 0x1.777d0ffda0d24p-55};
constexpr DoubleDouble THIRD{0x1.5555555555555p-2, 0x1.5555555555555p-56};
constexpr DoubleDouble FIFTH{0x1.999999999999ap-3, -0x1.999999999999ap-57};
constexpr DoubleDouble GAMMA{0x1.2788cfc6fb619p-1, -0x1.6cb90701fbfabp-58};

constexpr int TABULATED = 128;
using Table = std::array<DoubleDouble, TABULATED>;

/// A number that is given by its first 150 binary digits behind the point, as three integers of 50 digits.
DoubleDouble nearest(const std::uint64_t (&digits)[3]) {
    const double first = std::ldexp(static_cast<double>(digits[0]), -50);
    const double second = std::ldexp(static_cast<double>(digits[1]), -100);
    const double third = std::ldexp(static_cast<double>(digits[2]), -150);
    const double high = first + (second + third);
    return {high, ((first - high) + second) + third};
}

/// log2(1 + i/TABULATED): its binary digits are those that appear before the point when the number is squared again and
/// again, and halved where it has reached 2. In fixed point, 32 bits a limb; each squaring costs one of 256 bits.
DoubleDouble log2_by_digits(std::uint32_t i) {
    constexpr int LIMBS = 8;  // behind the point
    std::uint32_t x[LIMBS + 1] = {};
    x[LIMBS] = 1, x[LIMBS - 1] = i << 25;
    std::uint64_t digits[3] = {};
    for (int position = 0; position < 150; ++position) {
        std::uint32_t square[2 * LIMBS + 3] = {};
        for (int a = 0; a <= LIMBS; ++a) {
            std::uint64_t carry = 0;
            for (int b = 0; b <= LIMBS; ++b) {
                carry += std::uint64_t{x[a]} * x[b] + square[a + b];
                square[a + b] = static_cast<std::uint32_t>(carry), carry >>= 32;
            }
            square[a + LIMBS + 1] = static_cast<std::uint32_t>(carry);
        }
        const std::uint32_t digit = square[2 * LIMBS] >> 1;
        for (int a = 0; a <= LIMBS; ++a) {
            const std::uint64_t two_limbs = square[a + LIMBS] | std::uint64_t{square[a + LIMBS + 1]} << 32;
            x[a] = static_cast<std::uint32_t>(two_limbs >> digit);
        }
        digits[position / 50] = 2 * digits[position / 50] + digit;
    }
    return nearest(digits);
}

Table logarithms() {
    Table table;
    for (std::uint32_t i = 0; i < TABULATED; ++i) table[i] = log2_by_digits(i);
    return table;
}

/// 1 + 1/2 + ... + 1/i, from the digits of each term.
Table harmonic_numbers() {
    constexpr std::uint64_t UNIT = std::uint64_t{1} << 50;
    Table table;
    std::uint64_t sum[3] = {};
    for (std::uint64_t i = 1; i < TABULATED; ++i) {
        std::uint64_t rest = 1;
        for (std::uint64_t &digits : sum) digits += rest * UNIT / i, rest = rest * UNIT % i;
        sum[1] += sum[2] / UNIT, sum[2] %= UNIT;
        sum[0] += sum[1] / UNIT, sum[1] %= UNIT;
        table[i] = nearest(sum);
    }
    return table;
}

}  // namespace

// i = 2^e · x with 1 ≤ x < 2; with c the tabulated point below x, log2(x/c) = 2/ln(2) · atanh((x − c)/(x + c)).
DoubleDouble log2_of(std::int64_t i) {
    static const Table LOG2 = logarithms();
    int exponent;
    const double x = 2.0 * std::frexp(static_cast<double>(i), &exponent);
    const auto step = static_cast<std::size_t>((x - 1.0) * TABULATED);
    const double c = 1.0 + static_cast<double>(step) / TABULATED;
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
    static const Table HARMONIC = harmonic_numbers();
    if (i < TABULATED) return HARMONIC[static_cast<std::size_t>(i)];
    const DoubleDouble logarithm = log2_of(2 * i + 1);
    const DoubleDouble above_gamma = DoubleDouble{logarithm.high - 1.0, logarithm.low} * LN2;
    const double x = static_cast<double>(i) + 0.5;
    const double z = 1.0 / (x * x);
    return above_gamma + GAMMA + DoubleDouble{z * (1.0 / 24 - z * (7.0 / 960 - z * (31.0 / 8064)))};
}

// From 128 on 1/x − 1/12 x^−3 + 7/240 x^−5 − 31/1344 x^−7 + ... with x = i + 1/2; the first term left out is below 4e−21.
DoubleDouble squares_beyond(std::int64_t i) {
    DoubleDouble below;
    for (; i < TABULATED; ++i) below = below + DoubleDouble{1.0} / DoubleDouble{static_cast<double>((i + 1) * (i + 1))};
    const DoubleDouble inverse = DoubleDouble{1.0} / (from_integer(i) + DoubleDouble{0.5});
    const double z = inverse.high * inverse.high;
    return below + inverse - inverse * DoubleDouble{z * (1.0 / 12 - z * (7.0 / 240 - z * (31.0 / 1344)))};
}

}  // namespace deadheat
