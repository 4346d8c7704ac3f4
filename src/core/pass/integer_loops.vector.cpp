// Sums over rows of integers at the speed of the vector units: whole numbers, so that any order gives the same.
#include "pass/integer_loops.h"

#include "distances/strips.h"

namespace deadheat::DEADHEAT_TARGET {

namespace {

using Words = Vector<std::uint64_t>;

template <class Add>
void sums(Matrix<const std::uint64_t> left, Matrix<const std::uint64_t> right, Matrix<std::uint64_t> out, Add add) {
    const auto in_order = [](Index c) { return c; };
    by_strips(left, right, out, in_order,
              [&](const std::uint64_t *const rows[ROWS], const std::uint64_t *strip, std::uint64_t *const to[ROWS]) {
                  Words totals[ROWS][VECTORS] = {};
                  for (Index k = 0; k < left.columns; ++k) {
                      Words columns[VECTORS];
                      for (int v = 0; v < VECTORS; ++v) columns[v] = load(strip + (k * VECTORS + v) * LANES<std::uint64_t>);
                      for (int r = 0; r < ROWS; ++r) {
                          const Words value = repeat(rows[r][k]);
                          for (int v = 0; v < VECTORS; ++v) add(totals[r][v], value, columns[v]);
                      }
                  }
                  for (int r = 0; r < ROWS; ++r)
                      for (int v = 0; v < VECTORS; ++v) store(totals[r][v], to[r] + v * LANES<std::uint64_t>);
              });
}

void products(Matrix<const std::uint64_t> left, Matrix<const std::uint64_t> right, Matrix<std::uint64_t> out) {
    sums(left, right, out, [](Words &sum, Words a, Words b) { sum += a * b; });
}

void differences(Matrix<const std::uint64_t> left, Matrix<const std::uint64_t> right, Matrix<std::uint64_t> out) {
    sums(left, right, out, [](Words &sum, Words a, Words b) {
        using Signed = Vector<std::int64_t>;
        const Words less = (Words)((Signed)a < (Signed)b);  // all bits where it is
        sum -= ((a - b) ^ less) - less;
    });
}

}  // namespace

extern const IntegerLoops integer_loops = {products, differences};

}  // namespace deadheat::DEADHEAT_TARGET
