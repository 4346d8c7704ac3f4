#include "measures/hits.h"

namespace deadheat {

void hits(Index first, Index last, const Groups &groups, std::int64_t cutoff, double factor, double size, double share,
          Matrix<double> out) {
    const auto &[offsets, closer, closer_relevant, tied, tied_relevant, n_ranked, n_relevant] = groups;
    const Values values{out};
    for (Index query = first; query < last; ++query) {
        const std::int64_t c = groups.last_rank(query, cutoff), start = offsets[query];
        const double divisor = n_relevant[query] > 0 ? size + share * static_cast<double>(n_relevant[query]) : NOT_A_NUMBER;
        const auto beyond = std::lower_bound(closer.begin() + start, closer.begin() + offsets[query + 1], c);
        const std::int64_t best = beyond - closer.begin() - 1;  // the last group that begins before rank c
        std::int64_t least = 0, most = 0;
        double mean = 0.0 * divisor;
        if (best >= start) {
            const std::int64_t k = closer[best], n = closer_relevant[best], t = tied[best], m = tied_relevant[best];
            most = n + std::min(m, c - k);
            mean = factor * static_cast<double>(n * t + m * std::min(c - k, t)) / (static_cast<double>(t) * divisor);
        }
        // Windows of a tolerance may overlap, and the relevant items of several then begin beyond the cutoff at worst.
        std::int64_t worst = best;
        while (worst >= start && closer[worst] + tied[worst] - tied_relevant[worst] >= c) --worst;
        if (worst >= start) {
            const std::int64_t m = tied_relevant[worst];
            least = closer_relevant[worst] + std::min(m, c - (closer[worst] + tied[worst] - m));
        }
        values.store(query, factor * static_cast<double>(least) / divisor, mean,
                     factor * static_cast<double>(most) / divisor);
    }
}

}  // namespace deadheat
