// The digits of values; tests/support compares sums of many with fractions.
#include "support/means.h"

#include <cmath>

#include "check.h"

namespace {

using namespace deadheat;
using namespace deadheat::tests;

bool equal(const Digits &a, const Digits &b) {
    return a.count == b.count && a.exact == b.exact && a.whole == b.whole && a.first == b.first && a.second == b.second &&
           a.third == b.third;
}

TEST(digits_of_random_and_hostile_values) {
    Random random(3);
    for (Index size : SIZES) {
        std::vector<double> values;
        for (Index i = 0; i < size; ++i) values.push_back(random.number<double>());
        CHECK(digits(values).count == std::count_if(values.begin(), values.end(), [](double x) { return x == x; }));
    }
}

TEST(digits_of_single_values) {
    const std::int64_t base = std::int64_t{1} << 32;
    const std::int64_t large = std::int64_t{1} << 30;
    CHECK(equal(digits({}), {0, true, 0, 0, 0, 0}));
    for (const double half : {0.5}) CHECK(equal(digits({&half, 1}), {1, true, 0, base / 2, 0, 0}));
    for (const double two : {-2.5}) CHECK(equal(digits({&two, 1}), {1, true, -2, -base / 2, 0, 0}));
    for (const double third : {1.0 / 3}) CHECK(digits({&third, 1}).exact);
    for (const double tiny : {5e-324}) CHECK(!digits({&tiny, 1}).exact);
    for (const double none : {std::nan("")}) CHECK(equal(digits({&none, 1}), {0, true, 0, 0, 0, 0}));
    for (const double most : {large - 0.5}) CHECK(equal(digits({&most, 1}), {1, true, large - 1, base / 2, 0, 0}));
    for (const double outside : {-1.0, 1.0}) {
        const double value = outside * static_cast<double>(large);
        CHECK(equal(digits({&value, 1}), {1, false, 0, 0, 0, 0}));
    }
}

}  // namespace
