"""Identification: each probe is compared with every enrolled person (1:N).

In come the levels of a matrix of probes and people; out go rank-k and TPIR@FPIR.

A probe with a mate is identified at a threshold if its mate is first and accepted; one without a mate is a false
positive if anybody is accepted. TPIR@FPIR=x is therefore TPR@FPR=x of one level for each probe: that of its mate,
missing if the mate is not first, or that of the first person for a probe without a mate. Where a mate ties for the
first place, it is first in the luckiest order, and is not in the worst.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from deadheat.analyses.thresholds import AT_FPR, RANK, TPIR, Accepted, measured, number_of
from deadheat.engine.profiles.profile import TieProfile
from deadheat.engine.sources.scores import from_scores
from deadheat.errors import InvalidValueError
from deadheat.measures import values as measure_values
from deadheat.support.arrays import Bool, Int64
from deadheat.support.means import exact_means
from deadheat.support.triple import Triple


class Search(NamedTuple):
    """The level of the mate of each probe, 0 for the best, and of the first of all others; `n_level` without one."""

    mate: Int64  # (n_probe,)
    other: Int64  # (n_probe,)
    profile: TieProfile  # a query for each probe
    n_level: int

    @classmethod
    def of_pairs(cls, level: Int64, positive: Bool, ids: Int64, n_level: int) -> Search:
        """Order pairs by probe and person; each probe must be compared with everybody, once."""
        person, probe = ids.T
        order, n_probe = np.lexsort((person, probe)), len(np.unique(probe))
        people = person[order].reshape(n_probe, -1) if len(person) % n_probe == 0 else person[None, :0]
        complete = people.size and (people == people[0]).all() and (np.diff(people[0]) > 0).all()
        if not complete or (np.diff(probe[order].reshape(n_probe, -1)) != 0).any():
            rule = "compare each probe (the second of a pair) with every enrolled person (the first), once"
            raise InvalidValueError("pairs", f"must {rule}, for {RANK}k and {TPIR}x")
        levels, mates = (each[order].reshape(n_probe, -1) for each in (level, positive))
        mate, other = (np.where(kept, levels, n_level).min(axis=1) for kept in (mates, ~mates))
        return cls(mate, other, from_scores(n_level - levels, mates, threads=1).profile, n_level)

    def measured(self, name: str, weight: Int64 | None = None) -> tuple[Triple[float], int | None] | None:
        """Return a measure of the probes, and the last level that its threshold accepts; None where it is undefined."""
        mated = self.mate < self.n_level
        weight = np.ones(len(mated), dtype=np.int64) if weight is None else weight
        if name.startswith(RANK):
            if not weight[mated].any():
                return None
            values = measure_values.per_query(self.profile, f"Hit@{name.removeprefix(RANK)}")
            return exact_means(Triple(*(np.repeat(end, weight) for end in values))), None
        if not (weight[mated].any() and weight[~mated].any()):
            return None
        (worst, group), (best, _) = (self._at(number_of(name), first, weight) for first in (False, True))
        lower, upper = worst.lower, best.upper
        return Triple(lower, lower if lower == upper else np.nan, upper), group

    def _at(self, rate: float, tied_first: bool, weight: Int64) -> tuple[Triple[float], int | None]:
        """Return the measure where mates that tie for the first place are first, or are not."""
        mated = self.mate < self.n_level
        first = mated & ((self.mate <= self.other) if tied_first else (self.mate < self.other))
        relevant, irrelevant = (
            np.bincount(levels[kept], weight[kept], self.n_level).astype(np.int64)
            for levels, kept in ((self.mate, first), (self.other, ~mated))
        )
        accepted = Accepted.of(relevant, irrelevant, int(weight[mated & ~first].sum()))
        return measured(accepted, f"{AT_FPR}{rate!r}", lambda _: 0)
