// Histograms at the speed of the vector units: distances as binary digits, a plane of bits each.
//
//     planes of items ^ bits of the query ──full adders──> digits of the distances
//     digits ──a digit after the other──> the items at each distance, a bit each ──> how many they are
//
// So an operation is for as many items as a vector has bits.
#include "counting/histograms.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "support/ones.h"

namespace deadheat::DEADHEAT_TARGET {

namespace {

constexpr Index STEP = LANES<std::uint64_t>, WORDS = BitPlanes::ROWS / 64;
constexpr int RUN = 4;               // digits of what a run of 16 planes adds up to
constexpr std::size_t TOGETHER = 2;  // queries that pass over the items together
constexpr Index CACHE = 1 << 19;     // bytes of planes that stay in the cache while all queries pass over them

/// Add two planes to a digit, and return what is carried.
inline Words carried(Words &digit, Words a, Words b) noexcept {
#if defined(__AVX512F__)
    const auto x = (__m512i)digit, y = (__m512i)a, z = (__m512i)b;
    digit = (Words)_mm512_ternarylogic_epi64(x, y, z, 0x96);
    return (Words)_mm512_ternarylogic_epi64(x, y, z, 0xE8);
#else
    const Words either = a ^ b, carry = (a & b) | (digit & either);
    digit ^= either;
    return carry;
#endif
}

/// Add a plane to a number of some digits, and return what is carried.
inline Words add_plane(Words plane, Words *digits, int n) {
#pragma GCC unroll 16
    for (int i = 0; i < n; ++i) {
        const Words carry = digits[i] & plane;
        digits[i] ^= plane;
        plane = carry;
    }
    return plane;
}

/// Add 2^K planes, each where the query has not its bit, to K digits, and return what is carried.
template <int K>
[[gnu::always_inline]] inline Words add_run(const BitPlanes::Plane *planes, Index word, const std::uint64_t *masks,
                                            Words *digits) noexcept {
    if constexpr (K == 0) {
        return load(planes->words + word) ^ *masks;
    } else {
        constexpr int HALF = 1 << (K - 1);
        const Words a = add_run<K - 1>(planes, word, masks, digits);
        return carried(digits[K - 1], a, add_run<K - 1>(planes + HALF, word, masks + HALF, digits));
    }
}

/// Count the items of a mask by their number of some digits.
template <class Counts, int DIGITS>
inline void count_by_digits(Words mask, const Words *digits, Words *counts) {
    if constexpr (DIGITS == 0) {
        *counts += Counts::total(Counts::ones(mask));
    } else {
        if constexpr (DIGITS > 3)
            if (!any(mask)) return;
        count_by_digits<Counts, DIGITS - 1>(mask & ~digits[DIGITS - 1], digits, counts);
        count_by_digits<Counts, DIGITS - 1>(mask & digits[DIGITS - 1], digits, counts + (1 << (DIGITS - 1)));
    }
}

/// The items of each vector that share 0, 1, ..., n_level − 1 labels, or more, with a query.
class Levels {
public:
    Levels(const LabelledItems &items, Index n_level)
        : items_(items), n_level_(n_level), n_digit_(std::bit_width(at(n_level - 1))), digits_(at(n_digit_)) {}

    const std::vector<Words> &of(Span<const std::uint64_t> labels, Index first_part, Index n_part) {
        if (first_part == first_part_ && std::equal(labels.begin(), labels.end(), last_.begin(), last_.end())) return masks_;
        first_part_ = first_part, last_.assign(labels.begin(), labels.end());
        items_.labels.masks(labels, bits_);
        nobody_ = items_.one && items_.labels.differing_elsewhere(labels) > 0;
        masks_.clear();
        for (Index part = first_part; part < first_part + n_part; ++part)
            for (Index word = 0; word < WORDS; word += STEP) divide(part, word);
        return masks_;
    }

private:
    void divide(Index part, Index word) {
        const BitPlanes::Plane *planes = items_.labels.of_rows(part);
        Words left, more{};
        for (Index lane = 0; lane < STEP; ++lane) {
            const Index n = std::clamp<Index>(items_.n - part * BitPlanes::ROWS - (word + lane) * 64, 0, 64);
            left[lane] = n == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << n) - 1;
        }
        std::fill(digits_.begin(), digits_.end(), Words{});
        for (Index p = 0; p < items_.labels.size(); ++p) {
            const Words plane = load(planes[p].words + word);
            if (items_.one)
                more |= plane ^ bits_[at(p)];
            else if (bits_[at(p)] != 0)
                more |= add_plane(plane, digits_.data(), n_digit_);
        }
        if (items_.one) digits_[0] = nobody_ ? Words{} : ~more, more = Words{};
        for (Index s = 0; s + 1 < n_level_; ++s) {
            Words some = left & ~more;
            for (int i = 0; i < n_digit_; ++i) some &= s >> i & 1 ? digits_[at(i)] : ~digits_[at(i)];
            masks_.push_back(some);
            left &= ~some;
        }
        masks_.push_back(left);
    }

