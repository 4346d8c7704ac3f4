#include <numeric>

#include "exact/roots.h"

namespace deadheat {

namespace {

/// Sorts the sizes of numbers of one query and one sign, by ever longer keys where shorter ones leave it open.
class Sorter {
public:
    Sorter(const Roots &roots, Span<std::int64_t> order, Span<bool> greater)
        : roots_(roots), order_(order), greater_(greater) {}

    void sort(std::int64_t begin, std::int64_t end) { refine(begin, end, 1); }

private:
    bool ratios() const { return roots_.kind() == KeyKind::cosine; }

    /// Return the words of bits in the longest keys: all bits of numbers, and as many as all inverses allow.
    int most_words(std::int64_t begin, std::int64_t end) const {
        int most = ratios() ? MOST_INVERSE_LIMBS : 0;
        for (std::int64_t k = begin; k < end; ++k)
            most = ratios() ? std::min(most, roots_.precision(order_[k]) - 1)
                            : std::max(most, roots_.size_of(order_[k]).length);
        return most;
    }

    /// Sort by keys with so many words of bits, then what these leave open by longer ones.
    void refine(std::int64_t begin, std::int64_t end, int n_word) {
        if (end - begin < 2) return;
        const int most = most_words(begin, end);
        const auto n = static_cast<std::size_t>(end - begin);
        words_.resize(n * static_cast<std::size_t>(n_word + 1));
        for (std::int64_t k = begin; k < end; ++k) {
            Limb *words = words_.data() + (k - begin) * (n_word + 1);
            if (ratios())
                write_ratio(roots_.size_of(order_[k]), roots_.inverse(order_[k]), n_word, words);
            else
                write_key(roots_.size_of(order_[k]), n_word, words);
        }
        places_.resize(n);
        std::iota(places_.begin(), places_.end(), 0);
        stride_ = n_word + 1;
        by_words(0, end - begin, 0);
        const std::vector<std::int64_t> before(order_.begin() + begin, order_.begin() + end);
        for (std::size_t k = 0; k < n; ++k) order_[begin + static_cast<std::int64_t>(k)] = before[places_[k]];
        std::vector<std::int64_t> starts = {begin};
        for (std::int64_t k = begin + 1; k < end; ++k) {
            const Limb *a = key(k - 1 - begin), *b = key(k - begin);
            greater_[k] = compare_keys(a, b, n_word, ratios() ? RATIO_SLACK : 1) != 0;
            if (greater_[k]) starts.push_back(k);
        }
        starts.push_back(end);
        for (std::size_t run = 0; run + 1 < starts.size(); ++run) {
            if (n_word < most)
                refine(starts[run], starts[run + 1], longer(n_word, most));
            else if (ratios())
                multiply_out(starts[run], starts[run + 1]);
            else
                std::sort(order_.begin() + starts[run], order_.begin() + starts[run + 1]);
        }
    }

    const Limb *key(std::int64_t place) const { return words_.data() + places_[place] * stride_; }

    /// Sort places by their words from one on, those that are equal in it by the next.
    void by_words(std::int64_t first, std::int64_t last, int word) {
        for (; last - first > 1 && word < stride_; ++word) {
            const auto begin = places_.begin() + first, end = places_.begin() + last;
            const auto at = [this, word](std::int64_t place) { return words_[place * stride_ + word]; };
            const Limb all = at(*begin);
            if (std::all_of(begin, end, [&](std::int64_t place) { return at(place) == all; })) continue;
            std::sort(begin, end, [&](std::int64_t a, std::int64_t b) { return at(a) < at(b); });
            for (std::int64_t start = first, k = first + 1; k <= last; ++k) {
                if (k < last && at(places_[k]) == at(places_[start])) continue;
                by_words(start, k, word + 1);
                start = k;
            }
            return;
        }
    }

    /// Sort ratios by their exact order to one of them, then those on either side of it.
    void multiply_out(std::int64_t begin, std::int64_t end) {
        if (end - begin < 2) return;
        std::vector<std::int64_t> sides[3];
        const std::int64_t pivot = order_[begin + (end - begin) / 2];
        for (std::int64_t k = begin; k < end; ++k) {
            const std::int64_t i = order_[k];
            const int side = i == pivot ? 0
                                        : compare_ratios(roots_.size_of(i), roots_.item_square(i), roots_.size_of(pivot),
                                                         roots_.item_square(pivot));
            sides[side + 1].push_back(i);
        }
        std::sort(sides[1].begin(), sides[1].end());
        std::int64_t starts[4] = {begin};
        for (int side = 0; side < 3; ++side) {
            std::copy(sides[side].begin(), sides[side].end(), order_.begin() + starts[side]);
            starts[side + 1] = starts[side] + static_cast<std::int64_t>(sides[side].size());
        }
        std::fill(greater_.begin() + begin + 1, greater_.begin() + end, false);
        for (int side = 0; side < 3; ++side)
            if (starts[side] > begin && starts[side] < end) greater_[starts[side]] = true;
        multiply_out(starts[0], starts[1]);
        multiply_out(starts[2], starts[3]);
    }

    const Roots &roots_;
    Span<std::int64_t> order_;
    Span<bool> greater_;
    std::vector<Limb> words_;           // the keys of the run in hand,
    std::vector<std::int64_t> places_;  // in this order
    std::int64_t stride_ = 0;           // words of a key
};

/// Reverse the order of some numbers, but not of those that tie.
void reverse_runs(Span<std::int64_t> order, Span<bool> greater, std::int64_t begin, std::int64_t end) {
    if (end - begin < 2) return;
    std::reverse(order.begin() + begin, order.begin() + end);
    std::reverse(greater.begin() + begin + 1, greater.begin() + end);
    for (std::int64_t start = begin, k = begin + 1; k <= end; ++k) {
        if (k < end && !greater[k]) continue;
        std::reverse(order.begin() + start, order.begin() + k);
        start = k;
    }
}

}  // namespace

void Roots::sort(Span<const std::int64_t> begins, Span<const std::int64_t> ends, Span<std::int64_t> order,
                 Span<bool> greater) const {
    Sorter sorter(*this, order, greater);
    for (std::size_t run = 0; run < begins.size(); ++run) {
        const auto begin = order.begin() + begins[run], end = order.begin() + ends[run];
        std::iota(begin, end, begins[run]);
        const auto zeros = std::stable_partition(begin, end, [this](std::int64_t i) { return sign(i) < 0; });
        const auto positive = std::stable_partition(zeros, end, [this](std::int64_t i) { return sign(i) == 0; });
        const std::int64_t bounds[] = {begins[run], zeros - order.begin(), positive - order.begin(), ends[run]};
        std::fill(greater.begin() + begins[run], greater.begin() + ends[run], false);
        sorter.sort(bounds[2], bounds[3]);
        sorter.sort(bounds[0], bounds[1]);
        reverse_runs(order, greater, bounds[0], bounds[1]);
        for (std::int64_t bound : {bounds[1], bounds[2]})
            if (bound > begins[run] && bound < ends[run]) greater[bound] = true;
    }
}

}  // namespace deadheat
