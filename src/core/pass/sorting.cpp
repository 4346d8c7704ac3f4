#include "pass/sorting.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <vector>

namespace deadheat {

namespace {

constexpr std::size_t MANY = 128;  // numbers from which on digits are faster than comparisons
constexpr int BITS = 11, DIGITS = 1 << BITS,
              FIRST = 31;  // three digits from this bit on; what they leave is nearly in order

/// An integer that compares as the number does; what is not a number is above all.
std::uint64_t key_of(double number) {
    if (number != number) return ~std::uint64_t{0};
    const auto bits = std::bit_cast<std::uint64_t>(number + 0.0);  // which makes −0 the 0 that it is equal to
    return bits >> 63 != 0 ? ~bits : bits | std::uint64_t{1} << 63;
}

double number_of(std::uint64_t key) {
    return std::bit_cast<double>(key >> 63 != 0 ? key & ~(std::uint64_t{1} << 63) : ~key);
}

/// Sort items by the three leading digits of their keys, then by insertion.
template <class Item, class Key>
void sort_by_digits(std::vector<Item> &items, std::vector<Item> &spare, Key key) {
    const std::size_t n = items.size();
    spare.resize(n);
    std::vector<std::uint32_t> places(3 * DIGITS);
    const auto digit = [&](const Item &item, int d) { return key(item) >> (FIRST + d * BITS) & (DIGITS - 1); };
    for (const Item &item : items)
        for (int d = 0; d < 3; ++d) ++places[at(d) * DIGITS + digit(item, d)];
    for (int d = 0; d < 3; ++d) {
        std::uint32_t *of_digit = places.data() + d * DIGITS;
        if (of_digit[digit(items[0], d)] == n) continue;  // one digit for all
        std::exclusive_scan(of_digit, of_digit + DIGITS, of_digit, std::uint32_t{0});
        for (const Item &item : items) spare[of_digit[digit(item, d)]++] = item;
        items.swap(spare);
    }
    const auto less = [&](const Item &a, const Item &b) { return key(a) < key(b); };
    for (std::size_t begin = 0; begin < n;) {  // by runs of equal digits, which are short but for data full of near ties
        std::size_t end = begin + 1;
        bool equal = true;  // as where scores are few integers: they are in order
        for (; end < n && key(items[end]) >> FIRST == key(items[begin]) >> FIRST; ++end)
            equal &= key(items[end]) == key(items[begin]);
        if (!equal) std::sort(items.begin() + static_cast<Index>(begin), items.begin() + static_cast<Index>(end), less);
        begin = end;
    }
}

struct Place {
    std::uint64_t key;
    std::int64_t position;
};

}  // namespace

void sort_numbers(Span<double> numbers) {
    if (numbers.size() < MANY) return std::sort(numbers.begin(), numbers.end());
    thread_local std::vector<std::uint64_t> keys, spare;
    keys.resize(numbers.size());
    std::transform(numbers.begin(), numbers.end(), keys.begin(), key_of);
    sort_by_digits(keys, spare, [](std::uint64_t key) { return key; });
    std::transform(keys.begin(), keys.end(), numbers.begin(), number_of);
}

void order_numbers(Span<const double> numbers, std::int64_t *order) {
    thread_local std::vector<Place> places, spare;
    places.resize(numbers.size());
    for (std::size_t p = 0; p < numbers.size(); ++p) places[p] = {key_of(numbers[p]), static_cast<std::int64_t>(p)};
    if (numbers.size() < MANY)
        std::sort(places.begin(), places.end(), [](const Place &a, const Place &b) { return a.key < b.key; });
    else
        sort_by_digits(places, spare, [](const Place &position) { return position.key; });
    for (std::size_t p = 0; p < numbers.size(); ++p) order[p] = places[p].position;
}

}  // namespace deadheat
