#include "measures/measures.h"

namespace deadheat {

void reciprocal_moments(Int64s closer, Int64s size, Int64s slots, Span<double> mean, Span<double> variance) {
    for (std::size_t i = 0; i < mean.size(); ++i) {
        const std::int64_t last = closer[i] + slots[i];
        const DoubleDouble n = from_integer(size[i]);
        const DoubleDouble first = (harmonic(last) - harmonic(closer[i])) / n;
        const DoubleDouble second = (squares_beyond(closer[i]) - squares_beyond(last)) / n;
        mean[i] = first.value();
        variance[i] = (second - first * first).value();
    }
}

}  // namespace deadheat
