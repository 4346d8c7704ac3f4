// Tiles of city block and Hamming distances, compared with sums that are written down as they are defined.
#include "distances/tiles.h"

#include <bit>
#include <cmath>

#include "check.h"

namespace {

using namespace deadheat;
using namespace deadheat::tests;

template <class T>
T minus_absolute_differences(const Padded<T> &left, Index i, const Padded<T> &right, Index j) {
    T sum = 0;
    for (Index k = 0; k < left.columns; ++k) sum -= std::abs(left.at(i, k) - right.at(j, k));
    return sum;
}

template <class T>
void cityblock_is_the_sum(Index n, Index m, Index dim, Random &random) {
    Padded<T> left(n, dim, random.below(3)), right(m, dim, random.below(3)), out(n, m, random.below(3));
    for (Padded<T> *rows : {&left, &right}) rows->fill([&] { return random.number<T>(); });
    std::get<SumLoops<T>>(tile_loops().sums).cityblock(left.view(), right.view(), out.view());
    bool right_sums = true;
    for (Index i = 0; i < n; ++i)
        for (Index j = 0; j < m; ++j) right_sums &= same(out.at(i, j), minus_absolute_differences(left, i, right, j));
    CHECK(right_sums);
    CHECK(out.padding_is_untouched());
}

void hamming_is_the_count(Index n, Index m, Index dim, Random &random) {
    Padded<std::uint64_t> left(n, dim, 1), right(m, dim, 0);
    Padded<float> out(n, m, random.below(3));
    for (auto *codes : {&left, &right})
        for (std::uint64_t &word : codes->numbers) word = random.below(9) == 0 ? ~std::uint64_t{0} : random.bits();
    tile_loops().hamming(left.view(), right.view(), out.view());
    bool right_counts = true;
    for (Index i = 0; i < n; ++i)
        for (Index j = 0; j < m; ++j) {
            int differing = 0;
            for (Index k = 0; k < dim; ++k) differing += std::popcount(left.at(i, k) ^ right.at(j, k));
            right_counts &= out.at(i, j) == -static_cast<float>(differing);
        }
    CHECK(right_counts);
    CHECK(out.padding_is_untouched());
}

TEST(cityblock_tiles) {
    Random random(1);
    for (Index n : {0, 1, 3, 4, 5, 9})
        for (Index m : SIZES)
            for (Index dim : {0, 1, 2, 63, 64, 65}) {
                cityblock_is_the_sum<float>(n, m, dim, random);
                cityblock_is_the_sum<double>(n, m, dim, random);
            }
}

TEST(hamming_tiles) {
    Random random(2);
    for (Index n : {0, 1, 3})
        for (Index m : {0, 1, 7, 64, 511, 512, 513, 1025})
            for (Index dim : {0, 1, 2, 5}) hamming_is_the_count(n, m, dim, random);
}

}  // namespace
