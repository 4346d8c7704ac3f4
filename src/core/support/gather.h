// Operations that vector extensions lack: gathering, comparing into bits, and packing. Each has a form for AVX-512 and AVX2,
// and a plain one. For files that are compiled once for each instruction set.
#pragma once

#include <bit>
#include <cstring>

#include "support/lanes.h"
#include "support/views.h"
#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace deadheat::DEADHEAT_TARGET {

/// So many numbers, which may be less or more than a vector of the processor.
template <class T, int N>
struct SomeOf {
    typedef T type __attribute__((vector_size(N * sizeof(T))));
};
template <class T, int N>
using Some = typename SomeOf<T, N>::type;

template <class V, class T>
inline V load_some(const T *from) {
    V some;
    std::memcpy(&some, from, sizeof some);
    return some;
}

/// The places begin, begin + 1, ...
template <int N>
inline Some<std::int32_t, N> places_from(Index begin) {
    static constexpr std::int32_t FIRST[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    return load_some<Some<std::int32_t, N>>(FIRST) + static_cast<std::int32_t>(begin);
}

// Gathering -----------------------------------------------------------------------------------------------------------

/// The numbers at some places.
template <class T, int N>
inline Some<T, N> gather(const T *from, Some<std::int32_t, N> places) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8);
#if defined(__AVX512F__)
    if constexpr (sizeof(T) == 4 && N == 16)
        return (Some<T, N>)_mm512_mask_i32gather_epi32(__m512i{}, 0xFFFF, (__m512i)places, from, 4);
    if constexpr (sizeof(T) == 8 && N == 8)
        return (Some<T, N>)_mm512_mask_i32gather_epi64(__m512i{}, 0xFF, (__m256i)places, from, 8);
#endif
#if defined(__AVX2__)
    if constexpr (sizeof(T) == 4 && N == 8)
        return (Some<T, N>)_mm256_i32gather_epi32(reinterpret_cast<const int *>(from), (__m256i)places, 4);
    if constexpr (sizeof(T) == 8 && N == 4)
        return (Some<T, N>)_mm256_i32gather_epi64(reinterpret_cast<const long long *>(from), (__m128i)places, 8);
#endif
    Some<T, N> out{};  // not every compiler sees that all of it is written
    for (int k = 0; k < N; ++k) {
        T number;  // copied byte by byte: the array may be of shorter numbers, two of which are read at once
        std::memcpy(&number, from + places[k], sizeof number);
        out[k] = number;
    }
    return out;
}

// Comparing -----------------------------------------------------------------------------------------------------------

using Bits = std::uint32_t;  // one a lane

/// The sign bits of some integers.
template <int N>
inline Bits signs(Some<std::int32_t, N> some) {
#if defined(__AVX512F__)
    if constexpr (N == 16) return _mm512_movepi32_mask((__m512i)some);
    if constexpr (N == 8) return _mm256_movepi32_mask((__m256i)some);
#endif
#if defined(__AVX2__)
    if constexpr (N == 8) return static_cast<Bits>(_mm256_movemask_ps((__m256)some));
    if constexpr (N == 4) return static_cast<Bits>(_mm_movemask_ps((__m128)some));
#endif
    Bits bits = 0;
    for (int k = 0; k < N; ++k) bits |= Bits(some[k] < 0) << k;
    return bits;
}

/// Mark the lanes with a ≥ b.
template <class T, int N>
inline Bits at_least(Some<T, N> a, Some<T, N> b) {
#if defined(__AVX512F__)
    if constexpr (sizeof(T) == 4 && N == 16) return _mm512_cmp_ps_mask((__m512)a, (__m512)b, _CMP_GE_OQ);
    if constexpr (sizeof(T) == 8 && N == 8) return _mm512_cmp_pd_mask((__m512d)a, (__m512d)b, _CMP_GE_OQ);
#endif
#if defined(__AVX2__)
    if constexpr (sizeof(T) == 4 && N == 8)
        return static_cast<Bits>(_mm256_movemask_ps(_mm256_cmp_ps((__m256)a, (__m256)b, _CMP_GE_OQ)));
    if constexpr (sizeof(T) == 8 && N == 4)
        return static_cast<Bits>(_mm256_movemask_pd(_mm256_cmp_pd((__m256d)a, (__m256d)b, _CMP_GE_OQ)));
#endif
    Bits bits = 0;
    for (int k = 0; k < N; ++k) bits |= Bits(a[k] >= b[k]) << k;
    return bits;
}

