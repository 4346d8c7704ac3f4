#include "distances/levels.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace deadheat {

namespace {

/// The different numbers of a row, ascending; how many there are, LEVELS + 1 if there are more.
template <class T>
Index numbers_of(Span<const T> row, T (&numbers)[LEVELS]) {
    Index n = 0;
    for (T number : row) {
        if (number == 0 || std::find(numbers, numbers + n, number) != numbers + n) continue;
        if (n == LEVELS) return LEVELS + 1;
        Index place = n++;
        for (; place > 0 && numbers[place - 1] > number; --place) numbers[place] = numbers[place - 1];
        numbers[place] = number;
    }
    return n;
}

}  // namespace

template <class T>
void level_masks(Matrix<const T> raw, Matrix<std::uint64_t> masks, Matrix<double> values) {
    const Index words = masks.columns / LEVELS;
    for (Index i = 0; i < raw.rows; ++i) {
        T numbers[LEVELS];
        const Index n = numbers_of(raw[i], numbers);
        std::fill_n(masks.row(i), masks.columns, 0);
        std::fill_n(values.row(i), LEVELS, 0.0);
        if (n > LEVELS)
            values(i, 0) = std::numeric_limits<double>::quiet_NaN();
        else
            std::copy_n(numbers, n, values.row(i));
        for (Index k = 0; k < raw.columns; ++k) {
            if (raw(i, k) == 0) continue;
            const Index level = n > LEVELS ? 0 : std::find(numbers, numbers + n, raw(i, k)) - numbers;
            masks(i, level * words + k / 64) |= std::uint64_t{1} << (k % 64);
        }
    }
}

template void level_masks(Matrix<const float>, Matrix<std::uint64_t>, Matrix<double>);
template void level_masks(Matrix<const double>, Matrix<std::uint64_t>, Matrix<double>);

}  // namespace deadheat
