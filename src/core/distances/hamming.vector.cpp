// Hamming tiles at the speed of the vector units.
//
// A block of the tile counts in registers, code by code in 64-bit lanes, word after word. Of a strip's columns, those of
// even number lie in the first vector and those of odd number in the second, so that the counts of both, shifted into one
// another, are 32-bit integers in the order of the columns.
#include "distances/strips.h"
#include "distances/tiles.h"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace deadheat::DEADHEAT_TARGET {

namespace {

using Words = Vector<std::uint64_t>;

static_assert(VECTORS == 2, "even and odd columns");

#if defined(__AVX512BW__)
Words look_up(Words table, Words places) { return (Words)_mm512_shuffle_epi8((__m512i)table, (__m512i)places); }
Words sum_of_bytes(Words x) { return (Words)_mm512_sad_epu8((__m512i)x, __m512i{}); }
#elif defined(__AVX2__)
Words look_up(Words table, Words places) { return (Words)_mm256_shuffle_epi8((__m256i)table, (__m256i)places); }
Words sum_of_bytes(Words x) { return (Words)_mm256_sad_epu8((__m256i)x, __m256i{}); }
#else
Words sum_of_bytes(Words x) {
    const Words bytes = repeat<std::uint64_t>(0x00FF00FF00FF00FF);
    Words sums = (x & bytes) + ((x >> 8) & bytes);
    sums += sums >> 32;
    return (sums + (sums >> 16)) & repeat<std::uint64_t>(0xFFFF);
}
#endif

/// The ones in each byte.
Words ones_in_bytes(Words x) {
    const Words nibbles = repeat<std::uint64_t>(0x0F0F0F0F0F0F0F0F);
#if defined(__AVX2__)
    Words table;  // the ones in 0, 1, ..., 15, for each 16 bytes
    for (int lane = 0; lane < LANES<std::uint64_t>; ++lane)
        table[lane] = lane % 2 == 0 ? 0x0302020102010100 : 0x0403030203020201;
    return look_up(table, x & nibbles) + look_up(table, (x >> 4) & nibbles);
#else
    x -= (x >> 1) & repeat<std::uint64_t>(0x5555555555555555);
    x = (x & repeat<std::uint64_t>(0x3333333333333333)) + ((x >> 2) & repeat<std::uint64_t>(0x3333333333333333));
    return (x + (x >> 4)) & nibbles;
#endif
}

/// Counts in bytes, which hold those of 31 words.
struct InBytes {
    static constexpr Index MOST = 31;
    static Words ones(Words x) { return ones_in_bytes(x); }
    static Words total(Words counts) { return sum_of_bytes(counts); }
};

#if defined(__AVX512F__)
/// Counts in 64 bits, by an instruction that some processors with AVX-512 have.
struct InWords {
    static constexpr Index MOST = 1 << 20;
    static Words ones(Words x) {
        __asm__("vpopcntq %1, %0" : "=v"(x) : "v"(x));
        return x;
    }
    static Words total(Words counts) { return counts; }
};
#endif

/// The scores of four rows and a whole strip of `width` words a code.
template <class Counts>
void block(const std::uint64_t *const rows[ROWS], const std::uint64_t *strip, Index width, float *const out[ROWS]) {
    Words totals[ROWS][VECTORS] = {};
    for (Index begin = 0; begin < width; begin += Counts::MOST) {
        Words counts[ROWS][VECTORS] = {};
        for (Index k = begin; k < std::min(begin + Counts::MOST, width); ++k) {
            Words columns[VECTORS];
            for (int v = 0; v < VECTORS; ++v) columns[v] = load(strip + (k * VECTORS + v) * LANES<std::uint64_t>);
            for (int r = 0; r < ROWS; ++r)
                for (int v = 0; v < VECTORS; ++v) counts[r][v] += Counts::ones(columns[v] ^ rows[r][k]);
        }
        for (int r = 0; r < ROWS; ++r)
            for (int v = 0; v < VECTORS; ++v) totals[r][v] += Counts::total(counts[r][v]);
    }
    for (int r = 0; r < ROWS; ++r) {
        const Words both = totals[r][0] | (totals[r][1] << 32);
        store<float>(__builtin_convertvector(-(Vector<std::int32_t>)both, Vector<float>), out[r]);
    }
}

template <class Counts>
void count(Matrix<const std::uint64_t> left, Matrix<const std::uint64_t> right, Matrix<float> out) {
    const auto even_first = [](Index c) { return c / 2 + c % 2 * LANES<std::uint64_t>; };
    by_strips(left, right, out, even_first,
              [&](const std::uint64_t *const rows[ROWS], const std::uint64_t *strip, float *const scores[ROWS]) {
                  block<Counts>(rows, strip, left.columns, scores);
              });
}

}  // namespace

void hamming(Matrix<const std::uint64_t> left, Matrix<const std::uint64_t> right, Matrix<float> out) {
#if defined(__AVX512F__)
    if (__builtin_cpu_supports("avx512vpopcntdq")) return count<InWords>(left, right, out);
#endif
    count<InBytes>(left, right, out);
}

}  // namespace deadheat::DEADHEAT_TARGET
