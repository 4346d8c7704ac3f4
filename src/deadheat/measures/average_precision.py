"""Average precision: mAP, mAP@k and MAP@R, over R, over min(k, R) or over the hits, and by the trapezoid rule.

Tie groups come in; the sum of the precisions at the ranks of the relevant items, divided by R, goes out: for each group
in closed form, with harmonic numbers. A cutoff drops the ranks beyond it and leaves R as it is: mAP@k is trec_eval's
map_cut, and MAP@R [1]_ has k = R. ``over='possible'`` divides by min(k, R), as recommender systems do.

``over='hits'`` divides by the number of hits, as learning to hash does: the mean of the precisions at the hits among
the first k, and 0 without one. That number is fixed unless the cutoff divides a mixed group. If it does, let c items be
closer, n of them relevant, and l tied, m of those relevant. The first t = k - c slots hold h relevant items, a
hypergeometric number, and given h any of the slots may be theirs: their sum T(h) is that of a group of t items, h of
them relevant. With S the sum of the groups before, the expectation is Σ P(h) (E S + E T(h)) / (n + h). The value is
**not monotone**: a hit more can lower the mean. The bounds are therefore the least of (S⁻ + T⁻(h)) / (n + h) and the
greatest of (S⁺ + T⁺(h)) / (n + h) over h, and may be those of neither the worst nor the best order. Windows of a
tolerance have the same bounds, from the least and the greatest rank of each relevant item.

``interpolation='trapezoid'`` takes the mean of the precisions before and behind each relevant item, as the code of the
Oxford and Paris buildings does [2]_: ((a - 1)/(r - 1) + a/r)/2 for the a-th at rank r, and 1 before rank 1. Before it
are those of a group with one relevant item and one item less in front. In the first group, of l items, m of them
relevant, they are (m - 1)/(l - 1) on average in each slot but the first.

.. [1] Musgrave, Belongie, Lim 2020, A metric learning reality check.
.. [2] Philbin et al. 2007, Object retrieval with large vocabularies and fast spatial matching: compute_ap.cpp.
.. [3] Kalinin et al. 2025, A versatile information retrieval framework for evaluating profile strength and similarity.
.. [4] Bestgen 2015, Exact expected average precision of the random baseline for system evaluation.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache

import numpy as np

import deadheat._core as _core
from deadheat.engine.profiles.profile import TieProfile
from deadheat.measures.completions import Deciding, Placement, furthest, scanned
from deadheat.measures.family import ClosedForms, Counted, Fill, Measure, RankSum, Variant, not_a_rank_sum
from deadheat.measures.first_last_hit import reciprocal_moments
from deadheat.measures.groups import (
    POSSIBLE,
    defined,
    distinct,
    filled,
    found,
    groups_within,
    kernel_arrays,
    most_found,
    reciprocal_ranks,
    sum_by_query,
)
from deadheat.support.arrays import Float64, Int64, offsets_of, pieces
from deadheat.support.triple import Triple

HITS, TRAPEZOID = "over='hits'", "interpolation='trapezoid'"
OVER = {
    "over='relevant'": Variant("over R"),
    HITS: Variant("the same over the hits, 0 without one: mAP@k of learning to hash", ("mAP over hits",)),
    POSSIBLE: Variant("the same over min(k, R): mAP@k of recommender systems", ("apk", "mapk")),
    TRAPEZOID: Variant(
        "the same with the mean of the precisions before and behind: Oxford and Paris",
        ("trapezoid AP", "trapezoidal AP", "AP trapezoid", "mAP trapezoid", "Oxford AP", "Oxford mAP"),
    ),
}

_EVERY_RANK = 2**62
_NEGLIGIBLE = 2.0**-80  # times the chance of the likeliest number of hits: no mean has a digit of it


class AveragePrecision(ClosedForms):
    """The sum of the precisions at the ranks of the relevant items, over R, min(k, R) or the hits."""

    def loop(self, profile: TieProfile, measure: Measure, out: Float64) -> Fill:
        if measure.choice == HITS:
            return _OverHits(profile, measure).loop(out)
        if measure.choice == TRAPEZOID:
            return filled(profile, _trapezoids(profile, measure.limit), out)
        groups, limit = kernel_arrays(profile, most_found(profile.n_relevant, measure)), measure.limit
        return lambda first, last: _core.average_precisions((first, last), groups, limit, out)

    def deviation(self, profile: TieProfile, measure: Measure) -> Float64:
        """Return the deviation: a group's sum is a polynomial of degree two in a uniformly drawn slice of its slots."""
        if measure.choice == HITS:
            return _OverHits(profile, measure).deviation()
        if measure.choice == TRAPEZOID:  # no closed form: known where ties change nothing
            lower, _, upper = _trapezoids(profile, measure.limit)
            return defined(profile, np.where(lower < upper, np.nan, 0.0))
        mixed, slots = groups_within(profile, measure, profile.tied > profile.tied_relevant)
        variance = sum_by_query(profile, mixed, _variances(*_arrays(profile, mixed), slots))
        with np.errstate(invalid="ignore"):
            return np.sqrt(variance) / defined(profile, most_found(profile.n_relevant, measure))

    def deciding(self, profile: TieProfile, measure: Measure) -> Deciding:
        """Return the completions at which the sum over its divisor is least and greatest."""
        if measure.choice == HITS:
            return super().deciding(profile, measure)  # refused: a hit that moves to the front can lower it
        n = furthest(profile)
        discount, before = np.zeros((2, n + 2))  # one over a rank within the cutoff, and over the one before it
        within = 1 + (min(measure.limit, n) if measure.limit else n)
        discount[:within] = reciprocal_ranks(n)[:within]
        before[1:within] = discount[: within - 1]

        def values(placement: Placement) -> Float64:
            if measure.limit == 0:
                return placement.sums_within(placement.n_relevant) / placement.n_relevant
            if measure.choice == TRAPEZOID:
                first = np.eye(1, n + 2, 1)[0]  # precision 1 is before rank 1
                return (placement.sums(discount + before) - placement.once(before - first)) / (2 * placement.n_relevant)
            return placement.sums(discount) / most_found(placement.n_relevant, measure)

        return scanned(profile, values)

    def rank_sum(self, measure: Measure, relevant: Int64, ranked: Int64, n: int) -> RankSum:
        if measure.choice in (HITS, TRAPEZOID):
            raise not_a_rank_sum(measure)
        return RankSum(Counted.SO_FAR, reciprocal_ranks(n), 1.0 / most_found(relevant, measure))


