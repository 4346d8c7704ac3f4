#include "analyses/precision_recall.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace deadheat {

namespace {

constexpr double NEGLIGIBLE = 0x1p-80;  // of the likeliest place: chances fall ever faster, and the rest changes no digit
constexpr std::int64_t PLACES = 64;     // that are examined at once; twice as many each time

/// Fill in the chances of the places on one side of the likely one, relative to that of the likely one.
void chances(std::int64_t likely, int step, std::int64_t others, std::int64_t m, std::int64_t a, std::vector<double> &out) {
    out.clear();
    const std::int64_t end = step > 0 ? others : 0;
    double last = 1.0;
    for (std::int64_t slot = likely, size = PLACES; slot != end && last > NEGLIGIBLE; size *= 2) {
        const std::int64_t stop = step > 0 ? std::min(slot + size, end) : std::max(slot - size, end);
        double product = 1.0;
        for (; slot != stop; slot += step) {
            const std::int64_t before = step > 0 ? slot : slot - 1;  // of the ratio of the place behind it to it
            const double over = static_cast<double>((a + before) * (others - before));
            const double under = (static_cast<double>(before) + 1.0) * static_cast<double>(m - a + others - before);
            product *= step > 0 ? over / under : 1.0 / (over / under);
            out.push_back(last * product);
        }
        last = out.back();
    }
}

}  // namespace

void expected_reciprocals(Int64s closer, Int64s tied, Int64s tied_relevant, Int64s number, Span<double> out) {
    std::vector<double> below, above;
    for (std::size_t i = 0; i < out.size(); ++i) {
        const std::int64_t m = tied_relevant[i], a = number[i], others = tied[i] - m;
        const std::int64_t likely = std::min((a - 1) * others / std::max<std::int64_t>(1, m - 1), others);
        chances(likely, -1, others, m, a, below);
        chances(likely, 1, others, m, a, above);
        double sum = 0.0, total = 0.0;
        std::int64_t rank = closer[i] + a + likely - static_cast<std::int64_t>(below.size());
        const auto add = [&](double chance) {
            sum += chance / static_cast<double>(rank++);
            total += chance;
        };
        std::for_each(below.rbegin(), below.rend(), add);
        add(1.0);
        std::for_each(above.begin(), above.end(), add);
        out[i] = sum / total;
    }
}

}  // namespace deadheat