/// −1 in the lanes whose bits are set, 0 in the others.
template <int N>
inline Some<std::int32_t, N> lanes_of(Bits bits) {
#if defined(__AVX512F__)
    if constexpr (N == 16) return (Some<std::int32_t, N>)_mm512_movm_epi32(static_cast<__mmask16>(bits));
    if constexpr (N == 8) return (Some<std::int32_t, N>)_mm256_movm_epi32(static_cast<__mmask8>(bits));
#endif
    const Some<std::int32_t, N> one = Some<std::int32_t, N>{} + 1;
    return ((Some<std::int32_t, N>{} + static_cast<std::int32_t>(bits)) >> places_from<N>(0) & one) == one;
}

/// The sums of some integers, and of others in the lanes where a ≥ b.
template <class T, int N>
inline Some<std::int32_t, N> add_where(Some<std::int32_t, N> sums, Some<T, N> a, Some<T, N> b,
                                       Some<std::int32_t, N> others) {
#if defined(__AVX512F__)
    const Bits bits = at_least<T, N>(a, b);
    if constexpr (N == 16)
        return (Some<std::int32_t, N>)_mm512_mask_add_epi32((__m512i)sums, static_cast<__mmask16>(bits), (__m512i)sums,
                                                            (__m512i)others);
    if constexpr (N == 8)
        return (Some<std::int32_t, N>)_mm256_mask_add_epi32((__m256i)sums, static_cast<__mmask8>(bits), (__m256i)sums,
                                                            (__m256i)others);
#endif
    if constexpr (sizeof(T) == 4)
        return sums + (others & (a >= b));
    else
        return sums + (others & __builtin_convertvector(a >= b, Some<std::int32_t, N>));
}

// Packing -------------------------------------------------------------------------------------------------------------

#if defined(__AVX2__)
/// The places of the set bits of a byte, packed.
inline __m256i packed_places(Bits bits) {
    const std::uint64_t lanes = _pdep_u64(bits, 0x0101010101010101) * 0xFF;  // a byte of ones for each set bit
    return _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(static_cast<long long>(_pext_u64(0x0706050403020100, lanes))));
}
#endif

/// Write the chosen numbers to place n and on; returns the next place. There is room for a vector more.
template <class T, int N>
inline Index append(Some<T, N> some, Bits chosen, T *to, Index n) {
    const Index after = n + std::popcount(chosen);
#if defined(__AVX512F__)
    if constexpr (sizeof(T) == 4 && N == 16) {
        _mm512_storeu_si512(to + n, _mm512_maskz_compress_epi32(static_cast<__mmask16>(chosen), (__m512i)some));
        return after;
    }
    if constexpr (sizeof(T) == 8 && N == 8) {
        _mm512_storeu_si512(to + n, _mm512_maskz_compress_epi64(static_cast<__mmask8>(chosen), (__m512i)some));
        return after;
    }
    if constexpr (sizeof(T) == 4 && N == 8) {
        const __m256i packed = _mm256_maskz_compress_epi32(static_cast<__mmask8>(chosen), (__m256i)some);
        _mm256_storeu_si256(reinterpret_cast<__m256i *>(to + n), packed);
        return after;
    }
#endif
#if defined(__AVX2__) && !defined(__AVX512F__)
    if constexpr (sizeof(T) == 4 && N == 8) {
        const __m256i packed = _mm256_permutevar8x32_epi32((__m256i)some, packed_places(chosen));
        _mm256_storeu_si256(reinterpret_cast<__m256i *>(to + n), packed);
        return after;
    }
#endif
    for (int k = 0; k < N; ++k) {
        to[n] = some[k];
        n += chosen >> k & 1;
    }
    return after;
}

}  // namespace deadheat::DEADHEAT_TARGET