class ChanceNormalized(AveragePrecision):
    """AP from its expectation in random order, c, on: (AP - c) / (1 - c); NaN where nothing irrelevant is ranked [3]_.

    Of n items in random order, R of them relevant, c = h + (1 - h) (R - 1) / (n - 1), where h is the mean of
    1 / rank [4]_. Relevant items that were not retrieved count in n.
    """

    def loop(self, profile: TieProfile, measure: Measure, out: Float64) -> Fill:
        fill, chance = super().loop(profile, measure, out), self._chance(profile)

        def fill_normalized(first: int, last: int) -> None:
            fill(first, last)
            out[:, first:last] = (out[:, first:last] - chance[first:last]) / (1 - chance[first:last])

        return fill_normalized

    def deviation(self, profile: TieProfile, measure: Measure) -> Float64:
        return super().deviation(profile, measure) / (1 - self._chance(profile))

    deciding = ClosedForms.deciding  # the chance depends on what the unjudged items are, too

    def rank_sum(self, measure: Measure, relevant: Int64, ranked: Int64, n: int) -> RankSum:
        raise not_a_rank_sum(measure)

    def _chance(self, profile: TieProfile) -> Float64:
        """Return the expectation of AP in random order, (n_query,); NaN where every order is the same."""
        relevant = profile.n_relevant
        n = profile.n_ranked + relevant - found(profile).astype(np.int64)
        varies = (relevant > 0) & (relevant < n)
        size, chance = n[varies], np.full(len(n), np.nan)
        mean = reciprocal_moments(np.zeros_like(size), size, size)[0]
        chance[varies] = mean + (1 - mean) * (relevant[varies] - 1) / (size - 1)
        return chance


