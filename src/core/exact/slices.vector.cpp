// Sums of products of slices, as many side by side as the vector units have room for.
//
// All numbers here are integers that float64 holds, and so are their products and sums: no operation rounds, so that fused
// or not, and in any order, they are the same.
#include "exact/slices.h"

#include <algorithm>
#if defined(__AVX2__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#include "support/lanes.h"

namespace deadheat::DEADHEAT_TARGET {

namespace {

using Doubles = Vector<double>;
constexpr int WIDTH = LANES<double>;
constexpr int SQUARE = 3;  // slices of either row at once: 3 · 3 sums keep the units busy and fit the registers

inline Doubles multiply_add(Doubles a, Doubles b, Doubles sum) {
#if defined(__AVX512F__)
    return _mm512_fmadd_pd(a, b, sum);
#elif defined(__AVX2__)
    return _mm256_fmadd_pd(a, b, sum);
#elif defined(__aarch64__)
    return vfmaq_f64(sum, a, b);
#else
    return sum + a * b;
#endif
}

/// The sum of all lanes: halves are added to halves.
inline double total(Doubles sum) {
#if defined(__AVX512F__)
    sum += __builtin_shufflevector(sum, sum, 4, 5, 6, 7, 0, 1, 2, 3);
    sum += __builtin_shufflevector(sum, sum, 2, 3, 0, 1, 6, 7, 4, 5);
#elif defined(__AVX2__)
    sum += __builtin_shufflevector(sum, sum, 2, 3, 0, 1);
#endif
    return sum[0] + sum[1];
}

void cut(const double *row, Index dim, const double scale[2], int bits, int count, Index padded, double *slices) {
    double *rest = slices;  // the lowest slice is what is left in the end
    for (Index k = 0; k < dim; ++k) rest[k] = row[k] * scale[0] * scale[1];
    for (Index k = dim; k < padded; ++k) rest[k] = 0.0;
    for (int slice = count - 1; slice > 0; --slice) {
        double unit = 1.0, part = 1.0;
        for (int bit = 0; bit < bits * slice; ++bit) unit *= 2.0, part *= 0.5;
        const double rounder = 1.5 * 0x1p52 * unit;  // adding it rounds to a multiple of the unit
        double *out = slices + slice * padded;
        for (Index k = 0; k < padded; ++k) {
            const double rounded = (rest[k] + rounder) - rounder;
            out[k] = rounded * part;
            rest[k] -= rounded;
        }
    }
}

template <int A, int B>
void square(const double *left, const double *right, Index padded, std::int64_t *places) {
    constexpr int LANE_GROUPS = A * B >= 6 ? 1 : A * B >= 3 ? 2 : 4;  // enough sums that none waits for the one before
    Doubles sums[LANE_GROUPS][A][B] = {};
    const auto step = [&](Index k, Doubles(&sum)[A][B]) {
        Doubles of_left[A];
        for (int i = 0; i < A; ++i) of_left[i] = load(left + i * padded + k);
        for (int j = 0; j < B; ++j) {
            const Doubles of_right = load(right + j * padded + k);
            for (int i = 0; i < A; ++i) sum[i][j] = multiply_add(of_left[i], of_right, sum[i][j]);
        }
    };
    Index k = 0;
    for (; k + LANE_GROUPS * WIDTH <= padded; k += LANE_GROUPS * WIDTH)
        for (int group = 0; group < LANE_GROUPS; ++group) step(k + group * WIDTH, sums[group]);
    for (; k < padded; k += WIDTH) step(k, sums[0]);
    Doubles of_place[A + B - 1] = {};
    for (int group = 0; group < LANE_GROUPS; ++group)
        for (int i = 0; i < A; ++i)
            for (int j = 0; j < B; ++j) of_place[i + j] += sums[group][i][j];
    for (int place = 0; place < A + B - 1; ++place) places[place] += static_cast<std::int64_t>(total(of_place[place]));
}

using Square = void (*)(const double *, const double *, Index, std::int64_t *);
constexpr Square SQUARES[SQUARE][SQUARE] = {{square<1, 1>, square<1, 2>, square<1, 3>},
                                            {square<2, 1>, square<2, 2>, square<2, 3>},
                                            {square<3, 1>, square<3, 2>, square<3, 3>}};

/// Return the number of slices to take next: 4 are better cut in halves than into 3 and 1.
inline int next(int left) { return left == 4 ? 2 : std::min(left, SQUARE); }

void dots(const double *left, int left_count, const double *right, int right_count, Index padded, std::int64_t *places) {
    for (int i = 0; i < left_count;) {
        const int rows = next(left_count - i);
        for (int j = 0; j < right_count;) {
            const int columns = next(right_count - j);
            SQUARES[rows - 1][columns - 1](left + i * padded, right + j * padded, padded, places + i + j);
            j += columns;
        }
        i += rows;
    }
}

void differences(const double *left, const double *right, const double *left_slices, const double *right_slices, int count,
                 Index padded, std::int64_t *places) {
    for (int slice = 0; slice < count; ++slice) {
        const double *a = left_slices + slice * padded, *b = right_slices + slice * padded;
        Doubles sums[2] = {};
        for (Index k = 0; k < padded; k += WIDTH) {
            const Doubles difference = load(a + k) - load(b + k);
            sums[(k / WIDTH) & 1] += load(left + k) < load(right + k) ? -difference : difference;
        }
        places[slice] += static_cast<std::int64_t>(total(sums[0] + sums[1]));
    }
}

}  // namespace

extern const SliceLoops slice_loops = {cut, dots, differences};

}  // namespace deadheat::DEADHEAT_TARGET
