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

int sign_of(Estimate about) { return (about.value > 0) - (about.value < 0); }

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
    if (n_plus == 0 || n_minus == 0) return (n_plus > 0) - (n_minus > 0);  // never taken: estimates decide all of one sign
    if (n_plus == 1 && n_minus == 1) return compare(plus[0], minus[0]);
    return n_plus > n_minus ? two_against_one(plus[0], plus[1], minus[0]) : -two_against_one(minus[0], minus[1], plus[0]);
}

}  // namespace

// More numbers -------------------------------------------------------------------------------------------------------

void Numbers::add(SignedDigits number) {
    values_.insert(values_.end(), number.values, number.values + number.n);
    limbs_.insert(limbs_.end(), number.limbs, number.limbs + number.n);
    ends_.push_back(values_.size());
}

void Numbers::add(const Numbers &others) {
    const std::size_t moved = values_.size();
    values_.insert(values_.end(), others.values_.begin(), others.values_.end());
    limbs_.insert(limbs_.end(), others.limbs_.begin(), others.limbs_.end());
    for (std::size_t end : others.ends_) ends_.push_back(moved + end);
}

Roots::Roots(Span<const double> values) : Roots(KeyKind::product) {
    const double one[] = {1.0};
    ExactSums sums;
    for (double value : values) {
        sums.set_query({&value, 1});
        add(sums.product(one));
    }
}

Roots::Roots(Span<const double> numerators, Span<const double> denominators) : Roots(KeyKind::cosine) {
    std::vector<double> distinct(denominators.begin(), denominators.end());
    std::sort(distinct.begin(), distinct.end());
    distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
    const auto squares = std::make_shared<RowSquares>(static_cast<Index>(distinct.size()));
    const double one[] = {1.0};
    ExactSums sums;
    const auto whole = [&](double value) {
        sums.set_query({&value, 1});
        return sums.product(one);
    };
    for (std::size_t p = 0; p < numerators.size(); ++p) {
        const auto position = std::ranges::lower_bound(distinct, denominators[p]) - distinct.begin();
        const SignedDigits under = squares->of(position, [&] { return whole(denominators[p]); });
        add(whole(numerators[p]), under, under);
    }
    keep(squares);
}

void Roots::add(const Roots &others) {
    numbers_.add(others.numbers_);
    of_.insert(of_.end(), others.of_.begin(), others.of_.end());
    for (const auto &squares : others.kept_)
        if (std::find(kept_.begin(), kept_.end(), squares) == kept_.end()) kept_.push_back(squares);
}

// Comparisons --------------------------------------------------------------------------------------------------------

int Roots::compare(Index mine, const Roots &others, Index yours) const {
    if (kind_ == KeyKind::cosine) return compare_cosines(mine, others, yours);
    return deadheat::compare(numbers_[mine], others.numbers_[yours]);
}

/// a/√(q·x) against b/√(r·y): for numbers of the same sign a²·y·r against b²·x·q.
int Roots::compare_cosines(Index mine, const Roots &others, Index yours) const {
    const SignedDigits a = numbers_[mine], b = others.numbers_[yours];
    const Estimate about_a = estimate(a), about_b = estimate(b);
    const int sign = sign_of(about_a), other_sign = sign_of(about_b);
    if (sign != other_sign || sign == 0) return (sign > other_sign) - (sign < other_sign);
    const auto &[q, x] = of_[at(mine)];
    const auto &[r, y] = others.of_[at(yours)];
    const bool one_query = q.values == r.values || deadheat::compare(q, r) == 0;
    const Estimate about_x = estimate(x);
    Estimate left = about_a * about_a * estimate(y), right = about_b * about_b * about_x;
    if (!one_query) left = left * estimate(r), right = right * estimate(q);
    if (const int order = compare_estimates(left, right); order != 0) return sign * order;
    if (one_query) {  // a²(y − x) against x(b − a)(b + a)
        left = about_a * about_a * estimate_of_sum(y, -1, x);
        right = about_x * estimate_of_sum(b, -1, a) * estimate_of_sum(b, 1, a);
        const int of_squares = sign_of(left), of_numbers = sign_of(right);
        if (of_squares != of_numbers) return sign * (of_squares > of_numbers ? 1 : -1);
        left.value *= of_squares, right.value *= of_squares;
        const int order = of_squares * compare_estimates(left, right);
        if (order != 0 || of_squares == 0) return sign * order;
    }
    Wide size, squares, other_size, other_squares;
    write(mine, size, squares, !one_query), others.write(yours, other_size, other_squares, !one_query);
    return sign * compare_ratios(size, squares, other_size, other_squares);
}

