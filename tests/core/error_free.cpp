// Sums and products with their rests, compared with integers of 128 bits: nothing is lost.
#include "support/error_free.h"

#include <cmath>

#include "check.h"

namespace {

using namespace deadheat;
using namespace deadheat::tests;

__extension__ typedef __int128 Wide;

/// An integer of at most 53 bits times a power of two below 2^`places`, of either sign.
double integer(Random &random, Index places) {
    const double size = std::ldexp(static_cast<double>(random.bits() >> 11), static_cast<int>(random.below(places)));
    return random.below(2) == 0 ? size : -size;
}

TEST(nothing_of_a_sum_or_a_product_is_lost) {
    Random random(5);
    int lost[2] = {};
    const auto look = [&](int which, TwoParts result, double nearest, Wide exact) {
        CHECK(same(result.value, nearest));
        CHECK(static_cast<Wide>(result.value) + static_cast<Wide>(result.rest) == exact);
        lost[which] += result.rest != 0;
    };
    for (int round = 0; round < 10000; ++round) {
        const double a = integer(random, 60);
        const double b = round % 10 == 0 ? -a * (1 + 0x1p-50) : integer(random, 60);  // nearly all cancels
        look(0, two_sum(a, b), a + b, static_cast<Wide>(a) + static_cast<Wide>(b));
        const double x = integer(random, 8), y = integer(random, 8);
        look(1, two_product(x, y), x * y, static_cast<Wide>(x) * static_cast<Wide>(y));
    }
    CHECK(lost[0] > 1000 && lost[1] > 1000);
}

}  // namespace
