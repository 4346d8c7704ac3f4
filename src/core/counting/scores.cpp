#include "counting/scores.h"

#include <algorithm>
#include <vector>

namespace deadheat {

namespace {

// The columns of a table of tie groups
enum { CLOSER, CLOSER_RELEVANT, TIED, TIED_RELEVANT };

constexpr std::uint64_t FEWEST_BINS = 1 << 10, MOST_BINS = 1 << 15;

/// The distinct keys of the relevant items of one row, and bins to find a key's place among them.
class RelevantKeys {
public:
    std::vector<std::int64_t> keys;  // ascending

    void fill(Int64s of_items, Int64s grades) {
        keys.clear();
        for (std::size_t j = 0; j < of_items.size(); ++j)
            if (grades[j] > 0) keys.push_back(of_items[j]);
        std::sort(keys.begin(), keys.end());
        keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
        if (!keys.empty()) place_bins();
    }

    /// The place of the last level that is not above the key; the first one must not be.
    std::size_t last_at_most(std::int64_t key) const {
        const std::uint64_t bin = above_first(std::min(key, keys.back())) >> shift_;
        std::size_t position = below_[bin] > 0 ? below_[bin] - 1 : 0;
        for (std::size_t size = below_[bin + 1] - position; size > 1;) {  // where a bin is crowded, halve it
            const std::size_t half = size / 2;
            position = keys[position + half] <= key ? position + half : position;
            size -= half;
        }
        return position;
    }

private:
    int shift_ = 0;                     // a bin has 2^shift keys
    std::vector<std::uint32_t> below_;  // levels below each bin

    /// Modulo 2^64, so right whatever the signs.
    std::uint64_t above_first(std::int64_t key) const {
        return static_cast<std::uint64_t>(key) - static_cast<std::uint64_t>(keys.front());
    }

    void place_bins() {
        const std::uint64_t span = above_first(keys.back());
        const std::uint64_t n_bin = std::clamp<std::uint64_t>(8 * keys.size(), FEWEST_BINS, MOST_BINS);
        for (shift_ = 0; span >> shift_ >= n_bin;) ++shift_;
        below_.resize((span >> shift_) + 2);
        std::uint32_t level = 0;
        for (std::uint64_t b = 0; b < below_.size(); ++b) {
            while (level < keys.size() && above_first(keys[level]) >> shift_ < b) ++level;
            below_[b] = level;
        }
    }
};

/// Count the items of a row into the groups of its levels, nearest first; returns how many are ranked.
///
/// `CLOSER` gets what is closer than a group, and not than the next nearer one.
std::int64_t count_row(const RelevantKeys &levels, Int64s keys, Int64s grades, Int64s grade_values,
                       Matrix<std::int64_t> groups, Matrix<std::int64_t> by_grade) {
    const auto n_level = static_cast<Index>(levels.keys.size());
    std::int64_t ranked = 0;
    for (std::size_t j = 0; j < keys.size(); ++j) {
        const std::int64_t key = keys[j], grade = grades[j];
        ranked += grade >= 0;
        if (grade < 0 || n_level == 0 || key < levels.keys.front()) continue;
        const std::size_t level = levels.last_at_most(key);
        const Index group = n_level - 1 - static_cast<Index>(level);
        if (key > levels.keys[level]) {
            ++groups(group, CLOSER);
            continue;
        }
        ++groups(group, TIED);
        if (grade > 0) {
            ++groups(group, TIED_RELEVANT);
            ++by_grade(group, std::lower_bound(grade_values.begin(), grade_values.end(), grade) - grade_values.begin());
        }
    }
    return ranked;
}

}  // namespace

Index count_groups(Matrix<const std::int64_t> keys, Matrix<const std::int64_t> grades, Int64s grade_values,
                   const KeyedGroups &out) {
    const auto &[n_group, n_ranked, groups, by_grade] = out;
    RelevantKeys levels;
    Index filled = 0;
    for (Index i = 0; i < keys.rows; ++i) {
        levels.fill(keys[i], grades[i]);
        const auto n_level = static_cast<Index>(levels.keys.size());
        const Matrix<std::int64_t> here{groups.row(filled), n_level, groups.columns, groups.stride};
        const Matrix<std::int64_t> grades_here{by_grade.row(filled), n_level, by_grade.columns, by_grade.stride};
        const auto row = at(i);
        n_ranked[row] = count_row(levels, keys[i], grades[i], grade_values, here, grades_here);
        std::int64_t closer = 0, closer_relevant = 0;
        for (Index group = 0; group < n_level; ++group) {
            closer += here(group, CLOSER);
            here(group, CLOSER) = closer;
            here(group, CLOSER_RELEVANT) = closer_relevant;
            closer += here(group, TIED);
            closer_relevant += here(group, TIED_RELEVANT);
        }
        n_group[row] = n_level;
        filled += n_level;
    }
    return filled;
}

}  // namespace deadheat
