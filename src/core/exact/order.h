// The two places where it is decided which of two items is closer, or that they tie: among relevant items, which are sorted,
// and between an item and the members of tie groups, between which it is placed.
//
// Numbers of any representation are given by a function that compares two of them: −1, 1, or 0 where they are equal or, if
// the numbers have errors, where these leave it open.
#pragma once

#include <algorithm>

#include "support/views.h"

namespace deadheat {

/// Members of groups from `low` on to before `high`, which all other members are surely below or above.
struct Between {
    Index low, high;
};

/// Return between which ascending members a number lies, known to be from `low` to `high`: those from which it is not
/// distinguished, which is the one that it is equal to if numbers are `exact`. compare(g) compares the number with member g.
template <bool exact, class Compare>
Between place_between(Index low, Index high, Compare compare) {
    while (low < high) {
        const Index middle = (low + high) / 2;
        const int order = compare(middle);
        if (order == 0 && exact) return {middle, middle + 1};
        if (order == 0) {
            for (Index first = middle; low < first;) {
                const Index half = (low + first) / 2;
                if (compare(half) > 0)
                    low = half + 1;
                else
                    first = half;
            }
            for (Index last = middle + 1; last < high;) {
                const Index half = (last + high) / 2;
                if (compare(half) < 0)
                    high = half;
                else
                    last = half + 1;
            }
            break;
        }
        (order > 0 ? low : high) = order > 0 ? middle + 1 : middle;  // never taken: one condition twice, which always agree
    }
    return {low, high};
}

/// Sort the places of numbers, ascending, those that are equal in the order in which they came, and say which are greater
/// than the one before; that is left as it is for the first. compare(a, b) compares the numbers at two places.
template <class Compare>
void sort_places(Span<std::int64_t> places, bool *greater, Compare compare) {
    std::sort(places.begin(), places.end(), [&](std::int64_t a, std::int64_t b) {
        const int order = compare(a, b);
        return order != 0 ? order < 0 : a < b;
    });
    for (std::size_t k = 1; k < places.size(); ++k) greater[k] = compare(places[k - 1], places[k]) != 0;
}

}  // namespace deadheat
