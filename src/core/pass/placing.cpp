#include "pass/placing.h"

#include <cmath>

namespace deadheat {

namespace {

constexpr std::size_t AT_ONCE = 1 << 12;  // items whose numbers are kept at a time

using Dot2Numbers = std::vector<Dot2Number>;

int compare(const Dot2Numbers &mine, Index i, const Dot2Numbers &yours, Index k) {
    return Dot2Number::compare(mine[at(i)], yours[at(k)]);
}
int compare(const Roots &mine, Index i, const Roots &yours, Index k) { return mine.compare(i, yours, k); }

void add(Dot2Numbers &to, const Dot2Numbers &others) { to.insert(to.end(), others.begin(), others.end()); }
void add(Roots &to, const Roots &others) { to.add(others); }

template <class Numbers>
Numbers made(const ExactPairs &exact, const Numbers64 &queries, const Numbers64 &items, const StopFlag &stop) {
    if constexpr (std::is_same_v<Numbers, Roots>)
        return exact.closeness(queries, items, stop);
    else
        return exact.about(queries, items, stop);
}

}  // namespace

void Placing::count(const UndecidedItems &open, Matrix<std::int32_t> counts, const StopFlag &stop) {
    if (has_integers()) return count_integers(open, counts);
    const Index n_row = cuts_.low.rows, n_group = cuts_.low.columns;
    UndecidedItems left;
    for (std::size_t begin = 0; begin < open.size(); begin += AT_ONCE) {
        const auto some = Span<const UndecidedItem>(open).subspan(begin, std::min(AT_ONCE, open.size() - begin));
        if (problem_.exact->tries_about()) {
            if (!about_) about_.emplace(Dot2Numbers(), n_row, n_group);
            left = place<false>(*about_, some, counts, stop);
            problem_.exact->note_about(some.size(), some.size() - left.size());
        } else {
            left.assign(some.begin(), some.end());
        }
        if (left.empty()) continue;
        if (!exact_) exact_.emplace(Roots(problem_.exact->kind()), n_row, n_group);
        place<true>(*exact_, left, counts, stop);
    }
}

/// Count the items whose place numbers of one representation decide, and return the others, between members that are closer.
template <bool exact, class Numbers>
UndecidedItems Placing::place(KnownMembers<Numbers> &known, Span<const UndecidedItem> open, Matrix<std::int32_t> counts,
                              const StopFlag &stop) {
    know(known, open, stop);
    Numbers64 queries, items;
    for (const UndecidedItem &item : open) queries.push_back(queries_[at(item.row)]), items.push_back(item_of(item.column));
    const Numbers numbers = made<Numbers>(*problem_.exact, queries, items, stop);
    UndecidedItems left;
    for (std::size_t p = 0; p < open.size(); ++p) {
        const UndecidedItem &item = open[p];
        const std::int32_t *places = known.places.row(item.row);
        auto [low, high] = place_between<exact>(
            item.low, item.high, [&](Index g) { return compare(numbers, static_cast<Index>(p), known.numbers, places[g]); });
        bool decided = exact || low == high;
        if constexpr (!exact)
            for (Index g = low; !decided && g < high; ++g)
                if (Dot2Number::equal(numbers[p], known.numbers[at(places[g])])) decided = true, low = g, high = g + 1;
        if (decided)
            counts(item.row, low + high) += item.weight;
        else
            left.push_back(
                {item.row, item.column, static_cast<std::int32_t>(low), static_cast<std::int32_t>(high), item.weight});
    }
    return left;
}

/// Add the members between which items lie to those that are known.
template <class Numbers>
void Placing::know(KnownMembers<Numbers> &known, Span<const UndecidedItem> open, const StopFlag &stop) {
    Numbers64 rows, groups, queries;
    auto position = static_cast<std::int32_t>(known.numbers.size());
    for (const auto &[row, column, low, high, weight] : open) {
        std::int64_t &from = known.from[at(row)], &to = known.to[at(row)];
        if (from <= low && high <= to) continue;
        for (std::int64_t group = low; group < high; ++group) {
            std::int32_t &of_member = known.places.row(row)[group];
            if (of_member >= 0) continue;
            of_member = position++;
            rows.push_back(row), groups.push_back(group), queries.push_back(queries_[at(row)]);
        }
        if (high - low > to - from) from = low, to = high;
    }
    Numbers64 items = members_.columns(rows, groups);
    for (std::int64_t &item : items) item = item_of(item);
    add(known.numbers, made<Numbers>(*problem_.exact, queries, items, stop));
}

void Placing::count_integers(const UndecidedItems &open, Matrix<std::int32_t> counts) {
    if (open.empty()) return;
    const IntegerRows &rows = *problem_.exact->integers();
    const ShortNumber *members = integer_members();
    IntegerPairs pairs(rows);
    for (const UndecidedItem &item : open) {
        const ShortNumber *of_row = members + item.row * cuts_.low.columns;
        const ShortNumber mine = pairs.number(queries_[at(item.row)], item_of(item.column));
        const Between position =
            place_between<true>(item.low, item.high, [&](Index g) { return rows.compare(mine, of_row[g]); });
        counts(item.row, position.low + position.high) += item.weight;
    }
}

/// The members of all groups as short integers.
const ShortNumber *Placing::integer_members() {
    std::call_once(asked_, [&] {
        Numbers64 rows, groups;
        for (Index i = 0; i < cuts_.low.rows; ++i)
            for (Index g = 0; g < cuts_.low.columns && std::isfinite(cuts_.low(i, g)); ++g)
                rows.push_back(i), groups.push_back(g);
        const Numbers64 columns = members_.columns(rows, groups);
        integer_members_.resize(cuts_.low.memory.size());
        IntegerPairs pairs(*problem_.exact->integers());
        for (std::size_t p = 0; p < rows.size(); ++p)
            integer_members_[at(rows[p] * cuts_.low.columns + groups[p])] =
                pairs.number(queries_[at(rows[p])], item_of(columns[p]));
    });
    return integer_members_.data();
}

}  // namespace deadheat
