"""Tied is what is equally far as a real number."""

from __future__ import annotations

import numpy as np

from deadheat.distances import Distance
from deadheat.exact import SignedRoot
from deadheat.ties import kernels
from deadheat.ties.groups import Groups, Relevant
from deadheat.ties.rule import Cuts, Member, Ties
from deadheat.ties.settling import closeness_cache, group_by_score


class Exact(Ties):
    """Tied is what is equally far as a real number."""

    exact_only = True

    def describe(self, distance: str) -> str:
        return "exact"

    def group(self, distance: Distance, relevant: Relevant) -> Groups:
        return group_by_score(distance, relevant)

    def cuts(self, distance: Distance, groups: Groups, member: Member) -> list[Cuts]:
        low, high = np.empty((2, *groups.score.shape))
        kernels.exact_cuts(groups.score, groups.bound, groups.n_group, low, high)
        threshold = closeness_cache(distance, groups.rows, member)

        def above(row: int, cut: int, closeness: SignedRoot) -> bool:
            return closeness.compare(threshold(row, cut // 2)) >= cut % 2

        return [Cuts(low, high, 2, above)]
