// The digits of values in [0, 1], compared with digits that are taken by std::ldexp and std::floor.
#include "support/means.h"

#include <cmath>

#include "check.h"

namespace {

using namespace deadheat;
using namespace deadheat::tests;

Digits one_by_one(const std::vector<double> &values) {
    Digits sums{0, true, 0, 0, 0};
    for (double value : values) {
        if (std::isnan(value)) continue;
        ++sums.count;
        sums.exact &= value >= 0.0 && value <= 1.0 && std::ldexp(value, 96) == std::floor(std::ldexp(value, 96));
        if (!(value >= 0.0 && value <= 1.0)) continue;
        std::int64_t *const digits[] = {&sums.first, &sums.second, &sums.third};
        double left = value;
        for (int k = 0; k < 3; ++k) {
            const double digit = std::floor(std::ldexp(left, 32 * (k + 1)));
            *digits[k] += static_cast<std::int64_t>(digit);
            left -= std::ldexp(digit, -32 * (k + 1));
        }
    }
    return sums;
}

bool equal(const Digits &a, const Digits &b) {
    return a.count == b.count && a.exact == b.exact && a.first == b.first && a.second == b.second && a.third == b.third;
}

TEST(digits_of_random_and_hostile_values) {
    Random random(3);
    for (Index size : SIZES)
        for (int round = 0; round < 20; ++round) {
            std::vector<double> values;
            for (Index i = 0; i < size; ++i) {
                const double number = random.number<double>();
                values.push_back(round % 2 == 0 && std::isfinite(number) && std::abs(number) <= 1 ? std::abs(number)
                                                                                                  : number);
            }
            CHECK(equal(digits(values), one_by_one(values)));
        }
}

TEST(digits_of_single_values) {
    const std::int64_t base = std::int64_t{1} << 32;
    CHECK(equal(digits({}), {0, true, 0, 0, 0}));
    for (const double half : {0.5}) CHECK(equal(digits({&half, 1}), {1, true, base / 2, 0, 0}));
    for (const double one : {1.0}) CHECK(equal(digits({&one, 1}), {1, true, base, 0, 0}));
    for (const double third : {1.0 / 3}) CHECK(digits({&third, 1}).exact);
    for (const double tiny : {5e-324}) CHECK(!digits({&tiny, 1}).exact);
    for (const double none : {std::nan("")}) CHECK(equal(digits({&none, 1}), {0, true, 0, 0, 0}));
    for (const double outside : {-0.5}) CHECK(equal(digits({&outside, 1}), {1, false, 0, 0, 0}));
}

}  // namespace
