#include "pass/integer_rows.h"

#include <bit>
#include <cstdlib>

namespace deadheat {

namespace {

constexpr int MOST_BITS = 63;                   // of a number, without its sign
constexpr int MOST_SUM_BITS = 125;              // of a sum of products, so that twice one less another has 127
constexpr int MOST_WORD_BITS = 62;              // of a sum in one word
constexpr std::size_t KEPT_NUMBERS = 8u << 20;  // in all rows

/// The exponents between which the bits of some numbers lie: each is below 2^high and a multiple of 2^low.
struct BitRange {
    int low = 1 << 20;
    int high = -(1 << 20);

    void add(double number) {
        const Parts parts(number);
        if (parts.whole == 0) return;
        const auto size = static_cast<std::uint64_t>(std::abs(parts.whole));
        low = std::min(low, parts.position - 1074 + std::countr_zero(size));
        high = std::max(high, parts.position - 1074 + static_cast<int>(std::bit_width(size)));
    }
};

/// Rows as they came, in float64; the exponents between which the bits of each lie.
struct RawRows {
    std::vector<double> numbers;
    std::vector<BitRange> bits;

    explicit RawRows(const Source &source) : numbers(read_rows<double>(source, first(source.n))) {
        bits.resize(at(source.n));
        const double *number = numbers.data();
        for (BitRange &row : bits)
            for (Index k = 0; k < source.dim; ++k) row.add(*number++);
    }

    /// The exponents between which all bits lie.
    BitRange together() const {
        BitRange all;
        for (const BitRange &row : bits) all = {std::min(all.low, row.low), std::max(all.high, row.high)};
        return all;
    }

    /// The most bits of a row in a unit of its own.
    int widest() const {
        int most = 0;
        for (const BitRange &row : bits) most = std::max(most, row.high - row.low);
        return most;
    }

    /// All numbers as integers, in units of their rows or in one for all.
    std::vector<std::int64_t> integers(Index dim, bool own_units, int unit) const {
        std::vector<std::int64_t> out;
        out.reserve(numbers.size());
        const double *number = numbers.data();
        for (const BitRange &row : bits)
            for (Index k = 0; k < dim; ++k) {
                const Parts parts(*number++);
                const int shift = parts.position - 1074 - (own_units ? row.low : unit);  // below 0 it is zeros that are cut
                out.push_back(parts.whole == 0 ? 0 : shift >= 0 ? parts.whole << shift : parts.whole >> -shift);
            }
        return out;
    }
};

Integer size_of(Integer number) { return number < 0 ? -number : number; }

/// The size of an integer that is not 0.
struct Size {
    Limb limbs[2];

