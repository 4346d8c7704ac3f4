// Hamming tiles at the speed of the vector units.
//
// A block of the tile counts in registers, code by code in 64-bit lanes, word after word. Of a strip's columns, those of
// even number lie in the first vector and those of odd number in the second, so that the counts of both, shifted into one
// another, are 32-bit integers in the order of the columns.
#include "distances/strips.h"
#include "distances/tiles.h"
#include "support/ones.h"

namespace deadheat::DEADHEAT_TARGET {

namespace {

static_assert(VECTORS == 2, "even and odd columns");

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

}  // namespace

void hamming(Matrix<const std::uint64_t> left, Matrix<const std::uint64_t> right, Matrix<float> out) {
    const auto even_first = [](Index c) { return c / 2 + c % 2 * LANES<std::uint64_t>; };
    counting_ones([&]<class Counts>(Counts) {
        by_strips(left, right, out, even_first,
                  [&](const std::uint64_t *const rows[ROWS], const std::uint64_t *strip, float *const scores[ROWS]) {
                      block<Counts>(rows, strip, left.columns, scores);
                  });
    });
}

}  // namespace deadheat::DEADHEAT_TARGET
