#include "measures/one_end.h"

#include <cmath>

#include "measures/double_double.h"

namespace deadheat {

namespace {

using Count = std::int64_t;

constexpr double NEGLIGIBLE = 0x1p-60;  // a tail of a sum smaller than this part of it cannot change its last bit

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

namespace {

/// What `extremes` takes the expectation of, for one group.
struct Function {
    Count k, size;
    int kind;
    Count base;  // where it is not 0, the function is how far the value is from 1/base
    double shift;
    bool squared;

    double value(Count i) const {
        if (kind == 0) return 1.0;
        const Count rank = kind > 0 ? k + i : k + size + 1 - i;
        if (base == 0) return 1.0 / real(rank);
        return real(std::abs(rank - base)) / (real(rank) * real(base));
    }

    double shifted(double at) const {
        const double distance = std::abs(at - shift);
        return squared ? distance * distance : distance;
    }
};

double extreme(Count k, Count size, Count m, Count slots, int kind, bool centred, double shift, bool squared) {
    DoubleDouble p = DoubleDouble{real(m)} / DoubleDouble{real(size)};
    const Count final = size - m + 1;  // the last slot that it can have
    Function f{k, size, kind, 0, shift, squared};
    double end = 0.0;
    if (centred && kind != 0) {
        f.base = kind > 0 ? k + 1 : k + size;
        end = 1.0 / real(f.base);
    }
    if (slots >= final) end = f.value(final);
    end = f.shifted(end);
    DoubleDouble total;
    for (Count i = 1; i <= std::min(slots, final); ++i) {
        const double value = f.shifted(f.value(i));
        const auto [sum, rest] = two_sum(total.high, p.high * value);
        total = {sum, total.low + (rest + p.low * value)};
        if (i == final) return total.value();
        // The values go up or down all the way, and all slots that follow are less likely than this one.
        if (!squared && p.high * std::max(value, end) * real(final - i) <= NEGLIGIBLE * total.high) return total.value();
        p = p * DoubleDouble{real(final - i)} / DoubleDouble{real(size - i)};
    }
    return total.high + p.high * real(size - slots) / real(m) * end + total.low;
}

}  // namespace

void extremes(Span<const Count> closer, Span<const Count> tied, Span<const Count> tied_relevant, Span<const Count> slots,
              int kind, bool centred, Span<const double> shift, bool squared, Span<double> out) {
    for (std::size_t g = 0; g < out.size(); ++g)
        out[g] = extreme(closer[g], tied[g], tied_relevant[g], slots[g], kind, centred, shift[g], squared);
}

}  // namespace deadheat
