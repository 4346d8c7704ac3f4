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

TEST(nothing_of_a_sum_is_lost) {
    Random random(5);
    int lost = 0;
    for (int round = 0; round < 10000; ++round) {
        const double a = integer(random, 60);
        const double b = round % 10 == 0 ? -a * (1 + 0x1p-50) : integer(random, 60);  // nearly all cancels
        const auto [total, rest] = two_sum(a, b);
        CHECK(same(total, a + b));
        CHECK(static_cast<Wide>(total) + static_cast<Wide>(rest) == static_cast<Wide>(a) + static_cast<Wide>(b));
        lost += rest != 0;
    }
    CHECK(lost > 1000);
}

TEST(nothing_of_a_product_is_lost) {
    Random random(6);
    int lost = 0;
    for (int round = 0; round < 10000; ++round) {
        const double a = integer(random, 8), b = integer(random, 8);
        const auto [product, rest] = two_product(a, b);
        CHECK(same(product, a * b));
        CHECK(static_cast<Wide>(product) + static_cast<Wide>(rest) == static_cast<Wide>(a) * static_cast<Wide>(b));
        lost += rest != 0;
    }
    CHECK(lost > 1000);
}

}  // namespace
