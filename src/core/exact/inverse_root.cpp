#include "exact/inverse_root.h"

namespace deadheat {

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
