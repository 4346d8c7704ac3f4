#include "measures/measures.h"

namespace deadheat {

void areas(QueryRange queries, const Profile &groups, Matrix<double> out) {
    const auto &[offsets, closer, closer_relevant, tied, tied_relevant, n_ranked, n_relevant] = groups;
    const Values values{out};
    for (Index query = queries.first; query < queries.last; ++query) {
        Count retrieved = 0, behind = 0, level = 0;
        for (Count group = offsets[query]; group < offsets[query + 1]; ++group) {
            const Count m = tied_relevant[group];
            retrieved += m;
            behind += m * (closer[group] - closer_relevant[group]);
            level += m * (tied[group] - m);
        }
        const Count irrelevant = n_ranked[query] - retrieved;
        const Count most = retrieved * irrelevant - behind, least = most - level;
        double pairs = real(n_relevant[query]) * real(irrelevant);
        if (!(pairs > 0.0)) pairs = NOT_A_NUMBER;
        values.store(query, real(least) / pairs, real(least + most) / (2.0 * pairs), real(most) / pairs);
    }
}

void hits(QueryRange queries, const Profile &groups, Count cutoff, HitRatio ratio, Matrix<double> out) {
    const auto &[offsets, closer, closer_relevant, tied, tied_relevant, n_ranked, n_relevant] = groups;
    const auto &[factor, size, share] = ratio;
    const Values values{out};
    for (Index query = queries.first; query < queries.last; ++query) {
        const Count c = groups.last_rank(query, cutoff), start = offsets[query];
        const double divisor = n_relevant[query] > 0 ? size + share * real(n_relevant[query]) : NOT_A_NUMBER;
        const auto beyond = std::lower_bound(closer.begin() + start, closer.begin() + offsets[query + 1], c);
        const Count best = beyond - closer.begin() - 1;  // the last group that begins before rank c
        Count least = 0, most = 0;
        double mean = 0.0 * divisor;
        if (best >= start) {
            const Count k = closer[best], n = closer_relevant[best], t = tied[best], m = tied_relevant[best];
            most = n + std::min(m, c - k);
            mean = factor * real(n * t + m * std::min(c - k, t)) / (real(t) * divisor);
        }
        // Windows of a tolerance may overlap, and the relevant items of several then begin beyond the cutoff at worst.
        Count worst = best;
        while (worst >= start && closer[worst] + tied[worst] - tied_relevant[worst] >= c) --worst;
        if (worst >= start) {
            const Count m = tied_relevant[worst];
            least = closer_relevant[worst] + std::min(m, c - (closer[worst] + tied[worst] - m));
        }
        values.store(query, factor * real(least) / divisor, mean, factor * real(most) / divisor);
    }
}

void first_hits(QueryRange queries, const Profile &groups, Count cutoff, bool reciprocal, Matrix<double> out) {
    const Values values{out};
    for (Index query = queries.first; query < queries.last; ++query) {
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

void inverse_penalties(QueryRange queries, const Profile &groups, Matrix<double> out) {
    const Values values{out};
    for (Index query = queries.first; query < queries.last; ++query) {
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
