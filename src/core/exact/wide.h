// Natural numbers of any size times a power of two: what exact comparisons need of them, and no more.
//
// Everything about pairs of float64 rows fits a fixed number of words, so nothing here asks for memory.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "bounds.h"
#include "support/views.h"

namespace deadheat {

using Limb = std::uint64_t;
__extension__ typedef unsigned __int128 TwoLimbs;
__extension__ typedef __int128 SignedTwoLimbs;

/// Words enough for all that follows from products of float64 rows: these span 2^-2148 to 2^2079, and the longest number
/// is the square of a sum of products of four of them and the square of a float64 number, which spans 21,200 bits.
constexpr int MOST_LIMBS = 680;

/// Σ limbs[k]·2^(64k + exponent), somewhere in memory; the last limb is not 0, and 0 has no limbs.
struct Natural {
    const Limb *limbs;
    int length;
    int exponent;

    /// The number is below 2^top, and at least half of that if it is not 0.
    int top() const { return exponent + 64 * length - (length > 0 ? std::countl_zero(limbs[length - 1]) : 0); }

    /// The 64 bits of the number from 2^from on.
    Limb window(int from) const {
        const int position = from - exponent, limb = position >> 6, shift = position & 63;
        const Limb low = at(limb) >> shift;
        return shift == 0 ? low : low | at(limb + 1) << (64 - shift);
    }

    Limb at(int k) const { return static_cast<unsigned>(k) < static_cast<unsigned>(length) ? limbs[k] : 0; }
};

/// The same with memory of its own, which is not cleared first.
struct Wide {
    int length = 0;
    int exponent = 0;
    Limb limbs[MOST_LIMBS];

    Wide() {}
    Wide(const Wide &) = delete;
    Wide &operator=(const Wide &) = delete;
    operator Natural() const { return {limbs, length, exponent}; }

    void set(Limb value, int position) {
        limbs[0] = value;
        length = value != 0;
        exponent = position;
    }
    void trim() {
        while (length > 0 && limbs[length - 1] == 0) --length;
    }
};

/// Call work(x, y) with functions that give the limbs of a and of b from 2^exponent on.
template <class Work>
void with_limbs(Natural a, Natural b, int exponent, Work work) {
    if (((a.exponent - exponent) & 63) == 0 && ((b.exponent - exponent) & 63) == 0) {
        const int down = (a.exponent - exponent) / 64, across = (b.exponent - exponent) / 64;
        work([&](int k) { return a.at(k - down); }, [&](int k) { return b.at(k - across); });
    } else {
        work([&](int k) { return a.window(exponent + 64 * k); }, [&](int k) { return b.window(exponent + 64 * k); });
    }
}

/// −1, 0 or 1, as one number is less than, equal to or greater than the other.
inline int compare(Natural a, Natural b) {
    if (a.length == 0 || b.length == 0) return (a.length > 0) - (b.length > 0);
    const int top = a.top(), lowest = std::min(a.exponent, b.exponent);
    if (top != b.top()) return top < b.top() ? -1 : 1;
    int order = 0;
    with_limbs(a, b, lowest, [&](auto x, auto y) {
        for (int k = (top - lowest - 1) / 64; k >= 0 && order == 0; --k) order = (x(k) > y(k)) - (x(k) < y(k));
    });
    return order;
}

inline void copy(Natural from, Wide &to) {
    to.length = from.length;
    to.exponent = from.exponent;
    std::copy_n(from.limbs, from.length, to.limbs);
}

inline void multiply(Natural a, Natural b, Wide &out) {
    out.exponent = a.exponent + b.exponent;
    out.length = a.length > 0 && b.length > 0 ? a.length + b.length : 0;
    if (out.length == 0) return;
    std::fill_n(out.limbs, b.length, Limb{0});
    for (int i = 0; i < a.length; ++i) {
        Limb carry = 0;
        if (a.limbs[i] == 0) {  // as most are in sums of numbers of very different exponents
            out.limbs[i + b.length] = 0;
            continue;
        }
        for (int k = 0; k < b.length; ++k) {
            const TwoLimbs sum = TwoLimbs{a.limbs[i]} * b.limbs[k] + out.limbs[i + k] + carry;
            out.limbs[i + k] = static_cast<Limb>(sum);
            carry = static_cast<Limb>(sum >> 64);
        }
        out.limbs[i + b.length] = carry;
    }
    out.trim();
}

inline void add(Natural a, Natural b, Wide &out) {
    if (a.length == 0) a.exponent = b.exponent;
    if (b.length == 0) b.exponent = a.exponent;
    out.exponent = std::min(a.exponent, b.exponent);
    out.length = (std::max(a.top(), b.top()) - out.exponent) / 64 + 1;
    with_limbs(a, b, out.exponent, [&](auto x, auto y) {
        Limb carry = 0;
        for (int k = 0; k < out.length; ++k) {
            const TwoLimbs sum = TwoLimbs{x(k)} + y(k) + carry;
            out.limbs[k] = static_cast<Limb>(sum);
            carry = static_cast<Limb>(sum >> 64);
        }
    });
    out.trim();
}

/// a − b, which must not be negative.
inline void subtract(Natural a, Natural b, Wide &out) {
    if (b.length == 0) b.exponent = a.exponent;
    out.exponent = std::min(a.exponent, b.exponent);
    out.length = a.length == 0 ? 0 : (a.top() - out.exponent + 63) / 64;
    with_limbs(a, b, out.exponent, [&](auto x, auto y) {
        Limb borrow = 0;
        for (int k = 0; k < out.length; ++k) {
            const TwoLimbs rest = TwoLimbs{x(k)} - y(k) - borrow;
            out.limbs[k] = static_cast<Limb>(rest);
            borrow = static_cast<Limb>(rest >> 64) & 1;
        }
    });
    out.trim();
}

/// The sum of two numbers with signs (−1, 0 or 1); returns the sign, and its size in `out`.
inline int add_signed(int sign_a, Natural a, int sign_b, Natural b, Wide &out) {
    if (sign_a == sign_b || sign_b == 0 || sign_a == 0) {
        const Natural none{nullptr, 0, 0};
        add(sign_a == 0 ? none : a, sign_b == 0 ? none : b, out);
        return sign_a == 0 ? sign_b : sign_a;
    }
    const int order = compare(a, b);
    if (order >= 0)
        subtract(a, b, out);
    else
        subtract(b, a, out);
    return order >= 0 ? order * sign_a : sign_b;
}

/// About value·2^exponent, with a relative error below 2^-50 and a size of the value between 1/4 and 2, or 0.
struct Estimate {
    double value;
    int exponent;