int Roots::write(Index i, Wide &size, Wide &squares, bool of_query) const {
    const int sign = deadheat::write(numbers_[i], size);
    squares.set(1, 0);
    if (kind_ != KeyKind::cosine || sign == 0) return sign;
    if (!of_query) return deadheat::write(of_[at(i)].item, squares), sign;
    Wide query, item;
    deadheat::write(of_[at(i)].query, query), deadheat::write(of_[at(i)].item, item);
    multiply(query, item, squares);
    return sign;
}

Estimate Roots::estimate_of(Index i) const {
    Estimate about = estimate(numbers_[i]);
    if (about.value == 0) return about;
    const double sign = sign_of(about);
    about.value *= sign;
    if (kind_ == KeyKind::distance) about = root_of(about);
    if (kind_ == KeyKind::cosine) {
        const Estimate norm = root_of(estimate(of_[at(i)].query) * estimate(of_[at(i)].item));
        about = {about.value / norm.value, about.exponent - norm.exponent};
    }
    return {sign * about.value, about.exponent};
}

int Roots::compare_shifted(Index mine, const Roots &others, Index yours, double shift) const {
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
    Wide a, b, of_mine, of_yours;
    const int sign = write(mine, a, of_mine), other_sign = others.write(yours, b, of_yours);
    if (kind_ == KeyKind::product || kind_ == KeyKind::difference) {
        Wide sum, rest;
        const int sign_of_sum = add_signed(other_sign, b, shift_sign, moved, sum);
        return add_signed(sign, a, -sign_of_sum, sum, rest);
    }
    Wide shift_square;
    multiply(moved, moved, shift_square);
    if (kind_ == KeyKind::distance) return sign_of_sum({{sign, a}, {-other_sign, b}, {-shift_sign, shift_square}});
    // everything times √(q·x·r·y)
    Wide part, left, right, shifted;
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
    const Estimate about = estimate(numbers_[mine]);
    const int sign = sign_of(about);
    Wide other;
    const int other_sign = exact_sum(value, shift, other);
    if (sign != other_sign || sign == 0) return (sign > other_sign) - (sign < other_sign);
    const bool squared = kind_ == KeyKind::distance || kind_ == KeyKind::cosine;
    Estimate left = {sign * about.value, about.exponent}, right = estimate(other);
    if (squared) right = right * right;
    if (kind_ == KeyKind::cosine)
        left = left * left, right = right * estimate(of_[at(mine)].query) * estimate(of_[at(mine)].item);
    if (const int order = compare_estimates(left, right); order != 0) return sign * order;
    Wide a, squares, other_square, square, product;
    write(mine, a, squares);
    if (!squared) return sign * deadheat::compare(a, other);
    multiply(other, other, other_square);
    if (kind_ == KeyKind::distance) return sign * deadheat::compare(a, other_square);
    multiply(a, a, square);
    multiply(squares, other_square, product);
    return sign * deadheat::compare(square, product);
}

int Roots::squared(Index i, Wide &numerator, Wide &denominator) const {
    Wide a;
    const int sign = write(i, a, denominator);
    if (kind_ == KeyKind::distance)
        copy(a, numerator);
    else
        multiply(a, a, numerator);
    return sign;
}

}  // namespace deadheat
