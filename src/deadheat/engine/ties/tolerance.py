"""The rule for ties within a tolerance, which has bounds alone."""

from __future__ import annotations

import numpy as np

from deadheat._core import RelevantItems, TieGroups
from deadheat.engine.distances.bounds import END, nudged, outward
from deadheat.engine.distances.distance import Distance
from deadheat.engine.exact import Roots
from deadheat.engine.ties.rule import Cuts, Ties, group_by_score, padding_of
from deadheat.support import checks
from deadheat.support.arrays import Bool, Float64, Int32, Int64
from deadheat.support.floats import plain_floats


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

    @plain_floats
    def __init__(self, eps: float) -> None:
        self.eps = checks.real_number(eps, "eps", least=0)

    def describe(self, distance: str) -> str:
        return f"tolerance {self.eps!r}"

    def __repr__(self) -> str:
        return f"Tolerance({self.eps!r})"

    def group(self, distance: Distance, relevant: RelevantItems) -> TieGroups:
        return group_by_score(distance, relevant)

    def cuts(self, distance: Distance, groups: TieGroups) -> list[Cuts]:
        padding, bound = padding_of(groups), groups.bound
        rows = np.broadcast_to(groups.queries[:, None], padding.shape)
        score = np.where(padding, 0.0, groups.score)
        low, high = distance.closeness(rows, score - bound, score + bound)
        thresholds = _Thresholds(distance, groups)

        def tied(rows: Int64, cuts: Int64, closeness: Roots, which: Int64) -> Bool:
            return closeness.compare_shifted(which, *thresholds.of(rows, cuts), -self.eps) >= 0

        def closer(rows: Int64, cuts: Int64, closeness: Roots, which: Int64) -> Bool:
            return closeness.compare_shifted(which, *thresholds.of(rows, cuts), self.eps) > 0

        sequences = []
        for shift, above in ((-self.eps, tied), (self.eps, closer)):
            least = None if bound.any() else distance.least_scores(rows, score, shift, above is closer)
            if least is not None:
                ends = np.where(padding, np.inf, least), np.where(padding, np.inf, least)
                sequences.append(Cuts(*ends, above, sharp=True))
                continue
            with np.errstate(over="ignore"):
                shifted = low + shift - _slack(low, shift), high + shift + _slack(high, shift)
                ends = nudged(*distance.score(rows, *outward(*shifted)))
            sequences.append(Cuts(np.where(padding, np.inf, ends[0]), np.where(padding, np.inf, ends[1]), above))
        return sequences


def _slack(value: Float64, shift: float) -> Float64:
    """Bound the rounding errors of a sum."""
    return np.asarray(np.abs(value) * END + abs(shift) * END)


class _Thresholds:
    """The exact closeness of a member of each group, computed when asked for."""

    def __init__(self, distance: Distance, groups: TieGroups) -> None:
        self._distance, self._groups = distance, groups
        self._places: Int32 = np.zeros(groups.score.shape, dtype=np.int32)  # and 1; memory is taken where it is written
        self._closeness: Roots | None = None

    def of(self, rows: Int64, groups: Int64) -> tuple[Roots, Int64]:
        """Return the closeness of all groups so far, and the index in it of each of these groups."""
        unknown = self._places[rows, groups] == 0
        if self._closeness is None or unknown.any():
            width = self._places.shape[1]
            row, group = np.divmod(np.unique(rows[unknown] * width + groups[unknown]), width)
            closeness = self._distance.exact_closeness(
                self._groups.queries[row], self._groups.columns[row, group].astype(np.int64)
            )
            known = 0 if self._closeness is None else len(self._closeness)
            self._places[row, group] = known + 1 + np.arange(len(row))
            if self._closeness is None:
                self._closeness = closeness
            else:
                self._closeness.add(closeness)
        return self._closeness, self._places[rows, groups].astype(np.int64) - 1