def _arrays(profile: TieProfile, group: Int64) -> tuple[Int64, Int64, Int64, Int64]:
    return profile.closer[group], profile.closer_relevant[group], profile.tied[group], profile.tied_relevant[group]


def _variances(k: Int64, n: Int64, tied: Int64, m: Int64, slots: Int64) -> Float64:
    """Return the variance of the sum of the precisions of each group, of whose slots the first so many count."""
    one, number = distinct(slots, m, tied, n, k)
    variance = np.empty(len(one))
    arrays = k[one], n[one], tied[one], m[one], slots[one], variance
    for piece in pieces(tied[one]):
        _core.precision_variances(*(array[piece] for array in arrays))  # type: ignore[arg-type]
    return variance[number]


def _trapezoids(profile: TieProfile, limit: int) -> Triple[Float64]:
    """Return lower, expected and upper by the trapezoid rule, where ranks up to `limit` count."""
    later, first = np.flatnonzero((profile.closer > 0) & (profile.closer < limit)), np.flatnonzero(profile.closer == 0)
    k, n, tied, m = _arrays(profile, later)
    before = _sums(profile, later, (k - 1, n - 1, tied, m), limit - 1)
    k, n, tied, m = _arrays(profile, first)
    slots, pure = np.minimum(tied, limit), tied == m
    most = np.minimum(m, slots)
    mean = np.where(pure, most, m * (1 + (slots - 1.0) * (m - 1) / np.maximum(tied - 1, 1)) / tied)
    before += [sum_by_query(profile, first, sums) for sums in (np.where(pure, most, 0), mean, most)]
    late = ~pure & (m > 1)  # in the worst order an irrelevant item has rank 1
    before[0] += _sums(profile, first[late], (k[late], n[late], tied[late] - 1, m[late] - 1), limit - 1)[0]
    every = np.arange(profile.n_group)
    sums = _sums(profile, every, _arrays(profile, every), limit) + before
    lower, mean, upper = sums / (2 * np.maximum(profile.n_relevant, 1))
    return Triple(lower, np.clip(mean, lower, upper), upper)


def _sums(profile: TieProfile, chosen: Int64, groups: tuple[Int64, ...], limit: int) -> Float64:
    """Return the sums of the precisions in groups, those `chosen` of the profile after a change, up to a rank."""
    sums, one = np.zeros((3, profile.n_query)), np.ones(profile.n_query, dtype=np.int64)
    if len(chosen):
        arrays = np.searchsorted(chosen, profile.offsets), *groups, profile.n_ranked, one
        _core.average_precisions((0, profile.n_query), arrays, limit, sums)
    return sums


# ---------------------------------------------------------------------------------------------------------------------
# over the hits


Divided = tuple[int, int, int, int, int]  # closer, closer_relevant, tied, tied_relevant, and the slots that count