    const LabelledItems &items_;
    Index n_level_, first_part_ = -1;
    int n_digit_;
    bool nobody_ = false;
    std::vector<std::uint64_t> bits_, last_;
    std::vector<Words> digits_, masks_;
};

/// One of the queries that pass over the items together.
struct Query {
    Levels levels;
    std::vector<std::uint64_t> masks{};
    std::vector<Words> counts{};
    const Words *level = nullptr;
};

/// Add up the histograms of queries where items differ in so few bits that distances have at most these digits.
template <class Counts, int DIGITS>
void count_in(const LabelledItems &items, Matrix<const std::uint64_t> codes, Matrix<const std::uint64_t> labels,
              Index n_level, Matrix<std::int32_t> out) {
    const BitPlanes &planes = items.codes;
    const Index room = (planes.size() / 16 + 1) * 16;  // for each distance: 16 of them are counted if any occurs
    const Index n_bin = out.columns / n_level, all_parts = (items.n + BitPlanes::ROWS - 1) / BitPlanes::ROWS;
    const Index bytes = (planes.stride() + items.labels.stride() + 1) * Index{sizeof(BitPlanes::Plane)};
    const Index parts = std::max<Index>(1, CACHE / bytes);
    std::vector<Query> together(TOGETHER, Query{Levels(items, n_level)});
    std::vector<Index> queries(at(codes.rows));  // those of the same labels one after the other
    std::iota(queries.begin(), queries.end(), 0);
    std::sort(queries.begin(), queries.end(),
              [&](Index a, Index b) { return std::ranges::lexicographical_compare(labels[a], labels[b]); });
    for (Index first = 0; first < all_parts; first += parts) {
        const Index end = std::min(first + parts, all_parts);
        for (std::size_t begin = 0; begin < queries.size(); begin += TOGETHER) {
            const std::size_t n = std::min(TOGETHER, queries.size() - begin);
            for (std::size_t k = 0; k < n; ++k) {
                together[k].level = together[k].levels.of(labels[queries[begin + k]], first, end - first).data();
                planes.masks(codes[queries[begin + k]], together[k].masks);
                together[k].counts.assign(at(n_level * room), Words{});
            }
            for (Index part = first; part < end; ++part)
                for (Index word = 0; word < WORDS; word += STEP)
                    for (std::size_t k = 0; k < n; ++k) {
                        Query &query = together[k];
                        Words digits[DIGITS] = {};
                        for (Index p = 0; p < planes.stride(); p += 1 << RUN) {
                            const Words carry = add_run<RUN>(planes.of_rows(part) + p, word, query.masks.data() + p, digits);
                            add_plane(carry, digits + RUN, DIGITS - RUN);
                        }
                        for (Index s = 0; s < n_level; ++s)
                            count_by_digits<Counts, DIGITS>(*query.level++, digits, query.counts.data() + s * room);
                    }
            for (std::size_t k = 0; k < n; ++k) {
                const Index q = queries[begin + k], elsewhere = planes.differing_elsewhere(codes[q]);
                for (Index s = 0; s < n_level; ++s)
                    for (Index d = 0; d <= planes.size(); ++d) {
                        const Words of_lanes = together[k].counts[at(s * room + d)];
                        std::uint64_t total = 0;
                        for (int lane = 0; lane < STEP; ++lane) total += of_lanes[lane];
                        out(q, s * n_bin + d + elsewhere) += static_cast<std::int32_t>(total);
                    }
            }
        }
    }
}

template <class Counts, int DIGITS, int... MORE>
void count_with(const LabelledItems &items, Matrix<const std::uint64_t> codes, Matrix<const std::uint64_t> labels,
                Index n_level, Matrix<std::int32_t> out) {
    if constexpr (sizeof...(MORE) > 0)
        if (items.codes.size() >> DIGITS) return count_with<Counts, MORE...>(items, codes, labels, n_level, out);
    count_in<Counts, DIGITS>(items, codes, labels, n_level, out);
}

void count(const LabelledItems &items, Matrix<const std::uint64_t> codes, Matrix<const std::uint64_t> labels, Index n_level,
           Matrix<std::int32_t> out) {
    counting_ones(
        [&]<class Counts>(Counts) { count_with<Counts, 5, 6, 7, 8, 10, 12, 24>(items, codes, labels, n_level, out); });
}

}  // namespace

extern const HistogramLoops histogram_loops = {count};

}  // namespace deadheat::DEADHEAT_TARGET