    explicit Size(Integer number) : limbs{static_cast<Limb>(size_of(number)), static_cast<Limb>(size_of(number) >> 64)} {}
    operator Natural() const { return {limbs, limbs[1] != 0 ? 2 : 1, 0}; }
};

}  // namespace

std::unique_ptr<IntegerRows> IntegerRows::of(KeyKind kind, const Source &query, const Source &item, bool same) {
    if (at(((same ? 0 : query.n) + item.n) * item.dim) > KEPT_NUMBERS) return nullptr;
    const RawRows of_item(item);
    const std::unique_ptr<RawRows> other = same ? nullptr : std::make_unique<RawRows>(query);
    const RawRows &of_query = same ? of_item : *other;
    const bool one_unit = kind == KeyKind::distance || kind == KeyKind::difference;
    BitRange items = of_item.together(), queries = of_query.together();
    if (one_unit) items = queries = {std::min(items.low, queries.low), std::max(items.high, queries.high)};
    const int item_bits = kind == KeyKind::cosine ? of_item.widest() : std::max(0, items.high - items.low);
    const int query_bits = one_unit ? item_bits : of_query.widest();
    const int of_sum = std::bit_width(at(item.dim));
    if (std::max(item_bits, query_bits) > MOST_BITS) return nullptr;
    const bool differences = kind == KeyKind::difference;
    const int sum_bits = differences ? item_bits + 1 + of_sum : query_bits + item_bits + of_sum;
    if (!differences && std::max(sum_bits, 2 * item_bits + of_sum) > MOST_SUM_BITS) return nullptr;
    std::unique_ptr<IntegerRows> rows(new IntegerRows());
    rows->kind_ = kind, rows->dim_ = item.dim;
    rows->one_word_ = sum_bits <= MOST_WORD_BITS;
    rows->item_memory_ = of_item.integers(item.dim, kind == KeyKind::cosine, items.low);
    if (same && (one_unit || kind == KeyKind::cosine)) {
        rows->query_ = &rows->item_memory_;
    } else {
        rows->query_memory_ = of_query.integers(item.dim, !one_unit, queries.low);
        rows->query_ = &rows->query_memory_;
    }
    if (kind == KeyKind::product) return rows;
    for (Index i = 0; i < item.n; ++i) {
        const std::int64_t *row = rows->item_memory_.data() + i * item.dim;
        Integer sum = 0;
        for (Index k = 0; k < item.dim; ++k) sum += differences ? size_of(row[k]) : Integer{row[k]} * row[k];
        rows->of_item_.push_back(sum);
        if (kind == KeyKind::cosine) rows->inverse_norms_.push_back(sum > 0 ? 1 / std::sqrt(static_cast<double>(sum)) : 0.0);
    }
    return rows;
}

ShortNumber IntegerRows::finished(Integer product, std::int64_t item) const {
    if (kind_ == KeyKind::distance) return {2 * product - of_item_[at(item)], item, 0};
    return {product, item, kind_ == KeyKind::cosine ? static_cast<double>(product) * inverse_norms_[at(item)] : 0};
}

ShortNumber IntegerPairs::number(std::int64_t query, std::int64_t item) {
    const Index dim = rows_.dim_;
    if (query != query_) {
        const std::int64_t *row = rows_.query_->data() + query * dim;
        terms_.clear();
        for (Index k = 0; k < dim; ++k)
            if (row[k] != 0) terms_.push_back({row[k], k});
        query_ = query;
    }
    const std::int64_t *row = rows_.item_memory_.data() + item * dim;
    Integer sum = 0;
    const auto size = [](std::int64_t x, std::int64_t y) {  // up to 2^64 − 2
        return x < y ? static_cast<Limb>(y) - static_cast<Limb>(x) : static_cast<Limb>(x) - static_cast<Limb>(y);
    };
    // of a query with few zeros all numbers: of one decimal by city block, a pass takes 0.8 of the time (20,000 x 64)
    if (rows_.kind_ == KeyKind::difference && 2 * terms_.size() > at(dim)) {
        const std::int64_t *other = rows_.query_->data() + query * dim;
        for (Index k = 0; k < dim; ++k) sum -= size(other[k], row[k]);
    } else if (rows_.kind_ == KeyKind::difference) {  // |x| − |q − x| is at most |q|
        sum = -rows_.of_item_[at(item)];
        for (const auto &[number, position] : terms_)
            sum += static_cast<std::int64_t>(size(row[position], 0) - size(number, row[position]));
    } else if (rows_.one_word_) {
        std::int64_t part = 0;
        for (const auto &[number, position] : terms_) part += number * row[position];
        sum = part;
    } else {
        for (const auto &[number, position] : terms_) sum += Integer{number} * row[position];
    }
    return rows_.finished(sum, item);
}

int IntegerRows::compare_cosines(const ShortNumber &one, const ShortNumber &other) const {
    const Integer a = one.a, b = other.a, x = of_item_[at(one.item)], y = of_item_[at(other.item)];
    if (x == y || a == 0 || b == 0 || (a < 0) != (b < 0)) return (a > b) - (a < b);
    const int order = compare_products(Size(a), Size(x), Size(b), Size(y));
    return a < 0 ? -order : order;
}

}  // namespace deadheat
