// Vectors of numbers that a processor works on at once, in the terms of GCC and Clang; a compiler splits those that are
// longer than what the processor has. For files that are compiled once for each instruction set.
#pragma once

#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#if defined(__AVX512F__)
#include <immintrin.h>
#endif

namespace deadheat::DEADHEAT_TARGET {

#if defined(__AVX512F__)
constexpr int VECTOR_BYTES = 64;
#elif defined(__AVX2__)
constexpr int VECTOR_BYTES = 32;
#else
constexpr int VECTOR_BYTES = 16;
#endif

/// As many numbers of a type as fit a vector.
template <class T>
constexpr int LANES = VECTOR_BYTES / static_cast<int>(sizeof(T));

template <class T>
struct VectorOf {
    typedef T type __attribute__((vector_size(VECTOR_BYTES)));
};
template <class T>
using Vector = typename VectorOf<T>::type;

/// Consecutive numbers, wherever they begin.
template <class T>
inline Vector<T> load(const T *from) {
    Vector<T> vector;
    std::memcpy(&vector, from, sizeof vector);
    return vector;
}

template <class T>
inline void store(Vector<T> vector, T *to) {
    std::memcpy(to, &vector, sizeof vector);
}

/// A vector of one value.
template <class T>
inline Vector<T> repeat(T value) {
    return Vector<T>{} + value;
}

/// Consecutive numbers in float64.
inline Vector<double> widen(const double *from) { return load(from); }

inline Vector<double> widen(const float *from) {
#if defined(__AVX512F__)
    return (Vector<double>)_mm512_maskz_cvtps_pd(0xFF, _mm256_loadu_ps(from));  // GCC does it by halves
#else
    typedef float Narrow __attribute__((vector_size(VECTOR_BYTES / 2)));
    Narrow narrow;
    std::memcpy(&narrow, from, sizeof narrow);
    return __builtin_convertvector(narrow, Vector<double>);
#endif
}

/// Sizes: without the sign bits.
template <class T>
inline Vector<T> absolute(Vector<T> x) {
    using Bits = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
    return (Vector<T>)((Vector<Bits>)x & repeat(std::numeric_limits<Bits>::max()));
}

}  // namespace deadheat::DEADHEAT_TARGET
