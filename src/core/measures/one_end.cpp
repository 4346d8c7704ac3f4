#include "measures/one_end.h"

#include <algorithm>

namespace deadheat {

namespace {

using Count = std::int64_t;

double real(Count count) { return static_cast<double>(count); }

}  // namespace

void first_hits(Index first, Index last, const Groups &groups, Count cutoff, bool reciprocal, Matrix<double> out) {
    const Values values{out};
    for (Index query = first; query < last; ++query) {
        const Count group = groups.offsets[query];
        if (group == groups.offsets[query + 1]) {
            values.store(query, groups.nothing(query));
            continue;
        }
        const Count k = groups.closer[group], final = groups.tied[group] - groups.tied_relevant[group] + 1;
        const Count slots = std::min(groups.last_rank(query, cutoff) - k, groups.tied[group]);
        double low = 0.0, high = 0.0;
        if (slots > 0) high = reciprocal ? 1.0 / real(k + 1) : 1.0;
        if (slots >= final) low = reciprocal ? 1.0 / real(k + final) : 1.0;
        values.store(query, low, low == high ? high : NOT_A_NUMBER, high);
    }
}

void inverse_penalties(Index first, Index last, const Groups &groups, Matrix<double> out) {
    const Values values{out};
    for (Index query = first; query < last; ++query) {
        const Count group = groups.offsets[query + 1] - 1, r = groups.n_relevant[query];
        if (group < groups.offsets[query] || groups.closer_relevant[group] + groups.tied_relevant[group] < r) {
            values.store(query, groups.nothing(query));
            continue;
        }
        const double low = real(r) / real(groups.closer[group] + groups.tied[group]);
        const double high = real(r) / real(groups.closer[group] + groups.tied_relevant[group]);
        values.store(query, low, low == high ? high : NOT_A_NUMBER, high);
    }
}

}  // namespace deadheat
