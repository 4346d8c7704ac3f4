// Keys of a row of scores, compared with places and counts that are examined one by one.
#include "counting/row_keys.h"

#include <algorithm>
#include <cmath>

#include "check.h"

namespace {

using namespace deadheat;
using namespace deadheat::tests;

/// With one in `few` scores the largest, and one in `few` columns not of one item.
void keys_are_of_what_is_ranked(Index n, Index few, Random &random) {
    std::vector<double> scores(at(n));
    std::vector<ColumnCounts> counts(at(n));
    const double largest = random.below(4) == 0 ? std::numeric_limits<double>::max() : 2;
    for (double &score : scores)
        score = random.below(few) == 0 ? largest : static_cast<double>(random.below(2001) - 1000) / 1000 * largest;
    for (ColumnCounts &counted : counts) {
        counted.ranked = random.below(few) == 0 ? static_cast<std::int32_t>(random.below(3)) : 1;
        counted.relevant = static_cast<std::int32_t>(random.below(counted.ranked + 1));
    }
    const auto [low, high] = row_key_loops().ends(scores);
    CHECK(low == *std::min_element(scores.begin(), scores.end()));
    CHECK(high == *std::max_element(scores.begin(), scores.end()));
    const double scale = high > low && std::isfinite(high - low) ? HIGHEST_PLACE / (high - low) : 0;
    std::vector<std::uint64_t> keys(at(n));
    const Index n_key = row_key_loops().make(scores, low, scale, counts.data(), keys.data());
    Index k = 0;
    bool right = true;
    for (Index column = 0; column < n; ++column) {
        const ColumnCounts counted = counts[at(column)];
        if (counted.ranked == 0) continue;
        if (k == n_key) break;
        const std::uint64_t key = keys[at(k++)];
        const double position = scale > 0 ? std::min((scores[at(column)] - low) * scale, HIGHEST_PLACE) : 0;
        right &= column_of(key) == column && is_one_item(key) == (counted.ranked == 1) &&
                 is_relevant(key) == (counted.relevant > 0);
        right &= std::abs(static_cast<double>(place_of(key)) - position) <= 0.5;
    }
    CHECK(right);
    CHECK(k == n_key);
    CHECK(n_key == std::count_if(counts.begin(), counts.end(), [](ColumnCounts counted) { return counted.ranked > 0; }));
}

TEST(row_keys) {
    Random random(31);
    for (Index n = 1; n < 70; ++n)
        for (Index few : {2, 50}) keys_are_of_what_is_ranked(n, few, random);
}

}  // namespace
