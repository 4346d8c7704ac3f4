#include "counting/histograms.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "support/lanes.h"

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

// Bit by bit --------------------------------------------------------------------------------------------------------

using Items = Vector<std::uint64_t>;  // a bit of each

constexpr Index SIDE = VECTOR_BYTES * 8;                 // items in a vector
constexpr int MOST_DIGITS = 25;                          // of a distance: codes have less than 2^24 bits
constexpr Index KEPT = (Index(1) << 19) / VECTOR_BYTES;  // vectors of bits that stay in the cache while queries pass

/// Bits of codes of which some differ.
std::vector<Index> varying(const LabelledCodes &codes) {
    std::vector<Index> bits;
    const Index words = codes.query.columns;
    for (Index w = 0; w < words; ++w) {
        const std::uint64_t first = codes.item(0, w);
        std::uint64_t any = 0;
        for (const auto &rows : {codes.query, codes.item})
            for (Index i = 0; i < rows.rows; ++i) any |= rows(i, w) ^ first;
        for (Index bit = 0; bit < 64; ++bit)
            if (any >> bit & 1) bits.push_back(64 * w + bit);
    }
    return bits;
}

/// Turn 64 words into those of their bits: bit i of word b is bit b of word i before.
void transpose(std::uint64_t *words) {
    std::uint64_t mask = 0x00000000FFFFFFFF;
    for (int step = 32; step > 0; step /= 2, mask ^= mask << step)
        for (int i = 0; i < 64; i = (i + step + 1) & ~step) {
            const std::uint64_t swapped = ((words[i] >> step) ^ words[i + step]) & mask;
            words[i] ^= swapped << step, words[i + step] ^= swapped;
        }
}

/// Blocks of items of one class each, as vectors of one bit of each item: all bits of the first block, of the next, ...
struct Planes {
    std::vector<Index> bits;
    std::vector<std::uint64_t> words;  // of these vectors, and of those of the items that there are
    std::vector<std::uint64_t> valid;
    std::vector<std::uint64_t> classes;  // of each block

    explicit Planes(const LabelledCodes &codes) : bits(varying(codes)) {
        for (Index begin = 0, end = 0; begin < codes.item.rows; begin = end) {
            const std::uint64_t own = codes.item_labels(begin, 0);
            for (end = begin; end < codes.item.rows && end < begin + SIDE && codes.item_labels(end, 0) == own;) ++end;
            classes.push_back(own);
            add_block(codes.item, begin, end);
        }
    }

    Items there(Index block) const { return load(valid.data() + block * PER_VECTOR); }

private:
    static constexpr Index PER_VECTOR = LANES<std::uint64_t>;

    void add_block(Matrix<const std::uint64_t> codes, Index begin, Index end) {
        const std::size_t first = words.size();
        words.resize(first + bits.size() * PER_VECTOR);
        for (Index lane = 0; lane < PER_VECTOR; ++lane) {
            const Index from = std::min(end, begin + 64 * lane), n = std::min<Index>(64, end - from);
            valid.push_back(n == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << n) - 1);
            std::uint64_t square[64];
            for (std::size_t b = 0, last = ~std::size_t{0}; b < bits.size(); ++b) {
                const auto word = static_cast<std::size_t>(bits[b] / 64);
                if (word != last) {
                    for (Index i = 0; i < 64; ++i) square[i] = i < n ? codes(from + i, bits[b] / 64) : 0;
                    transpose(square);
                    last = word;
                }
                words[first + b * PER_VECTOR + static_cast<std::size_t>(lane)] = square[bits[b] % 64];
            }
        }
    }
};

/// A sum of three bits: its low bit, and its high one in `carry`.
inline Items add(Items a, Items b, Items c, Items &carry) {
#if defined(__AVX512F__)
    const auto x = (__m512i)a, y = (__m512i)b, z = (__m512i)c;
    carry = (Items)_mm512_ternarylogic_epi64(x, y, z, 0xE8);
    return (Items)_mm512_ternarylogic_epi64(x, y, z, 0x96);
#else
    const Items half = a ^ b;
    carry = (a & b) | (half & c);
    return half ^ c;
#endif
}