    friend Estimate operator*(Estimate a, Estimate b) { return {a.value * b.value, a.exponent + b.exponent}; }
};

inline Estimate estimate(Natural a) {
    if (a.length == 0) return {0.0, 0};
    const int top = a.top();
    return {static_cast<double>(a.window(top - 64)) * 0x1p-64, top};
}

/// The square root of an estimate.
inline Estimate root_of(Estimate a) {
    const int odd = a.exponent & 1;
    return {std::sqrt(odd ? a.value * 2 : a.value), (a.exponent - odd) / 2};
}

/// value·2^exponent in units of 2^unit, 0 where it is far smaller.
inline double scaled(Estimate a, int unit) {
    const int position = a.exponent - unit;
    return position < -900 ? 0.0 : std::ldexp(a.value, position);
}

/// Compare two numbers by their estimates, each off by up to 2^-48 times itself; 0 where that leaves it open.
inline int compare_estimates(Estimate a, Estimate b) {
    if (a.value == 0.0 || b.value == 0.0) return (a.value > 0.0) - (b.value > 0.0);
    const int steps = a.exponent - b.exponent;
    if (steps > 16 || steps < -16) return steps > 0 ? 1 : -1;
    const double x = a.value * static_cast<double>(1 << std::max(steps, 0));
    const double y = b.value * static_cast<double>(1 << std::max(-steps, 0));
    constexpr double OFF = 1 + bounds::OF_ESTIMATES;
    return (x > y * OFF) - (y > x * OFF);
}

/// The leading limbs of a number, at most n: it is at least that, and less than 1 + 2^-64(n − 1) times that.
inline Natural leading(Natural a, int n) {
    const int left_out = std::max(a.length - n, 0);
    return {a.limbs + left_out, a.length - left_out, a.exponent + 64 * left_out};
}

/// Compare a²·y with b²·x, multiplied out.
inline int compare_products(Natural a, Natural x, Natural b, Natural y) {
    Wide square, left, right;
    multiply(a, a, square), multiply(square, y, left);
    multiply(b, b, square), multiply(square, x, right);
    return compare(left, right);
}

/// Compare a/√x with b/√y, of positive numbers: a²·y − b²·x = a²(y − x) + x(a − b)(a + b). Where the terms have different
/// signs, their sizes are compared by estimates, then by leading limbs: numbers from end to end of the range often agree in
/// 1000 bits. Four of them cut to n limbs make a product cut by less than 2^(3 − 64(n − 1)) times itself.
inline int compare_ratios(Natural a, Natural x, Natural b, Natural y) {
    const int of_squares = compare(y, x), of_numbers = compare(a, b);
    if (of_squares * of_numbers >= 0) return of_squares != 0 ? of_squares : of_numbers;
    Wide squares, numbers, sum, part, left, right;
    subtract(of_squares > 0 ? y : x, of_squares > 0 ? x : y, squares);
    subtract(of_numbers > 0 ? a : b, of_numbers > 0 ? b : a, numbers);
    add(a, b, sum);
    int order =
        compare_estimates(estimate(a) * estimate(a) * estimate(squares), estimate(x) * estimate(numbers) * estimate(sum));
    if (order != 0) return of_squares * order;
    for (int n : {4, 20}) {
        if (std::max(a.length, b.length) <= n / 2) break;
        multiply(leading(a, n), leading(a, n), part), multiply(leading(part, n), leading(squares, n), left);
        multiply(leading(numbers, n), leading(sum, n), part), multiply(leading(part, n), leading(x, n), right);
        order = compare(left, right);
        if (order == 0) continue;
        subtract(order > 0 ? left : right, order > 0 ? right : left, part);
        const int top = std::max(Natural(left).top(), Natural(right).top());
        if (Natural(part).top() - 1 >= top + 3 - 64 * (n - 1)) return of_squares * order;
    }
    return compare_products(a, x, b, y);
}

}  // namespace deadheat
