// Sums of precisions at groups of one item each, which is what most groups are.
#include "measures/measures.h"
#include "support/lanes.h"
#include "support/ones.h"

namespace deadheat::DEADHEAT_TARGET {

namespace {

using Count = std::int64_t;
using Counts = Vector<Count>;
using Doubles = Vector<double>;

constexpr int RUN = 16, N = LANES<double>;  // groups that are taken together
constexpr Count MOST = Count{1} << 51;      // beyond which a count is not converted by `small`

/// Counts below 2^52 as floats, in instructions that every processor has for vectors.
Doubles small(Counts counts) { return (Doubles)(counts | 0x4330000000000000) - 0x1p52; }

/// The precisions at the next RUN groups, if each is one item within rank `last_rank`.
bool precisions_of(const Count *closer, const Count *relevant, const Count *tied, Count last_rank, double *precisions) {
    Counts others{};
    for (int i = 0; i < RUN; i += N) {
        const Counts k = load(closer + i), n = load(relevant + i);
        others |= (load(tied + i) ^ 1) | (k >= std::min(last_rank, MOST)) | (n >= MOST);
        store(small(n + 1) / small(k + 1), precisions + i);
    }
    return !any((Words)others);
}

/// Add numbers one after another, as `accumulate` does; but what each addition loses is found for many at once.
void add(const double (&numbers)[RUN], DoubleDouble &sum) {
    double before[RUN], after[RUN], lost[RUN];  // two arrays: a vector that begins within another waits for it to be stored
    double high = sum.high, low = sum.low;
    for (int i = 0; i < RUN; ++i) {
        before[i] = high;
        after[i] = high += numbers[i];
    }
    for (int i = 0; i < RUN; i += N) store(rest_of_sum(load(before + i), load(numbers + i), load(after + i)), lost + i);
    for (const double rest : lost) low += rest;
    sum = {high, low};
}

Count add_single_items(const Profile &groups, Count group, Count end, Count last_rank, DoubleDouble &sum) {
    double precisions[RUN];
    for (; group + RUN <= end; group += RUN) {
        const Count *closer = groups.closer.data() + group, *relevant = groups.closer_relevant.data() + group;
        if (!precisions_of(closer, relevant, groups.tied.data() + group, last_rank, precisions)) break;
        add(precisions, sum);
    }
    return group;
}

}  // namespace

extern const AveragePrecisionLoops average_precision_loops = {add_single_items};

}  // namespace deadheat::DEADHEAT_TARGET