class _OverHits:
    """The mean of the precisions at the hits of each query of a profile.

    `whole` are the groups whose hits are known: all of one within the cutoff, and of a group of relevant items alone as
    many as are within it. `divided` are the mixed groups that begin within the cutoff and end beyond it.
    """

    def __init__(self, profile: TieProfile, measure: Measure) -> None:
        self.profile, self.cutoff = profile, measure.limit
        begun, beyond = profile.closer < self.cutoff, profile.closer + profile.tied > self.cutoff
        divided = begun & beyond & (profile.tied > profile.tied_relevant)
        self.divided, self.whole = np.flatnonzero(divided), np.flatnonzero(begun & ~divided)
        k, n, tied, m = _arrays(profile, self.whole)
        tied, m = np.minimum(tied, self.cutoff - k), np.minimum(m, self.cutoff - k)
        self.hits = sum_by_query(profile, self.whole, m)
        one = np.ones(profile.n_query, dtype=np.int64)
        self.groups = np.searchsorted(self.whole, profile.offsets), k, n, tied, m, profile.n_ranked, one

    def loop(self, out: Float64) -> Fill:
        profile = self.profile

        def fill(first: int, last: int) -> None:
            _core.average_precisions((first, last), self.groups, _EVERY_RANK, out)
            sums, hits = out[:, first:last].copy(), self.hits[first:last]
            out[:, first:last] /= np.where(hits > 0, hits, 1.0)
            out[:, first:last][:, profile.n_relevant[first:last] == 0] = np.nan
            for query, group in self._divided_groups(first, last):
                if profile.bounds_only:
                    out[::2, query] = self._bounds_of_windows(query)
                else:
                    out[:, query] = _values(group, *sums[:, query - first].tolist())

        return fill

    def deviation(self) -> Float64:
        """Return the deviation, by the law of total variance over the hits of the divided group."""
        profile, sums = self.profile, np.empty((3, self.profile.n_query))
        _core.average_precisions((0, profile.n_query), self.groups, _EVERY_RANK, sums)
        mixed = self.whole[profile.tied[self.whole] > profile.tied_relevant[self.whole]]
        k, n, tied, m = _arrays(profile, mixed)
        of_sum = sum_by_query(profile, mixed, _variances(k, n, tied, m, tied))
        variance = of_sum / np.where(self.hits > 0, self.hits, 1.0) ** 2
        for query, group in self._divided_groups(0, profile.n_query):
            variance[query] = _variance(group, float(sums[1, query]), float(of_sum[query]))
        return defined(profile, np.sqrt(variance))

    def _divided_groups(self, first: int, last: int) -> Iterator[tuple[int, Divided]]:
        """Yield those of a range of queries that have a divided group, with it: the last, where windows overlap."""
        start, stop = np.searchsorted(self.divided, self.profile.offsets[[first, last]])
        groups = self.divided[start:stop]
        rows = np.column_stack(_arrays(self.profile, groups)).tolist()
        of_query = dict(zip(self.profile.query_of_group[groups].tolist(), rows, strict=True))
        for query, (k, n, tied, m) in of_query.items():
            yield query, (k, n, tied, m, self.cutoff - k)

    def _bounds_of_windows(self, query: int) -> tuple[float, float]:
        """Return the bounds of a query whose groups may overlap.

        Of h hits, the a-th has at best its least rank, and at worst its greatest one or k - h + a.
        """
        k, n, tied, m = _arrays(self.profile, np.arange(*self.profile.offsets[query : query + 2]))
        number = np.arange(1, int(m.sum()) + 1)
        best, worst = (np.repeat(first - n, m) + number for first in (k, k + tied - m))
        fewest, most = (int(np.searchsorted(ranks, self.cutoff, "right")) for ranks in (worst, best))
        values = [] if fewest else [(0.0, 0.0)]
        for h in range(max(fewest, 1), most + 1):
            a = number[:h]
            sums = np.cumsum(a / np.minimum(worst[:h], self.cutoff - h + a))[-1], np.cumsum(a / best[:h])[-1]
            values.append((float(sums[0]) / h, float(sums[1]) / h))
        return min(lower for lower, _ in values), max(upper for _, upper in values)


@lru_cache(maxsize=2**12)
def _values(group: Divided, *sums: float) -> tuple[float, float, float]:
    return _ByHits(*group).values(*sums)


@lru_cache(maxsize=2**12)
def _variance(group: Divided, expected: float, variance: float) -> float:
    return _ByHits(*group).variance(expected, variance)


