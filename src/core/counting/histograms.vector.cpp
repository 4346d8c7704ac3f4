#include "counting/histograms.h"

#include <algorithm>
#include <vector>

namespace deadheat::DEADHEAT_TARGET {

namespace {

constexpr int ONE = -1;        // labels are the numbers of classes
constexpr Index ITEMS = 4096;  // whose codes and labels stay in the cache while all queries pass over them
constexpr Index TURNS = 4;     // histograms that take turns, as a bin that was just counted up is not ready yet

/// Bits in which two rows of words differ.
template <int WORDS>
Index differing(const std::uint64_t *a, const std::uint64_t *b, Index words) {
    Index n = 0;
    for (Index w = 0; w < (WORDS ? WORDS : words); ++w) n += __builtin_popcountll(a[w] ^ b[w]);
    return n;
}

/// Bits that two rows of words have in common, at most `most`.
template <int WORDS>
Index common(const std::uint64_t *a, const std::uint64_t *b, Index words, Index most) {
    if constexpr (WORDS == ONE) return *a == *b;
    if (most == 1) {
        std::uint64_t any = 0;
        for (Index w = 0; w < (WORDS ? WORDS : words); ++w) any |= a[w] & b[w];
        return any != 0;
    }
    Index n = 0;
    for (Index w = 0; w < (WORDS ? WORDS : words); ++w) n += __builtin_popcountll(a[w] & b[w]);
    return std::min(n, most);
}

template <int CODE, int LABEL>
void count_in(const LabelledCodes &codes, Index n_level, Matrix<std::int32_t> out) {
    const Index words = codes.query.columns, of_labels = codes.query_labels.columns, n_bin = out.columns;
    std::vector<std::int32_t> bins(static_cast<std::size_t>(TURNS * n_bin));
    for (Index begin = 0; begin < codes.item.rows; begin += ITEMS) {
        const Index end = std::min(begin + ITEMS, codes.item.rows);
        for (Index q = 0; q < codes.query.rows; ++q) {
            const std::uint64_t *code = codes.query.row(q), *labels = codes.query_labels.row(q);
            const auto add = [&](Index i, std::int32_t *to) {
                const Index distance = differing<CODE>(code, codes.item.row(i), words);
                ++to[distance * n_level + common<LABEL>(labels, codes.item_labels.row(i), of_labels, n_level - 1)];
            };
            std::fill(bins.begin(), bins.end(), 0);
            Index i = begin;
            for (; i + TURNS <= end; i += TURNS)
                for (Index turn = 0; turn < TURNS; ++turn) add(i + turn, bins.data() + turn * n_bin);
            for (; i < end; ++i) add(i, bins.data());
            for (Index turn = 0; turn < TURNS; ++turn)
                for (Index b = 0; b < n_bin; ++b) out(q, b) += bins[static_cast<std::size_t>(turn * n_bin + b)];
        }
    }
}

void count(const LabelledCodes &codes, Index n_level, Matrix<std::int32_t> out) {
    const Index words = codes.query.columns, of_labels = codes.query_labels.columns;
    const auto of_code = [&]<int CODE>() {
        if (codes.one) return count_in<CODE, ONE>(codes, n_level, out);
        if (of_labels == 1) return count_in<CODE, 1>(codes, n_level, out);
        if (of_labels == 2) return count_in<CODE, 2>(codes, n_level, out);
        count_in<CODE, 0>(codes, n_level, out);
    };
    if (words == 1) return of_code.template operator()<1>();
    if (words == 2) return of_code.template operator()<2>();
    if (words == 4) return of_code.template operator()<4>();
    of_code.template operator()<0>();
}

}  // namespace

extern const HistogramLoops histogram_loops = {count};

}  // namespace deadheat::DEADHEAT_TARGET
