#include "distances/ranges.h"

#include <cmath>
#include <limits>

namespace deadheat {

template <class T>
void smallest_sizes(Matrix<const T> raw, Span<double> out) {
    constexpr T NONE = std::numeric_limits<T>::infinity();
    for (Index i = 0; i < raw.rows; ++i) {
        const T *row = raw.row(i);
        T smallest = NONE;
        for (Index j = 0; j < raw.columns; ++j) {
            const T size = row[j] == 0 ? NONE : std::abs(row[j]);
            smallest = size < smallest ? size : smallest;
        }
        out[static_cast<std::size_t>(i)] = static_cast<double>(smallest);
    }
}

template void smallest_sizes(Matrix<const float>, Span<double>);
template void smallest_sizes(Matrix<const double>, Span<double>);

}  // namespace deadheat
