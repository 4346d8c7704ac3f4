"""The loops of the measures in plain Python, one query or group at a time: the order of operations that the bits are.

A query comes as its groups, (closer, closer_relevant, tied, tied_relevant) each, and how many items are ranked and
relevant; out come lower, expected and upper. The comments are in the core.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from double_double import ONE, DoubleDouble, from_integer, harmonic, log2, two_product, two_sum

Group = tuple[int, int, int, int]
Three = tuple[float, float, float]
ZERO = DoubleDouble(0.0)
UNDEFINED = (math.nan, math.nan, math.nan)


def last_rank(n_ranked: int, n_relevant: int, cutoff: int) -> int:
    return n_relevant if cutoff == 0 else min(max(n_ranked, n_relevant), cutoff)


def ordered(lower: float, expected: float, upper: float) -> Three:
    upper = lower if upper < lower else upper
    expected = lower if expected < lower else expected
    return lower, upper if expected > upper else expected, upper


# ---------------------------------------------------------------------------------------------------------------------
# average precision


def precisions(closer: int, seen: int, slots: int, p: int = 1, q: int = 1) -> float:
    if slots <= 64:
        total = 0.0
        for i in range(1, slots + 1):
            total += float(seen * q + (i - 1) * p) / float(closer + i)
        return total / q
    difference = harmonic(closer + slots).minus(harmonic(closer))
    product = from_integer(seen * q - p * (closer + 1)).times(difference)
    return from_integer(p * slots).plus(product).value / q


def average_precision(groups: Sequence[Group], n_ranked: int, n_relevant: int, cutoff: int) -> Three:
    c = last_rank(n_ranked, n_relevant, cutoff)
    common, sums, mixed = ZERO, [ZERO] * 3, False
    for k, n, size, m in groups:
        if k >= c:
            break
        if size == 1:
            common = common.and_float(float(n + 1) / float(k + 1))
        elif size == m:
            common = common.and_float(precisions(k, n + 1, min(m, c - k)))
        else:
            mixed, last = True, k + size - m
            values = (
                precisions(last, n + 1, min(max(c - last, 0), m)),
                precisions(k, n + 1, min(c - k, size), m - 1, size - 1) * float(m) / float(size),
                precisions(k, n + 1, min(c - k, m)),
            )
            sums = [total.and_float(value) for total, value in zip(sums, values, strict=True)]
    r = float(n_relevant) if n_relevant else math.nan
    if not mixed:
        return (common.value / r,) * 3
    lower, expected, upper = (common.plus(total).value / r for total in sums)
    return ordered(lower, expected, upper)


def precision_variance(k: int, n: int, size: int, m: int, slots: int) -> float:
    base = k + size if slots == size else 0
    b = [
        1.0 / (k + t) if base == 0 else float(base - k - t) / (float(k + t) * float(base)) for t in range(1, slots + 1)
    ]
    b += [0.0] * (size - slots)
    sum_b = pairs_b = 0.0
    for t in range(slots):
        sum_b += b[t]
        pairs_b += t * b[t]
    mean_b, mean_w = sum_b / size, 2.0 * pairs_b / size
    mean_pairs = 2.0 * pairs_b / (float(size) * float(size - 1))
    others = float(max(size - 2, 1))
    tail = linear = squares = deltas = 0.0
    for t in reversed(range(size)):
        delta = (t * b[t] + tail - mean_w) / others
        shift = (n + 1) * (b[t] - mean_b) + (m - 1) * delta
        linear += shift * shift
        deltas += delta * delta
        squares += t * (b[t] - mean_pairs) * (b[t] - mean_pairs)
        tail += b[t]
    share = m / size
    variance = share * ((size - m) / (size - 1)) * linear
    if size >= 4:
        share *= ((m - 1) / (size - 1)) * ((size - m) / (size - 2))
        variance += share * ((size - m - 1) / (size - 3)) * max(squares - others * deltas, 0.0)
    return variance


# ---------------------------------------------------------------------------------------------------------------------
# discounted gain


def discount_table(size: int) -> tuple[list[float], list[DoubleDouble]]:
    """The discounts of the ranks below size, and their running sums at every 64th."""
    discount, sums, total = [0.0], [ZERO], ZERO
    for rank in range(1, size):
        discount.append(ONE.over(log2(rank + 1)).value)
        total = total.plus(DoubleDouble(discount[rank]))
        if rank % 64 == 0:
            sums.append(total)
    return discount, sums


Table = tuple[list[float], list[DoubleDouble]]


def discounts_between(start: int, stop: int, table: Table) -> DoubleDouble:
    discount, sums = table
    total, first, last = ZERO, (start + 63) // 64, stop // 64
    for rank in range(start + 1, (first * 64 if first < last else stop) + 1):
        total = total.and_float(discount[rank])
    if first >= last:
        return total
    for rank in range(last * 64 + 1, stop + 1):
        total = total.and_float(discount[rank])
    return sums[last].minus(sums[first]).plus(total)


def gain(start: int, c: int, items: Sequence[tuple[int, float]], table: Table) -> DoubleDouble:
    """Of items, (count, gain) of each grade in this order, in the ranks from start + 1 up to c."""
    total = ZERO
    for count, of_one in items:
        if min(start + count, c) > start:
            block = discounts_between(start, min(start + count, c), table)
            total = total.plus(block.times(DoubleDouble(of_one)))
        start += count
    return total


def mean_gain(k: int, size: int, c: int, items: Sequence[tuple[int, float]], table: Table) -> DoubleDouble:
    mean = ZERO
    for count, of_one in items:
        mean = mean.plus(DoubleDouble(*two_product(float(count), of_one)))
    return mean.over(DoubleDouble(float(size))).times(discounts_between(k, min(k + size, c), table))


def discounted_gain(
    groups: Sequence[Group],
    n_ranked: int,
    n_relevant: int,
    cutoff: int,
    by_grade: Sequence[Sequence[int]],
    relevant_by_grade: Sequence[int],
    gains: Sequence[float],
    table: Table,
) -> Three:
    c = last_rank(n_ranked, n_relevant, cutoff)
    ideal = gain(0, c, [*zip(relevant_by_grade, gains, strict=True)][::-1], table).value
    if ideal == 0.0:
        return UNDEFINED
    common, lower, expected, upper, mixed = ZERO, ZERO, ZERO, ZERO, False
    for (k, _, size, m), counts in zip(groups, by_grade, strict=True):
        if k >= c:
            break
        items = [*zip(counts, gains, strict=True)]
        if size == 1 and len(gains) == 1:
            common = common.and_float(table[0][k + 1])
        elif size in counts:
            common = common.plus(gain(k, c, items[::-1], table))
        else:
            mixed = True
            upper = upper.plus(gain(k, c, items[::-1], table))
            lower = lower.plus(gain(k + size - m, c, items, table))
            expected = expected.plus(mean_gain(k, size, c, items, table))
    if not mixed:
        return (min(common.value / ideal, 1.0),) * 3
    lowest, mean, highest = (common.plus(total).value / ideal for total in (lower, expected, upper))
    return ordered(lowest, mean, min(highest, 1.0))


def discount_spread(k: int, size: int, slots: int, discount: Sequence[float]) -> float:
    values = [discount[k + t] for t in range(1, slots + 1)]
    if slots == size and k > 64 * size:
        y = log2(k + size + 1)
        logarithms = [log2(k + t + 1) for t in range(1, slots + 1)]
        values = [y.minus(x).value / (x.high * y.high) for x in logarithms]
    mean = 0.0
    for value in values:
        mean += value
    mean /= size
    total = mean * mean * float(size - slots)
    for value in values:
        total += (value - mean) * (value - mean)
    return total


# ---------------------------------------------------------------------------------------------------------------------
# the first or the last hit


def expectation(
    k: int, size: int, m: int, slots: int, kind: int, centred: bool, shift: float, squared: bool
) -> float:  # fmt: skip
    """Of a function of the slot of the first relevant item: `slot_expectations` in the core says which."""
    base = (k + 1 if kind > 0 else k + size) if centred and kind != 0 else 0

    def value_at(i: int) -> float:
        rank = k + i if kind > 0 else k + size + 1 - i
        if kind == 0:
            return 1.0
        return float(abs(rank - base)) / (float(rank) * float(base)) if base else 1.0 / rank

    def shifted(value: float) -> float:
        distance = abs(value - shift)
        return distance * distance if squared else distance

    final = size - m + 1
    end = shifted(value_at(final) if slots >= final else 1.0 / base if base else 0.0)
    p, total, rest = DoubleDouble(float(m)).over(DoubleDouble(float(size))), 0.0, 0.0
    for i in range(1, min(slots, final) + 1):
        value = shifted(value_at(i))
        total, lost = two_sum(total, p.high * value)
        rest += lost + p.low * value
        if i == final or (not squared and p.high * max(value, end) * float(final - i) <= 2.0**-60 * total):
            return total + rest
        p = p.times(DoubleDouble(float(final - i))).over(DoubleDouble(float(size - i)))
    return total + p.high * float(size - slots) / float(m) * end + rest
