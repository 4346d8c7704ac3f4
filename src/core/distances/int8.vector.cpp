// Products of bytes at the speed of the vector units: four dimensions at once, in blocks as in products.vector.cpp. No
// product is stored: each is compared with the limits while it is in a register.
#include "distances/int8.h"

#include <algorithm>
#include <bit>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "distances/panel.h"
#include "support/gather.h"

namespace deadheat::DEADHEAT_TARGET {

namespace {

using Ints = Vector<std::int32_t>;
using Floats = Vector<float>;
constexpr int N = LANES<float>;
constexpr Index PANEL = WIDTH<float>;
constexpr Index STRIP = 96;  // left rows that run along a panel of right ones before the next
constexpr std::int32_t UNSIGNED = static_cast<std::int32_t>(0x80808080);  // turns bytes of n into those of n + 128

/// Sums, and the products of four bytes, 0 to 255, with four others, −128 to 127.
inline Ints add_products(Ints sums, Ints bytes, Ints others) {
#if defined(__AVX512F__)
    __asm__("vpdpbusd %2, %1, %0" : "+v"(sums) : "v"(bytes), "v"(others));
    return sums;
#elif defined(__AVX2__)
    using Shorts = Vector<std::int16_t>;
    const auto b = std::bit_cast<Shorts>(others);
    const auto multiplied = [](Shorts x, Shorts y) {
        return std::bit_cast<Ints>(_mm256_madd_epi16(std::bit_cast<__m256i>(x), std::bit_cast<__m256i>(y)));
    };
    const auto even = std::bit_cast<Shorts>(bytes & 0x00ff00ff), odd = std::bit_cast<Shorts>((bytes >> 8) & 0x00ff00ff);
    return sums + (multiplied(even, (b << 8) >> 8) + multiplied(odd, b >> 8));
#else
    for (int shift = 0; shift < 32; shift += 8) sums += (bytes >> shift & 255) * (others << (24 - shift) >> 24);
    return sums;
#endif
}

Floats some_of(const float *from, Index there) {
    if (there >= N) return load(from);
    float some[N] = {};
    std::copy_n(from, std::max<Index>(there, 0), some);
    return load(some);
}

/// Compare ROWS rows from i on, of which some may be missing, with the columns of a vector from j on.
void compare(const Ints *sums, const Int8View &left, const Int8View &right, Index i, Index j, Reaching &result) {
    const Int8Limits of_rows = left.limits, of_columns = right.limits;
    const auto n = static_cast<Index>(of_rows.limit.size()), m = static_cast<Index>(of_columns.offset.size());
    const Index there = std::min<Index>(m - j, N);
    const bool both = !of_columns.limit.empty();
    const auto at_columns = [&](const std::vector<float> &all) { return some_of(all.data() + right.first + j, there); };
    const Floats unit = at_columns(right.rows.unit), size = at_columns(right.rows.size), rest = at_columns(right.rows.rest),
                 offset = some_of(of_columns.offset.data() + j, there),
                 limit = both ? some_of(of_columns.limit.data() + j, there) : Floats{};
    std::int32_t more[N] = {};  // from n + 128 in place of n
    for (Index k = 0; k < there; ++k) more[k] = 128 * right.rows.sum[at(right.first + j + k)];
    const Bits every = static_cast<Bits>((std::uint64_t{1} << there) - 1);
    for (Index r = 0; r < std::min<Index>(ROWS, n - i); ++r) {
        const std::size_t row = at(left.first + i + r);
        const Floats product = __builtin_convertvector(sums[r * VECTORS] - load(more), Floats) * unit * left.rows.unit[row],
                     most = product + (left.rows.rest[row] * size + left.rows.whole[row] * rest);
        const auto append = [&](std::vector<std::int32_t> &to, Bits bits) {
            for (bits &= every; bits != 0; bits &= bits - 1)
                to.insert(to.end(),
                          {static_cast<std::int32_t>(i + r), static_cast<std::int32_t>(j) + std::countr_zero(bits)});
        };
        append(result.of_row, ~at_least<float, N>(repeat(of_rows.limit[at(i + r)]), most - offset));  // a NaN, too
        if (both) append(result.of_column, ~at_least<float, N>(limit, most - of_rows.offset[at(i + r)]));
    }
}

/// ROWS left rows and a panel of right ones.
void block(const std::int32_t *left, const std::int32_t *right, Index quads, Ints (&sums)[ROWS][VECTORS]) {
    for (auto &row : sums)
        for (Ints &sum : row) sum = Ints{};
    for (Index k = 0; k < quads; ++k) {
        Ints columns[VECTORS];
#pragma GCC unroll 4
        for (int v = 0; v < VECTORS; ++v) columns[v] = load(right + v * N);
#pragma GCC unroll 8
        for (int r = 0; r < ROWS; ++r) {
            const Ints bytes = repeat(left[r]);
#pragma GCC unroll 4
            for (int v = 0; v < VECTORS; ++v) sums[r][v] = add_products(sums[r][v], bytes, columns[v]);
        }
        left += PANEL, right += PANEL;
    }
}

void reaching(const Int8View &left, const Int8View &right, Reaching &result) {
    const auto n = static_cast<Index>(left.limits.limit.size()), m = static_cast<Index>(right.limits.offset.size());
    const Index quads = left.rows.panels.dim();
    if (n == 0) return;
    std::vector<std::int32_t> bytes(at((n + PANEL - 1) / PANEL * PANEL * quads));
    std::memcpy(bytes.data(), left.rows.panels.from_row(left.first), bytes.size() * sizeof(std::int32_t));
    for (std::int32_t &four : bytes) four ^= UNSIGNED;
    for (Index begin = 0; begin < n; begin += STRIP)
        for (Index j = 0; j < m; j += PANEL) {
            if ((result.of_row.size() + result.of_column.size()) / 2 > result.most) {
                result.all = false;
                return;
            }
            const auto *columns = reinterpret_cast<const std::int32_t *>(right.rows.panels.from_row(right.first + j));
            for (Index i = begin; i < std::min(begin + STRIP, n); i += ROWS) {
                const Index within = i % PANEL;
                Ints sums[ROWS][VECTORS];
                block(bytes.data() + (i - within) * quads + within, columns, quads, sums);
                for (int v = 0; v < VECTORS && j + v * N < m; ++v) compare(&sums[0][v], left, right, i, j + v * N, result);
            }
        }
}

/// Numbers to the nearest multiple of a unit, or one next to it.
template <class T>
void round_row(Span<const T> row, double unit, std::int8_t *out, std::int32_t &sum, double &rest) {
    constexpr double TO_INTEGER = 0x1.8p52;  // added and taken off again: rounds to an integer
    const double per_unit = 1 / unit;
    double squares = 0;
    std::int32_t total = 0;
    for (std::size_t k = 0; k < row.size(); ++k) {
        const double x = row[k], n = (x * per_unit + TO_INTEGER) - TO_INTEGER, off = x - n * unit;
        out[k] = static_cast<std::int8_t>(n);
        total += static_cast<std::int32_t>(n);
        squares += off * off;
    }
    sum = total, rest = squares;
}

bool fast() {
#if defined(__AVX512F__)
    return __builtin_cpu_supports("avx512vnni");
#elif defined(__AVX2__)
    return true;
#else
    return false;
#endif
}

}  // namespace

extern const Int8Loops int8_loops = {{round_row<float>, round_row<double>}, reaching, fast};

}  // namespace deadheat::DEADHEAT_TARGET
