#include "measures/measures.h"

namespace deadheat {

namespace {

/// The sum of the discounts of the ranks start + 1 .. stop.
DoubleDouble discounts_between(Count start, Count stop, const DiscountTable &table) {
    DoubleDouble total;
    const Count first = (start + DISCOUNT_BLOCK - 1) / DISCOUNT_BLOCK, last = stop / DISCOUNT_BLOCK;
    const Count head = first < last ? first * DISCOUNT_BLOCK : stop;
    for (Count rank = start + 1; rank <= head; ++rank) total.accumulate(table.discount[rank]);
    if (first >= last) return total;
    for (Count rank = last * DISCOUNT_BLOCK + 1; rank <= stop; ++rank) total.accumulate(table.discount[rank]);
    const DoubleDouble begin{table.high[first], table.low[first]}, end{table.high[last], table.low[last]};
    return (end - begin) + total;
}

/// Items of several grades: how many of each, and their gains, ascending.
struct Items {
    Span<const Count> counts;
    Span<const double> gains;
    const DiscountTable &table;

    /// Discounted gain when they fill the ranks from start + 1 on, cut at rank c.
    DoubleDouble gain(Count start, Count c, bool ascending) const {
        DoubleDouble total;
        for (std::size_t j = 0; j < gains.size(); ++j) {
            const std::size_t grade = ascending ? j : gains.size() - 1 - j;
            const Count stop = std::min(start + counts[grade], c);
            if (stop > start) total = total + discounts_between(start, stop, table) * DoubleDouble{gains[grade]};
            start += counts[grade];
        }
        return total;
    }

    /// The same when each of `size` ranks from k + 1 on has their mean gain.
    DoubleDouble mean_gain(Count k, Count size, Count c) const {
        DoubleDouble mean;
        for (std::size_t grade = 0; grade < gains.size(); ++grade) {
            const auto [product, rest] = two_product(real(counts[grade]), gains[grade]);
            mean = mean + DoubleDouble{product, rest};
        }
        mean = mean / DoubleDouble{real(size)};
        return mean * discounts_between(k, std::min(k + size, c), table);
    }

    /// True if all `size` items have one grade.
    bool of_one_grade(Count size) const { return std::find(counts.begin(), counts.end(), size) != counts.end(); }
};

/// The gains of the groups of one query, cut at rank c.
Sums sums_of_query(Index query, Count c, const Profile &groups, const Grades &grades, const DiscountTable &table) {
    Sums sums;
    for (Count group = groups.offsets[query]; group < groups.offsets[query + 1]; ++group) {
        const Count k = groups.closer[group], size = groups.tied[group];
        if (k >= c) break;
        if (size == 1 && grades.gains.size() == 1) {  // nearly all
            sums.common.accumulate(table.discount[k + 1]);
            continue;
        }
        const Items items{grades.tied[group], grades.gains, table};
        const DoubleDouble best = items.gain(k, c, false);
        if (items.of_one_grade(size)) {
            sums.common = sums.common + best;
            continue;
        }
        sums.mixed = true;
        sums.upper = sums.upper + best;
        sums.lower = sums.lower + items.gain(k + size - groups.tied_relevant[group], c, true);
        sums.expected = sums.expected + items.mean_gain(k, size, c);
    }
    return sums;
}

}  // namespace

void fill_discounts(Index first, Index last, Discounts<double> table) {
    DoubleDouble total{table.high[first / DISCOUNT_BLOCK], table.low[first / DISCOUNT_BLOCK]};
    for (Index rank = first + 1; rank <= last; ++rank) {
        table.discount[rank] = (DoubleDouble{1.0} / log2_of(rank + 1)).value();
        total = total + DoubleDouble{table.discount[rank]};
        if (rank % DISCOUNT_BLOCK == 0) {
            table.high[rank / DISCOUNT_BLOCK] = total.high;
            table.low[rank / DISCOUNT_BLOCK] = total.low;
        }
    }
}

void discounted_gains(QueryRange queries, const Profile &groups, Count cutoff, const Grades &grades,
                      const DiscountTable &table, Matrix<double> out) {
    Count before = -1;
    double ideal = 0.0;
    for (Index query = queries.first; query < queries.last; ++query) {
        const Count c = groups.last_rank(query, cutoff), filled = std::min(groups.n_relevant[query], c);
        if (grades.gains.size() > 1 || filled != before)
            ideal = Items{grades.relevant[query], grades.gains, table}.gain(0, c, false).value();
        before = filled;
        const Values values{out};
        if (ideal == 0.0)
            values.store(query, NOT_A_NUMBER);
        else
            sums_of_query(query, c, groups, grades, table).store(query, ideal, 1.0, values);
    }
}

void ideal_gains(Matrix<const Count> relevant, Span<const double> gains, Span<const Count> cutoff,
                 const DiscountTable &table, Span<double> out) {
    for (Index query = 0; query < relevant.rows; ++query)
        out[query] = Items{relevant[query], gains, table}.gain(0, cutoff[query], false).value();
}

namespace {

/// The spread of the discounts of one group.
///
/// Far down the ranking the discounts of a small group are nearly equal; their differences are then taken as 1/x − 1/y =
/// (y − x)/(x y) with x, y the logarithms.
double discount_deviation(Count k, Count size, Count slots, Span<const double> discount) {
    const bool near = slots == size && k > 64 * size;
    const DoubleDouble y = near ? log2_of(k + size + 1) : DoubleDouble{};
    const auto above = [&](Count t) {  // the discount of slot t, less that of the last slot where `near`
        if (!near) return discount[k + t];
        const DoubleDouble x = log2_of(k + t + 1);
        return (y - x).value() / (x.high * y.high);
    };
    double mean = 0.0;
    for (Count t = 1; t <= slots; ++t) mean += above(t);
    mean /= real(size);
    double total = mean * mean * real(size - slots);
    for (Count t = 1; t <= slots; ++t) {
        const double d = above(t) - mean;
        total += d * d;
    }
    return total;
}

}  // namespace

void discount_deviations(Span<const Count> closer, Span<const Count> tied, Span<const Count> slots,
                         Span<const double> discount, Span<double> out) {
    for (std::size_t g = 0; g < out.size(); ++g) out[g] = discount_deviation(closer[g], tied[g], slots[g], discount);
}

}  // namespace deadheat
