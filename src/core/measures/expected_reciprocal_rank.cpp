#include <cmath>
#include <vector>

#include "measures/measures.h"

namespace deadheat {

namespace {

/// A sum of numbers, rounded once: they are kept as a sum of numbers whose digits do not overlap [Shewchuk 1997].
class RoundedOnce {
public:
    void add(double x) {
        std::size_t kept = 0;
        for (double y : parts_) {
            if (std::abs(x) < std::abs(y)) std::swap(x, y);
            const double high = x + y, low = y - (high - x);
            if (low != 0.0) parts_[kept++] = low;
            x = high;
        }
        parts_.resize(kept);
        if (x != 0.0) parts_.push_back(x);
    }

    /// Return the sum, and begin a new one.
    double take() {
        double sum = 0.0, rest = 0.0;
        while (!parts_.empty() && rest == 0.0) {
            const double x = sum, y = parts_.back();
            parts_.pop_back();
            sum = x + y;
            rest = y - (sum - x);
        }
        if (!parts_.empty() && (rest < 0.0) == (parts_.back() < 0.0)) {  // what follows breaks a tie of the rounding
            const double up = sum + 2.0 * rest;
            if (up - sum == 2.0 * rest) sum = up;
        }
        parts_.clear();
        return sum;
    }

private:
    std::vector<double> parts_;
};

/// The relevant items of a group, by their chances to satisfy the reader, ascending.
struct GainGroup {
    const std::vector<double> &chances;
    std::int64_t closer, tied, slots;  // slots within the cutoff

    Count others() const { return tied - static_cast<Count>(chances.size()); }
    bool mixed() const { return others() > 0 || chances.front() < chances.back(); }

    template <class Chances>
    double in_order(Chances begin, Chances end, Count in_front, RoundedOnce &sum) const {
        double passed = 1.0;
        for (Count rank = closer + in_front + 1; rank <= closer + slots && begin != end; ++rank, ++begin) {
            sum.add(*begin * passed / real(rank));
            passed *= 1.0 - *begin;
        }
        return sum.take();
    }

    /// The mean over all orders, from the mean chances to stop by each slot: those of n items from those without one.
    double mean(std::vector<double> &means, RoundedOnce &sum) const {
        means.assign(at(slots + 1), 0.0);
        Count n = others();
        for (const double chance : chances) {
            ++n;
            for (Count t = slots; t >= 0; --t) {
                const double less = t > 0 ? means[at(t - 1)] : 0.0,
                             within = real(t) / real(n) * (chance + (1 - chance) * less);
                means[at(t)] = within + real(std::max<Count>(n - t, 0)) / real(n) * means[at(t)];
            }
        }
        for (Count t = 1; t <= slots; ++t)  // by 1 / rank, less that of the next slot that counts
            sum.add(means[at(t)] * (1.0 / real(closer + t) / (t < slots ? real(closer + t + 1) : 1.0)));
        return sum.take();
    }
};

}  // namespace

void expected_reciprocal_ranks(QueryRange queries, const Profile &groups, std::int64_t cutoff,
                               Matrix<const std::int64_t> by_grade, Matrix<const double> chances, Matrix<double> out) {
    RoundedOnce sums[3], sum;
    std::vector<double> of_group, means;
    for (Index query = queries.first; query < queries.last; ++query) {
        double passed = 1.0;
        for (Count group = groups.offsets[at(query)]; group < groups.offsets[at(query + 1)]; ++group) {
            const Count closer = groups.closer[at(group)], tied = groups.tied[at(group)];
            if (closer >= cutoff) break;
            of_group.clear();
            for (Index grade = 0; grade < by_grade.columns; ++grade)
                of_group.insert(of_group.end(), at(by_grade(group, grade)), chances(query, grade));
            const GainGroup gains{of_group, closer, tied, std::min(tied, cutoff - closer)};
            const double best = gains.in_order(of_group.rbegin(), of_group.rend(), 0, sum);
            const bool mixed = gains.mixed();
            sums[0].add(passed * (mixed ? gains.in_order(of_group.begin(), of_group.end(), gains.others(), sum) : best));
            sums[1].add(passed * (mixed ? gains.mean(means, sum) : best));
            sums[2].add(passed * best);
            for (const double chance : of_group) passed *= 1.0 - chance;
        }
        const double lower = sums[0].take(), mean = sums[1].take(), upper = sums[2].take();
        if (groups.n_relevant[at(query)] > 0)
            Values{out}.store(query, lower, mean, upper);
        else
            Values{out}.store(query, NOT_A_NUMBER);
    }
}

}  // namespace deadheat
