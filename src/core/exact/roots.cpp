#include "exact/roots.h"

#include <numeric>

namespace deadheat {

namespace {

constexpr int FEW_LIMBS = 6;  // of numbers whose products are compared first

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

void copy(Natural from, Wide &to) {
    to.length = from.length;
    to.exponent = from.exponent;
    std::copy_n(from.limbs, from.length, to.limbs);
}

/// The leading limbs of a number, at most n: it is at least that, and less than 1 + 2^-64(n − 1) times that.
Natural leading(Natural a, int n) {
    const int left_out = std::max(a.length - n, 0);
    return {a.limbs + left_out, a.length - left_out, a.exponent + 64 * left_out};
}

/// Compare a²·y with b²·x by at most n leading limbs of each; 0 where these leave it open.
int compare_leading(Natural a, Natural y, Natural b, Natural x, int n) {
    Wide square, left, right, apart;
    multiply(leading(a, n), leading(a, n), square);
    multiply(square, leading(y, n), left);
    multiply(leading(b, n), leading(b, n), square);
    multiply(square, leading(x, n), right);
    const int order = compare(left, right);
    const Natural larger = order > 0 ? left : right, smaller = order > 0 ? right : left;
    subtract(larger, smaller, apart);
    // Either is less than (1 + 2^-64(n − 1))³ times what was multiplied.
    return apart.length > 0 && Natural(apart).top() >= larger.top() - 64 * (n - 1) + 3 ? order : 0;
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

/// The order of pairs by strips of their other rows, so that the rows of a strip stay in cache.
std::vector<Index> by_strips(Span<const std::int64_t> others, const ExactRows &right) {
    constexpr Index STRIP = 1 << 19;  // bytes
    const Index width = std::max<Index>(8, STRIP / std::max<Index>(1, right.bytes()));
    std::vector<Index> order(others.size()), starts(static_cast<std::size_t>(right.size() / width + 2));
    for (std::int64_t other : others) ++starts[other / width + 1];
    std::partial_sum(starts.begin(), starts.end(), starts.begin());
    for (std::size_t p = 0; p < others.size(); ++p) order[starts[others[p] / width]++] = static_cast<Index>(p);
    return order;
}

/// The square root of an estimate.
Estimate root_of(Estimate a) {
    const int odd = a.exponent & 1;
    return {std::sqrt(odd ? a.value * 2 : a.value), (a.exponent - odd) / 2};
}

}  // namespace

// More numbers -------------------------------------------------------------------------------------------------------

void Roots::add_products(const ExactRows &left, const ExactRows &right, Span<const std::int64_t> rows,
                         Span<const std::int64_t> others) {
    const Index of_left = squares_.size(), of_right = of_left + left.size(), first = numbers_.size();
    if (kind_ == RootKind::ratio) {
        squares_.add(left.squares());
        squares_.add(right.squares());
        for (std::size_t p = 0; p < rows.size(); ++p) of_.push_back({of_left + rows[p], of_right + others[p]});
    }
    Wide product;
    numbers_.grow(static_cast<Index>(rows.size()));
    for (Index p : by_strips(others, right)) {
        const int sign = left.dot(rows[p], right, others[p], product);
        numbers_.put(first + p, sign, product);
    }
}

void Roots::add_minus_distances(const ExactRows &left, const ExactRows &right, Span<const std::int64_t> rows,
                                Span<const std::int64_t> others) {
    const Index first = numbers_.size();
    Wide product, squares, distance;
    numbers_.grow(static_cast<Index>(rows.size()));
    for (Index p : by_strips(others, right)) {
        const int sign = left.dot(rows[p], right, others[p], product);
        product.exponent += 1;
        deadheat::add(left.squares()[rows[p]], right.squares()[others[p]], squares);
        const int positive = add_signed(squares.length > 0, squares, -sign, product, distance);
        numbers_.put(first + p, -positive, distance);
    }
}

void Roots::add_minus_differences(const ExactRows &left, const ExactRows &right, Span<const std::int64_t> rows,
                                  Span<const std::int64_t> others) {
    const Index first = numbers_.size();
    Wide sum;
    numbers_.grow(static_cast<Index>(rows.size()));
    for (Index p : by_strips(others, right)) {
        const int sign = left.difference(rows[p], right, others[p], sum);
        numbers_.put(first + p, -sign, sum);
    }
}

void Roots::add_values(Span<const double> values) {
    const Index first = numbers_.size();
    Wide parts;
    numbers_.grow(static_cast<Index>(values.size()));
    for (std::size_t i = 0; i < values.size(); ++i) {
        const int sign = parts_of(values[i], parts);
        numbers_.put(first + static_cast<Index>(i), sign, parts);
    }
}

void Roots::add(const Roots &others) {
    const Index moved = squares_.size();
    numbers_.add(others.numbers_);
    squares_.add(others.squares_);
    for (Squares of : others.of_) of_.push_back({of.of_query + moved, of.of_item + moved});
}

// Comparisons --------------------------------------------------------------------------------------------------------

int Roots::compare_one(Index mine, const Roots &others, Index yours) const {
    const int sign = numbers_.sign(mine), other_sign = others.numbers_.sign(yours);
    if (sign != other_sign || sign == 0) return (sign > other_sign) - (sign < other_sign);
    const Natural a = numbers_[mine], b = others.numbers_[yours];
    if (kind_ != RootKind::ratio) return sign * deadheat::compare(a, b);
    // a/√(q·x) against b/√(r·y): a²·y·r against b²·x·q
    const Natural q = query_square(mine), r = others.query_square(yours);
    const Natural x = item_square(mine), y = others.item_square(yours);
    const bool one_query = alike(q, r);
    if (one_query && alike(x, y)) return sign * deadheat::compare(a, b);
    Estimate left = estimate(a) * estimate(a) * estimate(y), right = estimate(b) * estimate(b) * estimate(x);
    if (!one_query) left = left * estimate(r), right = right * estimate(q);
    if (const int order = compare_estimates(left, right); order != 0) return sign * order;
    const int longest = std::max({a.length, b.length, x.length, y.length});
    for (int n = FEW_LIMBS; one_query && n < longest; n *= 4)
        if (const int order = compare_leading(a, y, b, x, n); order != 0) return sign * order;
    Wide square, product, other_square, other_product;
    multiply(a, a, square);
    multiply(square, y, product);
    multiply(b, b, other_square);
    multiply(other_square, x, other_product);
    if (one_query) return sign * deadheat::compare(product, other_product);
    multiply(product, r, square);
    multiply(other_product, q, other_square);
    return sign * deadheat::compare(square, other_square);
}

Estimate Roots::estimate_of(Index i) const {
    Estimate size = estimate(numbers_[i]);
    if (kind_ == RootKind::root) size = root_of(size);
    if (kind_ == RootKind::ratio && size.value > 0) {
        const Estimate norm = root_of(estimate(query_square(i)) * estimate(item_square(i)));
        size = {size.value / norm.value, size.exponent - norm.exponent};
    }
    return {numbers_.sign(i) * size.value, size.exponent};
}

int Roots::compare_one_shifted(Index mine, const Roots &others, Index yours, double shift) const {
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
        const double apart = x - y - z, slack = 0x1p-46 * (std::fabs(x) + std::fabs(y) + std::fabs(z));
        if (apart > slack || apart < -slack) return apart > 0 ? 1 : -1;
    }
    const Natural a = numbers_[mine], b = others.numbers_[yours];
    if (kind_ == RootKind::linear) {
        Wide sum, rest;
        const int sign_of_sum = add_signed(other_sign, b, shift_sign, moved, sum);
        return add_signed(sign, a, -sign_of_sum, sum, rest);
    }
    Wide shift_square;
    multiply(moved, moved, shift_square);
    if (kind_ == RootKind::root) return sign_of_sum({{sign, a}, {-other_sign, b}, {-shift_sign, shift_square}});
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

int Roots::compare_one_value(Index mine, double value, double shift) const {
    if (std::isinf(value)) return value > 0 ? -1 : 1;
    const int sign = numbers_.sign(mine);
    Wide other;
    const int other_sign = exact_sum(value, shift, other);
    if (sign != other_sign || sign == 0) return (sign > other_sign) - (sign < other_sign);
    const Natural a = numbers_[mine];
    if (kind_ == RootKind::linear) return sign * deadheat::compare(a, other);
    const Estimate b = estimate(other) * estimate(other);
    Estimate left = estimate(a), right = b;
    if (kind_ == RootKind::ratio) {
        left = left * left;
        right = right * estimate(query_square(mine)) * estimate(item_square(mine));
    }
    if (const int order = compare_estimates(left, right); order != 0) return sign * order;
    Wide other_square;
    multiply(other, other, other_square);
    if (kind_ == RootKind::root) return sign * deadheat::compare(a, other_square);
    Wide square, part, product;
    multiply(a, a, square);
    multiply(query_square(mine), item_square(mine), part);
    multiply(part, other_square, product);
    return sign * deadheat::compare(square, product);
}

void Roots::compare(Span<const std::int64_t> mine, const Roots &others, Span<const std::int64_t> yours,
                    Span<std::int8_t> out) const {
    for (std::size_t p = 0; p < mine.size(); ++p) out[p] = static_cast<std::int8_t>(compare_one(mine[p], others, yours[p]));
}

void Roots::compare_shifted(Span<const std::int64_t> mine, const Roots &others, Span<const std::int64_t> yours, double shift,
                            Span<std::int8_t> out) const {
    for (std::size_t p = 0; p < mine.size(); ++p)
        out[p] = static_cast<std::int8_t>(compare_one_shifted(mine[p], others, yours[p], shift));
}

void Roots::compare_values(Span<const std::int64_t> mine, Span<const double> values, double sign, double shift,
                           Span<std::int8_t> out) const {
    for (std::size_t p = 0; p < mine.size(); ++p)
        out[p] = static_cast<std::int8_t>(compare_one_value(mine[p], sign * values[p], shift));
}

void Roots::sort(Span<const std::int64_t> begins, Span<const std::int64_t> ends, Span<std::int64_t> order,
                 Span<bool> greater) const {
    for (std::size_t run = 0; run < begins.size(); ++run) {
        const auto first = order.begin() + begins[run], last = order.begin() + ends[run];
        std::iota(first, last, begins[run]);
        std::stable_sort(first, last, [this](std::int64_t i, std::int64_t j) { return compare_one(i, *this, j) < 0; });
        for (std::int64_t place = begins[run]; place < ends[run]; ++place)
            greater[place] = place > begins[run] && compare_one(order[place - 1], *this, order[place]) < 0;
    }
}

int Roots::square(Index i, Wide &numerator, Wide &denominator) const {
    const Natural a = numbers_[i];
    denominator.set(1, 0);
    if (kind_ == RootKind::root)
        copy(a, numerator);
    else
        multiply(a, a, numerator);
    if (kind_ == RootKind::ratio && a.length > 0) multiply(query_square(i), item_square(i), denominator);
    return numbers_.sign(i);
}

}  // namespace deadheat
