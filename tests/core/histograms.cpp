// Histograms of codes, compared with counting one pair after the other.
#include "counting/histograms.h"

#include <algorithm>
#include <bit>

#include "check.h"

namespace {

using namespace deadheat;
using namespace deadheat::tests;

using Words = Padded<std::uint64_t>;

/// Rows of so many bits, each set once in `rare` times, and one that all items have.
Words random_bits(Index n, Index n_bit, Index rare, Random &random) {
    Words rows(n, (n_bit + 63) / 64, random.below(3));
    for (Index i = 0; i < n; ++i)
        for (Index w = 0; w < rows.columns; ++w) {
            std::uint64_t word = 0;
            for (Index b = 0; b < std::min<Index>(64, n_bit - 64 * w); ++b)
                word |= std::uint64_t{random.below(rare) == 0 || (w + b == 0 && n > 4)} << b;
            rows.set(i, w, word);
        }
    return rows;
}

Index ones(const Words &left, Index i, const Words &right, Index j, bool common) {
    Index n = 0;
    for (Index w = 0; w < left.columns; ++w)
        n += std::popcount(common ? left.at(i, w) & right.at(j, w) : left.at(i, w) ^ right.at(j, w));
    return n;
}

void histograms_are_right(Index n_item, Index n_bit, Index n_label, Index n_level, Random &random) {
    const bool one = n_label == 0;
    const Index n_query = 4, n_bin = 64 * ((n_bit + 63) / 64) + 1;
    const Words query = random_bits(n_query, n_bit, 2, random), item = random_bits(n_item, n_bit, 2, random);
    Words labels = random_bits(n_query, one ? 1 : n_label, 3, random);
    Words of_items = random_bits(n_item, one ? 1 : n_label, 3, random);
    if (one) {
        for (Index q = 0; q < n_query; ++q) labels.set(q, 0, q == 0 ? ~std::uint64_t{0} : at(random.below(4)));
        for (Index i = 0; i < n_item; ++i) of_items.set(i, 0, n_item > 600 ? at(random.below(3)) : 2);
    }
    const auto view = [](const Words &rows) {
        return Matrix<const std::uint64_t>{rows.numbers.data(), rows.rows, rows.columns, rows.stride};
    };
    const LabelledItems items(view(item), view(of_items), one);
    Padded<std::int32_t> out(n_query, n_level * n_bin, 3), plain = out;
    for (Index q = 0; q < n_query; ++q)
        for (Index b = 0; b < out.columns; ++b) out.set(q, b, 5), plain.set(q, b, 5);  // what is there stays
    histogram_loops().count(items, view(query), view(labels), n_level, out.view());
    for (Index q = 0; q < n_query; ++q)
        for (Index i = 0; i < n_item; ++i) {
            const Index shared = one ? labels.at(q, 0) == of_items.at(i, 0) : ones(labels, q, of_items, i, true);
            const Index bin = std::min(shared, n_level - 1) * n_bin + ones(query, q, item, i, false);
            plain.set(q, bin, plain.at(q, bin) + 1);
        }
    CHECK(out.numbers == plain.numbers);
}

}  // namespace

TEST(histograms_of_codes) {
    Random random(41);
    for (Index n_item : {0, 1, 63, 64, 129, 511, 512, 513, 1100})
        for (Index n_bit : {0, 1, 2, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 127, 128, 129, 255, 256, 300})
            for (Index n_label : {0, 1, 70})
                for (Index n_level : {2, 3, 5})
                    if (n_label != 0 || n_level == 2) histograms_are_right(n_item, n_bit, n_label, n_level, random);
    for (Index n_bit : {1023, 1024, 4095, 4097, 9000}) histograms_are_right(600, n_bit, 3, 2, random);
}
