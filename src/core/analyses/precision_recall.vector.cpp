// Expected reciprocal ranks, of as many groups at once as a vector has lanes: divisions take longest, and a vector of them
// no longer than one. Beyond the last place of a group its chances are 0, which change no sum.
#include "analyses/precision_recall.h"

#include <algorithm>
#include <vector>

#include "support/lanes.h"

namespace deadheat::DEADHEAT_TARGET {

namespace {

using Doubles = Vector<double>;

constexpr int N = LANES<double>;
constexpr double NEGLIGIBLE = 0x1p-80;  // of the likeliest place: chances fall ever faster, and the rest changes no digit
constexpr double PLACES = 64;           // that are examined at once; twice as many each time

/// Groups, one a lane, as integers in float64.
struct Groups {
    double closer[N], others[N], relevant[N], number[N], likely[N];  // the most likely place, about
};

/// Fill in the chances of the places on one side of the likely one, relative to that of the likely one.
void chances(const Groups &groups, bool above, std::vector<Doubles> &out) {
    out.clear();
    const Doubles likely = load(groups.likely), others = load(groups.others), a = load(groups.number);
    const Doubles behind = load(groups.relevant) - a, places = above ? others - likely : likely;
    Doubles last = places > 0.0 ? repeat(1.0) : Doubles{};
    for (double done = 0.0, size = PLACES;; size *= 2.0) {
        const Doubles left = last > NEGLIGIBLE ? places - done : Doubles{};
        double lanes[N];
        store(left, lanes);
        const double end = done + std::min(size, *std::max_element(lanes, lanes + N));
        if (end == done) return;
        Doubles product = left > 0.0 ? repeat(1.0) : Doubles{};
        for (; done != end; ++done) {
            const Doubles before = above ? likely + done : likely - 1.0 - done;  // of the ratio of the place behind it to it
            const Doubles over = (a + before) * (others - before), under = (before + 1.0) * (behind + others - before);
            const Doubles next = product * (above ? over / under : 1.0 / (over / under));
            product = done < places ? next : Doubles{};
            out.push_back(last * product);
        }
        last = out.back();
    }
}

void expected_reciprocals(Int64s closer, Int64s tied, Int64s tied_relevant, Int64s number, Span<double> out) {
    std::vector<Doubles> below, above;
    for (std::size_t begin = 0; begin < out.size(); begin += N) {
        Groups groups;
        for (std::size_t lane = 0; lane < N; ++lane) {
            const std::size_t i = std::min(begin + lane, out.size() - 1);
            const std::int64_t m = tied_relevant[i], a = number[i], others = tied[i] - m;
            const std::int64_t likely = std::min((a - 1) * others / std::max<std::int64_t>(1, m - 1), others);
            groups.closer[lane] = static_cast<double>(closer[i]), groups.others[lane] = static_cast<double>(others);
            groups.relevant[lane] = static_cast<double>(m), groups.number[lane] = static_cast<double>(a);
            groups.likely[lane] = static_cast<double>(likely);
        }
        chances(groups, false, below);
        chances(groups, true, above);
        Doubles sum{}, total{}, rank = load(groups.closer) + load(groups.number) + load(groups.likely);
        rank -= static_cast<double>(below.size());
        const auto add = [&](Doubles chance) {
            sum += chance / (rank < 1.0 ? repeat(1.0) : rank);
            total += chance;
            rank += 1.0;
        };
        std::for_each(below.rbegin(), below.rend(), add);
        add(repeat(1.0));
        std::for_each(above.begin(), above.end(), add);
        double means[N];
        store(sum / total, means);
        std::copy_n(means, std::min<std::size_t>(N, out.size() - begin), out.begin() + begin);
    }
}

}  // namespace

extern const PrecisionLoops precision_loops = {expected_reciprocals};

}  // namespace deadheat::DEADHEAT_TARGET
