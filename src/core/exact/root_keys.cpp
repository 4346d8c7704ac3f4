#include "exact/root_keys.h"

namespace deadheat {

namespace {

constexpr int BIAS = 1 << 20;  // beyond all exponents

/// Return whether b − a, of keys a ≤ b, is at least `slack` units of the last word of b.
bool surely_less(const Limb *a, const Limb *b, int n_bit_word, int slack) {
    const Limb steps = b[0] - a[0];
    if (steps > 1) return true;
    const int shift = static_cast<int>(steps);
    TwoLimbs difference = 0;  // of the words so far, in units of the last of these
    Limb above = 0;
    for (int k = 1; k <= n_bit_word; ++k) {
        const Limb here = shift == 0 ? a[k] : a[k] >> 1 | above << 63;
        above = a[k] & 1;
        difference = (difference << 64) + b[k] - here;
        if (difference >> 32 != 0) return true;  // what follows changes it by less than one
    }
    return difference >= static_cast<TwoLimbs>(slack);
}

}  // namespace

void write_key(Natural number, int n_bit_word, Limb *words) {
    const int top = number.top();
    words[0] = static_cast<Limb>(top + BIAS);
    for (int k = 1; k <= n_bit_word; ++k) words[k] = number.window(top - 64 * k);
}

/// With δ = 2^-64n, for n words of bits: a number is less than 1 + δ times its leading n + 1 limbs, and so is an inverse,
/// which is 1/√x up to 2δ times itself. The product p is then off by less than 5δp up and 2δp down, where δp is less than
/// one unit; and the bits that are left out are less than one more unit up.
void write_ratio(Natural number, Natural inverse, int n_bit_word, Limb *words) {
    Wide product;
    multiply(leading(number, n_bit_word + 1), leading(inverse, n_bit_word + 1), product);
    write_key(product, n_bit_word, words);
}

int compare_keys(const Limb *a, const Limb *b, int n_bit_word, int slack) {
    for (int k = 0; k <= n_bit_word; ++k) {
        if (a[k] == b[k]) continue;
        const bool less = a[k] < b[k];
        if (!surely_less(less ? a : b, less ? b : a, n_bit_word, slack)) return 0;
        return less ? -1 : 1;
    }
    return 0;
}

bool scale_to_root(Natural x, Natural y, Natural &b) {
    const int difference = x.exponent - y.exponent;
    y.exponent = x.exponent;
    if (difference % 2 != 0 || !same_limbs(x, y)) return false;
    b.exponent += difference / 2;
    return true;
}

int compare_ratios(Natural a, Natural x, Natural b, Natural y) {
    if (scale_to_root(x, y, b)) return compare(a, b);
    Wide square, left, right;
    multiply(a, a, square);
    multiply(square, y, left);
    multiply(b, b, square);
    multiply(square, x, right);
    return compare(left, right);
}

namespace {

constexpr int SURE = 48;  // bits that are right at first: an estimate, its root and a quotient err by less than 2^-50
constexpr Limb ONE = 1;

}  // namespace

/// By Newton's u ← u + u(1 − Xu²)/2: an error of e, as a part of 1/√X, becomes one of at most 1.6e². In a step with n limbs
/// what is cut off X, u² and the new u adds up to less than 2.1·2^-64(n − 1). Where 64(n − 1) > 2b and |e| < 2^-b, all of it
/// is below 2^-(2b − 2); in the last step, with a limb more than are wanted, below 2^-(64·limbs − 2).
void inverse_root(Natural square, int limbs, Wide &out) {
    const Estimate root = root_of(estimate(square));
    int place = 0;
    const double inverse = std::frexp(1 / root.value, &place);
    out.set(static_cast<Limb>(std::ldexp(inverse, 53)), place - 53 - root.exponent);
    Wide of_two, rest, next;
    for (int bits = SURE, n = 0; bits < 64 * (limbs - 1); bits = std::min(2 * bits, 64 * (n - 1)) - 2) {
        n = std::min(2 * bits / 64 + 2, limbs + 1);
        multiply(out, out, of_two);
        multiply(leading(square, n + 1), leading(of_two, n + 1), next);
        const int sign = add_signed(1, {&ONE, 1, 0}, -1, next, rest);
        multiply(out, leading(rest, n), of_two);
        of_two.exponent -= 1;
        add_signed(1, out, sign, of_two, next);
        copy(leading(next, n), out);
    }
    if (out.length > limbs) {
        copy(leading(out, limbs), next);
        copy(next, out);
    }
}

}  // namespace deadheat
