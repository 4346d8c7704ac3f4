#include "distances/errors.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace deadheat {

void pair_errors(const ScoreErrors &errors, Span<const std::int64_t> queries, Span<const std::int64_t> items,
                 Span<const double> scores, Span<double> out) {
    const bool closer = !scores.empty() && errors.relative < std::numeric_limits<double>::infinity();
    for (std::size_t p = 0; p < out.size(); ++p) {
        const auto item = static_cast<std::size_t>(items[p]);
        const double query_size = errors.of_query[static_cast<std::size_t>(queries[p])], item_size = errors.of_item[item];
        double of_product = query_size > 0 && item_size > 0 ? errors.part * query_size * item_size + errors.tiny : 0.0;
        if (closer) {
            const double product = std::fabs(scores[p] + (errors.offset.empty() ? 0.0 : errors.offset[item]));
            of_product = std::min(of_product, errors.relative * product + errors.relative_tiny);
        }
        out[p] = of_product + errors.beside[item];
    }
}

}  // namespace deadheat
