"""Counts of hits (P@k, Recall@k, R-Precision, F1@k, and those of the whole set) and of pairs (AUC and bpref [1]_).

Tie groups come in. A measure of hits is a hits / (b k + c R), where each family has its constants a, b and c. Only the
order of the group that straddles the cutoff matters, and its hits are hypergeometric. For ``over='possible'`` R is
min(k, R), the most hits that there can be.

SetP, SetR, SetRelP, SetAP and SetF are trec_eval's set_P, set_recall, set_relative_P, set_map and set_F: functions of
the numbers of items that are ranked (n), relevant (R), and both (h). No order changes them: lower, expected and upper
are equal. If a ranking was cut, the set is what was returned, as by a search of an index.

AUC, the area under the ROC curve, is the share of all pairs of a relevant and an irrelevant item with the relevant one
in front, a rank sum (Mann and Whitney). A relevant item that was not retrieved ranks behind all others. Undefined also
where no irrelevant item is ranked.

bpref looks at the first irrelevant items only: a relevant item with x irrelevant ones in front of it adds
max(D - x, 0) / D, for D = min(R, N) and N irrelevant items in all, and 0 if it was not retrieved. The b irrelevant
items of a group cut its m relevant ones into b + 1 parts, each of m / (b + 1) items on average, so that the expectation
is a sum of integers. If documents without a judgement are ranked too, the report on a run passes the profile of the
judged documents alone, whose N includes those that were not retrieved.

.. [1] Buckley, Voorhees 2004, Retrieval evaluation with incomplete information; the form of trec_eval from 8.0 on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import deadheat._core as _core
from deadheat.engine.profiles.profile import TieProfile
from deadheat.measures.completions import Deciding, Placement, by_cutoff, furthest, scanned
from deadheat.measures.family import ClosedForms, Counted, Fill, Measure, NoRankSum, RankSum, Variant, not_a_rank_sum
from deadheat.measures.groups import (
    POSSIBLE,
    defined,
    filled,
    found,
    groups_within,
    kernel_arrays,
    most_found,
    sum_by_query,
)
from deadheat.support.arrays import Float64, Int64

OVER = {
    "over='relevant'": Variant("over R"),
    POSSIBLE: Variant("hits / min(k, R)", ("R cap", "recall cap", "capped recall")),
}


@dataclass(frozen=True)
class Hits(ClosedForms):
    """The ratio ``factor`` hits / (``size`` k + ``share`` R)."""

    factor: float
    size: float
    share: float

    def loop(self, profile: TieProfile, measure: Measure, out: Float64) -> Fill:
        groups, limit = kernel_arrays(profile, most_found(profile.n_relevant, measure)), measure.limit
        ratio = self.factor, self.size * limit, self.share
        return lambda first, last: _core.hits((first, last), groups, limit, ratio, out)

    def deviation(self, profile: TieProfile, measure: Measure) -> Float64:
        """Return the deviation, from hypergeometric hits; a group whose slots all count adds 0."""
        mixed, slots = groups_within(profile, measure, profile.tied > profile.tied_relevant)
        tied, m = profile.tied[mixed], profile.tied_relevant[mixed]
        variance = slots * (m / tied) * ((tied - m) / tied) * ((tied - slots) / (tied - 1))
        with np.errstate(invalid="ignore"):
            values = self.factor * np.sqrt(sum_by_query(profile, mixed, variance))
            return defined(profile, values / self._divisor(measure, profile.n_relevant))

    def deciding(self, profile: TieProfile, measure: Measure) -> Deciding:
        if measure.limit:
            return by_cutoff(profile, measure.limit)
        return scanned(profile, lambda placement: placement.hits(placement.n_relevant) / placement.n_relevant)

    def rank_sum(self, measure: Measure, relevant: Int64, ranked: Int64, n: int) -> RankSum:
        return RankSum(Counted.ONE, np.ones(n + 1), 1.0 / (self._divisor(measure, relevant) / self.factor))

    def _divisor(self, measure: Measure, relevant: Int64) -> Float64:
        return np.asarray(self.size * measure.limit + self.share * most_found(relevant, measure), dtype=np.float64)


class JudgedShare(Hits):
    """The share of the first k ranked items, or of all if there are fewer, that are relevant: here, those judged."""

    coverage = graded = True  # whatever the gain that is relevant

    def loop(self, profile: TieProfile, measure: Measure, out: Float64) -> Fill:
        groups, limit = kernel_arrays(profile, np.minimum(profile.n_ranked, measure.limit)), measure.limit
        return lambda first, last: _core.hits((first, last), groups, limit, (1.0, 0.0, 1.0), out)

    def deviation(self, profile: TieProfile, measure: Measure) -> Float64:
        """Return the deviation; NaN where nothing is ranked."""
        fewer = np.where(profile.n_ranked > 0, np.minimum(profile.n_ranked, measure.limit), np.nan)
        return super().deviation(profile, measure) * (measure.limit / fewer)

    def rank_sum(self, measure: Measure, relevant: Int64, ranked: Int64, n: int) -> RankSum:
        raise not_a_rank_sum(measure)


@dataclass(frozen=True)
class SetCounts(NoRankSum):
    """A ratio of two functions of h, n and R; 0 where nothing relevant was retrieved."""

    over: Callable[[Float64], Float64]  # of h
    under: Callable[[Float64, Float64], Float64]  # of n and R

    def loop(self, profile: TieProfile, measure: Measure, out: Float64) -> Fill:
        n_returned, by_grade = profile.returned_set
        hits, ranked, relevant = np.array([by_grade.sum(axis=1), n_returned, profile.n_relevant], dtype=np.float64)
        nothing = np.zeros(profile.n_query)
        values = np.divide(self.over(hits), self.under(ranked, relevant), out=nothing, where=hits > 0)
        return filled(profile, (values, values, values), out)

    def deviation(self, profile: TieProfile, measure: Measure) -> Float64:
        return defined(profile, np.zeros(profile.n_query))

    def deciding(self, profile: TieProfile, measure: Measure) -> Deciding:
        return by_cutoff(profile, measure.limit)


# ---------------------------------------------------------------------------------------------------------------------
# pairs of a relevant and an irrelevant item


class Area(ClosedForms):
    """The share of pairs of a relevant and a ranked irrelevant item with the relevant one in front."""

    def loop(self, profile: TieProfile, measure: Measure, out: Float64) -> Fill:
        groups = kernel_arrays(profile)
        return lambda first, last: _core.areas((first, last), groups, out)

    def deviation(self, profile: TieProfile, measure: Measure) -> Float64:
        """Return the deviation, from the variance of a rank sum in each group."""
        mixed = np.flatnonzero(profile.tied > profile.tied_relevant)
        tied, m = profile.tied[mixed], profile.tied_relevant[mixed]
        variance = sum_by_query(profile, mixed, m.astype(np.float64) * (tied - m) * (tied + 1) / 12)
        pairs = profile.n_relevant * (profile.n_ranked - found(profile))
        with np.errstate(invalid="ignore"):
            return np.sqrt(variance) / np.where(pairs > 0, pairs, np.nan)

    def deciding(self, profile: TieProfile, measure: Measure) -> Deciding:
        n = furthest(profile)
        once = np.ones(n + 2)
        once[-1] = 0.0

        def values(placement: Placement) -> Float64:
            hits = placement.once(once)
            pairs = placement.once((placement.n_ranked - np.arange(n + 2.0)) * once) - hits * (hits - 1) / 2
            with np.errstate(invalid="ignore", divide="ignore"):
                return pairs / ((placement.n_ranked - hits) * placement.n_relevant)

        return scanned(profile, values)

    def rank_sum(self, measure: Measure, relevant: Int64, ranked: Int64, n: int) -> RankSum:
        pairs = relevant * (ranked - relevant).astype(np.float64)
        return RankSum(Counted.ONE, -np.arange(n + 1, dtype=np.float64), 1.0 / pairs)


class Preferences(NoRankSum):
    """The mean over relevant items of max(D - x, 0) / D, for x irrelevant items in front; 1 where D is 0."""

    judged = True

    def loop(self, profile: TieProfile, measure: Measure, out: Float64) -> Fill:
        everything, depth = np.arange(profile.n_group), _depth(profile)
        m, parts = profile.tied_relevant, profile.tied - profile.tied_relevant + 1
        most, adding = _parts_that_add(profile, depth)
        least = np.maximum(most - (parts - 1), 0)
        whole, rest = np.divmod(m * (adding * most - adding * (adding - 1) // 2), parts)
        lower, upper = (sum_by_query(profile, everything, m * bound) for bound in (least, most))
        expected = sum_by_query(profile, everything, whole) + sum_by_query(profile, everything, rest / parts)
        scale = depth.astype(np.float64) * profile.n_relevant
        with np.errstate(invalid="ignore"):
            return filled(profile, np.array([lower, np.clip(expected, lower, upper), upper]) / scale, out)

    def deviation(self, profile: TieProfile, measure: Measure) -> Float64:
        """Return the deviation; in a group, m (m + b + 1) / (b + 2) times the variance of a uniformly drawn part."""
        mixed = np.flatnonzero(profile.tied > profile.tied_relevant)
        depth = _depth(profile)
        m, parts = profile.tied_relevant[mixed].astype(np.float64), (profile.tied - profile.tied_relevant + 1)[mixed]
        most, adding = np.array(_parts_that_add(profile, depth), dtype=np.float64)[:, mixed]
        share, mean = adding / parts, most - (adding - 1) / 2
        of_one = share * (adding * adding - 1) / 12 + share * (1 - share) * mean * mean
        variance = sum_by_query(profile, mixed, m * (m + parts) / (parts + 1) * np.where(adding > 0, of_one, 0.0))
        with np.errstate(invalid="ignore"):
            return defined(profile, np.sqrt(variance) / (depth.astype(np.float64) * profile.n_relevant))


def _depth(profile: TieProfile) -> Int64:
    """Return D of each query, and 1 where it is 0: no irrelevant item precedes a relevant one there."""
    irrelevant = profile.n_ranked - found(profile).astype(np.int64)
    return np.maximum(np.minimum(irrelevant, profile.n_relevant), 1)


def _parts_that_add(profile: TieProfile, depth: Int64) -> tuple[Int64, Int64]:
    """Return max(D - x, 0) for the first part of each group, and the number of its parts that are above 0."""
    most = np.maximum(depth[profile.query_of_group] - (profile.closer - profile.closer_relevant), 0)
    return most, np.minimum(most, profile.tied - profile.tied_relevant + 1)