class _ByHits:
    """A group of which the first `slots` items count, behind k items, n of them relevant; `h` are its possible hits."""

    def __init__(self, k: int, n: int, tied: int, m: int, slots: int) -> None:
        self.k, self.n, self.slots = k, n, slots
        self.h = np.arange(max(slots - (tied - m), 0), min(slots, m) + 1)
        self.hits = np.maximum(n + self.h, 1)  # where it is 0, so is the sum
        chance = _chances(self.h, tied, m, slots)
        self.likely = np.flatnonzero(chance > _NEGLIGIBLE)
        self.chance = chance[self.likely]

    def values(self, lower: float, expected: float, upper: float) -> tuple[float, float, float]:
        """Return the values of the query, given the sums of the precisions in the groups before."""
        low, high = self._near_bounds(lower, upper)
        least = float(((lower + self._sums(self.h[low])[0]) / self.hits[low]).min())
        most = float(((upper + self._sums(self.h[high])[2]) / self.hits[high]).max())
        return least, min(max(self._mean(self._means(expected)), least), most), most

    def variance(self, expected: float, variance: float) -> float:
        """Return the variance of the query's value, given mean and variance of the sum in the groups before."""
        means, h = self._means(expected), self.h[self.likely]
        of_sum = np.full(len(h), variance)
        mixed = np.flatnonzero((h > 0) & (h < self.slots))
        k, n, slots = (np.full(len(mixed), number) for number in (self.k, self.n, self.slots))
        of_sum[mixed] += _variances(k, n, slots, h[mixed], slots)
        return self._mean(of_sum / self.hits[self.likely] ** 2 + (means - self._mean(means)) ** 2)

    def _mean(self, values: Float64) -> float:
        """Return the mean of the values of all likely h."""
        return math.fsum((values * self.chance).tolist()) / math.fsum(self.chance.tolist())

    def _means(self, before: float) -> Float64:
        """Return the mean value for likely h: T(h) is h/t ((n + 1) A + (h - 1)/(t - 1) B), A and B sums over slots."""
        of_one, of_all = self._sums(np.array([1, self.slots]))[1]
        first, h = of_one * self.slots, self.h[self.likely]  # (n + 1) A
        sums = h / self.slots * (first + (h - 1) / max(self.slots - 1, 1) * (of_all - first))
        return np.asarray((before + sums) / self.hits[self.likely])

    def _sums(self, h: Int64) -> Float64:
        """Return lower, expected and upper sum of the precisions at h relevant items in the slots, (3, len(h))."""
        sums, some = np.empty((3, len(h))), h[h > 0]
        k, n, slots = (np.full(len(some), number) for number in (self.k, self.n, self.slots))
        ranked, one = np.full(len(h), self.k + self.slots), np.ones(len(h), dtype=np.int64)
        groups = offsets_of(h > 0), k, n, slots, some, ranked, one
        _core.average_precisions((0, len(h)), groups, _EVERY_RANK, sums)
        return sums

    def _near_bounds(self, lower: float, upper: float) -> tuple[Int64, Int64]:
        """Return the places of all h that may give a bound, lower or upper, from running sums with their errors."""
        most, end = int(self.h[-1]), self.k + self.slots
        a, from_back = np.arange(1, most + 1), 1.0 / np.arange(end, end - most, -1)
        steps = np.cumsum(from_back) + self.n * from_back  # by which one hit more raises the sum at the last ranks
        last, first = (offsets_of(terms)[self.h] for terms in (steps, (self.n + a) / (self.k + a)))
        low, high = (lower + last) / self.hits, (upper + first) / self.hits
        error = 2.0**-50 * (most + 1)
        return np.flatnonzero(low <= low.min() + error), np.flatnonzero(high >= high.max() - error)


def _chances(h: Int64, tied: int, m: int, slots: int) -> Float64:
    """Return the chances of h of m relevant items among the first slots, hypergeometric, over the greatest of them."""
    x = h.astype(np.float64)
    up, down = (m - x[:-1]) * (slots - x[:-1]), x[1:] * (tied - m - slots + x[1:])
    top = min(max((slots + 1) * (m + 1) // (tied + 2) - int(h[0]), 0), len(h) - 1)
    below = np.cumprod((down[:top] / up[:top])[::-1])[::-1]
    return np.concatenate([below, [1.0], np.cumprod(up[top:] / down[top:])])
