#include "measures/area.h"

namespace deadheat {

void areas(Index first, Index last, const Groups &groups, Matrix<double> out) {
    const auto &[offsets, closer, closer_relevant, tied, tied_relevant, n_ranked, n_relevant] = groups;
    const Values values{out};
    for (Index query = first; query < last; ++query) {
        std::int64_t retrieved = 0, behind = 0, level = 0;
        for (std::int64_t group = offsets[query]; group < offsets[query + 1]; ++group) {
            const std::int64_t m = tied_relevant[group];
            retrieved += m;
            behind += m * (closer[group] - closer_relevant[group]);
            level += m * (tied[group] - m);
        }
        const std::int64_t irrelevant = n_ranked[query] - retrieved;
        const std::int64_t most = retrieved * irrelevant - behind, least = most - level;
        double pairs = static_cast<double>(n_relevant[query]) * static_cast<double>(irrelevant);
        if (!(pairs > 0.0)) pairs = NOT_A_NUMBER;
        values.store(query, static_cast<double>(least) / pairs, static_cast<double>(least + most) / (2.0 * pairs),
                     static_cast<double>(most) / pairs);
    }
}

}  // namespace deadheat
