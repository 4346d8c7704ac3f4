#include "exact/roots.h"

#include "bounds.h"

namespace deadheat {

namespace {

/// A float64 number as an integer times a power of two; returns its sign.
int parts_of(double value, Wide &out) {
    int exponent = 0;
    const double fraction = std::frexp(std::fabs(value), &exponent);
    out.set(static_cast<Limb>(std::ldexp(fraction, 53)), exponent - 53);
    return (value > 0) - (value < 0);
}

/// The exact sum of two float64 numbers; returns its sign.
int exact_sum(double a, double b, Wide &out) {
    Wide x, y;
    const int sign_x = parts_of(a, x), sign_y = parts_of(b, y);
    return add_signed(sign_x, x, sign_y, y, out);
}

/// A term ±√square of a sum.
struct Term {
    int sign;
    Natural square;
};

/// The sign of √a + √b − √c, by squaring twice: 2√(ab) against c − a − b.
int two_against_one(Natural a, Natural b, Natural c) {
    Wide sum, excess;
    add(a, b, sum);
    if (compare(c, sum) <= 0) return 1;  // a and b are positive
    subtract(c, sum, excess);
    Wide product, square;
    multiply(a, b, product);
    product.exponent += 2;
    multiply(excess, excess, square);
    return compare(product, square);
}

/// The sign of the sum of three terms.
int sign_of_sum(const Term (&terms)[3]) {
    Natural plus[3], minus[3];
    int n_plus = 0, n_minus = 0;
    for (const Term &term : terms) {
        if (term.sign > 0) plus[n_plus++] = term.square;
        if (term.sign < 0) minus[n_minus++] = term.square;
    }
    if (n_plus == 0 || n_minus == 0) return (n_plus > 0) - (n_minus > 0);
    if (n_plus == 1 && n_minus == 1) return compare(plus[0], minus[0]);
    return n_plus > n_minus ? two_against_one(plus[0], plus[1], minus[0]) : -two_against_one(minus[0], minus[1], plus[0]);
}

}  // namespace

// More numbers -------------------------------------------------------------------------------------------------------

void Numbers::add(int sign, Natural number) {
    while (number.length > 0 && *number.limbs == 0) {  // a sum of numbers of very different sizes that cancel
        ++number.limbs;
        --number.length;
        number.exponent += 64;
    }
    if (number.length == 0) number.exponent = 0;
    numbers_.push_back({limbs_.size(), static_cast<std::int16_t>(number.length), static_cast<std::int16_t>(number.exponent),
                        static_cast<std::int8_t>(sign)});
    limbs_.insert(limbs_.end(), number.limbs, number.limbs + number.length);
}

void Numbers::add(const Numbers &others) {
    const std::size_t moved = limbs_.size(), first = numbers_.size();
    limbs_.insert(limbs_.end(), others.limbs_.begin(), others.limbs_.end());
    numbers_.insert(numbers_.end(), others.numbers_.begin(), others.numbers_.end());
    for (std::size_t i = first; i < numbers_.size(); ++i) numbers_[i].begin += moved;
}

Roots::Roots(Span<const double> values) : Roots(KeyKind::product) {
    Wide parts;
    for (double value : values) {
        const int sign = parts_of(value, parts);
        add(sign, parts);
    }
}

void Roots::add(const Roots &others) {
    numbers_.add(others.numbers_);
    of_.insert(of_.end(), others.of_.begin(), others.of_.end());
    for (const auto &squares : others.kept_)
        if (std::find(kept_.begin(), kept_.end(), squares) == kept_.end()) kept_.push_back(squares);
}

// Comparisons --------------------------------------------------------------------------------------------------------

int Roots::compare(Index mine, const Roots &others, Index yours) const {
    const int sign = numbers_.sign(mine), other_sign = others.numbers_.sign(yours);
    if (sign != other_sign || sign == 0) return (sign > other_sign) - (sign < other_sign);
    const Natural a = numbers_[mine], b = others.numbers_[yours];
    if (kind_ != KeyKind::cosine) return sign * deadheat::compare(a, b);
    // a/√(q·x) against b/√(r·y): a²·y·r against b²·x·q
    const Natural q = query_square(mine), r = others.query_square(yours);
    const Natural x = item_square(mine), y = others.item_square(yours);
    const bool one_query = same_limbs(q, r);
    Estimate left = estimate(a) * estimate(a) * estimate(y), right = estimate(b) * estimate(b) * estimate(x);
    if (!one_query) left = left * estimate(r), right = right * estimate(q);
    if (const int order = compare_estimates(left, right); order != 0) return sign * order;
    if (one_query) return sign * compare_ratios(a, x, b, y);
    Wide of_mine, of_yours;
    multiply(q, x, of_mine);
    multiply(r, y, of_yours);
    return sign * compare_ratios(a, of_mine, b, of_yours);
}

Estimate Roots::estimate_of(Index i) const {
    Estimate size = estimate(numbers_[i]);
    if (kind_ == KeyKind::distance) size = root_of(size);
    if (kind_ == KeyKind::cosine && size.value > 0) {
        const Estimate norm = root_of(estimate(query_square(i)) * estimate(item_square(i)));
        size = {size.value / norm.value, size.exponent - norm.exponent};
    }
    return {numbers_.sign(i) * size.value, size.exponent};
}

int Roots::compare_shifted(Index mine, const Roots &others, Index yours, double shift) const {
    const int sign = numbers_.sign(mine), other_sign = others.numbers_.sign(yours);
    Wide moved;
    const int shift_sign = parts_of(shift, moved);
    {
        const Estimate a = estimate_of(mine), b = others.estimate_of(yours);
        Estimate c = estimate(moved);
        c.value *= shift_sign;
        int unit = c.value != 0 ? c.exponent : -(1 << 20);
        for (Estimate part : {a, b})
            if (part.value != 0) unit = std::max(unit, part.exponent);
        const double x = scaled(a, unit), y = scaled(b, unit), z = scaled(c, unit);
        const double difference = x - y - z, slack = bounds::OF_ESTIMATES * (std::fabs(x) + std::fabs(y) + std::fabs(z));
        if (difference > slack || difference < -slack) return difference > 0 ? 1 : -1;
    }
    const Natural a = numbers_[mine], b = others.numbers_[yours];
    if (kind_ == KeyKind::product || kind_ == KeyKind::difference) {
        Wide sum, rest;
        const int sign_of_sum = add_signed(other_sign, b, shift_sign, moved, sum);
        return add_signed(sign, a, -sign_of_sum, sum, rest);
    }
    Wide shift_square;
    multiply(moved, moved, shift_square);
    if (kind_ == KeyKind::distance) return sign_of_sum({{sign, a}, {-other_sign, b}, {-shift_sign, shift_square}});
    // everything times √(q·x·r·y); a number that is 0 needs no squares
    static constexpr Limb ONE = 1;
    const Natural one{&ONE, 1, 0};
    const Natural q = sign != 0 ? query_square(mine) : one, x = sign != 0 ? item_square(mine) : one;
    const Natural r = other_sign != 0 ? others.query_square(yours) : one;
    const Natural y = other_sign != 0 ? others.item_square(yours) : one;
    Wide of_mine, of_yours, part, left, right, shifted;
    multiply(q, x, of_mine);
    multiply(r, y, of_yours);
    multiply(a, a, part);
    multiply(part, of_yours, left);
    multiply(b, b, part);
    multiply(part, of_mine, right);
    multiply(of_mine, of_yours, part);
    multiply(part, shift_square, shifted);
    return sign_of_sum({{sign, left}, {-other_sign, right}, {-shift_sign, shifted}});
}

int Roots::compare_value(Index mine, double value, double shift) const {
    if (std::isinf(value)) return value > 0 ? -1 : 1;
    const int sign = numbers_.sign(mine);
    Wide other;
    const int other_sign = exact_sum(value, shift, other);
    if (sign != other_sign || sign == 0) return (sign > other_sign) - (sign < other_sign);
    const Natural a = numbers_[mine];
    if (kind_ == KeyKind::product || kind_ == KeyKind::difference) return sign * deadheat::compare(a, other);
    const Estimate b = estimate(other) * estimate(other);
    Estimate left = estimate(a), right = b;
    if (kind_ == KeyKind::cosine) {
        left = left * left;
        right = right * estimate(query_square(mine)) * estimate(item_square(mine));
    }
    if (const int order = compare_estimates(left, right); order != 0) return sign * order;
    Wide other_square;
    multiply(other, other, other_square);
    if (kind_ == KeyKind::distance) return sign * deadheat::compare(a, other_square);
    Wide square, part, product;
    multiply(a, a, square);
    multiply(query_square(mine), item_square(mine), part);
    multiply(part, other_square, product);
    return sign * deadheat::compare(square, product);
}

int Roots::squared(Index i, Wide &numerator, Wide &denominator) const {
    const Natural a = numbers_[i];
    denominator.set(1, 0);
    if (kind_ == KeyKind::distance)
        copy(a, numerator);
    else
        multiply(a, a, numerator);
    if (kind_ == KeyKind::cosine && a.length > 0) multiply(query_square(i), item_square(i), denominator);
    return numbers_.sign(i);
}

}  // namespace deadheat