inline bool any_of(Items some) {
#if defined(__AVX512F__)
    return _mm512_test_epi64_mask((__m512i)some, (__m512i)some) != 0;
#else
    std::uint64_t any = 0;
    for (int lane = 0; lane < LANES<std::uint64_t>; ++lane) any |= some[lane];
    return any != 0;
#endif
}

/// The number of differing bits among the next 2^DIGITS − 1, in binary.
template <int DIGITS>
inline void add_up(const std::uint64_t *&planes, const Items *&flips, Items *out) {
    const auto next = [&] {
        const Items differing = load(planes) ^ *flips++;
        planes += LANES<std::uint64_t>;
        return differing;
    };
    if constexpr (DIGITS == 1) {
        out[0] = next();
    } else {
        Items left[DIGITS - 1], right[DIGITS - 1];
        add_up<DIGITS - 1>(planes, flips, left), add_up<DIGITS - 1>(planes, flips, right);
        Items carry = next();
        for (int k = 0; k < DIGITS - 1; ++k) out[k] = add(left[k], right[k], carry, carry);
        out[DIGITS - 1] = carry;
    }
}

/// A histogram of the distances of one block.
struct Counted {
    Items digits[MOST_DIGITS] = {};
    int n_digit = 0;

    template <int DIGITS>
    void take(const std::uint64_t *&planes, const Items *&flips, Index &left) {
        for (constexpr Index EACH = (Index(1) << DIGITS) - 1; left >= EACH; left -= EACH) {
            Items more[DIGITS];
            add_up<DIGITS>(planes, flips, more);
            Items carry{};
            for (int k = 0; k < n_digit; ++k) digits[k] = add(digits[k], k < DIGITS ? more[k] : Items{}, carry, carry);
        }
        if constexpr (DIGITS > 1) take<DIGITS - 1>(planes, flips, left);
    }

    /// Add the items in `some`, whose distances begin with the digits above this one, to the bins.
    void count(int digit, Items some, Index distance, std::int32_t *bins) const {
        if (!any_of(some)) return;
        if (digit == 0) {
            Index n = 0;
            for (int lane = 0; lane < LANES<std::uint64_t>; ++lane) n += __builtin_popcountll(some[lane]);
            bins[2 * distance] += static_cast<std::int32_t>(n);
            return;
        }
        const Items set = digits[--digit];
        count(digit, some & ~set, distance, bins);
        count(digit, some & set, distance + (Index(1) << digit), bins);
    }
};

void count_sorted(const LabelledCodes &codes, Matrix<std::int32_t> out) {
    const Planes made(codes);
    const auto n_bit = static_cast<Index>(made.bits.size()), n_block = static_cast<Index>(made.classes.size());
    const int n_digit = std::bit_width(static_cast<std::uint64_t>(n_bit));
    const Index step = std::max<Index>(1, KEPT / std::max<Index>(1, n_bit));
    std::vector<Items> flips(made.bits.size());
    for (Index first = 0; first < n_block; first += step)
        for (Index q = 0; q < codes.query.rows; ++q) {
            for (std::size_t b = 0; b < flips.size(); ++b)
                flips[b] = Items{} - (codes.query(q, made.bits[b] / 64) >> (made.bits[b] % 64) & 1);
            for (Index block = first; block < std::min(n_block, first + step); ++block) {
                Counted counted;
                counted.n_digit = n_digit;
                const std::uint64_t *planes = made.words.data() + block * n_bit * LANES<std::uint64_t>;
                const Items *flip = flips.data();
                Index left = n_bit;
                counted.take<6>(planes, flip, left);
                const auto at_block = static_cast<std::size_t>(block);
                const bool own = made.classes[at_block] == codes.query_labels(q, 0);
                counted.count(n_digit, made.there(block), 0, out.row(q) + own);
            }
        }
}

}  // namespace

extern const HistogramLoops histogram_loops = {count, count_sorted};

}  // namespace deadheat::DEADHEAT_TARGET
