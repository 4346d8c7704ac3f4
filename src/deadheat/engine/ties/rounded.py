"""The rule for ties of similarities or distances that are equal once rounded to a shorter floating-point type.

`rule_of` returns any rule by the argument `ties`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from deadheat._core import RelevantItems, TieGroups
from deadheat.engine import exact
from deadheat.engine.distances.bounds import nudged
from deadheat.engine.distances.distance import Distance, Target
from deadheat.engine.distances.registry import find
from deadheat.engine.exact import Roots
from deadheat.engine.ties.rule import Cuts, Exact, Ties, group_by_score, padding_of
from deadheat.errors import InvalidValueError
from deadheat.support import checks
from deadheat.support.arrays import Bool, Float64, Int64, slices
from deadheat.support.floats import plain_floats


class Rounded(Ties):
    """The rule that items tie if their exact similarities or distances, correctly rounded to a shorter type, are equal.

    A system that serves its scores in this type ranks by these values.

    Parameters
    ----------
    dtype : {"float16", "bfloat16", "float32"}
        Or another name of one of them, such as "fp16", "half", "bf16" or "fp32".
    of : {"similarity", "distance"}, optional
        The value that is rounded. By default the similarity for cosine, inner product, Jaccard and Dice, else the
        distance. That of cosine, Jaccard and Dice is 1 − similarity; near 1 a similarity is far coarser than a small
        distance.

    Examples
    --------
    >>> Rounded("float16").describe("cosine"), Rounded("float16").describe("euclidean")
    ('float16 similarity', 'float16 distance')
    """

    @plain_floats
    def __init__(self, dtype: str, of: str | None = None) -> None:
        self.dtype = exact.named(dtype, "dtype")
        self.of = None if of is None else checks.choice(of, ("similarity", "distance"), "of")

    def describe(self, distance: str) -> str:
        return f"{self.dtype} {self.of or next(iter(find(distance).targets))}"

    def __repr__(self) -> str:
        return f"Rounded({self.dtype!r}, of={self.of!r})"

    def check(self, distance: type[Distance]) -> None:
        """Refuse to round a similarity or distance that this distance does not have."""
        if self.of is not None and self.of not in distance.targets:
            names = " or ".join(map(repr, distance.targets))
            raise InvalidValueError("of", f"must be {names} for distance {distance.name!r}, but is {self.of!r}")

    def _target(self, distance: Distance) -> Target:
        return distance.targets[self.of or next(iter(distance.targets))]

    def group(self, distance: Distance, relevant: RelevantItems) -> TieGroups:
        target, valid = self._target(distance), relevant.count > 0
        rows = np.broadcast_to(relevant.queries[:, None], valid.shape)
        score = np.where(valid, relevant.score, 0.0)
        low, high = distance.closeness(rows, score - relevant.bound, score + relevant.bound)
        ends = target.sign * (low - target.shift), target.sign * (high - target.shift)
        values, last = (exact.round_to(end, self.dtype) for end in nudged(np.minimum(*ends), np.maximum(*ends)))
        undecided = np.nonzero(valid & (values != last))
        for part in slices(len(undecided[0]), 1 << 15):
            row, entry = undecided[0][part], undecided[1][part]
            queries, columns = relevant.queries[row], relevant.columns[row, entry]
            closeness = distance.exact_closeness(queries, columns)
            values[row, entry] = self._settled(values[row, entry], last[row, entry], closeness, target)
        rounded = np.where(valid, target.sign * values, np.nan)
        relevant.score[:], relevant.bound[:] = rounded, 0
        return group_by_score(distance, relevant)

    def _settled(self, first: Float64, last: Float64, closeness: Roots, target: Target) -> Float64:
        """Find the rounded values of exact numbers, each known to be between two values of the type, by bisection."""
        low, high = exact.ordinals(first, self.dtype), exact.ordinals(last, self.dtype)
        which = np.flatnonzero(low < high)
        while len(which):
            middle = (low[which] + high[which]) // 2
            _, end, closed = exact.cells(exact.from_ordinals(middle, self.dtype), self.dtype)
            side = target.sign * closeness.compare_values(which, end, *target)
            inside = (side < 0) | ((side == 0) & closed)
            high[which] = np.where(inside, middle, high[which])
            low[which] = np.where(inside, low[which], middle + 1)
            which = which[low[which] < high[which]]
        return exact.from_ordinals(low, self.dtype)

    def cuts(self, distance: Distance, groups: TieGroups) -> list[Cuts]:
        target, padding = self._target(distance), padding_of(groups)
        sign, shift = target
        values = sign * np.where(padding, 0.0, groups.score)
        low, high, closed = exact.cells(values, self.dtype)
        far, near = (low, high) if sign > 0 else (high, low)
        rows = np.broadcast_to(groups.queries[:, None], values.shape)
        sides = [_between(distance, rows, sign * end, shift) for end in (far, near)]
        ends = [np.stack([np.where(padding, np.inf, side[k]) for side in sides], axis=-1) for k in (0, 1)]

        def above(rows: Int64, cuts: Int64, closeness: Roots, which: Int64) -> Bool:
            group, nearer = cuts // 2, cuts % 2 == 1
            end = np.where(nearer, near[rows, group], far[rows, group])
            side = closeness.compare_values(which, end, *target)
            return np.asarray((side > 0) | ((side == 0) & (closed[rows, group] != nearer)))

        low, high = (end.reshape(len(values), -1) for end in ends)  # far and near by turns
        return [Cuts(low, high, above)]


def _between(distance: Distance, rows: Int64, end: Float64, shift: int) -> tuple[Float64, Float64]:
    """Return bounds on the score that has the closeness `end + shift`, infinite where this is."""
    low, high = nudged(end + shift, end + shift) if shift else (end, end)
    finite = np.isfinite(end)
    scores = distance.score(rows, np.where(finite, low, 0.0), np.where(finite, high, 0.0))
    low, high = nudged(*scores)
    return np.where(finite, low, end), np.where(finite, high, end)


def rule_of(ties: Any) -> Ties:
    """Return the rule that an argument `ties` names.

    Examples
    --------
    >>> rule_of("bf16")
    Rounded('bfloat16', of=None)
    """
    if isinstance(ties, Ties):
        return ties
    name = exact.named(ties, "ties", others=["exact"])
    return Exact() if name == "exact" else Rounded(name)
