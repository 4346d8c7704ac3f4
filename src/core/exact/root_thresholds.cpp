#include "exact/root_thresholds.h"

#include <numeric>

namespace deadheat {

/// The closeness of a pair, and keys of it as they are asked for.
class RootThresholds::Item {
public:
    void set(const RootRows &pairs, Index row, Index other) {
        sign = pairs.number(row, other, size);
        if (pairs.kind() != KeyKind::cosine || sign == 0) return;
        std::fill_n(known_, LEVELS, 0);
        square = (*pairs.divisors().right_squares)[other];
        inverse_ = (*pairs.divisors().inverses)[other];
        precision = pairs.divisors().precision;
        estimate = deadheat::estimate(size) * deadheat::estimate(inverse_);
    }

    /// The key of a level, which has so many words of bits.
    const Limb *key(int level, int n_word) {
        if (known_[level] != n_word) write_ratio(size, inverse_, n_word, words_[level]);
        known_[level] = n_word;
        return words_[level];
    }

    int sign, precision;
    Estimate estimate;
    Wide size;
    Natural square;

private:
    Natural inverse_;
    static constexpr int LEVELS = 4;  // see `longer`
    int known_[LEVELS];               // words of bits in each key
    Limb words_[LEVELS][MOST_INVERSE_LIMBS];
};

void RootThresholds::add(const RootRows &pairs, Span<const std::int64_t> left, Span<const std::int64_t> right,
                         Span<const std::int64_t> rows, Span<const std::int64_t> groups) {
    const Index first = roots_.grow(static_cast<Index>(rows.size()));
    places_.add(rows, groups, static_cast<std::size_t>(first));
    std::vector<std::int64_t> places(rows.size());
    std::iota(places.begin(), places.end(), first);
    roots_.put(pairs, left, right, places);
    const bool ratios = roots_.kind() == KeyKind::cosine;
    for (Index i = first; i < roots_.size(); ++i) {
        starts_.push_back(-1);
        const bool nonzero = ratios && roots_.sign(i) != 0;
        estimates_.push_back(nonzero ? estimate(roots_.size_of(i)) * estimate(roots_.inverse(i)) : Estimate{0.0, 0});
    }
}

const Limb *RootThresholds::key(Index threshold) {
    std::ptrdiff_t &start = starts_[threshold];
    if (start < 0) {
        start = static_cast<std::ptrdiff_t>(words_.size());
        const int precision = roots_.precision(threshold);
        words_.resize(words_.size() + static_cast<std::size_t>(precision));
        write_ratio(roots_.size_of(threshold), roots_.inverse(threshold), precision - 1, words_.data() + start);
    }
    return words_.data() + start;
}

int RootThresholds::compare(Item &item, Index threshold) {
    const int sign = item.sign, other = roots_.sign(threshold);
    if (sign != other || sign == 0) return (sign > other) - (sign < other);
    Natural size = roots_.size_of(threshold);
    if (roots_.kind() != KeyKind::cosine) return sign * deadheat::compare(item.size, size);
    if (const int order = compare_estimates(item.estimate, estimates_[threshold]); order != 0) return sign * order;
    const Natural square = roots_.item_square(threshold);
    if (scale_to_root(item.square, square, size)) return sign * deadheat::compare(item.size, size);
    const int most = std::min(item.precision, roots_.precision(threshold)) - 1;
    for (int level = 0, n_word = 1;; n_word = longer(n_word, most), ++level) {
        const int order = compare_keys(item.key(level, n_word), key(threshold), n_word, RATIO_SLACK);
        if (order != 0) return sign * order;
        if (n_word == most) break;
    }
    return sign * compare_ratios(item.size, item.square, size, square);
}

void RootThresholds::count(const RootRows &pairs, Span<const std::int64_t> left, Span<const std::int64_t> right,
                           Span<const std::int64_t> rows, Span<const std::int64_t> low, Span<const std::int64_t> high,
                           Span<const std::int32_t> weights, Matrix<std::int32_t> counts) {
    Item item;
    for (std::size_t p = 0; p < rows.size(); ++p) {
        item.set(pairs, left[p], right[p]);
        Index begin = low[p], end = high[p], slot = -1;
        while (begin < end && slot < 0) {
            const Index middle = (begin + end) / 2;
            const int order = compare(item, static_cast<Index>(places_(rows[p], middle)));
            if (order == 0) slot = 2 * middle + 1;
            (order > 0 ? begin : end) = order > 0 ? middle + 1 : middle;
        }
        counts(rows[p], slot < 0 ? 2 * begin : slot) += weights[p];
    }
}

}  // namespace deadheat
