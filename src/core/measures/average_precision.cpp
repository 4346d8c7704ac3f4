#include "measures/measures.h"

namespace deadheat {

namespace {

constexpr Count DIRECT = 64;   // as many slots of a group are summed one by one; more, by the closed form
constexpr Count AT_ONCE = 16;  // groups that are added one by one before many single items are looked for again

/// Σ_{i = 1 .. slots} (seen + (i − 1) p/q) / (closer + i): the precisions in consecutive ranks.
///
/// `seen` is the count of relevant items at the first rank, itself included, and p/q how many each further rank adds.
/// In closed form [p slots + (seen q − p (closer + 1)) (H(closer + slots) − H(closer))] / q.
double precisions(Count closer, Count seen, Count slots, Count p, Count q) {
    if (slots <= DIRECT) {
        double total = 0.0;
        for (Count i = 1; i <= slots; ++i) total += real(seen * q + (i - 1) * p) / real(closer + i);
        return total / real(q);
    }
    const DoubleDouble difference = harmonic(closer + slots) - harmonic(closer);
    const DoubleDouble product = from_integer(seen * q - p * (closer + 1)) * difference;
    return (from_integer(p * slots) + product).value() / real(q);
}

/// The same where each rank has a relevant item.
double precisions_of_relevant(Count closer, Count seen, Count slots) { return precisions(closer, seen, slots, 1, 1); }

/// A mixed group and the last rank that counts, with the sums of its precisions: many groups are like the one before.
struct MixedGroup {
    Count k = -1, n = -1, tied = -1, relevant = -1, c = -1;
    double lower = 0.0, expected = 0.0, upper = 0.0;

    bool operator==(const MixedGroup &other) const {
        return k == other.k && n == other.n && tied == other.tied && relevant == other.relevant && c == other.c;
    }

    void measure() {
        const Count last = k + tied - relevant;
        lower = precisions_of_relevant(last, n + 1, std::min(std::max(c - last, Count{0}), relevant));
        upper = precisions_of_relevant(k, n + 1, std::min(c - k, relevant));
        const Count slots = std::min(c - k, tied);
        expected = precisions(k, n + 1, slots, relevant - 1, tied - 1) * real(relevant) / real(tied);
    }
};

struct PrecisionSums : Sums {
    /// The groups from `group` to `end` that begin within rank c, whatever they are; `before` is the last mixed one.
    void add(const Profile &groups, Count group, Count end, Count c, MixedGroup &before) {
        for (; group < end && groups.closer[group] < c; ++group) {
            const Count k = groups.closer[group], n = groups.closer_relevant[group];
            const Count size = groups.tied[group], m = groups.tied_relevant[group];
            if (size == m) {
                common.accumulate(size == 1 ? real(n + 1) / real(k + 1)
                                            : precisions_of_relevant(k, n + 1, std::min(m, c - k)));
                continue;
            }
            if (const MixedGroup here{k, n, size, m, c}; !(here == before)) {
                before = here;
                before.measure();
            }
            add(before);
        }
    }

    void add(const MixedGroup &group) {
        mixed = true;
        lower.accumulate(group.lower);
        expected.accumulate(group.expected);
        upper.accumulate(group.upper);
    }
};

}  // namespace

void average_precisions(QueryRange queries, const Profile &groups, Count cutoff, Matrix<double> out) {
    MixedGroup before;
    for (Index query = queries.first; query < queries.last; ++query) {
        const Count c = groups.last_rank(query, cutoff), end = groups.offsets[query + 1];
        PrecisionSums sums;
        for (Count group = groups.offsets[query]; group < end && groups.closer[group] < c;) {
            group = average_precision_loops().add_single_items(groups, group, end, c, sums.common);
            const Count some = std::min(group + AT_ONCE, end);
            sums.add(groups, group, some, c, before);
            group = some;
        }
        const double divisor = groups.n_relevant[query] > 0 ? real(groups.n_relevant[query]) : NOT_A_NUMBER;
        sums.store(query, divisor, std::numeric_limits<double>::infinity(), {out});
    }
}

namespace {

/// 1/(k + t), less 1/base where base is not 0.
double slot_value(Count k, Count t, Count base) {
    return base == 0 ? 1.0 / real(k + t) : real(base - k - t) / (real(k + t) * real(base));
}

/// The variance of one mixed group.
///
/// The sum is Σ_t a_t X_t + Σ_{s<t} b_t X_s X_t, where X_t is 1 when slot t holds a relevant item, and a_t = (n + 1) b_t,
/// b_t = 1/(k + t), or 0 beyond the cutoff. The X are a uniformly drawn slice of m out of `size`, so the variance splits
/// (Hoeffding) into a linear part, c_s = a_s − mean(a) + (m − 1) δ_s with δ_s = (w_s − mean(w))/(size − 2) and w_s = (s − 1)
/// b_s + Σ_{t>s} b_t, and a part that is orthogonal to it.
///
/// If all slots count, b_t is taken less the smallest: a constant drops out, and the differences keep their digits.
double precision_variance(Count k, Count n, Count size, Count m, Count slots) {
    const Count base = slots == size ? k + size : 0;
    double sum_b = 0.0, pairs_b = 0.0;
    for (Count t = 1; t <= slots; ++t) {
        const double b = slot_value(k, t, base);
        sum_b += b;
        pairs_b += real(t - 1) * b;
    }
    const double mean_b = sum_b / real(size), mean_w = 2.0 * pairs_b / real(size);
    const double mean_pairs = 2.0 * pairs_b / (real(size) * real(size - 1));
    const double others = real(std::max(size - 2, Count{1}));
    double tail = 0.0, linear = 0.0, squares = 0.0, deltas = 0.0;
    for (Count t = size; t > 0; --t) {
        const double b = t <= slots ? slot_value(k, t, base) : 0.0;
        const double delta = (real(t - 1) * b + tail - mean_w) / others;
        const double shift = real(n + 1) * (b - mean_b) + real(m - 1) * delta;
        linear += shift * shift;
        deltas += delta * delta;
        squares += real(t - 1) * (b - mean_pairs) * (b - mean_pairs);
        tail += b;
    }
    double share = real(m) / real(size);
    double variance = share * (real(size - m) / real(size - 1)) * linear;
    if (size >= 4) {
        const double orthogonal = std::max(squares - others * deltas, 0.0);
        share *= (real(m - 1) / real(size - 1)) * (real(size - m) / real(size - 2));
        variance += share * (real(size - m - 1) / real(size - 3)) * orthogonal;
    }
    return variance;
}

}  // namespace

void precision_variances(Span<const Count> closer, Span<const Count> closer_relevant, Span<const Count> tied,
                         Span<const Count> tied_relevant, Span<const Count> slots, Span<double> out) {
    for (std::size_t g = 0; g < out.size(); ++g)
        out[g] = precision_variance(closer[g], closer_relevant[g], tied[g], tied_relevant[g], slots[g]);
}

}  // namespace deadheat
