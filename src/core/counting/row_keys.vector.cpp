#include "counting/row_keys.h"

#include <algorithm>

#include "support/lanes.h"
#include "support/ones.h"

namespace deadheat::DEADHEAT_TARGET {

namespace {

using Doubles = Vector<double>;

constexpr Index N = LANES<double>;
constexpr std::uint64_t RANKED = 0xFFFFFFFF;  // of ColumnCounts as a word, which has the relevant items in its high half

std::pair<double, double> ends(Span<const double> numbers) {
    constexpr Index SIDE_BY_SIDE = 4;  // vectors, as each comparison waits for the one before
    Doubles low[SIDE_BY_SIDE], high[SIDE_BY_SIDE];
    for (Index v = 0; v < SIDE_BY_SIDE; ++v) low[v] = high[v] = repeat(numbers[0]);
    const auto take = [&](Doubles x, Index v) { low[v] = x < low[v] ? x : low[v], high[v] = x > high[v] ? x : high[v]; };
    const auto n = static_cast<Index>(numbers.size());
    Index k = 0;
    for (; k + SIDE_BY_SIDE * N <= n; k += SIDE_BY_SIDE * N)
        for (Index v = 0; v < SIDE_BY_SIDE; ++v) take(load(numbers.data() + k + v * N), v);
    for (; k < n; ++k) take(repeat(numbers[static_cast<std::size_t>(k)]), 0);
    double least = numbers[0], greatest = numbers[0];
    for (Index v = 0; v < SIDE_BY_SIDE; ++v)
        for (Index lane = 0; lane < N; ++lane) {
            least = low[v][lane] < least ? low[v][lane] : least;
            greatest = high[v][lane] > greatest ? high[v][lane] : greatest;
        }
    return {least, greatest};
}

/// Keys of some columns with places of this size, which becomes an integer when 2^52 is added: the nearest one.
Words keys_of(Doubles places, Words columns, Words counts) {
    const Words marks = ((Words)((counts & RANKED) != 1) & 2) | ((Words)(counts > RANKED) & 1);
    return (Words)(places + 0x1p52) << 32 | columns << 2 | marks;
}

Index make(Span<const double> scores, double low, double scale, const ColumnCounts *counts, std::uint64_t *keys) {
    const auto n_column = static_cast<Index>(scores.size());
    const Doubles highest = repeat(HIGHEST_PLACE);
    Words columns;
    for (Index lane = 0; lane < N; ++lane) columns[lane] = static_cast<std::uint64_t>(lane);
    Index n = 0, column = 0;
    const auto add = [&](Doubles score, Words counted) {
        const Doubles places = scale > 0 ? (score - low) * scale : Doubles{};
        const Words made = keys_of(places < highest ? places : highest, columns, counted),
                    empty = (Words)((counted & RANKED) == 0);
        if (any(empty)) {
            for (Index lane = 0; lane < N; ++lane)
                if (!empty[lane]) keys[n++] = made[lane];
        } else {
            store(made, keys + n);
            n += N;
        }
        columns += N;
    };
    for (; column + N <= n_column; column += N) {
        Words counted;
        std::memcpy(&counted, counts + column, sizeof counted);
        add(load(scores.data() + column), counted);
    }
    if (column < n_column) {
        Doubles score = repeat(low);
        Words counted = {};  // nothing ranked
        std::memcpy(&score, scores.data() + column, at(n_column - column) * sizeof(double));
        std::memcpy(&counted, counts + column, at(n_column - column) * sizeof(ColumnCounts));
        add(score, counted);
    }
    return n;
}

}  // namespace

extern const RowKeyLoops row_key_loops = {ends, make};

}  // namespace deadheat::DEADHEAT_TARGET
