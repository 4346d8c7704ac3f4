#include "pass/small_groups.h"

#include "counting/groups.h"

namespace deadheat {

Numbers64 rank_groups(const Scores &scores, Int64s items, Int64s columns, Int64s classes, Int64s starts,
                      const PackedGroups &into) {
    Numbers64 undecided;
    for (std::size_t g = 0; g + 1 < starts.size(); ++g) {
        const auto part = [&](Int64s all) { return all.subspan(at(starts[g]), at(starts[g + 1] - starts[g])); };
        const Int64s queries = part(items), others = part(columns);
        const auto n = static_cast<Index>(queries.size());
        auto square = Table<double>::unset(n, n);
        with_type(scores.levels.back().wide, [&]<class T>(T) {
            auto tile = Table<T>::unset(n, n);
            scores.tile<T>(scores.last(), queries, others, tile);
            std::copy(tile.memory.begin(), tile.memory.end(), square.memory.begin());
        });
        const auto of_row = [&](Index row) {
            std::vector<double> bounds(queries.size());
            const Numbers64 query(queries.size(), queries[at(row)]);
            scores.pair_bounds(query, others, {square.row(row), queries.size()}, bounds);
            return bounds;
        };
        const std::vector<double> most = scores.row_bounds(queries, others);
        if (!rank_group({square, most, of_row, others, part(classes)}, starts[g], into))
            undecided.push_back(static_cast<std::int64_t>(g));
    }
    return undecided;
}

}  // namespace deadheat
