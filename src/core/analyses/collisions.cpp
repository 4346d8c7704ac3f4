#include "analyses/collisions.h"

#include <algorithm>

namespace deadheat {

namespace {

enum Kind : std::int8_t { beyond = -1, none, irrelevant, relevant, mixed, any };

}  // namespace

void mark_collisions(const RankedGroups &all, const RankedGroups &hits, Int64s n_ranked, std::int64_t depth,
                     const CollisionMarks &marks, Matrix<std::int64_t> counts) {
    for (Index row = 0; row < static_cast<Index>(n_ranked.size()); ++row) {
        const std::int64_t width = marks.kind.columns, end = std::min(width, n_ranked[at(row)]);
        const auto fill = [&](auto matrix, std::int64_t first, std::int64_t last, auto value) {
            if (first < last) std::fill(matrix.row(row) + first, matrix.row(row) + last, value);
        };
        fill(marks.kind, end, width, std::int8_t{beyond}), fill(marks.size, end, width, 0);
        fill(marks.relevant, 0, width, false);
        bool seen[any + 1] = {};
        std::int64_t marked = 0;  // ranks whose kind and size are set
        const auto mark = [&](std::int64_t last, Kind kind, std::int64_t size) {
            last = std::min(last, end);
            fill(marks.kind, marked, last, std::int8_t{kind});
            fill(marks.size, marked, last, static_cast<std::int32_t>(size));
            marked = std::max(marked, last);
        };
        std::int64_t hit = hits.offsets[at(row)];
        const std::int64_t last_hit = hits.offsets[at(row + 1)];
        for (std::int64_t group = all.offsets[at(row)]; group < all.offsets[at(row + 1)]; ++group) {
            const std::int64_t first = all.closer[at(group)], size = all.size[at(group)];
            std::int64_t n_relevant = 0;
            for (; hit < last_hit && hits.closer[at(hit)] < first + size; ++hit) {
                const std::int64_t begin = hits.closer[at(hit)], n = hits.size[at(hit)];
                fill(marks.relevant, begin, std::min(begin + n, width), true);
                n_relevant += n;
            }
            if (size == 1 || first >= depth) continue;
            const Kind kind = n_relevant == 0 ? irrelevant : n_relevant == size ? relevant : mixed;
            mark(first, none, 1), mark(first + size, kind, size);
            for (const Kind counted : {kind, any}) {
                std::int64_t *count = counts.row(counted - 1);
                count[0] += 1, count[1] += std::min(size, depth - first), count[2] += !seen[counted];
                count[3] = std::max(count[3], size), seen[counted] = true;
            }
        }
        mark(end, none, 1);
    }
}

}  // namespace deadheat
