"""Unjudged items as irrelevant or relevant: in comes a profile that holds some, out go those that decide the bounds.

A completion makes some of the u unjudged items of a query relevant, all of one gain. Of those with s relevant ones, the
last s have the lowest value in their worst order, the first s the highest in their best: a relevant item that moves to
the front lowers no measure, and the number of relevant items is the same. So the bounds are the least and the greatest
value over s = 0 to u, and each family says which s decides them: from the cutoff (`by_cutoff`), or by a scan of all s
with a step from one to the next (`scanned`). The value is that of the closed forms, on a profile without unjudged items
(`completed`). ``mAP(over='hits')@k`` can fall where an item moves to the front, and is refused.

In a fixed order nDCG is linear in each gain over a convex function, and so least where each is 0 or the greatest: its
lower bound holds for all gains up to that of an unjudged item, its upper bound for this gain alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from deadheat.engine.profiles.profile import TieProfile
from deadheat.support.arrays import Float64, Int64, offsets_of, runs_joined

Deciding = tuple[Int64, Int64]  # relevant unjudged items of each query, (n_query,), at the lower and the upper bound


class Unjudged(NamedTuple):
    """The arrays of a profile about unjudged items."""

    of_groups: Int64
    in_all: Int64
    gain: Float64

    @classmethod
    def of(cls, profile: TieProfile) -> Unjudged:
        assert profile.unjudged is not None
        assert profile.n_unjudged is not None
        assert profile.unjudged_gain is not None
        return cls(profile.unjudged, profile.n_unjudged, profile.unjudged_gain)


def without_unjudged(profile: TieProfile, **changed: Any) -> TieProfile:
    """Return a profile in which none is unjudged, with some arrays changed; groups without a relevant item go."""
    arrays = {name: changed.get(name, getattr(profile, name)) for name in ("closer", "tied", "tied_relevant")}
    kept, by_grade = np.flatnonzero(arrays["tied_relevant"]), changed.get("tied_by_grade", profile.tied_by_grade)
    arrays, query = {name: array[kept] for name, array in arrays.items()}, profile.query_of_group[kept]
    offsets, running = np.searchsorted(query, np.arange(profile.n_query + 1)), offsets_of(arrays["tied_relevant"])
    arrays |= {"offsets": offsets, "closer_relevant": running[:-1] - running[offsets[query]]}
    arrays |= {"tied_by_grade": None if by_grade is None else by_grade[kept]}
    arrays |= dict.fromkeys(("unjudged", "n_unjudged", "unjudged_gain"))
    return replace(profile, **(changed | arrays), check=False)


def condensed(profile: TieProfile) -> TieProfile:
    """Return the profile of the judged items alone.

    Examples
    --------
    An unjudged item in front, and one that ties with a relevant item:

    >>> some = {"unjudged": [1, 1], "n_unjudged": [2], "unjudged_gain": [1.0]}
    >>> groups = {"closer": [0, 1], "closer_relevant": [0, 0], "tied": [1, 2], "tied_relevant": [0, 1]}
    >>> judged = condensed(TieProfile([0, 2], **groups, n_ranked=[3], n_relevant=[1], **some))
    >>> judged.closer, judged.tied, judged.n_ranked
    (array([0]), array([1]), array([1]))
    """
    some = Unjudged.of(profile).of_groups
    running = offsets_of(some)
    before = running[:-1] - running[profile.offsets[profile.query_of_group]]
    n_ranked = profile.n_ranked - np.diff(running[profile.offsets])
    return without_unjudged(profile, closer=profile.closer - before, tied=profile.tied - some, n_ranked=n_ranked)


def completed(profile: TieProfile, n: Int64, worst: bool, graded: bool) -> TieProfile:
    """Return the profile in which `n` unjudged items of each query, (n_query,), are relevant: the last or the first."""
    some, in_all, gain = Unjudged.of(profile)
    running, query = offsets_of(some), profile.query_of_group
    before, ranked = running[:-1] - running[profile.offsets[query]], np.diff(running[profile.offsets])
    if worst:  # those that were not retrieved, then from the back
        left = n - (in_all - ranked)
        relevant = np.clip(left[query] - (ranked[query] - before - some), 0, some)
    else:
        relevant = np.clip(n[query] - before, 0, some)
    counts = {"tied_relevant": profile.tied_relevant + relevant, "n_relevant": profile.n_relevant + n}
    one, none = np.ones(1, dtype=np.int64), {"tied_by_grade": None, "relevant_by_grade": None, "gains": None}
    if not graded or (profile.tied_by_grade is None and (gain == 1).all()):
        return without_unjudged(profile, **counts, **none, grades=one)
    return without_unjudged(profile, **counts, **_of_grades(profile, gain, relevant, n))


def _of_grades(profile: TieProfile, gain: Float64, relevant: Int64, n: Int64) -> dict[str, Any]:
    """Return the arrays of a profile by grade with more relevant items, of a gain for each query."""
    table, (of_groups, of_queries) = profile.gain_table, profile.counts_by_grade
    new = ~(table == gain[:, None]).any(axis=1)
    arrays: dict[str, Any] = {}
    if new.any():
        table = np.column_stack([np.where(new, gain, 0.0), table])
        order = np.argsort(table, axis=1, kind="stable")
        table = np.take_along_axis(table, order, axis=1)
        of_groups, of_queries = (np.pad(counts, ((0, 0), (1, 0))) for counts in (of_groups, of_queries))
        of_groups = np.take_along_axis(of_groups, order[profile.query_of_group], axis=1)
        of_queries = np.take_along_axis(of_queries, order, axis=1)
        arrays = {"gains": table, "grades": np.arange(1, table.shape[1] + 1)}
    column = np.argmax(table == gain[:, None], axis=1)
    of_groups, of_queries = of_groups.copy(), of_queries.copy()
    of_groups[np.arange(len(of_groups)), column[profile.query_of_group]] += relevant
    of_queries[np.arange(len(of_queries)), column] += n
    return arrays | {"tied_by_grade": of_groups, "relevant_by_grade": of_queries}


# ---------------------------------------------------------------------------------------------------------------------
# the completions that decide


def by_cutoff(profile: TieProfile, limit: int) -> Deciding:
    """Return the completions that decide measures which a relevant item within the cutoff raises, and none beyond it.

    At the lower bound all unjudged items beyond the cutoff are relevant, at the upper all within it.
    """
    some, in_all, _ = Unjudged.of(profile)
    last, first = profile.closer + profile.tied - profile.tied_relevant, profile.closer + profile.tied_relevant
    beyond, within = np.clip(last - limit, 0, some), np.clip(limit - first, 0, some)
    (ranked, n_beyond, n_within) = (_totals(profile, counts) for counts in (some, beyond, within))
    return in_all - ranked + n_beyond, n_within


def at_ends(profile: TieProfile) -> Deciding:
    """Return the completions that decide a measure which every relevant item raises: with none, and with all."""
    n = Unjudged.of(profile).in_all
    return np.zeros_like(n), n


def _totals(profile: TieProfile, counts: Int64) -> Int64:
    return np.diff(offsets_of(counts)[profile.offsets])


class Placement(NamedTuple):
    """The worst or the best order of a query, and the order in which its unjudged items become relevant.

    Items that were not retrieved have rank `furthest` + 1, and an array by rank has an entry for it.
    """

    worst: bool
    query: int
    groups: slice
    unjudged: Int64  # ranks of unjudged items, the last first in the worst order
    before: Int64  # judged relevant items in front of each
    judged: Int64  # ranks of relevant items, ascending
    n_ranked: int
    n_relevant: Int64  # (u + 1,), for s = 0 to u

    def sums(self, discount: Float64) -> Float64:
        """Sum for each s the numbers of relevant items so far times a discount of ranks, over the relevant items."""
        of_judged, own = discount[self.judged], discount[self.unjudged]
        behind = np.append(np.cumsum(of_judged[::-1])[::-1], 0.0)[self.before]
        if self.worst:  # those that are relevant already are behind the next one
            steps = (self.before + 1) * own + behind + running(own)[:-1]
        else:
            steps = (self.before + 1 + np.arange(len(own))) * own + behind
        return np.asarray((np.arange(1, len(of_judged) + 1) * of_judged).sum() + running(steps))

    def sums_within(self, last_rank: Int64) -> Float64:
        """Sum for each s the precisions at the relevant items up to a rank of its own, (u + 1,)."""
        ranks, since = self.found()
        hits, reciprocal, judged = np.arange(1, len(ranks) + 1), 1.0 / ranks, since == 0
        every, any_one, of_judged, one = (
            running(terms * reciprocal) for terms in (hits, 1.0, judged * np.cumsum(judged), judged)
        )
        end, places = np.searchsorted(ranks, np.minimum(last_rank, self.n_ranked), "right"), np.flatnonzero(~judged)
        s, n = np.arange(len(self.n_relevant)), len(places)
        if self.worst:  # behind the first one that is relevant, all are
            s = np.maximum(s - (len(self.unjudged) - n), 0)
            start = np.minimum(np.append(places, len(ranks))[n - s], end)
            behind = every[end] - every[start] - (n - s) * (any_one[end] - any_one[start])
            return np.asarray(of_judged[start] + behind)
        s = np.minimum(s, n)
        start = np.minimum(np.append(0, places + 1)[s], end)
        return np.asarray(every[start] + of_judged[end] - of_judged[start] + s * (one[end] - one[start]))

    def once(self, discount: Float64) -> Float64:
        """Sum for each s a discount of ranks over the relevant items."""
        return np.asarray(discount[self.judged].sum() + running(discount[self.unjudged]))

    def hits(self, last_rank: Int64) -> Int64:
        """Count for each s the relevant items up to a rank of its own, (u + 1,)."""
        s = np.arange(len(self.n_relevant))
        within = np.searchsorted(np.sort(self.unjudged), np.minimum(last_rank, self.n_ranked), "right")
        n = s + within - len(self.unjudged) if self.worst else np.minimum(s, within)
        return np.asarray(np.searchsorted(self.judged, last_rank, "right") + np.maximum(n, 0))

    def last(self) -> Int64:
        """Return for each s the rank of the last relevant item."""
        last = np.append(0, self.unjudged[:1].repeat(len(self.unjudged)) if self.worst else self.unjudged)
        return np.asarray(np.maximum(last, self.judged.max(initial=0)))

    def found(self) -> tuple[Int64, Int64]:
        """Return the ranks of ranked items that are or may be relevant, ascending, and the s from which on each is."""
        ranks = np.concatenate([self.judged, self.unjudged])
        since = np.concatenate([np.zeros_like(self.judged), np.arange(1, len(self.unjudged) + 1)])
        order = np.argsort(ranks)
        order = order[ranks[order] <= self.n_ranked]
        return ranks[order], since[order]


def running(steps: Float64) -> Float64:
    """Return running sums from 0 on."""
    sums = np.zeros(len(steps) + 1)
    np.cumsum(steps, out=sums[1:])
    return sums


def furthest(profile: TieProfile) -> int:
    """Return a rank that no ranked item is behind."""
    return int(profile.n_ranked.max(initial=1))


def scanned(profile: TieProfile, values: Callable[[Placement], Float64]) -> Deciding:
    """Return the completions at which a function of each order, (u + 1,), is least and greatest."""
    deciding = np.zeros((2, profile.n_query), dtype=np.int64)
    for query in np.flatnonzero((Unjudged.of(profile).in_all > 0) & (profile.n_relevant > 0)).tolist():
        for row, worst in ((0, True), (1, False)):
            of_order = values(_order(profile, query, worst, furthest(profile) + 1))
            best = of_order if worst else -of_order
            deciding[row, query] = np.argmin(np.where(np.isnan(best), np.inf, best))
    return deciding[0], deciding[1]


def _order(profile: TieProfile, query: int, worst: bool, not_ranked: int) -> Placement:
    groups = slice(*profile.offsets[query : query + 2].tolist())
    k, n, tied, m = (getattr(profile, name)[groups] for name in ("closer", "closer_relevant", "tied", "tied_relevant"))
    of_groups, in_all, _ = Unjudged.of(profile)
    some, u = of_groups[groups], int(in_all[query])
    first = k + tied - m if worst else k
    judged = runs_joined(first, m) + 1
    ranks, before = runs_joined(first - some if worst else first + m, some) + 1, np.repeat(n if worst else n + m, some)
    missing = np.full((2, u - len(ranks)), [[not_ranked], [len(judged)]])
    both = np.concatenate(
        [missing, np.stack([ranks, before])[:, ::-1]] if worst else [np.stack([ranks, before]), missing], axis=1
    )
    n_relevant = profile.n_relevant[query] + np.arange(u + 1)
    return Placement(worst, query, groups, both[0], both[1], judged, int(profile.n_ranked[query]), n_relevant)
