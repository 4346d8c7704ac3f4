#include "exact/root_thresholds.h"

#include <numeric>

namespace deadheat {

/// The closeness of a pair, and keys of it as they are asked for.
class RootThresholds::Item {
public:
    void set(const RootRows &pairs, Index row, Index other) {
        sign = pairs.number(row, other, size);
        known_[0] = known_[1] = 0;
        estimate = deadheat::estimate(size);
        if (pairs.kind() != KeyKind::cosine || sign == 0) return;
        square = (*pairs.divisors().right_squares)[other];
        inverse_ = (*pairs.divisors().inverses)[other];
        precision = pairs.divisors().precision;
        estimate = estimate * deadheat::estimate(inverse_);
    }

    /// The key with few words of bits, or with as many as are asked for.
    const Limb *key(bool all, int n_word) {
        if (known_[all] != n_word) write_ratio(size, inverse_, n_word, words_[all]);
        known_[all] = n_word;
        return words_[all];
    }

    int sign, precision;
    Estimate estimate;
    Wide size;
    Natural square;

private:
    Natural inverse_;
    int known_[2];  // words of bits in each key
    Limb words_[2][MOST_INVERSE_LIMBS];
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
        starts_.push_back(words_.size());
        estimates_.push_back(estimate(roots_.size_of(i)));
        if (!ratios || roots_.sign(i) == 0) continue;
        estimates_.back() = estimates_.back() * estimate(roots_.inverse(i));
        words_.resize(words_.size() + static_cast<std::size_t>(roots_.precision(i)));
        write_ratio(roots_.size_of(i), roots_.inverse(i), roots_.precision(i) - 1, words_.data() + starts_.back());
    }
}

int RootThresholds::compare(Item &item, Index threshold) const {
    const int sign = item.sign, other = roots_.sign(threshold);
    if (sign != other || sign == 0) return (sign > other) - (sign < other);
    if (const int order = compare_estimates(item.estimate, estimates_[threshold]); order != 0) return sign * order;
    const Natural size = roots_.size_of(threshold);
    if (roots_.kind() != KeyKind::cosine) return sign * deadheat::compare(item.size, size);
    const Natural square = roots_.item_square(threshold);
    if (alike(item.square, square)) return sign * deadheat::compare(item.size, size);
    const int most = std::min(item.precision, roots_.precision(threshold)) - 1;
    for (bool all : {false, true}) {
        const int n_word = all ? most : std::min(most, FEW_WORDS);
        const int order = compare_keys(item.key(all, n_word), words_.data() + starts_[threshold], n_word, RATIO_SLACK);
        if (order != 0) return sign * order;
    }
    return sign * compare_ratios(item.size, item.square, size, square);
}

void RootThresholds::count(const RootRows &pairs, Span<const std::int64_t> left, Span<const std::int64_t> right,
                           Span<const std::int64_t> rows, Span<const std::int64_t> low, Span<const std::int64_t> high,
                           Span<const std::int32_t> weights, Matrix<std::int32_t> counts) const {
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
