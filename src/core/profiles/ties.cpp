#include "profiles/ties.h"

#include <algorithm>

namespace deadheat {

MixedTies count_mixed(Span<const std::int64_t> offsets, Span<const std::int64_t> tied, Matrix<const std::int64_t> by_grade) {
    MixedTies found{0, 0, 0};
    for (std::size_t query = 0; query + 1 < offsets.size(); ++query) {
        const std::int64_t before = found.groups;
        for (std::int64_t group = offsets[query]; group < offsets[query + 1]; ++group) {
            const std::int64_t size = tied[group];
            if (size == 1) continue;
            const auto grades = by_grade[group];
            if (std::find(grades.begin(), grades.end(), size) != grades.end()) continue;
            ++found.groups;
            found.largest = std::max(found.largest, size);
        }
        found.queries += found.groups > before;
    }
    return found;
}

}  // namespace deadheat
