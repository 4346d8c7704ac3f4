"""Tied is what is at most so much apart: bounds alone."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from deadheat.distances import Distance
from deadheat.errors import InvalidTypeError, InvalidValueError
from deadheat.exact import SignedRoot
from deadheat.exact.bounds import nudged, outward
from deadheat.support.arrays import Float64
from deadheat.ties.exact import closeness_cache, group_by_score
from deadheat.ties.rule import Cuts, Groups, Member, Relevant, Ties


class Tolerance(Ties):
    """Bounds for when every relevant item may be up to `eps` nearer or farther: mAP(D ± εR).

    Distances are 1 − cosine, minus the inner product, or the distance itself. Expected values are NaN.

    Parameters
    ----------
    eps : float
        0 or more, in the unit of the distance, taken as the exact number that the float is.

    Examples
    --------
    >>> Tolerance(1e-6).describe("cosine")
    'tolerance 1e-06'
    """

    bounds_only = True

    def __init__(self, eps: float) -> None:
        if isinstance(eps, (bool, str)) or not isinstance(eps, (int, float, np.integer, np.floating)):
            raise InvalidTypeError("eps", f"must be a number, but is {eps!r}")
        if not (math.isfinite(eps) and eps >= 0):
            raise InvalidValueError("eps", f"must be finite and not negative, but is {eps}")
        self.eps = float(eps)

    def describe(self, distance: str) -> str:
        return f"tolerance {self.eps!r}"

    def __repr__(self) -> str:
        return f"Tolerance({self.eps!r})"

    def group(self, distance: Distance, relevant: Relevant) -> Groups:
        return group_by_score(distance, relevant)

    def cuts(self, distance: Distance, groups: Groups, member: Member) -> list[Cuts]:
        padding, bound = groups.padding, groups.bound
        rows = np.broadcast_to(groups.rows[:, None], padding.shape)
        score = np.where(padding, 0.0, groups.score)
        low, high = distance.closeness(rows, score - bound, score + bound)
        threshold = closeness_cache(distance, groups.rows, member)
        eps = Fraction(self.eps)

        def tied(row: int, cut: int, closeness: SignedRoot) -> bool:
            return closeness.compare_shifted(threshold(row, cut), -eps) >= 0

        def closer(row: int, cut: int, closeness: SignedRoot) -> bool:
            return closeness.compare_shifted(threshold(row, cut), eps) > 0

        sequences = []
        for shift, above in ((-self.eps, tied), (self.eps, closer)):
            with np.errstate(over="ignore"):
                shifted = low + shift - _slack(low, shift), high + shift + _slack(high, shift)
                ends = nudged(*distance.score(rows, *outward(*shifted)))
            sequences.append(Cuts(np.where(padding, np.inf, ends[0]), np.where(padding, np.inf, ends[1]), 1, above))
        return sequences


def _slack(value: Float64, shift: float) -> Float64:
    """More than the roundings of a sum can change it."""
    return np.asarray(np.abs(value) * 2.0**-50 + abs(shift) * 2.0**-50)
