// Ones in vectors of words, for files that are compiled once for each instruction set.
#pragma once

#include "support/lanes.h"
#include "support/views.h"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace deadheat::DEADHEAT_TARGET {

using Words = Vector<std::uint64_t>;

#if defined(__AVX512BW__)
inline Words look_up(Words table, Words places) { return (Words)_mm512_shuffle_epi8((__m512i)table, (__m512i)places); }
inline Words sum_of_bytes(Words x) { return (Words)_mm512_sad_epu8((__m512i)x, __m512i{}); }
inline bool any(Words x) { return _mm512_test_epi64_mask((__m512i)x, (__m512i)x) != 0; }
#elif defined(__AVX2__)
inline Words look_up(Words table, Words places) { return (Words)_mm256_shuffle_epi8((__m256i)table, (__m256i)places); }
inline Words sum_of_bytes(Words x) { return (Words)_mm256_sad_epu8((__m256i)x, __m256i{}); }
inline bool any(Words x) { return !_mm256_testz_si256((__m256i)x, (__m256i)x); }
#else
inline Words sum_of_bytes(Words x) {
    const Words bytes = repeat<std::uint64_t>(0x00FF00FF00FF00FF);
    Words sums = (x & bytes) + ((x >> 8) & bytes);
    sums += sums >> 32;
    return (sums + (sums >> 16)) & repeat<std::uint64_t>(0xFFFF);
}
inline bool any(Words x) { return (x[0] | x[1]) != 0; }
#endif

/// Ones counted in bytes, which hold those of 31 words.
struct InBytes {
    static constexpr Index MOST = 31;
    static Words ones(Words x) {
        const Words nibbles = repeat<std::uint64_t>(0x0F0F0F0F0F0F0F0F);
#if defined(__AVX2__)
        Words table{};  // the ones in 0, 1, ..., 15, for each 16 bytes
        for (int lane = 0; lane < LANES<std::uint64_t>; ++lane)
            table[lane] = lane % 2 == 0 ? 0x0302020102010100 : 0x0403030203020201;
        return look_up(table, x & nibbles) + look_up(table, (x >> 4) & nibbles);
#else
        x -= (x >> 1) & repeat<std::uint64_t>(0x5555555555555555);
        x = (x & repeat<std::uint64_t>(0x3333333333333333)) + ((x >> 2) & repeat<std::uint64_t>(0x3333333333333333));
        return (x + (x >> 4)) & nibbles;
#endif
    }
    static Words total(Words counts) { return sum_of_bytes(counts); }
};

#if defined(__AVX512F__)
/// Ones counted in 64 bits, by an instruction that some processors with AVX-512 have.
struct InWords {
    static constexpr Index MOST = 1 << 20;
    static Words ones(Words x) {
        __asm__("vpopcntq %1, %0" : "=v"(x) : "v"(x));
        return x;
    }
    static Words total(Words counts) { return counts; }
};
#endif

/// Call `work` with the way to count ones that is best on this processor.
template <class Work>
void counting_ones(Work work) {
#if defined(__AVX512F__)
    if (__builtin_cpu_supports("avx512vpopcntdq")) return work(InWords{});
#endif
    work(InBytes{});
}

}  // namespace deadheat::DEADHEAT_TARGET
