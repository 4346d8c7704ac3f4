"""Loops over tie groups, compiled. Integers of a profile come in, float64 values and sums go out.

Every result has the same bits on every machine: only +, -, *, / on float64, in a fixed order. There is no call of
libm (its log2 differs between systems in the last bit), no fastmath, and nothing that a compiler may contract to fma.
Logarithms and harmonic numbers are computed in double-double arithmetic (Dekker 1971): a pair of floats
``high + low`` with about 32 digits. It is what keeps the closed forms accurate: ``tied - (closer + 1) * dH`` loses
half of all digits when ``tied`` is small beside ``closer``, and there are enough to lose.

The constants come from integer arithmetic (`_fixed_log2` and what follows), so they too are the same everywhere.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deadheat.support.compiling import inner, kernel

Array = NDArray[Any]
Arrays = tuple[Array, ...]  # `groups` are offsets, closer, closer_relevant, tied, tied_relevant, n_ranked, n_relevant

# ---------------------------------------------------------------------------------------------------------------------
# constants, as pairs of float64

_BITS = 200  # of the fixed-point integers that constants are computed in
_ONE = 1 << _BITS


def _pair(value: Fraction) -> tuple[float, float]:
    """Split a number into a float and the rest of it, also a float."""
    high = value.numerator / value.denominator
    rest = value - Fraction(high)
    return high, rest.numerator / rest.denominator


def _pairs(values: list[Fraction]) -> tuple[Array, Array]:
    """Split numbers into two arrays, high and low."""
    high, low = np.array([_pair(value) for value in values]).T
    return np.ascontiguousarray(high), np.ascontiguousarray(low)


def _fixed_atanh(numerator: int, denominator: int) -> int:
    """The area tangent of a fraction, times 2^_BITS, from its power series."""
    power, total, odd = _ONE * numerator // denominator, 0, 1
    while power:
        total += power // odd
        power = power * numerator**2 // denominator**2
        odd += 2
    return total


_FIXED_LN2 = 2 * _fixed_atanh(1, 3)
_STEPS = 128  # log2 is tabulated at 1 + i/_STEPS
_LOG2_HIGH, _LOG2_LOW = _pairs([Fraction(2 * _fixed_atanh(i, 2 * _STEPS + i), _FIXED_LN2) for i in range(_STEPS)])
_LN2_HIGH, _LN2_LOW = _pair(Fraction(_FIXED_LN2, _ONE))
_TWO_OVER_LN2_HIGH, _TWO_OVER_LN2_LOW = _pair(Fraction(2 * _ONE, _FIXED_LN2))
_THIRD_LOW = _pair(Fraction(1, 3))[1]
_FIFTH_LOW = _pair(Fraction(1, 5))[1]

# Euler's constant, and the first harmonic numbers; beyond them `harmonic` uses an asymptotic series.
_GAMMA_HIGH, _GAMMA_LOW = _pair(Fraction("0.57721566490153286060651209008240243104215933593992"))
_N_HARMONIC = 128
_HARMONIC_HIGH, _HARMONIC_LOW = _pairs(
    [sum((Fraction(1, j) for j in range(1, i + 1)), Fraction(0)) for i in range(_N_HARMONIC)]
)

# Literal arguments would make numba compile a function once for each.
_NOTHING: Any = np.int64(0)
_UNIT: Any = np.int64(1)
_ASCENDING: Any = np.int64(0)
_DESCENDING: Any = np.int64(1)

_NEGLIGIBLE = 2.0**-60  # a tail of a sum smaller than this part of it cannot change its last bit
_DIRECT = 64  # as many slots of a group are summed one by one; more, by the closed form
BLOCK = 64  # the running sum of the discounts is kept at every BLOCK-th rank


# ---------------------------------------------------------------------------------------------------------------------
# double-double arithmetic (Dekker 1971; Knuth, TAOCP 2, 4.2.2)


@inner
def _two_sum(a: float, b: float) -> tuple[float, float]:
    """The float nearest to a + b, and the rest, exactly."""
    s = a + b
    v = s - a
    return s, (a - (s - v)) + (b - v)


@inner
def _two_product(a: float, b: float) -> tuple[float, float]:
    """The float nearest to a * b, and the rest, exactly: both factors are split in halves of 26 bits (Veltkamp)."""
    p = a * b
    t = 134217729.0 * a
    a_high = t - (t - a)
    a_low = a - a_high
    t = 134217729.0 * b
    b_high = t - (t - b)
    b_low = b - b_high
    return p, ((a_high * b_high - p) + a_high * b_low + a_low * b_high) + a_low * b_low


@inner
def _add(a_high: float, a_low: float, b_high: float, b_low: float) -> tuple[float, float]:
    s, e = _two_sum(a_high, b_high)
    e += a_low + b_low
    high = s + e
    return high, e - (high - s)


@inner
def _multiply(a_high: float, a_low: float, b_high: float, b_low: float) -> tuple[float, float]:
    p, e = _two_product(a_high, b_high)
    e += a_high * b_low + a_low * b_high
    high = p + e
    return high, e - (high - p)


@inner
def _divide(a_high: float, a_low: float, b_high: float, b_low: float) -> tuple[float, float]:
    quotient = a_high / b_high
    p, e = _two_product(quotient, b_high)
    correction = (((a_high - p) - e) + a_low - quotient * b_low) / b_high
    high = quotient + correction
    return high, correction - (high - quotient)


@inner
def _from_integer(i: int) -> tuple[float, float]:
    """An int64 as a pair: float64 alone holds 53 of its bits."""
    high = float(i)
    return high, float(i - np.int64(high))


@inner
def log2(i: int) -> tuple[float, float]:
    """log2 of a positive integer, as a pair; exact for powers of two.

    i = 2^e * x with 1 <= x < 2; with c the tabulated point below x, log2(x/c) = 2/ln(2) * atanh((x - c)/(x + c)).
    """
    x, exponent = math.frexp(float(i))
    x *= 2.0
    step = int((x - 1.0) * _STEPS)
    c = 1.0 + step / _STEPS
    high, low = _two_sum(float(exponent - 1), _LOG2_HIGH[step])
    low += _LOG2_LOW[step]
    if x == c:
        return high, low
    s_high, s_low = _divide(x - c, 0.0, x + c, 0.0)  # below 1/256
    z_high, z_low = _multiply(s_high, s_low, s_high, s_low)
    tail = z_high * (1 / 7 + z_high * (1 / 9 + z_high * (1 / 11 + z_high * (1 / 13 + z_high / 15))))
    t_high, t_low = _add(1 / 5, _FIFTH_LOW, tail, 0.0)
    t_high, t_low = _multiply(t_high, t_low, z_high, z_low)
    t_high, t_low = _add(1 / 3, _THIRD_LOW, t_high, t_low)
    t_high, t_low = _multiply(t_high, t_low, z_high, z_low)
    t_high, t_low = _add(1.0, 0.0, t_high, t_low)
    s_high, s_low = _multiply(s_high, s_low, _TWO_OVER_LN2_HIGH, _TWO_OVER_LN2_LOW)
    t_high, t_low = _multiply(s_high, s_low, t_high, t_low)
    return _add(high, low, t_high, t_low)


@inner
def harmonic(i: int) -> tuple[float, float]:
    """The harmonic number 1 + 1/2 + ... + 1/i, as a pair.

    From 128 on ln(x) + gamma + 1/24 x^-2 - 7/960 x^-4 + 31/8064 x^-6 - ... with x = i + 1/2. The first term left out
    is below 6e-20 and falls with the eighth power of i, much faster than the precision that `_precisions` needs.
    """
    if i < _N_HARMONIC:
        return _HARMONIC_HIGH[i], _HARMONIC_LOW[i]
    high, low = log2(2 * i + 1)
    high, low = _multiply(high - 1.0, low, _LN2_HIGH, _LN2_LOW)
    high, low = _add(high, low, _GAMMA_HIGH, _GAMMA_LOW)
    z = 1.0 / ((i + 0.5) * (i + 0.5))
    return _add(high, low, z * (1 / 24 - z * (7 / 960 - z * (31 / 8064))), 0.0)


# ---------------------------------------------------------------------------------------------------------------------
# what the measures share


@inner
def _last_rank(n_ranked: int, n_relevant: int, cutoff: int) -> int:
    """The last rank that counts, no larger than need be. A cutoff of 0 stands for the number of relevant items."""
    return n_relevant if cutoff == 0 else min(max(n_ranked, n_relevant), cutoff)


@inner
def _store(out: Array, query: int, lower: float, expected: float, upper: float) -> None:
    """Keep the values of a query, and take back what rounding may have put out of order; NaN stays NaN."""
    upper = lower if upper < lower else upper
    expected = lower if expected < lower else expected
    expected = upper if expected > upper else expected
    out[0, query], out[1, query], out[2, query] = lower, expected, upper


# ---------------------------------------------------------------------------------------------------------------------
# average precision


@inner
def _precisions(closer: int, seen: int, slots: int, p: int, q: int) -> float:
    """Sum over i = 1 .. slots of (seen + (i - 1) p/q) / (closer + i): the precisions in consecutive ranks.

    `seen` is the count of relevant items at the first rank, itself included, and p/q how many each further rank adds.
    In closed form [p slots + (seen q - p (closer + 1)) (H(closer + slots) - H(closer))] / q.
    """
    if slots <= _DIRECT:
        total = 0.0
        for i in range(1, slots + 1):
            total += float(seen * q + (i - 1) * p) / float(closer + i)
        return total / q
    h_high, h_low = harmonic(closer + slots)
    g_high, g_low = harmonic(closer)
    h_high, h_low = _add(h_high, h_low, -g_high, -g_low)
    a_high, a_low = _from_integer(seen * q - p * (closer + 1))
    h_high, h_low = _multiply(a_high, a_low, h_high, h_low)
    a_high, a_low = _from_integer(p * slots)
    h_high, h_low = _add(a_high, a_low, h_high, h_low)
    return (h_high + h_low) / q


@inner
def _mixed_precisions(k: int, n: int, tied: int, relevant: int, c: int) -> tuple[float, float, float]:
    """Lower, expected and upper sum of the precisions at the relevant ranks up to c of one mixed group."""
    last = k + tied - relevant
    lower = _precisions(last, n + 1, min(max(c - last, 0), relevant), _UNIT, _UNIT)
    upper = _precisions(k, n + 1, min(c - k, relevant), _UNIT, _UNIT)
    slots = min(c - k, tied)
    expected = _precisions(k, n + 1, slots, relevant - 1, tied - 1) * float(relevant) / float(tied)
    return lower, expected, upper


@kernel
def average_precisions(first: int, last: int, groups: Arrays, cutoff: int, out: Array) -> None:
    """Fill in AP, cut at rank `cutoff`, divided by `n_relevant`.

    Groups without a tie to break are added up once, for all three values; so these are equal, bit by bit, where no
    group is mixed. A group like the one before it is not computed again.
    """
    offsets, closer, closer_relevant, tied, tied_relevant, n_ranked, n_relevant = groups
    k0 = n0 = l0 = m0 = c0 = -1
    low = mean = high = 0.0
    for query in range(first, last):
        c = _last_rank(n_ranked[query], n_relevant[query], cutoff)
        mixed = False
        total = rest = 0.0
        total_low = rest_low = total_mean = rest_mean = total_high = rest_high = 0.0
        for group in range(offsets[query], offsets[query + 1]):
            k = closer[group]
            if k >= c:
                break
            n, size = closer_relevant[group], tied[group]
            if size == 1:
                total, e = _two_sum(total, float(n + 1) / float(k + 1))
                rest += e
                continue
            m = tied_relevant[group]
            if size == m:
                total, e = _two_sum(total, _precisions(k, n + 1, min(m, c - k), _UNIT, _UNIT))
                rest += e
                continue
            if k != k0 or n != n0 or size != l0 or m != m0 or c != c0:
                k0, n0, l0, m0, c0 = k, n, size, m, c
                low, mean, high = _mixed_precisions(k, n, size, m, c)
            mixed = True
            total_low, e = _two_sum(total_low, low)
            rest_low += e
            total_mean, e = _two_sum(total_mean, mean)
            rest_mean += e
            total_high, e = _two_sum(total_high, high)
            rest_high += e
        r = float(n_relevant[query]) if n_relevant[query] > 0 else np.nan
        if not mixed:
            value = (total + rest) / r
            _store(out, query, value, value, value)
            continue
        total_low, rest_low = _add(total, rest, total_low, rest_low)
        total_mean, rest_mean = _add(total, rest, total_mean, rest_mean)
        total_high, rest_high = _add(total, rest, total_high, rest_high)
        _store(out, query, (total_low + rest_low) / r, (total_mean + rest_mean) / r, (total_high + rest_high) / r)


@inner
def _precision_variance(k: int, n: int, size: int, m: int, slots: int) -> float:
    """Variance of the sum of the precisions at the relevant ranks of one mixed group, over its orders.

    The sum is sum_t a_t X_t + sum_{s<t} b_t X_s X_t, where X_t is 1 when slot t holds a relevant item, and a_t =
    (n + 1) b_t, b_t = 1/(k + t), or 0 beyond the cutoff. The X are a uniformly drawn slice of m out of `size`, so the
    variance splits (Hoeffding) into a linear part, c_s = a_s - mean(a) + (m - 1) delta_s with delta_s = (w_s -
    mean(w))/(size - 2) and w_s = (s - 1) b_s + sum_{t>s} b_t, and a part that is orthogonal to it.

    Where all slots count, b_t is taken less the smallest: a constant drops out, and the differences keep their digits.
    """
    base = k + size if slots == size else 0
    sum_b = pairs_b = 0.0
    for t in range(1, slots + 1):
        b = _slot(k, t, base)
        sum_b += b
        pairs_b += (t - 1) * b
    mean_b = sum_b / size
    mean_pairs = 2.0 * pairs_b / (float(size) * float(size - 1))
    mean_w = 2.0 * pairs_b / size
    others = float(max(size - 2, 1))
    tail = linear = squares = deltas = 0.0
    for t in range(size, 0, -1):
        b = _slot(k, t, base) if t <= slots else 0.0
        delta = ((t - 1) * b + tail - mean_w) / others
        shift = (n + 1) * (b - mean_b) + (m - 1) * delta
        linear += shift * shift
        deltas += delta * delta
        squares += (t - 1) * (b - mean_pairs) * (b - mean_pairs)
        tail += b
    share = float(m) / float(size)
    variance = share * (float(size - m) / float(size - 1)) * linear
    if size >= 4:
        orthogonal = max(squares - others * deltas, 0.0)
        share *= (float(m - 1) / float(size - 1)) * (float(size - m) / float(size - 2))
        variance += share * (float(size - m - 1) / float(size - 3)) * orthogonal
    return variance


@inner
def _slot(k: int, t: int, base: int) -> float:
    """1/(k + t), less 1/base where base is not 0."""
    if base == 0:
        return 1.0 / float(k + t)
    return float(base - k - t) / (float(k + t) * float(base))


@inner
def _as_before(closer: Array, tied: Array, tied_relevant: Array, slots: Array, g: int) -> bool:
    """Whether group g equals the one before it, so that nothing need be computed again."""
    return (
        g > 0
        and closer[g] == closer[g - 1]
        and tied[g] == tied[g - 1]
        and tied_relevant[g] == tied_relevant[g - 1]
        and slots[g] == slots[g - 1]
    )


@kernel
def precision_variances(
    closer: Array, closer_relevant: Array, tied: Array, tied_relevant: Array, slots: Array, out: Array
) -> None:
    """Fill in the variance of each of the mixed groups given; equal neighbours are computed once."""
    for g in range(len(out)):
        if _as_before(closer, tied, tied_relevant, slots, g) and closer_relevant[g] == closer_relevant[g - 1]:
            out[g] = out[g - 1]
        else:
            out[g] = _precision_variance(closer[g], closer_relevant[g], tied[g], tied_relevant[g], slots[g])


# ---------------------------------------------------------------------------------------------------------------------
# what depends on one group, or on pairs


@inner
def _last_before(start: int, stop: int, c: int, closer: Array) -> int:
    """The last group from start up to stop, less one, that begins before rank c; start - 1 where there is none."""
    while start < stop:
        middle = (start + stop) // 2
        if closer[middle] < c:
            start = middle + 1
        else:
            stop = middle
    return start - 1


@kernel
def hits(
    first: int, last: int, groups: Arrays, cutoff: int, factor: float, size: float, share: float, out: Array
) -> None:
    """Fill in `factor` times the hits in the first `cutoff` ranks, over `size` + `share` * `n_relevant`."""
    offsets, closer, closer_relevant, tied, tied_relevant, n_ranked, n_relevant = groups
    for query in range(first, last):
        c = _last_rank(n_ranked[query], n_relevant[query], cutoff)
        divisor = size + share * float(n_relevant[query]) if n_relevant[query] > 0 else np.nan
        start = offsets[query]
        best = worst = _last_before(start, offsets[query + 1], c, closer)
        least = most = 0
        mean = 0.0 * divisor
        if best >= start:
            k, n, t, m = closer[best], closer_relevant[best], tied[best], tied_relevant[best]
            most = n + min(m, c - k)
            mean = factor * float(n * t + m * min(c - k, t)) / (float(t) * divisor)
        # Windows of a tolerance may overlap, and the relevant items of several then begin beyond the cutoff at worst.
        while worst >= start and closer[worst] + tied[worst] - tied_relevant[worst] >= c:
            worst -= 1
        if worst >= start:
            m = tied_relevant[worst]
            least = closer_relevant[worst] + min(m, c - (closer[worst] + tied[worst] - m))
        _store(out, query, factor * float(least) / divisor, mean, factor * float(most) / divisor)


@kernel
def straddling_groups(offsets: Array, closer: Array, cutoff: Array, out: Array) -> None:
    """Fill in, per query, the last group that begins before the cutoff, or -1."""
    for query in range(len(out)):
        group = _last_before(offsets[query], offsets[query + 1], cutoff[query], closer)
        out[query] = group if group >= offsets[query] else -1


@kernel
def first_hits(first: int, last: int, groups: Arrays, cutoff: int, reciprocal: bool, out: Array) -> None:
    """Fill in Hit@k or the reciprocal rank: only the first group matters. A mean over its slots is left NaN."""
    offsets, closer, _, tied, tied_relevant, n_ranked, n_relevant = groups
    for query in range(first, last):
        group = offsets[query]
        if group == offsets[query + 1]:
            nothing = 0.0 if n_relevant[query] > 0 else np.nan
            _store(out, query, nothing, nothing, nothing)
            continue
        k, final = closer[group], tied[group] - tied_relevant[group] + 1
        slots = min(_last_rank(n_ranked[query], n_relevant[query], cutoff) - k, tied[group])
        low = high = 0.0
        if slots > 0:
            high = 1.0 / float(k + 1) if reciprocal else 1.0
        if slots >= final:
            low = 1.0 / float(k + final) if reciprocal else 1.0
        _store(out, query, low, high if low == high else np.nan, high)


@kernel
def inverse_penalties(first: int, last: int, groups: Arrays, out: Array) -> None:
    """Fill in mINP: only the last group matters, if nothing relevant is missing. A mean over its slots is left NaN."""
    offsets, closer, closer_relevant, tied, tied_relevant, _, n_relevant = groups
    for query in range(first, last):
        group = offsets[query + 1] - 1
        r = n_relevant[query]
        if group < offsets[query] or closer_relevant[group] + tied_relevant[group] < r:
            nothing = 0.0 if r > 0 else np.nan
            _store(out, query, nothing, nothing, nothing)
            continue
        low = float(r) / float(closer[group] + tied[group])
        high = float(r) / float(closer[group] + tied_relevant[group])
        _store(out, query, low, high if low == high else np.nan, high)


@kernel
def areas(first: int, last: int, groups: Arrays, out: Array) -> None:
    """Fill in AUC, from the pairs of a relevant item and an irrelevant one in front of it, or at the same distance."""
    offsets, closer, closer_relevant, tied, tied_relevant, n_ranked, n_relevant = groups
    for query in range(first, last):
        found = behind = level = 0
        for group in range(offsets[query], offsets[query + 1]):
            m = tied_relevant[group]
            found += m
            behind += m * (closer[group] - closer_relevant[group])
            level += m * (tied[group] - m)
        most = found * (n_ranked[query] - found) - behind
        pairs = float(n_relevant[query]) * float(n_ranked[query] - found)
        if not pairs > 0.0:
            pairs = np.nan
        least = most - level
        _store(out, query, float(least) / pairs, float(least + most) / (2.0 * pairs), float(most) / pairs)


@inner
def _value_at(i: int, k: int, size: int, kind: int, base: int) -> float:
    """What `extremes` takes the expectation of; where base is not 0, how far it is from 1/base."""
    if kind == 0:
        return 1.0
    rank = k + i if kind > 0 else k + size + 1 - i
    if base == 0:
        return 1.0 / float(rank)
    return float(abs(rank - base)) / (float(rank) * float(base))


@inner
def _extreme(k: int, size: int, m: int, slots: int, kind: int, centred: bool, shift: float, squared: bool) -> float:
    """The expectation of a function of the slot of the first of m relevant items among `size`: see `extremes`."""
    p_high, p_low = _divide(float(m), 0.0, float(size), 0.0)
    final = size - m + 1  # the last slot that it can have
    base, end = 0, 0.0
    if centred and kind != 0:
        base = k + 1 if kind > 0 else k + size
        end = 1.0 / float(base)
    if slots >= final:
        end = _value_at(final, k, size, kind, base)
    end = abs(end - shift)
    end = end * end if squared else end
    total = rest = 0.0
    for i in range(1, min(slots, final) + 1):
        value = abs(_value_at(i, k, size, kind, base) - shift)
        value = value * value if squared else value
        total, e = _two_sum(total, p_high * value)
        rest += e + p_low * value
        if i == final:
            return total + rest
        # The values go up or down all the way, and all slots that follow are less likely than this one.
        if not squared and p_high * max(value, end) * float(final - i) <= _NEGLIGIBLE * total:
            return total + rest
        p_high, p_low = _multiply(p_high, p_low, float(final - i), 0.0)
        p_high, p_low = _divide(p_high, p_low, float(size - i), 0.0)
    return total + p_high * float(size - slots) / float(m) * end + rest


@kernel
def extremes(
    first: int,
    last: int,
    closer: Array,
    tied: Array,
    tied_relevant: Array,
    slots: Array,
    kind: int,
    centred: bool,
    shift: Array,
    squared: bool,
    out: Array,
) -> None:
    """Fill in the expectation of f(i), i the slot of the first of the relevant items of a group in random order.

    P(i + 1) = P(i) (tied - tied_relevant - i + 1)/(tied - i), from P(1) = tied_relevant/tied. Up to `slots`, f(i) is
    1 for kind 0, one over the rank counted from the front for kind 1 and from the back (the slot of the last of the
    relevant items) for kind -1; beyond it 0. Where `centred`, it is the distance to f(1) instead: the variance is the
    same, and small differences keep their digits. Where `squared`, the expectation is that of (f(i) - shift)^2.
    Equal neighbours among the groups from first up to last are computed once.
    """
    for g in range(first, last):
        if g > first and _as_before(closer, tied, tied_relevant, slots, g):
            out[g] = out[g - 1]
        else:
            k, size, m = closer[g], tied[g], tied_relevant[g]
            out[g] = _extreme(k, size, m, slots[g], kind, centred, shift[g], squared)


# ---------------------------------------------------------------------------------------------------------------------
# discounted gain


@kernel
def discounts(discount: Array, high: Array, low: Array) -> None:
    """Fill in 1/log2(rank + 1) for every rank from 1 on, and its sum up to every BLOCK-th rank, as pairs."""
    total = rest = 0.0
    for rank in range(1, len(discount)):
        a_high, a_low = log2(rank + 1)
        a_high, a_low = _divide(1.0, 0.0, a_high, a_low)
        discount[rank] = a_high + a_low
        total, rest = _add(total, rest, discount[rank], 0.0)
        if rank % BLOCK == 0:
            high[rank // BLOCK] = total
            low[rank // BLOCK] = rest


@inner
def _discounts_between(start: int, stop: int, discount: Array, high: Array, low: Array) -> tuple[float, float]:
    """The sum of the discounts of the ranks start + 1 .. stop, as a pair."""
    total = rest = 0.0
    first, last = (start + BLOCK - 1) // BLOCK, stop // BLOCK
    for rank in range(start + 1, (first * BLOCK if first < last else stop) + 1):
        total, e = _two_sum(total, discount[rank])
        rest += e
    if first >= last:
        return total, rest
    for rank in range(last * BLOCK + 1, stop + 1):
        total, e = _two_sum(total, discount[rank])
        rest += e
    a_high, a_low = _add(high[last], low[last], -high[first], -low[first])
    return _add(a_high, a_low, total, rest)


@inner
def _gain(
    start: int, c: int, counts: Array, row: int, gains: Array, order: int, discount: Array, high: Array, low: Array
) -> tuple[float, float]:
    """Discounted gain, as a pair, of the items that a row counts by grade, from rank start + 1 on, cut at rank c."""
    total = rest = 0.0
    for j in range(len(gains)):
        grade = j if order == _ASCENDING else len(gains) - 1 - j
        stop = min(start + counts[row, grade], c)
        if stop > start:
            block, e = _discounts_between(start, stop, discount, high, low)
            block, e = _multiply(block, e, gains[grade], 0.0)
            total, rest = _add(total, rest, block, e)
        start += counts[row, grade]
    return total, rest


@inner
def _mean_gain(
    k: int, size: int, c: int, counts: Array, row: int, gains: Array, discount: Array, high: Array, low: Array
) -> tuple[float, float]:
    """Discounted gain, as a pair, when every rank of a group has its mean gain."""
    mean, mean_low = 0.0, 0.0
    for grade in range(len(gains)):
        p, e = _two_product(float(counts[row, grade]), gains[grade])
        mean, mean_low = _add(mean, mean_low, p, e)
    mean, mean_low = _divide(mean, mean_low, float(size), 0.0)
    block, e = _discounts_between(k, min(k + size, c), discount, high, low)
    return _multiply(mean, mean_low, block, e)


@kernel
def discounted_gains(
    first: int, last: int, groups: Arrays, cutoff: int, by_grade: Arrays, gains: Array, table: Arrays, out: Array
) -> None:
    """Fill in nDCG, cut at rank `cutoff`, from counts by grade, (n_group, n_grade) and (n_query, n_grade).

    As in `average_precisions`, groups in which all items have the same gain are added up once for all three values.
    """
    offsets, closer, _, tied, tied_relevant, n_ranked, n_relevant = groups
    counts, relevant_counts = by_grade
    discount, high, low = table
    before, ideal, ideal_rest = -1, 0.0, 0.0
    for query in range(first, last):
        c = _last_rank(n_ranked[query], n_relevant[query], cutoff)
        if len(gains) > 1 or min(n_relevant[query], c) != before:
            before = min(n_relevant[query], c)
            ideal, ideal_rest = _gain(_NOTHING, c, relevant_counts, query, gains, _DESCENDING, discount, high, low)
        if ideal == 0.0:
            _store(out, query, np.nan, np.nan, np.nan)
            continue
        divisor = ideal + ideal_rest
        mixed = False
        total = rest = 0.0
        total_low = rest_low = total_mean = rest_mean = total_high = rest_high = 0.0
        for group in range(offsets[query], offsets[query + 1]):
            k = closer[group]
            if k >= c:
                break
            size = tied[group]
            if size == 1 and len(gains) == 1:
                total, e = _two_sum(total, discount[k + 1])
                rest += e
                continue
            gain, e = _gain(k, c, counts, group, gains, _DESCENDING, discount, high, low)
            one_grade = False
            for grade in range(len(gains)):
                one_grade |= counts[group, grade] == size
            if one_grade:
                total, rest = _add(total, rest, gain, e)
                continue
            mixed = True
            total_high, rest_high = _add(total_high, rest_high, gain, e)
            gain, e = _gain(k + size - tied_relevant[group], c, counts, group, gains, _ASCENDING, discount, high, low)
            total_low, rest_low = _add(total_low, rest_low, gain, e)
            gain, e = _mean_gain(k, size, c, counts, group, gains, discount, high, low)
            total_mean, rest_mean = _add(total_mean, rest_mean, gain, e)
        if not mixed:
            value = min((total + rest) / divisor, 1.0)
            _store(out, query, value, value, value)
            continue
        total_low, rest_low = _add(total, rest, total_low, rest_low)
        total_mean, rest_mean = _add(total, rest, total_mean, rest_mean)
        total_high, rest_high = _add(total, rest, total_high, rest_high)
        value = min((total_high + rest_high) / divisor, 1.0)
        _store(out, query, (total_low + rest_low) / divisor, (total_mean + rest_mean) / divisor, value)


@kernel
def ideal_gains(
    relevant_by_grade: Array, gains: Array, cutoff: Array, discount: Array, high: Array, low: Array, out: Array
) -> None:
    """Fill in the discounted gain of the best order per query, cut at rank `cutoff` (n_query,)."""
    for query in range(len(out)):
        gain, e = _gain(_NOTHING, cutoff[query], relevant_by_grade, query, gains, _DESCENDING, discount, high, low)
        out[query] = gain + e


@inner
def _discount_spread(k: int, size: int, slots: int, discount: Array) -> float:
    """Sum over the slots of a group of (d - mean d)^2, d their discounts, 0 beyond the cutoff.

    Far down the ranking the discounts of a small group are nearly equal; their differences are then taken as
    1/x - 1/y = (y - x)/(x y) with x, y the logarithms as pairs.
    """
    near = slots == size and k > 64 * size
    y_high, y_low = log2(k + size + 1) if near else (0.0, 0.0)
    mean = 0.0
    for t in range(1, slots + 1):
        mean += _discount_above(k, t, near, y_high, y_low, discount)
    mean /= size
    total = mean * mean * float(size - slots)
    for t in range(1, slots + 1):
        d = _discount_above(k, t, near, y_high, y_low, discount) - mean
        total += d * d
    return total


@inner
def _discount_above(k: int, t: int, near: bool, y_high: float, y_low: float, discount: Array) -> float:
    """The discount of slot t, less that of the slot with logarithm y where `near`."""
    if not near:
        return float(discount[k + t])
    x_high, x_low = log2(k + t + 1)
    d_high, d_low = _add(y_high, y_low, -x_high, -x_low)
    return (d_high + d_low) / (x_high * y_high)


@kernel
def discount_spreads(closer: Array, tied: Array, slots: Array, discount: Array, out: Array) -> None:
    """Fill in the spread of the discounts of each of the groups given; equal neighbours are computed once."""
    for g in range(len(out)):
        if g > 0 and closer[g] == closer[g - 1] and tied[g] == tied[g - 1] and slots[g] == slots[g - 1]:
            out[g] = out[g - 1]
        else:
            out[g] = _discount_spread(closer[g], tied[g], slots[g], discount)
